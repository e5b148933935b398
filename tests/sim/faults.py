#!/usr/bin/env python3
"""faults.py COMPILER -- kernels with faults that were put in: is each found, at its line?

faults/*.cu are kernels. Each begins with the words of its launches, and its macro FAULT=n
puts a fault in, 0 none. A line with `// fault n: CHECK...` is where the fault has to
be found, by one of these checks; with `| WORDS` behind it the message has to have these,
the tensor and the element. Compiled by COMPILER (nvcc or clang) and run by LAB_EXE.

Most of the time is the compiler's, and most of that its headers': all faults of a kernel
are compiled at once, each in a namespace of its own.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LEAST = 38 / 40  # of all faults

# The compiler; what it writes for the same words, but for those of -o, is kept.
ONCE = """#!/bin/sh
words= before=
for word; do
    [ "$before" = -o ] && out=$word || words="$words $word"
    before=$word
done
kept=$0.$(echo "$words" | cksum | tr ' ' _)
[ -f "$kept" ] || {{ {compiler} "$@" && mv "$out" "$kept"; }} || exit
cp "$kept" "$out"
"""


def simulate(path, launches, compiler, *options):
    """The findings, and None or what went wrong."""
    findings = []
    for words in launches:
        end = subprocess.run(
            [os.environ["LAB_EXE"], "sim", path, "--json", "--compiler", compiler, *words,
             *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
        rows = [json.loads(line) for line in end.stdout.splitlines()]
        if end.returncode not in (0, 1) or not rows or rows[-1]["type"] != "end":
            return [], f"exit {end.returncode}: {end.stderr[-500:]}"
        findings += [row for row in rows if row["type"] == "finding"]
    return findings, None


def at(row):
    """Where it was found: of a race either side."""
    return {row["line"], row.get("other", {}).get("line")}


def together(path, text, faults, room):
    """A source with the kernel of each fault in its namespace; its path."""
    source = os.path.join(room, os.path.basename(path))
    with open(source, "w", encoding="utf-8") as file:
        file.write("\n".join(re.findall(r"^#include.*$", text, re.M)) + "\n")
        for fault in faults:
            file.write(f"#undef FAULT\n#define FAULT {fault}\nnamespace fault{fault} {{\n"
                       f'#include "{path}"\n}}\n')
    return source


def compiler_once(name, room):
    """A program that is NAME, but compiles the same only once; its path."""
    path = os.path.join(room, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(ONCE.format(
            compiler=shutil.which(name) or max(glob.glob(f"/usr/bin/{name}-[0-9]*"))))
    os.chmod(path, 0o700)
    return path


def main(room):
    compiler = compiler_once(sys.argv[1], room)
    here = os.path.dirname(os.path.abspath(__file__))
    found = total = false = 0
    for path in sorted(glob.glob(os.path.join(here, "faults", "*.cu"))):
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        launches = [words.split() for words in re.findall(r"^// run: (.*)$", text, re.M)]
        wanted = {}
        for number, line in enumerate(text.splitlines(), 1):
            for fault, checks, words in re.findall(
                    r"// fault (\d+): ([a-z ]*[a-z])(?: \| ([^/]*[^/ ]))?", line):
                for check in checks.split():
                    wanted.setdefault(int(fault), set()).add((check, number, words))
        kernel = re.search(r"__global__ void (?:__\w+\(.*?\) )?(\w+)", text)[1]
        source = together(path, text, [0, *wanted], room) if wanted else path
        for fault in [0, *sorted(wanted)]:
            options = ["--kernel", f"fault{fault}::{kernel}"] if wanted else []
            findings, wrong = simulate(source, launches, compiler, *options)
            if fault == 0:
                if findings or wrong:
                    false += 1
                    print(f"{name} without a fault: {wrong or findings[0]}")
                continue
            total += 1
            places = wanted[fault]
            if any(row["check"] == check and number in at(row) and text in row["message"]
                   for row in findings for check, number, text in places):
                found += 1
                continue
            print(f"{name} fault {fault}: wanted {sorted(places)}: {wrong or 'found'}",
                  [(row["check"], row["line"], row["message"]) for row in findings[:4]])
    print(f"{sys.argv[1]}: {found} of {total} faults found, {false} of the kernels without a "
          "fault refused")
    return not (total >= 40 and found >= LEAST * total and not false)


with tempfile.TemporaryDirectory() as directory:
    sys.exit(main(directory))
