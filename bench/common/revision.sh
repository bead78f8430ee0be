#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# revision.sh ROOT VERSION OUT: writes a header with the state of the sources that the tools are built from, for their JSON; leaves
# OUT alone if nothing changed.
set -eu
root=$1 version=$2 out=$3

# git archive replaces this text by the commit.
# shellcheck disable=SC2016
archived='$Format:%h$'

revision=$version clean=-1
case $archived in
    *Format*) ;;
    *) revision=$archived clean=1 ;;
esac
if [ "$(git -C "$root" rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$root" && pwd -P)" ]; then
    revision=$(git -C "$root" describe --always --dirty --tags 2>/dev/null) || revision=$version
    case $revision in
        *-dirty) clean=0 ;;
        *) clean=1 ;;
    esac
fi
# What the library is made of, by content: tells builds apart where there is no git, too.
sources=$(cd "$root" && find include host cl -type f ! -name '.*' ! -name '*.md' | LC_ALL=C sort | xargs cat | cksum | tr ' ' '-')

cat >"$out.new" <<END
/* Written by revision.sh. */
#pragma once
#define ORDO_REVISION "$revision"
#define ORDO_CLEAN    $clean /* 1: as committed; 0: changed; -1: not known */
#define ORDO_SOURCES  "$sources"
END
if cmp -s "$out.new" "$out"; then
    rm "$out.new"
else
    mv "$out.new" "$out"
fi
