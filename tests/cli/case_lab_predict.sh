# shellcheck shell=sh
# Predictions: in words, asked for on a terminal, kept, and held against what
# was measured.
on_terminal() { # ARG... of pty_run.py
    command=" $* (on a terminal)"
    status=0
    "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" "$@" >"$out" 2>"$err" \
        </dev/null || status=$?
}

exits 0 lab gemm --backend cpu --sizes 33,40 --repeat 20 --db predicted.db --json \
    --predict 'naive=0.5:memory:25%,rows@40=3ms,best=2TFLOP/s'
expect_json 'of("lab_row")[0]["rate_predicted"] == 0.5e9' \
    'of("lab_row")[0]["bound_predicted"] == "memory"' \
    'of("lab_row")[0]["occupancy_predicted_pct"] == 25' \
    'of("lab_row")[0]["bound"] in ("memory", "compute", "latency", "cache")' \
    'abs(of("lab_row")[0]["speed_over_predicted"] * 0.5e9 / of("lab_row")[0]["rate"] - 1) < 1e-9' \
    'of("lab_row")[1]["rate_predicted"] is None' \
    'of("lab_row")[1]["speed_over_predicted"] is None' \
    'all(abs(r["rate_predicted"] * 3e-3 / (2 * 40 ** 3) - 1) < 1e-9 and abs(r["speed_over_predicted"] * r["median_ns"] / 3e6 - 1) < 1e-9 for r in of("lab_row") if (r["variant"], r["size"]) == ("rows", "40"))'
predicted=$(sql predicted.db 'SELECT rung, size, rate, time_ns, bound, occupancy_pct
    FROM lab_said ORDER BY place')
[ "$predicted" = 'naive||500000000.0||memory|25.0
rows|40||3000000.0||
best||2000000000000.0|||' ] || complain "lab_said holds: $predicted"

# They go along with a copy, and go with their run.
exits 0 profile import predicted.db --db copy.db
[ "$(sql copy.db 'SELECT count(*) FROM lab_said')" = 3 ] ||
    complain "the copy lacks the predictions"
exits 0 profile delete 1 --db copy.db
[ "$(sql copy.db 'SELECT count(*) FROM lab_said')" = 0 ] ||
    complain "a prediction outlives its run"

exits 0 lab gemm --backend cpu --sizes 33 --repeat 20 --predict 'naive=1e-6,best=9P'
expect_stdout 'you predicted'
grep -q '  naive: .* times as fast as you predicted' "$out" ||
    complain "how far off naive was is not reported"
grep -q '  the fastest, .* times as slow as you predicted' "$out" ||
    complain "how far off the fastest was is not reported"

# Asked for on a terminal: nonsense is asked again, an empty line is no idea.
on_terminal --say fast --say '2 memory' --say '' --say 50 "$LAB_EXE" \
    lab saxpy --backend cpu --sizes 1000 --repeat 20 --predict ask --db asked.db
expect_exit 0
expect_stdout 'fast is no prediction'
grep -q '  plain: .*bound by .* you predicted' "$out" ||
    complain "what bounds plain is not compared with the prediction"
[ "$(sql asked.db 'SELECT rung, rate, bound FROM lab_said ORDER BY place')" = \
    'plain|2000000000.0|memory
best|50000000000.0|' ] || complain "asked.db holds something else"
# The end of input ends asking, and the ladder runs.
on_terminal --say "$(printf '\004')" "$LAB_EXE" lab saxpy --backend cpu \
    --sizes 1000 --repeat 20 --predict ask
expect_exit 0
# A terminal gets pictures, a pipe only when it asks.
expect_stdout 'size 1000, 0 to'
exits 0 lab saxpy --backend cpu --sizes 1000,2000 --repeat 20
grep -q 'against the size' "$out" && complain "a pipe got pictures"
exits 0 lab saxpy --backend cpu --sizes 1000,2000 --repeat 20 --chart --ascii
expect_ascii
expect_stdout 'GB/s against the size'

# An earlier run on another backend is shown beside it: here a run of
# the CPU that is recorded as a GPU's.
exits 0 lab saxpy --backend cpu --sizes 1000,4000 --repeat 20 --db both.db
sql both.db "UPDATE run SET device = 'A GPU', backend = 'cuda';
    UPDATE lab_row SET rung = 'fours' WHERE rung = 'plain'" || complain "the earlier run could not be made"
exits 0 lab saxpy --backend cpu --sizes 1000,4000 --repeat 20 --db both.db --chart
expect_stdout 'measured on A GPU, run 1'
grep -q '^fours  *fp32' "$out" || complain "the other run's variants are missing"
expect_stdout 'best of GPU'

# A run whose predictions cannot be kept is none; without --db the lab goes on.
cp predicted.db full.db
sql full.db 'DROP TABLE lab_said; CREATE TABLE lab_said (runId INTEGER,
    place INTEGER, rung TEXT, precision TEXT, size TEXT, rate REAL, time_ns REAL,
    bound TEXT, occupancy_pct REAL, CONSTRAINT no_room CHECK (rate IS NULL))'
runs=$(sql full.db 'SELECT count(*) FROM run')
run lab gemm --backend cpu --sizes 33 --repeat 20 --variants naive --db full.db \
    --predict naive=2G
[ "$status" -ne 0 ] || complain "exit code 0, and not all was recorded"
expect_stderr 'no_room'
[ "$(sql full.db 'SELECT count(*) FROM run')" = "$runs" ] ||
    complain "the run that could not be recorded has stayed"
XDG_STATE_HOME=$PWD/full
mkdir -p full/lapenna-lab
mv full.db full/lapenna-lab/profiles.db
export XDG_STATE_HOME
before=$(sql full/lapenna-lab/profiles.db 'SELECT count(*) FROM lab_row')
exits 0 lab gemm --backend cpu --sizes 33 --repeat 20 --variants naive \
    --predict naive=2G
expect_stderr 'the lab is not recorded'
[ "$(sql full/lapenna-lab/profiles.db 'SELECT count(*) FROM lab_row')" = "$before" ] ||
    complain "it went on to record"
