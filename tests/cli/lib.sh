# shellcheck shell=sh
# lib.sh -- sourced by each case in this directory; run_cli.sh starts a case.
#
# A case runs the program with `run` and then states what must hold. Every
# complaint is printed with the command and what it wrote; the case goes on, and
# ends with exit code 1 when there was one.
#
#   run ARG...               runs $LAB_EXE; keeps $out, $err (files) and $status
#   exits N ARG...           the same, and N is its exit code
#   play ARG... <<END        on a terminal, with the keys of a script
#                            (src/ui/shell/ui.c); its exit code is 0
#   play_exits N ARG...      the same with the exit code N
#   expect_exit N            the exit code of what ran last
#   expect_stdout TEXT       standard output holds TEXT (fixed, one line)
#   expect_stderr TEXT       the same of standard error
#   expect_error ID          the error's id, with LAPENNA_LAB_ERRORS=json
#   expect_no_stdout         nothing was printed
#   expect_no_stderr         no diagnostic
#   expect_json [EXPR...]    JSON Lines (json_lines.py has what EXPR may say)
#   expect_ascii             no byte above 0x7F on either
#   expect_no_escape         no ESC byte on either
#   expect_file FILE         FILE is there and not empty
#   lesson NAME <<END        writes $work/NAME.md from standard input
#   inline_lesson NAME       writes a small lesson with inline data: inline.md
#   sql DB STATEMENTS        runs them on a database, and prints what they find:
#                            a row a line, its values between bars
#
# $work is an empty directory of the case's own, and the current directory.
# HOME and the XDG directories are under it.
set -u

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME="$work/home" XDG_STATE_HOME="$work/state"
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data"
mkdir -p "$HOME" "$XDG_STATE_HOME" "$XDG_CONFIG_HOME" "$XDG_DATA_HOME"
unset LAPENNA_LAB_COMMAND LAPENNA_LAB_MODULE_DIR LAPENNA_LAB_DATA_DIR NO_COLOR
unset LAPENNA_LAB_ERRORS
out=$work/out
err=$work/err
status=0
command=
complaints=0

complain() {
    complaints=$((complaints + 1))
    printf 'FAILED: %s\n  command: lapenna-lab%s\n' "$*" "$command"
    printf '  exit %s\n' "$status"
    head -c 2000 "$out" | head -n 20 | sed 's/^/  out: /'
    head -c 2000 "$err" | head -n 20 | sed 's/^/  err: /'
}

# Ends the case; run_cli.sh calls it.
finish() {
    [ "$complaints" -eq 0 ] || exit 1
    exit 0
}

run() {
    command=
    for word in "$@"; do
        command="$command '$word'"
    done
    status=0
    timeout "${RUN_LIMIT:-600}" "$LAB_EXE" "$@" </dev/null >"$out" 2>"$err" ||
        status=$?
}

exits() {
    expected=$1
    shift
    run "$@"
    expect_exit "$expected"
}

play_exits() {
    expected=$1
    shift
    cat >keys
    command=" $* (on a terminal)"
    status=0
    LAPENNA_LAB_SCRIPT=keys timeout "${RUN_LIMIT:-600}" \
        "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" "$LAB_EXE" "$@" \
        >"$out" 2>"$err" </dev/null || status=$?
    expect_exit "$expected"
}

play() {
    play_exits 0 "$@"
}

expect_error() {
    expect_stderr "{\"type\":\"error\",\"id\":\"$1\",\"exit\":$status,"
}

expect_exit() {
    [ "$status" -eq "$1" ] || complain "exit $status, not $1"
}

expect_stdout() {
    grep -qF -e "$1" "$out" || complain "stdout does not hold: $1"
}

expect_stderr() {
    grep -qF -e "$1" "$err" || complain "stderr does not hold: $1"
}

expect_no_stdout() {
    [ ! -s "$out" ] || complain "something on stdout"
}

expect_no_stderr() {
    [ ! -s "$err" ] || complain "something on stderr"
}

expect_json() {
    if ! "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/json_lines.py" "$out" "$@" \
        2>"$work/json-errors"; then
        complain "$(cat "$work/json-errors")"
    fi
}

expect_ascii() {
    if LC_ALL=C grep -q '[^ -~	]' "$out" "$err"; then
        complain "a byte that is not printable ASCII"
    fi
}

expect_no_escape() {
    if grep -q "$(printf '\033')" "$out" "$err"; then
        complain "an escape sequence"
    fi
}

expect_file() {
    [ -s "$1" ] || complain "not there, or empty: $1"
}

lesson() {
    cat >"$work/$1.md"
}

sql() {
    "${LAB_PYTHON:-python3}" -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2].split(";"):
    for row in d.execute(statement):
        print("|".join("" if v is None else str(v) for v in row))' "$@"
}

inline_lesson() {
    cat "$LAB_CLI_DIR/inline.md" >"$work/$1.md"
}
