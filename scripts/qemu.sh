#!/usr/bin/env bash
# Builds the tests of processing/cpu and its kernels for arm64 and runs the short ones under qemu-user (Debian:
# qemu-user-static). On arm64 there are only plain kernels, and the compiler may fuse products and sums unless the code
# prevents it. With "avx2" the tests run as on an x86-64 processor with AVX2 but without AVX-512.
set -euo pipefail
cd "$(dirname "$0")/.."

arch=arm64 run=(qemu-aarch64-static)
if [ "${1:-}" = avx2 ]; then
  arch=amd64 run=(qemu-x86_64-static -cpu max)
fi
command -v "${run[0]}" >/dev/null || { echo "There is no ${run[0]} (Debian: qemu-user-static)." >&2; exit 1; }
mkdir -p build
root=$PWD
for package in processing/cpu/kernel processing/cpu; do
  test=$root/build/$(basename $package)-$arch.test
  CGO_ENABLED=0 GOARCH=$arch "${GO:-go}" test -vet=off -c -o "$test" ./$package
  (cd $package && "${run[@]}" "$test" -test.short -rapid.checks "${CHECKS:-10}" -rapid.nofailfile -test.timeout 900s)
done
