#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file of bench/ includes only headers of its own folder or a lower one. The order is the order of the lists in
# bench/meson.build. Argument: the directory bench.
set -u
cd "$1" || exit 1
awk '
    function fail(text) { print text; bad = 1 }
    FILENAME == "meson.build" {
        # The lists, bottom up: every .c file with its place.
        while (match($0, /'"'"'(common|workload|peers|measure|papers|report|bench|tools\/[a-z]+)\/[a-z_]+\.(c|cpp|cu)'"'"'/)) {
            name = substr($0, RSTART + 1, RLENGTH - 2)
            sub(/\.[a-z]+$/, "", name)
            if (!(name in place))
                place[name] = ++places
            $0 = substr($0, RSTART + RLENGTH)
        }
        next
    }
    FNR == 1 {
        own = FILENAME
        sub(/^\.\//, "", own)
        sub(/\.[a-z]+$/, "", own)
        room = room_of(own)
        files++
        if (FILENAME ~ /\.c$/ && !(own in place))
            fail(FILENAME " is in no list of meson.build")
    }
    /^#include "/ {
        name = $2
        gsub(/"/, "", name)
        if (name !~ /\.h$/ || name ~ /^(revision|build_info)\.h$/ || name ~ /_(help|paper|cl)\.h$/ || name ~ /^(ordo|host|runtime|shared)\//)
            next
        sub(/\.h$/, "", name)
        if (sub(/^bench\//, "", name) == 0)
            name = room "/" name
        there = room_of(name)
        if (there ~ /^(bench|tools\/(demo|info|tune))$/ && there != room)
            fail(own ": includes " name ", of another tool")
        if (there != room && level(there) >= level(room))
            fail(own ": includes " name ", of a room that is not below")
        if (name != own && name in place && own in place && place[name] > place[own])
            fail(own ": includes " name ", which stands below it in meson.build")
        checked++
    }
    function room_of(name) {
        sub(/\/[^\/]*$/, "", name)
        return name
    }
    function level(room) {
        return room == "common" ? 1 : room == "workload" ? 2 : room == "peers" ? 3 : room == "measure" ? 4 : room == "papers" ? 5 : room == "report" ? 6 : 7
    }
    END {
        if (checked < 50)
            fail("only " checked + 0 " includes were found")
        if (!bad)
            print "ok: " checked " includes of " files " files point downwards"
        exit bad
    }
' meson.build $(find . -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' | sort)
