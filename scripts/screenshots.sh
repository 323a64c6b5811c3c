#!/usr/bin/env bash
# Takes the screenshots of docs in both languages, with build/blik on virtual screens. Arguments: the names of the
# screenshots to take, by default all. tour is the series of docs/guide, whose pictures are small because Blik shows them.
# Needs scripts/setup.sh test (Xvfb, openbox, xdotool) and ImageMagick. Inspect the pictures before committing them.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$PWD/build/blik work=$PWD/build/screenshots
[ -x "$program" ] || { echo "There is no build/blik: run make build." >&2; exit 1; }
mkdir -p "$work"
scan() { [ -e "$work/$1" ] || "$program" sample --quiet --scene coast --glare relief --seed "$2" --width 1600 --height 1100 -o "$work/$1"; }
scan scan-01.png 9
scan scan-02.png 11
scan scan-03.png 5
scan scan-04.png 12

# screen starts a screen with a window manager, and adds both to $processes.
screen() {
  local number=$((100 + RANDOM % 900))
  Xvfb ":$number" -screen 0 1400x880x24 +extension GLX -nolisten tcp >/dev/null 2>&1 &
  processes=$!
  for _ in $(seq 100); do [ ! -S "/tmp/.X11-unix/X$number" ] || break; sleep 0.1; done
  export DISPLAY=:$number
  openbox >/dev/null 2>&1 &
  processes="$! $processes"
}

# program NAME WIDTH HEIGHT ARGUMENT... starts the program and waits for the word $ready in its log.
program() {
  local name=$1 width=$2 height=$3
  shift 3
  rm -f "$work/$name.log"
  HOME=$work/home-$name LIBGL_ALWAYS_SOFTWARE=1 BLIK_DIALOGS=fyne BLIK_UI_LOG=$work/$name.log "$program" "$@" >/dev/null 2>&1 &
  started=$!
  processes="$started $processes"
  until grep -q "^$ready" "$work/$name.log" 2>/dev/null; do sleep 0.5; done
  local window
  window=$(xdotool search --onlyvisible --name Blik | tail -n 1)
  xdotool windowsize "$window" "$width" "$height" windowmove "$window" 0 0
  sleep 2
  xdotool windowfocus "$window"
}

# steps NAME STEP... carries out steps: a key, click:X,Y, move:X,Y, drag:X,Y,X,Y,... through these points, wait:S,
# log:WORD, which waits for a line of the window's log that begins with WORD, or picture:NAME, one of docs/guide.
steps() {
  local name=$1 step words
  shift
  for step in "$@"; do
    words=${step#*:}
    case $step in
      click:*) xdotool mousemove "${words%,*}" "${words#*,}" click 1 ;;
      move:*) xdotool mousemove "${words%,*}" "${words#*,}" ;;
      drag:*)
        # shellcheck disable=SC2086 # several numbers
        set -- ${words//,/ }
        xdotool mousemove "$1" "$2" mousedown 1
        while [ $# -ge 2 ]; do xdotool mousemove "$1" "$2" sleep 0.1; shift 2; done
        xdotool mouseup 1
        ;;
      wait:*) sleep "$words" ;;
      log:*) until grep -q "^$words" "$work/$name.log"; do sleep 0.5; done ;;
      picture:*)
        sleep 1
        import -window root -crop 1040x660+0+0 +repage -resize 680x -quality 70 -sampling-factor 4:2:0 -strip \
          "docs/guide/$words.jpg"
        echo "docs/guide/$words.jpg"
        ;;
      *) xdotool key "$step" ;;
    esac
    sleep 1
  done
}

# shot NAME LANGUAGE STEP... opens the files in $files, finds glare, and carries out the steps.
shot() {
  local name=$1 language=$2
  shift 2
  rm -rf "$work/home-$name"
  mkdir -p "$work/home-$name"
  screen
  # shellcheck disable=SC2086 # several files
  ready=done program "$name" 1400 860 open --lang "$language" --detect $files
  steps "$name" "$@"
  sleep 2
  import -window root -crop 1400x860+0+0 +repage "$work/$name.png"
  # shellcheck disable=SC2086 # several processes
  kill $processes 2>/dev/null || true
  sleep 1
  cp "$work/$name.png" "docs/$name.png"
  echo "docs/$name.png"
}

# tour LANGUAGE TAIL takes the pictures of the guided tour: from an open picture to the copy, then a kill and what the
# next start offers.
tour() {
  # The last picture shows the folder.
  local language=$1 tail=$2 name=tour$2 folder=/tmp/paintings
  # The line above the list is shorter in Russian, so that the heads of the columns lie a line higher.
  local heads=347
  [ "$language" = en ] || heads=331
  rm -rf "$work/home-$name" "$folder"
  mkdir -p "$work/home-$name" "$folder" docs/guide
  cp "$work/scan-01.png" "$folder/painting.png"
  screen
  ready=picture program "$name" 1040 660 open --lang "$language" "$folder/painting.png"
  steps "$name" wait:1 "picture:1-open$tail" \
    r drag:90,140,200,250,560,500 "picture:2-region$tail" \
    F5 log:done wait:1 "picture:3-find$tail" \
    click:882,329 wait:4 "picture:4-preview$tail" \
    q drag:330,395,350,385,372,395,376,415,352,424,334,415,330,395 wait:1 "picture:5-mark$tail" \
    ctrl+Next "click:783,$heads" wait:1 n n wait:1 k j k wait:1 "picture:6-decide$tail" \
    ctrl+0 F6 wait:1 Tab Tab space log:corrected wait:2 "picture:7-correct$tail" \
    s ctrl+1 wait:2 "picture:8-compare$tail" \
    s ctrl+s log:saved-picture wait:2 ctrl+0 wait:1 "picture:9-save$tail" \
    b drag:120,560,200,560 wait:3
  kill -9 "$started"
  wait "$started" || true # until it is gone, its work counts as that of a running program
  ready=overlays program "$name" 1040 660 open --lang "$language"
  steps "$name" wait:1 "picture:10-recover$tail"
  # shellcheck disable=SC2086 # several processes
  kill $processes 2>/dev/null || true
  sleep 1
}

for language in en ru; do
  tail=${language/en/}
  tail=${tail:+.$tail}
  for name in ${*:-screenshot screenshot-findings screenshot-split screenshot-layers tour}; do
    files=$PWD/assets/sample.jpg
    case $name in
      tour) tour $language "$tail" ;;
      screenshot) shot "$name$tail" $language move:440,790 ;;
      screenshot-layers) shot "$name$tail" $language 4 F4 F7 wait:3 move:745,225 ;;
      screenshot-split) shot "$name$tail" $language F6 wait:1 Tab Tab space log:corrected wait:2 s ctrl+1 wait:2 ;;
      screenshot-findings)
        files="$work/scan-02.png $work/scan-01.png $work/scan-03.png $work/scan-04.png"
        shot "$name$tail" $language F6 wait:1 Tab Tab space log:corrected wait:2 click:1110,188 wait:1 click:1337,256 wait:2 n n n f wait:3
        ;;
    esac
  done
done
