#!/usr/bin/env bash
# Builds the two lines of docker compose that people run, with Go, once, and keeps only the binaries:
# ${TIDEMARK_PEERS:-~/.cache/tidemark-peers}/compose-VERSION/docker-compose. With them there already it does nothing. Wants Go 1.26
# or later and the Go module proxy; takes about four minutes on two cores.
set -euo pipefail

peers="${TIDEMARK_PEERS:-$HOME/.cache/tidemark-peers}"

# Compose's own go.mod has replacements and exclusions, which `go install` refuses: a module of ours names its command instead, and
# repeats those that matter (the further arguments, as `go mod edit` takes them).
build() {
  local version="$1" module="$2"
  shift 2
  local place="$peers/compose-$version"
  if [ -x "$place/docker-compose" ]; then
    return
  fi
  command -v go >/dev/null || {
    echo "build-compose.sh needs Go 1.26 or later on the PATH" >&2
    exit 1
  }
  mkdir -p "$peers"
  work="$(mktemp -d "$peers/build-XXXXXX")"
  trap 'rm -rf "$work"' EXIT
  mkdir "$work/source" "$work/result"
  (
    cd "$work/source"
    printf '//go:build tools\n\npackage tools\n\nimport _ "%s/cmd"\n' "$module" >tools.go
    go mod init "peer/compose" 2>/dev/null
    go mod edit -require="$module@v$version" "$@"
    go mod tidy 2>tidy.log || {
      cat tidy.log >&2
      exit 1
    }
    CGO_ENABLED=0 GOFLAGS=-p=2 go build -trimpath -ldflags "-s -w -X $module/internal.Version=v$version" \
      -o "$work/result/docker-compose" "$module/cmd"
  )
  # Renamed at the end: a build that was cut off leaves nothing that looks finished.
  rm -rf "$place"
  mv -T "$work/result" "$place"
  rm -rf "$work"
  echo "built $place"
}

build 5.6.0 github.com/docker/compose/v5 \
  -exclude=github.com/davecgh/go-spew@v1.1.2-0.20180830191138-d8f796af33cc \
  -exclude=github.com/pmezard/go-difflib@v1.0.1-0.20181226105442-5d4384ee4fb2 \
  -replace=github.com/DefangLabs/secret-detector=github.com/DefangLabs/secret-detector@v0.0.0-20250403165618-22662109213e # its other version cannot be had
build 2.40.3 github.com/docker/compose/v2 \
  -exclude=github.com/davecgh/go-spew@v1.1.2-0.20180830191138-d8f796af33cc \
  -exclude=github.com/pmezard/go-difflib@v1.0.1-0.20181226105442-5d4384ee4fb2
