#!/usr/bin/env python3
"""pty_run.py [--say TEXT]... PROGRAM ARG... -- runs a program on a terminal of
its own, types each TEXT and a line's end when the program has asked (": " at
the end of what it wrote), prints all that it wrote, and exits as it did. A
program that has not ended after LIMIT_S is killed, and that is reported."""
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import time

LIMIT_S = 600  # a sanitized build on a busy machine; ctest ends it at 900

args = sys.argv[1:]
answers = []
while args and args[0] == "--say":
    answers.append(args[1])
    args = args[2:]
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(args[0], args)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
seen = ""
new = ""
end = time.monotonic() + LIMIT_S
while time.monotonic() < end:
    if not select.select([fd], [], [], 1)[0]:
        continue
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    seen += data.decode(errors="replace")
    new += data.decode(errors="replace")
    if answers and new.endswith(": "):
        os.write(fd, (answers.pop(0) + "\n").encode())
        new = ""
else:
    seen += f"\nkilled: it had not ended after {LIMIT_S} s\n"
    os.kill(pid, 9)
sys.stdout.write(seen.replace("\r\n", "\n"))
status = os.waitpid(pid, 0)[1]
if answers:
    sys.stdout.write(f"\nnever asked for: {answers}\n")
    sys.exit(99)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
