#!/usr/bin/env python3
"""kill_loss.py [PROGRAM]: what a kill -9 takes from a training run's record.

Starts `run --json`, kills it after a random time, and counts how many of the
iterations that it had already printed are missing in the database. Prints one
JSON object. Python 3 and nothing else.
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
ROUNDS = 20


def one_round(program, folder, number):
    db = folder / f"{number}.db"
    printed = folder / "printed"
    with printed.open("w") as out:
        child = subprocess.Popen([program, "run", "--json", "--backend", "cpu",
                                  "--iterations", "100000000", "--db", str(db),
                                  "mlp-digits"], stdout=out)
        time.sleep(0.5 + random.random())
        child.kill()
        child.wait()
    # The last line may be cut in two by the kill.
    lines = printed.read_text().splitlines()[:-1]
    last = next(line["iteration"] for line in map(json.loads, reversed(lines))
                if line["type"] == "iteration")
    connection = sqlite3.connect(db)
    check = connection.execute("PRAGMA integrity_check").fetchone()[0]
    if check != "ok":
        raise SystemExit(f"kill_loss.py: {check}")
    stored = connection.execute("SELECT max(iteration) FROM loss").fetchone()[0]
    connection.close()
    return max(0, last - (stored if stored is not None else -1)), last + 1


def main():
    program = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                               ROOT / "build/default/bin/lapenna-lab").resolve())
    random.seed(1)
    with tempfile.TemporaryDirectory() as temporary:
        rounds = [one_round(program, pathlib.Path(temporary), i)
                  for i in range(ROUNDS)]
    lost = [r[0] for r in rounds]
    print(json.dumps({"figure": "iterations lost by kill -9", "n": ROUNDS,
                      "median": statistics.median(lost), "min": min(lost),
                      "max": max(lost),
                      "iterations_median":
                      statistics.median(r[1] for r in rounds)}))


main()
