#!/usr/bin/env python3
"""faults.py COMPILER -- kernels with faults that were put in: is each found, at its line?

faults/*.cu are kernels. Each begins with the words of its launches, and its macro FAULT=n
puts a fault in, 0 none. A line with `// fault n: CHECK...` is where the fault has to
be found, by one of these checks; with `| WORDS` behind it the message has to have these,
the tensor and the element. Compiled by COMPILER (nvcc or clang) and run by LAB_EXE.
"""
import glob
import json
import os
import re
import subprocess
import sys

LEAST = 38 / 40  # of all faults


def simulate(path, fault, launches, compiler):
    """The findings, and None or what went wrong."""
    findings = []
    for words in launches:
        rows, wrong = launch(path, fault, words, compiler)
        if wrong:
            return [], wrong
        findings += rows
    return findings, None


def launch(path, fault, words, compiler):
    end = subprocess.run(
        [os.environ["LAB_EXE"], "sim", path, "--json", "--compiler", compiler,
         "--define", f"FAULT={fault}", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    rows = [json.loads(line) for line in end.stdout.splitlines()]
    if end.returncode not in (0, 1) or not rows or rows[-1]["type"] != "end":
        return [], f"exit {end.returncode}: {end.stderr[-500:]}"
    return [row for row in rows if row["type"] == "finding"], None


def at(row):
    """Where it was found: of a race either side."""
    return {row["line"], row.get("other", {}).get("line")}


def main():
    compiler = sys.argv[1]
    here = os.path.dirname(os.path.abspath(__file__))
    found = total = false = 0
    for path in sorted(glob.glob(os.path.join(here, "faults", "*.cu"))):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        words = [line.removeprefix("// run: ").split() for line in lines
                 if line.startswith("// run: ")]
        wanted = {}
        for number, line in enumerate(lines, 1):
            for fault, checks, text in re.findall(
                    r"// fault (\d+): ([a-z ]*[a-z])(?: \| ([^/]*[^/ ]))?", line):
                for check in checks.split():
                    wanted.setdefault(int(fault), set()).add((check, number, text))
        name = os.path.basename(path)
        findings, wrong = simulate(path, 0, words, compiler)
        if findings or wrong:
            false += 1
            print(f"{name} without a fault: {wrong or findings[0]}")
        for fault, places in sorted(wanted.items()):
            total += 1
            findings, wrong = simulate(path, fault, words, compiler)
            if any(row["check"] == check and number in at(row) and text in row["message"]
                   for row in findings for check, number, text in places):
                found += 1
                continue
            print(f"{name} fault {fault}: wanted {sorted(places)}: {wrong or 'found'}",
                  [(row["check"], row["line"], row["message"]) for row in findings[:4]])
    print(f"{compiler}: {found} of {total} faults found, {false} of the kernels without a fault "
          "refused")
    return not (total >= 40 and found >= LEAST * total and not false)


sys.exit(main())
