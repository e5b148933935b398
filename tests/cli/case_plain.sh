# shellcheck shell=sh
# The stepper as lines of text: commands on standard input.
inline_lesson small

# plain TEXT ARG...: TEXT are the commands, a line each.
plain() {
    text=$1
    shift
    command=" --plain small.md $* <<'$text'"
    status=0
    printf '%b' "$text" | timeout 300 "$LAB_EXE" --plain small.md --backend cpu \
        "$@" >"$out" 2>"$err" || status=$?
}
# count N TEXT: so many lines of standard output hold it.
count() {
    found=$(grep -cF -e "$2" "$out")
    [ "$found" -eq "$1" ] || complain "$found lines hold '$2', not $1"
}

# Every word once; the walk's numbers are those of `step --json`.
run step small.md --json --backend cpu
cp "$out" steps
plain 'continue\nprint loss\nprint fc1.W.grad[0,1]\nprint fc1.out[1,:]\n'
expect_exit 0
shown=$(sed -n 's/^loss = //p' "$out")
grad=$(sed -n 's/^fc1.W.grad\[0,1\] = //p' "$out")
cp steps "$out"
expect_json "math.isclose(one('end')['loss'], $shown, rel_tol=1e-6)" \
    "any(o['name'] == 'fc1.W.grad' and math.isclose(o['data'][1], $grad,
     rel_tol=1e-6) for s in of('step') for o in s['outputs'])"

# Back is exact, and so is a new start.
plain 'c\nc\nprint fc1.W[1,2]\nback 5\nc\nprint fc1.W[1,2]\nrestart
c\nc\nprint fc1.W[1,2]\nseed 99\nc\nc\nprint fc1.W[1,2]\n'
expect_no_stderr
count 4 'fc1.W[1,2] = '
values=$(sed -n 's/^fc1.W\[1,2\] = //p' "$out" | uniq -c | awk '{ print $1 }' |
    paste -sd' ')
[ "$values" = '3 1' ] || complain "the same three times, then another: $values"

plain 'run fc2.bias backward\ncheck all\ncheck fc1.W\ncheck nothing\n'
expect_stdout 'Next: 10. fc2.bias  (backward,'
count 1 'fc2.b '
count 2 'fc1.W '
expect_stderr nothing
if grep -q WRONG "$out"; then
    complain "a gradient is wrong"
fi

plain 'train 20\nprint fc1.W[0,0]\ntrain\n' --iterations 7
expect_no_stderr
expect_exit 0

plain 'step\nback 5\n'
expect_stdout 'the walk begins here: 1 of 5 steps went back'

# Errors are a line each, and the session goes on.
plain 'frobnicate\nprint\nprint fc1.X\nprint fc1.W[9,9]\nprint fc1.W[0,0,0]
run fc9.matmul\nbreak fc9\nwatch nothing\nback 1\nstop\nlist songs\nhelp xyzzy
step -1\n# a comment\n\n\377\376\033[31m\nstep'
expect_exit 0
expect_no_escape
expect_stdout 'fc1.xW [3,3]'
lines=$(wc -l <"$err")
[ "$lines" -ge 12 ] || complain "12 mistakes and only $lines lines"
if grep -v '^lapenna-lab: ' "$err"; then
    complain "an error of several lines"
fi

head -c 100000 /dev/zero | tr '\0' a >long
plain "$(cat long)\nstep\n"
expect_exit 0
expect_stdout 'fc1.xW [3,3]'
[ "$(wc -l <"$err")" -eq 1 ] || complain "a long line is one mistake"

# Only looking leaves no run behind.
plain 'list\nprint x\nquit\n' --db looked.db
expect_exit 0
[ ! -e looked.db ] || complain "a database without a run"
plain 'c\n' --db kept.db
run profile list --json --db kept.db
expect_json 'len(of("run")) == 1' 'one("run")["status"] == "done"'

# What cannot start reports it.
sed 's/op: relu/op: rellu/' small.md >bad.md
exits 3 --plain bad.md
expect_stderr bad.md:11
exits 2 --plain small.md --variant fc1=x
exits 4 --plain small.md --backend cuda --device 99

# What a group hides has no values.
run step mlp-digits --json --backend cpu --variant fc1=onednn --db hidden.db
if [ "$status" -eq 0 ]; then
    expect_json 'not any(o["name"] == "fc1.xW" for r in of("step")
                         for o in r["outputs"])' \
        'any(o["name"] == "fc1.out" for r in of("step") for o in r["outputs"])' \
        'all(math.isfinite(v) for r in of("step") for o in r["outputs"]
             for v in numbers(o["data"]))'
    plain 'step\nvariant fc1 onednn\nstep\nprint fc1.xW[0,0]\nprint fc1.xW\n'
    count 2 'fc1.xW is not written: step fc1.dense, variant onednn'
    if grep -qF -e 'fc1.xW[0,0] =' "$out"; then
        complain "a value of what was not written"
    fi
fi

# A run's variants are those that were timed, not those of its start.
plain 'step 2\nvariant fc1 blas\ntrain 3\n' --db switched.db
expect_exit 0
plain 'variant fc1 blas\ntrain 3\nrestart\nvariant fc1 naive\nc\n' \
    --db switched.db
expect_exit 0
run profile list --json --db switched.db
expect_json '{r["run"]: r["variants"] for r in of("run")} ==
             {1: "fc1=naive fc1=blas", 2: "fc1=blas", 3: None}'
run profile list --db switched.db
expect_stdout 'naive, blas'
