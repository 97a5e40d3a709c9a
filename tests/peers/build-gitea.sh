#!/usr/bin/env bash
# Builds a real Gitea from the Go module proxy into ${TIDEMARK_PEERS:-~/.cache/tidemark-peers}/gitea-VERSION, once; a second call
# does nothing. What is kept: the program, and the folders of templates and options that it reads (no web assets).
set -euo pipefail
version=1.26.0
peers="${TIDEMARK_PEERS:-$HOME/.cache/tidemark-peers}"
place="$peers/gitea-$version"
if [ -x "$place/gitea" ]; then
  exit 0
fi

if ! command -v go >/dev/null || ! command -v gcc >/dev/null; then
  echo "Gitea $version is built by Go 1.26 and gcc; install them, or put its binary there: $place/gitea" >&2
  exit 1
fi

work="$(mktemp -d)"
# Go makes the module folders read-only.
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT

# A copy of the module's folder: its go.mod has replacements, which "go install" refuses.
module="$(go mod download -json "code.gitea.io/gitea@v$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')"
cp -r "$module" "$work/source"
chmod -R u+w "$work/source"
mkdir -p "$work/result"
(
  cd "$work/source"
  CGO_ENABLED=1 go build -trimpath -tags "sqlite sqlite_unlock_notify" -ldflags "-s -w -X main.Version=$version" \
    -o "$work/result/gitea" .
)
cp -r "$work/source/templates" "$work/source/options" "$work/source/public" "$work/result/"
mkdir -p "$peers"
# Put there by one rename within the cache, so that a build that was cut short leaves nothing that looks finished.
staged="$(mktemp -d "$peers/gitea-building.XXXXXX")"
cp -r "$work/result/." "$staged/"
chmod 755 "$staged"
mv -T "$staged" "$place" 2>/dev/null || rm -rf "$staged"
test -x "$place/gitea"
