#!/bin/sh
# profiles/recorded/make.sh PROGRAM FILE [GPUS] -- makes the runs that ship with
# the program, on the GPUs of the machine that it runs on:
#
#     profiles/recorded/make.sh build/default/bin/lapenna-lab \
#         profiles/recorded/h200.db
#
# Every lab is climbed once, at the sizes of its lesson, and every lesson whose
# data are there runs once with the variants that it runs by default, with
# hardware counters of one iteration, and those of `many` with every other variant
# too. With more than one GPU each takes the next job, alone on its GPU, and their
# files are merged. The file is then made small: one journal, no free pages.
#
# LAB_RECORD_ONLY="gpt lab-lu" records these alone: in FILE they take the place of
# what it had of them. LAB_RECORD_SECONDS is a job's time (120). Lessons took 4
# minutes on an H200, labs 6.
set -u
program=$1
file=$2
gpus=${3:-1}
backend=${LAB_RECORD_ON:-cuda}
many='mlp-digits cnn-example cnn-digits cnn-codelab residual rnn-fibonacci
    lstm-example self-attention multi-head seq2seq-attention transformer-block
    gpt'
variants='naive cublas cudnn fused'
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

# One line a job: what the program is called with. The long ones, labs, come first.
jobs() {
    "$program" lesson list --json |
        sed -n 's/.*"id":"\([^"]*\)","kind":"lab".*/lab \1 --repeat 20/p'
    "$program" lesson list --json |
        sed -n 's/.*"id":"\([^"]*\)","kind":"lesson".*/\1/p' |
        while read -r lesson; do
            # Enough to compare: the first is slower than the others. The calls of
            # the CUDA API are long; the default alone has them.
            run="run $lesson --iterations 24 --counters basic"
            echo "$run"
            case " $(echo $many) " in *" $lesson "*) ;; *) continue ;; esac
            for v in $variants; do
                echo "$run --trace kernels --variant *=$v"
            done
        done
}

# Takes the next job until none is left. A directory can be made only once.
work() {
    db=$parts/$1.db
    export CUDA_VISIBLE_DEVICES="$1"
    # What the GPU can do at best: the roofs of its runs.
    "$program" profile ceilings --backend "$backend" --db "$db"
    n=0
    set -f # *=naive is a word, not files
    while read -r job; do
        n=$((n + 1))
        mkdir "$parts/$n" 2>/dev/null || continue
        # shellcheck disable=SC2086 # a job is words
        if ! timeout -k 5 "${LAB_RECORD_SECONDS:-120}" "$program" $job \
            --backend "$backend" --db "$db" >/dev/null 2>"$parts/$1.said"; then
            echo "left out, or not whole: $job: $(tail -n 1 "$parts/$1.said")"
        fi
    done <"$parts/jobs"
}

# With a list of names: the jobs of these.
chosen() {
    while read -r what lesson rest; do
        case " ${LAB_RECORD_ONLY:-$lesson} " in
        *" $lesson "*) echo "$what $lesson $rest" ;;
        esac
    done
}

jobs | chosen >"$parts/jobs"
if [ -z "${LAB_RECORD_ONLY:-}" ]; then
    rm -f "$file" "$file-wal" "$file-shm"
elif [ -e "$file" ]; then
    cp "$file" "$parts/before.db"
    # shellcheck disable=SC2046 # numbers are words
    set -- $("$program" profile list --json --db "$parts/before.db" |
        while read -r run; do
            for name in $LAB_RECORD_ONLY; do
                case $run in *'"lesson":"'"$name"'"'*)
                    echo "$run" | sed 's/.*"run":\([0-9]*\).*/\1/' ;;
                esac
            done
        done)
    [ $# -eq 0 ] ||
        "$program" profile delete "$@" --db "$parts/before.db" >/dev/null || exit 1
fi
i=0
while [ $i -lt "$gpus" ]; do
    work $i &
    i=$((i + 1))
done
wait
if [ -e "$parts/before.db" ]; then
    "$program" profile merge "$parts"/before.db "$parts"/[0-9]*.db \
        --db "$parts/all.db" || exit 1
elif [ "$gpus" -eq 1 ]; then
    cp "$parts/0.db" "$parts/all.db" || exit 1
    [ ! -e "$parts/0.db-wal" ] || cp "$parts/0.db-wal" "$parts/all.db-wal"
else
    "$program" profile merge "$parts"/[0-9]*.db --db "$parts/all.db" || exit 1
fi
python3 "$(dirname -- "$0")/finish.py" "$parts/all.db" || exit 1
cp "$parts/all.db" "$file"
ls -l "$file"
