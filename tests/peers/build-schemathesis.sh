#!/usr/bin/env bash
# schemathesis in a virtual environment of its own, once; afterwards it is found in the peers' folder.
set -euo pipefail

version=4.32.5
target="${TIDEMARK_PEERS:-$HOME/.cache/tidemark-peers}/schemathesis-$version"
if [ -x "$target/bin/schemathesis" ] && [ -f "$target/complete" ]; then exit 0; fi
rm -rf "$target"
mkdir -p "$(dirname "$target")"
# The environment keeps absolute paths, so it is made where it stays; the mark says that it was made to its end.
"${PYTHON:-/usr/bin/python3}" -m venv "$target"
"$target/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
touch "$target/complete"
