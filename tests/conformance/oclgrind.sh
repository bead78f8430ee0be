#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every kernel under Oclgrind, a simulator that watches each access to memory. Arguments: what, the program of kernels.c,
# and the directory cl.
#   races    no data race, no access outside of a buffer. Kernels are built with ORDO_CHECKED (device/compiler.cl)
#   planted  each of these is reported where it is put into a kernel
# (What it says of uninitialised values is of no use: what fills and copies write it takes for such, among others.)
# Without Oclgrind it says so and is skipped (77).
set -u
what=$1 program=$2 kernels=$3

if ! command -v oclgrind >/dev/null; then
    echo "SKIP: there is no Oclgrind (Debian's package oclgrind)"
    exit 77
fi

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
unset ORDO_MASK ORDO_DEVICE ORDO_CL_DIR ORDO_TEST_PART
export ORDO_PROFILE=off
export ORDO_TEST_WATCHDOG=1200

# watched OPTION...: runs the program; what it prints is in $dir/out, the reports in $dir/reports
watched()
{
    rm -rf "$dir/cache"
    : >"$dir/reports"
    XDG_CACHE_HOME=$dir/cache oclgrind --max-errors 100000 --local-mem-size 65536 --build-options -DORDO_CHECKED=1 --log "$dir/reports" "$@" \
        "$program" --jobs 1 >"$dir/out" 2>&1
}

# Each kind of report, and how often each kernel is the culprit.
summary()
{
    sed -n '/^[A-Z]/s/ address.*//p' "$dir/reports" | sort | uniq -c
    sed -n 's/^\tKernel: /    in /p' "$dir/reports" | sort | uniq -c
}

clean()
{
    if ! watched "$@"; then
        cat "$dir/out"
        echo "the program failed"
        exit 1
    fi
    if [ -s "$dir/reports" ]; then
        head -n 60 "$dir/reports"
        summary
        exit 1
    fi
    grep ' in .* s$' "$dir/out"
}

# planted NAME FILE SED-SCRIPT PART MASK REPORT OPTION...: with the script's change of a kernel file there is such a report
planted()
{
    name=$1 file=$2 script=$3 report=$6
    export ORDO_CL_DIR="$dir/cl" ORDO_TEST_PART="$4" ORDO_MASK="$5"
    shift 6
    rm -rf "$dir/cl"
    mkdir -p "$dir/cl/${file%/*}"
    sed "$script" "$kernels/$file" >"$dir/cl/$file"
    if cmp -s "$kernels/$file" "$dir/cl/$file"; then
        echo "$name: $file has changed, and this script has not"
        failed=1
        return
    fi
    watched "$@"
    if grep -q "$report" "$dir/reports"; then
        echo "$name: reported"
    else
        cat "$dir/out"
        summary
        echo "$name: not reported"
        failed=1
    fi
}

failed=0
case $what in
    races) clean --data-races --uniform-writes ;;
    planted)
        planted "a link written by a plain store" dict/ltree/change.cl \
            's/ltree_store_uncached_word(ltree_right(left), into)/*ltree_right(left) = into/' concurrent "" \
            'data race' --data-races
        planted "a barrier left out" group/scan.cl 's/barrier(CLK_LOCAL_MEM_FENCE);//' primitives cpu=0,group=32 \
            'data race' --data-races
        planted "a write behind the end" dict/batch.cl 's/out\[i\] = i;/out[i + 65536] = i;/' sequences "" \
            'Invalid write'
        ;;
    *) exit 2 ;;
esac
exit $failed
