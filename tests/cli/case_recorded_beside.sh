# shellcheck shell=sh
# Without a GPU the results that were recorded on one stand below the table: all
# sizes of a ladder, and the sweeps.
exits 0 lab lab-pointer-chase --backend cpu --sizes 4096x1000 --db beside.db
for size in 4096 33554432 268435456 1073741824; do
    expect_stdout " ${size}x16384"
done
expect_stdout '352 ns / access'
run lab lab-launch --backend cpu --db beside.db --repeat 20
expect_stdout 67108864x256x196608
exits 0 lab batch-size mlp-digits --backend cpu --sizes 1 --repeat 20 --db beside.db
expect_stdout 'recorded on NVIDIA H200'
grep -Eq '^ *1024 +67\.1.* 2\.295 +1\.933' "$out" || complain "no batch of 1024"
exits 0 lab network-size mlp-digits --backend cpu --sizes 1,2,1024 --repeat 20 --db beside.db
grep -Eq '^width 1: .* on this CPU, 41\.0 us on that GPU: the [CG]PU is [0-9.]+ times as fast$' \
    "$out" || complain 'no CPU beside the recorded GPU at width 1'
expect_stdout 'on this CPU, 59.2 us on that GPU: the GPU is'
# What the course shows by it (B28, E14): the verdict follows from the two times, which
# are those of the tables.
"${LAB_PYTHON:-python3}" - "$out" <<'P' || complain 'a verdict that its times do not give'
import re
import sys
SCALE = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
text = open(sys.argv[1], encoding="utf-8").read()
rows = {(int(w), on): time for w, on, time in re.findall(
    r"^ *(\d+)  (cpu|cuda) .*?  ([\d.]+ [num]?s)  ", text, re.M)}
lines = re.findall(r"^width (\d+): (([\d.]+) ([num]?s)) on this CPU, (([\d.]+) ([num]?s)) on "
                   r"that GPU: the (CPU|GPU) is ([\d.]+) times as fast$", text, re.M)
assert len(lines) == 2, text
for width, here, a, a_unit, there, b, b_unit, faster, ratio in lines:
    assert (rows[int(width), "cpu"], rows[int(width), "cuda"]) == (here, there), rows
    cpu, gpu = float(a) * SCALE[a_unit], float(b) * SCALE[b_unit]
    assert faster == ("CPU" if cpu < gpu else "GPU"), (cpu, gpu, faster)
    want = max(cpu / gpu, gpu / cpu)
    assert abs(float(ratio) - want) <= .01 * want + .006, (ratio, want)
P
[ "$(grep -c ' on that GPU' "$out")" -eq 2 ] || complain 'a width that one of them has not'
grep -Eq '^ *1024 +cuda +1228810 ' "$out" || complain "no width of 1024"
for parts in products backward; do
    exits 0 lab $parts mlp-digits --backend cpu --repeat 20 --db beside.db
    expect_stdout 'recorded on NVIDIA H200'
    [ "$(grep -c '^ *cnn-digits' "$out")" -eq 0 ] || complain 'another lesson'
done
expect_stdout 'mlp-digits: backward takes 1.02 times as long'

# A figure of the course is beside one of its own precision and unit.
exits 0 lab lab-gflops --backend cpu --sizes 64 --db beside.db
expect_stdout '48094 GFLOP/s (cublas)'
[ "$(grep -c 786461 "$out")" -eq 0 ] || complain 'fp32 beside bf16'
run lab lab-dgemm --backend cpu --sizes 64 --db beside.db
grep -Eq 'GFLOP/s \((cublas|block)\)' "$out" || complain 'fp64 has no figure'
run lab lab-conv --backend cpu --sizes 1x2x8x8x2x3 --db beside.db
expect_stdout '72 MiB (cudnn_gemm)'
# Also one that only another run has than the one that is shown: all sizes of LU.
exits 0 lab lab-lu --backend cpu --sizes 64 --db beside.db
expect_stdout 'MAGMA at 5000: slide, Tesla P100: 838.09 GFLOP/s; recorded on NVIDIA H200: 4569 GFLOP/s (cusolver)'
expect_stdout 'MAGMA at 20000: slide, Tesla P100: 2821.48 GFLOP/s; recorded on NVIDIA H200: 25190 GFLOP/s (cusolver)'
[ "$(grep -c '^MAGMA at .* on NVIDIA H200' "$out")" -eq 21 ] || complain 'sizes of LU'
# What another CPU did is none of this one.
[ "$(grep -c '^CPU, MKL, .* recorded on ' "$out")" -gt 0 ] || complain "LU on the CPU that ships"
expect_stdout "21 of the course's figures have none of this CPU beside them: without --sizes"
# On a CPU the course's sizes come behind the lab's own, as many as a minute has room for:
# by the variants that they name. For one with at most 100 times the work of what was
# measured, the time of a call is printed.
cat >own-lu.md <<'END'
---
format: 1
kind: lab
title: LU, few sizes
lab: lu
cpu_sizes: [60]
slide:
  - {label: CPU, size: 60, value: 0.2, unit: GFLOP/s, machine: its CPU, rung: lapack, source: s}
  - {label: CPU, size: 90, value: 0.3, unit: GFLOP/s, machine: its CPU, rung: lapack, source: s}
  - {label: CPU, size: 90000, value: 500, unit: GFLOP/s, machine: its CPU, rung: lapack, source: s}
  - {label: MAGMA, size: 95, value: 9, unit: GFLOP/s, machine: its GPU, rung: cusolver, source: s}
---
END
exits 0 lab ./own-lu.md --backend cpu --repeat 20 --db beside.db
expect_stdout "then sizes of the course's figures"
[ "$(grep -Ec '^unblocked +fp64 .* its right$' "$out")" -eq 1 ] ||
    complain 'a slow variant at a size of the course'
[ "$(grep -Ec '^lapack +fp64 ' "$out")" -eq 2 ] || complain 'not 60 and 90'
grep -Eq "^CPU at 90: slide, its CPU: 0.3 GFLOP/s; this machine: [0-9.]+ GFLOP/s \(lapack\)$" "$out" ||
    complain 'nothing beside the figure of 90'
grep -Eq "^CPU at 90000: .*; this machine: not measured at 90000$" "$out" ||
    complain 'a time of 90000, by one of 90'
expect_stdout "1 of the course's figures have none of this CPU beside them: a minute had no room"
# By the time of two rows 2400 would take minutes, and it does not: it is left out, unless all are wanted.
sed '/size: 60,/d; /size: 90,/d; s/size: 90000,/size: 2400,/; s/cpu_sizes: .60./cpu_sizes: [2]/' \
    own-lu.md >all-lu.md
run lab ./all-lu.md --backend cpu --repeat 20 --db beside.db
expect_stdout 'a minute had no room for their sizes (--sizes all: however long)'
exits 0 lab ./all-lu.md --backend cpu --repeat 20 --sizes all --db beside.db
grep -Eq '^CPU at 2400: .* GFLOP/s \(lapack\)$' "$out" || complain '--sizes all leaves 2400 out'
grep -q 'have none of this CPU' "$out" && complain '--sizes all and a figure without ours'
grep -q 'sizes all' "$err" && complain 'all sizes, and a warning that they are not'
exits 0 lab lab-offset --backend cpu --repeat 20 --sizes all --variants plain --db beside.db
expect_stderr "--sizes all: these are the lab's own sizes: it has no figures of the course's CPU"
run lab ./own-lu.md --backend cpu --repeat 20 --sizes 60 --db beside.db
grep -Eq "^CPU at 90: .*; this machine: not measured at 90 \(about [0-9.e+]+ [a-z]+ a call\)$" "$out" ||
    complain 'how long a call of 90 takes'
expect_stdout 'without --sizes those are measured that a minute has room for'
[ "$(grep -Ec '^lapack +fp64 ' "$out")" -eq 1 ] || complain 'more than --sizes has'
# A size that memory has no room for has its reason, and is not counted with those that
# a minute has no room for.
sed 's/size: 90000,/size: 900000,/; /size: 90,/d' own-lu.md >refused-lu.md
run lab ./refused-lu.md --backend cpu --repeat 20 --sizes 60,900000 --db beside.db
grep -Eq '^CPU at 900000: .*; this machine: no time: ' "$out" || complain 'no reason at 900000'
grep -q 'have none of this CPU' "$out" && complain 'a refused size is counted once more'
run step embedding-product --backend cpu
grep -E '^fc1.W\[3,0\] +14 +14 +\+0' "$out" || complain 'W after its update'

# What cannot be read is reported, and what was measured here is printed all the same.
mkdir -p data/profiles/recorded
for part in lessons kernels; do
    ln -sf "$LAB_SOURCE_DIR/$part" "data/$part"
done
cp "$LAB_SOURCE_DIR/profiles/recorded/h200.db" data/profiles/recorded/h200.db
chmod u+w data/profiles/recorded/h200.db
sql data/profiles/recorded/h200.db \
    'ALTER TABLE sweep_row RENAME COLUMN median_ns TO gone;
    ALTER TABLE lab_row RENAME COLUMN median_ns TO gone' || complain "the recorded runs could not be changed"
export LAPENNA_LAB_DATA_DIR="$PWD/data"
exits 0 lab batch-size mlp-digits --backend cpu --sizes 1 --repeat 20 --db beside.db
expect_stderr 'the recorded sweep cannot be read: '
expect_stdout 'mlp-digits'
exits 0 lab saxpy --backend cpu --sizes 100 --repeat 20 --db beside.db
expect_stderr 'the recorded results cannot be read: '
expect_stdout plain
unset LAPENNA_LAB_DATA_DIR
