#!/usr/bin/env python3
"""runs_of.py OLD MADE LEFT NEW...: the numbers of the runs in the database OLD of which
those in NEW that are done take the place, for make.sh. MADE and LEFT have a job a line:
`lab NAME ...`, `run NAME ...`.

A run of the same job is one of the same lab and sizes, or of the same lesson, variants that
were chosen and trace, with or without counters. Of a lab or a lesson with a job in MADE and
none in LEFT every run is one. A CPU's runs and a GPU's take no place of each other.
"""
import sqlite3
import sys

# A sweep's lab is its title, without its `lab-`.
RUNS = """SELECT id, backend = 'cpu', kind, lesson, title, ifnull(counters, 'off'), ifnull(traceState, ''),
iif(variantsFrom = 'chosen', ifnull(variants, ''), NULL), (SELECT group_concat(size) FROM
(SELECT DISTINCT size FROM lab_row WHERE runId = run.id ORDER BY size)) FROM run
"""


def jobs_of(path, which=""):
    """{number: names of its lab or lesson, what its job is known by}."""
    found = {}
    d = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    for number, cpu, kind, lesson, title, *job in d.execute(RUNS + which):
        names = {(cpu, kind, lesson)}
        if kind == "lab":
            names.add((cpu, kind, "lab-" + (title or "")))
        else:
            title = ""  # a lesson's may have been mended
        found[number] = names, (cpu, kind, lesson, title, *job)
    return found


def names_in(path):
    words = [line.split() for line in open(path)]
    return {("--backend cpu" in " ".join(job), "lab" if what == "lab" else "lesson",
             name.rstrip(":")) for what, name, *job in words}


def main():
    old, made, left, *new = sys.argv[1:]
    whole = names_in(made) - names_in(left)
    again = {job for path in new
             for _, job in jobs_of(path, "WHERE status = 'done'").values()}
    print(*(number for number, (names, job) in jobs_of(old).items()
            if names & whole or job in again))


main()
