#!/usr/bin/env python3
"""golden.py FILE SAMPLES -- runs the commands of a golden file and compares what they print.

A golden file is a transcript of one command of the program:

    # a comment
    $ COMMAND    a line for bash
      TEXT       what it prints on standard output
    ! TEXT       ... and on standard error
    [N]          its exit code, unless that is 0
    ~ COMMAND    the same of a command that measures: times, rates and shares are #

A new case is a new line `$ COMMAND`. LAB_GOLDEN_UPDATE=1 writes what is printed into
the file; read the difference before you commit it.

All commands of a file run in one directory, empty but for the files of golden/files.
A control character is \\xNN. `lapenna-lab` is on PATH, and so are `sample KIND DATABASE ...` (sample.c, built in SAMPLES) and
`sql DATABASE TEXT` (a
SELECT prints its first row). Modules are hidden, so that CUDA and oneDNN are missing on every
machine, and names of this machine, this build and this moment are replaced.
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

MEASURED = [
    (r"\b[\d.]+(e[+-]\d+)? ?(ns|us|ms|s|min|h)\b", "#"),
    (r"\b[\d.]+(e[+-]\d+)? ?[kMGTP]?(FLOP|B|samples)/s", "#"),
    (r"-?\b[\d.]+ %", "# %"),
    (r"(?<= )\d+\.\d+ x\b", "# x"),
    (r"(?<=\.\d{4})\d+", ""),  # digits that a compiler may change
    (r"-?\b[\d.]+e-(0[6-9]|[1-9]\d)", "0"),
    (r"(?m) +$", ""),
    (r"(?<=\S) {2,}", "  "),
]
SQL = """#!/bin/sh
exec python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
if sys.argv[2].startswith("SELECT"):
    print(*db.execute(sys.argv[2]).fetchone())
else:
    db.executescript(sys.argv[2])' "$@"
"""


def machine(env, work):
    """What a golden file calls the names of this machine and build."""
    rows = subprocess.run([env["LAB_EXE"], "doctor", "--json"], env=env, text=True,
                          stdout=subprocess.PIPE, check=True).stdout.splitlines()
    detail = {row["name"]: row["detail"] for row in map(json.loads, rows)}
    names = [(os.path.realpath(work), "WORK"), (work, "WORK"),
             (os.environ["LAB_BINARY_DIR"], "BUILD"), (os.environ["LAB_SOURCE_DIR"], "SOURCE"),
             (detail["CPU"].rsplit(", ", 3)[0], "PROCESSOR"),
             (detail["program"], "lapenna-lab VERSION")]
    return [(re.escape(a), b) for a, b in names] + [(r"with \d+ threads?\b", "with # threads")]


def play(line, env, work, names):
    """The lines of a golden file that one command makes."""
    end = subprocess.run(["bash", "-c", line[2:]], env=env, cwd=work, timeout=600,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    yield line
    for mark, raw in (("  ", end.stdout), ("! ", end.stderr)):
        text = re.sub(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", lambda m: f"\\x{ord(m[0]):02x}",
                      raw.decode(errors="backslashreplace"))
        for pattern, name in names + (MEASURED if line[0] == "~" else []):
            text = re.sub(pattern, name, text)
        for printed in text.removesuffix("\n").split("\n") if text else []:
            yield (mark + printed) if printed or mark == "! " else ""
    if end.returncode:
        yield f"[{end.returncode}]"


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        before = file.read().splitlines()
    here = os.path.dirname(os.path.abspath(path))
    # Databases are synchronised to the disk: memory makes that quick.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as work:
        bin_dir = os.path.join(work, ".bin")
        env = {k: v for k, v in os.environ.items() if not k.startswith("LAPENNA_LAB")}
        env.update(HOME=work, XDG_STATE_HOME=work, XDG_DATA_HOME=work, XDG_CONFIG_HOME=work,
                   LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1", TERM="dumb",
                   LAPENNA_LAB_TUNE="off", LAPENNA_LAB_BENCH="quick",
                   LAPENNA_LAB_MODULE_DIR=os.path.join(work, "none"),
                   PATH=":".join([bin_dir, os.path.dirname(env["LAB_EXE"]),
                                  os.path.abspath(sys.argv[2]), env["PATH"]]))
        env.pop("COLUMNS", None)
        files = os.path.join(here, "files")
        if os.path.isdir(files):
            shutil.copytree(files, work, dirs_exist_ok=True)
        os.mkdir(bin_dir)
        with open(os.path.join(bin_dir, "sql"), "w", encoding="utf-8") as file:
            file.write(SQL)
        os.chmod(file.name, 0o755)
        names = machine(env, work)
        after = []
        for line in before:
            if line.startswith(("$ ", "~ ")):
                after += [""] * bool(after and after[-1] and after[-1][0] != "#")
                after += play(line, env, work, names)
            elif line.startswith("#"):
                after += [""] * bool(after and after[-1] and after[-1][0] != "#")
                after.append(line)
    if after == before:
        return 0
    if os.environ.get("LAB_GOLDEN_UPDATE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(after) + "\n")
        return 0
    print("\n".join(difflib.unified_diff(before, after, path, "printed", lineterm="")))
    print("LAB_GOLDEN_UPDATE=1 writes the new text into the file.")
    return 1


sys.exit(main())
