#!/usr/bin/env python3
"""screens.py [PROGRAM]: how long the screens let a person wait.

Five figures, each measured on a pseudo-terminal with an empty database and an
empty home of its own, of 80x24 and, where so named, of 300x100:

  first frame   from starting the program until the last line of the screen has
                been written (home screen, and a lesson in the stepper; the
                latter also until its data are read and the plan is built)
  key           from pressing ? until the help is on the screen, while a
                training run goes on (the run is checked to go on); also with
                pictures in pixels, of a small GPT, and back from the help to
                the curves
                (a third figure leaves out what the thread of the screens
                waited for a core, which the training uses, too)
  curves        bytes a second that are written while it trains and no key is
                pressed
  redraw        bytes that are written when the cursor moves in a tensor, beside
                those of a whole frame
  idle          the share of one core that the program uses when no key is pressed
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
SMALL = (24, 80)
LARGE = (100, 300)
TAIL = 4096  # a marker may be in several pieces
CELL = (16, 8)  # pixels of a character
IDLE_SECONDS = 10
CURVES_SECONDS = 4
ESCAPE = re.compile(rb"\x1b(\[[0-?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])")


class Screen:
    """A program on a terminal of its own."""

    def __init__(self, words, home, size=SMALL):
        self.start = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8",
                              XDG_STATE_HOME=home, HOME=home)
            rows, columns = size
            fcntl.ioctl(0, termios.TIOCSWINSZ,
                        struct.pack("4H", rows, columns, columns * CELL[1],
                                    rows * CELL[0]))
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
        seen = 0
        while (left := end - time.monotonic()) > 0:
            if select.select([self.fd], [], [], left)[0]:
                self.text += os.read(self.fd, 65536)
                moment = time.monotonic()
                # Only the end is new: to look through an image before it again
                # and again would make this program the slow one.
                if marker in ESCAPE.sub(b"", self.text[max(seen - TAIL, 0):]):
                    return moment
                seen = len(self.text)
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

    def waited_ms(self):
        """How long the thread of the screens was ready and had no core."""
        text = pathlib.Path(f"/proc/{self.pid}/schedstat").read_text()
        return int(text.split()[1]) / 1e6

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
                      "percentile_95": round(
                          sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)], 3),
                      "min": round(min(values), 3),
                      "max": round(max(values), 3)}), flush=True)


def start(name, words, home, marker, size=SMALL):
    times = []
    for _ in range(STARTS + 1):
        screen = Screen(words, home, size)
        times.append((screen.wait_for(marker) - screen.start) * 1e3)
        screen.close()
    summary(name, "ms", times[1:])


def key_while_training(name, words, home, size, lesson="mlp-digits"):
    """The help over the training screen, and the training screen again."""
    screen = Screen(words + ["--iterations", "1000000000", lesson], home, size)
    screen.wait_for(b"next: ")
    screen.drain(0.5)
    screen.press(b"t")
    screen.wait_for(b"iteration")
    screen.drain(1)
    cpu, begin = screen.cpu_seconds(), time.monotonic()
    help_ms, back_ms, own_ms = [], [], []
    for _ in range(KEYS):
        for key, marker, times in ((b"?", b"Keys of this screen", help_ms),
                                   (b"q", b"log scale", back_ms)):
            waited = screen.waited_ms()
            pressed = screen.press(key)
            times.append((screen.wait_for(marker) - pressed) * 1e3)
            own_ms.append(max(times[-1] - (screen.waited_ms() - waited), 0))
            screen.drain(0.07)
    share = (screen.cpu_seconds() - cpu) / (time.monotonic() - begin)
    screen.text = b""
    screen.drain(CURVES_SECONDS)
    written = len(screen.text) / CURVES_SECONDS
    screen.close()
    if share < 0.5:
        raise SystemExit("screens.py: the training run did not go on: "
                         f"{share:.0%} of a core")
    summary(f"key while training, {name}", "ms", help_ms)
    summary(f"back to the curves, {name}", "ms", back_ms)
    summary(f"both, without waiting for a core, {name}", "ms", own_ms)
    summary(f"curves, {name}", "bytes a second", [written])


def redraw(name, words, home, size):
    screen = Screen(words + ["mlp-digits"], home, size)
    screen.wait_for(b"next: fc1.matmul")
    screen.press(b"ss2")
    screen.drain(1)
    moved = []
    for _ in range(10):
        screen.press(b"l")
        screen.drain(0.2)
        moved.append(len(screen.text))
    screen.press(b"\x0c")
    screen.drain(0.5)
    whole = len(screen.text)
    screen.close()
    summary(f"redraw of a moved cursor, {name}", "bytes", moved)
    summary(f"redraw of a whole frame, {name}", "bytes", [whole])


def idle(name, words, home, marker):
    screen = Screen(words, home)
    screen.wait_for(marker)
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
        start("first frame, home", cpu, home, b"q quit")
        start("first frame, stepper", lesson, home, b"q back")
        start("stepper, ready to step", lesson, home, b"next: fc1.matmul")
        start("first frame, home, 300x100", cpu, home, b"q quit", LARGE)
        start("first frame, stepper, 300x100", lesson, home, b"q back", LARGE)
        key_while_training("80x24", cpu, home, SMALL)
        for how in "none", "sixel", "kitty":
            words = cpu + ["--graphics", how]
            key_while_training(f"300x100, graphics {how}", words, home, LARGE)
            redraw(f"300x100, graphics {how}", words, home, LARGE)
        key_while_training("300x100, gpt", cpu, home, LARGE, "gpt")
        idle("home", cpu, home, b"q quit")
        idle("stepper", lesson, home, b"q back")


if __name__ == "__main__":
    main()
