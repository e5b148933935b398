#!/usr/bin/env python3
"""panes.py [--size COLSxROWS]... [--steps N] [--lines N] [--over] [--program FILE]
[--keys KEYS] [--old] [--plant] [LESSON]...: how much of each of the stepper's panes is empty.

Opens each lesson (without names: all of them) in the stepper on a terminal of
its own, 200x60 and 120x40 unless --size is given, walks its steps with s, and
looks at the screen after each: --steps at most (32).
A cell is empty when it is blank, has the terminal's own background, and is not
one of at most three blanks between two words. Blank cells that a drawing needs
are no empty ones:

  chart      between its axes, at most four columns from one with a point, if
             its points are in three columns and two rows or more
  histogram  above and between its bins, up to the largest, at most four columns
             from a bin, if it has four columns and two heights or more
  bars       from where all begin to the end of the longest, if three have two
             lengths or more
  box        what a line encloses, if a third of it or more is not blank
  wires      at most four columns and one row from lines with an arrow
  code       between the number of a line and its first word, 20 columns at most

All others count: to the right of short lines, around boxes, below lists, a
chart of one point, a box around nothing.  --plant draws a hole of each kind,
and checks that it counts, and a drawing of each, which must not.
With --old no drawing needs a blank, as it was before 30 November 2026.
For each pane:

  empty   share of its cells that are empty, without its title line
  hole    share of the largest rectangle of empty cells

The variants are those of the fixed table (--no-tune): measured ones differ
from walk to walk, and with them the steps.

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
import sys
import tempfile
import time

import pyte
from screens import ROOT, Screen

THIRD = 1 / 3
NEAR = 4  # columns: a blank as far from a point or a bin is a part of a drawing
CHART_COLUMNS, CHART_ROWS = 3, 2  # with a point, at least
BIN_COLUMNS, BIN_HEIGHTS = 4, 2
BARS, BAR_LENGTHS, BARS_APART = 3, 2, 3
WIRES = 12  # cells
EIGHTHS = "▁▂▃▄▅▆▇█"
BAR = re.compile("[▐▕█]*[▏▎▍▌▋▊▉█]*│?[▏▎▍▌▋▊▉█]*")
LINE, ARROW = "─│┌┐└┘┬┴├┤┼", "▸▴◂▾"
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
    """The text of a Screen of bench/screens.py."""

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


def columns_near(columns, first, last):
    """The columns of first to last that are near one of `columns`."""
    near = set()
    for x in columns:
        near.update(range(max(first, x - NEAR), min(last, x + NEAR) + 1))
    return near


def keep_charts(text, blank):
    """What a chart's points need: from the axes on, near a point."""
    for y, line in enumerate(text):
        for x in (m.start() for m in re.finditer("└[─┴ ]", line)):
            top = y
            while top > 0 and text[top - 1][x] in "│┤":
                top -= 1
            end = x + 1
            while end < len(line) and line[end] not in "│┌┐└┘" and \
                    line[end:end + 2] != "  ":
                end += 1
            points = [(r, k) for r in range(top, y) for k in range(x + 1, end)
                      if "\u2800" < text[r][k] <= "\u28ff"]
            columns = {k for _, k in points}
            if len(columns) < CHART_COLUMNS or \
                    len({r for r, _ in points}) < CHART_ROWS:
                continue
            for k in columns_near(columns, x, end - 1):
                for r in range(top, y + 1):
                    blank[r][k] = False


def keep_histograms(text, blank):
    """What bins need: up to the largest, near one."""
    def is_bin(y, x):
        return text[y][x] in EIGHTHS

    for y, line in enumerate(text):
        x = 0
        while x < len(line):
            if not is_bin(y, x) or (y + 1 < len(text) and is_bin(y + 1, x)):
                x += 1
                continue
            first = x
            bins = {}  # column to the rows that its bin has
            last = x
            while x < len(line) and x - last <= 2 * NEAR and \
                    line[x] in EIGHTHS + " ":
                if is_bin(y, x):
                    last = x
                    top = y
                    while top > 0 and text[top][x] == "█" and \
                            is_bin(top - 1, x):
                        top -= 1
                    bins[x] = (y - top + 1, text[top][x])
                x += 1
            tall = max(h for h, _ in bins.values())
            if tall > 1 and len(bins) >= BIN_COLUMNS and \
                    len(set(bins.values())) >= BIN_HEIGHTS:
                for k in columns_near(bins, first, last):
                    for r in range(y - tall + 1, y + 1):
                        blank[r][k] = False


def keep_boxes(text, blank):
    """What a line encloses, where it encloses something."""
    for y, line in enumerate(text):
        for x in (m.start() for m in re.finditer("┌", line)):
            right = line.find("┐", x)
            low = y + 1
            while low < len(text) and text[low][x] not in " └":
                low += 1
            if right < 0 or low == len(text) or text[low][x] != "└" or \
                    text[low][right] != "┘":
                continue
            inside = [(r, k) for r in range(y + 1, low)
                      for k in range(x + 1, right)]
            if 3 * sum(blank[r][k] for r, k in inside) <= 2 * len(inside):
                for r, k in inside:
                    blank[r][k] = False


def keep_bars(text, blank):
    """What bars need: from their zero to the longest."""
    groups = {}  # column of the zero to lists of (row, first, end)
    for y, line in enumerate(text):
        for m in BAR.finditer(line):
            first, end = m.span()
            if m.group().strip("│") == "":
                continue
            zero = line.find("│", first, end)
            of = groups.setdefault(zero if zero >= 0 else first, [[]])
            if of[-1] and y - of[-1][-1][0] > BARS_APART:
                of.append([])
            of[-1].append((y, first, end))
    for bars in (b for of in groups.values() for b in of):
        if len(bars) < BARS or \
                len({(a, e) for _, a, e in bars}) < BAR_LENGTHS:
            continue
        first = min(a for _, a, _ in bars)
        end = max(e for _, _, e in bars)
        for r in range(bars[0][0], bars[-1][0] + 1):
            blank[r][first:end] = [False] * (end - first)


def keep_wires(text, blank):
    """What is next to lines that lead somewhere."""
    left = {(y, x) for y, line in enumerate(text)
            for x, at in enumerate(line) if at in LINE + ARROW}
    while left:
        todo = [left.pop()]
        wire = []
        while todo:
            y, x = todo.pop()
            wire.append((y, x))
            for to in ((y, x - 1), (y, x + 1), (y - 1, x), (y + 1, x)):
                if to in left:
                    left.remove(to)
                    todo.append(to)
        if len(wire) < WIRES or all(text[y][x] not in ARROW for y, x in wire):
            continue
        for y, x in wire:
            for r in range(max(0, y - 1), min(len(text), y + 2)):
                for k in columns_near([x], 0, len(text[r]) - 1):
                    blank[r][k] = False


def keep_indents(text, blank):
    """What a numbered line begins with."""
    for y, line in enumerate(text):
        for m in re.finditer(r"(?<![^ │]) \d+ {2,20}(?=[^ \d.▏▎▍▌▋▊▉█│])", line):
            blank[y][m.start():m.end()] = [False] * (m.end() - m.start())


def between_words(blank):
    for row in blank:
        x = 0
        while x < len(row):
            end = x
            while end < len(row) and row[end]:
                end += 1
            if 0 < x and end < len(row) and 0 < end - x <= 3:
                row[x:end] = [False] * (end - x)
            x = max(end, x) + 1


def empty_cells(look, rect, old=False):
    """Rows of booleans."""
    y0, x0, h, w = rect
    text = []
    blank = []
    for y in range(y0, y0 + h):
        cells = look.row(y)[x0:x0 + w]
        text.append([c.data or " " for c in cells])
        blank.append([c.data in (" ", "") and c.bg == "default" and
                      not c.reverse for c in cells])
    between_words(blank)
    if not old:
        lines = ["".join(t) for t in text]
        keep_boxes(lines, blank)
        keep_charts(lines, blank)
        keep_histograms(lines, blank)
        keep_bars(lines, blank)
        keep_wires(lines, blank)
        keep_indents(lines, blank)
    return blank


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


def judge(look, old=False):
    """Pane to (empty, hole)."""
    out = {}
    for name, rect in panes(look).items():
        rows = empty_cells(look, rect, old)
        cells = rect[2] * rect[3]
        if cells > 0:
            out[name] = (sum(map(sum, rows)) / cells,
                         largest_rectangle(rows) / cells)
    return out


class Planted:
    """A screen of these lines, as what a terminal has."""

    def __init__(self, text):
        lines = text.split("\n")
        width = max(map(len, lines))
        self.page = pyte.Screen(width, len(lines))
        pyte.Stream(self.page).feed("\r\n".join(lines))

    def row(self, y):
        return [self.page.buffer[y][x] for x in range(self.page.columns)]


WIDE = 40
AXES = ["    │" + " " * WIDE] * 6 + ["    └" + "─" * WIDE]


def with_points(places):
    rows = [list(line) for line in AXES]
    for y, x in places:
        rows[y][5 + x] = "⠉"
    return "\n".join("".join(r) for r in rows)


# Name, text, whether its blanks are a drawing's.
PLANTS = (
    ("curve", with_points((x % 6, x) for x in range(WIDE)), True),
    ("bins", "\n".join(" ".join("█" if x % 6 >= 5 - y else " "
                               for x in range(20)) for y in range(6)), True),
    ("bars", "\n".join("█" * (WIDE >> y) + " " * (WIDE - (WIDE >> y))
                       for y in range(5)), True),
    ("full box", "┌" + "─" * 9 + "┐\n" + ("│" + " 1 2 3 4 " + "│\n") * 4 +
     "└" + "─" * 9 + "┘", True),
    ("wires", "───┬────────────▸\n" + "   │             \n" * 2 +
     "   └────────────▸", True),
    ("code", " 1  if (a && b && c)\n 2          return;", True),
    ("no points", with_points(()), False),
    ("one point", with_points([(3, 20)]), False),
    ("one value", with_points((3, x) for x in range(WIDE)), False),
    ("a far point", with_points([(0, 0), (1, 1), (2, 2), (5, WIDE - 1)]), False),
    ("one bin", "█" + " " * WIDE + "\n" + "█" + " " * WIDE, False),
    ("one bar", "█" * 9 + " " * WIDE + "\n" * 5 + " " * WIDE, False),
    ("empty box", "┌" + "─" * WIDE + "┐\n" + ("│" + " " * WIDE + "│\n") * 6 +
     "└" + "─" * WIDE + "┘", False),
    ("short lines", "\n".join(["words and" + " " * WIDE] * 6), False),
)


def check_plants():
    """Whether blanks of drawings are none, and holes are holes."""
    wrong = 0
    for name, text, drawing in PLANTS:
        look = Planted(text)
        rows = empty_cells(look, (0, 0, look.page.lines, look.page.columns))
        empty = sum(map(sum, rows)) / (len(rows) * len(rows[0]))
        good = empty < 0.1 if drawing else empty > THIRD
        print(f"{name:12} empty {empty:4.0%} {'' if good else 'WRONG'}")
        wrong += not good
    return wrong


def state_line(look):
    """The iteration and the step where the walk is."""
    found = re.search(r"iteration \d+ +step \d+",
                      "\n".join(look.page.display[:16]))
    return found.group(0) if found else ""


def walk(words, lesson, columns, rows, keys, most, old=False):
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
                yield "first screen", judge(look, old)
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
                yield name, judge(look, old)
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
    ask.add_argument("--old", action="store_true")
    ask.add_argument("--plant", action="store_true")
    ask.add_argument("--program",
                     default=str(ROOT / "build/default/bin/lapenna-lab"))
    ask.add_argument("lesson", nargs="*")
    args = ask.parse_args()
    if args.plant:
        return check_plants()
    program = str(pathlib.Path(args.program).resolve())
    words = [program, "--backend", "cpu", "--no-tune"]
    for size in args.size or ["200x60", "120x40"]:
        columns, rows = map(int, size.split("x"))
        seen = []
        for lesson in args.lesson or lessons_of(program):
            for name, shares in walk(words, lesson, columns, rows, args.keys,
                                     args.steps, args.old):
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
