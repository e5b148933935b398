#!/bin/sh
# long_run.sh FILE -- a database of one run that is so long that the list of its
# iterations is stored ($LAB_EXE stores it). Most of its steps have no columns
# but their numbers, so that the file is small.
set -eu
"$LAB_EXE" run mlp-digits --backend cpu --iterations 1 --db "$1" >/dev/null
sqlite3 "$1" "
    DELETE FROM step; DELETE FROM time_sum; DELETE FROM loss;
    INSERT INTO StringIds VALUES (9001, 'void gemm<8>()'), (9002, 'gemm');
    WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10400)
    INSERT INTO step (runId, exec, iteration, stepIndex, start_ns, end_ns)
        SELECT 1, i, (i - 1) / 52, (i - 1) % 52,
            iif(i % 52 = 1, 1000 * i, NULL), iif(i % 52 = 0, 1000 * i, NULL)
        FROM n;
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, demangledName,
        shortName, gridX, gridY, gridZ, runId, kernelRow)
        SELECT 1000 * exec, 1000 * exec + exec * 7919 % 900, 9001, 9002,
            exec % 7, 2, 3, 1, exec / 26 + 1 FROM step WHERE exec % 26 = 2;
    INSERT INTO op_kernel SELECT exec / 26 + 1, 1, exec, 50, 4, 8 FROM step
        WHERE exec % 26 = 2;
    UPDATE step SET kernelCount = 1, kernelRowFirst = exec / 26 + 1,
        kernelRowLast = exec / 26 + 1 WHERE exec % 26 = 2;
    UPDATE run SET summed = NULL, kernelRowFirst = 1, kernelRowLast = 400"
"$LAB_EXE" profile compare 1 1 --db "$1" >/dev/null
stored=$(sqlite3 "$1" "SELECT sum(level = 5) FROM time_sum")
test "$stored" -gt 0 || { echo "no iterations were stored"; exit 1; }
