# shellcheck shell=sh
# Conventions of docs/terminal.md on a real terminal: the mouse, the least size, the
# badge; and that lines of JSON come one by one.
export LAPENNA_LAB_MODULE_DIR="$work/none"
# typed COLUMNS ROWS AWAIT KEYS ARG...: what the program sends to a terminal of that
# size until it has ended; KEYS are typed when AWAIT is there.
typed() {
    command=" $* (on a terminal)"
    status=0
    timeout 120 "${LAB_PYTHON:-python3}" - "$LAB_EXE" "$@" >"$out" 2>"$err" <<'END' ||
import fcntl, os, pty, re, select, struct, sys, termios, time
exe, columns, rows, wanted, keys, *words = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
    fcntl.ioctl(0, termios.TIOCSWINSZ,
                struct.pack("4H", int(rows), int(columns), 0, 0))
    os.execv(exe, [exe, *words])
seen = b""
end = time.monotonic() + 60
while time.monotonic() < end:
    if not select.select([fd], [], [], 1)[0]:
        continue
    try:
        data = os.read(fd, 65536)
    except OSError:
        data = b""
    if not data:
        break
    seen += data
    if keys and wanted.encode() in re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", seen):
        os.write(fd, keys.encode())
        keys = ""
sys.stdout.write(seen.decode(errors="replace").replace("\x1b", "<ESC>"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
        status=$?
}
mouse='1000h'

typed 80 24 'Last runs' q --db none.db
expect_exit 0
expect_stdout "$mouse"
expect_stdout '[CPU]'
typed 80 24 'Last runs' q --db none.db --no-mouse
expect_exit 0
if grep -qF "$mouse" "$out"; then
    complain "--no-mouse takes the mouse"
fi

# Too small for a screen: both sizes, and the way out.
typed 50 12 '60x16' q --db none.db
expect_exit 0
expect_stdout '50x12'

# A reader behind a pipe has each line when it is there. All lines together are less
# than one buffer, of a run of iterations that take a while: the first must not come
# with the last.
inline_lesson small
sed 's/^  - {op: relu}/  - {op: dense, units: 4096}\n&\n  - {op: dense, units: 4096}/' \
    small.md >wide.md
command=' run --json in a pipe'
status=0
timeout 120 "${LAB_PYTHON:-python3}" - "$LAB_EXE" >"$out" 2>"$err" <<'END' ||
import os, subprocess, sys
run = subprocess.Popen([sys.argv[1], *"""run wide.md --json --backend cpu
    --iterations 20 --db pipe.db""".split()],
    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
parts = []
while part := os.read(run.stdout.fileno(), 65536):
    parts.append(part)
whole = b"".join(parts)
sys.stdout.write(whole.decode())
assert len(whole) < 4096, len(whole)
assert b'"summary"' not in parts[0], parts[0]
sys.exit(run.wait())
END
    status=$?
expect_exit 0
[ "$(wc -l <"$out")" -eq 21 ] || complain 'not a line of each iteration'
[ "$(grep -c '"format":1' "$out")" -eq 21 ] || complain 'a line has no format'
