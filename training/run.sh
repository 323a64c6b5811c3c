#!/bin/sh
# Renders and trains the network if PyTorch finds a GPU, and otherwise prints what is needed.
# Usage: training/run.sh PHOTOS [OUT]; SURFACE names the folder of a measured painting, STEPS the number of steps.
set -e
here=$(cd "$(dirname "$0")" && pwd)
photos=$1
out=${2:-$here/../build/training}
steps=${STEPS:-3700}
if [ ! -f "$photos/zones.json" ] ||
	! python3 -c 'import sys, torch, numpy, scipy, PIL; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
	cat <<TEXT
Training needs a machine with a GPU, and Python 3 with PyTorch 2, NumPy, SciPy and Pillow.
There, run:  training/run.sh PHOTOS OUT
PHOTOS holds NAME.jpg, the label maps NAME_lab.png and zones.json; OUT gets crops, networks and the model.
training/README.md describes every step.
TEXT
	exit 1
fi
mkdir -p "$out"
set --
[ -z "$SURFACE" ] || set -- --surface "$SURFACE"
python3 "$here/render.py" "$photos" "$out/crops.pt" 2600 1 "$@"
python3 "$here/train.py" "$photos" "$out/model" "$out/crops.pt" --nets u16:all:1 --steps "$steps"
# Each is judged on the paintings that it has not seen.
python3 "$here/train.py" "$photos" "$out/halves" "$out/crops.pt" --nets u16:01:1,u16:23:1 --steps "$steps"
cp "$out/model/u16-all-1.blik" "$out/glints.blik"
