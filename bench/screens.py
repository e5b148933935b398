#!/usr/bin/env python3
"""screens.py [PROGRAM]: how long the screens let a person wait.

Three figures, each measured on a pseudo-terminal of 80x24 with an empty
database and an empty home of its own:

  first frame   from starting the program until the last line of the screen has
                been written (home screen, and a lesson in the stepper; the
                latter also until its data are read and the plan is built)
  key           from pressing ? until the help stands on the screen, while a
                training run goes on (the run is checked to go on)
  idle          the share of one core that the program uses when nobody presses
                a key and nothing runs

Prints one JSON object a line. Python 3 and nothing else. The files are in the
page cache: one start is made before the measured ones.
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import statistics
import struct
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
STARTS = 30
KEYS = 100
IDLE_SECONDS = 10
ESCAPE = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])")


class Screen:
    """A program on a terminal of its own."""

    def __init__(self, words, home):
        self.start = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8",
                              XDG_STATE_HOME=home, HOME=home)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
            os.execv(words[0], words)
        self.text = b""

    def drain(self, seconds):
        """Reads until the time is over."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                self.text += os.read(self.fd, 65536)

    def wait_for(self, marker, seconds=10):
        """Reads until the marker was written; returns the moment."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                self.text += os.read(self.fd, 65536)
                if marker in ESCAPE.sub(b"", self.text):
                    return time.monotonic()
        raise SystemExit(f"screens.py: {marker!r} did not come")

    def press(self, keys):
        self.text = b""
        os.write(self.fd, keys)
        return time.monotonic()

    def cpu_seconds(self):
        total = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def close(self):
        os.kill(self.pid, signal.SIGTERM)
        while True:  # what it still writes must be read, or it cannot end
            try:
                if not os.read(self.fd, 65536):
                    break
            except OSError:
                break
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def summary(name, unit, values):
    print(json.dumps({"figure": name, "unit": unit, "n": len(values),
                      "median": round(statistics.median(values), 3),
                      "min": round(min(values), 3),
                      "max": round(max(values), 3)}), flush=True)


def start(name, words, home, marker):
    times = []
    for _ in range(STARTS + 1):
        screen = Screen(words, home)
        times.append((screen.wait_for(marker) - screen.start) * 1e3)
        screen.close()
    summary(name, "ms", times[1:])


def key_while_training(program, home):
    screen = Screen([program, "--backend", "cpu", "--iterations", "1000000000",
                     "mlp-digits"], home)
    screen.wait_for(b"q back")
    screen.drain(0.5)
    screen.press(b"t")
    screen.wait_for(b"training")
    screen.drain(1)
    cpu, begin, times = screen.cpu_seconds(), time.monotonic(), []
    for _ in range(KEYS):
        pressed = screen.press(b"?")
        times.append((screen.wait_for(b"Keys of this screen") - pressed) * 1e3)
        screen.press(b"q")
        screen.drain(0.13)
    share = (screen.cpu_seconds() - cpu) / (time.monotonic() - begin)
    screen.close()
    if share < 0.5:
        raise SystemExit("screens.py: the training run did not go on: "
                         f"{share:.0%} of a core")
    summary("key while training", "ms", times)


def idle(name, words, home):
    screen = Screen(words, home)
    screen.wait_for(b"q back")
    screen.drain(2)
    cpu = screen.cpu_seconds()
    screen.drain(IDLE_SECONDS)
    share = (screen.cpu_seconds() - cpu) / IDLE_SECONDS
    screen.close()
    summary(f"idle, {name}", "% of a core", [share * 100])


def main():
    program = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                               ROOT / "build/default/bin/lapenna-lab").resolve())
    with tempfile.TemporaryDirectory() as home:
        cpu = [program, "--backend", "cpu"]
        lesson = cpu + ["mlp-digits"]
        start("first frame, home", cpu, home, b"q back")
        start("first frame, stepper", lesson, home, b"q back")
        start("stepper, ready to step", lesson, home, b"next: fc1.matmul")
        key_while_training(program, home)
        idle("home", cpu, home)
        idle("stepper", lesson, home)


if __name__ == "__main__":
    main()
