#!/bin/sh
# profiles/recorded/make.sh PROGRAM FILE -- makes the runs that ship with the
# program, on the GPU of the machine that it runs on:
#
#     profiles/recorded/make.sh build/default/bin/lapenna-lab \
#         profiles/recorded/h200.db
#
# Every lab is climbed once, at the sizes of its lesson. Then every lesson whose
# data are there runs once with the variants that it runs by default, and those
# of `many` with every other variant too; hardware counters of one iteration. The
# file is then made small: one journal, no free pages.
set -u
program=$1
file=$2
many='mlp-digits cnn-example cnn-digits cnn-codelab residual rnn-fibonacci
    lstm-example self-attention multi-head seq2seq-attention transformer-block
    gpt'
variants='naive cublas cudnn fused'

record() {
    if ! "$program" run "$@" --backend cuda --counters basic --db "$file" \
        >/dev/null 2>"$file.said"; then
        echo "left out: $*: $(tail -1 "$file.said")"
    fi
}

rm -f "$file" "$file-wal" "$file-shm"
# What the GPU can do at best: the roofs of its runs.
"$program" profile ceilings --backend cuda --db "$file"
# Every lab once, as it is; what a lab screen shows where there is no GPU.
"$program" lesson list --json |
    sed -n 's/.*"id":"\([^"]*\)","kind":"lab".*/\1/p' |
    while read -r lab; do
        if ! timeout 120 "$program" lab "$lab" --backend cuda --repeat 20 --db "$file" \
            >"$file.rows" 2>"$file.said"; then
            echo "left out, or not whole: lab $lab: $(tail -1 "$file.said")"
        fi
    done
"$program" lesson list --json |
    sed -n 's/.*"id":"\([^"]*\)","kind":"lesson".*/\1/p' |
    while read -r lesson; do
        case $lesson in mlp-digits | cnn-digits) n=3 ;; *) n=1 ;; esac
        record "$lesson" --iterations $n
        case " $(echo $many) " in *" $lesson "*) ;; *) continue ;; esac
        for v in $variants; do
            record "$lesson" --iterations 1 --variant "*=$v"
        done
    done
rm -f "$file.said" "$file.rows"
sqlite3 "$file" 'PRAGMA journal_mode = DELETE; VACUUM;' >/dev/null 2>&1 ||
    python3 - "$file" <<'P'
import sqlite3, sys
d = sqlite3.connect(sys.argv[1], isolation_level=None)
d.execute("PRAGMA journal_mode = DELETE")
d.execute("VACUUM")
P
ls -l "$file"
