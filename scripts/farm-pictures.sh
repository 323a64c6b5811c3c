#!/usr/bin/env bash
# Compares a farm of three workers on this machine with plain runs of "blik correct", both on all processors with one
# thread a picture: PICTURES pictures (default 1000) of MEGAPIXELS (default 2). Argument: the program, as "make
# headless" builds it. It prints the seconds per picture, their ratio, the memory of the server, and the number of equal
# results.
set -euo pipefail
blik=$(realpath "${1:-build/blik-headless}")
pictures=${PICTURES:-1000} cores=$(nproc) port=${PORT:-47613}
dir=$(mktemp -d)
processes=()
trap 'kill "${processes[@]}" 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
cd "$dir"
mkdir samples in out plain
seq 1 $((2 * cores)) | GOMAXPROCS=1 xargs -P "$cores" -I{} "$blik" sample -q -o samples/{}.png --megapixels "${MEGAPIXELS:-2}" --seed {}
rm -f samples/*_mask.png
samples=(samples/*.png)
for ((i = 0; i < pictures; i++)); do ln "${samples[i % ${#samples[@]}]}" "in/$(printf %04d "$i").png"; done

now() { date +%s.%N; }
some=$((10 * cores < pictures ? 10 * cores : pictures))
# plain corrects the first pictures and prints the seconds per picture.
plain() {
  local begun
  begun=$(now)
  find in -name '*.png' | sort | head -n "$some" | GOMAXPROCS=1 xargs -P "$cores" -I{} "$blik" correct -q --overwrite -o plain {}
  awk "BEGIN { print ($(now) - $begun) / $some }"
}
before=$(plain)

"$blik" farm serve --store store --listen "127.0.0.1:$port" --page - --log error >serve.txt 2>&1 &
server=$!
processes+=("$server")
sleep 1
rest=$cores
for i in 3 2 1; do
  jobs=$((rest / i > 0 ? rest / i : 1)) rest=$((rest - rest / i))
  GOMAXPROCS=$jobs "$blik" farm work --join "nats://127.0.0.1:$port" --root "$dir/in" --output-root "$dir/out" --device cpu \
    --jobs "$jobs" --name "worker-$i" --log error >"worker-$i.txt" 2>&1 &
  processes+=("$!")
done
sleep 2
begun=$(now)
"$blik" farm submit --join "nats://127.0.0.1:$port" -o "$dir/out" --wait "$dir/in/*.png"
farm=$(awk "BEGIN { print ($(now) - $begun) / $pictures }")
memory=$(awk '/VmHWM/ { print $2 / 1000 }' "/proc/$server/status")
equal=0
for file in plain/*.png; do ! cmp -s "$file" "out/${file##*/}" || equal=$((equal + 1)); done
after=$(plain)

echo "plain: $before s a picture, $after after the farm ($some pictures, $cores at a time)"
echo "farm: $farm s a picture ($pictures pictures, three workers), $(awk "BEGIN { print $farm / $before }") of the plain runs before it"
echo "server: $memory MB at most; equal to plain runs: $equal of $some"
