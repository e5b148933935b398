"""What the course prints is what its tables and lessons have.

usage: course_figures.py SOURCE_DIR [--write]

course_figures.csv was written down from the course: each number and word of
profiles/tables that is given (neither computed nor recorded), each figure of a
lesson's `slide` list, and each number with a point that a text has from "**Beside the
course.**" or "**Beside the slide.**" to its next heading. A cell that differs, is missing or is new is an error; for a
correction --write makes the file anew, and the change is looked at beside the course.
Also: the row of the course and the lessons that a table names are there, and it names
each lesson whose text names the table.
"""
import csv
import glob
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
