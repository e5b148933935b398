#!/bin/sh
# headers.sh ROOT -- every header compiles on its own, twice in one file, as
# C11; public ones also as C++17 (kernels and the CUDA module include them).
#
# Each sees the include directories of its own module and of those it may use,
# no others. CC and CXX name the compilers. Every .c and .cu, a test's too, opens
# with a comment; the faulty programs of tests/sim/faults need none.
set -eu
root=$1
cc=${CC:-cc}
cxx=${CXX:-c++}
cd "$root"
command -v "$cxx" >/dev/null || { echo "no C++ compiler: $cxx"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

dirs_of() {
    case $1 in
    base) echo base ;;
    trace | kernels | sim) echo "$1 base" ;;
    engine) echo engine kernels sim base ;;
    lesson | cuda | simcuda) echo "$1" engine kernels sim base ;;
    profiler) echo profiler engine kernels sim trace base ;;
    store) echo store trace base ;;
    report) echo report profiler engine kernels sim store lesson trace base ;;
    debug) echo debug report profiler engine kernels sim store lesson trace base ;;
    bench) echo bench "$(dirs_of debug)" ;;
    ui) echo ui "$(dirs_of bench)" ;;
    *) echo "$1" "$(dirs_of ui)" ;;
    esac
}

# check LANGUAGE HEADER COMPILER FLAGS...
check() {
    language=$1
    header=$2
    shift 2
    printf '#include "%s"\n#include "%s"\ntypedef int lab_not_empty;\n' \
        "$root/$header" "$root/$header" >"$work/unit.$language"
    # shellcheck disable=SC2086 # flags are words
    if ! "$@" $flags -D_GNU_SOURCE -Wall -Wextra -Werror \
        -fsyntax-only "$work/unit.$language" 2>"$work/errors"; then
        echo "$header: does not stand alone as $language"
        sed -n '1,6p' "$work/errors"
        bad=$((bad + 1))
    fi
}

c11='-std=c11 -Wpedantic -Wshadow -Wstrict-prototypes'
bad=0
count=0
# shellcheck disable=SC2086 # c11 is words
# src/sim/clang is CUDA C++, for clang's CUDA mode alone: the test of sim compiles it.
for header in $(find src kernels -name '*.h' ! -path 'src/sim/clang/*' | sort); do
    module=${header#src/}
    module=${module%%/*}
    flags="-Isrc/$module"
    for dir in $(dirs_of "$module"); do
        if [ "$dir" = kernels ]; then
            flags="$flags -Ikernels"
        else
            flags="$flags -Isrc/$dir/include"
        fi
    done
    count=$((count + 1))
    case $header in
    */include/* | kernels/*)
        check c "$header" "$cc" $c11
        check cc "$header" "$cxx" -std=c++17
        ;;
    src/cuda/* | src/profiler/cuda/*) ;; # want the CUDA headers
    *) check c "$header" "$cc" $c11 ;;
    esac
done
[ "$count" -gt 0 ] || { echo "no header was found"; exit 1; }
for source in $(find src kernels tests \( -name '*.c' -o -name '*.cu' \) \
    ! -path 'tests/sim/faults/*' | sort); do
    case $(head -c 2 "$source") in
    '/*') ;;
    *)
        echo "$source: does not open with a comment that states what it is for"
        bad=$((bad + 1))
        ;;
    esac
done
words='(^|[^a-z])(said|told|says|nobody|somebody|choosy)([^a-z]|$)'
existing='lab_said|"said_?"|as_nobody|headers\.sh:|checks_fail\.sh:'
grep -rnEi "$words" --include='*.[ch]' --include='*.cu' --include='*.cuh' --include='*.inc' \
    --include='*.py' --include='*.sh' --include='*.cmake' --include=CMakeLists.txt \
    src kernels tests | grep -vE "$existing" >"$work/words" || true
if [ -s "$work/words" ]; then
    sed 's/$/  -- prints, reports, states; name the caller/' "$work/words"
    bad=$((bad + $(wc -l <"$work/words")))
fi
echo "$count headers, $bad failures"
[ "$bad" -eq 0 ]
