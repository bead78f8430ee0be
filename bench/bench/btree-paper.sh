#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tables and figures of Awad and others, Engineering a High-Performance GPU B-Tree (PPoPP 2019), for the B-link tree:
#
#     sh bench/bench/btree-paper.sh build/bench/ordo-bench OUT-DIRECTORY [OPTION of ordo-bench]...
#
# One JSON file and one text file for each; on a large GPU some 5 minutes in all. Of a smaller device's memory, or time, give
# smaller sizes: SIZES=16,18,20 sh bench/bench/btree-paper.sh ...
set -eu
bench=$1
out=$2
shift 2
sizes=${SIZES:-20,22,24,26}
status=0
mkdir -p "$out"

measure()
{
    name=$1
    shift
    printf '\n==== %s\n' "$name"
    "$bench" -s blink --no-host --no-array --no-chart --reps 5 --json "$out/blink-$name.json" "$@" >"$out/$name.txt" ||
        status=1
    cat "$out/$name.txt"
}

measure batches -w insertrandom,concurrentinsert -n "$sizes" --batch 14,16,18,20,22 --budget 80 "$@"
measure fill -w concurrentfill -n "$sizes" --batch 26 --budget 30 "$@"
measure updates -w fillrandom -n "$sizes" --batch 16,18,20 --budget 60 "$@"
measure read -w readrandom,readmissing -n "$sizes" --fills 1 -q 24 --budget 50 "$@"
measure queries -w concurrentread,seekrandom,rangerandom -n "$sizes" --fills 1 -q 22 --budget 50 "$@"
for percent in 10 50 100; do
    measure "erase-$percent" -w deleterandom -n "$sizes" --batch 26 --erase "$percent" --budget 20 "$@"
done
measure mix -w concurrentmix -n "$sizes" --batch 20 --updates 20,60,100 --budget 60 "$@"
measure compact -w compactall -n "$sizes" --batch 20 --budget 30 "$@"
exit "$status"
