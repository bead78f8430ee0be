#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Takes every file that is kept of a device, of one clean revision, and what the READMEs make of them.
#
#     sh bench/results/take.sh BUILD LABEL [NAME...]     LABEL: "h200", "pocl-2-cores"; NAME: of those below (all)
#
# suite       the suite                                       paper-NAME  a paper, if its structures are there
# compare     structures beside the host's libraries          tasks       the tasks of examples/
#
# What is taken replaces older files of the same label and name. ORDO_DEVICE says which device; BUDGET how many seconds the suite and
# a paper have each (300). Exit status 1 if one failed.
set -u
here=$(dirname "$0")
build=$1 label=$2
shift 2
bench=$build/bench/ordo-bench
names=${*:-suite paper-gpu-lsm paper-gpu-b-tree paper-fast-tree paper-gpu-skiplist-gfsl paper-xfast-trie-and-hamt compare tasks}
budget=${BUDGET:-300}
status=0

if [ -n "$(git -C "$here" status --porcelain -- ../../include ../../host ../../cl ../../bench/*/*.c ../../examples)" ]; then
    echo "the sources are not those of a revision: commit first" >&2
    exit 1
fi
# Its revision is in every file.
ninja -C "$build" || exit 1

# measure NAME FILE
measure() {
    case $1 in
    suite) "$bench" suite --no-chart --budget "$budget" --json "$2" ;;
    paper-*) "$bench" paper "${1#paper-}" --no-chart --budget "$budget" --json "$2" ;;
    compare)
        "$bench" compare --workload fillrandom,readrandom,seekrandom,rangerandom,deleterandom,combinerandom,mixedseeks,queue,sort,merge,search \
            --no-chart --reps 7 --budget "$budget" --json "$2"
        ;;
    tasks) sh "$here/../bench/tasks.sh" "$build" "$2" ;;
    *) echo "$1 is none of suite, paper-..., compare, tasks"; return 2 ;;
    esac
}

for name in $names; do
    new=$(mktemp) || exit 1
    began=$(date +%s)
    if ! measure "$name" "$new" >"$new.txt" 2>&1; then
        echo "$name failed:"
        tail -n 5 "$new.txt"
        status=1
    elif grep -q 'a structure that is not there' "$new.txt"; then
        echo "$name: its structures are not there"
    else
        find "$here" -maxdepth 1 -name "????-??-??-$label-$name.json" -exec rm {} +
        file=$here/$(date -u +%F)-$label-$name.json
        cp "$new" "$file"
        echo "$name: $(($(date +%s) - began)) s, ${file##*/}"
    fi
    rm -f "$new" "$new.txt"
done

sh "$here/pictures.sh" "$bench" || status=1
tasks=$(find "$here" -maxdepth 1 -name '*-tasks.json' | sort | tail -n 1)
if [ -n "$tasks" ]; then
    page=$(mktemp) || exit 1
    table=$(mktemp) || exit 1
    {
        printf 'From [%s](results/%s):\n\n' "$(basename "$tasks" .json)" "${tasks##*/}"
        sh "$here/../bench/tasks.sh" --table "$tasks"
    } >"$table"
    sed -e '/^<!-- tasks -->$/,/^<!-- end of tasks -->$/{ /^<!-- tasks -->$/{ p; r '"$table"'
        }; /^<!-- end/p; d; }' "$here/../README.md" >"$page" && cp "$page" "$here/../README.md"
    rm -f "$page" "$table"
fi
exit $status
