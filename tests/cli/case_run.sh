# shellcheck shell=sh
# `run --json`, and what is found of it in the store.
inline_lesson small
db=$work/kept.db
run run small.md --json --backend cpu --iterations 5 --db "$db"
expect_exit 0
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

run profile list --json --db "$db"
expect_exit 0
expect_json 'len(of("run")) == 2' 'rows[0]["run"] != rows[1]["run"]' \
    'all(r["backend"] == "cpu" and r["lesson"] and r["started"] for r in rows)'
id=$(sed -n '1s/.*"run": *"\{0,1\}\([^",}]*\).*/\1/p' "$out")
run profile show "$id" --db "$db"
expect_exit 0
expect_stdout fc1.matmul
run profile show "$id" --json --db "$db"
expect_exit 0
expect_json
run profile kernels "$id" --json --db "$db"
expect_exit 0
expect_json 'all(r["type"] == "kernel" for r in rows)'
run profile delete "$id" --db "$db"
expect_exit 0
run profile list --json --db "$db"
expect_json 'len(of("run")) == 1' "str(rows[0]['run']) != '$id'"
for how in show kernels delete; do
    run profile "$how" "$id" --db "$db"
    expect_exit 3
done

# Without --db the store is where the XDG specification has it; a value that
# is not absolute is ignored.
run run small.md --json --backend cpu --iterations 2
expect_exit 0
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
print("epoch 1  mean loss %.6g  held back" % (sum(loss) / len(loss)))
' "$out")
run run mlp-digits --backend cpu --epochs 1 --db "$db"
expect_stdout "$mean"
