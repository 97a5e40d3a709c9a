#!/usr/bin/env bash
# Builds the real helm, of both its major versions, and chartmuseum with Go, once, and keeps only the binaries:
# ${TIDEMARK_PEERS:-~/.cache/tidemark-peers}/helm-VERSION/helm and …/chartmuseum-VERSION/chartmuseum. With them there already it
# does nothing. Wants Go 1.26 or later and the Go module proxy; takes about fifteen minutes on two cores.
set -euo pipefail

helm_versions="3.22.0 4.3.1"
chartmuseum_version=0.13.1
peers="${TIDEMARK_PEERS:-$HOME/.cache/tidemark-peers}"
chartmuseum="$peers/chartmuseum-$chartmuseum_version/chartmuseum"

needs_go() {
  command -v go >/dev/null || {
    echo "build-helm.sh needs Go 1.26 or later on the PATH" >&2
    exit 1
  }
}
mkdir -p "$peers"
work="$(mktemp -d "$peers/build-XXXXXX")"
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0 GOFLAGS=-p=2

# Renamed at the end: a build that was cut off leaves nothing that looks finished.
keep() {
  mkdir -p "$(dirname "$2")"
  mv -f "$1" "$2"
  echo "built $2"
}

if [ ! -x "$chartmuseum" ]; then
  needs_go
  # Its go.mod has replacements, which `go install` refuses: it is built from a copy of its own folder.
  source="$(cd "$work" && go mod download -json "helm.sh/chartmuseum@v$chartmuseum_version" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')"
  cp -r "$source" "$work/chartmuseum-source"
  chmod -R u+w "$work/chartmuseum-source"
  (cd "$work/chartmuseum-source" && go build -trimpath -ldflags "-s -w" -o "$work/chartmuseum" ./cmd/chartmuseum)
  keep "$work/chartmuseum" "$chartmuseum"
fi

for version in $helm_versions; do
  helm="$peers/helm-$version/helm"
  [ ! -x "$helm" ] || continue
  needs_go
  module="helm.sh/helm/v${version%%.*}"
  GOBIN="$work" go install -trimpath -ldflags "-s -w -X $module/internal/version.version=v$version" \
    "$module/cmd/helm@v$version"
  keep "$work/helm" "$helm"
done
