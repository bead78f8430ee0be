#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs test programs on each device that the OpenCL loader lists, and prints one line for each: what it is, its driver, how
# many tests passed, failed and were skipped, and the hash of results, which is the same everywhere (conformance.c; with
# each mask if ORDO_TEST_MASKS is set). Then the suite oclgrind. What is known and not there is named.
# Arguments: the build directory; names of test programs (default: primitives and dictionaries).
set -u
build=$1
shift
[ $# -gt 0 ] || set -- conformance sort merge scan reduce compact search dict dict_check dict_arguments dict_order blink_concurrent

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

# one DEVICE NAME TEST...: the line of a device
one()
{
    device=$1 name=$2
    shift 2
    : >"$dir/tap"
    : >"$dir/out"
    for test in "$@"; do
        rm -f "$dir/one"
        ORDO_DEVICE=$device "$build/tests/test-$test" --jobs 1 --tap="$dir/one" >>"$dir/out" 2>&1 ||
            echo "not ok $test" >>"$dir/ended"
        cat "$dir/one" >>"$dir/tap" 2>/dev/null || echo "not ok $test: no results" >>"$dir/tap"
    done
    passed=$(grep '^ok' "$dir/tap" | grep -vc SKIP)
    failed=$(grep -c '^not ok' "$dir/tap")
    skipped=$(grep -c '^ok.*SKIP' "$dir/tap")
    hashes=$(sed -n 's/^results //p' "$dir/out" | sort -u | tr '\n' ' ')
    printf '%s: %d passed, %d failed, %d skipped; results %s\n' "$name" "$passed" "$failed" "$skipped" "${hashes:-none}"
    if [ "$failed" != 0 ] || [ "$passed" = 0 ]; then
        grep '^not ok' "$dir/tap"
        failures=$((failures + 1))
    fi
}

# SELECTOR|NAME, DRIVER of what Ordo can use; the reason for what it refuses.
"$build/bench/ordo-info" >"$dir/info" 2>&1
awk '
    function flush() { if (select != "") print select "|" (bad != "" ? "refused" : "usable") "|" name ", driver " driver "|" bad }
    /^platform /                { flush(); select = ""; next }
    /^  [0-9]+:[0-9]+  /        { flush(); select = $1; name = $0; sub(/^ *[^ ]+  /, "", name); sub(/  <-.*/, "", name); bad = driver = "" }
    /^      driver  /           { driver = $0; sub(/^ *driver *( *)/, "", driver); sub(/, OpenCL.*/, "", driver) }
    /^      refused  /          { bad = $0; sub(/^ *refused */, "", bad) }
    END                         { flush() }
' "$dir/info" >"$dir/devices"

while IFS='|' read -r select usable name bad <&3; do
    if [ "$usable" = usable ]; then
        one "$select" "$name" "$@"
    else
        printf '%s: refused, skipped: %s\n' "$name" "$bad"
    fi
done 3<"$dir/devices"

for known in 'Portable Computing Language' 'Intel(R) OpenCL' 'rusticl' 'NVIDIA CUDA'; do
    grep -qF "platform $known" "$dir/info" || printf '%s: not there, skipped\n' "$known"
done
if command -v oclgrind >/dev/null && [ -x "$build/tests/test-kernels" ]; then
    if "$(dirname "$0")/oclgrind.sh" races "$build/tests/test-kernels" "$(dirname "$0")/../../cl" >"$dir/out" 2>&1; then
        echo "Oclgrind: every kernel, on small input: no data race, no access outside of a buffer"
    else
        cat "$dir/out"
        echo "Oclgrind: failed"
        failures=$((failures + 1))
    fi
else
    echo "Oclgrind: not there, skipped"
fi
if ! grep -q '|usable|' "$dir/devices"; then
    echo "nothing was tested: there is no device"
    exit 1
fi
[ "$failures" = 0 ]
