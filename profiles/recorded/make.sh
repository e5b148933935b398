#!/bin/sh
# profiles/recorded/make.sh PROGRAM FILE [GPUS] -- makes the runs that ship with
# the program, on the GPUs of the machine that it runs on:
#
#     profiles/recorded/make.sh build/default/bin/lapenna-lab \
#         profiles/recorded/h200.db
#
# Every lab is climbed once, at the sizes of its lesson, with hardware counters of
# every variant. Three have too many kernels or too large ones for that: they are climbed
# without, and again with counters at their small sizes. Every lesson runs once with the variants that
# it runs by default; where it trains and has products also with `naive` and `cublas`,
# without counters; those of `many` with all of `variants`, with counters, and three for
# long and without a trace, for joules an iteration. With more than one GPU each takes
# the next job, alone on its GPU, and their files are merged. The file is then made small: one journal, no free pages, no run that did not end.
#
# Two labs have figures of the course's CPU. All of their sizes on this machine's, by the library
# on all cores, are a kind of its own: a GPU is not kept waiting for it, and LU's take
# five minutes or more.
#
#     LAB_RECORD_KIND=labs      labs alone, lessons, or cpu (all: labs and lessons)
#     LAB_RECORD_ONLY="gpt lab-lu"  these alone
#     LAB_RECORD_SECONDS=240    a job's time (1500 of the kind cpu)
#     LAB_RECORD_LIMIT=500      seconds after which no job begins (none)
#     LAB_RECORD_TIMES=FILE     seconds that a job took, and the job: labs begin with the
#                               longest, and those of a job that is done are put in
#                               (read alone: seconds.txt beside this script)
#     LAB_RECORD_JOBS=1         prints the jobs and makes nothing
#     LAB_RECORD_PLAN=1         prints the seconds that they take on GPUS, by these times
#
# With one of the first two and a FILE that is there, a run takes the place of the old one
# of the same job: the same lab and sizes, or the same lesson, variants and trace, with or
# without counters. Where no job of a lab or a lesson is left out, all old runs of it go:
# FILE has what it would have if it were made from nothing, but for runs of a CPU beside
# those of a GPU. The old run of a job that is left out stays, under its number; a new run
# has a new one. Exit code: 0 every job is in FILE, 1 jobs are
# left out (they are listed; FILE has the others, and is not made where there is none),
# 2 wrong usage.
set -u
if [ $# -lt 2 ] || [ $# -gt 3 ]; then
    echo "usage: $0 PROGRAM FILE [GPUS]" >&2
    exit 2
fi
program=$1
file=$2
gpus=${3:-1}
here=$(dirname -- "$0")
backend=${LAB_RECORD_ON:-cuda}
kind=${LAB_RECORD_KIND:-all}
most=240
case $kind in
labs | lessons | all) ;;
cpu)
    backend=cpu
    most=1500
    ;;
*)
    echo "$0: LAB_RECORD_KIND is labs, lessons, cpu or all" >&2
    exit 2
    ;;
esac
begin=$(date +%s)
most=${LAB_RECORD_SECONDS:-$most}
times=${LAB_RECORD_TIMES:-$here/seconds.txt}
[ -e "$times" ] || times=/dev/null
many="mlp-digits cnn-example cnn-digits cnn-codelab residual rnn-fibonacci \
lstm-example self-attention multi-head seq2seq-attention transformer-block gpt"
variants='naive cublas cudnn fused tf32x3'
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
trap 'exit 1' INT TERM

listed() { # lab|lesson: ids
    "$program" lesson list --json |
        sed -n 's/.*"id":"\([^"]*\)","kind":"'"$1"'".*/\1/p'
}

is_in() { # WORD LIST
    case " $2 " in *" $1 "*) ;; *) return 1 ;; esac
}

# One line a job: what the program is called with.
lab_jobs() {
    for lab in $(listed lab); do
        lab_job="lab $lab --backend $backend --repeat 20"
        case $lab in
        # They record nothing, and cuDNN's calls are a GPU's.
        lab-hello | lab-index | lab-scalar-add | lab-vectors) ;;
        lab-cudnn-calls) echo "lab $lab" ;;
        # A table and sweeps of networks have no counters.
        lab-autotune | lab-batch-size | lab-network-size | lab-products | lab-backward)
            echo "$lab_job" ;;
        # Tens of thousands of kernels: each is launched again for every pass.
        lab-lu)
            echo "$lab_job"
            echo "$lab_job --counters basic --sizes 123,1000"
            ;;
        lab-batched)
            echo "$lab_job"
            echo "$lab_job --counters basic --sizes 300x32,300x128,300x256,50x128,50x512"
            ;;
        # Counting takes 11 to 12 ps for each multiply-add of our kernels on an H200: at
        # 12000 20 s a variant.
        lab-gflops)
            echo "$lab_job"
            echo "$lab_job --counters basic --sizes 2000,4000,6000"
            ;;
        *) echo "$lab_job --counters basic" ;;
        esac
    done
    # A ladder without a lesson, the third of the course's testers.
    echo "lab gesv --backend $backend --repeat 20 --counters basic"
}

cpu_jobs() {
    for lab in lab-dgemm lab-lu; do
        echo "lab $lab --backend cpu --variants threads --sizes all"
    done
}

# The CPU's list of variants has these where there are products.
has_products() {
    "$program" step "$1" --backend cpu --db "$parts/list.db" --variant '*=?' \
        2>&1 >/dev/null | grep -qE ' (blas|rows),'
}

# The other lessons' variants come last, should the time end.
lesson_jobs() {
    for lesson in $(listed lesson); do
        # Enough to compare: the first is slower than the others. The calls of the
        # CUDA API are long; the default alone has them.
        run="run $lesson --backend $backend --iterations 24"
        echo "$run --counters basic"
        for v in $variants; do
            ! is_in "$lesson" "$many" ||
                echo "$run --counters basic --trace kernels --variant *=$v"
        done
        # Their energy is known where they take a second.
        case $lesson in
        mlp-digits) long_run=30000 ;;
        cnn-digits) long_run=8000 ;;
        gpt) long_run=2000 ;;
        *) continue ;;
        esac
        echo "run $lesson --backend $backend --iterations $long_run --trace off"
    done
    "$program" lesson list --json |
        sed -n 's/.*"id":"\([^"]*\)","kind":"lesson".*"path":"\([^"]*\)".*/\1 \2/p' |
        while read -r lesson path; do
            ! is_in "$lesson" "$many" || continue
            is_in "$lesson" "${LAB_RECORD_ONLY:-$lesson}" || continue
            grep -q '^optimizer:' "$path" || continue
            has_products "$lesson" || continue
            for v in naive cublas; do
                echo "run $lesson --backend $backend --iterations 24 --trace kernels --variant *=$v"
            done
        done
}

# Seconds before each job: as `times` has it, else as many as a job may take.
timed() {
    awk -v most="$most" 'FILENAME != "-" { t = $1; sub(/^[^ ]+ /, ""); of[$0] = t; next }
        { print ($0 in of ? of[$0] : most), $0 }' "$times" -
}

# With a list of names: the jobs of these.
chosen() {
    while read -r what lesson rest; do
        ! is_in "$lesson" "${LAB_RECORD_ONLY:-$lesson}" ||
            echo "$what $lesson${rest:+ $rest}"
    done
}

# Seconds that a job may take: 0, and it does not begin.
time_for_job() {
    can=$most
    if [ -n "${LAB_RECORD_LIMIT:-}" ]; then
        left=$((LAB_RECORD_LIMIT - $(date +%s) + begin))
        [ "$left" -ge "$can" ] || can=$left
        [ "$can" -gt 1 ] || can=0
    fi
    echo "$can"
}

# Takes the next job until none is left. A directory can be made only once.
work() {
    db=$parts/$1.db
    export CUDA_VISIBLE_DEVICES="$1"
    # What the GPU can do at best: the roofs of its runs.
    [ "$(time_for_job)" -eq 0 ] ||
        "$program" profile ceilings --backend "$backend" --db "$db" \
            >"$parts/$1.errors" 2>&1 ||
        echo "GPU $1 has no roofs: $(tail -n 1 "$parts/$1.errors")"
    n=0
    set -f # *=naive is a word, not files
    while read -r job; do
        n=$((n + 1))
        mkdir "$parts/$n" 2>/dev/null || continue
        seconds=$(time_for_job)
        why='no time was left'
        if [ "$seconds" -gt 0 ]; then
            status=0
            from=$(date +%s%N)
            # shellcheck disable=SC2086 # a job is words
            timeout -k 5 "$seconds" "$program" $job --db "$db" </dev/null \
                >/dev/null 2>"$parts/$1.errors" || status=$?
            if [ "$status" -eq 0 ]; then
                # In tenths of a second.
                took=$((($(date +%s%N) - from) / 100000000))
                echo "$((took / 10)).$((took % 10)) $job" >>"$parts/took"
                echo "$job" >>"$parts/made"
                continue
            fi
            why="exit code $status: $(tail -n 1 "$parts/$1.errors")"
        fi
        echo "$job: $why" >>"$parts/left"
    done <"$parts/jobs"
}

{
    case $kind in labs | all) lab_jobs | timed | sort -s -k1,1nr ;; esac
    case $kind in lessons | all) lesson_jobs | timed ;; esac
    case $kind in cpu) cpu_jobs | timed ;; esac
} >"$parts/all"
cut -d' ' -f2- "$parts/all" | chosen >"$parts/jobs"
if [ -n "${LAB_RECORD_JOBS:-}" ]; then
    cat "$parts/jobs"
    exit 0
fi
if [ -n "${LAB_RECORD_PLAN:-}" ]; then
    # Each job begins on the GPU that is free first.
    timed <"$parts/jobs" | awk -v gpus="$gpus" '{
            first = 1
            for (g = 2; g <= gpus; g++) if (busy[g] < busy[first]) first = g
            busy[first] += $1; if (busy[first] > end) end = busy[first] }
        END { printf "%.0f\n", end }'
    exit 0
fi
: >"$parts/left"
: >"$parts/made"
i=0
while [ $i -lt "$gpus" ]; do
    work $i &
    i=$((i + 1))
done
wait
count=$(wc -l <"$parts/jobs")
made=$(wc -l <"$parts/made")
sort "$parts/left"
echo "$made of $count jobs recorded in $(($(date +%s) - begin)) s"
[ "$made" -gt 0 ] || exit 1

if [ "$kind${LAB_RECORD_ONLY:-}" != all ] && [ -e "$file" ]; then
    # A merge gives new numbers to what comes, and leaves those that are there.
    cp "$file" "$parts/all.db"
    # shellcheck disable=SC2046 # numbers are words
    set -- $(python3 "$here/runs_of.py" "$parts/all.db" "$parts/made" \
        "$parts/left" "$parts"/[0-9]*.db)
    [ $# -eq 0 ] ||
        "$program" profile delete "$@" --db "$parts/all.db" >/dev/null || exit 1
fi
# Of what comes only runs that ended; one that FILE has is there on purpose.
for part in "$parts"/[0-9]*.db; do
    # shellcheck disable=SC2046 # numbers are words
    set -- $("$program" profile list --json --db "$part" |
        sed -n '/"status":"done"/!s/.*"run":\([0-9]*\),.*/\1/p')
    [ $# -eq 0 ] || "$program" profile delete "$@" --db "$part" >/dev/null || exit 1
done
"$program" profile merge "$parts"/[0-9]*.db --db "$parts/all.db" || exit 1
python3 "$here/finish.py" "$parts/all.db" || exit 1
cp "$parts/all.db" "$file" || exit 1
ls -l "$file"
if [ -n "${LAB_RECORD_TIMES:-}" ]; then
    # The last of a job counts; the longest first.
    awk '{ t = $1; sub(/^[^ ]+ /, ""); of[$0] = t } END { for (j in of) print of[j], j }' \
        "$times" "$parts/took" | sort -k1,1nr -k2 >"$parts/times"
    cp "$parts/times" "$LAB_RECORD_TIMES" || exit 1
fi
[ "$made" -eq "$count" ]
