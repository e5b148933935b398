# shellcheck shell=sh
# README's first five minutes, typed into the program at 80x24 and at 200x60, and its
# commands without a terminal, as they are written there.
readme=$LAB_CLI_DIR/../../README.md
tour() { # COLUMNS ROWS
    command="the first five minutes of README at $1x$2"
    "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/tour.py" "$readme" "$1" "$2" \
        "$work/screen.keys" >"$work/tour.keys" ||
        complain 'README and the tour differ'
    status=0
    LAPENNA_LAB_SCRIPT=$work/tour.keys "${LAB_PYTHON:-python3}" \
        "$LAB_CLI_DIR/pty_run.py" "$LAB_EXE" --backend cpu >"$out" 2>"$err" ||
        status=$?
    tr -d '\033' <"$out" | grep 'tour.keys:' >"$work/wrong"
    cp "$work/wrong" "$out"
    expect_exit 0
}
tour 80 24
# A second learner: with the first one's progress home opens elsewhere.
first=$XDG_STATE_HOME
export XDG_STATE_HOME="$work/second"
tour 200 60
export XDG_STATE_HOME="$first"

# Without a terminal: `./lab` is this program.
ln -s "$LAB_EXE" lab
sed -n '/^### Without a terminal/,/^## /p' "$readme" >"$work/without"
sed -n 's/^    //p' "$work/without" >"$work/pipe.sh"
grep -q "printf .*step.*explain" "$work/pipe.sh" ||
    complain 'README has no walk in a pipe'
command='the walk in a pipe of README'
status=0
sh "$work/pipe.sh" >"$out" 2>"$err" </dev/null || status=$?
expect_exit 0
expect_no_stderr
expect_stdout 'fc1.xW[0,3] = sum_k'
expect_stdout 'blas'
command='./lab without arguments'
status=0
./lab >"$out" 2>"$err" </dev/null || status=$?
expect_exit 0
expect_stdout 'fc1.matmul'
expect_stdout 'epoch 5'
expect_stdout 'The run is kept in'
grep -q 'lapenna-lab$' "$work/without" || complain 'README has no doctor'
exits 0 doctor
expect_stdout 'remedy: '

# The screen that README begins with.
command='the screen of README'
status=0
LAPENNA_LAB_SCRIPT=$work/screen.keys "${LAB_PYTHON:-python3}" \
    "$LAB_CLI_DIR/pty_run.py" "$LAB_EXE" --backend cpu mlp-digits >"$out" 2>"$err" ||
    status=$?
tr -d '\033' <"$out" | grep 'screen.keys:' >"$work/wrong"
cp "$work/wrong" "$out"
expect_exit 0
