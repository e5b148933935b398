# shellcheck shell=sh
# A restart ends the run: one run is one walk from one seed.
inline_lesson small

# plain TEXT: TEXT are the commands, a line each.
plain() {
    command=" --plain small.md <<'$1'"
    status=0
    rm -f runs.db
    printf '%b' "$1" | timeout 300 "$LAB_EXE" --plain small.md --backend cpu \
        --db runs.db >"$out" 2>"$err" || status=$?
    expect_exit 0
    expect_no_stderr
}
# losses RUN: its iterations and losses.
losses() {
    exits 0 profile show "$1" --json --db runs.db
    grep '"type":"loss"' "$out" | sed 's/"run":[0-9]*,//'
}

plain 'train 3\nseed 99\ntrain 2\nrestart\ntrain 2\n'
expect_stdout 'recorded as run 3'
run profile list --json --db runs.db
expect_json 'len(of("run")) == 3' \
    'sorted((r["run"], r["seed"]) for r in rows) == [(1, 7), (2, 99), (3, 99)]' \
    'all(r["status"] == "done" for r in rows)' \
    'sorted((r["run"], r["iterations"]) for r in rows) == [(1, 3), (2, 2), (3, 2)]'
for n in 1 2 3; do
    losses "$n" >"losses$n"
done
[ "$(wc -l <losses1)" -eq 3 ] || complain "run 1 has three losses"
[ "$(wc -l <losses2)" -eq 2 ] || complain "run 2 has two losses"
cmp -s losses2 losses3 || complain "the same seed gives the same losses"
head -n 2 losses1 | cmp -s - losses2 && complain "two seeds, the same losses"

# Nothing was finished: cancelled. Nothing ran: no run.
plain 'step 2\nrestart\nrestart\n'
expect_stdout 'recorded as run 1'
run profile list --json --db runs.db
expect_json 'one("run")["status"] == "cancelled"'

# The new run has the variants that hold now.
plain 'continue\nvariant fc1 blas\nrestart\ncontinue\n'
run profile list --json --db runs.db
expect_json \
    '[r["variants"] for r in sorted(rows, key=lambda r: r["run"])] == [None, "fc1=blas"]'
