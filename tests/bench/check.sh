#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Comparisons of ordo-bench report a row that is slower than another build or than files, and no other row. The other build
# is this one with changed rates. Argument: ordo-bench. Skipped (77) without an OpenCL device.
set -u
bench=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
    failures=$((failures + 1))
    printf 'not so: %s\n' "$1"
    tail -n 15 "$dir/out" "$dir/err"
}

if "$bench" --list | grep -q 'Devices.*none'; then
    echo "SKIP: there is no OpenCL device"
    exit 77
fi

# All processes measure, so each must see the device. If the first process holds it exclusively, the test uses the CPU. A
# CPU, if present, is also used for everything after, because some sixty processes open the device, and a GPU driver takes
# seconds on a busy machine.
measure_twice() {
    "$bench" -w reduce -n 8 -r 3 --no-limits --no-host --processes 2 >"$dir/out" 2>"$dir/err"
}
measure_twice
status=$?
if [ "$status" -ne 0 ] && ! grep -q 'a process ended' "$dir/err"; then
    fail "two processes measure"
fi
if ORDO_DEVICE=cpu "$bench" -w reduce -n 8 -r 3 --no-limits --no-host >"$dir/out" 2>&1; then
    ORDO_DEVICE=cpu
    export ORDO_DEVICE
fi
if [ "$status" -ne 0 ] && ! measure_twice; then
    cat "$dir/err"
    echo "SKIP: a second process cannot measure here (above)"
    exit 77
fi

# faster FACTOR FILE: prints a file of results with each row's rate multiplied.
cat >"$dir/faster" <<'END'
#!/bin/sh
awk -v factor="$1" '
    match($0, /"rate":[0-9.e+-]+/) {
        rate = substr($0, RSTART + 7, RLENGTH - 7)
        $0 = substr($0, 1, RSTART + 6) sprintf("%g", rate * factor) substr($0, RSTART + RLENGTH)
    }
    { print }' "$2"
END
# The other build is FACTOR times as fast, and has no rows of the workload DROPPED.
cat >"$dir/other" <<'END'
#!/bin/sh
"$BENCH" "$@" --json "$0.json"
code=$?
"${0%/*}/faster" "$FACTOR" "$0.json" | sed "s/\"workload\":\"$DROPPED\"/\"workload\":\"another\"/" >&3
exit $code
END
chmod +x "$dir/faster" "$dir/other"
BENCH=$bench
FACTOR=1 DROPPED=''
export BENCH FACTOR DROPPED

# expect STATUS OPTION...: the output is in $dir/out
expect() {
    want=$1
    shift
    "$bench" -w reduce,scan -n 8 -r 3 --no-limits --no-host "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    [ "$got" -eq "$want" ] || fail "status $want, not $got, with $*"
    ! grep -q '.\{81\}' "$dir/out" || fail "lines fit 80 columns"
}
# A line, or a text over several lines. The name of the device decides the line breaks.
says() {
    grep -q -e "$1" "$dir/out" || tr -s '\n ' ' ' <"$dir/out" | grep -q -e "$1" || fail "it says $1"
}

FACTOR=0.0001
expect 0 --against "$dir/other" --processes 3 --json "$dir/new.json"
says 'Compared: 2 rows, in 3 processes. 0 looked slower'
[ "$(grep -c '"check"' "$dir/new.json")" -eq 6 ] || fail "the file has the rows of all processes"
[ "$(grep -c '"began"' "$dir/new.json")" -eq 3 ] || fail "the file has the processes"

FACTOR=10000
expect 3 --against "$dir/other" --processes 3
says '^scan u32+0 2^8 .* 0.0[0-9]*x$' # 0.0001, and noise of a busy machine
says '2 looked slower at first, 2 did again'

FACTOR=3
expect 0 --against "$dir/other" --processes 3 --slower-by 90
expect 2 --slower-by 5

FACTOR=0.0001 DROPPED=scan
expect 1 --against "$dir/other" --processes 3
says 'missing: another u32+0 2^8'
DROPPED=''

# ---- files
"$dir/faster" 10000 "$dir/new.json" >"$dir/old.json"
expect 3 --compare "$dir/old.json" --processes 3
says '/ before'
says '2 looked slower at first, 2 did again'
# The comparison fails if no row can be compared.
unlike() {
    expect 1 "$@"
    grep -q 'nothing was compared' "$dir/err" || fail "it complains with $*"
}
sed 's/"driver":"[^"]*"/"driver":"1"/' "$dir/old.json" >"$dir/driver.json"
unlike --compare "$dir/driver.json" --processes 3
says 'another driver'
# A tunable that the file does not list has its default value.
sed 's/"tunables":{[^}]*}/"tunables":{"scan.k4.group":77}/; s/"origins":{[^}]*}/"origins":{"scan.k4.group":"set"}/' \
    "$dir/old.json" >"$dir/tunables.json"
unlike --compare "$dir/tunables.json" --processes 3
says 'other tunables'
# A file may list tunables that have their default value.
sed 's/"tunables":{/&"some.default":7,/; s/"origins":{/&"some.default":"default",/' "$dir/old.json" >"$dir/default.json"
expect 3 --compare "$dir/default.json" --processes 3
says '2 looked slower at first, 2 did again'
# Files from before the first schema list every tunable, and no origins.
sed 's/,"origins":{[^}]*}//' "$dir/old.json" >"$dir/origins.json"
expect 3 --compare "$dir/origins.json" --processes 3
says '2 looked slower at first, 2 did again'
"$bench" -w reduce,scan -n 8 -r 3 --no-limits --no-host --json "$dir/one.json" >"$dir/out" 2>"$dir/err" || fail "it measures"
unlike --compare "$dir/one.json" --processes 3
says '2 rows cannot be compared'
unlike --compare "$dir/one.json" --processes 1 --type u64
expect 1 -w longestprefix --type f32
grep -q 'nothing was measured' "$dir/err" || fail "it complains where nothing can be measured"
expect 2 --compare "$dir/one.json" --against "$dir/other"

[ "$failures" -eq 0 ] && echo "the alarm tells what is slower"
exit $((failures > 0))
