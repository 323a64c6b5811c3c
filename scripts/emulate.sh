#!/usr/bin/env bash
# Builds a driver library (libcuda.so.1) that runs kernels/*.cu on the CPU, for tests on machines without a GPU; see
# cuda/emulation. Argument: the folder for the library, which the tests need in LD_LIBRARY_PATH. Only changed sources
# are compiled.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
emulation=cuda/emulation
mkdir -p "$out/modules"
# As on the GPU, fused multiply-add is disabled.
flags=(-std=c++17 -O2 -g1 -fPIC -w -ffp-contract=off -fno-strict-aliasing -I "$emulation" -I kernels)

library=$out/libcuda.so.1
if [ ! "$library" -nt $emulation/driver.cc ] || [ ! "$library" -nt $emulation/emulation.h ]; then
  g++ "${flags[@]}" -shared -pthread -o "$library" $emulation/driver.cc -ldl
fi

modules=()
for source in kernels/*.cu; do
  name=$(basename "$source" .cu)
  module=$out/modules/$name
  modules+=("$module.o")
  if [ "$module.o" -nt "$source" ] && [ "$module.o" -nt kernels/common.cuh ] && [ "$module.o" -nt $emulation/emulation.h ]; then
    continue
  fi
  {
    echo '#include "emulation.h"'
    # Modules are independent, so their names must not collide.
    echo "namespace module_$name {"
    echo "#line 1 \"$source\""
    sed -E 's/extern __shared__ (__align__\([0-9]+\) )?([^;]*) ([A-Za-z_0-9]+)\[\];/\2 *\3 = (\2 *)emulation::dynamicShared();/' "$source"
    echo "}"
    echo "using namespace module_$name;"
    sed -nE 's/^(extern "C" |static )?__constant__ .* ([A-Za-z_0-9]+)(\[[^;]*)?;.*/extern "C" void *constant_\2() { return (void *)\&\2; }/p' "$source"
  } >"$module.cc"
  # Macros also define kernels, so the names are known only after preprocessing.
  g++ "${flags[@]}" -DEMULATED_GLOBAL=EMULATED_KERNEL -E "$module.cc" | tr '\n' ' ' |
    grep -oE 'EMULATED_KERNEL +void +[A-Za-z_0-9]+ *\(' | sed -E 's/.* ([A-Za-z_0-9]+) *\($/EMULATED_ENTRY(\1)/' >"$module.entries" || true
  cat "$module.entries" >>"$module.cc"
  g++ "${flags[@]}" -DEMULATED_GLOBAL= -c -o "$module.o" "$module.cc"
done
g++ -shared -o "$out/libkernels.so" "${modules[@]}" -L"$out" -l:libcuda.so.1 -Wl,-rpath,"\$ORIGIN"
