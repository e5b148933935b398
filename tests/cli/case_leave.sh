# shellcheck shell=sh
# A first TERM after q, while the lesson closes, lets it close: the run is a
# cancelled one and the exit code the signal's.
inline_lesson small
command=' small.md (q, then TERM)'
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_leave.py" leave.db "$LAB_EXE" \
    small.md --backend cpu --db leave.db >"$out" 2>"$err" </dev/null || status=$?
expect_exit 0
expect_stdout 'exit 143 run cancelled'
