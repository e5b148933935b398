# shellcheck shell=sh
# The stepper as lines of text: commands on standard input.
inline_lesson small
cat >>small.md <<'END'

## step: fc1.matmul

The first product.

### forward

Rows meet columns.

### backward

Turned on its side.

## node: fc2

**Forward.** Scores.

**Backward.** Blame.

## phase: backward

The way back.
END

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

plain 'step\n'
expect_exit 0
expect_no_stderr
expect_no_escape
expect_stdout 'Two dense layers'
expect_stdout 'The introduction.'
expect_stdout 'Next: 1. fc1.matmul  (forward,'
expect_stdout 'fc1.xW[n,m] = sum_k x[n,k] * fc1.W[k,m]'
expect_stdout 'fc1.xW [3,3]  min'
expect_stdout 'Next: 2. fc1.bias  (forward,'
expect_stdout 'recorded as run 1'
count 1 'The first product.'
count 1 'Rows meet columns.'
count 0 'Turned on its side.'
count 0 'Scores.'
expect_stdout 'The introduction.'

# Each step's text is of its phase, and follows the step that ran.
plain ''
for pair in 'fc2.matmul  (forward,=Scores.' 'fc2.bias  (backward,=Blame.' \
    'fc1.matmul  (backward,=Turned on its side.'; do
    count 2 "${pair%%=*}" # as the next step, and as the one that ran
    count 1 "${pair#*=}"
    sed -n "/^[0-9]*[.] ${pair%%=*}/,/^Next:/p" "$out" >part
    grep -qF "${pair#*=}" part || complain "not at $pair"
done
count 2 'The first product.' # in both phases
plain 'break fc2.matmul\ncontinue\n'
count 0 'Scores.'
count 0 'Rows meet columns.'
plain 'watch fc2.xW\ncontinue\n'
count 1 'Scores.'
# No prompt where nobody reads it.
count 0 '(lab)'

# Every word once; the walk's numbers are those of `step --json`.
run step small.md --json --backend cpu
cp "$out" steps
plain 'continue\nprint loss\nprint fc1.W.grad[0,1]\nprint fc1.out[1,:]\n'
expect_exit 0
expect_stdout 'Iteration 0 is done, loss '
shown=$(sed -n 's/^loss = //p' "$out")
grad=$(sed -n 's/^fc1.W.grad\[0,1\] = //p' "$out")
cp steps "$out"
expect_json "math.isclose(one('end')['loss'], $shown, rel_tol=1e-6)" \
    "any(o['name'] == 'fc1.W.grad' and math.isclose(o['data'][1], $grad,
     rel_tol=1e-6) for s in of('step') for o in s['outputs'])"

plain 'break fc2.matmul\ncontinue\nlist breaks\n'
expect_stdout 'Stopped: breakpoint 1: fc2.matmul'
expect_stdout 'Next: 4. fc2.matmul'
expect_stdout '1  step fc2.matmul  (hit 1 time)'
count 0 'fc2.bias'

plain 'break phase backward\nc\ns\nbreak loss > 0.0001\nbreak nan\nlist breaks\n'
expect_stdout 'Stopped: breakpoint 1: backward'
expect_stdout 'loss above 0.0001'
expect_stdout 'NaN in what a step writes'
count 1 'The way back.'
plain 'break loss > 0.0001\nc\nunwatch\ndelete 1\ndelete\n'
expect_stdout 'above 0.0001'
expect_stdout 'no breakpoints and no watches'
expect_stderr 'nothing to delete'

plain 'watch relu1.out\nc\nc\n'
expect_stdout 'Stopped: watch 1: relu1.out was written by relu1.relu'
expect_stdout 'Iteration 0 is done'

# Back is exact, and so is a new start.
plain 'c\nc\nprint fc1.W[1,2]\nback 5\nc\nprint fc1.W[1,2]\nrestart
c\nc\nprint fc1.W[1,2]\nseed 99\nc\nc\nprint fc1.W[1,2]\n'
expect_no_stderr
count 4 'fc1.W[1,2] = '
values=$(sed -n 's/^fc1.W\[1,2\] = //p' "$out" | uniq -c | awk '{ print $1 }' |
    paste -sd' ')
[ "$values" = '3 1' ] || complain "the same three times, then another: $values"

plain 's 2\nexplain fc1.xW[-1,0]\nexplain fc1.xW\nexplain fc1.W[0,0]\n'
expect_stdout 'fc1.xW[2,0] = sum_k x[2,k] * fc1.W[k,0]'
expect_stdout 'x[2,1], fc1.W[1,0]'
expect_stdout 'they agree'
expect_stderr 'explain takes one element of fc1.xW: fc1.xW[I,J]'

plain 'run fc2.bias backward\ncheck all\ncheck fc1.W\ncheck nothing\n'
expect_stdout 'Next: 10. fc2.bias  (backward,'
expect_stdout 'against central differences'
count 1 'fc2.b '
count 2 'fc1.W '
expect_stderr nothing
if grep -q WRONG "$out"; then
    complain "a gradient is wrong"
fi

plain 'list variants\nvariant fc1 blas\nc\nlist steps\nvariant fc1 x\n'
expect_stdout 'fc1 runs as blas from now on'
expect_stdout 'fc1.matmul  (forward, blas)'
expect_stderr "'x'"

plain 'train 20\nprint fc1.W[0,0]\ntrain\n' --iterations 7
expect_no_stderr
expect_stdout 'iteration 2  loss'
expect_stdout 'trained 20 iterations: loss'
expect_stdout 'trained 7 iterations: loss'

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
expect_stderr 'did you mean fc1.'
expect_stderr 'fc1.W is [2,3]: index 9 of axis 0 is outside'

plain 'help\nhelp explain\nlist\nlist tensors\nquit\nstep\n'
expect_no_stderr
expect_stdout 'break [STEP [PHASE]'
expect_stdout 'relu1.out.grad  [3,3]  f32   gradient'
count 0 'fc1.xW [3,3]  min'
head -c 100000 /dev/zero | tr '\0' a >long
plain "$(cat long)\nstep\n"
expect_exit 0
expect_stdout 'fc1.xW [3,3]'
[ "$(wc -l <"$err")" -eq 1 ] || complain "a long line is one mistake"

# Nobody says anything: the whole iteration.
plain ''
expect_exit 0
for step in fc1.matmul fc1.bias relu1.relu fc2.matmul loss.mean fc2.b; do
    expect_stdout ". $step  ("
done
expect_stdout 'Iteration 0 is done'

# Only looking leaves no run behind.
plain 'list\nprint x\nquit\n' --db looked.db
expect_exit 0
[ ! -e looked.db ] || complain "a database without a run"
plain 'c\n' --db kept.db
run profile list --json --db kept.db
expect_json 'len(of("run")) == 1' 'one("run")["status"] == "done"'

# What cannot start says so.
sed 's/op: relu/op: rellu/' small.md >bad.md
run --plain bad.md
expect_exit 3
expect_stderr bad.md:11
run --plain small.md --variant fc1=x
expect_exit 2
run --plain small.md --backend cuda --device 99
expect_exit 4

# What no step has written has no values: not yet, or hidden by a group.
plain 'print fc1.xW[0,0]\nprint fc1.xW\nstep\nprint fc1.xW[0,0]\n'
count 2 'fc1.xW has not been computed yet in this iteration'
expect_stdout 'fc1.xW[0,0] = '
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

# A colon before a command is taken, and no message has one.
plain ':watch relu1.out\n :c\n'
expect_no_stderr
expect_stdout 'Stopped: watch 1: relu1.out was written by relu1.relu'
plain 'train 0\n'
expect_stderr 'train: 0 is out of range: 1 to 9223372036854775807'
