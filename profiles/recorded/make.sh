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
# LAB_RECORD_ONLY="gpt lab-lu" records these alone and adds them to FILE;
# LAB_RECORD_SECONDS is a job's time (120).
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
            n=8 # enough to compare: the first is slower than the others
            echo "run $lesson --iterations $n --counters basic"
            case " $(echo $many) " in *" $lesson "*) ;; *) continue ;; esac
            for v in $variants; do
                echo "run $lesson --iterations $n --counters basic --variant *=$v"
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
# Lessons are found below the data, wherever that is; these runs are the file's
# own, from wherever they were merged.
python3 - "$parts/all.db" <<'P' || exit 1
import sqlite3, sys
d = sqlite3.connect(sys.argv[1], isolation_level=None)
d.execute("""UPDATE run SET lessonPath =
             substr(lessonPath, instr(lessonPath, 'lessons/'))
             WHERE instr(lessonPath, 'lessons/') > 0""")
d.execute("""UPDATE sweep_row SET reason =
             substr(reason, instr(reason, 'lessons/'))
             WHERE instr(reason, '/lessons/') > 0""")
# Lessons whose data do not ship have nothing to show in a sweep of all.
d.execute("DELETE FROM sweep_row WHERE reason LIKE '%: has no file %'")
d.execute("UPDATE run SET importedFrom = NULL, imported = NULL")
# Which of the GPUs it was stays told apart; their serial numbers are their owner's.
gpus = [u for (u,) in d.execute("""SELECT uuid FROM TARGET_INFO_GPU UNION
        SELECT uuid FROM ceiling UNION SELECT uuid FROM lab_tuned""") if u]
for n, uuid in enumerate(sorted(gpus), 1):
    for table in "TARGET_INFO_GPU", "ceiling", "lab_tuned":
        d.execute(f"UPDATE {table} SET uuid = ? WHERE uuid = ?",
                  (f"GPU-00000000-0000-0000-0000-{n:012d}", uuid))
d.execute("PRAGMA journal_mode = DELETE")
d.execute("VACUUM")
P
cp "$parts/all.db" "$file"
ls -l "$file"
