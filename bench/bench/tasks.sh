#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tasks of examples/, with as much data as a server has, beside plain C++ on one thread: a table in Markdown.
#
#     sh bench/bench/tasks.sh build/tests/examples [TIMES]
#
# Ordo's time is that of calls on arrays in host memory, copies and all. Plain C++ uses Abseil's containers where Ordo was
# built with them (else the standard's). Exit status 1 if a task gave different results, or failed.
set -u
programs=$1
times=${2:-5}
status=0

echo '| task | | Ordo | plain C++ | Ordo is faster by |'
echo '|---|---|---|---|---|'
while read -r task count; do
    line=$("$programs/$task" "$count" "$times") || status=1
    echo "$line" | awk -v task="$task" '{
        items = $0; sub(/: .*/, "", items)
        rest = $0; sub(/^[^:]*: /, "", rest); split(rest, word, " ")
        number = items; sub(/ .*/, "", number); sub(/^[0-9]+/, "", items)
        while (match(number, /[0-9][0-9][0-9][0-9]($|,)/))
            number = substr(number, 1, RSTART) "," substr(number, RSTART + 1)
        printf "| %s | %s%s | %s ms | %s ms | %.2g |\n", task, number, items, word[1], word[5], word[5] / word[1]
        if (rest !~ /the same results/) print rest > "/dev/stderr"
    }'
done <<'END'
group_by 4000000
join 1000000
time_series 2000000
expiry 1048576
top_k 8000000
particles 200000
deduplicate 4000000
order_book 1048576
priority_queue 1048576
longest_prefix 1000000
END
exit $status
