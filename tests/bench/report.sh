#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page of ordo-bench report shows the content of its files and needs no other file. Arguments: ordo-bench and the
# directory of kept results. Needs no device. Node.js draws the pages; without it the test checks only the program.
set -u
bench=$1 results=$2
node=$(command -v node || command -v nodejs)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
    failures=$((failures + 1))
    printf 'not so: %s\n' "$1"
    head -n 5 "$dir/out"
}

# report STATUS FILE...: writes $dir/file, the page, and $dir/page, the page after its script ran
report() {
    want=$1
    shift
    "$bench" report "$@" -o "$dir/file" >"$dir/out" 2>&1
    got=$?
    [ "$got" -eq "$want" ] || fail "status $want, not $got, from report $*"
    cp "$dir/file" "$dir/page"
    [ -z "$node" ] || "$node" "${0%/*}/render.js" "$dir/page" >>"$dir/out" 2>&1 || fail "the page of $* is drawn"
}
shows() {
    [ -z "$node" ] || grep -q -e "$1" "$dir/page" || fail "the page shows $1"
}
shows_no() {
    [ -z "$node" ] || ! grep -q -e "$1" "$dir/page" || fail "the page has no $1"
}
count() {
    grep -o -e "$1" "$dir/page" | wc -l
}

report 0 "$results"/*.json
cp "$dir/file" "$dir/first"
report 0 "$results"/*.json
cmp -s "$dir/file" "$dir/first" || fail "the same files make the same bytes"
[ "$(wc -c <"$dir/file")" -lt 4000000 ] || fail "it is less than 4 MB"
! grep -q -e ' src=' -e '<link' "$dir/file" || fail "it loads nothing"
! sed 's,http://www.w3.org/2000/svg,,' "$dir/file" | grep -q 'https\?:' || fail "it names no address"
shows_no 'NaN'
shows_no 'Infinity'
shows_no 'undefined'
shows_no '\[object'
for file in "$results"/*.json; do
    shows "${file##*/}"
done
shows 'NVIDIA H100'
shows 'NVIDIA H200'
shows 'not measured'
shows 'the peer is ahead in [0-9]'
shows 'comes to lead over\|leads over .* throughout'
shows 'stroke-dasharray="2 5"'
shows_no 'Not measured at two places' # so there are plots of each kind
if [ -n "$node" ]; then
    [ "$(count '<svg ')" -ge 20 ] || fail "it has plots"
    for part in '<svg role="img"' '<title id=' '<desc id=' '<summary>figures' 'class="save"'; do
        [ "$(count "$part")" -eq "$(count '<svg ')" ] || fail "each plot has $part"
    done
    # All marks lie within the drawing.
    grep -o 'points="[^"]*"' "$dir/page" | tr -d 'a-z="' | tr ' ' '\n' | awk -F, '
        NF != 2 || $1 < 70 || $1 > 550 || $2 < 20 || $2 > 300 { print "outside: " $0; bad = 1 }
        END { exit bad || NR < 100 }' >"$dir/out" || fail "points lie within the axes"
fi

# ---- the page shows the content of a file
# file NAME RATE CHECK DEVICE: one with two rows
file() {
    cat >"$dir/$1" <<END
{ "tool": "ordo-bench", "schema": 1, "revision": "r1", "clean": false, "date": "2026-01-01T00:00:00Z",
  "arguments": ["-w", "sort"], "host": { "processor": "a processor" },
  "processes": [{ "disturbed": "copy" }],
  "devices": [{ "name": "$4", "platform": "P", "driver": "1", "limits": [{ "copy_bytes_per_s": 1e12 }] }],
  "rows": [
    { "device": 0, "workload": "sort", "variant": "", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": 1048576,
      "operations": 1048576, "check": "ok", "rate": $2, "wall_s": { "median": 1e-3, "p10": 9e-4, "p90": 2e-3 },
      "bytes_counted": 16777216, "peer": { "name": "CUB", "rate": 2e9 } },
    { "device": 0, "workload": "sort", "variant": "", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": 4194304,
      "operations": 4194304, "check": "$3", "rate": 3e9, "wall_s": { "median": 1e-3, "p10": 9e-4, "p90": 2e-3 },
      "bytes_counted": 67108864 }] }
END
}
file a 1e9 ok 'A <b>device</b>'
report 0 "$dir/a"
shows 'A &#60;b&#62;device&#60;/b&#62;'
shows_no 'A <b>'
shows 'ahead in 1\. Farthest behind: 0\.5 of CUB in sort u32+4 of 2^20'
shows '<td class="n bad">0.50</td>'
shows '3.00 G <span class="q">at 2^22; 3.00 M per GB/s'
shows 'r1 (changed)'
shows '<td>copy</td>'
cp "$dir/file" "$dir/first"
file a 1.1e9 ok 'A <b>device</b>'
report 0 "$dir/a"
! cmp -s "$dir/file" "$dir/first" || fail "another figure, another page"
shows '<td class="n bad">0.55</td>'
shows_no "Against the host's libraries"
sed 's|^  "rows"|  "peers": [{ "device": 0, "workload": "sort", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": 1048576,\
    "operations": 1048576, "name": "qsort", "version": "a library", "call": "of <records>", "threads": 2, "check": "ok", "rate": 4.4e9 }],\
  "rows"|' "$dir/a" >"$dir/peers"
report 0 "$dir/peers"
shows "Against the host's libraries"
shows '<td>of &#60;records&#62;</td><td class="n">2</td><td class="n">4.40 G</td><td></td><td class="n">1.10 G</td><td class="n bad">0.25x</td>'
file b 1e9 WRONG 'Another'
report 1 "$dir/a" "$dir/b"
shows 'class="alarm">WRONG: 1 rows'
shows '<tr class="bad">'
grep -q 'rows are WRONG' "$dir/out" || fail "it says that rows are WRONG"
line_of() {
    sed -n "/$1/=" "$dir/page"
}
[ -z "$node" ] || [ "$(line_of 'alarm">WRONG')" -lt "$(line_of '<h2>Devices')" ] || fail "WRONG comes first"

# ---- panels: shares of limits, two revisions, mixes, fills, calls, memory, papers
# rows COUNT RATE: rows of dictionaries
rows() {
    cat <<END
    { "device": 0, "workload": "readrandom", "variant": "lsm", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": $1,
      "operations": $1, "check": "ok", "rate": $2, "most_fills": 4, "hit_percent": 100,
      "wall_s": { "median": 1e-3, "p10": 9e-4, "p90": 2e-3 },
      "fills": [{ "batches": 1, "rate": 3e9 }, { "batches": 2, "rate": 2e9 }, { "batches": 3, "rate": 1e9 }] },
    { "device": 0, "workload": "fillrandom", "variant": "lsm", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": $1,
      "operations": $1, "check": "ok", "rate": 1e9, "batch": 65536, "wall_s": { "median": 1e-3, "p10": 9e-4, "p90": 2e-3 },
      "statistics": { "elements": $1, "bytes_data": $(($1 * 8)), "bytes_index": $(($1 * 2)), "bytes_marks": 0,
                      "bytes_spare": $(($1 / 2)) } },
    { "device": 0, "workload": "concurrentmix", "variant": "blink", "key": "u32", "value_bytes": 4, "dist": "uniform",
      "count": 16777216, "operations": 1048576, "check": "ok", "rate": $1, "batch": 1048576,
      "update_percent": $(($1 / 52428)), "wall_s": { "median": 1e-3, "p10": 9e-4, "p90": 2e-3 } },
    { "device": 0, "workload": "seekrandom", "variant": "lsm", "key": "u32", "value_bytes": 4, "dist": "uniform",
      "count": 16777216, "operations": $(($1 / 1024)), "check": "ok", "rate": $1, "most_fills": 1, "hit_percent": 50,
      "wall_s": { "median": $1e-9, "p10": 9e-4, "p90": 9e-3 } },
    { "device": 0, "workload": "readrandom", "variant": "lsm", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": $1,
      "operations": 1000, "check": "ok", "rate": 77e6, "most_fills": 4, "hit_percent": 100,
      "wall_s": { "median": 13e-6, "p10": 9e-6, "p90": 2e-5 } },
    { "device": 0, "workload": "rangerandom", "variant": "lsm", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": $1,
      "operations": 1000000, "width": $(($1 / 1048576 * 8)), "check": "ok", "rate": 1e9, "most_fills": 4,
      "wall_s": { "median": 13e-6, "p10": 9e-6, "p90": 2e-5 } },
    { "device": 0, "workload": "overwrite", "variant": "lsm", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": $1,
      "operations": $1, "check": "ok", "rate": 1e9, "batch": $(($1 / 16)),
      "wall_s": { "median": 1e-3, "p10": 9e-4, "p90": 2e-3 } },
    { "device": 0, "workload": "build", "variant": "hash", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": $1,
      "operations": $1, "check": "ok", "rate": 2e9, "batch": $1, "load_percent": 95,
      "wall_s": { "median": 1e-3, "p10": 9e-4, "p90": 2e-3 } },
    { "device": 0, "workload": "hostsort", "variant": "", "key": "u32", "value_bytes": 4, "dist": "uniform", "count": $1,
      "operations": $1, "check": "ok", "rate": 1e9, "bytes_to_device": $(($1 * 8)), "bytes_from_device": $(($1 * 8)),
      "wall_s": { "median": 1e-3, "p10": 9e-4, "p90": 2e-3 } },
END
}
# panels NAME REVISION DATE RATE: a file
panels() {
    cat >"$dir/$1" <<END
{ "tool": "ordo-bench", "schema": 1, "revision": "$2", "clean": true, "date": "$3",
  "arguments": [], "host": {}, "processes": [],
  "devices": [{ "name": "D", "platform": "P", "driver": "1", "limits": [{ "copy_bytes_per_s": 1e12, "gathers_32_per_s": 4e10,
    "to_device_bytes_per_s": 32e9, "from_device_bytes_per_s": 16e9 }] }],
  "rows": [
    $(rows 1048576 "$4")
    $(rows 4194304 "$4")
    { "device": 0, "workload": "readrandom", "variant": "blink", "check": "skipped" }],
  "papers": [{ "device": 0, "id": "gpu-lsm", "paper": "A <paper>", "measured_on": "K40c", "full": false,
    "claims": [{ "says": "it is faster", "where": "V", "verdict": "does not", "paper": 13.5, "here": 7.25, "why": "at 3 of 7" }],
    "experiments": [{ "id": "table-2", "title": "Batches", "unit": "M/s", "where": "Table II", "scale": 256, "rows": [
      { "structure": "lsm", "batch": 65536, "paper": 100, "here": 200 },
      { "structure": "lsm", "batch": 131072, "paper": 150, "here": 333.25 }]}]}] }
END
}
panels d r1 2026-01-01T00:00:00Z 1e10
panels e r2 2026-01-02T00:00:00Z 2e10
report 0 "$dir/d" "$dir/e"
shows '<td class="n">50 %</td>'
shows 'r1, r2</td><td class="n good">2.00</td>'
shows 'concurrentmix u32+4 in 2^24'
shows 'At 80 % updates: 4.19 M a second'
shows 'readrandom u32+4 in 2^20'
shows 'At 3 batches: 1.00 G a second'
# Points that differ are in separate plots or in none.
shows '<h3>readrandom u32+4, mean of 4 fills, D<'
shows '<h3>readrandom u32+4, 1000 at a time, mean of 4 fills, D<'
shows '<h3>overwrite u32+4, in 16 batches, D<'
shows_no '<h3>fillrandom u32+4, in'
shows_no '<h3>rangerandom'
shows '>hash, load 95<'
# Sorts of 8 bytes a pair: 0.25 ns there, 0.5 ns back, of 1 ns.
shows 'to the device and back</td><td class="n">75 %</td>'
shows '>limit: to the device and back<'
shows 'At 3 batches: 1.00 G a second'
shows 'seekrandom u32+4 in 2^24'
shows 'At 2^12 a call: 4.19 ms'
shows 'fillrandom u32+4: memory'
shows 'At 2^22: 10.5 bytes'
shows 'A &#60;paper&#62;'
shows 'it is faster</td><td>V</td><td class="bad">does not</td><td class="n">13.5</td><td class="n">7.25</td><td>at 3 of 7'
shows '<td class="n">333.3</td>'
shows 'lsm: here'
shows 'lsm: paper'
panels e r2 2026-01-02T00:00:00Z 1e9
report 0 "$dir/d" "$dir/e"
shows 'r1, r2</td><td class="n bad">0.10</td>'

echo '{ "tool": "ordo-info" }' >"$dir/c"
report 2 "$dir/c"
report 2 "$dir/missing"
"$bench" report "$dir/a" >"$dir/out" 2>&1
[ $? -eq 2 ] || fail "it asks where to write"
"$bench" report "$dir/a" -o "$dir/none/page" >"$dir/out" 2>&1
[ $? -eq 1 ] || fail "it says that it cannot write"

[ "$failures" -eq 0 ] || exit 1
[ -n "$node" ] || { echo "SKIP: Node.js draws the pages, which is not there"; exit 77; }
echo "the page shows what the files say"
