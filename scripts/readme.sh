#!/usr/bin/env bash
# Writes docs/parameters.md and docs/parameters.ru.md from the program's own descriptions; with --check it only reports
# whether they are up to date. Uses the program build/blik-headless, or the one that BLIK names.
set -euo pipefail
cd "$(dirname "$0")/.."

status=0
page=$(mktemp)
trap 'rm -f "$page"' EXIT
while read -r lang file links; do
  {
    "${BLIK:-build/blik-headless}" help parameters --lang "$lang" | sed -n 1p
    printf '\n%s\n' "$links"
    "${BLIK:-build/blik-headless}" help parameters --lang "$lang" | sed 1d
    printf '<!-- Written by make readme. -->\n'
  } >"$page"
  if cmp -s "$page" "$file"; then
    continue
  elif [ "${1:-}" = --check ]; then
    echo "$file is not up to date; run make readme" >&2
    status=1
  else
    cat "$page" >"$file"
  fi
done <<'END'
en docs/parameters.md [Русский](parameters.ru.md) · [Blik](../README.md)
ru docs/parameters.ru.md [English](parameters.md) · [Blik](../README.ru.md)
END
exit $status
