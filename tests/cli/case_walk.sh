# shellcheck shell=sh
# The default walk: every step by name with its text, one run that holds the
# walked iteration and the training.
run --db kept.db
expect_exit 0
expect_no_stderr
expect_no_escape
cp "$out" walk
expect_stdout 'A network with a hidden layer, on handwritten digits'
expect_stdout 'kept in kept.db'
expect_stdout 'lapenna-lab profile show 1 --db kept.db'
expect_stdout 'epoch 5   mean loss'
# Of the digits that are held back, nine of ten after five epochs.
awk '/^  epoch 5 / { if ($(NF - 2) > 90) good = 1 } END { exit !good }' walk ||
    complain "it has not learned"

run step mlp-digits --json --db other.db
sed -n 's/.*"type": *"step".*"name": *"\([^"]*\)".*/\1/p' "$out" |
    sort -u >missing
grep -o '"name":"[^"]*","node"' "$out" | cut -d'"' -f4 | sort -u >names
[ "$(wc -l <names)" -ge 10 ] || complain "too few steps"
cp walk "$out"
while read -r name; do
    expect_stdout ". $name  ("
done <names

run profile list --json --db kept.db
expect_json 'len(of("run")) == 1' 'one("run")["status"] == "done"' \
    'one("run")["iterations"] == 5 * 143' \
    'one("run")["loss_last"] < one("run")["loss_first"]' \
    'one("run")["accuracy"] > 0.9'
run profile show 1 --json --db kept.db
expect_json 'all(s["count"] > 1 for s in of("step"))'

# The common options apply.
run --epochs 1 --seed 3 --batch 20 --backend cpu --db kept.db
expect_exit 0
expect_stdout 'seed 3, batch 20'
expect_stdout 'epoch 1   mean loss'
if grep -q 'epoch 2' "$out"; then
    complain "one epoch was asked for"
fi
run --iterations 1 --db kept.db
expect_exit 0
expect_stdout '1 iteration on cpu'

# A reader that leaves early ends it without a word.
for lines in 1 50; do
    "$LAB_EXE" --db head.db 2>"$err" </dev/null | head -n "$lines" >"$out"
    command=" | head -n $lines"
    expect_no_stderr
    [ "$(wc -l <"$out")" -eq "$lines" ] || complain "not $lines lines"
done
"$LAB_EXE" --plain --db head.db 2>"$err" </dev/null | head -n 1 >"$out"
expect_no_stderr
