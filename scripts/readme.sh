#!/usr/bin/env bash
# Writes the tables of parameters into README.md and README.ru.md, from the program's own descriptions; with --check it
# only says whether they are up to date. Takes the program as build/blik-headless.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
for readme in README.md:en README.ru.md:ru; do
  file=${readme%:*}
  new=$(mktemp)
  {
    sed -n '1,/^<!-- parameters:/p' "$file"
    # The topic's own title and introduction end at the first heading of a group, which lies one level deeper here.
    build/blik-headless help parameters --lang "${readme#*:}" | sed -n '/^## /,$p' | sed 's/^## /#### /'
    sed -n '/^<!-- \/parameters/,$p' "$file"
  } >"$new"
  if cmp -s "$new" "$file"; then
    rm "$new"
  elif [ "${1:-}" = --check ]; then
    echo "$file: the table of parameters is not up to date; run make readme" >&2
    rm "$new"
    status=1
  else
    cat "$new" >"$file"
    rm "$new"
  fi
done
exit $status
