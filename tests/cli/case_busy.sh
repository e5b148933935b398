# shellcheck shell=sh
# Many processes write one database, new or with a killed run in it: each waits
# for the others, none is refused, and all that was printed is stored.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
inline_lesson small
py=${LAB_PYTHON:-python3}

exits 0 run small.md --backend cpu --iterations 3 --db from.db

# together COUNT ARG...: as many processes at once; complains of what fails.
together() {
    count=$1
    shift
    pids=
    command=" (together) $*"
    for i in $(seq "$count"); do
        "$LAB_EXE" "$@" >"o$i" 2>"e$i" </dev/null &
        pids="$pids $!"
    done
    i=0
    for pid in $pids; do
        i=$((i + 1))
        status=0
        wait "$pid" || status=$?
        cp "o$i" "$out"
        cp "e$i" "$err"
        expect_exit 0
    done
}

# A database that none of them finds: one makes it, the others wait.
for round in 1 2 3; do
    rm -f new.db*
    together 8 profile merge from.db --db new.db
    run profile list --json --db new.db
    expect_json 'len(rows) == 1'
    rm -f new.db*
    together 8 run small.md --backend cpu --iterations 3 --db new.db
    run profile list --json --db new.db
    expect_json 'len(rows) == 8' 'all(r["iterations"] == 3 for r in rows)'
done

# A run was killed: the first of those that come next marks it.
for round in 1 2 3 4; do
    "$py" -c 'import sqlite3
d = sqlite3.connect("new.db", timeout=30)
d.execute("UPDATE run SET status = ?, pid = 999999999, processStart = 1",
          ("running",))
d.commit()'
    together 16 run small.md --backend cpu --iterations 3 --db new.db
done
run profile list --json --db new.db
expect_json 'len(rows) == 8 + 4 * 16'

# A run that is being killed, merges and runs side by side.
: >printed
"$LAB_EXE" run small.md --backend cpu --iterations 1000000000 --json \
    --db new.db >>printed 2>/dev/null </dev/null &
victim=$!
while [ "$(grep -c iteration printed)" -lt 100 ]; do sleep 0.05; done
{
    sleep 0.3
    kill -s KILL "$victim"
} &
together 8 run small.md --backend cpu --iterations 3 --db new.db
together 4 profile merge from.db --db new.db
wait "$victim" 2>/dev/null
"$py" -c 'import json, sqlite3, sys
printed = [json.loads(r) for r in open("printed").read().split("\n")[:-1]]
last = max(r["iteration"] for r in printed if r["type"] == "iteration")
d = sqlite3.connect("new.db")
run, = d.execute("SELECT runId FROM loss ORDER BY iteration DESC").fetchone()
stored = {i for i, in d.execute("SELECT iteration FROM loss WHERE runId = ?",
                                (run,))}
lost = [i for i in range(last + 1) if i not in stored]
sys.exit(f"lost: {lost[:9]}" if lost else 0)' 2>"$err" ||
    complain 'a printed iteration is not stored'
