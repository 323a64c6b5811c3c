#!/usr/bin/env bash
# Compiles kernels/*.cu to kernels/ptx/*.ptx with the nvcc given: a baseline that every GPU from compute capability 5.0 on
# runs, and where a source says so (a line "// ptx: 80") a newer target beside it. The first line of a PTX names the hash
# of its source, by which a test sees that the two belong together. Arguments: nvcc, and the names of some sources without
# their ending to compile these alone.
set -euo pipefail
cd "$(dirname "$0")/../kernels"
nvcc=$(command -v "${1:-nvcc}" || echo "../${1:-nvcc}")
include=$("../scripts/cuda.sh" where)
PATH=$(dirname "$nvcc"):$PATH
shift
mkdir -p ptx
sources=("${@/%/.cu}")
[ $# -gt 0 ] || sources=(*.cu)
for source in "${sources[@]}"; do
  name=${source%.cu}
  hash=$(cat common.cuh "$source" | sha256sum | cut -d ' ' -f 1)
  for target in 50 $(sed -n 's,^// ptx: ,,p' "$source"); do
    out=ptx/${name}_$target.ptx
    # Not fusing products with sums (-fmad=false) is what makes floats equal to the CPU's.
    "$nvcc" -allow-unsupported-compiler -I "$include" -std=c++14 -O3 -fmad=false -ptx "-arch=compute_$target" -o "$out.new" "$source"
    { echo "// source $hash"; cat "$out.new"; } >"$out"
    rm "$out.new"
    echo "kernels/$out"
  done
done
