#!/usr/bin/env bash
# Compiles kernels/*.cu with the given nvcc and packs the result into kernels/code, a compressed archive for each
# architecture: compute_50 is PTX, which the driver of any GPU of compute capability 5.0 or higher can compile, sm_90 the
# machine code made of it for one GPU, whose driver then need not compile. A source can request an additional PTX for 8.0
# or higher. The first line of a PTX names the hash of its source, a comment in the archive the PTX that machine code was
# made of; a test verifies that the three belong together. The output is reproducible.
# Arguments: nvcc, and optionally the names of the sources to compile, without their extension. GO is the go command.
set -euo pipefail
cd "$(dirname "$0")/../kernels"
nvcc=$(command -v "${1:-nvcc}" || echo "../${1:-nvcc}")
include=$("../scripts/cuda.sh" where)
PATH=$(dirname "$nvcc"):$PATH
shift
sources=("${@/%/.cu}")
[ $# -gt 0 ] || sources=(*.cu)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for source in "${sources[@]}"; do
  name=${source%.cu}
  hash=$(cat common.cuh "$source" | sha256sum | cut -d ' ' -f 1)
  versions=(50)
  if grep -q '__CUDA_ARCH__ >= 800' "$source"; then
    versions+=(80)
  fi
  for version in "${versions[@]}"; do
    ptx=$work/code/compute_$version/$name.ptx
    mkdir -p "$(dirname "$ptx")"
    # Not fusing products with sums (-fmad=false) is what makes floats equal to the CPU's.
    "$nvcc" -allow-unsupported-compiler -I "$include" -std=c++14 -O3 -fmad=false -ptx "-arch=compute_$version" -o "$work/ptx" "$source"
    { echo "// source $hash"; cat "$work/ptx"; } >"$ptx"
    for target in 75 80 86 89 90; do
      [ "$target" -ge "$version" ] || continue
      machine=$work/code/sm_$target/$name
      mkdir -p "$(dirname "$machine")"
      ptxas -O3 -fmad=false "-arch=sm_$target" -o "$machine.cubin" "$ptx"
      sha256sum "$ptx" | cut -d ' ' -f 1 >"$machine.of"
    done
  done
  echo "$source"
done
(cd .. && "${GO:-go}" run ./kernels/pack kernels "$work/code")
