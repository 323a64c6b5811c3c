#!/bin/sh
# Trains the network if PyTorch finds a GPU, and otherwise prints what is needed. Takes about six minutes on four H200s with
# 64 processors. Usage: training/run.sh [PAINTINGS [OUT]]
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
	for seed in $(seq "$2" "$3"); do echo "$seed $1 $4"; done
}
{ render varied 801 820 60; render condition 821 827 60; render spots 831 834 45; render clean 841 846 80; } |
	OUT=$out BLIK=$blik xargs -P "$(($(nproc) * 4 / 9 + 1))" -L1 sh -c 'GOMAXPROCS=3 "$BLIK" trainingset -q \
		-o "$OUT/set$0" --paintings "$OUT/paintings" --seed "$0" --kind "$1" --count "$2"'
python3 "$here/data.py" pack "$out/sets.npz" "$out"/set8??
# The model is trained on all paintings; the networks of the folds judge its recipe.
gpus=$(python3 -c 'import torch; print(torch.cuda.device_count())')
train() {
	device=$(($1 % gpus)) name=$2
	shift 2
	CUDA_VISIBLE_DEVICES=$device python3 "$here/train.py" --data "$out/sets.npz" --out "$out/$name" --nets t24 \
		--steps 4500 --batch 192 "$@" &
}
train 0 all
for fold in 0 1 2; do train $((fold + 1)) "fold$fold" --fold "$fold"; done
wait
python3 "$here/integer.py" export "$out/all/t24.pt" "$out/glints.blik" "$out/all/log.json" "$out"/fold?/log.json
for fold in 0 1 2; do
	python3 "$here/integer.py" export "$out/fold$fold/t24.pt" "$out/fold$fold.blik" "$out/fold$fold/log.json"
done
