"""What the course prints is what its tables and lessons have.

usage: course_figures.py SOURCE_DIR [--write]

course_figures.csv was written down from the course: each number and word of
profiles/tables that is given (neither computed nor recorded), each figure of a
lesson's `slide` list, and each number with a point that a text has from "**Beside the
course.**" or "**Beside the slide.**" to its next heading. A cell that differs, is missing or is new is an error; for a
correction --write makes the file anew, and the change is looked at beside the course.
A number of a note ("differs", "slip", "about") follows where it can: from a product that is
written out, from a cell or a formula of its row, from the name of a recorded row; the others
are the course's or a data sheet's, and in the list. What this program counts itself
("with them it is 25", in fusion) is compared by tests/cli/lesson_numbers.py.
Also: the row of the course and the lessons that a table names are there, and it names
each lesson whose text names the table.
"""
import csv
import glob
import math
import os
import re
import sys

root = sys.argv[1]
LIST = os.path.join(root, "tests/check/course_figures.csv")
NOTES = ("differs", "slip", "source", "served_by", "device")  # ours, of the figures
wrong = 0


def complain(what):
    global wrong
    print(what)
    wrong = 1


def table_figures(path):
    name = os.path.basename(path)[:-4]
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f if not line.startswith("#") and line.strip()]
    rows = list(csv.reader(lines))
    for row in rows[1:]:
        for head, cell in zip(rows[0][1:], row[1:]):
            plain = head.split(" ")[0]
            if cell and not cell.startswith("@") and plain not in NOTES and \
                    not plain.startswith("measured_"):
                yield name, row[0], head, cell


NUMBER = re.compile(r"(?<![\w.,/^-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w^]|,\d|\.\d)")
WRITTEN_OUT = re.compile(r"(twice )?(\d[\d.]*(?: [x/] \d[\d.]*(?: lanes)?)*)"
                         r"(?: [GM]Hz)?(?: is| =) ([\d.,]*\d)")
TOTAL_FIRST = re.compile(r"([\d.,]*\d) TFLOP/s are (\d[\d.]*(?: x \d[\d.]*)+)")
SCALES = {"K": 2**10, "KB": 2**10, "GiB": 2**30, "GHz": 1e3, "PFLOP/s": 1e3, "TB/s": 1e3,
          "million": 1e6, "billion": 1e9}
# Numbers of this program's own runs, which lesson_numbers.py compares.
OWN_COUNT = {"fusion": re.compile(r"(?:with them it is|is more than) \d+")}
FUNCTIONS = {"min": min, "max": max, "sqrt": math.sqrt, "log2": math.log2,
             "iff": lambda yes, a, b: a if yes else b, "__builtins__": {}}


def number(word):
    return float(word.replace(",", ""))


def near(word, value):
    """Whether a printed number is a value rounded to its digits, or a little less."""
    half = .5 * 10.0 ** -len(word.partition(".")[2])
    return value is not None and abs(number(word) - value) <= half * 1.000001


def computed(row, formulas):
    """The cells of a row that are numbers, and what the formulas make of them."""
    cells = {}
    for head, cell in row.items():
        try:
            cells[head.split(" ")[0]] = float(cell)
        except ValueError:
            pass
    for name, formula in formulas:
        try:
            cells[name] = float(eval(formula, FUNCTIONS, cells))  # of our own file
        except (NameError, ZeroDivisionError, OverflowError, SyntaxError):
            pass  # a cell is not there, or of a recorded run
    return cells


def follows(text, m, row, formulas, rows):
    """Whether a number of a note follows from the note itself, from its row, or, with %,
    from two rows of a column."""
    for match, parts, word in [(t, t[2], t[3]) for t in WRITTEN_OUT.finditer(text)] + [
            (t, t[2], t[1]) for t in TOTAL_FIRST.finditer(text)]:
        twice = match[1] == "twice "
        if match.start() <= m.start() < match.end() and (twice or " " in parts):
            value = 2.0 if twice else 1.0
            for sign, part in re.findall(r"([x/]?) ?(\d[\d.]*)", parts):
                value *= 1 / float(part) if sign == "/" else float(part)
            if any(near(word, value * 10.0 ** e) for e in (-3, 0, 3)):
                return True
    changed = re.search(r"--set '[^:']+:(\w+)=([\d.]+)' gives ([\d.]+)", text)
    if changed and changed.start() <= m.start() < changed.end():
        other = {**row, **{h: changed[2] for h in row if h.split(" ")[0] == changed[1]}}
        return any(near(changed[3], v) for v in computed(other, formulas).values())
    unit = re.match(r"[ \-](\S+?)(?=[\s,;:.)]|$)", text[m.end():])
    scales = {1, SCALES.get(unit[1], 1) if unit else 1}
    digits = numbers_of(cell for cell in row.values() if cell.startswith("@"))
    if any(near(m[0], n / scale) for n in digits for scale in scales):
        return True
    if unit and unit[1] == "%":
        cells = computed(row, [])
        return any(b.get(head) and near(m[0], 100 * v / b[head]) for head, v in cells.items()
                   for b in (computed(other, []) for other in rows))
    speed = re.match(r"(\d+) cycles at (\d+) MHz", text)
    if speed and m.end() <= speed.end():
        return any(abs(v - 1e3 * number(speed[1]) / number(speed[2])) < .5
                   for v in computed(row, []).values())
    return any(near(m[0], v / scale) for v in computed(row, formulas).values()
               for scale in scales)


def numbers_of(words):
    """The numbers in the names of recorded rows: "@lab-x/variant/4096x8/time"."""
    return {float(n) for word in words for n in re.findall(r"(?<=[/x])\d+(?=[/x])", word)}


def note_figures(path):
    """The numbers of a table's notes that follow from nothing that it has."""
    name = os.path.basename(path)[:-4]
    with open(path, encoding="utf-8") as f:
        lines = f.readlines()
    formulas = [(n, f.replace("^", "**").replace("if(", "iff(")) for n, f in re.findall(
        r"^#:formula (\w+) \[[^]]*\] = (.*)$", "".join(lines), re.M)]
    rows = list(csv.DictReader(line for line in lines
                               if not line.startswith("#") and line.strip()))
    about = " ".join(line[8:].strip() for line in lines if line.startswith("#:about"))
    notes = [("about", "", about, {})]
    notes += [(next(iter(row.values())), key, row[key], row) for row in rows
              for key in ("differs", "slip") if row.get(key)]
    for row, key, text, cells in notes:
        own = OWN_COUNT.get(name, re.compile("(?!)"))
        text = re.sub(r"\(D\d+(?:, D\d+)*\)|\bUnit 11\b", lambda c: " " * len(c[0]), text)
        text = own.sub(lambda c: " " * len(c[0]), text)
        for i, m in enumerate(NUMBER.finditer(text)):
            if not follows(text, m, cells, formulas, rows):
                yield name, row, f"{key or 'text'}, number {i + 1}", m[0]


SLIDE = re.compile(r"\{label: (\"[^\"]*\"|[^,]*), size: ([^,]+),\s+(?:value: ([^,]+)),\s+"
                   r"unit: ([^,]+),\s+machine: ([^,}]+)")


BESIDE = re.compile(r"^\*\*Beside the (?:course|slide)\.\*\*.*?(?=^##|\Z)", re.M | re.S)


def lesson_figures(path):
    with open(path, encoding="utf-8") as f:
        head, body = f.read().split("\n---\n", 1)
    lesson = os.path.basename(path)[:-3].split("-", 1)[1]
    numbers = re.findall(r"(?<![\w.])-?\d+\.\d+", " ".join(BESIDE.findall(body)))
    for i, number in enumerate(numbers):
        yield lesson, f"beside the course, number {i + 1}", "", number
    found = 0
    for label, size, value, unit, machine in SLIDE.findall(head):
        found += 1
        yield (lesson,
               f"{label.strip(chr(34))} at {size}, {machine}", f"[{unit}]", value)
    if found != len(re.findall(r"^\s+- \{label:", head, re.M)):
        complain(f"{path}: a row of slide is written in another order")


def check_names(path):
    """The row of the course and the lessons."""
    with open(os.path.join(root, "profiles/course.csv"), encoding="utf-8") as f:
        course = {line.split(",")[0] for line in f}
    with open(path, encoding="utf-8") as f:
        keys = re.findall(r"^#:(course|lessons) (.*)$", f.read(), re.M)
    for key, value in keys:
        for word in value.split():
            there = word in course if key == "course" else any(
                re.fullmatch(rf"\d+-{re.escape(word)}\.md", os.path.basename(p))
                for p in glob.glob(f"{root}/lessons/*-{word}.md"))
            if not there:
                complain(f"{path}: {key} names {word}, which is not there")
    name = os.path.basename(path)[:-4]
    known = " ".join(value for key, value in keys if key == "lessons").split()
    for text in glob.glob(f"{root}/lessons/*.md"):
        lesson = os.path.basename(text)[:-3].split("-", 1)[1]
        with open(text, encoding="utf-8") as f:
            if re.search(rf"lapenna-lab\s+table\s+{name}\b", f.read()) and \
                    lesson not in known:
                complain(f"{path}: lessons lacks {lesson}, whose text names the table")


figures = []
for path in sorted(glob.glob(f"{root}/profiles/tables/*.csv")):
    check_names(path)
    figures += table_figures(path)
    figures += note_figures(path)
for path in sorted(glob.glob(f"{root}/lessons/*.md")):
    figures += lesson_figures(path)
if "--write" in sys.argv[2:]:
    with open(LIST, "w", encoding="utf-8", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows(figures)
    sys.exit(0)
with open(LIST, encoding="utf-8", newline="") as f:
    course = {tuple(row[:3]): row[3] for row in csv.reader(f)}
ours = {}
for *place, value in figures:
    if tuple(place) in ours:
        complain(f"{', '.join(place)}: there twice")
    ours[tuple(place)] = value
for place in sorted(course.keys() | ours.keys()):
    if course.get(place) != ours.get(place):
        complain(f"{', '.join(place)}: {ours.get(place, 'nothing')}, and the course has "
                 f"{course.get(place, 'nothing')}")
sys.exit(wrong)
