# shellcheck shell=sh
# Plain stepping on a terminal.
inline_lesson small
command=' --plain small.md (on a terminal)'
status=0
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_plain.py" "$LAB_EXE" --plain \
    small.md --backend cpu >"$out" 2>"$err" </dev/null || status=$?
expect_exit 0
