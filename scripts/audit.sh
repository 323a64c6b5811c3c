#!/bin/sh
# Checks the dependencies of the program: the checksums of all modules, known vulnerabilities, and licences.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}

echo "== sums of the modules"
$go mod verify

echo "== known weaknesses (govulncheck)"
if command -v govulncheck >/dev/null 2>&1; then
  scan=govulncheck
else
  scan="$go run golang.org/x/vuln/cmd/govulncheck@v1.9.0"
fi
status=0
$scan -tags headless ./... || status=$?
# 3: a vulnerable function is called by the program; anything else: the check failed.
case $status in
0) ;;
3) exit 3 ;;
*) echo "govulncheck or its database cannot be reached: not checked" ;;
esac

echo "== licences of the modules in the program"
missing=0
for dir in $($go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}}={{.Dir}}{{end}}{{end}}' . | sort -u); do
  path=${dir%%=*}
  file=$(find "${dir#*=}" -maxdepth 1 -iname 'licen[cs]e*' -o -maxdepth 1 -iname 'copying*' | sort | head -n 1)
  if [ -z "$file" ]; then
    echo "$path: no licence"
    missing=1
    continue
  fi
  kind=other
  for known in "MIT License:MIT" "Permission is hereby granted, free of charge:MIT" "Apache License:Apache-2.0" \
    "Redistribution and use in source and binary forms:BSD" "Mozilla Public License:MPL-2.0" \
    "FreeType License:FTL" "GNU LESSER GENERAL PUBLIC LICENSE:LGPL" "GNU GENERAL PUBLIC LICENSE:GPL" \
    "Permission to use, copy, modify:ISC" "Creative Commons Attribution:CC-BY"; do
    if grep -qi "${known%:*}" "$file"; then
      kind=${known##*:}
      break
    fi
  done
  printf '%-50s %s\n' "$path" "$kind"
  case $kind in GPL | other) missing=1 ;; esac
done
exit $missing
