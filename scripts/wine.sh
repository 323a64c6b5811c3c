#!/usr/bin/env bash
# Tests the programs for Windows under wine: "tests" runs the tests of packages, "driver" starts a stub of NVIDIA's
# driver as nvcuda.dll, "cli" compares what the command line writes with this system's, "window" drives blik.exe on a
# virtual screen. Without arguments all of them run. "cli" and "window" take the programs of build/dist-work, which
# scripts/dist.sh windows makes.
#
# Wine 8 of Debian 12 lacks ProcessPrng, which Go needs, and does not delete by the rules of POSIX, on which os.RemoveAll
# relies. So wine 10 runs in a bare Debian 13, made by mmdebstrap in build/chroots/wine; that needs root, for chroot.
set -euo pipefail
[ "$(id -u)" = 0 ] || { echo "This runs as root only: it changes into another system by chroot." >&2; exit 1; }
# Mounts below build are visible only to this script and end with it, so nothing else can be affected.
[ -n "${UNSHARED:-}" ] || UNSHARED=1 exec unshare --mount "$0" "$@"
cd "$(dirname "$0")/.."
go=${GO:-go} work=$PWD/build/wine-tests
root=$PWD/build/chroots/wine system=$PWD/build/wine/drive_c/windows/system32
export GOEXPERIMENT=simd
mkdir -p "$work" build/chroots build/wine

[ -x "$root/usr/bin/wine" ] || mmdebstrap --variant=apt --include=wine,wine64,libgl1,libgl1-mesa-dri trixie "$root" http://deb.debian.org/debian

# The files of this system have the same paths in the other one.
mounts=("$PWD" "$(realpath -m ../shared)" /proc /dev /tmp/.X11-unix)
cleanup() {
  local process
  for process in ${processes:-}; do kill "$process" 2>/dev/null || true; done
  inside wineserver -k 2>/dev/null || true
}
trap cleanup EXIT
for m in "${mounts[@]}"; do
  mkdir -p "$root$m"
  [ ! -e "$m" ] || mount --bind "$m" "$root$m"
done

# inside runs a program of the other system in the current folder, with its own prefix in build/wine. BLIK_ variables
# are passed on.
inside() {
  local variable passed=()
  for variable in ${!BLIK_*} DISPLAY; do passed+=("$variable=${!variable:-}"); done
  chroot "$root" /usr/bin/env -i -C "$PWD" PATH=/usr/bin:/usr/sbin HOME=/root WINEPREFIX="${system%/drive_c/*}" WINEDEBUG=-all \
    LANG="${LANG:-C.UTF-8}" LIBGL_ALWAYS_SOFTWARE=1 "${passed[@]}" "$@"
}
wine() { inside wine "$@"; }

prefix() { [ -e "$system/kernel32.dll" ] || wine wineboot -i >/dev/null 2>&1; }

# judge counts the tests of a log and prints what failed.
judge() {
  tr -d '\r' <"$1" | awk '
    /^=== (RUN|CONT|NAME)/ { current = $3; next }
    /^ +[a-z0-9_]+_test\.go:[0-9]+:/ || /^panic:/ { why[current] = why[current] "\n" $0; next }
    /^--- PASS/ { passed++ }
    /^--- SKIP/ { skipped++; print "  skipped " $3 why[$3] }
    /^ *--- FAIL/ { print "  FAIL " $3 why[$3] }
    /^--- FAIL/ { failed++ }
    /^(PASS|FAIL)$/ { ended = 1 }
    /^panic:/ { ended = 0 }
    END {
      printf "  %d passed, %d skipped, %d failed\n", passed, skipped, failed
      if (!ended) print "  did not end"
      exit failed > 0 || !ended
    }'
}

tests() {
  local package name failed=0 status
  # docs/packages.md lists failures that are caused only by wine.
  local skip='^(TestKilledWhileSaving)$'
  for package in ${PACKAGES:-$($go list ./processing/... ./app/... ./lab/... ./internal/atomicfile ./internal/message ./internal/parallel)}; do
    package=${package#blik/} name=${package//\//_}
    rm -f "$work/$name.exe"
    CGO_ENABLED=0 GOOS=windows $go test -vet=off -c -tags headless -o "$work/$name.exe" "./$package" >/dev/null
    [ -e "$work/$name.exe" ] || continue
    echo "$package"
    (cd "$package" && wine "$work/$name.exe" -test.short -test.v -test.timeout 900s -test.skip "$skip") \
      >"$work/$name.log" 2>&1 || true
    status=0
    judge "$work/$name.log" || status=1
    [ $status -eq 0 ] || failed=1
  done
  return $failed
}

driver() {
  local include answer
  include=$(scripts/cuda.sh where)
  [ -n "$include" ] || { echo "There is no cuda.h: run make cuda." >&2; return 1; }
  export CPATH=$include
  x86_64-w64-mingw32-gcc -shared -static-libgcc -w -o "$work/nvcuda.dll" internal/test/drivertest/testdata/libcuda.c
  CGO_ENABLED=1 GOOS=windows CC=x86_64-w64-mingw32-gcc $go test -vet=off -c -tags cuda -o "$work/driver.exe" ./cuda/driver
  CGO_ENABLED=1 GOOS=windows CC=x86_64-w64-mingw32-gcc $go test -vet=off -c -tags cuda -o "$work/cuda.exe" ./cuda
  rm -f "$system/nvcuda.dll"
  echo "cuda/driver without the driver"
  (cd cuda/driver && wine "$work/driver.exe" -test.v) >"$work/driver.log" 2>&1 || true
  judge "$work/driver.log"
  cp "$work/nvcuda.dll" "$system/nvcuda.dll"
  echo "cuda/driver and cuda with a stub as nvcuda.dll"
  (cd cuda/driver && BLIK_FAKE_NVCUDA=1 wine "$work/driver.exe" -test.v) >"$work/driver-stub.log" 2>&1 || true
  judge "$work/driver-stub.log"
  rm -f "$system/nvcuda.dll"
}

programs() {
  folder=$(find build/dist-work -maxdepth 1 -name 'blik-*-windows-amd64' ! -name '*headless*' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d' ' -f2)
  [ -n "$folder" ] || { echo "There is no blik.exe: run scripts/dist.sh windows." >&2; exit 1; }
  folder=$PWD/$folder
  [ -x "$work/blik" ] || CGO_ENABLED=0 $go build -tags headless -o "$work/blik" .
}

same() { cmp "$1" "$2" && echo "$(basename "$1") is the same, $(sha256sum <"$1" | cut -c1-16)"; }

cli() {
  local name
  programs
  rm -rf "$work/cli"
  mkdir -p "$work/cli/with space" "$work/cli/here" "$work/cli/there"
  # A name that the legacy Windows interface cannot represent, and a picture that keeps its container.
  convert assets/sample.jpg -compress none "$work/cli/with space/блик.tif"
  cd "$work/cli"
  ../blik correct --quiet -o here 'with space/блик.tif'
  ../blik detect --quiet -o here 'with space/блик.tif'
  wine "$folder/blik-cli.exe" correct --quiet -o there 'with space\*.tif'
  wine "$folder/blik-cli.exe" detect --quiet -o there 'with space\*.tif'
  for name in блик_mask.png блик_corrected.tif блик_findings.csv; do
    [ ! -e "here/$name" ] || same "here/$name" "there/$name"
  done
  wine "$folder/blik-cli.exe" verify 'with space\блик.tif' 'there\блик_corrected.tif'
  [ -z "$(find there -name '.blik-*')" ] || { echo "files are left over"; return 1; }
  wine "$folder/blik-cli.exe" correct --quiet -o there 'with space\блик.tif' && { echo "a file was replaced"; return 1; }
  # Names that differ only in case denote the same file here, as on macOS.
  mkdir case
  convert ../../../assets/sample.jpg -crop 300x200+50+0 -compress none case/Scan.tif
  wine "$folder/blik-cli.exe" correct --quiet -o case 'case\Scan.tif'
  wine "$folder/blik-cli.exe" correct --quiet -o case 'case\SCAN.TIF' && { echo "a file was replaced"; return 1; }
  wine "$folder/blik-cli.exe" correct --quiet --overwrite -o case 'case\SCAN.TIF'
  [ "$(find case -iname 'scan_corrected.tif' | wc -l)" = 1 ] || { echo "one file has two names"; ls case; return 1; }
  wine "$folder/blik-cli.exe" detect --quiet --overwrite -o case 'case\scan.tif'
  LANG=ru_RU.UTF-8 wine "$folder/blik-cli.exe" doctor
  cd - >/dev/null
}

# wait_for waits for a line in the log of the window.
wait_for() {
  local n
  for n in $(seq 600); do
    ! grep -q "$1" "$work/window/ui.log" 2>/dev/null || return 0
    kill -0 "$window" 2>/dev/null || { echo "the window has closed before: $1"; return 1; }
    sleep 0.5
  done
  echo "nothing seen of: $1"
  return 1
}

window() {
  local number window server manager
  programs
  rm -rf "$work/window"
  mkdir -p "$work/window"
  convert assets/sample.jpg -compress none "$work/window/sample.tif"
  (cd "$work/window" && ../blik correct --quiet -o here sample.tif)
  number=$((90 + RANDOM % 900))
  Xvfb ":$number" -screen 0 1280x860x24 +extension GLX -nolisten tcp >/dev/null 2>&1 &
  server=$!
  for _ in $(seq 100); do [ ! -S "/tmp/.X11-unix/X$number" ] || break; sleep 0.1; done
  export DISPLAY=:$number
  openbox >/dev/null 2>&1 &
  manager=$!
  (cd "$work/window" && BLIK_DIALOGS=fyne BLIK_UI_LOG=ui.log wine "$folder/blik.exe" open --detect sample.tif) &
  window=$!
  processes="$window $manager $server"
  wait_for '^done [1-9]'
  sleep 2
  import -window root "$work/window/found.png"
  xdotool search --name Blik windowfocus 2>/dev/null || true
  xdotool key F6
  wait_for '^corrected [1-9]'
  xdotool key ctrl+s
  wait_for '^saved-picture'
  sleep 2
  import -window root "$work/window/saved.png"
  same "$work/window/here/sample_corrected.tif" "$work/window/sample_corrected.tif"
  "$work/blik" verify "$work/window/sample.tif" "$work/window/sample_corrected.tif"
  grep -E '^(done|corrected|saved-picture)' "$work/window/ui.log"
}

prefix
for step in ${*:-tests driver cli window}; do
  case $step in
    tests | driver | cli | window) $step ;;
    *)
      echo "usage: wine.sh [tests] [driver] [cli] [window]" >&2
      exit 2
      ;;
  esac
done
