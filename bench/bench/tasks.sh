#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tasks of examples/, with as much data as a server has, beside plain C++ on one thread: a file of results, and of such a
# file a table in Markdown.
#
#     sh bench/bench/tasks.sh BUILD JSON [TIMES]     measures (5 times, medians), writes JSON, prints the table
#     sh bench/bench/tasks.sh --table JSON           prints the table
#
# Ordo's time is that of calls on arrays in host memory, copies and all. Plain C++ uses Abseil's containers where Ordo was
# built with them (else the standard's). Exit status 1 if a task gave different results, or failed.
set -u
sources=$(dirname "$0")/../../examples

# Each task is one line of the file.
table() {
    echo '| task | calls | Ordo | a second | plain C++ | Ordo to plain C++ |'
    echo '|---|---|---|---|---|---|'
    awk '
        function field(name, at) {
            at = index($0, "\"" name "\": ")
            if (!at)
                return ""
            text = substr($0, at + length(name) + 4)
            if (sub(/^"/, "", text))
                sub(/".*/, "", text)
            else
                sub(/[,} ].*/, "", text)
            return text
        }
        function grouped(number) {
            while (match(number, /[0-9][0-9][0-9][0-9]($|,)/))
                number = substr(number, 1, RSTART) "," substr(number, RSTART + 1)
            return number
        }
        function rate(x) {
            return x >= 1e9 ? sprintf("%.3g G", x / 1e9) : x >= 1e6 ? sprintf("%.3g M", x / 1e6) : sprintf("%.3g k", x / 1e3)
        }
        /^\t\t{ "task": / {
            calls = $0
            sub(/.*"calls": \[/, "", calls)
            sub(/\].*/, "", calls)
            gsub(/"/, "`", calls)
            ordo = field("ordo_s")
            plain = field("plain_s")
            printf "| [%s](../examples/%s.cpp) | %s | %s %s in %.3g ms | %s | %.3g ms | %.2g |\n", field("task"), field("task"),
                calls, grouped(field("count")), field("items"), ordo * 1e3, rate(field("count") / ordo), plain * 1e3,
                plain / ordo
        }' "$1"
}

if [ "${1:-}" = --table ]; then
    table "$2"
    exit
fi
build=$1 json=$2 times=${3:-5}
parts=$(mktemp -d) || exit 1
trap 'rm -rf "$parts"' EXIT

# within SECONDS CMD...: ended after so many, where there is a program for that.
within() {
    if command -v timeout >/dev/null; then
        timeout "$@"
    else
        shift
        "$@"
    fi
}

# What every file says of the build, the machine and the device; one row of no matter comes with it.
"$build/bench/ordo-bench" --workload reduce --sizes =16 --reps 3 --no-limits --no-host --json "$parts/head" >/dev/null || exit 1
sed -i -e '/^\t"rows":/,$d' \
    -e "s|^\t\"arguments\":.*|\t\"arguments\":\t[\"sh\", \"bench/bench/tasks.sh\", \"BUILD\", \"JSON\", \"$times\"],|" "$parts/head"

# The file as far as it got, whole at any moment.
write_file() {
    {
        cat "$parts/head"
        printf '\t"rows":\t[],\n\t"tasks":\t[\n'
        sed '$!s/$/,/' "$parts/tasks"
        printf '\t]\n}\n'
    } >"$json.new" && mv "$json.new" "$json"
}

status=0
: >"$parts/tasks"
while read -r task count; do
    line=$(within "${TASK_SECONDS:-60}" "$build/tests/examples/$task" "$count" "$times" </dev/null) || status=1
    case $line in
    *:*) ;;
    *)
        echo "$task failed, or took longer than ${TASK_SECONDS:-60} s" >&2
        continue
        ;;
    esac
    calls=$(grep -oh 'ordo_[a-z_]*_host' "$sources/$task.cpp" | sort -u | sed 's/.*/"&"/' | paste -sd, - | sed 's/,/, /g')
    echo "$line" | awk -v task="$task" -v calls="$calls" -v times="$times" '{
        items = $0; sub(/: .*/, "", items); sub(/^[0-9]+ /, "", items)
        rest = $0; sub(/^[^:]*: /, "", rest); split(rest, word, " ")
        printf "\t\t{ \"task\": \"%s\", \"items\": \"%s\", \"count\": %d, \"calls\": [%s], \"ordo_s\": %.6g, ", task,
            items, $1, calls, word[1] / 1e3
        printf "\"plain_s\": %.6g, \"repetitions\": %d, \"check\": \"%s\" }\n", word[5] / 1e3, times,
            rest ~ /the same results/ ? "ok" : "WRONG"
    }' >>"$parts/tasks"
    write_file
done <<'END'
group_by 4000000
join 1000000
time_series 500000
expiry 1048576
top_k 8000000
particles 200000
deduplicate 4000000
order_book 1048576
priority_queue 1048576
longest_prefix 1000000
END
write_file
table "$json"
grep -q '"WRONG"' "$json" && status=1
exit $status
