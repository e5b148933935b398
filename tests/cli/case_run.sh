# shellcheck shell=sh
# `run --json`, and what is found of it in the store.
inline_lesson small
db=$work/kept.db
exits 0 run small.md --json --backend cpu --iterations 5 --db "$db"
expect_no_stderr
expect_json 'len(of("iteration")) == 5' \
    '[r["iteration"] for r in of("iteration")] in
     ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5])' \
    'rows[-1]["type"] == "summary"' \
    'one("summary")["iterations"] == 5' \
    'one("summary")["loss_first"] == of("iteration")[0]["loss"]' \
    'one("summary")["loss_last"] == of("iteration")[-1]["loss"]' \
    'one("summary")["loss_last"] < one("summary")["loss_first"]' \
    '{"run", "accuracy", "samples_per_s", "step_ms_median"} <=
     set(one("summary"))'
expect_file "$db"
cp "$out" first
run run small.md --json --backend cpu --iterations 5 --db "$db"
expect_json "FILE2=$work/first" 'same(rows, other)'

# More threads than cores: allowed, and stated.
run run small.md --json --backend cpu --iterations 1 --threads 256 --db threads.db
expect_exit 0
[ "$(nproc)" -ge 256 ] || expect_stderr '--threads 256: more than the '
run run small.md --json --backend cpu --iterations 1 --threads 1 --db threads.db
expect_no_stderr

# Whole lines are written: whatever a reader gets ends with one, also of a training that
# is faster than its reader.
"${LAB_PYTHON:-python3}" - "$LAB_EXE" "$work/flushed.db" <<'END' ||
import os, subprocess, sys
run = subprocess.Popen([sys.argv[1], "run", "small.md", "--json", "--backend", "cpu",
                        "--iterations", "2000", "--db", sys.argv[2]],
                       stdout=subprocess.PIPE, bufsize=0)
reads = list(iter(lambda: os.read(run.stdout.fileno(), 1 << 16), b""))
assert run.wait() == 0 and b"".join(reads).count(b"\n") >= 2001
sys.exit(sum(not part.endswith(b"\n") for part in reads))
END
    complain "a reader of run --json gets parts of lines"

# Without classes an evaluation has a loss and no accuracy: both losses are kept.
exits 0 run rnn-fibonacci --json --backend cpu --epochs 2 --db "$work/classless.db"
last=$(sed -n 's/.*"loss_last":\([^,]*\),.*/\1/p' "$out")
kept=$("${LAB_PYTHON:-python3}" -c 'import sqlite3, sys
loss, held, accuracy = sqlite3.connect(sys.argv[1]).execute(
    "SELECT loss, heldLoss, accuracy FROM loss WHERE iteration = 11").fetchone()
print(loss == float(sys.argv[2]) and held is not None and held != loss
      and accuracy is None)' "$work/classless.db" "$last")
[ "$kept" = True ] || complain "the last row of the losses is not the run's"

# The rate is of all iterations, the time beside it of the median one.
exits 0 run small.md --backend cpu --iterations 5 --db "$work/other.db"
grep -q '^[0-9]* samples/s on average, [0-9.]* [num]*s an iteration (median)' \
    "$out" || complain "which rate it is is not reported"

exits 0 profile list --json --db "$db"
expect_json 'len(of("run")) == 2' 'rows[0]["run"] != rows[1]["run"]' \
    'all(r["backend"] == "cpu" and r["lesson"] and r["started"] for r in rows)'
id=$(sed -n '1s/.*"run": *"\{0,1\}\([^",}]*\).*/\1/p' "$out")
exits 0 profile show "$id" --db "$db"
expect_stdout fc1.matmul
exits 0 profile show "$id" --json --db "$db"
expect_json
exits 0 profile kernels "$id" --json --db "$db"
expect_json 'all(r["type"] == "kernel" for r in rows)'
exits 0 profile delete "$id" --db "$db"
run profile list --json --db "$db"
expect_json 'len(of("run")) == 1' "str(rows[0]['run']) != '$id'"
for how in show kernels delete; do
    exits 3 profile "$how" "$id" --db "$db"
done

# Without --db the store is where the XDG specification has it; a value that
# is not absolute is ignored.
exits 0 run small.md --json --backend cpu --iterations 2
expect_file "$XDG_STATE_HOME/lapenna-lab/profiles.db"
XDG_STATE_HOME=relative
run run small.md --json --iterations 2
expect_file "$HOME/.local/state/lapenna-lab/profiles.db"
[ ! -e relative ] || complain "a relative XDG_STATE_HOME was used"

# The text's loss of an epoch is the mean of its iterations, not the last one's.
run run mlp-digits --json --backend cpu --epochs 1 --db "$db"
mean=$(python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
loss = [r["loss"] for r in rows if r["type"] == "iteration"]
print("epoch 1   mean loss %-9.6g  validation: loss" % (sum(loss) / len(loss)))
' "$out")
run run mlp-digits --backend cpu --epochs 1 --db "$db"
expect_stdout "$mean"

# --help of a command lists what does something there.
lists() { # THERE NOT-THERE, of the --help that ran
    expect_exit 0
    for word in $1; do
        grep -q -e "^ *--$word\\>" "$out" || complain "--$word is not listed"
    done
    for word in $2; do
        if grep -q -e "--$word\\>" "$out"; then
            complain "--$word is listed"
        fi
    done
}
run run --help
lists 'epochs sample near no-graph graph-nodes lr json' \
    'npy tensors plain color no-mouse'
run step --help
lists 'npy tensors lr json' 'epochs sample near no-graph plain color no-mouse'
run small.md --help
lists 'plain color no-mouse epochs sample lr' \
    'npy tensors near no-graph graph-nodes json'
words=$(grep -o -e '^ *--[a-z-]*' "$out" | grep -v -e --usage)
for word in $words; do
    "$LAB_EXE" --help | grep -q -e "$word\\>" ||
        complain "$word is not in the program's own --help"
done
# What is common to all is taken all the same, what is one command's is not.
exits 0 run small.md --iterations 1 --plain --color never --db "$db"
exits 2 run small.md --iterations 1 --npy tensors --db "$db"
[ ! -e tensors ] || complain "run made a directory of tensors"
