#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs Ordo into a directory of its own and builds the examples as a user does: with pkg-config, with CMake where it is, as
# a Meson subproject, from C++ where there is a compiler. What they print is compared. Arguments: the source directory, the
# build directory, its prefix and libdir, and the commands that compile C and, if there is one, C++.
# Without any OpenCL device it says so and is skipped (77).
set -u
source=$1 build=$2 prefix=$3 libdir=$4
export CC="$5"
[ -z "${6:-}" ] || export CXX="$6"
CXX=${6:-}

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
    failures=$((failures + 1))
    printf 'not so: %s\n' "$1"
    [ ! -s "$dir/log" ] || tail -n 40 "$dir/log" | sed 's/^/    /'
}

# does WHAT COMMAND...: runs it, with what it prints in $dir/log; ends this part if it fails
does() {
    what=$1
    shift
    "$@" >"$dir/log" 2>&1 && return
    fail "$what: $*"
    return 1
}

cat >"$dir/sort.expected" <<'END'
-430 on line 3
4810 on line 2
6190 on line 4
8848 on line 1
END
cat >"$dir/concurrent.expected" <<'END'
account 10 is 1's
erased: yes, stored: yes
at or after 40: none
3 accounts are left
END
cat >"$dir/dictionary.expected" <<'END'
event 2 was 50 s before
nothing was before
event 3 was 90 s before
END

# prints EXAMPLE PROGRAM: runs it on four numbers and compares its output with the example's.
prints() {
    printf '8848\n4810\n-430\n6190\n' |
        LD_LIBRARY_PATH=$root$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$2" >"$dir/out" 2>"$dir/log"
    got=$?
    if [ "$got" = 1 ] && grep -q 'no OpenCL device' "$dir/log"; then
        echo "SKIP: there is no OpenCL device"
        exit 77
    fi
    [ "$got" = 0 ] && cmp -s "$dir/$1.expected" "$dir/out" && return
    cat "$dir/out" >>"$dir/log"
    fail "$2 ends with $got, and prints what it should"
}

# ---- what is installed. The log of a former installation, by which it can be undone, stays.
root=$dir/root
log=$build/meson-logs/install-log.txt
[ ! -e "$log" ] || cp "$log" "$dir/install-log.txt"
does "installs" meson install -C "$build" --no-rebuild --destdir "$root" || exit 1
rm -f "$log"
[ ! -e "$dir/install-log.txt" ] || cp "$dir/install-log.txt" "$log" 2>/dev/null

for file in "$libdir/libordo.so" "$libdir/libordo.a" "$libdir/pkgconfig/ordo.pc" "$libdir/cmake/ordo/ordoConfig.cmake" \
    "$prefix/include/ordo/ordo.h" "$prefix/share/doc/ordo/README.md" "$prefix/share/doc/ordo/CHANGELOG.md" \
    "$prefix/share/doc/ordo/LICENSE" "$prefix/share/doc/ordo/examples/sort.c" "$prefix/share/man/man7/ordo.7" \
    "$prefix/share/man/man3/ordo_dict_upsert.3"; do
    [ -s "$root$file" ] || fail "$file is installed"
done
examples=$root$prefix/share/doc/ordo/examples

# ---- pkg-config
if flags=$(PKG_CONFIG_PATH=$root$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root pkg-config --cflags --libs ordo); then
    # shellcheck disable=SC2086 # lists of words
    does "C with pkg-config" $CC "$examples/sort.c" -o "$dir/sort" $flags && prints sort "$dir/sort"
    # shellcheck disable=SC2086 # lists of words
    does "C with pkg-config" $CC "$examples/concurrent.c" -o "$dir/concurrent" $flags &&
        prints concurrent "$dir/concurrent"
    if [ -n "$CXX" ]; then
        # shellcheck disable=SC2086 # lists of words
        does "C++ with pkg-config" $CXX -std=c++11 -Wall -Wextra -Wpedantic -Werror "$examples/dictionary.cpp" \
            -o "$dir/dictionary" $flags && prints dictionary "$dir/dictionary"
        # shellcheck disable=SC2086 # lists of words
        does "a task with pkg-config" $CXX -std=c++11 -Wall -Wextra -Wpedantic -Werror "$examples/group_by.cpp" \
            -o "$dir/group_by" $flags && does "the task is done" env LD_LIBRARY_PATH="$root$libdir" "$dir/group_by" 1000
    fi
else
    fail "pkg-config finds ordo"
fi

# ---- CMake
if command -v cmake >/dev/null && [ -n "$CXX" ]; then
    export CMAKE_PREFIX_PATH="$root$prefix"
    does "CMake finds it" cmake -S "$examples" -B "$dir/cmake" &&
        does "builds with CMake" cmake --build "$dir/cmake" --target sort dictionary top_k && {
        prints sort "$dir/cmake/sort"
        prints dictionary "$dir/cmake/dictionary"
    }
    cp -r "$examples" "$dir/static"
    sed -i 's/ordo::ordo/ordo::static/' "$dir/static/CMakeLists.txt"
    does "CMake, static" cmake -S "$dir/static" -B "$dir/cmake-static" && does "builds with CMake, static" cmake --build "$dir/cmake-static" --target sort &&
        prints sort "$dir/cmake-static/sort"
    ! grep -q libordo.so "$dir/cmake-static/sort" || fail "ordo::static is static"

    # Which versions of 0.1 and of 1.2 CMake takes for which that are asked for.
    for try in 0.1.0:0.1:yes 0.1.3:0.1.3:yes 0.1.3:0.1.1:yes 0.1.3:0.1.4:no 0.2.0:0.1:no 0.1.0:0:yes 0.1.0:1.0:no \
        1.2.0:1.0:yes 1.2.0:1.3:no 1.2.0:0.9:no 2.0.0:1.2:no 0.1.0:0.1...0.3:yes 0.3.0:0.1...0.3:yes \
        0.3.0:0.1...'<0.3':no 0.4.0:0.1...0.3:no; do
        there=${try%%:*} want=${try##*:} asked=${try#*:}
        asked=${asked%:*}
        mkdir -p "$dir/versions/$there"
        sed -e "s/@VERSION@/$there/" -e "s/@MAJOR@/${there%%.*}/g" -e 's/@POINTER_BYTES@/8/g' \
            -e "s/@MINOR@/$(echo "$there" | cut -d. -f2)/g" "$source/share/ordoConfigVersion.cmake.in" \
            >"$dir/versions/$there/ordoConfigVersion.cmake"
        : >"$dir/versions/$there/ordoConfig.cmake"
        printf '%s\n' 'cmake_minimum_required(VERSION 3.19)' "find_package(ordo $asked REQUIRED PATHS \
            $dir/versions/$there NO_DEFAULT_PATH)" >"$dir/versions/find.cmake"
        got=no
        cmake -P "$dir/versions/find.cmake" >"$dir/log" 2>&1 && got=yes
        [ "$got" = "$want" ] || fail "version $there for $asked: $want"
    done
fi

# ---- a Meson subproject, which builds the library alone; slow code will do
cp -r "$examples" "$dir/parent"
mkdir "$dir/parent/subprojects"
ln -s "$source" "$dir/parent/subprojects/ordo"
if does "Meson finds it" meson setup "$dir/meson" "$dir/parent" -Dbuildtype=plain; then
    # shellcheck disable=SC2046 # none, or one
    does "builds as a subproject" ninja -C "$dir/meson" sort $([ -z "$CXX" ] || echo dictionary) && prints sort "$dir/meson/sort"
    [ -z "$CXX" ] || prints dictionary "$dir/meson/dictionary"
    ! grep -q 'ordo-demo\|test-sort' "$dir/meson/build.ninja" || fail "a subproject has the library alone"
fi

# With neither tests nor tools nothing of them is built.
if does "is set up without both" meson setup "$dir/bare" "$source" -Dtests=disabled -Dtools=disabled; then
    ! grep -o '^build [^:|]*\(tests/\|ordo-\)[^ :|]*' "$dir/bare/build.ninja" >"$dir/log" ||
        fail "-Dtests=disabled -Dtools=disabled builds neither"
fi

[ "$failures" -eq 0 ] && echo "what is installed can be used"
exit $((failures > 0))
