# shellcheck shell=sh
# The database's disk fills up in the middle of a run: the results are whole
# and printed, the record is not, and an error reports that. The full disk is a limit on the
# size of files: a write gets an error, not a signal.
trap '' XFSZ
db=$work/full.db

# fresh: a database that a run has made, so that all tables are there, and the
# most that its files may grow to, in blocks of 512 bytes.
inline_lesson small
fresh() {
    rm -f "$db"*
    run run small.md --backend cpu --iterations 1 --db "$db"
    blocks=$(($(wc -c <"$db") / 512 + 200))
}
# limited ARG...: as run, with that limit and with what `input` holds.
: >input
limited() {
    command=" (limited) $*"
    status=0
    (ulimit -f "$blocks" && exec timeout 300 "$LAB_EXE" "$@") <input >"$out" \
        2>"$err" || status=$?
}

run run mlp-digits --json --backend cpu --epochs 2 --db other.db
cp "$out" whole

fresh
limited run mlp-digits --json --backend cpu --epochs 2 --db "$db"
expect_exit 0
expect_stderr 'recording has stopped: run 2 lacks '
expect_stderr 'the disk'
expect_json "FILE2=$work/whole" 'len(of("iteration")) == 2 * 143' \
    'one("summary")["iterations"] == 2 * 143' \
    'one("summary")["loss_last"] ==
     [r for r in other if r["type"] == "summary"][0]["loss_last"]' \
    'one("summary")["run"] == 2' \
    'one("summary")["recorded_whole"] is False' \
    'one("summary")["records_lost"] > 0' \
    '"the disk " in one("summary")["recording_error"]'
# The run's row tells the training's end and what is missing, if the last commit
# has left a page for that; if not, the run is not shown as whole.
exits 0 profile list --json --db "$db"
expect_json 'rows[0]["run"] == 2' \
    '(rows[0]["status"], rows[0]["iterations"]) == ("done", 2 * 143) or
     (rows[0]["status"] == "interrupted" and rows[0]["figures_from_rows"])'
run profile list --db "$db"
if ! grep -q ' interrupted ' "$out"; then
    expect_stdout ' done, lost '
    expect_stdout "lost: not all of it was stored; \`lapenna-lab profile show RUN"
fi
run profile list --db other.db
if grep -q lost "$out"; then
    complain 'nothing is lost of a whole run'
fi
exits 0 profile show 2 --db "$db"
grep -q '^status *interrupted' "$out" || expect_stdout 'the disk'

# What a whole record states.
cp whole "$out"
expect_json 'one("summary")["recorded_whole"] is True' \
    '"recording_error" not in one("summary")'

fresh
limited run mlp-digits --backend cpu --epochs 2 --db "$db"
expect_exit 0
expect_stderr 'the disk'
expect_stdout 'recorded in part only, as run 2: '
expect_stdout ', validation accuracy '

# The default walk and the plain stepper.
fresh
limited --backend cpu --epochs 2 --db "$db"
expect_exit 0
expect_stderr 'the disk'
expect_stdout 'The run is kept, in part only, in'
fresh
printf 'train 400\nquit\n' >input
limited --plain --backend cpu --db "$db" mlp-digits
expect_exit 0
expect_stderr 'the disk'
expect_stdout 'recorded in part only, as run 2: '

# A disk with room for the run's row and less: what is computed is printed, and
# the exit code states whether any of it is stored.
rows() {
    "${LAB_PYTHON:-python3}" -c 'import sqlite3, sys
try:
    d = sqlite3.connect(sys.argv[1])
    print(sum(d.execute("SELECT count(*) FROM %s WHERE runId = 2" % t)
              .fetchone()[0] for t in ("loss", "step", "NVTX_EVENTS")),
          d.execute("PRAGMA integrity_check").fetchone()[0])
except sqlite3.Error as e:
    print(e)' "$db"
}
nothing=0
some=0
fresh
cp "$db" whole.db
blocks=16
while [ "$blocks" -le 400 ]; do
    rm -f "$db"*
    cp whole.db "$db"
    limited run mlp-digits --json --backend cpu --epochs 2 --db "$db"
    cp "$out" printed
    if grep -q '"type":"summary"' printed; then
        expect_json 'len(of("iteration")) == 2 * 143' \
            'one("summary")["recorded_whole"] is False'
        case "$(rows)" in
        '0 ok')
            nothing=$((nothing + 1))
            expect_exit 3
            expect_stderr 'nothing of run 2 is stored'
            ;;
        *' ok')
            some=$((some + 1))
            expect_exit 0
            expect_stderr 'recording has stopped: run 2 lacks '
            ;;
        *) complain "the database: $(rows)" ;;
        esac
    else
        expect_exit 3 # refused before the training
        expect_no_stdout
    fi
    blocks=$((blocks + 8))
done
[ "$nothing" -gt 0 ] || complain 'no disk with room for the run alone was met'
[ "$some" -gt 0 ] || complain 'no disk with room for a part was met'
