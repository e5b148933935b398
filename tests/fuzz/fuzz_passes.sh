#!/bin/sh
# fuzz_passes.sh FUZZER SECONDS SEED -- has the fuzzer change what a long run
# keeps of its passes and of its steps' kernels.
set -eu
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$(dirname "$0")/long_run.sh" "$work/long.db"
for level in 5 6; do
    sqlite3 "$work/long.db" "SELECT writefile('$work/$level', CAST('$level' ||
        times AS BLOB)) FROM time_sum WHERE level = $level AND (level = 5 OR
        (stepIndex = 1 AND phase = 2))" >/dev/null
done
FUZZ_DATABASE=$work/long.db "$1" "$2" "$3" "$work/5" "$work/6"
