# shellcheck shell=sh
# `step --npy DIR`: every tensor as a file that NumPy reads.
inline_lesson small
run step small.md --json --backend cpu
cp "$out" steps
exits 0 step small.md --backend cpu --npy tensors
expect_no_stderr
"$LAB_PYTHON" "$LAB_SOURCE_DIR/tests/cli/npy_files.py" tensors steps ||
    complain "the files are not what --json prints"
[ -z "$(find tensors -name '*.part')" ] || complain "a file was left by half"

# Only some of them; what is there already is not written over.
exits 0 step small.md --backend cpu --npy gradients --tensors 'none*,*.grad'
[ -z "$(find gradients -name '*.npy' ! -name '*.grad.npy')" ] ||
    complain "--tensors '*.grad' wrote others"
[ -f gradients/fc1.W.grad.npy ] || complain "fc1.W.grad.npy is missing"
exits 3 step small.md --backend cpu --npy tensors
expect_stderr 'holds something'
exits 3 step small.md --backend cpu --npy no/such/place
expect_stderr 'cannot make'
exits 2 step small.md --backend cpu --npy more --json
exits 2 step small.md --backend cpu --npy more --tensors 'nope*'
expect_stderr "--tensors 'nope*': small has no tensor with such a name"
exits 2 step small.md --backend cpu --tensors '*.grad'
expect_stderr '--tensors changes nothing without --npy: give both'
exits 2 run small.md --backend cpu --iterations 1 --prompt 0
expect_stderr '--prompt changes nothing without --sample: give both'
for option in --temperature --top-k; do
    exits 2 run small.md --backend cpu --iterations 1 $option 1
    expect_stderr "$option changes nothing without --sample: give both"
done
[ ! -e more ] || complain "a wrong command line made a directory"

# The judge of a network of one's own: the same tensors, others, and a broken file.
judge=$LAB_SOURCE_DIR/lessons/data/port/judge.py
"$LAB_PYTHON" "$judge" tensors tensors >"$out" || complain 'it refuses its own'
grep -q 'agree within 1e-05' "$out" || complain 'no count'
run step small.md --backend cpu --seed 99 --npy others
"$LAB_PYTHON" "$judge" tensors others >"$out"
status=$?
expect_exit 1
expect_stdout WRONG
# In the order of the steps, updated parameters last.
[ "$(grep -nE '^(x|fc1.out|loss|fc1.W.grad|fc1.W) ' "$out" | sed 's/^[0-9]*://; s/ .*//' |
    tr '\n' ' ')" = 'x fc1.out loss fc1.W.grad fc1.W ' ] || complain 'another order'
mkdir cut
head -c 100 tensors/fc1.W.npy >cut/fc1.W.npy
"$LAB_PYTHON" "$judge" tensors cut >"$out" 2>"$err"
status=$?
expect_exit 3
expect_stderr 'fc1.W.npy: '
"$LAB_PYTHON" "$LAB_SOURCE_DIR/tests/cli/judge_files.py" "$judge" >"$out" ||
    complain "the judge: $(cat "$out")"
