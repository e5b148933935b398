# shellcheck shell=sh
# --lr and the stepper's `lr`: another learning rate than the lesson's is what
# trains, and it is in the run's record, its lists and its comparisons.
inline_lesson small
db=$work/runs.db
rate=$(sed -n 's/^optimizer:.*lr: \([0-9.]*\).*/\1/p' small.md)
[ -n "$rate" ] || complain "the lesson has no learning rate"
sed "s/lr: $rate/lr: 0.375/" small.md >other.md

# losses RUN
losses() {
    exits 0 profile show "$1" --json --db "$db"
    grep '"type":"loss"' "$out" | sed 's/"run":[0-9]*,//'
}

# The same bits as a lesson with that rate.
exits 0 run small.md --iterations 4 --backend cpu --db "$db" --json --lr 0.375
expect_json 'one("summary")["learning_rate"] == 0.375'
run run other.md --iterations 4 --backend cpu --db "$db"
exits 0 run small.md --iterations 4 --backend cpu --db "$db"
for n in 1 2 3; do
    losses "$n" >"losses$n"
done
run profile show 2 --json --db "$db"
expect_json 'one("run")["optimizer"] == "sgd"' \
    'one("run")["rate_schedule"] == "constant"' 'one("run")["validation"] == 0' \
    'one("run")["memory_peak_bytes"] > 1 << 20' '0 < one("run")["utilization_pct"]' \
    '[r["learning_rate"] for r in of("loss")] == [.375] * 4'
[ -s losses1 ] || complain "no loss was recorded"
cmp -s losses1 losses2 || complain "--lr 0.375 is not lr: 0.375"
cmp -s losses1 losses3 && complain "--lr changes nothing"
run profile list --json --db "$db"
expect_json "sorted((r['run'], r['learning_rate'], r['lesson_learning_rate'])
        for r in rows) ==
        [(1, 0.375, $rate), (2, 0.375, 0.375), (3, $rate, $rate)]"
run profile list --db "$db"
[ "$(grep -c 'lr 0' "$out")" -eq 1 ] || complain "only run 1 had another rate"
run profile show 1 --db "$db"
grep -q "^learning rate  *0\.375 (the lesson: $rate)\$" "$out" ||
    complain "not both rates"
run profile show 3 --db "$db"
grep -q "^learning rate  *$rate\$" "$out" || complain "the lesson's own rate"
run profile compare 1 3 --db "$db"
grep -q "^learning rate *0\.375 *$rate" "$out" ||
    complain "compare does not show the rates"
run profile export 1 --format html --db "$db" --output -
expect_stdout "0.375 (the lesson: $rate)"

# A copy has them; of an older file they are unknown, and no difference.
run profile import "$db" --db "$work/copy.db"
run profile list --json --db "$work/copy.db"
expect_json "max(r['learning_rate'] for r in rows) == 0.375"
sql "$db" 'UPDATE run SET learningRate = NULL, lessonLearningRate = NULL
    WHERE id = 3' || complain "the row could not be changed"
run profile compare 1 3 --db "$db"
grep -q '^learning rate' "$out" && complain "unknown is no other rate"

# One iteration, and the plain stepper.
run step small.md --lr 0.375 --json --backend cpu
expect_json 'one("run")["learning_rate"] == 0.375'
rm -f "$db"
printf 'lr\ntrain 2\nrestart lr=0.5\nlr\nlr 0\ntrain 2\nlr 0.25\ntrain 1\n' >words
timeout 120 "$LAB_EXE" --plain small.md --backend cpu --db "$db" --lr 0.375 \
    <words >"$out" 2>"$err" || complain "the words of lr: exit $?"
run profile list --json --db "$db"
expect_json 'sorted((r["run"], r["iterations"], r["learning_rate"])
        for r in rows) == [(1, 2, 0.375), (2, 3, 0.5)]'
