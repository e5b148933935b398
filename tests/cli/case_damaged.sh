# shellcheck shell=sh
# Databases that cannot be used, or only in part: every word states the true cause
# and something that helps.
inline_lesson small
exits 0 run small.md --backend cpu --iterations 40 --db "anna's runs.db"
sql "anna's runs.db" 'PRAGMA journal_mode = DELETE' >mode

# refused DB EXIT WHAT REMEDY: doctor tells what is wrong apart from what helps,
# and `list` ends with EXIT.
refused() {
    exits 0 doctor --db "$1"
    grep -q "^database  *warning  .*$3[^;]*\$" "$out" ||
        complain "doctor does not state just: $3"
    grep '^  *remedy: ' "$out" | tail -n 1 | grep -qF -e "remedy: $4" ||
        complain "the remedy is not: $4"
    exits "$2" profile list --db "$1"
}

# Cut short: the command saves what is left, from the name that it has.
cp "anna's runs.db" "anna's cut.db"
size=$(wc -c <"anna's cut.db")
head -c "$((size - 16384))" "anna's runs.db" >"anna's cut.db"
refused "anna's cut.db" 3 'cut short' 'take a copy from elsewhere, save what'
# shellcheck disable=SC2016 # the backquotes are those of the message
saving=$(sed -n 's/.*save what is left with `\([^`]*\)`.*/\1/p' "$err")
schema=$(sql "anna's runs.db" 'PRAGMA user_version')
case $saving in
"sqlite3 'anna'\\''s cut.db' .dump | "*"=$schema' 'anna'\\''s cut.db.saved'") ;;
*) complain "the command to save is $saving" ;;
esac
if command -v sqlite3 >/dev/null; then
    sh -c "$saving" >"$out" 2>"$err"
    exits 0 profile list --db "anna's cut.db.saved"
    expect_stdout small
    run doctor --db "anna's cut.db.saved"
    expect_stdout '1 run, writable'
fi

# Another program's, a newer one's, a directory, text.
sql other.db 'CREATE TABLE bookmark (url)'
refused other.db 3 'another program' 'name another file with --db FILE'
cp "anna's runs.db" newer.db
sql newer.db 'PRAGMA user_version = 99'
refused newer.db 3 'schema 99' 'update lapenna-lab'
mkdir folder
refused folder 3 'a directory' 'name a file in it'
exits 3 run small.md --backend cpu --iterations 1 --db folder
exits 3 profile import "anna's runs.db" --db folder
echo 'run,loss' >text.db
refused text.db 3 'not a database' 'move it away'

# Damaged inside: what opens is not therefore whole.
"${LAB_PYTHON:-python3}" -c 'import sqlite3, sys
root = sqlite3.connect(sys.argv[1]).execute(
    "SELECT rootpage FROM sqlite_master WHERE name = \x27loss\x27").fetchone()[0]
f = bytearray(open(sys.argv[1], "rb").read())
page = f[16] * 256 + f[17]
at = (root - 1) * page
f[at + 5:at + 40] = bytes(35)
open("bent.db", "wb").write(f)' "anna's runs.db"
refused bent.db 0 'damaged' 'save what is left with `sqlite3 bent.db .dump'
exits 3 profile import bent.db --db into.db
expect_stderr 'bent.db: damaged ('
expect_stderr 'take another copy of it'
if grep -q -e '\*\*\*' -e '\^J' "$err"; then
    complain 'the raw words of SQLite'
fi

# What a full disk leaves of a database that was being made.
: >started.db
refused started.db 0 'nothing is in it' \
    '`lapenna-lab profile list --db started.db'
run doctor --db started.db
expect_stdout '0 runs, writable'

# No right to make the file.
mkdir closed
chmod 555 closed
as_nobody() {
    command=" (without rights) $*"
    status=0
    setpriv --reuid=65534 --regid=65534 --clear-groups "$LAB_EXE" "$@" \
        </dev/null >"$out" 2>"$err" || status=$?
}
[ "$(id -u)" = 0 ] || as_nobody() { run "$@"; }
chmod 755 "$work"
chmod 644 "anna's runs.db"
if [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups \
    "$LAB_EXE" --version >"$out" 2>"$err"; then
    as_nobody profile import "anna's runs.db" --db closed/new.db
    expect_exit 3
    expect_stderr 'closed/new.db: cannot make a file in closed: Permission'
fi
chmod 755 closed

# Of an older schema, in a place without the right to write: that before this one
# is read as it is; of others the runs can be copied.
# older FROM TO VERSION TABLE.COLUMN...
older() {
    changes="PRAGMA user_version = $3; PRAGMA journal_mode = WAL"
    db="closed/anna's $2.db"
    cp "$1" "$db"
    shift 3
    for column in "$@"; do
        changes="ALTER TABLE ${column%.*} DROP COLUMN ${column#*.}; $changes"
    done
    sql "$db" "$changes" >mode
}
older "anna's runs.db" ten 10 lab_row.idea sweep_row.variants sweep_row.variantsFrom \
    run.warmIterations run.warm_ns run.warmEnergy_j
sql "closed/anna's ten.db" 'DROP TABLE choice'
older "closed/anna's ten.db" eight 8 run.optimizer run.rateSchedule run.validation \
    run.earlyStop run.memoryPeak_bytes run.utilization_pct run.energy_j \
    run.iteration_flop loss.heldLoss loss.learningRate
older "closed/anna's ten.db" nine 9 run.energy_j run.iteration_flop
older "closed/anna's eight.db" six 6 run.learningRate run.lessonLearningRate \
    run.threads run.variantsFrom
sql "closed/anna's six.db" 'DROP TABLE variant_time'
chmod 444 "closed/anna's six.db" "closed/anna's eight.db" "closed/anna's nine.db" \
    "closed/anna's ten.db"
chmod 555 closed
if [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups \
    "$LAB_EXE" --version >"$out" 2>"$err"; then
    as_nobody profile show 1 --json --db "closed/anna's eight.db"
    expect_exit 0
    expect_json 'one("run")["run"] == 1' 'one("run")["optimizer"] is None' \
        'len(of("loss")) > 0' 'all(r["learning_rate"] is None for r in of("loss"))'
    as_nobody profile show 1 --json --db "closed/anna's nine.db"
    expect_exit 0
    expect_json 'one("run")["optimizer"] is not None' \
        'one("run")["iteration_flop"] is None' 'one("run")["energy_j"] is None'
    as_nobody profile show 1 --json --db "closed/anna's ten.db"
    expect_exit 0
    expect_json 'one("run")["iteration_flop"] is not None' 'of("choice") == []'
    for how in list 'show 1'; do
        # shellcheck disable=SC2086 # how is words
        as_nobody profile $how --db "closed/anna's six.db"
        expect_exit 3
        expect_stderr 'it is of an older program (schema 6, now'
    done
    # shellcheck disable=SC2016 # the backquotes are those of the message
    copying=$(sed -n 's/.*: `\([^`]*\) --db FILE` copies its.*/\1/p' "$err")
    [ "$copying" = \
        "lapenna-lab profile import 'closed/anna'\\''s six.db'" ] ||
        complain "the command to copy is $copying"
    as_nobody doctor --db "closed/anna's six.db"
    expect_stdout "remedy: \`$copying --db FILE\` copies its runs into"
    # the command that it prints works
    mkdir open
    chmod 777 open
    as_nobody profile import "closed/anna's six.db" --db open/new.db
    expect_exit 0
    as_nobody profile list --db open/new.db
    expect_exit 0
    expect_stdout small
fi
chmod 755 closed

# The home screen has not seen that there are none.
printf 'resize 200 50\nexpect The runs cannot be read: d shows why\n%s\n' \
    'absent No runs yet' >keys
echo 'key q' >>keys
status=0
LAPENNA_LAB_SCRIPT=keys "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" \
    "$LAB_EXE" --backend cpu --db "anna's cut.db" >"$out" 2>"$err" </dev/null ||
    status=$?
expect_exit 0
