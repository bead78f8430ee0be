#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ordo-bench loses no rows. Killed at a random moment, its file is JSON with all finished rows, and --resume continues it.
# Interrupted, it ends after the current row. A pipe gets rows as they are done. Argument: ordo-bench. ORDO_TEST_KILLS: the
# number of kills (6). Skipped (77) without an OpenCL device.
set -u
bench=$1
kills=${ORDO_TEST_KILLS:-6}
seed=${ORDO_TEST_SEED:-$(date +%s)}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
    failures=$((failures + 1))
    printf 'not so: %s (ORDO_TEST_SEED=%s)\n' "$1" "$seed"
    tail -n 15 "$dir/out" "$dir/err"
}

if "$bench" --list | grep -q 'Devices.*none'; then
    echo "SKIP: there is no OpenCL device"
    exit 77
fi

# measure FILE: starts or continues it. Ends the calling shell: ( measure FILE ).
measure() {
    if [ -e "$1" ]; then
        exec "$bench" --resume "$1"
    else
        exec "$bench" -w scan,reduce,compact,search -n 8,9,10 -q =300 -r 3 --no-host --no-limits --budget 500 --json "$1"
    fi
}
rows() {
    [ ! -e "$1" ] || grep -c '"check"' "$1"
}
# The points of all rows, in any order.
points() {
    tr -d '\n\t' <"$1" | sed 's/"workload"/\n&/g' | grep '^"workload"' | sed 's/"check".*//' | sort
}

(measure "$dir/whole") >"$dir/out" 2>"$dir/err" || fail "it measures"
[ "$(rows "$dir/whole")" = 30 ] || fail "all rows are there"

# ---- killed
before=0
for kill in $(seq "$kills"); do
    (measure "$dir/killed") >"$dir/out" 2>"$dir/err" &
    pid=$!
    sleep "$(awk -v seed="$seed" -v n="$kill" 'BEGIN { srand(seed + n); printf "%.2f", 0.05 + 1.5 * rand() }')"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    [ $? -ne 2 ] || fail "what was killed before goes on"
    now=$(rows "$dir/killed")
    [ "${now:-0}" -ge "$before" ] || fail "no row is lost"
    shown=$(grep -c ' ok$' "$dir/out")
    [ "${now:-0}" -ge "$shown" ] || fail "each row that was shown is in the file"
    before=${now:-0}
done
(measure "$dir/killed") >"$dir/out" 2>"$dir/err" || fail "in the end it measures the rest"
points "$dir/whole" >"$dir/want"
points "$dir/killed" | cmp -s - "$dir/want" || fail "in the end the rows are those of an undisturbed run"
[ ! -e "$dir/killed.part" ] || fail "nothing else is left"

# ---- interrupted
# Interrupts a run after its first row. $got is its exit status.
stop_with() {
    rm -f "$dir/stopped"
    : >"$dir/out" # what was there has rows
    (measure "$dir/stopped") >"$dir/out" 2>"$dir/err" &
    pid=$!
    while kill -0 "$pid" 2>/dev/null && ! grep -q ' ok$' "$dir/out"; do
        sleep 0.01
    done
    kill -"$1" "$pid" 2>/dev/null
    wait "$pid"
    got=$?
}
for signal in INT TERM; do
    for try in 1 2 3 4 5 6 7 8; do # a fast machine may be through before the signal comes
        stop_with "$signal"
        [ "$got" -eq 0 ] || break
        echo "try $try: all was measured before SIG$signal"
    done
    [ "$got" -eq 130 ] || fail "status 130, not $got, after SIG$signal"
    grep -q '"ended":.*"interrupted"' "$dir/stopped" || fail "the file says how it ended"
    grep -q -e "--resume $dir/stopped" "$dir/out" || fail "it says how to go on"
    [ "$(rows "$dir/stopped")" = "$(grep -c ' ok$' "$dir/out")" ] || fail "the rows shown are those in the file"
done
(measure "$dir/stopped") >"$dir/out" 2>"$dir/err" || fail "it goes on"
points "$dir/stopped" | cmp -s - "$dir/want" || fail "then all rows are there"

# ---- refused
for arguments in "-n 5" "--json $dir/other" "-w sort"; do
    # shellcheck disable=SC2086 # an option and its argument
    "$bench" --resume "$dir/stopped" $arguments >"$dir/out" 2>"$dir/err"
    [ $? -eq 2 ] || fail "--resume refuses $arguments"
done
sed 's/"sources":.*/"sources": "others",/' "$dir/stopped" >"$dir/other"
"$bench" --resume "$dir/other" >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] && grep -q "other sources" "$dir/err" || fail "--resume refuses what another revision measured"
echo '{}' >"$dir/other"
"$bench" --resume "$dir/other" >"$dir/out" 2>"$dir/err"
[ $? -eq 2 ] || fail "--resume refuses what is no such file"

[ "$failures" -eq 0 ] && echo "nothing is lost"
exit $((failures > 0))
