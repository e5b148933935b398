# shellcheck shell=sh
# The fastest variants by measuring: once, kept, and from then on the same bits;
# --no-tune, LAPENNA_LAB_TUNE=off and *=default have the fixed table; --threads.
unset LAPENNA_LAB_TUNE
db=$work/runs.db

# train ARG...: a network that is large enough
train() {
    exits 0 run mlp-digits --batch 200 --iterations 4 --backend cpu --db "$db" \
        --json "$@"
}

# measured YES|NO: whether variants were measured
measured() {
    case $1$(grep -c 'variants were measured: .* for [0-9]* step' "$err") in
    yes1 | no0) ;;
    *) complain "measured: not $1" ;;
    esac
}

losses() {
    grep '"type":"iteration"' "$out" >"$1"
    [ -s "$1" ] || complain "no loss was printed"
}

kept_where() {
    sql "$db" "SELECT count(*) FROM variant_time WHERE $1"
}

train --threads 2
measured yes
expect_stderr 'measuring '
losses first
kept=$(kept_where 'threads = 2')
[ "$kept" -gt 10 ] || complain "only $kept times are kept"
train --threads 2
measured no
expect_no_stderr
losses second
cmp -s first second || complain "the same kept times, and other losses"
[ "$(kept_where 1)" -eq "$kept" ] || complain "the second run kept times"
run profile show 2 --db "$db"
grep -q '^variants from  *measuring$' "$out" || complain "not by measuring"
grep -q '^threads  *2$' "$out" || complain "not with 2 threads"
# Why: each step that went by a time has it, the next one's, and ran that variant.
grep -Eq '^chosen for  *phase  *variant  *its time  *why$' "$out" ||
    complain "no table of reasons"
# By the times it is one of four reasons: the next takes longer, as long, too little less,
# or less in all.
grep -Eq '^fc1[^ ]*  *forward  .* takes [0-9.]+ [num]?s[,:]' "$out" ||
    complain "no reason for a step of fc1"
run profile show 2 --db "$db" --json
expect_json 'len(of("choice")) > 10' \
    'all(c["time_ns"] > 0 and c["steps"] >= 1 for c in of("choice"))' \
    'any(c["next_ns"] > c["time_ns"] for c in of("choice") if c["next_variant"])' \
    'all((c["next_variant"] is None) == (c["next_ns"] is None) for c in of("choice"))' \
    'all(c["variant"] == s["variant"] for c in of("choice") for s in of("step") if (c["step"], c["phase"]) == (s["name"], s["phase"]))'
run profile export 2 --db "$db" --format csv --table choices --output -
expect_stdout 'run,choice_place,choice_step,choice_node,choice_phase_name,choice_variant'
run profile export 2 --db "$db" --format html --output -
expect_stdout '<h3>Chosen by measuring</h3>'
run doctor --threads 2 --db "$db"
grep -q "variant times  *ok  *$kept kept for .* with 2 threads; the fastest in fp32 of .*vector (" "$out" ||
    complain "doctor does not have $kept times, or not the fastest"
# Times in another precision count; the fastest are those in fp32.
grep 'variant times' "$out" >fastest
columns=$(sql "$db" "SELECT group_concat(name) FROM pragma_table_info('variant_time') WHERE name NOT IN ('id', 'precision')")
sql "$db" "INSERT INTO variant_time (precision, $columns) SELECT 'tf32', $columns FROM variant_time WHERE threads = 2"
run doctor --threads 2 --db "$db"
sed "s/$kept kept/$((2 * kept)) kept/" fastest >want
grep 'variant times' "$out" | cmp -s - want || complain "the times in tf32 do not count"
sql "$db" "DELETE FROM variant_time WHERE precision = 'tf32'"

# Another number of threads is another machine.
train --threads 1
measured yes
expect_stderr 'for 2 threads: they are measured again for 1'
[ "$(kept_where 'threads = 1')" -gt 10 ] || complain "none of one thread are kept"
run profile compare 2 3 --db "$db"
grep -q '^threads  *2  *1$' "$out" || complain "compare has no threads"

# The fixed table, three ways, measures nothing and keeps the reference.
LAPENNA_LAB_TUNE=off train --threads 2
measured no
losses off
train --threads 2 --no-tune
measured no
losses none
train --threads 2 --variant '*=default'
measured no
losses default
cmp -s off none || complain "LAPENNA_LAB_TUNE=off is not --no-tune"
cmp -s none default || complain "*=default is not the fixed table"
run profile show 5 --json --db "$db"
expect_json 'of("run")[0]["variants_from"] == "table"' \
    'of("run")[0]["threads"] == 2' 'of("run")[0]["variants"] is None'
run profile show 6 --json --db "$db"
expect_json 'of("run")[0]["variants_from"] == "chosen"' \
    'of("run")[0]["variants"] is None'
sed 's/^optimizer:/variants: {"*": default}\n&/' \
    "$LAB_BINARY_DIR/share/lapenna-lab/lessons/20-mlp-digits.md" >fixed.md
run run fixed.md --batch 200 --iterations 4 --backend cpu --db "$db" --json \
    --threads 2
losses lesson
cmp -s lesson default || complain "the lesson's '*: default' is another"

# Where every step has a chosen variant, or the fixed table's, nothing is measured,
# with no time kept either.
for choice in '*=default' '*=naive' 'fc1=default --variant *=naive' \
    'dense=default --variant relu=default --variant softmax_cross_entropy=default --variant sgd=naive'; do
    set -f
    # shellcheck disable=SC2086
    run run mlp-digits --batch 200 --iterations 1 --backend cpu \
        --db "$work/chosen.db" --variant $choice
    set +f
    expect_exit 0
    measured no
done
# Nor where times of another number of threads are kept; that they are more than the
# cores is all that is stated.
run run mlp-digits --batch 200 --iterations 1 --backend cpu --threads 3 \
    --db "$db" --variant '*=default'
! grep -v 'more than the [0-9]* cores' "$err" || complain 'something else on stderr'
run run mlp-digits --batch 200 --iterations 1 --backend cpu \
    --db "$work/chosen.db" --variant 'fc1=naive'
measured yes

# `step` goes by what is kept and measures nothing; the stepper has the name.
exits 0 step mlp-digits --batch 200 --backend cpu --db "$db" --threads 1 --json
measured no
run step mlp-digits --batch 200 --backend cpu --db "$work/other.db" --json
measured no
printf 'list variants\nvariant fc1 default\nvariant * default\nquit\n' >keys
"$LAB_EXE" mlp-digits --plain --batch 200 --backend cpu --threads 2 \
    --db "$db" <keys >"$out" 2>"$err" || complain "the stepper failed"
expect_stdout '(measured)'
expect_stdout 'fc1 runs by the fixed table from now on.'
expect_stdout '* runs by the fixed table from now on.'

# The times of an earlier number of threads are used when it comes back.
train --threads 2
measured no
expect_no_stderr
losses back
cmp -s first back || complain "the times of 2 threads are not used again"

# What is damaged, or of another version, is measured again, with a message.
sql "$db" "UPDATE variant_time SET time_ns = 'x' WHERE variant = 'vector' AND threads = 2"
train --threads 2
measured yes
expect_stderr 'measured again where they are needed'
for ns in 0 -5 1e300; do
    sql "$db" "UPDATE variant_time SET time_ns = $ns WHERE variant = 'vector' AND threads = 2"
    train --threads 2
    measured yes
    expect_stderr 'measured again where they are needed'
done
sql "$db" "UPDATE variant_time SET version = '0' WHERE threads = 2"
train --threads 2
measured yes
expect_stderr 'of another version'
train --threads 2
expect_no_stderr
# What an earlier rule of measuring left out is measured again. Beside other work it may
# be left out again, so that only the row is new.
version=$(sql "$db" "SELECT max(version) FROM variant_time WHERE threads = 2")
sql "$db" "UPDATE variant_time SET version = '${version% rule*}', time_ns = NULL, measured = 'before' WHERE variant = 'vector' AND threads = 2"
train --threads 2
measured yes
expect_stderr 'of another version'
[ "$(kept_where "measured = 'before'")" -eq 0 ] ||
    complain "what an earlier rule left out is not measured again"

# What is left out of a step that has another time stays; where all are left out, as no
# measuring leaves them, they are measured again, with a message.
sql "$db" "UPDATE variant_time SET time_ns = NULL, measured = 'before' WHERE threads = 2 AND variant = 'vector'"
train --threads 2
measured no
expect_no_stderr
[ "$(kept_where "measured = 'before'")" -gt 5 ] || complain "no row to renew"
sql "$db" "UPDATE variant_time SET time_ns = NULL, measured = 'before' WHERE threads = 2"
train --threads 2
measured yes
expect_stderr 'steps have no kept time, by any variant: what was left out there is measured again'
train --threads 2
measured no
expect_no_stderr

# Of a precision or a number of threads that there is not.
for of in "precision = 'zz'" 'precision = -5' 'threads = -5' "threads = 'x'"; do
    sql "$db" "UPDATE variant_time SET $of WHERE threads = 2"
    train --threads 2
    measured yes
    expect_stderr 'of a precision or number of threads that there is not'
    train --threads 2
    measured no
    expect_no_stderr
done

# A table that is gone, or is another, is named once, and made anew.
for harm in 'DROP TABLE variant_time' 'ALTER TABLE variant_time DROP COLUMN version'; do
    sql "$db" "$harm"
    train --threads 2
    measured yes
    expect_stderr 'its table variant_time is damaged (no such'
    train --threads 2
    measured no
    expect_no_stderr
done

# --tune measures again what is kept, even where nothing is to be measured by default.
sql "$db" "UPDATE variant_time SET measured = 'before' WHERE threads = 2"
train --threads 2
measured no
[ "$(kept_where "measured = 'before'")" -gt 10 ] || complain "no row to renew"
LAPENNA_LAB_TUNE=off train --threads 2 --tune
measured yes
[ "$(kept_where "measured = 'before'")" -eq 0 ] ||
    complain "--tune does not measure again what was left out"
train --threads 2
measured no
expect_no_stderr
exits 2 run mlp-digits --backend cpu --db "$db" --tune --no-tune
expect_stderr '--tune and --no-tune exclude each other'

# A group that the times choose has its node's name in the table of reasons.
group=$work/group.db
attends() {
    exits 0 run multi-head --iterations 1 --backend cpu --threads 2 --db "$group"
}
attends
sql "$group" "UPDATE variant_time SET time_ns = 1 WHERE step LIKE 'attention.* %' AND variant = 'fused'"
attends
run profile show 2 --db "$group" --json
expect_json 'all(c["step"] == c["node"] for c in of("choice") if c["variant"] == "fused")'
# The lesson has a text for the steps of the way forward: they stay apart.
expect_json '{c["phase"] for c in of("choice") if c["variant"] == "fused" and c["node"].startswith("attn")} == {"backward"}'

# So is what is kept for a variant that is not there any more.
sql "$db" "UPDATE variant_time SET variant = 'gone' WHERE variant = 'vector' AND threads = 2"
train --threads 2
measured yes
expect_stderr 'that this program or machine does not have'
[ "$(kept_where "variant = 'gone'")" -eq 0 ] || complain "what is gone is kept"
train --threads 2
measured no
expect_no_stderr

# A library whose products are wrong, in place of the one that was measured: the check
# withdraws its variants, what is kept of them is not used, and with the right
# library they are measured again.
wrong=$LAB_BINARY_DIR/lib/wrong
blas=$(kept_where "variant = 'blas' AND threads = 2")
[ "$blas" -gt 0 ] || complain "no time of blas is kept"
LD_LIBRARY_PATH=$wrong train --threads 2
grep -q 'dense matmul forward, variant blas: .* off the reference; withdrawn' "$err" ||
    complain "the check does not state what it withdraws"
expect_stderr "$blas of variants that this program or machine does not have"
[ "$(kept_where "variant = 'blas' AND threads = 2")" -eq 0 ] ||
    complain "times of what is withdrawn are kept"
run profile show "$(grep -o '"run":[0-9]*' "$out" | tail -1 | cut -d: -f2)" \
    --json --db "$db"
expect_json 'all(r["variant"] != "blas" for r in rows if r["type"] == "step")'
train --threads 2
measured yes
[ "$(kept_where "variant = 'blas' AND threads = 2")" -eq "$blas" ] ||
    complain "what was withdrawn is not measured again"

# A process that may use one core of several has one thread: another machine, too.
# How many it has without that is what is kept: the cores, or fewer by a limit.
sql "$db" "DELETE FROM variant_time"
train
all=$(sql "$db" "SELECT max(threads) FROM variant_time")
if [ "$all" -gt 1 ] && command -v taskset >/dev/null; then
    core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
    status=0
    taskset -c "$core" "$LAB_EXE" run mlp-digits --batch 200 --iterations 4 \
        --backend cpu --db "$db" --json >"$out" 2>"$err" || status=$?
    expect_exit 0
    measured yes
    expect_stderr "for $all threads: they are measured again for 1"
    [ "$(kept_where 'threads = 1')" -gt 10 ] || complain "none of one core are kept"
    train
    measured no
    expect_no_stderr
fi
sql "$db" "DELETE FROM variant_time"

# A database that no run is recorded in stays as it was.
rm -f "$work/none.db"
printf 'quit\n' | "$LAB_EXE" mlp-digits --plain --batch 200 --backend cpu \
    --db "$work/none.db" >"$out" 2>"$err" || complain "the stepper failed"
[ ! -e "$work/none.db" ] || complain "looking at a lesson made a database"
[ "$(grep -c 'measuring [0-9]* variants, once and for 2 s' "$err")" -eq 1 ] ||
    complain "--plain does not state that it measures"

# One that another program holds: measured, not kept, with one message.
sql "$db" "DELETE FROM variant_time"
mkfifo release
"${LAB_PYTHON:-python3}" -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1], isolation_level=None)
d.execute("BEGIN EXCLUSIVE")
print("held", file=open("holds", "w"))
open("release").read()' "$db" &
holder=$!
until [ -s holds ]; do
    sleep 0.1
done
exits 3 run mlp-digits --batch 200 --iterations 4 --backend cpu --db "$db"
expect_stderr 'measuring '
[ "$(grep -c 'database is locked' "$err")" -eq 1 ] ||
    complain "the locked database is not named once"
: >release
wait "$holder"
[ "$(kept_where 1)" -eq 0 ] || complain "times were kept in a locked database"

# One that may only be read: measured, with one message that nothing is kept.
mkdir closed
cp "$db" closed/runs.db
chmod 755 "$work"
chmod 444 closed/runs.db
chmod 555 closed
as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}
[ "$(id -u)" = 0 ] || as_nobody() { "$@"; }
if [ "$(id -u)" != 0 ] || as_nobody test -r "$LAB_EXE" 2>/dev/null; then
    printf 'next\nlist variants\nquit\n' >keys
    as_nobody "$LAB_EXE" mlp-digits --plain --batch 200 --backend cpu \
        --db "$work/closed/runs.db" <keys >"$out" 2>"$err" ||
        complain "a read-only database is in the way of the stepper"
    expect_stderr 'measuring '
    expect_stdout '(measured)'
    [ "$(grep -c 'not kept: .*closed/runs.db: no right to write' "$err")" -eq 1 ] ||
        complain "not one message that no times are kept"
fi
chmod 755 closed

for n in 0 257 x -1; do
    exits 2 run mlp-digits --threads "$n"
    expect_stderr 'a whole number from 1 to 256'
done
