# shellcheck shell=sh
# The scripts that record on a GPU and run what only a GPU can decide, on a machine
# without one: what is left out is reported, and each command is one that the program takes.
command -v python3 >/dev/null || exit 77
make=$LAB_SOURCE_DIR/profiles/recorded/make.sh
RUN_LIMIT=400

script() { # COMMAND...: as run, of another program
    command=" $*"
    status=0
    timeout "${RUN_LIMIT:-600}" "$@" </dev/null >"$out" 2>"$err" || status=$?
}

names() { # of the runs in FILE, by number
    run profile list --json --db "$1"
    sed 's/.*"run":\([0-9]*\),"lesson":"\([^"]*\)".*/\1 \2/' "$out" | sort -n |
        sed 's/[0-9]* //' | tr '\n' ' '
}

record() { # "ONLY" FILE [GPUS]
    LAB_RECORD_ON=cpu LAB_RECORD_ONLY=$1
    export LAB_RECORD_ON LAB_RECORD_ONLY
    shift
    script "$make" "$LAB_EXE" "$@"
}

record 'bahdanau-attention lab-stencil' all.db
expect_exit 0
expect_stdout '2 of 2 jobs recorded'
[ "$(names all.db)" = 'lab-stencil bahdanau-attention ' ] || complain "not these runs"
# The lesson again, on two: in the place of the first. `cublas` is no CPU's.
record 'bahdanau-attention optimizer-sgd' all.db 2
expect_exit 1
expect_stdout '--variant *=cublas: exit code 2: '
expect_stdout '3 of 4 jobs recorded'
[ "$(names all.db | tr ' ' '\n' | sort | tr -d '\n')" = \
    bahdanau-attentionlab-stenciloptimizer-sgdoptimizer-sgd ] ||
    complain "not these runs: $(names all.db)"
# Again: a job of it is left out. The two that are done take the places of their own old
# runs, and another old run of the lesson stays.
run run optimizer-sgd --backend cpu --iterations 4 --variant '*=blas' --db all.db
expect_exit 0
numbered() { # the run of `blas`
    run profile list --json --db all.db
    grep '"lesson":"optimizer-sgd".*"variants":"[^"]*blas' "$out" |
        sed 's/.*"run":\([0-9]*\),.*/\1/'
}
before=$(numbered)
[ -n "$before" ] || complain "no run of blas: $(cat "$out")"
record optimizer-sgd all.db
expect_exit 1
[ "$(numbered)" = "$before" ] || complain "run $before has another number: $(numbered)"
[ "$(names all.db | tr ' ' '\n' | grep -c optimizer-sgd)" -eq 3 ] ||
    complain "not the two new runs and the old one: $(names all.db)"
# A run that its time ended takes the place of none.
cp all.db cut.db
runs=$(names all.db | wc -w)
script python3 "${make%/*}/runs_of.py" all.db /dev/null /dev/null cut.db
[ "$(wc -w <"$out")" -eq "$runs" ] ||
    complain "not each run in its own place: $(cat "$out")"
python3 -c "import sqlite3
with sqlite3.connect('cut.db') as d: d.execute(\"UPDATE run SET status = 'interrupted'\")"
script python3 "${make%/*}/runs_of.py" all.db /dev/null /dev/null cut.db
[ "$(wc -w <"$out")" -eq 0 ] || complain "in the place of runs that are whole: $(cat "$out")"
# The ladder without a lesson, twice. A run of another that was stopped is there on purpose.
python3 -c "import sqlite3
with sqlite3.connect('all.db') as d:
    d.execute(\"UPDATE run SET status = 'cancelled' WHERE lesson = 'lab-stencil'\")"
record gesv all.db
expect_exit 0
names all.db | grep -q 'lab-stencil' || complain "a run that was stopped is gone: $(names all.db)"
record gesv all.db
expect_exit 0
[ "$(names all.db | tr ' ' '\n' | grep -c gesv)" -eq 1 ] ||
    complain "gesv was not replaced: $(names all.db)"
# A GPU's run has a place of its own; the one that was stopped goes when it is made anew.
python3 -c "import sqlite3
with sqlite3.connect('all.db') as d:
    d.execute(\"UPDATE run SET backend = 'cuda' WHERE lesson = 'gesv'\")"
record 'gesv lab-stencil' all.db
expect_exit 0
[ "$(names all.db | tr ' ' '\n' | grep -c gesv)" -eq 2 ] ||
    complain "a CPU's run in the place of a GPU's: $(names all.db)"
[ "$(names all.db | tr ' ' '\n' | grep -c lab-stencil)" -eq 1 ] ||
    complain "beside a run that was stopped: $(names all.db)"
# Nothing is made where nothing was recorded.
LAB_RECORD_LIMIT=0
export LAB_RECORD_LIMIT
record bahdanau-attention none.db
expect_exit 1
expect_stdout 'no time was left'
[ ! -e none.db ] || complain "a file of nothing"
unset LAB_RECORD_LIMIT
LAB_RECORD_KIND=lab
export LAB_RECORD_KIND
record '' none.db
expect_exit 2
LAB_RECORD_KIND=all
# Labs have counters, all sizes of their lessons; lessons that train have variants.
LAB_RECORD_JOBS=1
export LAB_RECORD_JOBS
record 'lab-lu lab-saxpy mlp-digits cnn-mnist gelu' none.db
expect_exit 0
[ "$(grep -c . "$out")" -eq 14 ] || complain "14 jobs were expected"
expect_stdout 'lab lab-saxpy --backend cpu --repeat 20 --counters basic'
expect_stdout 'run mlp-digits --backend cpu --iterations 24 --counters basic --trace kernels --variant *=tf32x3'
expect_stdout 'run mlp-digits --backend cpu --iterations 30000 --trace off'
expect_stdout 'run cnn-mnist --backend cpu --iterations 24 --trace kernels --variant *=cublas'
! grep -q 'gelu.*variant' "$out" || complain "a lesson without products"
# All sizes of the course's figures of a CPU are a kind of their own.
LAB_RECORD_KIND=cpu
record 'lab-dgemm lab-lu lab-saxpy' none.db
[ "$(cut -d' ' -f2- "$out" | sort | tr '\n' '.')" = "$(printf \
    'lab-%s --backend cpu --variants threads --sizes all.' dgemm lu)" ] ||
    complain "not the two of a CPU: $(cat "$out")"
unset LAB_RECORD_JOBS
# Seconds: of a job that is known those, else as many as one may take; on two GPUs the first
# that is free takes the next. A recording puts its own in.
LAB_RECORD_TIMES=job_times LAB_RECORD_SECONDS=50 LAB_RECORD_PLAN=1 LAB_RECORD_KIND=labs
export LAB_RECORD_TIMES LAB_RECORD_SECONDS LAB_RECORD_PLAN LAB_RECORD_KIND
printf '7 lab lab-saxpy --backend cpu --repeat 20 --counters basic\n30 lab no longer\n' >job_times
record 'lab-saxpy lab-stencil' none.db
[ "$(cat "$out")" = 57 ] || complain "not 50 s and 7 s: $(cat "$out")"
record 'lab-saxpy lab-stencil' none.db 2
[ "$(cat "$out")" = 50 ] || complain "not 7 s beside 50 s: $(cat "$out")"
# One without options is known too.
printf '3 lab lab-cudnn-calls\n' >call_times
script env LAB_RECORD_ON=cuda LAB_RECORD_ONLY=lab-cudnn-calls LAB_RECORD_TIMES=call_times \
    "$make" "$LAB_EXE" none.db
[ "$(cat "$out")" = 3 ] || complain "not the 3 s of cuDNN's calls: $(cat "$out")"
unset LAB_RECORD_PLAN
record 'lab-stencil' none.db
expect_exit 0
grep -Eqx '[0-9]+\.[0-9] lab lab-stencil --backend cpu --repeat 20 --counters basic' job_times ||
    complain "no seconds of lab-stencil: $(cat job_times)"
[ "$(grep -c . job_times)" -eq 3 ] || complain "seconds of others are lost: $(cat job_times)"
LAB_RECORD_JOBS=1
export LAB_RECORD_JOBS
record 'lab-saxpy lab-vector-add' none.db
[ "$(sed -n 1p "$out" | cut -d' ' -f2)" = lab-vector-add ] ||
    complain "the longest is not first: $(cat "$out")"
unset LAB_RECORD_JOBS LAB_RECORD_ONLY LAB_RECORD_ON LAB_RECORD_KIND LAB_RECORD_TIMES \
    LAB_RECORD_SECONDS

# A name that no step takes is not passed by.
script python3 "$LAB_SOURCE_DIR/tests/golden/check_step.py" "$LAB_EXE" \
    --only v_rnn_t3.md --variants naive,nosuch
expect_exit 1
expect_stdout 'variant nosuch: no lesson has a step that takes it'
expect_stdout 'walks: naive 1, nosuch 0'
expect_stdout '2 passed, 0 failed'
# All that the program lists, but what another call takes.
script python3 "$LAB_SOURCE_DIR/tests/golden/check_step.py" "$LAB_EXE" \
    --only v_rnn_t3.md --variants all --list
expect_exit 0
cp "$out" every
script python3 "$LAB_SOURCE_DIR/tests/golden/check_step.py" "$LAB_EXE" \
    --only v_rnn_t3.md --variants all --but naive,blas --list
expect_exit 0
printf 'blas\nnaive\n' | sort - "$out" | cmp - every ||
    complain "not every variant but two: $(tr '\n' ' ' <"$out")"

! command -v nvidia-smi >/dev/null || return 0
all=$LAB_SOURCE_DIR/bench/gpu_all.sh
script "$all" "$LAB_BINARY_DIR" gpu
expect_exit 4
[ "$(grep -c ' no device  ' "$out")" -ge 30 ] || complain "not each part has its line"
script "$all" "$LAB_BINARY_DIR" gpu correct nosuch
expect_exit 2
# A stage that runs again has its lines once, and the others keep theirs. A driver that
# does not answer is no device.
lines=$(grep -c . gpu/table)
mkdir smi
printf '#!/bin/sh\necho "NVIDIA-SMI has failed"\nexit 9\n' >smi/nvidia-smi
chmod +x smi/nvidia-smi
script env PATH="$work/smi:$PATH" "$all" "$LAB_BINARY_DIR" gpu speed
expect_exit 4
[ "$(grep -c ' no device  ' gpu/table)" -eq "$lines" ] ||
    complain "the table has not each part once"
# Where no part is done, too: a recording that leaves a job out has those of the others.
cmp -s gpu/recorded_seconds.txt "$LAB_SOURCE_DIR/profiles/recorded/seconds.txt" ||
    complain "the seconds of what was recorded are not there"
# The seconds of all parts, of stages and of all; two GPUs record in half the time.
printf 'golden 1 11 an H200, 2026-11-30\n' >seconds
for gpus in 1 2; do
    script env GPU_SECONDS=seconds "$all" --plan "$gpus" "$LAB_BINARY_DIR" plan correct labs
    expect_exit 0
    cp "$out" "plan$gpus"
done
[ "$(grep -c ' s' plan1)" -eq "$(($(cat gpu/table.correct gpu/table.labs | wc -l) + 3))" ] ||
    complain "not each part once: $(cat plan1)"
grep -Eq '^correct +walks +golden +11 s *$' plan1 || complain 'not the seconds that it took'
limit=$(sed -n 's/^ *golden golden \([0-9]*\) .*/\1/p' "$all")
grep -Eq "^correct +walks +golden +$limit s \*\$" plan2 || complain "not its limit of $limit s"
# Each lab's command ends for want of a driver alone; without the CUDA module none starts.
run lab saxpy --backend cuda --db none.db
grep -q 'no CUDA module' "$err" && return 0
script "$all" --rehearse "$LAB_BINARY_DIR" rehearsed labs
expect_exit 0
grep -q 'recorded_labs  *ready' "$out" || complain "labs are not ready"
[ "$(grep -c 'exit code 4: ' rehearsed/recorded_labs.log)" -ge 40 ] ||
    complain "labs were not tried"
! grep -q 'exit code [^4]' rehearsed/recorded_labs.log || complain "a lab's command"
