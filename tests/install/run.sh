#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ./run refuses what it cannot do, and fails where it tested nothing. Meson and ninja are stand-ins that build nothing: the quick
# ring has the tests `good`, `both` and `device`, whose results are below. Arguments: the source directory, and a program of
# Criterion's tests.
set -u
source=$1 program=$2

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

# says NUMBER TEXT ARGUMENT...: ./run ends with that exit status, and its last line has the text
says()
{
    status=$1 text=$2
    shift 2
    ORDO_BUILD=$dir/build PATH=$dir/bin:$PATH "$source/run" "$@" >"$dir/out" 2>&1 </dev/null
    got=$?
    case $(tail -n 1 "$dir/out") in
        *"$text"*) [ "$got" != "$status" ] || return 0 ;;
    esac
    failures=$((failures + 1))
    printf 'not so: ./run %s ends with %d and "%s", but with %d and:\n' "$*" "$status" "$text" "$got"
    sed 's/^/    /' "$dir/out"
}

mkdir -p "$dir/bin" "$dir/build/meson-logs" "$dir/build/meson-private"
: >"$dir/build/build.ninja"
: >"$dir/build/.with-tools"
: >"$dir/build/.with-tests"
printf '#!/bin/sh\n' >"$dir/bin/ninja"
cat >"$dir/bin/meson" <<'END'
#!/bin/sh
# meson test -C DIR [OPTION]... [NAME]... Everything else fails.
[ "$1" = test ] || exit 1
log=$3/meson-logs/testlog.txt list= names=
shift 3
for argument in "$@"; do
    case $argument in
        --list) list=yes ;;
        -*) ;;
        good | both | device) names="$names $argument" ;;
    esac
done
[ -n "$names" ] || { echo "No suitable tests defined." && exit 0; }
for name in $names; do
    [ -z "$list" ] || echo "ordo:host / $name"
done
[ -z "$list" ] || exit 0
for name in $names; do
    printf '==== 1/3 ====\ntest: %s\n' "$name"
    case $name in
        good) printf 'result:       exit status 0\n' ;;
        both) printf 'result:       exit status 0\n---- stdout ----\nok - a::passes\nok - a::needs_lanes  # SKIP no lanes\n' ;;
        device) printf 'result:       exit status 77\n---- stdout ----\nSKIP: there is no device\n' ;;
    esac
done >"$log"
END
chmod +x "$dir/bin/ninja" "$dir/bin/meson"

says 0 '2 passed, 0 failed, 2 skipped' test good both device
for line in 'skipped: both: a::needs_lanes (no lanes)' 'skipped: device: there is no device'; do
    grep -qxF "$line" "$dir/out" || {
        failures=$((failures + 1))
        echo "not so: ./run test prints '$line', but:"
        cat "$dir/out"
    }
done
says 1 'has no test "bogus"' test bogus
says 1 'has no test "bogus"' test good bogus
says 1 'nothing was tested' test
says 1 'nothing was tested' test --suite bogus
says 1 '0 passed, 0 failed, 1 skipped' test device
says 0 '--list prints the names' test --help
says 0 'by default to /usr/local' install --help
says 1 'PREFIX must be an absolute path' install here
# The build directory has the prefix of an earlier ./run install.
printf '%s\n' 'prefix=/home/somebody' 'Name: ordo' 'Description: ordo' 'Version: 0' >"$dir/build/meson-private/ordo.pc"
says 1 'setting the prefix to /usr/local: failed' install
says 1 'setting the prefix to /opt: failed' install /opt
says 1 'unknown command "bogus"' bogus
says 1 'unknown command "bogus"' bogus --help
says 1 'unknown part "bogus"' soak bogus

if "$program" --filter 'bogus/*' >"$dir/out" 2>&1; then
    failures=$((failures + 1))
    echo "not so: $program fails where no test has the name"
fi

[ "$failures" -eq 0 ] && echo "./run refuses and fails as it should"
exit $((failures > 0))
