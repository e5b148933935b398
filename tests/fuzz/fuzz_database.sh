#!/bin/sh
# fuzz_database.sh FUZZER SECONDS SEED -- makes real databases and exports with
# the program ($LAB_EXE), in small pages, and has the fuzzer change them.
set -eu
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$LAB_EXE" run mlp-digits --backend cpu --iterations 2 --db "$work/runs.db" \
    >/dev/null
"$LAB_EXE" profile export 1 --format nsys --output "$work/nsys.db" \
    --db "$work/runs.db"
# What a GPU would have recorded.
sqlite3 "$work/runs.db" "
    INSERT INTO StringIds VALUES (9001, 'void gemm<8>()'), (9002, 'gemm');
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId,
        demangledName, shortName, gridX, gridY, gridZ, runId, kernelRow)
        SELECT start_ns, end_ns, 0, 7, 9001, 9002, 1, 2, 3, 1, exec FROM step;
    INSERT INTO op_kernel SELECT exec, 1, exec, 50, 4, 8 FROM step;
    UPDATE step SET kernelCount = 1, kernelRowFirst = exec,
        kernelRowLast = exec;
    UPDATE run SET summed = NULL, kernelRowFirst = 1, kernelRowLast =
        (SELECT max(exec) FROM step)"
for name in runs nsys; do
    sqlite3 "$work/$name.db" "PRAGMA journal_mode = DELETE;
        PRAGMA page_size = 512; VACUUM" >/dev/null
done
"$1" "$2" "$3" "$work/runs.db" "$work/nsys.db"
