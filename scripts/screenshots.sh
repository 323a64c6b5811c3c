#!/usr/bin/env bash
# Takes the screenshots of docs, in both languages, with build/blik on virtual screens; names of some of them as arguments.
# Needs scripts/setup.sh test (Xvfb, openbox, xdotool) and ImageMagick. Look at the pictures before they are committed.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$PWD/build/blik work=$PWD/build/screenshots
[ -x "$program" ] || { echo "There is no build/blik: run make build." >&2; exit 1; }
mkdir -p "$work"
scan() { [ -e "$work/$1" ] || "$program" sample --quiet --scene "$2" --seed "$3" --width 1600 --height 1100 -o "$work/$1"; }
scan scan-01.png coast 4
scan scan-02.png still-life 2
scan scan-03.png portrait 3
scan scan-04.png coast 5

# shot NAME LANGUAGE STEP... opens the files named in $files and carries out the steps: a key, click:X,Y, move:X,Y, wait:S
# or log:WORD, which waits for a line of the window's log that begins so.
shot() {
  local name=$1 language=$2 number=$((100 + RANDOM % 900)) step words
  shift 2
  local home=$work/home-$name
  rm -rf "$home" "$work/$name.log"
  mkdir -p "$home"
  Xvfb ":$number" -screen 0 1400x880x24 +extension GLX -nolisten tcp >/dev/null 2>&1 &
  local processes=$!
  for _ in $(seq 100); do [ ! -S "/tmp/.X11-unix/X$number" ] || break; sleep 0.1; done
  export DISPLAY=:$number
  openbox >/dev/null 2>&1 &
  processes="$! $processes"
  # shellcheck disable=SC2086 # several files
  HOME=$home LIBGL_ALWAYS_SOFTWARE=1 BLIK_UI_LOG=$work/$name.log "$program" open --lang "$language" --detect $files >/dev/null 2>&1 &
  processes="$! $processes"
  until grep -q '^done' "$work/$name.log" 2>/dev/null; do sleep 0.5; done
  local window
  window=$(xdotool search --onlyvisible --name Blik | tail -n 1)
  xdotool windowsize "$window" 1400 860 windowmove "$window" 0 0
  sleep 2
  xdotool windowfocus "$window"
  for step in "$@"; do
    words=${step#*:}
    case $step in
      click:*) xdotool mousemove "${words%,*}" "${words#*,}" click 1 ;;
      move:*) xdotool mousemove "${words%,*}" "${words#*,}" ;;
      wait:*) sleep "$words" ;;
      log:*) until grep -q "^$words" "$work/$name.log"; do sleep 0.5; done ;;
      *) xdotool key "$step" ;;
    esac
    sleep 1
  done
  sleep 2
  import -window root -crop 1400x860+0+0 +repage "$work/$name.png"
  # shellcheck disable=SC2086 # several processes
  kill $processes 2>/dev/null || true
  sleep 1
  cp "$work/$name.png" "docs/$name.png"
  echo "docs/$name.png"
}

for language in en ru; do
  tail=${language/en/}
  tail=${tail:+.$tail}
  for name in ${*:-screenshot screenshot-findings screenshot-split screenshot-layers}; do
    files=$PWD/assets/sample.jpg
    case $name in
      screenshot) shot "$name$tail" $language move:440,790 ;;
      screenshot-layers) shot "$name$tail" $language 5 F4 F7 wait:3 move:745,225 ;;
      screenshot-split) shot "$name$tail" $language F6 log:corrected wait:2 s ctrl+1 wait:2 ;;
      screenshot-findings)
        files="$work/scan-02.png $work/scan-01.png $work/scan-03.png $work/scan-04.png"
        shot "$name$tail" $language F6 log:corrected wait:2 click:1110,188 wait:1 click:1337,256 wait:2 n n n f wait:3
        ;;
    esac
  done
done
