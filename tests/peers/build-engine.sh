#!/usr/bin/env bash
# Builds the Docker Engine of the 29 line with Go, once, and keeps only the binaries: dockerd, docker-proxy and the runc it needs
# (Debian's is too old for it) in ${TIDEMARK_PEERS:-~/.cache/tidemark-peers}/engine-VERSION. With the folder there already it does
# nothing. Wants Go 1.26 or later, gcc, libseccomp-dev and pkg-config; takes about four minutes on two cores.
set -euo pipefail

version=29.0.0
moby=v2.0.0-beta.24 # The module that the 29 line is built from.
runc=1.5.1
peers="${TIDEMARK_PEERS:-$HOME/.cache/tidemark-peers}"
place="$peers/engine-$version"
if [ -x "$place/dockerd" ] && [ -x "$place/docker-proxy" ] && [ -x "$place/runc" ]; then
  exit 0
fi

for program in go gcc pkg-config; do
  command -v "$program" >/dev/null || {
    echo "build-engine.sh needs $program on the PATH" >&2
    exit 1
  }
done
pkg-config --exists libseccomp || {
  echo "build-engine.sh needs libseccomp's headers (Debian package libseccomp-dev)" >&2
  exit 1
}

mkdir -p "$peers"
work="$(mktemp -d "$peers/build-XXXXXX")"
trap 'rm -rf "$work"' EXIT
export GOBIN="$work" CGO_ENABLED=1 GOFLAGS=-p=2

go install -trimpath -tags exclude_graphdriver_btrfs \
  -ldflags "-s -w -X github.com/moby/moby/v2/dockerversion.Version=$version" "github.com/moby/moby/v2/cmd/dockerd@$moby"
go install -trimpath -ldflags "-s -w" "github.com/moby/moby/v2/cmd/docker-proxy@$moby"
go install -trimpath -tags seccomp -ldflags "-s -w -X main.version=$runc" "github.com/opencontainers/runc@v$runc"

# Renamed at the end: a build that was cut off leaves nothing that looks finished.
chmod 755 "$work"
rm -rf "$place"
mv -T "$work" "$place"
echo "built $place"
