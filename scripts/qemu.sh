#!/usr/bin/env bash
# Builds the tests of processing/cpu for arm64 and runs the short ones under qemu-user (Debian: qemu-user-static): there are
# only plain kernels, and the compiler may fuse products with sums where the code does not keep it from that. With "avx2" it
# runs them as on an x86-64 processor that has AVX2 but not AVX-512, which the kernels for AVX2 must do with.
set -euo pipefail
cd "$(dirname "$0")/.."

arch=arm64 run=(qemu-aarch64-static)
if [ "${1:-}" = avx2 ]; then
  arch=amd64 run=(qemu-x86_64-static -cpu max)
fi
command -v "${run[0]}" >/dev/null || { echo "There is no ${run[0]} (Debian: qemu-user-static)." >&2; exit 1; }
mkdir -p build
CGO_ENABLED=0 GOARCH=$arch "${GO:-go}" test -vet=off -c -o "build/cpu-$arch.test" ./processing/cpu
cd processing/cpu
"${run[@]}" "../../build/cpu-$arch.test" -test.short -rapid.checks "${CHECKS:-10}" -rapid.nofailfile -test.timeout 900s
