#!/usr/bin/env bash
# Compiles kernels/*.cu with the given nvcc to kernels/ptx/*.ptx, which the driver of any GPU of compute capability 5.0 or
# higher can compile, and the PTX to kernels/cubin/*.tar, the machine code for recent GPUs, whose drivers then need not
# compile. A source can request an additional PTX for 8.0 or higher. The first line of a PTX names the hash of its source, a
# member of the archive the hash of its PTX; a test verifies that the three belong together. The output is reproducible.
# Arguments: nvcc, and optionally the names of the sources to compile, without their extension.
set -euo pipefail
cd "$(dirname "$0")/../kernels"
nvcc=$(command -v "${1:-nvcc}" || echo "../${1:-nvcc}")
include=$("../scripts/cuda.sh" where)
PATH=$(dirname "$nvcc"):$PATH
shift
mkdir -p ptx cubin
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
  rm -rf "$work/cubin"
  mkdir "$work/cubin"
  for version in "${versions[@]}"; do
    ptx=ptx/${name}_$version.ptx
    # Not fusing products with sums (-fmad=false) is what makes floats equal to the CPU's.
    "$nvcc" -allow-unsupported-compiler -I "$include" -std=c++14 -O3 -fmad=false -ptx "-arch=compute_$version" -o "$work/ptx" "$source"
    { echo "// source $hash"; cat "$work/ptx"; } >"$ptx"
    echo "kernels/$ptx"
    sha256sum "$ptx" | cut -d ' ' -f 1 >>"$work/cubin/ptx.sha256"
    for target in 75 80 86 89 90; do
      [ "$target" -lt "$version" ] || ptxas -O3 -fmad=false "-arch=sm_$target" -o "$work/cubin/$target" "$ptx"
    done
  done
  for target in 75 80 86 89 90; do
    gzip -9n "$work/cubin/$target"
  done
  tar -cf "cubin/$name.tar" --format=ustar --blocking-factor=1 --sort=name --owner=0 --group=0 --numeric-owner --mode=0644 --mtime=@0 \
    -C "$work/cubin" ptx.sha256 75.gz 80.gz 86.gz 89.gz 90.gz
  echo "kernels/cubin/$name.tar"
done
