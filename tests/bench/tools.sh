#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tools as programs: they run, their measurements are right, they survive a driver that crashes, and they report bad
# arguments. Arguments: the part (info, arrays, strings, dicts, concurrent, compare, or all), the programs ordo-info, ordo-bench,
# ordo-tune and ordo-demo, a driver that crashes, the page with the fields of results, and whether the build has C++ maps
# to compare with (true, false). Skipped (77) without an OpenCL device. ORDO_TEST_KINDS=all: more sizes and structures.
set -u
part=$1 info=$2 bench=$3 tune=$4 demo=$5 crash_driver=$6 fields=$7 maps=$8

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
ORDO_PROFILE=$dir/profile
export ORDO_PROFILE
failures=0

fail() {
    failures=$((failures + 1))
    printf 'not so: %s\n' "$1"
    sed 's/^/    /' "$dir/out" "$dir/err" | head -n 40
}

# expect STATUS COMMAND...: runs it, keeps what it prints in $dir/out and $dir/err, and its status in $got
expect() {
    want=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    [ "$got" -eq "$want" ] || fail "status $want, not $got, from: $*"
    case "$*" in
        *"--json -"* | *--wide* | *--row*) ;; # a row is of the table in the sources
        *) ! grep -q '.\{81\}' "$dir/out" || fail "its lines fit 80 columns: $*" ;;
    esac
}
unset COLUMNS # not a terminal, and no other width: 80

# prints FILE TEXT: $dir/FILE contains TEXT
prints() {
    grep -q -e "$2" "$dir/$1" || fail "'$2' is in std$1"
}
prints_no() {
    ! grep -q -e "$2" "$dir/$1" || fail "'$2' is not in std$1"
}

# explained FILE...: the page explains each field of these files
explained() {
    for field in $(grep -oh '"[a-z0-9_]*":' "$@" | tr -d '":' | sort -u); do
        grep -q "\`$field\`" "$fields" || fail "$fields explains $field"
    done
}

"$info" --no-self-test >"$dir/out" 2>"$dir/err"
if [ $? -eq 1 ] && ! grep -q 'problem' "$dir/out"; then
    echo "SKIP: there is no OpenCL device"
    cat "$dir/out"
    exit 77
fi

# The comparison also measures each structure alone.
sizes='=1,14' least=lsm,hash most=sorted_array,blink fills=2 seconds=5
if [ "${ORDO_TEST_KINDS:-}" = all ]; then
    sizes='=1,=1000,14' least=sorted_array,lsm,blink,skiplist,fast,hash,xfast,hamt most=$least fills=3 seconds=8
fi

# All tools: help in 80 columns with existing options, a version, and an error for an unknown option.
help_of_all() {
    for tool in "$info" "$bench" "$tune" "$demo"; do
        expect 0 "$tool" --version
        prints out "^${tool##*/} [0-9]*\.[0-9]*\.[0-9]*$"
        expect 2 "$tool" --no-such-option
        prints err "Try '${tool##*/} --help'"
        expect 2 "$tool" argument
        expect 0 "$tool" --help
        prints out '^Exit status: 0'
        prints_no out '.\{81\}'
        grep -o '^  [ -].\{26\}' "$dir/out" | grep -o -e '--[a-z-]*[ ,][A-Z]*' >"$dir/options"
        [ -s "$dir/options" ] || fail "${tool##*/} --help lists options"
        while read -r option argument; do
            case $option,$argument in
                *,[A-Z]*) # without its argument, that is what is missing
                    expect 2 "$tool" "$option"
                    prints err 'requires an argument'
                    ;;
                --help, | --version,) ;;
                *) # what follows is wrong, not this
                    expect 2 "$tool" "${option%,}" --no-such-option
                    prints err "unrecognized option '--no-such-option'"
                    ;;
            esac
        done <"$dir/options"
    done
}

# ordo-info alone, and with a driver that aborts when it is loaded.
devices() {
    expect 0 "$info"
    prints out 'self-test  passed'
    prints out 'lanes '
    prints out 'gathers '
    prints_no out 'at random: -'
    expect 0 env ORDO_LOG=bogus ORDO_PROFILE=/no/such/file "$info" --no-self-test
    prints out 'warnings  .*ORDO_LOG=bogus: unknown level'
    prints out 'ORDO_PROFILE=/no/such/file'
    expect 0 "$info" --no-self-test --tunables
    prints out 'sort.k4v4.items'
    expect 0 "$info" --no-self-test --json "$dir/info.json"
    grep -q '"platforms"' "$dir/info.json" || fail "--json writes platforms"

    mkdir -p "$dir/root/sys/bus/pci/devices/0000:01:00.0" "$dir/root/sys/bus/pci/devices/0000:02:00.0"
    echo 0x10de >"$dir/root/sys/bus/pci/devices/0000:01:00.0/vendor"
    echo 0x030200 >"$dir/root/sys/bus/pci/devices/0000:01:00.0/class"
    echo 0x1002 >"$dir/root/sys/bus/pci/devices/0000:02:00.0/vendor"
    echo 0x030000 >"$dir/root/sys/bus/pci/devices/0000:02:00.0/class"
    monitor=$dir/root/sys/class/drm/card0/device/hwmon/hwmon3
    mkdir -p "$monitor"
    echo 1500000000 >"$monitor/freq1_input"
    echo 87500000 >"$monitor/power1_average"
    echo 61000 >"$monitor/temp1_input"
    "$info" --no-self-test --json "$dir/info.json" --root "$dir/root" >"$dir/out" 2>"$dir/err"
    for sensor in '"clock_mhz":1500,' '"power_w":87.5,' '"temperature_c":61}'; do
        grep -q -e "$sensor" "$dir/info.json" || fail "sensors tell $sensor"
    done
    if ! grep -q '"type":"gpu"' "$dir/info.json"; then
        expect 0 "$info" --no-self-test --root "$dir/root"
        prints out 'NVIDIA GPU is there'
        prints out 'AMD GPU is there'
    fi

    # A driver that aborts when it is loaded, in addition to the present drivers.
    mkdir "$dir/vendors"
    for icd in "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}" "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd; do
        [ -f "$icd" ] && cp "$icd" "$dir/vendors"
    done
    echo "$crash_driver" >"$dir/vendors/crash.icd"
    expect 0 env OCL_ICD_VENDORS="$dir/vendors" "$info" --no-self-test
    prints out 'crash.icd'
    prints out 'crashed (signal 6)'
    prints out 'lanes '

    expect 2 "$info" --timeout never
    prints err 'not a number'
}

# Measurements of ordo-bench.
lists() {
    expect 0 "$bench" --list
    prints out 'merge_runs'
    prints out 'readwhilewriting'
    expect 0 "$bench" --describe
    prints out '^readwhilewriting$'
    [ "$(grep -c '^  does ' "$dir/out")" -eq "$("$bench" --list | sed '/^Devices/,$d' | grep -c '^  [a-z]')" ] ||
        fail "--describe tells of each workload"
}

# ordo-bench reports bad arguments.
bad_arguments() {
    expect 2 "$bench" --updates 15,101
    prints err '100'
    expect 2 "$bench" suite --workload sort
    prints err 'use no options that select them'
    expect 2 "$bench" compare --fills 3
    prints err 'after all batches'
    expect 2 "$bench" compare --processes 2
    expect 2 "$bench" --workload sotr
    prints err 'sort, merge'
    expect 2 "$bench" --structure tree
    prints err 'sorted_array, lsm'
    expect 2 "$bench" --types u64,f64 --dist packed,uuid4
    prints err 'uuid4 needs keys of at least 16 bytes'
    expect 2 "$bench" --hit-rate 101
    expect 2 "$bench" --width 0
    expect 2 "$bench" --sizes 12..
    expect 2 "$bench" --sizes 99999999999
    expect 2 "$bench" --value-bytes 3
    expect 2 "$bench" --types u16
    expect 2 "$bench" --reps 1
    expect 2 "$bench" --budget -1
    expect 2 "$bench" --compare "$dir/missing"
    prints err 'No such file'
    echo no JSON >"$dir/no.json"
    expect 2 "$bench" --compare "$dir/no.json"
    prints err 'not JSON'
    "$info" --no-self-test --json "$dir/info.json" >"$dir/out" 2>"$dir/err"
    expect 2 "$bench" --compare "$dir/info.json"
    prints err 'not written by ordo-bench'
    expect 2 env ORDO_PEER=/nowhere/ordo-peer "$bench" --peers
    prints err 'ORDO_PEER'
    expect 1 "$bench" --device no-such-device --workload scan
    prints err 'no-such-device'
    expect 2 "$bench" --json /nowhere/file
    prints err 'cannot write'
}

# Primitives, other types, tables of any width, older files.
arrays() {
    expect 0 "$bench" --workload arrays --sizes "$sizes" --queries =3000 --reps 3 --budget 200 --json "$dir/bench.json"
    prints out ' ok$'
    prints_no out 'WRONG'
    prints_no out 'failed'
    prints_no out 'skipped'
    # Uses the types and value sizes of the sorting and dictionary tests (support/input.c), whose kernels are compiled already.
    for shape in 'f64 --value-bytes 8' 'i32 --value-bytes 0'; do
        # shellcheck disable=SC2086 # two options
        expect 0 "$bench" --no-limits --workload sort,merge,scan --types $shape --dist few,zipf --sizes =5000 --reps 3 --budget 200 \
            --no-host
        prints out ' ok$'
        prints_no out 'WRONG'
    done
    expect 0 env COLUMNS=40 "$bench" --no-limits --workload reduce --sizes =1000 --reps 3
    prints_no out '.\{41\}'
    expect 0 "$bench" --no-limits --workload reduce --sizes =1,14 --reps 3 --compare "$dir/bench.json" --processes 1 --json - --chart
    prints out '"rate_before"'
    prints err '/ before'
    prints err '####'
    # Reads files older than schema 1. This file has no such row.
    expect 1 "$bench" --no-limits --workload reduce --sizes =10 --reps 3 \
        --compare "${fields%/*}/2026-11-21-pocl-2-cores-lsm-fill.json"
    prints err 'nothing was compared'
}

# Columns of strings: made up, and the lines of a file.
strings() {
    expect 0 "$bench" --no-limits --workload strings --sizes "$sizes" --queries =3000 --hit-rate 50 --reps 3 --json "$dir/strings.json"
    [ "$(grep -c ' ok$' "$dir/out")" -eq "$(grep -c '"variant":"\(random\|few\|urls\|deep\)"' "$dir/strings.json")" ] ||
        fail "each row is ok"
    prints out '^deep .* ok$'
    prints_no out 'WRONG'
    grep -q '"index_bytes_per_key"' "$dir/strings.json" || fail "rows have the bytes of the index for each key"
    explained "$dir/strings.json"

    expect 0 "$bench" --no-limits --workload strings --variant values,phones --key-bytes 12 --byte-values 3 --partial 8 --page-keys 20 --nibble-bits 2 --contiguous --sizes "$sizes" --queries =3000 --hit-rate 50 --reps 3 --json "$dir/partial.json"
    [ "$(grep -c ' ok$' "$dir/out")" -eq "$(grep -c '"variant":"\(values\|phones\)"' "$dir/partial.json")" ] ||
        fail "each row is ok"
    grep -q '"partial_bytes":8,.*"candidates":' "$dir/partial.json" || fail "rows have the candidates of partial keys"
    explained "$dir/partial.json"

    # Equal and empty lines, and no end of line at the end.
    printf 'b\n\na\nb\nab' >"$dir/keys"
    expect 0 "$bench" --no-limits --workload strings --keys "$dir/keys" --queries =300 --hit-rate 50 --reps 3 --json "$dir/keys.json"
    [ "$(grep -c '^file .* 5 .* ok$' "$dir/out")" -eq 9 ] || fail "all lines are the keys"
    grep -q '"ids":4,' "$dir/keys.json" || fail "4 lines are different"
    explained "$dir/keys.json"
    expect 0 "$bench" --no-limits --workload sortstrings --keys "$dir/keys" --reps 3 --compare "$dir/keys.json" --processes 1 --json -
    prints out '"rate_before"'
    expect 0 "$bench" compare --no-limits --workload strings --keys "$dir/keys" --queries =300 --hit-rate 50 --reps 3 --json "$dir/compare.json"
    prints out '^file *device .* ok$'
    if [ "$maps" = true ]; then
        prints out '^std::sort *1 thread .* ok$'
        prints out '^std::lower_bound .* ok$'
    fi
    prints_no out 'WRONG'
    prints_no out 'failed'
    explained "$dir/compare.json"
    expect 0 "$bench" report "$dir/strings.json" "$dir/keys.json" "$dir/compare.json" -o "$dir/strings.html"
    printf '\n' >"$dir/one"
    expect 0 "$bench" --no-limits --workload strings --keys "$dir/one" --queries =10 --hit-rate 0 --reps 3
    prints out '^file .* 1 .* ok$'

    expect 2 "$bench" --workload strings --keys "$dir/missing"
    prints err 'No such file'
    : >"$dir/empty"
    expect 2 "$bench" --workload strings --keys "$dir/empty"
    prints err 'is empty'
    expect 2 "$bench" --workload strings --keys "$dir"
    prints err 'cannot read'
    expect 2 "$bench" --workload strings --keys "$dir/keys" --sizes =6
    prints err 'has 5 lines'
    expect 2 "$bench" --workload sort,strings --keys "$dir/keys"
    prints err 'sort has no strings'

    # 300 numbers of 8 bytes, some of them equal.
    i=0
    while [ $i -lt 300 ]; do
        printf '%04d%04d' $((i * 7919 % 250)) $((i % 5))
        i=$((i + 1))
    done >"$dir/numbers"
    expect 0 "$bench" --no-limits --workload sort,merge,merge_runs,search,lookup,equal_range,groupby,hostsort --types u64 --keys "$dir/numbers" --queries =70 --reps 3 --json "$dir/numbers.json"
    [ "$(grep -c ' 300 .* ok$' "$dir/out")" -ge 10 ] || fail "all numbers are the keys"
    prints_no out 'WRONG'
    grep -q '"dist":"file".*"keys":' "$dir/numbers.json" || fail "rows name the file of numbers"
    explained "$dir/numbers.json"
    expect 0 "$bench" --no-limits --workload sort --types u64 --keys "$dir/numbers" --reps 3 --compare "$dir/numbers.json" --processes 1 --json -
    prints out '"rate_before"'
    expect 0 "$bench" --no-limits --workload sort --types bytes16 --keys "$dir/numbers" --sizes =100 --reps 3
    prints out '^bytes16.* 100 .* ok$'
    expect 2 "$bench" --workload sort --types u64 --keys "$dir/empty"
    prints err 'is empty'
    expect 2 "$bench" --workload sort --types u64 --keys "$dir/keys"
    prints err 'not whole keys of type u64'
    expect 2 "$bench" --workload sort --types u64 --keys "$dir/numbers" --sizes =301
    prints err 'has 300 keys'
    expect 2 "$bench" --workload sort --types u32,u64 --keys "$dir/numbers"
    prints err 'one type'
    expect 2 "$bench" --workload sort,readrandom --types u64 --keys "$dir/numbers"
    prints err 'readrandom takes no keys of a file'
    expect 1 "$bench" --no-limits --workload strings --variant file
    prints err 'nothing was measured'
}

peer_is() {
    printf '#!/bin/sh\n%s\n' "$1" >"$dir/peer"
    chmod +x "$dir/peer"
    expect 0 env ORDO_PEER="$dir/peer" ORDO_PEER_SECONDS=1 "$bench" --no-limits --peers --workload reduce --sizes =100 --reps 3
}

# A peer that hangs, one that fails, one that answers, one that is wrong and fails, and two of which one is absent.
peers() {
    peer_is 'exec sleep 100'
    prints err 'peer timed out after 1 s'
    peer_is 'exit 3'
    prints err 'peer ended with status 3'
    peer_is 'echo "{ \"count\": 100, \"name\": \"a peer\", \"rate\": 1e6 }"'
    prints_no err 'peer'
    peer_is 'echo "{ \"count\": 100, \"name\": \"a peer\", \"check\": \"WRONG\", \"why\": \"one is missing\" }"; exit 3'
    prints err 'a peer, 100 elements: WRONG: one is missing'
    prints err 'peer ended with status 3'
    expect 0 env ORDO_PEER="$dir/peer:$bench-peer" "$bench" compare --no-limits --no-host --workload reduce --sizes =100 --reps 3
    prints err 'a peer, 100 elements: WRONG: one is missing'
    prints out 'a peer .*WRONG'
    prints err 'ordo-bench-peer'
}

# ordo-tune.
tuning() {
    expect 0 "$tune" --budget 2 --primitives merge --shapes k4v4 --dry-run --row --json "$dir/tune.json"
    prints out 'merge.k4v4'
    prints out '{ ORDO_MERGE_ITEMS, '
    [ ! -e "$ORDO_PROFILE" ] || fail "--dry-run writes no profile"
    grep -q '"groups"' "$dir/tune.json" || fail "--json writes groups"
    # The profile has the reported values. A value of an older profile stays if tuning finds no better one.
    echo 'merge.k4v4.items=4' >"$ORDO_PROFILE"
    expect 0 "$tune" --budget $seconds --primitives merge --shapes k4v4
    sed -n 's/^ *\(merge\.k4v4\.[a-z]*\): [0-9]* -> \([0-9]*\)$/\1=\2/p' "$dir/out" >"$dir/said"
    if grep -q 'Written to' "$dir/out"; then
        [ -s "$dir/said" ] || fail "what is written is said"
        grep -q '^merge.k4v4.items=' "$dir/said" || echo 'merge.k4v4.items=4' >>"$dir/said"
        while read -r line; do
            grep -qx "$line" "$ORDO_PROFILE" || fail "the profile has $line"
        done <"$dir/said"
    else
        prints out 'Nothing better'
    fi
    expect 2 "$tune" --shapes k5
    expect 2 "$tune" --primitives sort,,
    expect 2 "$tune" --budget nothing
    expect 2 "$tune" --device all,all
    expect 1 "$tune" --device no-such-device
}

# Every workload on dictionaries, of one element and of a thousand.
dicts() {
    expect 0 "$bench" --no-limits --workload fillrandom --structure lsm --sizes =1000 --reps 3
    prints out 'not shown in 80 columns'
    prints_no out '^structure.* peak'
    expect 0 env COLUMNS=200 "$bench" --no-limits --workload fillrandom --structure lsm --sizes =1000 --reps 3 --wide
    prints out '^structure.* time .* peak .* check$'
    for sizes in "=1 --batch =3 --structure $least" "=1000 --batch =300 --structure $most"; do
        # shellcheck disable=SC2086 # several options
        expect 0 "$bench" --no-limits --workload dicts --sizes $sizes --queries =500 --fills $fills --reps 3 \
            --budget 200 --hit-rate 50 --width 3 --json "$dir/dicts.json"
        for structure in $(printf '%s' "${sizes##* }" | tr , ' '); do
            prints out "^$structure .* ok$"
        done
        prints out 'is passed over'
        prints_no out 'WRONG'
        prints_no out 'failed'
        prints_no out 'skipped'
    done
    expect 0 "$bench" --no-limits --workload readrandom --structure blink --sizes =1000 --batch =300 --queries =500 --fills "$fills" --width 3 \
        --hit-rate 50 --reps 3 --compare "$dir/dicts.json" --processes 1 --json -
    prints out '"rate_before"'
    prints out '"bytes_peak"'
    explained "$dir/dicts.json"
    expect 0 "$bench" --no-limits --workload readrandom,hostexport --types bytes16 --dist uuid7 --structure fast,hash --sizes =1000 --batch =300 \
        --queries =500 --fills "$fills" --hit-rate 50 --reps 3 --json "$dir/wide.json"
    [ "$(grep -c '"key":"bytes16".*"check":"ok"' "$dir/wide.json")" -eq 4 ] || fail "keys of 16 bytes are ok"
    expect 1 "$bench" --no-limits --workload readrandom --types u128 --structure hamt
}

# Other types of keys, concurrent updates, and the comparisons of structures.
other_dicts() {
    expect 0 "$bench" --no-limits --workload fillrandom,rangerandom,predecessor,mixed,mixedupdates --erase 30 --structure lsm --types f64 --value-bytes 8 \
        --dist clustered,zipf --sizes =2000 --batch =99 --queries =500 --fills 2 --growth 4 --reps 3 --budget 200 --no-host
    prints out '^lsm .* ok$'
    prints_no out 'WRONG'
    expect 0 "$bench" --no-limits --workload concurrentfill,concurrentread,concurrentmix,concurrentranges,concurrenterase,concurrentbatches,deleterandom --structure blink --types f64 \
        --value-bytes 8 --dist few,clustered --sizes =3000 --batch =700 --updates 0,50,100 --erase 10 --queries =500 \
        --fills 2 --reps 3 --budget 200 --no-host
    prints out '^blink .* ok$'
    prints out '10 % of the elements'
    prints_no out 'WRONG'
    prints_no out 'failed'
    prints_no out 'skipped'
    expect 0 "$bench" --no-limits --workload concurrentpoints,concurrentread,concurrenterase,deleterandom --structure skiplist,lockfree --sizes =300,=3000 --batch =5000 \
        --queries =500 --updates 3,100 --raise 50 --fills 2 --reps 3 --budget 200 --no-host --json "$dir/points.json"
    prints out '^skiplist .* ok$'
    prints out '^lockfree .* ok$'
    # The build kernel of a cuckoo table loops until each element has a slot.
    expect 0 env -u POCL_EXTRA_BUILD_FLAGS "$bench" --no-limits --workload build,readrandom,readmissing --structure cuckoo --sizes =3000 --dist sequential --load 80 --reps 3
    prints out '^cuckoo .* ok$'
    prints_no out 'WRONG'
    prints_no out 'failed'
    explained "$dir/points.json"
}

# ordo-demo.
demonstration() {
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d,%d,%c%c\n", i * 9000000, i * 9000000 + 5000000, 65 + i % 7, 65 + i % 5 }' \
        >"$dir/ranges"
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "2001:%x::,2001:%x:7fff::,%c%c\n", i, i, 65 + i % 7, 65 + i % 5 }' \
        >"$dir/ranges6"
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "usr/%c/%d/%d\n", 97 + i % 3, i % 7, i }' >"$dir/paths"
    expect 0 "$demo" --file "$dir/ranges" --file6 "$dir/ranges6" --paths "$dir/paths" --count 3000 --json "$dir/demo.json"
    [ "$(grep -c '^ok: all 3,000 answers' "$dir/out")" -eq 2 ] || fail "addresses of both kinds are mapped"
    [ "$(grep -c '^check on the host' "$dir/out")" -eq 3 ] || fail "three acts have steps"
    prints out '^ok: all are of the range'
    prints out '^count in each directory  .* ok$'
    prints out '^find the nearest large ones  .* ok$'
    prints out '^  a/ .* 1,000 .*33 %'
    prints_no out 'WRONG'
    grep -q '"large_directories"' "$dir/demo.json" || fail "--json writes what was found"
    printf 'ab\nb\nab\n\nabc' >"$dir/words"
    expect 0 "$demo" --act paths --paths "$dir/words" --json "$dir/demo.json"
    prints out '^count by first letters  .* ok$'
    prints_no out 'country'
    expect 0 "$demo" --act ipv6,paths --file6 "$dir/ranges6" --paths "$dir/paths" --count 1 --lines 1
    prints_no out 'WRONG'
    expect 1 "$demo" --act paths --paths "$dir/none"
    expect 1 "$demo" --act ipv6 --file6 "$dir/ranges"
    expect 2 "$demo" --act paths,nothing
}

# The suite without any time names each of its rows.
suite() {
    expect 0 "$bench" suite --no-limits --budget 1 --json "$dir/suite.json"
    prints out 'skipped'
    prints out 'ordo-bench --resume'
    for workload in sort merge scan search lookup fillrandom readrandom mixed cleanup concurrentmix; do
        grep -q "\"$workload\"" "$dir/suite.json" || fail "the suite has $workload"
    done
    expect 0 "$bench" paper gpu-b-tree --sizes 10 --no-host --budget 1 --json "$dir/paper.json"
    prints out 'ordo-bench --resume'
    expect 0 "$bench" --resume "$dir/paper.json" --budget 1
    prints_no out 'WRONG'
}

# One table has all structures and libraries of the host, with checked answers.
compare() {
    expect 0 "$bench" compare --no-limits --workload readrandom,seekrandom,rangerandom,fillrandom,deleterandom,combinerandom,queue \
        --sizes =3000 --batch =700 --queries =900 --reps 3 --budget 900 --json "$dir/compare.json"
    prints out '^sorted_array *device .* ok$'
    prints out '^hash *device .* ok$'
    ! $maps || prints out '^std::map *1 thread .* ok$'
    ! $maps || prints out '^sorted array *1 thread .* ok$'
    prints_no out 'WRONG'
    prints_no out 'failed'
    expect 0 "$bench" compare --no-limits --workload sort,merge,reduce,search --sizes =70000 --queries =900 --types i32 --dist few --reps 3 \
        --budget 900 --json "$dir/compare2.json"
    prints out '^radix sort *1 thread .* ok$'
    prints out '^qsort *1 thread .* ok$'
    prints out '^sorted array *1 thread .* ok$'
    prints_no out 'WRONG'
    expect 0 "$bench" compare --no-limits --workload readroaring,writeroaring --sizes =70000 --dist uniform,dense,runs --reps 3 \
        --budget 900 --json "$dir/roaring.json"
    [ "$(grep -c '^[rw][a-z]*roaring *device .* ok$' "$dir/out")" = 6 ] || fail "reads and writes of three sets are measured"
    prints_no out 'WRONG'
    explained "$dir/roaring.json"
    explained "$dir/compare.json"
    rows=$(grep -c '"check"' "$dir/compare.json")
    [ "$(grep -c '"cpu_s":[0-9]' "$dir/compare.json")" -eq "$(grep -c '"wall_s"' "$dir/compare.json")" ] ||
        fail "each timing has the processors' time"
    expect 0 "$bench" --resume "$dir/compare.json"
    [ "$(grep -c '"check"' "$dir/compare.json")" -eq "$rows" ] || fail "a comparison that is resumed measures nothing again"
    # The first table leaves time to the second one: both have a quarter of the time that they take without a budget.
    # Without libraries of the host, a table has one row, which no budget shortens.
    $maps || return 0
    set -- compare --no-limits --workload readrandom --structure hash --sizes =3000,=3001 --queries =900
    began=$(date +%s%N)
    expect 0 "$bench" "$@"
    expect 0 "$bench" "$@" --budget "$(awk -v ns=$(($(date +%s%N) - began)) 'BEGIN { print ns / 4e9 }')"
    [ "$(grep -c '^hash *device .* ok$' "$dir/out")" -eq 2 ] || fail "both tables have a row"
}

# is PART: whether to test PART
is() {
    [ "$part" = "$1" ] || [ "$part" = all ]
}
case $part in
    info | arrays | strings | dicts | concurrent | compare | all) ;;
    *) fail "$part is a part" ;;
esac
if is info; then
    help_of_all
    devices
    lists
    bad_arguments
fi
if is arrays; then
    arrays
    peers
    tuning
fi
if is strings; then
    strings
fi
if is dicts; then
    dicts
fi
if is concurrent; then
    other_dicts
    demonstration
fi
if is compare; then
    suite
    compare
fi

[ "$failures" -eq 0 ] && echo "all tools do as they should"
exit $((failures > 0))
