#!/usr/bin/env python3
"""kill.py PROGRAM [ROUNDS]: kill -9 at random moments of what writes.

run, merge, import, delete, vacuum and each export are begun ROUNDS times (50)
and killed at a moment that is drawn from the time they take. Afterwards

  - the database passes PRAGMA integrity_check, and the next command reads it;
  - every run that was there is there whole, or as a deletion: gone whole;
  - a run that was on its way in is there whole, or not at all; of a run that
    was being recorded there is every iteration that it had printed;
  - an exported file is whole or not there;
  - once the same command has run to its end, the directory has no file that it
    would not have had.

Exit code 1 when something does not hold. Python 3 and nothing else.
"""
import json
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROUNDS = 50
SMALL = pathlib.Path(__file__).resolve().parent.parent / "cli/inline.md"
COMMANDS = {
    "run": "run small.md --backend cpu --iterations 20000 --json --db old.db",
    "merge": "profile merge other.db --db old.db",
    "import": "profile import other.db --db new.db",
    "delete": "profile delete 1 --db old.db",
    "vacuum": "profile vacuum --db holes.db",
    "html": "profile export 1 --format html --output out.html --force "
            "--db old.db",
    "csv": "profile export 1 --format csv --output out.csv --force --db old.db",
    "jsonl": "profile export 1 --format jsonl --output out.jsonl --force "
             "--db old.db",
    "nsys": "profile export 1 --format nsys --output out.sqlite --force "
            "--db old.db",
}
DATABASES = ("old.db", "new.db", "other.db", "holes.db")
EXPORTED = ("out.html", "out.csv", "out.jsonl", "out.sqlite")


def start(program, place, words, out=subprocess.DEVNULL):
    return subprocess.Popen(
        [program, *words.split()], cwd=place, stdin=subprocess.DEVNULL,
        stdout=out, stderr=subprocess.PIPE,
        env={"HOME": str(place / "home"), "LC_ALL": "C.UTF-8",
             "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})


def finish(program, place, words):
    child = start(program, place, words)
    err = child.communicate()[1].decode()
    if child.returncode != 0:
        raise SystemExit(f"kill.py: {words}: exit {child.returncode}: {err}")


def stored(path):
    """uuid: (status, iterations, losses, steps, ranges), and the check."""
    c = sqlite3.connect(path)
    try:
        check = c.execute("PRAGMA integrity_check").fetchone()[0]
        runs = {}
        if c.execute("SELECT count(*) FROM sqlite_master WHERE name = 'loss'"
                     ).fetchone()[0]:
            for row in c.execute(
                    "SELECT uuid, id, status, iterations FROM run"):
                runs[row[0]] = row[2:] + tuple(c.execute(
                    f"SELECT count(*) FROM {t} WHERE runId = ?",
                    (row[1],)).fetchone()[0]
                    for t in ("loss", "step", "NVTX_EVENTS"))
        return runs, check
    finally:
        c.close()


def files(place):
    return {p.name for p in place.iterdir() if p.is_file()}


class Round:
    def __init__(self, program, name, template, before, other, exported):
        self.program, self.name, self.template = program, name, template
        self.before, self.other, self.exported = before, other, exported

    def go(self, place, moment):
        """What is wrong, and whether it was alive when it was killed."""
        words = COMMANDS[self.name]
        shutil.copytree(self.template, place)
        with (place / "printed").open("w") as out:
            child = start(self.program, place, words, out)
            time.sleep(moment)
            alive = child.poll() is None
            child.kill()
            child.communicate()
        wrong = self.databases(place)
        for name in EXPORTED:
            if (place / name).exists() and not self.whole(place / name):
                wrong.append(f"{name} is not whole")
        after = start(self.program, place, words)
        after.communicate()
        # A second delete or merge may have nothing to do any more.
        if after.returncode != 0 and self.name not in ("delete",):
            wrong.append(f"the next one ends with {after.returncode}")
        left = files(place) - self.names
        if left:
            wrong.append(f"left behind: {sorted(left)}")
        shutil.rmtree(place)
        return wrong, alive

    def whole(self, path):
        if path.suffix == ".sqlite":
            c = sqlite3.connect(path)
            try:
                return c.execute("PRAGMA integrity_check").fetchone()[0] == \
                    "ok" and c.execute("SELECT count(*) FROM NVTX_EVENTS"
                                       ).fetchone()[0] == self.exported
            except sqlite3.Error:
                return False
            finally:
                c.close()
        end = path.read_bytes()[-200:]
        return end.rstrip().endswith((b"</html>", b"}", b"</body>")) or \
            path.suffix == ".csv" and end.endswith(b"\n")

    def databases(self, place):
        wrong = []
        for name in DATABASES:
            if not (place / name).exists() or not (place / name).stat().st_size:
                continue
            listed = start(self.program, place, f"profile list --db {name}")
            err = listed.communicate()[1].decode()
            if listed.returncode != 0 and "no table" not in err and \
                    "holds no runs" not in err:
                wrong.append(f"{name}: cannot be listed: {err}")
            runs, check = stored(place / name)
            if check != "ok":
                wrong.append(f"{name}: {check}")
            wrong += self.runs(place, name, runs)
        return wrong

    def runs(self, place, name, runs):
        wrong = []
        known = self.before.get(name, {})
        for uuid, row in known.items():
            if uuid in runs and runs[uuid] != row:
                wrong.append(f"{name}: a run is no more what it was: {row}, "
                             f"{runs[uuid]}")
            if uuid not in runs and self.name != "delete":
                wrong.append(f"{name}: a run is lost")
        if self.name == "delete" and name == "old.db" and \
                len(runs) < len(known) - 1:
            wrong.append("more than one run is deleted")
        for uuid, row in runs.items():
            if uuid in known:
                continue
            if self.name in ("merge", "import"):
                if row != self.other.get(uuid):
                    wrong.append(f"{name}: a part of a run came in")
            elif self.name == "run":
                lines = (place / "printed").read_text().splitlines()[:-1]
                printed = sum('"iteration","iteration"' in l for l in lines)
                if row[2] < printed:
                    wrong.append(f"{printed} iterations are printed, {row[2]} "
                                 "stored")
        return wrong


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else ROUNDS
    random.seed(11)
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        template = folder / "template"
        template.mkdir()
        shutil.copy(SMALL, template / "small.md")
        for db, times in (("old.db", 2), ("other.db", 2), ("holes.db", 3)):
            for _ in range(times):
                finish(program, template, "run small.md --backend cpu "
                       f"--iterations 5000 --db {db}")
        finish(program, template, "profile delete 1 --db holes.db")
        before = {db: stored(template / db)[0]
                  for db in ("old.db", "other.db", "holes.db")}
        ranges = next(iter(before["old.db"].values()))[4]
        for name, words in COMMANDS.items():
            took = []
            for i in range(3):
                place = folder / f"{name}-{i}"
                shutil.copytree(template, place)
                begun = time.monotonic()
                finish(program, place, words)
                took.append(time.monotonic() - begun)
                (place / "printed").touch()
                names = files(place)
                exported = 0
                if name == "nsys":
                    c = sqlite3.connect(place / "out.sqlite")
                    exported = c.execute(
                        "SELECT count(*) FROM NVTX_EVENTS").fetchone()[0]
                    c.close()
                shutil.rmtree(place)
            r = Round(program, name, template, before, before["other.db"],
                      exported or ranges)
            r.names = names
            killed = 0
            for i in range(rounds):
                moment = random.random() * max(took)
                wrong, alive = r.go(folder / f"{name}-{i}", moment)
                killed += alive
                bad += bool(wrong)
                for line in wrong:
                    print(f"{name}, killed after {moment:.4f} s: {line}")
            print(json.dumps({"figure": f"kill -9 of {name}", "n": rounds,
                              "killed_alive": killed,
                              "took_s": round(max(took), 3)}), flush=True)
    return 1 if bad else 0


sys.exit(main())
