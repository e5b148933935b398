# shellcheck shell=sh
# The lessons that ship: listed, correct, shown.
exits 0 lesson list --json
expect_no_stderr
expect_json 'len(of("lesson")) >= 6' \
    'len({r["id"] for r in rows}) == len(rows)' \
    'all(r["kind"] in ("lesson", "lab") for r in rows)' \
    'all(r["title"] and r["path"].startswith("/") for r in rows)' \
    'all(__import__("os").path.isfile(r["path"]) for r in rows)'
ids=$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$out")
list=$work/list
cp "$out" "$list"

exits 0 lesson list
for id in $ids; do
    expect_stdout "$id"
done
exits 2 lesson list mlp-digits
expect_stderr "lesson list takes no LESSON: 'mlp-digits'"
exits 0 lesson lint
# How many commands of the program what was printed has; lines break elsewhere.
commands_of()
{
    tr -s ' \n' ' ' <"$out" | grep -o "$1 [a-z]" | wc -l
}

for id in $ids; do
    exits 0 lesson show "$id"
    expect_no_escape
    expect_stdout "$id"
    # A lesson names the program one way; it is shown as it was called.
    commands=$(commands_of lapenna-lab)
    if grep '\./lab ' "$out"; then
        complain "lesson $id does not call the program lapenna-lab"
    fi
    LAPENNA_LAB_COMMAND=./lab
    export LAPENNA_LAB_COMMAND
    run lesson show "$id"
    unset LAPENNA_LAB_COMMAND
    [ "$(commands_of '\./lab')" -eq "$commands" ] ||
        complain "lesson $id: $commands commands, not all as ./lab"
done
run lesson show inside-kernel
expect_stdout 'lapenna-lab sim lessons/data/inside/copies.cu'

inline_lesson small
exits 0 lesson lint small.md

# A copy of a lesson, alone in its folder: what it builds on is installed.
mkdir own
for id in mlp-digits lab-batch-size; do
    path=$(sed -n "s/.*\"id\": *\"$id\".*\"path\": *\"\([^\"]*\)\".*/\1/p" "$list")
    sed 's/^title: .*/title: My own/' "$path" >"own/my-$id.md"
    exits 0 lesson lint "own/my-$id.md"
    expect_no_stderr
done
exits 2 own/my-lab-batch-size.md # a path: no id of a lesson that is installed
expect_stderr 'lapenna-lab lab own/my-lab-batch-size.md'
sed 's/^of: .*/of: mlp-digts/' own/my-lab-batch-size.md >own/other.md
exits 3 lesson lint own/other.md
expect_stderr 'no lesson mlp-digts; did you mean mlp-digits'
expect_stderr 'my-lab-batch-size (own/my-lab-batch-size.md)'
if grep -q 'no lesson mlp-digits' "$err"; then
    complain "a lesson that is installed is missing"
fi
sed 's/^prerequisites: .*/prerequisites: [softmax-regresion]/' \
    own/my-mlp-digits.md >alone.md
exits 3 lesson lint alone.md

# A heading that is nearly a phase is pointed out; another is not.
inline_lesson parts
cat >>parts.md <<'END'

## step: fc1.matmul

### forward

Rows meet columns.

### bacward

Turned on its side.

### Why it works

It does.

## phase: loss

One number.

## phase: update

A step.
END
exits 0 lesson lint parts.md
grep -F 'did you mean "### backward"?' "$out" "$err" >found || true
[ "$(wc -l <found)" -eq 1 ] || complain 'the misspelt phase is not reported once'

# The whole text begins at the current step, under headings for
# readers; its search is in the bar.
play mlp-digits --backend cpu --db "$work/lesson.db" <<'END'
resize 80 24
await 60000 step 0 of
key L
await 60000 the lesson (1-
expect This is a multilayer perceptron
expect / search
expect n next
key q
enter :run fc2.matmul
await 60000 step 3 of
key s
await 60000 step 4 of
key L
await 60000 Step fc2.matmul
absent multilayer perceptron
absent step: fc2
key g
await 60000 the lesson (1-
key /
enter forward phase
await 60000 Forward phase
absent phase: forward
key q
await 60000 step 4 of
key q
END
exits 0 lesson show mlp-digits
expect_stdout 'Backward phase'
expect_stdout 'Step fc2.matmul'
for raw in 'phase: backward' 'step: fc2'; do
    if grep -q "$raw" "$out"; then
        complain "lesson show prints the raw heading $raw"
    fi
done
