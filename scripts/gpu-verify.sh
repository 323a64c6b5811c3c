#!/usr/bin/env bash
# Runs all tests and figures of the GPU on this machine and writes kernels/verified.json, the record that tests without a
# GPU check. Arguments: the test programs of cuda and of app/device, built with the tag cuda; without them they are built
# here. BLIK_RECORD names another file for the record.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
tests=${1:+$(realpath "$1")}
faults=${2:+$(realpath "$2")}
record=$(realpath "${BLIK_RECORD:-kernels/verified.json}")
if [ -z "$tests" ]; then
  include=$(scripts/cuda.sh where)
  [ -n "$include" ] || { echo "There is no cuda.h of CUDA 11.8 to 12: run make cuda." >&2; exit 1; }
  tests=$root/build/cuda.test
  faults=$root/build/device.test
  mkdir -p build
  CPATH=$include "${GO:-go}" test -c -tags cuda -o "$tests" ./cuda
  CPATH=$include "${GO:-go}" test -c -tags cuda -o "$faults" ./app/device
fi
export BLIK_REQUIRE_GPU=1
if [ -n "$faults" ]; then
  (cd app/device && "$faults" -test.short -test.timeout 120s)
fi
cd cuda
BLIK_VERIFY=$record "$tests" -test.v -rapid.nofailfile -test.timeout 300s
