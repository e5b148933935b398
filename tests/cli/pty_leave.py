#!/usr/bin/env python3
"""pty_leave.py DB PROGRAM ARG... -- opens a lesson on a terminal, trains, holds
the database so that leaving takes a moment, types q, and y to the question
whether to leave the training, until the screen has gone,
sends a first TERM, lets the database go. Prints how the program ended and what
the run is."""
import fcntl
import os
import pty
import select
import signal
import sqlite3
import struct
import sys
import termios
import time

LIMIT_S = 300
db, args = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(args[0], args)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
seen = b""
end = time.monotonic() + LIMIT_S


def read(done):
    """Reads what the screen shows until done() holds."""
    global seen
    while not done():
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            sys.exit("it takes too long; the last that was seen: %r" %
                     seen[-200:])
        if select.select([fd], [], [], 0.02)[0]:
            try:
                seen += os.read(fd, 65536)
            except OSError:
                return


def runs():
    try:
        with sqlite3.connect("file:%s?mode=ro" % db, uri=True) as c:
            return c.execute("SELECT status FROM run").fetchall()
    except sqlite3.Error:
        return []


read(lambda: b"step 0 of" in seen)
os.write(fd, b":train 1000000000\r")
read(lambda: len(runs()) == 1)
holder = sqlite3.connect(db, isolation_level=None, timeout=60)
holder.execute("BEGIN IMMEDIATE")
os.write(fd, b"q")
gone = b"\x1b[?1049l"
while gone not in seen:  # the training screen, then the stepper
    until = time.monotonic() + 0.3
    read(lambda: gone in seen or time.monotonic() > until)
    if gone not in seen:  # a training that goes on is asked about
        os.write(fd, b"y" if b"(y/n)" in seen else b"q")
os.kill(pid, signal.SIGTERM)
time.sleep(0.2)
holder.execute("COMMIT")
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print("exit", code, "run", runs()[0][0])
