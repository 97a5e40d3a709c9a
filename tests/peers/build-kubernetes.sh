#!/usr/bin/env bash
# Builds a Kubernetes control plane and node with Go, once, and keeps only the binaries in
# ${TIDEMARK_PEERS:-~/.cache/tidemark-peers}: kubernetes-VERSION/kubernetes (API server, controller manager, scheduler and kubelet in one
# binary, chosen by its first argument), etcd-VERSION/etcd, kwok-VERSION/kwok. With them there already it does nothing. Wants Go 1.26 or
# later and the Go module proxy; takes about ten minutes on two cores.
set -euo pipefail

version=1.36.3
etcd_version=3.6.16
kwok_version=0.8.0
here="$(cd "$(dirname "$0")" && pwd)"
peers="${TIDEMARK_PEERS:-$HOME/.cache/tidemark-peers}"
kubernetes="$peers/kubernetes-$version/kubernetes"
etcd="$peers/etcd-$etcd_version/etcd"
kwok="$peers/kwok-$kwok_version/kwok"
if [ -x "$kubernetes" ] && [ -x "$etcd" ] && [ -x "$kwok" ]; then
  exit 0
fi

command -v go >/dev/null || {
  echo "build-kubernetes.sh needs Go 1.26 or later on the PATH" >&2
  exit 1
}
mkdir -p "$peers"
work="$(mktemp -d "$peers/build-XXXXXX")"
trap 'rm -rf "$work"' EXIT
export CGO_ENABLED=0

# Renamed at the end: a build that was cut off leaves nothing that looks finished.
keep() {
  mkdir -p "$(dirname "$2")"
  mv -f "$1" "$2"
  echo "built $2"
}

if [ ! -x "$kubernetes" ]; then
  # k8s.io/kubernetes has replacements, which `go install` refuses; the module beside this script repeats them with published versions.
  cp -r "$here/kubernetes" "$work/kubernetes-source"
  component=k8s.io/component-base/version
  client=k8s.io/client-go/pkg/version
  # Without its version, charts that require one would refuse the cluster.
  flags="-s -w -X $component.gitVersion=v$version -X $component.gitMajor=1 -X $component.gitMinor=36 -X $component.gitTreeState=clean"
  flags="$flags -X $client.gitVersion=v$version -X $client.gitMajor=1 -X $client.gitMinor=36"
  (cd "$work/kubernetes-source" && GOFLAGS=-mod=readonly go build -p 2 -trimpath -ldflags "$flags" -o "$work/kubernetes" .)
  keep "$work/kubernetes" "$kubernetes"
fi

if [ ! -x "$etcd" ]; then
  mkdir "$work/etcd-source"
  printf 'module tidemark.test/etcd\n\ngo 1.26.0\n\nrequire go.etcd.io/etcd/server/v3 v%s\n' "$etcd_version" >"$work/etcd-source/go.mod"
  (cd "$work/etcd-source" && GOFLAGS=-mod=mod go build -p 2 -trimpath -ldflags "-s -w" -o "$work/etcd" go.etcd.io/etcd/server/v3)
  keep "$work/etcd" "$etcd"
fi

if [ ! -x "$kwok" ]; then
  GOBIN="$work" GOFLAGS=-p=2 go install -trimpath -ldflags "-s -w -X sigs.k8s.io/kwok/pkg/consts.Version=v$kwok_version" \
    "sigs.k8s.io/kwok/cmd/kwok@v$kwok_version"
  keep "$work/kwok" "$kwok"
fi
