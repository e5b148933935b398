# shellcheck shell=sh
# While `run` trains, a terminal's standard error has one line that is written
# over again; what is no terminal gets none.
cat >"$work/pty_stderr.py" <<'END'
"""Runs a program whose stdout is a pipe and whose stderr is a terminal of 60
columns; writes both into files and exits as it did."""
import fcntl, os, pty, struct, subprocess, sys, termios, threading

out, err, program = sys.argv[1], sys.argv[2], sys.argv[3:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
with open(out, "wb") as o, open(err, "wb") as e:
    child = subprocess.Popen(program, stdin=subprocess.DEVNULL, stdout=o,
                             stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        e.write(data)
sys.exit(child.wait())
END
on_terminal() {
    status=0
    command="on a terminal: $*"
    "${LAB_PYTHON:-python3}" "$work/pty_stderr.py" "$out" "$err" \
        "$LAB_EXE" "$@" || status=$?
}

on_terminal run mlp-digits --backend cpu --epochs 2
expect_exit 0
expect_stdout 'epoch 2'
! grep -q "$(printf '\033')" "$out" || complain 'an escape sequence on stdout'
tr '\r' '\n' <"$err" >"$work/lines"
grep -q '^[0-9]* of [0-9]* iterations  loss [0-9.]*  [0-9]* samples/s' \
    "$work/lines" || complain 'no progress on the terminal'
awk 'length($0) > 59 + 3 { exit 1 }' "$work/lines" ||
    complain 'a line is wider than the terminal'
# Nothing of it is left: the last thing written clears the line.
printf '\r\033[K' >"$work/clear"
tail -c 4 "$err" | cmp -s - "$work/clear" || complain 'a line is left over'

on_terminal run mlp-digits --backend cpu --epochs 1 --json
expect_exit 0
expect_no_stderr
exits 0 run mlp-digits --backend cpu --epochs 1
expect_no_stderr
expect_no_escape
