#!/usr/bin/env python3
"""stepper.py [PROGRAM]: the stepper with a lesson of very many steps.

An LSTM over 128 time steps, and one over 2500 (ten thousand steps and more),
are opened on a pseudo-terminal of 80x24. Each figure is the time from a key
until the last byte of the screen that it makes was written; a screen counts as
finished when nothing more comes for 120 ms.

  open        from the program's start until the first step can be run, less the
              same of a lesson of six steps: what the many steps cost
  jump        to the last step of the list and back to the first; to a step by
              name (:until is not meant: that one runs the steps in between)
  search      for a name near the end, and for one that is not there
  collapse    the layer, all layers, and all of them again
  step        one step forward, one back, where the walk stands in the middle
  break       a breakpoint at a step near the end

Prints one JSON object a line; a figure above 50 ms ends it with 1. Python 3 and
nothing else.
"""
import json
import os
import pathlib
import select
import statistics
import sys
import tempfile
import time

from screens import ESCAPE, ROOT, Screen

LIMIT_MS = 50
TIMES = 15
QUIET_SECONDS = 0.12
LESSON = """---
format: 1
title: A long memory
seed: 7
data:
  source: inline
  x: {{shape: [1, {steps}, 1], fill: 0.5}}
  y: [[0.25, 0.5, 0.75]]
network:
  - {{id: lstm1, op: lstm, hidden: 3, return: last}}
loss: {{op: mse}}
optimizer: {{op: sgd, lr: 0.1}}
---
"""
SMALL = """---
format: 1
title: Small
seed: 7
data: {source: inline, x: [[1, 2]], y: [[1]]}
network:
  - {id: fc1, op: dense, units: 1, bias: false}
loss: {op: mse}
optimizer: {op: sgd, lr: 0.1}
---
"""


def settle(screen, keys):
    """Milliseconds from the keys to the last byte that they brought."""
    last, pressed = None, time.monotonic()
    screen.press(keys)
    while select.select([screen.fd], [], [],
                        QUIET_SECONDS if last else 5)[0]:
        screen.text += os.read(screen.fd, 65536)
        last = time.monotonic()
    if last is None:
        raise SystemExit("stepper.py: the screen did not change")
    return (last - pressed) * 1e3


def open_lesson(program, path, home):
    screen = Screen([program, "--backend", "cpu", str(path)], home)
    return screen, (screen.wait_for(b"next: ") - screen.start) * 1e3


def open_times(program, long, small, home):
    """What the long one takes more, in turn: wall and processor time."""
    wall, processor = [], []
    for _ in range(TIMES + 1):
        found = []
        for path in (small, long):
            screen, ms = open_lesson(program, path, home)
            found.append((ms, screen.cpu_seconds() * 1e3))
            screen.close()
        wall.append(found[1][0] - found[0][0])
        processor.append(found[1][1] - found[0][1])
    return wall[1:], processor[1:]


def see(screen, text):
    if text not in ESCAPE.sub(b"", screen.text):
        raise SystemExit(f"stepper.py: {text!r} is not on the screen")


class Bench:
    def __init__(self, steps):
        self.steps, self.slow = steps, False

    def tell(self, name, values):
        median = statistics.median(values)
        self.slow = self.slow or median > LIMIT_MS
        print(json.dumps({"figure": name, "time_steps": self.steps,
                          "unit": "ms", "n": len(values),
                          "median": round(median, 2),
                          "min": round(min(values), 2),
                          "max": round(max(values), 2)}), flush=True)

    def keys(self, screen, figures):
        """figures: (name, keys that prepare, the key, text it brings)."""
        times = {name: [] for name, _, _, _ in figures}
        for _ in range(TIMES):
            for name, before, key, text in figures:
                for keys in before:
                    settle(screen, keys)
                times[name].append(settle(screen, key))
                if text:
                    see(screen, text)
        for name, _, _, _ in figures:
            self.tell(name, times[name])


def one_size(program, home, steps):
    bench = Bench(steps)
    path, small = (pathlib.Path(home) / n for n in ("long.md", "small.md"))
    path.write_text(LESSON.format(steps=steps))
    small.write_text(SMALL)
    wall, processor = open_times(program, path, small, home)
    bench.tell("open", wall)
    bench.tell("open, processor time", processor)
    screen, _ = open_lesson(program, path, home)
    settle(screen, b"j")
    far = b"cell.%d" % (steps - 3)
    bench.keys(screen, [
        ("jump to the last step", [], b"G", b""),
        ("jump to the first step", [], b"g", b""),
        ("search, a name near the end", [b"g/" + far], b"\r", far),
        ("search, the next match", [], b"n", b""),
        ("search, no match", [b"\x1b", b"g/nothing"], b"\r",
         b"no step or tensor"),
        ("break near the end", [b"g/" + far + b"\r"], b"b",
         b"breakpoint at"),
        ("break, removed", [], b"b", b"no breakpoint"),
        ("collapse the layer", [b"\x1b", b"g", b"jj"], b" ", b""),
        ("open the layer", [], b" ", b""),
        ("collapse all", [], b"-", b""),
        ("open all", [], b"-", b""),
    ])
    screen.press(b":until lstm1.cell.%d\r" % (steps // 2))
    screen.drain(2)
    bench.keys(screen, [("step", [], b"s", b""),
                        ("back", [], b"r", b"")])
    screen.close()
    return bench.slow


def main():
    program = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                               ROOT / "build/default/bin/lapenna-lab").resolve())
    with tempfile.TemporaryDirectory() as home:
        slow = [one_size(program, home, steps) for steps in (128, 2500)]
    sys.exit(1 if any(slow) else 0)


main()
