#!/usr/bin/env bash
# Prints the folder for the caches of the go command and of staticcheck if those in the home folder cannot be written,
# otherwise nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
cache=$($go env GOCACHE 2>/dev/null) || exit 0
if [ -z "$cache" ] || [ "$cache" = off ] || ! { mkdir -p "$cache" && [ -w "$cache" ]; } 2>/dev/null; then
  echo "$PWD/build/caches"
fi
