#!/usr/bin/env bash
# Builds a real dex from the Go module proxy into ${TIDEMARK_PEERS:-~/.cache/tidemark-peers}/dex-VERSION, once; a second call does
# nothing. Wants Go 1.26 and gcc; takes some minutes on two cores. Its pages are embedded in the program.
set -euo pipefail
version=2.45.1
# The commit of that tag: dex's v2 tags are not versions to the Go proxy, whose module path has no "/v2".
module=github.com/dexidp/dex@v0.0.0-20260303133905-11d2eeb52b42
peers="${TIDEMARK_PEERS:-$HOME/.cache/tidemark-peers}"
place="$peers/dex-$version"
if [ -x "$place/dex" ]; then
  exit 0
fi

if ! command -v go >/dev/null || ! command -v gcc >/dev/null; then
  echo "dex $version is built by Go 1.26 and gcc; install them, or put its binary there: $place/dex" >&2
  exit 1
fi

mkdir -p "$peers"
work="$(mktemp -d "$peers/dex-building.XXXXXX")"
trap 'rm -rf "$work"' EXIT

# A module of our own that only names the program: "go install" refuses one whose go.mod has replacements.
mkdir "$work/source" "$work/result"
(
  cd "$work/source"
  printf '//go:build tools\n\npackage tools\n\nimport _ "github.com/dexidp/dex/cmd/dex"\n' >tools.go
  go mod init tidemark.test/peers/dex
  go mod edit -require="$module"
  go mod tidy
  CGO_ENABLED=1 GOFLAGS=-p=2 go build -trimpath -ldflags "-s -w -X main.version=v$version" \
    -o "$work/result/dex" github.com/dexidp/dex/cmd/dex
)
chmod 755 "$work/result"
# Put there by one rename, so that a build that was cut short leaves nothing that looks finished.
mv -T "$work/result" "$place" 2>/dev/null || true
test -x "$place/dex"
