#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures every kept file of a device at one clean revision, then makes the tables and pictures of the READMEs.
#
#     sh bench/results/take.sh BUILD LABEL [NAME...]     LABEL: "h200", "pocl-2-cores"; NAME: of this list (all)
#
# suite       the suite                                       paper-NAME  a paper, if Ordo has its structures
# compare     structures against libraries of the host        tasks       the tasks of examples/
#
# Moves each file into place when it is done, over older files of the same label and name. Cuts a step that takes too long
# and keeps its measured rows, so an end at any time loses at most one step. ORDO_DEVICE selects the device. BUDGET is the
# number of seconds of the suite (200). Each paper, compare and the tasks have a quarter of it. Exit status 1 if a step
# failed or was cut.
set -u
here=$(dirname "$0")
build=$1 label=$2
shift 2
bench=$build/bench/ordo-bench
names=${*:-suite paper-gpu-lsm paper-gpu-b-tree paper-fast-tree paper-gpu-skiplist-gfsl paper-xfast-trie-and-hamt compare tasks}
budget=${BUDGET:-200}
status=0

if [ -n "$(git -C "$here" status --porcelain -- ../../include ../../host ../../cl ../../bench/*/*.c ../../examples)" ]; then
    echo "the sources are not those of a revision: commit first" >&2
    exit 1
fi
# Every file has its revision.
ninja -C "$build" || exit 1

# within SECONDS CMD...: sends a signal after SECONDS and kills 10 s later, if `timeout` exists.
within() {
    if command -v timeout >/dev/null; then
        timeout -s INT -k 10 "$@"
    else
        shift
        "$@"
    fi
}

# measure NAME FILE
measure() {
    each=$((budget / 4))
    case $1 in
    suite) within $((budget + 20)) "$bench" suite --no-chart --budget "$budget" --json "$2" ;;
    paper-*) within $((each + 10)) "$bench" paper "${1#paper-}" --no-chart --budget "$each" --json "$2" ;;
    compare)
        within $((each + 10)) "$bench" compare --no-chart --budget "$each" --json "$2" \
            --sizes 20 --queries 20 --workload sort,merge,search,fillrandom,readrandom,seekrandom,mixedseeks,queue,deleterandom,combinerandom,rangerandom
        ;;
    tasks) TASK_SECONDS=$each within $((each + 10)) sh "$here/../bench/tasks.sh" "$build" "$2" 3 ;;
    *)
        echo "$1 is none of suite, paper-..., compare, tasks"
        return 2
        ;;
    esac
}

for name in $names; do
    new=$(mktemp) || exit 1
    began=$(date +%s)
    measure "$name" "$new" >"$new.txt" 2>&1
    ended=$?
    took="$(($(date +%s) - began)) s"
    if grep -q 'a structure that is not there' "$new.txt"; then
        echo "$name: its structures are not there"
    elif ! grep -q -e '"check"' "$new"; then
        echo "$name failed after $took (status $ended), and left nothing:"
        tail -n 5 "$new.txt"
        status=1
    else
        find "$here" -maxdepth 1 -name "????-??-??-$label-$name.json" -exec rm {} +
        file=$here/$(date -u +%F)-$label-$name.json
        cp "$new" "$file"
        echo "$name: $took, ${file##*/}"
        if [ $ended != 0 ]; then
            echo "    it did not end well (status $ended); as much as was measured is kept:"
            tail -n 3 "$new.txt" | sed 's/^/    /'
            status=1
        fi
    fi
    rm -f "$new" "$new.txt"
done

python3 "$here/figures.py" || status=1
exit $status
