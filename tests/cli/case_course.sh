# shellcheck shell=sh
# The rows of the course: all of them, and every lesson, lab, table and command that
# they name exists. A few are checked here; `course --check` does all.
run course --json
expect_exit 0
expect_json 'len(rows) == 137' 'len({r["id"] for r in rows}) == 137' \
    'all(f"A{i:02}" in {r["id"] for r in rows} for i in range(1, 30))' \
    'all(f"B{i:02}" in {r["id"] for r in rows} for i in range(1, 37))' \
    'all(f"C{i:02}" in {r["id"] for r in rows} for i in range(1, 25))' \
    'all(f"D{i:02}" in {r["id"] for r in rows} for i in range(1, 34))' \
    'all(f"E{i:02}" in {r["id"] for r in rows} for i in range(1, 15))' \
    'all(r["what"] for r in rows)' \
    'all(r["command"] or r["state"] in ("missing", "later") for r in rows)' \
    'all(r["run"] for r in rows if r["state"] == "needs a GPU")'
grep -o '"command": *"[^"]*"' "$out" | sed 's/.*: *"//; s/"$//' | sort -u >commands
[ "$(wc -l <commands)" -gt 60 ] || complain 'few commands'
"$LAB_EXE" lesson list --json | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' >lessons
{
    "$LAB_EXE" lab --list --json | sed -n 's/.*"lab": *"\([^"]*\)".*/\1/p'
    printf '%s\n' offsets gflops calls layers inference mixing products backward batch-size network-size
} >labs
"$LAB_EXE" table --json | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' >tables
while read -r command rest; do
    case $command in
    step | run) grep -qx "${rest%% *}" lessons ;;
    lesson) grep -qx "${rest#show }" lessons ;;
    table) grep -qx "$rest" tables ;;
    profile) ;; # of runs that ship
    lab)
        name=${rest%% *}
        [ "$name" != tune ] || name=${rest#tune }
        grep -qx -e "$name" labs
        ;;
    *) false ;;
    esac || complain "no such lesson, lab or table: $command $rest"
done <commands
# What the table has in served_by by its own name.
for name in $(grep -o '"served_by": *"[^"]*"' "$out" | sed 's/.*: *"//; s/"$//' |
    tr -d , | tr ' ' '\n' | grep -e - | sort -u); do
    grep -qx "$name" lessons || grep -qx "$name" labs ||
        complain "served by $name: there is no such lesson or lab"
done

run course --check B02 B04 C01 D26 A05 E07
expect_exit 0
expect_stdout 'B04     works'
expect_stdout '6 work, 0 need a GPU, 0 in part, 0 come later, 0 missing, 0 fail'
run course B29
expect_stdout 'B29     later'
expect_stdout '0 in part, 1 come later, 0 missing'
run course Z01
expect_exit 3
# A row that does not show what it has to, two with one command that fails, and a
# directory for temporary files with a long name.
TMPDIR=$PWD/a-directory-for-temporary-files-with-a-long-name
mkdir -p "$TMPDIR"
export TMPDIR
mkdir -p share/profiles
printf '#:title T\nrow,what,served_by,command,shows,gpu,missing,source\nX1,a,b,--version,no such text,,,s\nX2,a,b,--version,lapenna-lab,,,s\nX3,a,b,no-such-command,,,,s\nX5,a,b,no-such-command,,,,s\nX4,a,,,,,nothing,s\nX6,a,b,--version,lapenna-lab,,later: more,s\n' \
    >share/profiles/course.csv
LAPENNA_LAB_DATA_DIR=$PWD/share
export LAPENNA_LAB_DATA_DIR
run course --check
expect_exit 1
expect_stdout 'does not show "no such text"'
expect_stdout '1 work, 0 need a GPU, 0 in part, 1 come later, 1 missing, 3 fail'
rmdir "$TMPDIR" || complain 'course --check left files behind'
mkdir "$TMPDIR"
# A signal ends the command that runs as well.
ln -s "$LAB_SOURCE_DIR/lessons" share/lessons
printf '#:title T\nrow,what,served_by,command,shows,gpu,missing,source\nX1,a,b,--version,,,,s\nX2,a,b,run softmax-regression --backend cpu --no-tune --iterations 1000000000,,,,s\n' \
    >share/profiles/course.csv
"$LAB_EXE" course --check >"$out" 2>"$err" &
pid=$!
until grep -q '^X1  *works' "$out" || ! kill -0 $pid; do sleep 0.05; done
kill $pid
wait $pid
status=$?
expect_exit 143
rmdir "$TMPDIR" || complain 'course --check left files behind when it was ended'
printf '#:title T\nrow,what,source\nX1,a,s\n' >share/profiles/course.csv
run course
expect_exit 3
expect_stderr 'the column served_by is missing'
