#!/bin/sh
# gpu_tests.sh BUILD [NAME...] -- the test programs that want a GPU, four at a time, by
# their names in BUILD/bin: they run where there is no ctest and no tree of its files.
# Without a name all but test_cuda_advice, which compares times: `gpu_tests.sh BUILD
# test_cuda_advice` is to run alone on its GPU.
#
# Prints a line for each program, and the output of a failed one. Exit code: 0 all passed,
# 1 one failed or was skipped as a whole, or none is there.
set -u
if [ $# -lt 1 ]; then
    echo "usage: $0 BUILD [NAME...]" >&2
    exit 2
fi
bin=$(cd -- "$1/bin" && pwd) || exit 2
shift
skip=$(cd -- "$(dirname -- "$0")/../tests/gpu" && pwd)/skip_without_gpu.sh
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
if [ $# -eq 0 ]; then
    for test in "$bin"/test_cuda_* "$bin"/test_profiler_gpu "$bin"/test_engine_speed \
        "$bin"/test_lt_plans "$bin"/test_int8_lt "$bin"/test_cusparselt; do
        name=${test##*/}
        [ ! -x "$test" ] || [ "$name" = test_cuda_advice ] || set -- "$@" "$name"
    done
fi
[ $# -gt 0 ] || {
    echo "no test programs in $bin"
    exit 1
}
export bin skip logs
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\n' "$@" | xargs -P 4 -I{} sh -c '
    begin=$(date +%s)
    timeout -k 5 120 sh "$skip" "$bin/{}" >"$logs/{}" 2>&1
    echo "$? {} $(($(date +%s) - begin)) s" >>"$logs/codes"'
bad=0
while read -r code name seconds; do
    passed=$(sed -n "s/^\[  PASSED  \] //p" "$logs/$name" | tail -n 1)
    case $code in
    0) word='passed' ;;
    77) word='skipped' ;;
    *) word="failed ($code)" ;;
    esac
    [ "$code" -eq 0 ] || {
        bad=1
        grep -E '^\[  FAILED|\[   LINE|ERROR|error' "$logs/$name" | head -n 20
        tail -n 3 "$logs/$name"
    }
    printf '%-26s %-12s %s %s\n' "$name" "$word" "$passed" "$seconds"
done <"$logs/codes"
exit "$bad"
