# shellcheck shell=sh
# LAB 2, Problem 4: the product's rate against its size, in one table.
run lab gflops --backend cpu --cpu-sizes 64,100
expect_exit 0
expect_no_stderr
# Every rate is there before the table, which comes when all is measured.
for size in 64 100; do
    sed '/^GFLOP/,$d' "$out" | grep -q " of $size: [0-9.e+]* GFLOP/s\$" ||
        complain "no rate of $size before the table"
done
expect_stdout 'GFLOP/s'
run lab gflops --backend cpu --cpu-sizes 64,100 --json
expect_exit 0
expect_json 'len(rows) == 2' '[r["size"] for r in rows] == ["64", "100"]' \
    'all(r["cpu_one_thread"] > 0 for r in rows)' \
    'all(r["gpu_library"] is None for r in rows)' \
    'all(r["operation"] == "gemm" for r in rows)'
run lab gflops --backend cpu --cpu-sizes 64 --double --ascii
expect_exit 0
expect_ascii
# Without a GPU that is known before the CPU is measured.
CUDA_VISIBLE_DEVICES='' "$LAB_EXE" lab gflops --cpu-sizes 64 >both 2>&1 ||
    complain 'there is no table without a GPU'
sed '/CPU: /,$d' both | grep -q "without the GPU's columns" ||
    complain 'the GPU is missed after the CPU was measured'
