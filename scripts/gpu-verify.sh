#!/usr/bin/env bash
# Runs all GPU tests and measurements on this machine and writes kernels/verified.json, the record that tests on machines
# without a GPU check. Arguments: the test programs of cuda, app/device and lab/gpu, built with the tag cuda, for a
# machine without Go; by default they are built here. BLIK_RECORD names another file for the record, relative to the
# repository; BLIK_LEAK_RUNS is the number of consecutive detections, by default 10,000. With BLIK_SANITIZE=1, NVIDIA's
# compute-sanitizer first checks for invalid accesses and races. If ../shared/tools exists, peers are measured last.
set -euo pipefail
tests=${1:+$(realpath "$1")}
faults=${2:+$(realpath "$2")}
trials=${3:+$(realpath "$3")}
cd "$(dirname "$0")/.."
root=$PWD
record=$(realpath "${BLIK_RECORD:-kernels/verified.json}")
if [ -z "$tests" ]; then
  include=$(scripts/cuda.sh where)
  [ -n "$include" ] || { echo "There is no cuda.h of CUDA 11.8 to 12: run make cuda." >&2; exit 1; }
  tests=$root/build/cuda.test
  faults=$root/build/device.test
  trials=$root/build/gpu.test
  mkdir -p build
  export GOEXPERIMENT=${GOEXPERIMENT-simd}
  CPATH=$include "${GO:-go}" test -c -tags cuda -o "$tests" ./cuda
  CPATH=$include "${GO:-go}" test -c -tags cuda -o "$faults" ./app/device
  CPATH=$include "${GO:-go}" test -c -tags cuda -o "$trials" ./lab/gpu
fi
export BLIK_REQUIRE_GPU=1 BLIK_LEAK_RUNS=${BLIK_LEAK_RUNS:-10000}

if [ -n "$faults" ]; then
  echo "== devices that are missing or fail"
  (cd app/device && "$faults" -test.timeout 300s)
fi

cd cuda
if [ -n "${BLIK_SANITIZE:-}" ]; then
  # Everything runs many times slower: few pictures, and neither figures nor what has no kernels of its own.
  for tool in memcheck racecheck; do
    echo "== compute-sanitizer $tool"
    compute-sanitizer --tool "$tool" --error-exitcode 1 "$tests" -test.short -rapid.checks 1 -rapid.nofailfile -test.timeout 600s \
      -test.skip 'GlareDev|NoLeak|TooLittleMemory|Figures|Times|OpenTime|DetectParameters|TransfersInParts|SideBySide|DoesNotAnswer|FaultsLeaveNothing|EveryLook'
  done
fi

echo "== kernels, detection, correction, figures"
BLIK_VERIFY=$record "$tests" -test.v -rapid.nofailfile -test.timeout 1200s

if [ -n "$trials" ]; then
  echo "== experiments"
  (cd ../lab/gpu && BLIK_VERIFY=$record "$trials" -test.v -rapid.nofailfile -test.timeout 600s)
fi

peers=$root/../shared/tools
if [ -f "$peers/gpu_peers.py" ] && python3 -c 'import cupy' 2>/dev/null; then
  echo "== peers on this machine"
  python3 "$peers/gpu_peers.py"
fi
if [ -f "$peers/npp_peer.cu" ] && command -v nvcc >/dev/null; then
  mkdir -p "$root/build"
  nvcc -O3 -arch=native -std=c++17 -o "$root/build/npp_peer" "$peers/npp_peer.cu" -lnppif -lnppim -lnppc
  "$root/build/npp_peer"
fi
