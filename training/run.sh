#!/bin/sh
# Renders and trains the network if PyTorch finds a GPU, and otherwise prints what is needed.
# Usage: training/run.sh PHOTOS TEACHERS [OUT]; TEACHERS is ../shared/tools/network-spike, beside which make_relief.py lies.
# SURFACE names the folder of a measured painting, STEPS and TUNING the numbers of steps.
set -e
here=$(cd "$(dirname "$0")" && pwd)
photos=$1
teachers=$2
out=${3:-$here/../build/training}
steps=${STEPS:-8159}
tuning=${TUNING:-5016}
if [ ! -f "$photos/zones.json" ] || [ ! -f "$teachers/nets.py" ] ||
	! python3 -c 'import sys, torch, numpy, scipy, PIL, cv2; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
	cat <<TEXT
Training needs a machine with a GPU, and Python 3 with PyTorch 2, NumPy, SciPy, Pillow and OpenCV.
There, run:  training/run.sh PHOTOS TEACHERS OUT
TEACHERS is ../shared/tools/network-spike. PHOTOS holds NAME.jpg, the label maps NAME_lab.png and zones.json; OUT gets crops, networks and the model.
training/README.md describes every step.
TEXT
	exit 1
fi
mkdir -p "$out"
set --
[ -z "$SURFACE" ] || set -- --surface "$SURFACE"
for part in 0 1; do
	python3 "$here/render.py" "$photos" "$out/crops$part.pt" 3000 "1$part" "$@"
done
OMP_NUM_THREADS=1 python3 "$here/relief.py" "$teachers/../make_relief.py" "$photos" "$out/relief.pt" 600 7000
python3 "$here/train.py" "$photos" "$teachers" "$out" "$out/crops0.pt" "$out/crops1.pt" "$out/relief.pt" \
	--nets u16t:all:1,u16t:all:2,u16t:all:3 --steps "$steps"
for part in 0 1; do
	python3 "$here/render.py" "$photos" "$out/objects$part.pt" 1500 "2$part" --objects 0.6 "$@"
done
OMP_NUM_THREADS=1 python3 "$here/relief.py" "$teachers/../make_relief.py" "$photos" "$out/relief.pt" 160 7000
python3 "$here/train.py" "$photos" "$teachers" "$out/tuned" "$out/objects0.pt" "$out/objects1.pt" "$out/relief.pt" \
	--nets u16t:all:1 --steps "$tuning" --start "$out"
