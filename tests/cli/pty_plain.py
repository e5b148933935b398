#!/usr/bin/env python3
"""pty_plain.py PROGRAM ARG... -- plain stepping on a terminal of its own: the
prompt, an empty line that repeats, Ctrl-C at the prompt and while training,
the end of input. Exits 1 with what was seen when something does not hold."""
import os
import pty
import select
import sys
import time

LIMIT_S = 300  # a sanitized build on a busy machine

seen = ""
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execv(sys.argv[1], sys.argv[1:])


def fail(text):
    sys.stderr.write(f"{text}\n--- seen:\n{seen[-3000:]}\n")
    sys.exit(1)


def expect(text, times=1):
    """Reads until text has come that often since the last expect()."""
    global seen
    end = time.monotonic() + LIMIT_S
    while seen.count(text) < times:
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            fail(f"never came: {text!r}")
        try:
            data = os.read(fd, 65536)
        except OSError:
            data = b""
        if not data:
            fail(f"ended before: {text!r}")
        seen += data.decode(errors="replace")
    seen = seen[seen.rindex(text) + len(text):]


def send(text):
    os.write(fd, text.encode())


expect("(lab) ")
send("step\n")
expect("Next: 2. ")
expect("(lab) ")
send("\n")  # again
expect("Next: 3. ")
expect("(lab) ")
send("list breaks\n")
expect("(lab) ")
send("\n")  # nothing: `list` is no move
expect("(lab) ")
if "Next:" in seen:
    fail("an empty line repeated what is no move")
send("print fc1")
time.sleep(0.2)
send("\x03")  # drops the line
expect("(lab) ")
send("print fc1.b[0]\n")
expect("fc1.b[0] = ")
expect("(lab) ")
send("train 1000000000\n")
time.sleep(1)
send("\x03")
expect("training stopped after ")
expect("(lab) ")
send("step\n")
expect("(lab) ")
send("\x04")
end = time.monotonic() + LIMIT_S
while time.monotonic() < end:
    done, status = os.waitpid(pid, os.WNOHANG)
    if done:
        if status != 0:
            fail(f"ended with {status:#x}")
        sys.exit(0)
    if select.select([fd], [], [], 0.1)[0]:
        try:
            seen += os.read(fd, 65536).decode(errors="replace")
        except OSError:
            pass
fail("did not end with its input")
