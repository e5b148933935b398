# shellcheck shell=sh
# LAB 2, Problem 4: the product's rate against its size, in one table.
exits 0 lab gflops --backend cpu --cpu-sizes 64,100
expect_no_stderr
# Every rate is there before the table, which comes when all is measured.
for size in 64 100; do
    sed '/^GFLOP/,$d' "$out" | grep -q " of $size: [0-9.]* [MGT]FLOP/s\$" ||
        complain "no rate of $size before the table"
done
expect_stdout 'GFLOP/s'
exits 0 lab gflops --backend cpu --cpu-sizes 64,100 --json
expect_json 'len(rows) == 2' '[r["size"] for r in rows] == ["64", "100"]' \
    'all(r["cpu_one_thread"] > 0 for r in rows)' \
    'all(r["gpu_library"] is None for r in rows)' \
    'all(r["operation"] == "gemm" for r in rows)'
exits 0 lab gflops --backend cpu --cpu-sizes 64 --double --ascii
expect_ascii
# Without a GPU that is known before the CPU is measured.
CUDA_VISIBLE_DEVICES='' "$LAB_EXE" lab gflops --cpu-sizes 64 >both 2>&1 ||
    complain 'there is no table without a GPU'
# Then the recorded ones are beside it, and the course's, with this machine's where it
# has that size.
grep -q '^recorded on NVIDIA H200, run [0-9]* of ' both || complain 'no recorded run'
grep -Eq '^ *6000 +[0-9]+ +48094 ' both || complain 'no recorded rate at 6000'
grep -q '^torch.matmul at 6000: slide, its GPU: 7077.22 GFLOP/s; recorded on NVIDIA H200: 48094 GFLOP/s (cublas)$' both ||
    complain 'no figure of the course'
[ "$(grep -c ': slide, its [CG]PU: ' both)" -eq 8 ] || complain 'the course has eight figures'
exits 0 lab gflops --backend cpu --cpu-sizes 64,2000
grep -Eq '^np.dot, first run at 2000: slide, its CPU: 67.77 GFLOP/s; this machine: [0-9.]+ GFLOP/s$' "$out" ||
    complain 'no rate beside the slide of 2000'
sed '/CPU: /,$d' both | grep -q "without the GPU's columns" ||
    complain 'the GPU is missed after the CPU was measured'
