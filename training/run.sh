#!/bin/sh
# Trains the network where PyTorch sees a GPU; elsewhere it says what is needed. Some four minutes on an H200 with 16
# processors. Usage: training/run.sh [PAINTINGS [OUT]]
set -e
here=$(cd "$(dirname "$0")" && pwd)
paintings=${1:-$here/../../shared/data}
out=${2:-$here/../build/training}
if ! python3 -c 'import sys, torch, cv2; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
	cat <<TEXT
Training needs a machine with a GPU, Python 3 with PyTorch 2 and OpenCV, and Go or a built blik.
There, run:  training/run.sh PAINTINGS OUT
PAINTINGS holds photographs of paintings without glare, OUT gets sets, networks and the model.
training/README.md describes every step.
TEXT
	exit 1
fi
mkdir -p "$out"
blik=${BLIK:-$out/blik}
[ -x "$blik" ] || (cd "$here/.." && GOEXPERIMENT=simd CGO_ENABLED=0 go build -tags headless -o "$blik" .)
mkdir -p "$out/paintings"
for folder in "$paintings" "$paintings/paintings" "$paintings/paintings-more" "$paintings/negatives"; do
	find "$folder" -maxdepth 1 \( -name '*.jpg' -o -name '*.png' \) 2>/dev/null || true
done | grep -v '/p005\|/p009\|/n11' | while read -r file; do
	cp "$file" "$out/paintings/"
done
# Several sets side by side keep all processors busy while one reads its next painting.
render() {
	GOMAXPROCS=3 "$blik" trainingset -q -o "$out/set$1" --paintings "$out/paintings" --kind "$2" --count "$3" --seed "$1" &
}
for seed in 601 602 603 604 605 606; do render $seed condition 42; done
for seed in 607 608; do render $seed clean 78; done
render 609 spots 52
wait
python3 "$here/data.py" pack "$out/sets.npz" "$out"/set60?
# The model is trained on all paintings; the networks of the folds judge its recipe.
python3 "$here/train.py" --data "$out/sets.npz" --out "$out/all" --nets t24 --steps 1800 &
for fold in 0 1 2; do
	python3 "$here/train.py" --data "$out/sets.npz" --out "$out/fold$fold" --nets t24 --fold $fold --steps 1800 &
done
wait
python3 "$here/integer.py" export "$out/all/t24.pt" "$out/glints.blik" "$out/all/log.json" "$out"/fold?/log.json
