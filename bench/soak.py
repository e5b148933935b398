#!/usr/bin/env python3
"""soak.py [PROGRAM [ITERATIONS [FOLDER]]]: a run of ten million iterations.

Trains two dense layers on three rows, and looks at the process ten times a
second: resident memory, open files, the size of the database with its log. At
the end the database must be whole and hold the loss of every iteration.

Memory is flat when nothing after the first tenth needs more than 1 MiB above
what the first tenth needed; a million iterations fill SQLite's cache, so fewer
than ten million in all say nothing. The log stays at its 64 MiB. The file keeps
the loss and the range of each iteration, and grows by 110 bytes for them, not
more at the end than at the beginning. Prints one JSON object; exit code 1 when
one of these does not hold. Python 3 and nothing else; FOLDER (of the temporary
files) needs 1.2 GB for ten million.
"""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ITERATIONS = 10_000_000
LOOK_S = 0.1
MOST_KIB = 1024
MOST_BYTES = 110  # of the file, an iteration
LOG_BYTES = 68 << 20
SMALL = ROOT / "tests/cli/inline.md"


def size(path):
    return path.stat().st_size if path.exists() else 0


def memory_kib(pid):
    for line in open(f"/proc/{pid}/status", encoding="ascii"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0  # it has ended


def watch(program, folder, n):
    """The rows (seconds, KiB, files, bytes, bytes of the log), and the time."""
    db = folder / "soak.db"
    rows = []
    begun = time.monotonic()
    child = subprocess.Popen(
        [program, "run", "soak.md", "--backend", "cpu", "--iterations", str(n),
         "--db", str(db)], cwd=folder, stdout=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1",
             "OPENBLAS_NUM_THREADS": "1"})
    while child.poll() is None:
        try:
            rows.append((time.monotonic() - begun, memory_kib(child.pid),
                         len(os.listdir(f"/proc/{child.pid}/fd")), size(db),
                         size(folder / "soak.db-wal")))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            break
        time.sleep(LOOK_S)
    if child.wait() != 0:
        raise SystemExit(f"soak.py: the run ended with {child.returncode}")
    return [r for r in rows if r[1]], time.monotonic() - begun, db


def main():
    program = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                               ROOT / "build/default/bin/lapenna-lab").resolve())
    n = int(sys.argv[2]) if len(sys.argv) > 2 else ITERATIONS
    place = sys.argv[3] if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory(dir=place) as temporary:
        folder = pathlib.Path(temporary)
        (folder / "soak.md").write_text(
            SMALL.read_text().replace("lr: 0.1", "lr: 0.0001"))
        rows, seconds, db = watch(program, folder, n)
        c = sqlite3.connect(db)
        losses = c.execute("SELECT count(*), max(iteration) FROM loss").fetchone()
        check = c.execute("PRAGMA integrity_check").fetchone()[0]
        c.close()
        bytes_in_all = size(db)
        begun = time.monotonic()
        subprocess.run([program, "profile", "show", "1", "--db", str(db)],
                       check=True, stdout=subprocess.DEVNULL)
        show = time.monotonic() - begun
    first = [r for r in rows if r[0] <= seconds / 10]
    rest = [r for r in rows if r[0] > seconds / 10]
    log = max(r[4] for r in rest)
    growth = max(r[1] for r in rest) - max(r[1] for r in first)
    print(json.dumps({
        "figure": "a soak", "iterations": n, "seconds": round(seconds, 1),
        "memory_first_tenth_kib": max(r[1] for r in first),
        "memory_most_kib": max(r[1] for r in rows),
        "memory_last_kib": rows[-1][1], "files_most": max(r[2] for r in rows),
        "files_last": rows[-1][2],
        "file_bytes": bytes_in_all,
        "file_bytes_an_iteration": round(bytes_in_all / n, 1),
        "log_most_bytes": log, "integrity": check, "losses": losses[0],
        "show_s": round(show, 2)}))
    whole = check == "ok" and losses == (n, n - 1)
    flat = growth <= MOST_KIB and log <= LOG_BYTES and \
        bytes_in_all <= MOST_BYTES * n
    return 0 if whole and flat else 1


sys.exit(main())
