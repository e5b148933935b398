# shellcheck shell=sh
# A lab on the screen, with the real engine: read, predicted, run, stopped.
lesson small <<'END'
---
format: 1
kind: lab
title: A small lab
lab: saxpy
cpu_sizes: [300, 700]
repeat: 20
slide:
  - {label: numba, size: 700, value: 1.5, unit: GB/s, machine: P100,
     source: a slide, rung: plain}
---
# Text

## Predict first

1. How fast is it?
END

# Its text first; a prediction; the whole ladder; the course's figure.
play small.md --backend cpu --db screen.db <<'END'
resize 80 24
expect How fast is it?
await 300000 A small lab
wait 300
key p
enter nonsense
expect nonsense is no prediction
expect an occupancy, 50%
expect you expect: nonsense
key Esc r
await 300000 you expect (Enter skips):
enter 3 memory
await 300000 recorded as run 1
expect [700]
expect GB/s
expect you predicted
key Left
expect [300]
key v
expect against the size
key v
expect Kernel: kernels/saxpy/cpu.c
key v
expect Profile: plain, fp32, size 300
expect bound by
key v
expect slide, P100: 1.5 GB/s; this machine:
key p
expect is measured: predictions come before
key e ^U
enter 0
expect size 0
key e ^U
enter 50
expect [50]
expect not run
key Enter
expect saxpy/cpu.c
key q P
expect recorded on NVIDIA H200
END
[ "$(sql screen.db 'SELECT count(*) FROM lab_row')" = 4 ] || complain "not 4 rows"
[ "$(sql screen.db 'SELECT status FROM run WHERE id = 1')" = 'done' ] ||
    complain "run 1 is not done"
[ "$(sql screen.db 'SELECT rung FROM lab_said')" = best ] ||
    complain "the prediction was not kept"

# Stopped in the middle: the rows that are through stay, the run is cancelled, also when
# another screen is in front as it ends.
lesson large <<'END'
---
format: 1
kind: lab
title: A large lab
lab: gemm
cpu_sizes: [16, 700]
repeat: 20
---
Text.
END
play large.md --backend cpu --db screen.db <<'END'
resize 80 24
wait 500
key r
await 300000 you expect
key Enter
await 300000 timing naive at 700
expect [700]
key x
key Enter
expect kernels/gemm/cpu.c
wait 3000
key q
await 30000 stopped after
expect not run
key Left
expect openblas
key x
expect nothing is running
END
[ "$(sql screen.db 'SELECT status FROM run WHERE id = 2')" = cancelled ] ||
    complain "run 2 is not cancelled"
[ "$(sql screen.db 'SELECT count(*) > 1 AND min(size) = max(size)
    FROM lab_row WHERE runId = 2')" = 1 ] ||
    complain "run 2 has not the rows of the first size alone"

# Closed in the middle: the program ends, and its run is a cancelled one.
play large.md --backend cpu --db screen.db <<'END'
resize 80 24
wait 500
key r
await 300000 you expect
key Enter
await 300000 timing naive at 700
key q
END
[ "$(sql screen.db 'SELECT status FROM run WHERE id = 3')" = cancelled ] ||
    complain "run 3 is not cancelled"

# Left before its first row: the run is taken back, and home reports it by itself.
play --backend cpu --db home.db <<'END'
resize 80 24
enter /lab-gemm
key Enter
await 300000 the matrix product (
wait 500
key r
await 300000 you expect
key Enter
await 300000 checking
key q
await 300000 No runs yet
absent running
END

# A variant that has no room reports it in its row, and the others go on.
play small.md --backend cpu --db screen.db <<'END'
resize 100 24
wait 500
key t e ^U
enter 99999999999,100
expect [99999999999]
key r
await 300000 you expect
key Enter
await 300000 recorded as run 4
key Left
expect failed
expect take a smaller
END

# A lab that is no ladder runs its command, and shows what that prints. The picture of
# recorded results comes by itself, and leaves the text of a narrow screen to its reader.
lesson sweep <<'END'
---
format: 1
kind: lab
title: A sweep
measures: backward
of: mlp-digits
---
What costs more?
END
play sweep.md --backend cpu --db screen.db <<'END'
resize 80 24
expect What costs more?
key t
await 60000 r runs it; v has the picture of recorded results
expect lapenna-lab lab sweep
expect The text, t: all
expect What costs more?
key v
expect recorded: NVIDIA H200
expect r runs it; v has the text
absent What costs more?
key v
expect What costs more?
absent recorded: NVIDIA H200
resize 200 60
expect What costs more?
expect recorded: NVIDIA H200
key t
expect What costs more?
expect recorded: NVIDIA H200
resize 80 24
absent recorded: NVIDIA H200
key t x
expect nothing is running
key t
expect What costs more?
key r
await 120000 what it has printed; v has its picture
expect backward of mlp-digits
expect GFLOP/s
key t
expect What costs more?
key Esc
expect backward of mlp-digits
key r
await 120000 what it has printed; v has its picture
key p v m q
END

# A single kernel is not recorded: its command takes no database, and the backend that
# was given. The title states how much of its lines is in sight.
play lab-index --backend cpu --db screen.db <<'END'
resize 80 24
wait 300
key t
await 60000 lapenna-lab lab lab-index --backend cpu
key r
await 60000 what it has printed; r runs it again
expect which element is mine? (all)
expect 72 of 72 indices belong to one thread and no other
resize 200 60
expect 72 of 72 indices belong to one thread and no other
expect The text, t: all
key q
END

# From the list of lessons, and what was recorded on another machine. The
# recorded run is made here: one of the CPU, recorded as a GPU's.
mkdir -p data/profiles/recorded
for part in lessons kernels; do
    ln -sf "$LAB_SOURCE_DIR/$part" "data/$part"
done
exits 0 lab gemm --backend cpu --sizes 64,96 --repeat 20 \
    --db data/profiles/recorded/h200.db
sql data/profiles/recorded/h200.db "PRAGMA journal_mode = DELETE;
    UPDATE run SET device = 'NVIDIA H200', backend = 'cuda';
    UPDATE lab_row SET rung = 'tile' WHERE rung = 'blocked'" >mode ||
    complain "the recorded run could not be made"
export LAPENNA_LAB_DATA_DIR="$PWD/data"
play --backend cpu --db screen.db <<'END'
resize 100 30
enter /the matrix product
expect Lab: the matrix product
key Enter
await 300000 Predict first
wait 500
key P
await 300000 recorded on NVIDIA H200
expect tile
expect [64]
key End Up Up v v
expect Kernel: kernels/gemm/
key r
expect these are recorded results
key P
expect naive
key q
expect Lessons
END
# Left in the middle of a call that takes about a second, however fast this build
# and machine are: the list is there at once, and reports why the processor is still
# busy. The next lab waits for that call.
exits 0 lab gemm --backend cpu --sizes 200 --variants naive --repeat 20 --json \
    --db size.db
size=$("${LAB_PYTHON:-python3}" -c 'import json, sys
row = json.loads(sys.stdin.readlines()[1])
print(max(300, min(1500, round(200 * (1e9 / row["median_ns"]) ** (1 / 3)))))' \
    <"$out")
mkdir -p data/own
sed "s/16, 700/$size/" large.md >data/own/large.md
ln -sfn "$PWD/data/own" data/lessons
play --backend cpu --db left.db <<END
resize 80 24
enter /large lab
key Enter
await 300000 A large lab
wait 500
key r
await 300000 you expect
key Enter
await 300000 timing naive at $size
wait 200
key Esc
expect Lessons
expect the lab stops as soon as the call that runs has ended
key Enter
await 300000 A large lab
wait 200
key r
await 300000 you expect
key Enter
await 300000 timing naive at $size
key Esc
expect Lessons
key q
END
exits 0 profile list --json --db left.db
expect_json 'len(of("run")) == 0'

# A lab of which nothing could be measured is not done.
sed -e 's/16, 700/9999999/' -e 's/A large lab/A too large lab/' large.md \
    >data/own/too-large.md
play --backend cpu --db failed.db <<'END'
resize 80 24
enter /too large lab
expect new
key Enter
await 300000 A too large lab
wait 500
key r
await 300000 you expect
key Enter
await 300000 recorded as run 1
key Esc
expect Lessons
expect new
key q
END
run profile list --json --db failed.db
expect_json '[r["status"] for r in of("run")] == ["failed"]'
ln -sfn "$LAB_SOURCE_DIR/lessons" data/lessons
exits 0 lab gemm --backend cpu --sizes 33 --repeat 20
expect_stdout 'recorded on NVIDIA H200, run 1'
grep -q '^tile  *fp32' "$out" || complain "no recorded variant"
unset LAPENNA_LAB_DATA_DIR

# The question is of the largest size of all variants; sizes of the course come behind.
play lab-lu --backend cpu --db screen.db <<'STEPS'
resize 80 24
await 300000 LU
key t
await 300000 variant
expect 300  500  1000  2000
key r
expect fastest, size 500, you expect
key Esc
STEPS
# All of the course's figures: Tab goes on to them, and they scroll to the last one.
play lab-lu --backend cpu --db screen.db <<'STEPS'
resize 80 24
await 300000 LU
key t
await 300000 variant
key P
await 300000 recorded on NVIDIA H200
key v v v v
expect The course's figures, lines 1-
expect ; Tab moves
key Tab
expect Kernel:
key Tab
expect The course's figures, lines 1-
absent ; Tab moves
key G
absent lines 1-
expect 20000
key g
expect lines 1-
key Tab
expect ; Tab moves
key q
STEPS

# Without the CUDA module a variant's source is the file of its folder that names it.
mkdir -p no-modules
LAPENNA_LAB_MODULE_DIR=$PWD/no-modules play lab-overlap --backend cpu --db overlap.db <<'END'
resize 120 40
await 300000 P recorded
key P
expect >pageable
key v v
expect Kernel: kernels/overlap/streams.cu
quit
END

# Of a tuning the candidates that were recorded are a key away, before it runs.
play lab-autotune --backend cpu --db tune.db <<'END'
resize 80 24
await 300000 P recorded
key P
expect recorded: NVIDIA H200, run 491
expect 64x64x32_32x32
expect [256]
key Right
expect [1024]
expect 25.83 TFLOP/s
key P
expect these are the recorded results
key v
expect A tile of 128 x 128 was the best
enter :quit
END

# A figure of the course whose variant was refused where it was recorded reports it; the
# head of the figures counts the lines that are seen.
play lab-conv --backend cpu --db conv.db <<'END'
resize 80 24
expect Lab: convolution
key P
await 300000 recorded: NVIDIA H200
key v v v v
expect The course's figures, lines 1-12 of
enter /GV100: 0.26 ms
expect no time: the workspace's size: cuDNN does not serve
enter :quit
END
