#!/bin/sh
# databases.sh DIRECTORY -- makes runs.db, nsys.db and long.db there, in small
# pages, with the program ($LAB_EXE): runs of each kind, what a GPU would have
# recorded, and an export of Nsight Systems.
set -eu
work=$1
"$LAB_EXE" run mlp-digits --backend cpu --iterations 2 --db "$work/runs.db" \
    >/dev/null
# What a GPU would have recorded, and a lab.
sqlite3 "$work/runs.db" "
    INSERT INTO StringIds VALUES (9001, 'void gemm<8>()'), (9002, 'gemm'),
        (9003, 'dram__bytes_read.sum');
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId,
        demangledName, shortName, gridX, gridY, gridZ, runId, kernelRow)
        SELECT start_ns, end_ns, 0, 7, 9001, 9002, 1, 2, 3, 1, exec FROM step;
    INSERT INTO op_kernel SELECT exec, 1, exec, 50, 4, 8 FROM step;
    UPDATE step SET kernelCount = 1, kernelRowFirst = exec,
        kernelRowLast = exec;
    INSERT INTO metric_value SELECT 1, exec, NULL, 9003, 4096.5, 1 FROM step;
    INSERT INTO metric_value SELECT 1, exec, 0, 9003, 4096.5, 1 FROM step;
    INSERT INTO lab_row (runId, place, lab, size, rung, precision, status,
        repeats, min_ns, median_ns, max_ns, flop, bytes, unit, rate,
        ceilingCopy_B_s, ceilingFp32_FLOP_s, tracedExec)
        VALUES (1, 0, 'gemm', '64', 'naive', 'fp32', 'done', 9, 80, 90, 99,
            524288, 49152, 'FLOP/s', 5.8e12, 3e12, 6e13, 2),
        (1, 1, 'gemm', '64', 'tiled', 'bf16', 'skipped', 0, NULL, NULL, NULL,
            524288, 24576, 'FLOP/s', NULL, 3e12, 6e13, NULL);
    INSERT INTO lab_said VALUES (1, 0, 'best', 'fp32', '64', 6e12, 87,
        'memory', 50), (1, 1, 'naive', NULL, NULL, 1e12, NULL, NULL, NULL);
    INSERT INTO lab_tuned (backend, device, uuid, lab, sizeClass, precision,
        candidate, size, median_ns, rate, unit, candidates, runId, measured,
        measured_ns) VALUES ('cuda', 'NVIDIA H200', 'GPU-1', 'gemm', 'large',
        'fp32', '128x128x16', '4096', 1e6, 5e13, 'FLOP/s', 24, 1,
        '2026-01-31T09:30:00.123Z', 1);
    INSERT INTO sweep_row (runId, place, sweep, lesson, backend, name, x,
        status, iterations, samples, median_ns, samples_per_s, share)
        VALUES (1, 0, 'batch-size', 'mlp-digits', 'cuda', NULL, 32, 'done', 9,
            288, 1e5, 3e5, 0.5),
        (1, 1, 'products', 'mlp-digits', 'cuda', 'fc1', NULL, 'failed', 0, 0,
            NULL, NULL, NULL);
    INSERT INTO ceiling (backend, device, hostname, name, best_per_s, repeats,
        size, measured, measured_ns) SELECT backend, device, hostname, 'copy',
        1e10, 9, 1048576, '2026-01-31T09:30:00.123Z', 1 FROM run;
    UPDATE run SET summed = NULL, kernelRowFirst = 1, kernelRowLast =
        (SELECT max(exec) FROM step)"
"$LAB_EXE" profile export 1 --format nsys --output "$work/nsys.db" \
    --db "$work/runs.db"
"$(dirname "$0")/long_run.sh" "$work/long.db"
for name in runs nsys long; do
    sqlite3 "$work/$name.db" "PRAGMA journal_mode = DELETE;
        PRAGMA page_size = 512; VACUUM" >/dev/null
    size=$(wc -c <"$work/$name.db")
    test "$size" -le 1048576 || { echo "$name.db: $size bytes"; exit 1; }
done
