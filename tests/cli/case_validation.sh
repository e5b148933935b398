# shellcheck shell=sh
# Rows for validation beside those that train and those of the test, and early
# stopping: what the text and the JSON lines say of them.
db=$work/runs.db
lesson small <<'END'
---
format: 1
title: Validation
data: {source: digits, batch: 10, split: 0.9, validation: 0.1}
network:
  - {id: fc1, op: dense, units: 16}
  - {op: relu}
  - {id: fc2, op: dense, units: 10}
loss: {op: softmax_cross_entropy}
optimizer: {op: sgd, lr: 0.5}
run: {epochs: 40, early_stop: 2}
---
Text.
END
few="--backend cpu --no-tune --db $db"
# shellcheck disable=SC2086 # options
{
    exits 0 run small.md $few --json
    # 1797 rows: nine tenths train, less a tenth; N is the size over the batches.
    expect_json 'one("summary")["train_rows"] == 1438' \
        'one("summary")["validation_rows"] == 179' \
        'one("summary")["test_rows"] == 180' \
        'one("summary")["iterations_per_epoch"] == 1438 // 10' \
        'one("summary")["stopped_early"] is True' \
        'one("summary")["iterations"] < 40 * 143' \
        'one("summary")["iterations"] == 143 * len(of("evaluation"))' \
        'all(r["set"] == "validation" for r in of("evaluation"))' \
        'one("summary")["validation_loss_best"] ==
         min(r["loss"] for r in of("evaluation"))' \
        '[r["loss"] for r in of("evaluation")].index(
             one("summary")["validation_loss_best"]) ==
         len(of("evaluation")) - 3' \
        'one("summary")["best_iteration"] == of("evaluation")[-3]["iteration"]' \
        'one("summary")["test_accuracy"] > 0.8' \
        'one("summary")["test_accuracy"] != one("summary")["accuracy"]' \
        'one("summary")["accuracy"] == of("evaluation")[-3]["accuracy"] !=
         of("evaluation")[-1]["accuracy"]'
    run run small.md $few
    expect_stdout 'an epoch is 143 batches of 10: 1438 rows train, 179 are'
    expect_stdout 'stopped early: the validation loss was lowest'
    expect_stdout ': that network is tested and kept'
    # What is kept, tested and asked is the network of the lowest validation loss, bit
    # for bit that of a training which ends there.
    exits 0 run small.md $few --save early.st --json
    expect_json 'one("summary")["network_is_best"] is True'
    n=$(sed -n 's/.*"best_iteration": *\([0-9]*\).*/\1/p' "$out")
    n=$((n + 1))
    mine=$(grep -o '"test_loss": *[0-9.e-]*' "$out")
    exits 0 run small.md $few --iterations $n --save there.st --json
    expect_json 'one("summary")["network_is_best"] is False'
    [ "$mine" = "$(grep -o '"test_loss": *[0-9.e-]*' "$out")" ] ||
        complain 'the test is not of the best network'
    cmp -s early.st there.st || complain 'the best network is not what was kept'
    # So it is where the iterations are over before the patience; one that has not
    # turned keeps the last.
    exits 0 run small.md $few --iterations $((n + 143)) --save over.st --json
    expect_json 'one("summary")["stopped_early"] is False' \
        'one("summary")["network_is_best"] is True'
    cmp -s over.st there.st || complain 'the best network is not what was kept'
    # A training that goes on from a file has that file's network among its own: it
    # keeps a better one, or the same, and counts its evaluations from there.
    for more in 143 1430; do
        exits 0 run small.md $few --continue early.st --iterations $more --save on.st --force
        expect_stdout "after $n iterations: that network is tested and kept"
        expect_stdout "on.st has the network after $n iterations"
        cmp -s on.st early.st || complain 'the network of the file was better'
    done
    expect_stdout 'stopped early: the validation loss was lowest'
    run run small.md $few --continue early.st --json
    expect_json "one('summary')['best_iteration'] == $n - 1" \
        'len(of("evaluation")) == 2' 'one("summary")["network_is_best"] is True' \
        'one("summary")["validation_loss_best"] <
         min(r["loss"] for r in of("evaluation"))'
    sed 's/early_stop: 2/early_stop: 1/; s/lr: 0.5/lr: 0.9/' small.md >hasty.md
    run run hasty.md $few --save hasty.st --json
    best=$(sed -n 's/.*"best_iteration": *\([0-9]*\).*/\1/p' "$out")
    printf '%s\n' train 'save on.st force' quit >words
    "$LAB_EXE" --plain hasty.md $few --continue hasty.st <words >"$out" 2>"$err" ||
        complain "the words: exit $?"
    expect_stdout "after $((best + 1)), in an earlier training; the network is that one"
    grep -q 'again: validation accuracy [0-9.]* % of rows' "$out" ||
        complain 'a loss of no iteration'
    cmp -s on.st hasty.st || complain 'the stepper forgets the network of the file'
    exits 0 run small.md $few --iterations 143 --save last.st
    expect_stdout 'last.st has the network after 143 iterations'
    # The stepper's training has the same network, and reports it.
    printf '%s\n' train 'explain fc2.b[0]' 'back 1' step 'print fc2.b' \
        'save stepped.st' quit >words
    "$LAB_EXE" --plain small.md $few <words >stepped 2>"$err" ||
        complain "the words: exit $?"
    grep -q 'tensor holds .*: they agree,' stepped ||
        complain 'an old value of the best network is another one'
    grep -q "^stepped.st has the network after $n iterations" stepped ||
        complain 'the stepper saves a network of other iterations'
    cmp -s stepped.st early.st || complain 'the stepper saves another network'
    # What is trained from there has no epochs of the way that was left.
    printf '%s\n' train 'train 3' quit >words
    "$LAB_EXE" --plain small.md $few <words >trained_on 2>"$err" ||
        complain "the words: exit $?"
    [ "$(grep -c '^epoch' trained_on)" -eq "$(grep -c '^epoch' stepped)" ] ||
        complain 'three iterations have epochs of an earlier training'
    # The rows of the way that was left go from the store, too.
    "$LAB_EXE" --plain small.md --backend cpu --no-tune --db left.db <words >"$out" 2>"$err" ||
        complain "the words: exit $?"
    "${LAB_PYTHON:-python3}" - left.db "$out" <<'P' || complain 'losses of a way that was left'
import re
import sqlite3
import sys
best = int(re.search(r"after (\d+); the network is that", open(sys.argv[2]).read())[1])
db = sqlite3.connect(sys.argv[1])
rows = [i for i, in db.execute("SELECT iteration FROM loss ORDER BY iteration")]
assert rows == list(range(best + 3)), (best, rows[-5:])
last, = db.execute("SELECT max(iteration) FROM loss WHERE heldLoss IS NOT NULL").fetchone()
assert last == best + 2, (best, last)
P
    # The evaluations that are recorded stay those that were made.
    run run small.md --backend cpu --no-tune --db losses.db --json
    "${LAB_PYTHON:-python3}" - losses.db "$out" <<'P' || complain 'the recorded losses'
import json
import sqlite3
import sys
printed = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
want = [(e["iteration"], e["loss"], e["accuracy"]) for e in printed
        if e["type"] == "evaluation"]
kept = sqlite3.connect(sys.argv[1]).execute(
    "SELECT iteration, heldLoss, accuracy FROM loss WHERE heldLoss IS NOT NULL "
    "ORDER BY iteration").fetchall()
assert kept == want, (kept, want)
P
    grep -q "lowest, 0\.[0-9]*, after $n; the network is that one again" stepped ||
        complain 'the stepper does not go back to the best network'
    printf 'train %s\nexplain fc2.b[0]\nback 1\nstep\nprint fc2.b\nquit\n' "$n" >words
    "$LAB_EXE" --plain small.md $few <words >there 2>"$err" ||
        complain "the words: exit $?"
    grep '^ *fc2\.b\|^ *-\{0,1\}0\.[0-9]' stepped >a
    grep '^ *fc2\.b\|^ *-\{0,1\}0\.[0-9]' there >b
    { [ -s a ] && cmp -s a b; } || complain 'the stepper has another network'
    run run small.md $few
    grep -q '^test: loss 0\.[0-9]*, accuracy [0-9.]* %$' "$out" ||
        complain "no line of the test"

    # The stepper's words.
    printf 'train 143\nquit\n' >words
    "$LAB_EXE" --plain small.md $few <words >"$out" 2>"$err" ||
        complain "the words: exit $?"
    grep -q '^trained 143 iter.* validation accuracy .* % of rows, .* % of the test rows,' \
        "$out" || complain 'not the rows that the stepper evaluates'

    # Where no rows are set apart those that are held back are watched.
    exits 0 run mlp-digits $few --epochs 3 --early-stop 5 --json
    expect_json 'one("summary")["stopped_early"] is False' \
        '"test_accuracy" not in one("summary")' \
        'one("summary")["validation_rows"] == 0' \
        'all("set" not in r for r in of("evaluation"))'

    # What cannot be.
    exits 2 run optimizer-adam $few --early-stop 2
    sed 's/validation: 0.1/validation: 0.0001/' small.md >none.md
    exits 3 run none.md $few
    expect_stderr 'none.md:4:1: validation 0.0001 of 1797 rows leaves 1617'
    sed 's/validation: 0.1/validation: 1/' small.md >all.md
    exits 3 run all.md $few
    expect_stderr 'validation: 1 is not above 0 and below 1'
}

# On the screen too it states which network the numbers are of once it went back.
{
    printf 'resize 200 60\nawait 60000 step 0 of\nkey t\n'
    printf 'await 120000 the network is that one again\n'
    printf 'expect stopped   network of iteration \n'
    printf 'expect validation accuracy, last iteration\nexpect  network \nquit\n'
} >typed
play early-stop --backend cpu --no-tune <typed
expect_exit 0
