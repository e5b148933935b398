#!/usr/bin/env python3
"""runs_of.py --jobs MADE LEFT | --not-done: numbers of runs, for make.sh.

Reads `profile list --json`. --jobs: the runs of the labs and lessons of which every job
is recorded again: a job of theirs is in the file MADE, and none is in LEFT.
--not-done: those that did not end as they should.
"""
import json
import sys


def names(path):
    """Of the labs and lessons of a file's jobs: `lab NAME ...`, `run NAME ...`."""
    jobs = [line.split()[:2] for line in open(path)]
    return {("lab" if what == "lab" else "lesson", name.rstrip(":"))
            for what, name in jobs}


def names_of(run):
    """A run's lab or lesson. A sweep's lab is its title, without its `lab-`."""
    found = {(run["kind"], run["lesson"])}
    if run["kind"] == "lab":
        found.add(("lab", "lab-" + (run["title"] or "")))
    return found


def main():
    runs = [json.loads(line) for line in sys.stdin]
    if sys.argv[1] == "--jobs":
        whole = names(sys.argv[2]) - names(sys.argv[3])
        found = [r for r in runs if names_of(r) & whole]
    else:
        found = [r for r in runs if r["status"] != "done"]
    print(*(r["run"] for r in found))


main()
