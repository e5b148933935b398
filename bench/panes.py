#!/usr/bin/env python3
"""panes.py [--size COLSxROWS]... [--steps N] [--lines N] [--over] [--program FILE]
[--keys KEYS] [LESSON]...: how much of each of the stepper's panes is empty.

Opens each lesson (without names: all of them) in the stepper on a terminal of
its own, 200x60 and 120x40 unless --size is given, walks its steps with s, and
looks at the screen after each: --steps at most (32).
A cell is empty when it is blank, has the terminal's own background, and is not
one of at most three blanks between two words. For each pane:

  empty   share of its cells that are empty, without its title line
  hole    share of the largest rectangle of empty cells

Prints the steps whose tensor pane has the largest hole (--lines, 20), then for
each size and pane one JSON object: the medians, the largest, and how many of
the steps have more than a third.  --keys are typed before the walk ("z", "A").
With --over also each step whose tensor is empty by more than a third, or whose
explanation has such a hole.
With --steps 0 the first screen alone is looked at, before any step has run.
Needs Python's pyte (Debian: python3-pyte).
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import pyte
from screens import ROOT, Screen

THIRD = 1 / 3
QUIET_SECONDS = 0.08
LIMIT_SECONDS = 20
PANES = ("1 steps", "2 tensor", "3 explain", "4 kernels", "5 lesson")
REPEAT = re.compile(rb"([\x20-\x7e]|[\xc2-\xf4][\x80-\xbf]{1,3})\x1b\[(\d+)b")


class Page(pyte.Screen):
    """A terminal that scrolls a region, which pyte does not know."""

    def scroll(self, down, times):
        top, bottom = self.margins or (0, self.lines - 1)
        y, x = self.cursor.y, self.cursor.x
        for _ in range(times or 1):
            self.cursor.y = top if down else bottom
            (self.reverse_index if down else self.index)()
        self.cursor.y, self.cursor.x = y, x

    def scroll_up(self, times=1, **_):
        self.scroll(False, times)

    def scroll_down(self, times=1, **_):
        self.scroll(True, times)


class Stream(pyte.ByteStream):
    csi = dict(pyte.ByteStream.csi, S="scroll_up", T="scroll_down")
    events = pyte.ByteStream.events | {"scroll_up", "scroll_down"}


class Look:
    """What stands on a Screen of bench/screens.py."""

    def __init__(self, words, home, columns, rows):
        self.screen = Screen(words, home, (rows, columns))
        self.page = Page(columns, rows)
        self.stream = Stream(self.page)

    def settle(self, until=None):
        """Reads until nothing comes any more, and `until` holds."""
        end = time.monotonic() + LIMIT_SECONDS
        while time.monotonic() < end:
            self.screen.text = b""
            try:
                self.screen.drain(QUIET_SECONDS)
            except OSError:  # the program has ended
                return False
            if self.screen.text:  # pyte does not know "repeat the character"
                self.stream.feed(REPEAT.sub(
                    lambda m: m.group(1) * (1 + int(m.group(2))),
                    self.screen.text))
            elif until is None or until():
                return True
        return False

    def press(self, keys):
        os.write(self.screen.fd, keys.encode())

    def row(self, y):
        line = self.page.buffer[y]
        return [line[x] for x in range(self.page.columns)]

    def has(self, text):
        return any(text in line for line in self.page.display)


def titles(look):
    """Of each pane in sight: where its title line is."""
    found = {}
    for y, line in enumerate(look.page.display):
        for name in PANES:
            at = line.find(name)
            if at > 0 and name not in found:
                found[name] = (y, at)
    return found


def panes(look):
    """Name to (y, x, h, w) of what is below its title."""
    found = titles(look)
    display = look.page.display
    rects = {}
    for name, (y, at) in found.items():
        # The columns' lines are on the row below the title.
        below = display[y + 1] if y + 1 < look.page.lines else ""
        left = below.rfind("│", 0, at) + 1
        right = below.find("│", at)
        right = look.page.columns if right < 0 else right
        bottom = look.page.lines - 1  # the keys
        for other, (oy, ox) in found.items():
            if oy > y and left <= ox < right:
                bottom = min(bottom, oy)
        rects[name] = (y + 1, left, bottom - y - 1, right - left)
    return rects


def empty_cells(look, rect):
    """Rows of booleans."""
    y0, x0, h, w = rect
    rows = []
    for y in range(y0, y0 + h):
        cells = look.row(y)[x0:x0 + w]
        blank = [c.data in (" ", "") and c.bg == "default" and not c.reverse
                 for c in cells]
        x = 0
        while x < w:  # blanks between words
            end = x
            while end < w and blank[end]:
                end += 1
            if 0 < x and end < w and 0 < end - x <= 3:
                blank[x:end] = [False] * (end - x)
            x = max(end, x) + 1
        rows.append(blank)
    return rows


def largest_rectangle(rows):
    best = 0
    heights = [0] * len(rows[0]) if rows else []
    for row in rows:
        heights = [h + 1 if e else 0 for h, e in zip(heights, row)]
        stack = []
        for x, h in enumerate(heights + [0]):
            start = x
            while stack and stack[-1][1] >= h:
                start, tall = stack.pop()
                best = max(best, tall * (x - start))
            stack.append((start, h))
    return best


def waits(look):
    """Whether a picture of the tensor pane is still on its way."""
    y0, x0, h, w = panes(look).get("2 tensor", (0, 0, 0, 0))
    return any(re.search(r"(?:^| )\.\.\. {6}", line[x0:x0 + w])
               for line in look.page.display[y0:y0 + h])


def judge(look):
    """Pane to (empty, hole)."""
    out = {}
    for name, rect in panes(look).items():
        rows = empty_cells(look, rect)
        cells = rect[2] * rect[3]
        if cells > 0:
            out[name] = (sum(map(sum, rows)) / cells,
                         largest_rectangle(rows) / cells)
    return out


def state_line(look):
    """The iteration and the step where the walk is."""
    found = re.search(r"iteration \d+ +step \d+",
                      "\n".join(look.page.display[:16]))
    return found.group(0) if found else ""


def walk(words, lesson, columns, rows, keys, most):
    """(step, pane's shares) after each step."""
    with tempfile.TemporaryDirectory() as home:
        look = Look(words + [lesson], home, columns, rows)
        try:
            if not look.settle(lambda: look.has("2 tensor") and
                               look.has("step 0 of")):
                print(f"{lesson}: no stepper")
                return
            for key in keys:
                look.press(key)
                look.settle()
            if most == 0:
                yield "first screen", judge(look)
            for step in range(most):
                before = state_line(look)
                look.press("s")
                if not look.settle(lambda: state_line(look) != before and
                                   not waits(look)):
                    return
                where = re.search(r"step (\d+)/(\d+)",
                                  "\n".join(look.page.display[:16]))
                name = ""
                for y, line in enumerate(look.page.display[:24]):
                    if "1 steps" in line:
                        name = look.page.display[y - 1].strip()[:44]
                        break
                yield name, judge(look)
                if where and where.group(1) == where.group(2):
                    return
        finally:
            look.screen.close()


def lessons_of(program):
    out = subprocess.run([program, "lesson", "list", "--json"], check=True,
                         capture_output=True, text=True).stdout
    names = []
    for line in out.splitlines():
        record = json.loads(line)
        if record.get("kind") == "lesson":
            names.append(record["id"])
    return names


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("--size", action="append")
    ask.add_argument("--steps", type=int, default=32)
    ask.add_argument("--lines", type=int, default=20)
    ask.add_argument("--over", action="store_true")
    ask.add_argument("--keys", default="")
    ask.add_argument("--program",
                     default=str(ROOT / "build/default/bin/lapenna-lab"))
    ask.add_argument("lesson", nargs="*")
    args = ask.parse_args()
    program = str(pathlib.Path(args.program).resolve())
    words = [program, "--backend", "cpu"]
    for size in args.size or ["200x60", "120x40"]:
        columns, rows = map(int, size.split("x"))
        seen = []
        for lesson in args.lesson or lessons_of(program):
            for name, shares in walk(words, lesson, columns, rows, args.keys,
                                     args.steps):
                seen += [(lesson, name, pane, *s)
                         for pane, s in shares.items()]
        worst = sorted((s for s in seen if s[2] == "2 tensor"),
                       key=lambda s: -s[4])
        for lesson, name, pane, empty, hole in worst[:args.lines]:
            print(f"{size} {lesson:22} {name:46} empty {empty:4.0%} "
                  f"hole {hole:4.0%}")
        for lesson, name, pane, empty, hole in seen if args.over else []:
            if (pane == "2 tensor" and empty > THIRD or
                    pane == "3 explain" and hole > THIRD):
                print(f"{pane} {lesson:22} {name:46} empty {empty:4.0%} "
                      f"hole {hole:4.0%}")
        for pane in PANES:
            of = [s for s in seen if s[2] == pane]
            if not of:
                continue
            print(json.dumps({
                "size": size, "pane": pane, "n": len(of),
                "empty_median": round(statistics.median(s[3] for s in of), 2),
                "empty_max": round(max(s[3] for s in of), 2),
                "empty_over_third": sum(s[3] > THIRD for s in of),
                "hole_median": round(statistics.median(s[4] for s in of), 2),
                "hole_max": round(max(s[4] for s in of), 2),
                "hole_over_third": sum(s[4] > THIRD for s in of)}),
                flush=True)


if __name__ == "__main__":
    main()
