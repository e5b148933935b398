#!/bin/sh
# fuzz.sh MINUTES [NAME...] -- runs each fuzz target, or those named, for so long,
# as many at once as there are cores (LAB_JOBS), built with clang in build/fuzz
# (LAB_BUILD_DIR in the place of build).
#
# What is found stays in build/fuzz/kept and is the start of the next time:
# corpus/NAME has the fewest inputs that reach all code that was reached,
# crashes/NAME those that failed, NAME.log the last output.
# Exit code: 1 when a target has failed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
case ${1:-} in
'' | *[!0-9]*) echo "usage: $0 MINUTES [NAME...]" >&2 && exit 2 ;;
esac
seconds=$(($1 * 60))
shift
tree=${LAB_BUILD_DIR:-$root/build}/fuzz
kept=$tree/kept
jobs=${LAB_JOBS:-$(nproc)}
cmake -S "$root" --preset fuzz -B "$tree" >/dev/null
cmake --build "$tree" --parallel "$jobs" --target lapenna-lab fuzzers
mkdir -p "$kept"
if [ $# -eq 0 ]; then
    for file in "$root"/tests/fuzz/fuzz_*.c; do
        name=${file##*/fuzz_}
        [ "$name" = driver.c ] || [ "$name" = read.c ] || set -- "$@" "${name%.c}"
    done
fi
export LAB_EXE="$tree/bin/lapenna-lab" LAB_SOURCE_DIR="$root"
# shellcheck disable=SC2016 # for the inner shell
printf '%s\n' "$@" | xargs -P "$jobs" -I NAME sh -c '
    log=$4/NAME.log
    if "$1/tests/fuzz/run_target.sh" "$2/bin/fuzz_NAME" "$3" "$4" >"$log" 2>&1
    then
        grep -E "^(stat::number|Done )" "$log" | tail -n 1 | sed "s/^/NAME: /"
    else
        echo "NAME: FAILED, see $log and $4/crashes/NAME"
        exit 1
    fi' sh "$root" "$tree" "$seconds" "$kept" || exit 1
