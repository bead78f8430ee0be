#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Measures the tasks of examples/ with the data of a server, and plain C++ on one thread for comparison.
#
#     sh bench/bench/tasks.sh BUILD JSON [TIMES]     measures TIMES times (5), writes the medians to a file of results
#
# Ordo is timed with arrays in host memory, including copies. Plain C++ uses the containers of Abseil if Ordo was built
# with them, else of the standard library. Exit status 1 if a task gave different results, or failed.
set -u
sources=$(dirname "$0")/../../examples

build=$1 json=$2 times=${3:-5}
parts=$(mktemp -d) || exit 1
trap 'rm -rf "$parts"' EXIT

# The common head of result files: build, machine and device. It has one unused row.
"$build/bench/ordo-bench" --workload reduce --sizes =16 --reps 3 --no-limits --no-host --json "$parts/head" >/dev/null || exit 1
sed -i -e '/^ "rows":/,$d' \
    -e "s|^ \"arguments\":.*| \"arguments\": [\"sh\",\"bench/bench/tasks.sh\",\"BUILD\",\"JSON\",\"$times\"],|" "$parts/head"

# The file so far, which is valid at any moment.
write_file() {
    {
        cat "$parts/head"
        printf ' "rows": [],\n "tasks": [\n'
        sed '$!s/$/,/' "$parts/tasks"
        printf ' ]\n}\n'
    } >"$json.new" && mv "$json.new" "$json"
}

status=0
: >"$parts/tasks"
while read -r task count; do
    line=$(timeout "${TASK_SECONDS:-60}" "$build/tests/examples/$task" "$count" "$times" </dev/null) || status=1
    case $line in
    *:*) ;;
    *)
        echo "$task failed, or took longer than ${TASK_SECONDS:-60} s" >&2
        continue
        ;;
    esac
    echo "$task: $line"
    calls=$(grep -oh 'ordo_[a-z_]*_host' "$sources/$task.cpp" | sort -u | sed 's/.*/"&"/' | paste -sd, -)
    echo "$line" | awk -v task="$task" -v calls="$calls" -v times="$times" '{
        items = $0; sub(/: .*/, "", items); sub(/^[0-9]+ /, "", items)
        rest = $0; sub(/^[^:]*: /, "", rest); split(rest, word, " ")
        printf "  {\"task\":\"%s\",\"items\":\"%s\",\"count\":%d,\"calls\":[%s],\"ordo_s\":%.6g,", task, items, $1,
            calls, word[1] / 1e3
        printf "\"plain_s\":%.6g,\"repetitions\":%d,\"check\":\"%s\"}\n", word[5] / 1e3, times,
            rest ~ /the same results/ ? "ok" : "WRONG"
    }' >>"$parts/tasks"
    write_file
done <<'END'
group_by 4000000
columns 2000000
join 1000000
multimap 1000000
time_series 500000
expiry 1048576
top_k 8000000
particles 200000
deduplicate 4000000
order_book 1048576
priority_queue 1048576
longest_prefix 1000000
records 1000000
END
write_file
grep -q '"WRONG"' "$json" && status=1
exit $status
