#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Draws the READMEs' pictures from the kept results: pictures.txt says which.
#
#     sh bench/results/pictures.sh ORDO-BENCH [DIRECTORY]     bench/results/pictures if none is named
set -u
here=$(dirname "$0")
bench=$1 out=${2:-$here/pictures}
all=$(mktemp -d) || exit 1
trap 'rm -rf "$all"' EXIT
mkdir -p "$out" || exit 1
status=0
while IFS='|' read -r name title end; do
    case $name in '#'* | '') continue ;; esac
    file=$(find "$here" -maxdepth 1 -name "*-$end.json" | sort | tail -n 1)
    rm -rf "$all/svg"
    picture=''
    [ -n "$file" ] && "$bench" report "$file" -o "$all/page" --svg "$all/svg" >/dev/null &&
        picture=$(grep -lF ">$title" "$all"/svg/*.svg | sort | tail -n 1)
    if [ -n "$picture" ]; then
        cp "$picture" "$out/$name.svg"
    else
        echo "$name: no plot in ${file:-*-$end.json} has the title $title"
        status=1
    fi
done <"$here/pictures.txt"
exit $status
