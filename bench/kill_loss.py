#!/usr/bin/env python3
"""kill_loss.py [PROGRAM [ROUNDS]]: what a kill -9 takes from a training run.

Starts `run --json`, kills it at a random moment of its first one and a half
seconds (before there is a database, while it is made, in the middle of
recording), and counts how many of the iterations that it had already printed
are missing in the database. The database must pass `PRAGMA integrity_check`,
and the program itself must read it afterwards. Prints one JSON object; exit
code 1 when a database is damaged or an iteration is missing. ROUNDS: 200.
Python 3 and nothing else.
"""
import json
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 200
LONGEST_S = 1.5


def last_printed(path):
    # The last line may be cut in two by the kill.
    lines = path.read_text().splitlines()[:-1]
    return max((line["iteration"] for line in map(json.loads, lines)
                if line["type"] == "iteration"), default=-1)


def last_stored(program, db):
    """The last iteration in the database; -1: none, None: no database yet."""
    if not db.exists():
        return None
    connection = sqlite3.connect(db)
    check = connection.execute("PRAGMA integrity_check").fetchone()[0]
    if check != "ok":
        raise SystemExit(f"kill_loss.py: {db}: {check}")
    tables = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE name = 'loss'").fetchone()[0]
    last = (connection.execute("SELECT max(iteration) FROM loss").fetchone()[0]
            if tables else None)
    connection.close()
    subprocess.run([program, "profile", "list", "--db", str(db)], check=True,
                   stdout=subprocess.DEVNULL)
    return -1 if last is None else last


def one_round(program, folder, number):
    db = folder / f"{number}.db"
    printed = folder / "printed"
    with printed.open("w") as out:
        child = subprocess.Popen([program, "run", "--json", "--backend", "cpu",
                                  "--iterations", "100000000", "--db", str(db),
                                  "mlp-digits"], stdout=out)
        time.sleep(LONGEST_S * random.random())
        child.kill()
        child.wait()
    last = last_printed(printed)
    stored = last_stored(program, db)
    for part in folder.glob(f"{number}.db*"):
        part.unlink()
    return max(0, last - (-1 if stored is None else stored)), last + 1, stored


def main():
    program = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                               ROOT / "build/default/bin/lapenna-lab").resolve())
    n = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    random.seed(1)
    with tempfile.TemporaryDirectory() as temporary:
        rounds = [one_round(program, pathlib.Path(temporary), i)
                  for i in range(n)]
    lost = [r[0] for r in rounds]
    print(json.dumps({"figure": "iterations lost by kill -9", "n": n,
                      "median": statistics.median(lost), "min": min(lost),
                      "max": max(lost),
                      "iterations_median":
                      statistics.median(r[1] for r in rounds),
                      "iterations_most": max(r[1] for r in rounds),
                      "killed_before_a_database":
                      sum(r[2] is None for r in rounds),
                      "killed_before_an_iteration_was_stored":
                      sum(r[2] == -1 for r in rounds)}))
    return 1 if max(lost) > 0 else 0


sys.exit(main())
