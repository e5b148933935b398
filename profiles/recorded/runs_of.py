#!/usr/bin/env python3
"""runs_of.py --jobs FILE | --not-done: numbers of runs, for make.sh.

Reads `profile list --json`. --jobs: the runs of the labs and lessons that make.sh's
jobs in FILE record again. --not-done: those that did not end as they should.
"""
import json
import sys


def name_of(run):
    """As a job has it. A sweep's title is its lab, without its `lab-`."""
    if run["kind"] != "lab" or (run["lesson"] or "").startswith("lab-"):
        return run["kind"], run["lesson"]
    return "lab", "lab-" + (run["title"] or "")


def main():
    runs = [json.loads(line) for line in sys.stdin]
    if sys.argv[1] == "--jobs":
        jobs = {tuple(line.split()[:2]) for line in open(sys.argv[2])}
        names = {("lab" if what == "lab" else "lesson", name)
                 for what, name in jobs}
        found = [r for r in runs if name_of(r) in names]
    else:
        found = [r for r in runs if r["status"] != "done"]
    print(*(r["run"] for r in found))


main()
