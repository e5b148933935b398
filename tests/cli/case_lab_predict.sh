# shellcheck shell=sh
# Predictions: in words, asked for on a terminal, kept, and held against what
# was measured.
query() { # DB SQL
    "${LAB_PYTHON:-python3}" -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print("|".join("" if v is None else str(v) for v in row))' "$1" "$2"
}
on_terminal() { # ARG... of pty_run.py
    command=" $* (on a terminal)"
    status=0
    "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" "$@" >"$out" 2>"$err" \
        </dev/null || status=$?
}

run lab gemm --backend cpu --sizes 33,40 --repeat 20 --db said.db --json \
    --predict 'naive=0.5:memory:25%,rows@40=3ms,best=2TFLOP/s'
expect_exit 0
expect_json 'of("lab_row")[0]["rate_predicted"] == 0.5e9' \
    'of("lab_row")[0]["bound_predicted"] == "memory"' \
    'of("lab_row")[0]["occupancy_predicted_pct"] == 25' \
    'of("lab_row")[0]["bound"] in ("memory", "compute", "latency", "cache")' \
    'abs(of("lab_row")[0]["speed_over_predicted"] * 0.5e9 / of("lab_row")[0]["rate"] - 1) < 1e-9' \
    'of("lab_row")[1]["rate_predicted"] is None' \
    'of("lab_row")[1]["speed_over_predicted"] is None' \
    'all(abs(r["rate_predicted"] * 3e-3 / (2 * 40 ** 3) - 1) < 1e-9 and abs(r["speed_over_predicted"] * r["median_ns"] / 3e6 - 1) < 1e-9 for r in of("lab_row") if (r["variant"], r["size"]) == ("rows", "40"))'
said=$(query said.db 'SELECT rung, size, rate, time_ns, bound, occupancy_pct
    FROM lab_said ORDER BY place')
[ "$said" = 'naive||500000000.0||memory|25.0
rows|40||3000000.0||
best||2000000000000.0|||' ] || complain "lab_said holds: $said"

# They go along with a copy, and go with their run.
run profile import said.db --db copy.db
expect_exit 0
[ "$(query copy.db 'SELECT count(*) FROM lab_said')" = 3 ] ||
    complain "the copy lacks what was said"
run profile delete 1 --db copy.db
expect_exit 0
[ "$(query copy.db 'SELECT count(*) FROM lab_said')" = 0 ] ||
    complain "what was said outlives its run"

run lab gemm --backend cpu --sizes 33 --repeat 20 --predict 'naive=1e-6,best=9P'
expect_exit 0
expect_stdout 'you predicted'
grep -q '  naive: .* times as fast as you predicted' "$out" ||
    complain "how far off naive was is not said"
grep -q '  the fastest, .* times as slow as you predicted' "$out" ||
    complain "how far off the fastest was is not said"

# Asked for on a terminal: nonsense is asked again, an empty line is no idea.
on_terminal --say fast --say '2 memory' --say '' --say 50 "$LAB_EXE" \
    lab saxpy --backend cpu --sizes 1000 --repeat 20 --predict ask --db asked.db
expect_exit 0
expect_stdout 'fast is no prediction'
grep -q '  plain: .*bound by .* you predicted' "$out" ||
    complain "what bounds plain is not held against what was said"
[ "$(query asked.db 'SELECT rung, rate, bound FROM lab_said ORDER BY place')" = \
    'plain|2000000000.0|memory
best|50000000000.0|' ] || complain "asked.db holds something else"
# The end of input ends asking, and the ladder runs.
on_terminal --say "$(printf '\004')" "$LAB_EXE" lab saxpy --backend cpu \
    --sizes 1000 --repeat 20 --predict ask
expect_exit 0
# A terminal gets pictures, a pipe only when it asks.
expect_stdout 'size 1000, 0 to'
run lab saxpy --backend cpu --sizes 1000,2000 --repeat 20
expect_exit 0
grep -q 'against the size' "$out" && complain "a pipe got pictures"
run lab saxpy --backend cpu --sizes 1000,2000 --repeat 20 --chart --ascii
expect_exit 0
expect_ascii
expect_stdout 'GB/s against the size'

# What was measured earlier on another backend stands beside it: here a run of
# the CPU that is told to be a GPU's.
run lab saxpy --backend cpu --sizes 1000,4000 --repeat 20 --db both.db
expect_exit 0
"${LAB_PYTHON:-python3}" -c 'import sqlite3
d = sqlite3.connect("both.db")
d.execute("""UPDATE run SET device = "A GPU", backend = "cuda" """)
d.execute("""UPDATE lab_row SET rung = "fours" WHERE rung = "plain" """)
d.commit()' || complain "the earlier run could not be made"
run lab saxpy --backend cpu --sizes 1000,4000 --repeat 20 --db both.db --chart
expect_exit 0
expect_stdout 'measured on A GPU, run 1'
grep -q '^fours  *fp32' "$out" || complain "the other run's rungs are not told"
expect_stdout 'best of GPU'

# A run whose predictions cannot be kept is none; without --db the lab goes on.
cp said.db full.db
"${LAB_PYTHON:-python3}" - full.db <<'PY'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""DROP TABLE lab_said; CREATE TABLE lab_said (runId INTEGER,
    place INTEGER, rung TEXT, precision TEXT, size TEXT, rate REAL, time_ns REAL,
    bound TEXT, occupancy_pct REAL, CONSTRAINT no_room CHECK (rate IS NULL))""")
db.commit()
PY
runs=$(query full.db 'SELECT count(*) FROM run')
run lab gemm --backend cpu --sizes 33 --repeat 20 --variants naive --db full.db \
    --predict naive=2G
[ "$status" -ne 0 ] || complain "it said that all was recorded"
expect_stderr 'no_room'
[ "$(query full.db 'SELECT count(*) FROM run')" = "$runs" ] ||
    complain "the run that could not be recorded has stayed"
XDG_STATE_HOME=$PWD/full
mkdir -p full/lapenna-lab
mv full.db full/lapenna-lab/profiles.db
export XDG_STATE_HOME
before=$(query full/lapenna-lab/profiles.db 'SELECT count(*) FROM lab_row')
run lab gemm --backend cpu --sizes 33 --repeat 20 --variants naive \
    --predict naive=2G
expect_exit 0
expect_stderr 'the lab is not recorded'
[ "$(query full/lapenna-lab/profiles.db 'SELECT count(*) FROM lab_row')" = "$before" ] ||
    complain "it went on to record"
