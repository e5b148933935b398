#!/usr/bin/env python3
"""Makes course.txt, the text that language lessons learn from, out of the
course's own words: the prose of the lessons, the documents, and what the
comments of kernels and headers say.

    python3 lessons/data/make_course.py > lessons/data/course.txt

Only ASCII, one line a paragraph, an empty line between paragraphs. The sections
stand in an order that is drawn once, from a fixed seed, so that the end, which
is held back, is of the same kind as the rest. course.txt is part of the
repository and does not change when a lesson does: figures that were measured
on it would change with it.
"""
import pathlib
import random
import re
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAIN = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"',
         "\u2013": "-", "\u2014": "--", "\u2192": "->", "\u2190": "<-",
         "\u00d7": "x", "\u00b7": "*", "\u2212": "-", "\u2026": "...",
         "\u00a0": " ", "\u2264": "<=", "\u2265": ">=", "\u00b1": "+-",
         "\u221a": "sqrt", "\u03b2": "beta", "\u03b7": "eta"}


def ascii_text(text):
    for sign, plain in PLAIN.items():
        text = text.replace(sign, plain)
    text = unicodedata.normalize("NFKD", text)
    return text.encode("ascii", "ignore").decode("ascii")


def formula(match):
    """A formula without its marks: \\cdot becomes *, the rest its name."""
    text = match.group(1)
    text = text.replace("\\cdot", "*").replace("\\leftarrow", "<-")
    text = re.sub(r"\\frac\{?([^{}])\}?\{?([^{}])\}?", r"\1/\2", text)
    text = re.sub(r"\\(?:mathrm|text|mathbf|left|right|,|;|quad)", "", text)
    text = re.sub(r"\\([A-Za-z]+)", r"\1", text)
    return re.sub(r"[{}\\]", "", text)


def paragraphs(lines):
    """Prose only: no front matter, tables, indented or fenced code."""
    out, now, fenced = [], [], False
    for line in lines + [""]:
        line = line.rstrip()
        if line.startswith("```"):
            fenced = not fenced
            line = ""
        code = fenced or line.startswith("    ")
        table = line.lstrip().startswith("|")
        heading = line.startswith("#")
        item = re.match(r"\s*([-*]|\d+\.) ", line)
        if not line or code or table or heading or item:
            if now:
                out.append(" ".join(now))
            now = []
        if heading:
            out.append("")
            title = line.lstrip("#").strip()
            title = re.sub(r"^(step|node|phase): ", "", title)
            out.append(title)
        elif line and not code and not table:
            now.append(line.strip())
    return out


def from_markdown(path):
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    return paragraphs(text.split("\n"))


def from_comments(path):
    text = path.read_text(encoding="utf-8")
    out = []
    for body in re.findall(r"/\*(.*?)\*/", text, flags=re.S):
        lines = [re.sub(r"^\s*\* ?", "", one) for one in body.split("\n")]
        if len(lines) >= 2:
            out.extend(paragraphs([one.strip() for one in lines]))
    return out


def sections(kept):
    """Headings and paragraphs, cut before every heading."""
    now = []
    for one in kept + [""]:
        if one:
            now.append(one)
            continue
        if sum(map(len, now)) > 80:
            yield "\n\n".join(now)
        now = []


def clean(text):
    text = re.sub(r"\$([^$]*)\$", formula, text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = text.replace("**", "").replace("`", "")
    text = re.sub(r"(?<!\w)\*(\w[^*\n]*)\*", r"\1", text)
    text = ascii_text(text)
    return re.sub(r"[ \t]+", " ", text)


def main():
    found = []
    for path in sorted(ROOT.glob("lessons/*.md")) + \
            sorted(ROOT.glob("docs/*.md")) + [ROOT / "README.md"]:
        found.extend(sections(from_markdown(path)))
    for pattern in ("kernels/*.h", "kernels/*.cuh", "kernels/*.cu",
                    "src/*/include/*/*.h"):
        for path in sorted(ROOT.glob(pattern)):
            found.extend(sections(from_comments(path)))
    random.Random(1).shuffle(found)
    sys.stdout.write("\n\n".join(map(clean, found)) + "\n")


if __name__ == "__main__":
    main()
