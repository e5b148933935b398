# shellcheck shell=sh
# A run that was killed has stored no figures of its own: they are those of
# what is stored, and that is reported.
db=$work/killed.db
"$LAB_EXE" run mlp-digits --backend cpu --epochs 1000000 --db "$db" \
    >"$out" 2>"$err" </dev/null &
pid=$!
stored() {
    "${LAB_PYTHON:-python3}" -c 'import sqlite3, sys
try:
    d = sqlite3.connect(sys.argv[1])
    print(d.execute("SELECT count(*) FROM loss").fetchone()[0])
except sqlite3.Error:
    print(0)' "$db"
}
waited=0
while [ "$(stored)" -lt 2 ] && [ "$waited" -lt 600 ]; do
    sleep 0.1
    waited=$((waited + 1))
done
kill -s KILL "$pid"
wait "$pid" 2>/dev/null
n=$(stored)
[ "$n" -ge 2 ] || complain "no loss was stored"

exits 0 profile show 1 --json --db "$db"
expect_json 'one("run")["status"] == "interrupted"' \
    'one("run")["figures_from_rows"] is True' \
    "one('run')['iterations'] == $n" \
    'one("run")["loss_first"] > one("run")["loss_last"] > 0' \
    'one("run")["samples_per_s"] > 0'
run profile show 1 --db "$db"
expect_stdout 'of the stored losses'
grep -q "^iterations  *$n\$" "$out" || complain "not $n iterations"
run profile list --db "$db"
expect_stdout "interrupted"

# What a run tells of itself stays.
inline_lesson small
run run small.md --backend cpu --db "$db"
run profile show 2 --json --db "$db"
expect_json 'one("run")["figures_from_rows"] is False' \
    'one("run")["iterations"] == 5'
run profile show 2 --db "$db"
if grep -q 'of the stored losses' "$out"; then
    complain 'its own figures are not printed'
fi
