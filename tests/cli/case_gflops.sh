# shellcheck shell=sh
# LAB 2, Problem 4: the product's rate against its size, in one table.
run lab gflops --backend cpu --cpu-sizes 64,100
expect_exit 0
expect_no_stderr
expect_stdout 'CPU, 1 thread'
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
for wrong in '--cpu-sizes 0' '--cpu-sizes 64,,2' '--cpu-sizes 100x200x300' '--backend gpu' '--repeat 0' \
    'gemm' '--cpu-sizes 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25'; do
    # shellcheck disable=SC2086 # two words are two arguments
    run lab gflops --backend cpu $wrong
    expect_exit 2
done

# The message is about this table's sizes and names the option; a list for a GPU
# is read before the CPU is measured for minutes.
run lab gflops --backend cpu --cpu-sizes 64,2.5
expect_exit 2
expect_stderr '--cpu-sizes: size 2.5: a size is one whole number'
run lab gflops --cpu-sizes 64 --sizes 100x200
expect_exit 2
expect_stderr '--sizes: size 100x200: a size is one whole number'
expect_no_stdout
many=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24
run lab gflops --cpu-sizes $many --sizes 1,2,25
expect_exit 2
expect_stderr '--cpu-sizes and --sizes: more than 24 sizes together'
expect_no_stdout
run lab gflops --backend cpu --double --cpu-sizes 64x32x8
expect_exit 2
expect_stderr 'lapenna-lab lab dgemm --sizes 64x32x8'

# cuDNN's calls need a GPU; what is wrong is said before one is looked for.
for wrong in '--sizes 1x3' '--sizes 0' '--algorithm 8' '--sizes 1x1x1x1x1x9000000000' \
    'image'; do
    # shellcheck disable=SC2086
    run lab conv --calls $wrong
    expect_exit 2
done
