#!/usr/bin/env python3
"""sweep.py SHIM PROGRAM [--only NAME,...] [--kinds alloc,io] [--most N] [--all]

Runs small commands of the program again and again, each time with one call of
malloc or of the file functions failing (fail_calls.c, SHIM), and looks at what
comes of it:

  - no crash, no hang;
  - exit code 0 only with the output and the files of an undisturbed run, or
    where the command itself states what is missing (a run "in part only");
  - else a message on standard error;
  - the database passes PRAGMA integrity_check, what was in it before is in it
    still, the next command reads it;
  - no file is left behind beside those of an undisturbed run.

Calls are chosen by what the undisturbed run does: one for each place in the
program that reaches an allocation or a file. --all takes every call (hours);
--most N at most N faults of a command, evenly spread. --jobs N (1) at once.
Exit code 1 when something does not hold. Python 3 and nothing else; prints each
fault that went wrong with its call stack.
"""
import argparse
import collections
import concurrent.futures
import errno
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading

LIMIT_S = 120  # a busy machine; an undisturbed run takes a tenth of a second
FOREIGN_S = 5  # where a library of FOREIGN got no memory, and may wait for ever
FRAMES = 24
CALL = struct.Struct("=Q16s%dQ" % FRAMES)

# What ends the program, or waits for ever, when it gets no memory itself: a
# library, or the function of the program, "NAME at FILE", that calls the C library.
# oneDNN (an uncaught bad_alloc of C++ aborts) is left out: no module is loaded here.
FOREIGN = {
    "libopenblas": "blas_memory_alloc() aborts or tries again for ever",
    "parse_help at options.c": "argp_help() asserts that it has memory, or prints nothing",
    "libfontconfig": "its reader of configuration files uses memory that it did not get",
    "libz": "read() is not repeated; Linux interrupts none of a regular file",
    "main at main.c": "setlocale() leaves the locale C, whose output is ASCII",
    "add_run_row at writer.c": "getpwuid_r() crashes when memory ends within it",
}
# What they read is stated as unknown when it cannot be read.
UNKNOWN = {"read_cpu_name at backend_cpu.c", "lab_process_start at database.c"}
SOURCES = pathlib.Path(__file__).resolve().parents[3] / "src"

SMALL = pathlib.Path(__file__).resolve().parents[2] / "cli/inline.md"
LESSON = SMALL.read_text().replace(
    "seed:", "summary: Three rows, two layers.\nseed:").replace(
    "iterations: 5", "iterations: 3").replace("The introduction.\n", """The introduction, with $\\frac{a}{b}$ and a table.

| a | b |
|-|-|
| 1 | 2 |

## phase: forward

What a layer does.

## phase: loss

How wrong it is.

## phase: backward

How to be less so.

## phase: update

The step.
""")
CSV = """---
format: 1
title: Rows of a file
seed: 3
data: {source: csv, path: rows.csv}
network:
  - {id: fc1, op: dense, units: 2}
loss: {op: softmax_cross_entropy}
optimizer: {op: sgd, lr: 0.1}
run: {iterations: 2}
---
Text.
"""
ROWS = "1,2,0\n0.5,3,1\n-1,0.25,1\n2,2,0\n"
TYPED = b"step\nnext\nprint fc1.W\nexplain fc2.y[0,1]\nbreak fc2\ncontinue\n" \
    b"train 3\nback\nlist tensors\nquit\n"


class Command:
    """words; files it writes; `partial`: what an exit code of 0 may state on
    standard output and error when not all was recorded; `steady`: it prints
    the same each time, but for numbers."""

    def __init__(self, words, typed=b"", files=(), partial=None, steady=True):
        self.words = words.split()
        self.typed = typed
        self.files = files
        self.partial = partial
        self.steady = steady


IN_PART = r"not recorded|in part only|recorded_whole\": ?false|not stored whole|"\
    r"recording has stopped"
CPU = "--backend cpu"
COMMANDS = {
    "version": Command("--version"),
    "help": Command("help run"),
    "lint": Command("lesson lint small.md"),
    "list": Command("lesson list"),
    "show": Command("lesson show small.md"),
    "step": Command(f"step small.md {CPU} --json", partial=IN_PART),
    "npy": Command(f"step small.md {CPU} --npy out --db new.db",
                   files=["out"], partial=IN_PART),
    "csv": Command(f"step rows.md {CPU} --batch 2 --db new.db", partial=IN_PART),
    "plain": Command(f"--plain small.md {CPU} --db new.db", TYPED,
                     partial=IN_PART + "|no memory|out of memory"),
    "run": Command(f"run small.md {CPU} --db new.db", partial=IN_PART),
    "run-json": Command(f"run small.md {CPU} --json --db old.db",
                        partial=IN_PART),
    "runs": Command("profile list --db old.db"),
    "profile": Command("profile show 1 --db old.db"),
    "compare": Command("profile compare 1 2 --db old.db"),
    "timeline": Command("profile timeline 1 --db old.db"),
    "roofline": Command("profile roofline 1 --db old.db"),
    "html": Command("profile export 1 --format html --output out.html "
                    "--db old.db", files=["out.html"]),
    "csv-export": Command("profile export 1 --format csv --output out.csv "
                          "--db old.db", files=["out.csv"]),
    "trace": Command("profile export 1 --format trace --output out.json "
                     "--db old.db", files=["out.json"]),
    "nsys": Command("profile export 1 --format nsys --output out.sqlite "
                    "--db old.db", files=["out.sqlite"]),
    "merge": Command("profile merge other.db --db old.db"),
    "import": Command("profile import other.db --db new.db"),
    "delete": Command("profile delete 1 --db old.db"),
    "vacuum": Command("profile vacuum --db old.db"),
    "doctor": Command("doctor --db old.db",
                      partial=r"missing|warning"),
    "labs": Command("lab --list"),
    "saxpy": Command(f"lab saxpy {CPU} --sizes 1024 --repeat 20 --db new.db",
                     partial=IN_PART, steady=False),
}


class Sweep:
    def __init__(self, shim, program, folder):
        self.shim = shim
        self.program = program
        self.folder = folder
        self.template = folder / "template"
        self.serial = 0
        self.lock = threading.Lock()
        self.template.mkdir()
        (folder / "none").mkdir()
        (self.template / "small.md").write_text(LESSON)
        (self.template / "rows.md").write_text(CSV)
        (self.template / "rows.csv").write_text(ROWS)
        for db in ("old.db", "old.db", "other.db"):
            done = self.start(self.template, ["run", "small.md", "--backend",
                                              "cpu", "--db", db])
            if done[0] != 0:
                raise SystemExit(f"cannot run: {done}")
        self.old_runs = stored_runs(self.template / "old.db")

    def place(self):
        with self.lock:
            self.serial += 1
            path = self.folder / str(self.serial)
        shutil.copytree(self.template, path)
        return path

    def start(self, place, words, typed=b"", fault=None, spared=None, **more):
        """Exit code (None: it hangs), output, errors. `spared` is asked after a
        moment whether there is no need to wait longer."""
        env = {"PATH": os.environ["PATH"], "HOME": str(place / "home"),
               "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1",
               "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive",
               "COLUMNS": "80", "LAPENNA_LAB_BENCH": "quick",
               "LAPENNA_LAB_MODULE_DIR": str(self.folder / "none")}
        if fault:
            env.update(LD_PRELOAD=str(self.shim), LAB_FAULT=fault, **more)
        child = subprocess.Popen([self.program, *words], cwd=place, env=env,
                                 stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        hangs = False
        for limit in (FOREIGN_S, LIMIT_S - FOREIGN_S):
            try:
                out, err = child.communicate(typed, timeout=limit)
                break
            except subprocess.TimeoutExpired:
                typed = None  # it is sent, or will be
                hangs = limit != FOREIGN_S or bool(spared and spared())
                if hangs:
                    child.kill()
                    out, err = child.communicate()
                    break
        return None if hangs else child.returncode, \
            out.decode(errors="replace"), err.decode(errors="replace")


def stored_runs(path):
    """What must stay of the runs of a database."""
    c = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return {row[0]: row[1:] for row in c.execute(
            "SELECT r.uuid, r.status, r.iterations, r.lesson, (SELECT count(*)"
            " FROM loss l WHERE l.runId = r.id), (SELECT count(*) FROM step"
            " s WHERE s.runId = r.id) FROM run r")}
    finally:
        c.close()


# What readers put together themselves where it is missing.
MADE_AGAIN = ("time_sum", "kernel_zone", "kernel_zone_name")


def tables(path):
    """How many rows each table has."""
    c = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        names = [r[0] for r in c.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {n: c.execute(f'SELECT count(*) FROM "{n}"').fetchone()[0]
                for n in sorted(names)
                if not n.startswith("sqlite_") and n not in MADE_AGAIN}
    finally:
        c.close()


def integrity(path):
    c = sqlite3.connect(path)
    try:
        return c.execute("PRAGMA integrity_check").fetchone()[0]
    finally:
        c.close()


NUMBER = re.compile(r"[0-9][0-9.,:/e+-]*[0-9]|[0-9]")


def bare(line):
    """A line without its numbers and units, which are times."""
    line = NUMBER.sub("#", line)
    return re.sub(r"(# ?(ns|us|ms|s|min|k|M|G|%)\b|n/a|nan|\s|[#*|=_.-])+", "#",
                  line)


# A time may come out the same in all undisturbed runs by chance.
TIME = re.compile(r'("[a-z_]*_ns": ?)[0-9.e+-]+')


def timeless(text):
    return TIME.sub(r"\1#", text).splitlines()


class Reference:
    """What undisturbed runs print and write, without what differs in them."""

    def __init__(self, texts):
        self.lines = [timeless(t) for t in texts]
        first = self.lines[0]
        self.vary = set()
        for other in self.lines[1:]:
            for i, line in enumerate(first):
                if i >= len(other) or other[i] != line:
                    self.vary.add(i)

    def same(self, text):
        lines = timeless(text)
        if not any(len(lines) == len(known) for known in self.lines):
            return False
        first = self.lines[0]
        if len(lines) != len(first):
            return True
        for i, line in enumerate(lines):
            if line != first[i] and (i not in self.vary or not any(
                    bare(line) == bare(k[i]) for k in self.lines
                    if i < len(k))):
                return False
        return True


def written(place, command):
    """Names of the files of a command's directory, and its texts' contents."""
    names = sorted(str(p.relative_to(place)) for p in place.rglob("*")
                   if p.is_file() and p.name not in ("report", "trace"))
    texts = {}
    for name in command.files:
        path = place / name
        if path.is_dir():
            for file in sorted(path.iterdir()):
                texts[f"{name}/{file.name}"] = repr(file.read_bytes())
        elif name.endswith(".sqlite") and path.exists():
            texts[name] = repr(tables(path))
        elif path.exists():
            texts[name] = path.read_text(errors="replace")
    return names, texts


DATABASES = ("old.db", "new.db", "other.db",
             "home/.local/state/lapenna-lab/profiles.db")


class Undisturbed:
    def __init__(self, sweep, name, command):
        runs = []
        for _ in range(3):
            place = sweep.place()
            code, out, err = sweep.start(place, command.words, command.typed)
            if code != 0:
                raise SystemExit(f"{name}: exit {code}: {err}")
            runs.append((out, *written(place, command), {
                db: tables(place / db) for db in DATABASES
                if (place / db).exists()}))
            shutil.rmtree(place)
        self.out = Reference([r[0] for r in runs])
        self.names = set(runs[0][1])
        self.files = {f: Reference([r[2][f] for r in runs]) for f in runs[0][2]}
        self.tables = runs[0][3]

    def trace(self, sweep, command, kind):
        place = sweep.place()
        sweep.start(place, command.words, command.typed, f"{kind}:0",
                    LAB_FAULT_TRACE=str(place / "trace"))
        data = (place / "trace").read_bytes()
        shutil.rmtree(place)
        calls = []
        for values in CALL.iter_unpack(data[:len(data) // CALL.size *
                                            CALL.size]):
            frames = [f for f in values[2:] if f]
            calls.append((values[0], values[1].split(b"\0")[0].decode(),
                          frames))
        return calls


def place_of(frames):
    """The frames down to the second one of the program itself."""
    own = [i for i, f in enumerate(frames) if f >> 48 == 0]
    return tuple(frames[:(own[1] if len(own) > 1 else
                          own[0] if own else len(frames)) + 1])


OPENS = {"open", "open64", "openat", "openat64"}
BYTES = {"read", "pread", "write", "pwrite"}
SPACE = OPENS | {"fopen", "write", "pwrite", "fsync", "fdatasync", "ftruncate",
                 "rename", "linkat", "mkdir", "close", "fclose", "fflush",
                 "fwrite"}


def faults_of(kind, n, name, all_after):
    """How the n-th call, a call of `name`, is made to fail."""
    if kind == "alloc":
        return [f"alloc:{n}"] + ([f"alloc:{n}+"] if all_after else [])
    every = [f"io:{n}:{errno.EIO}", f"io:{n}+:{errno.EIO}"]
    if name in SPACE:
        every += [f"io:{n}:{errno.ENOSPC}", f"io:{n}+:{errno.ENOSPC}"]
    if name in BYTES or name in OPENS:
        every.append(f"io:{n}:{errno.EINTR}")
    if name in BYTES:
        every.append(f"io:{n}:short")
    return every


def choose(calls, kind, every, most):
    faults = []
    seen = set()
    for n, name, frames in calls:
        site = place_of(frames)
        if every or site not in seen:
            seen.add(site)
            faults += faults_of(kind, n, name, every or len(seen) % 4 == 0)
    if most and len(faults) > most:
        faults = [faults[(2 * i + 1) * len(faults) // (2 * most)]
                  for i in range(most)]
    return faults, len(seen)


def gone():
    """Functions of FOREIGN and UNKNOWN that no file of their name defines."""
    for at in (name for name in (*FOREIGN, *UNKNOWN) if " at " in name):
        function, file = at.split(" at ")
        defines = re.compile(rf"^\w[^;{{}}=]*\b{function}\([^;{{}}]*\)\n{{", re.M)
        if not any(defines.search(f.read_text()) for f in SOURCES.rglob(file)):
            yield at


def foreign(program, stack):
    """Who made the failing call, when it is one of FOREIGN or UNKNOWN."""
    for line in symbols(program, stack)[1:]:
        for name in (*FOREIGN, *UNKNOWN):
            if name in line:
                return name
        if " at " in line:
            return None
    return None


def judge(sweep, command, known, place, fault, called, done):
    """What is wrong; an empty list: nothing."""
    code, out, err = done
    wrong = []
    interrupted = fault.endswith((f":{errno.EINTR}", ":short"))
    if code is None:
        return ["hangs"]
    if code < 0:
        wrong.append(f"killed by {signal.Signals(-code).name}")
    elif code > 4:
        wrong.append(f"exit code {code}")
    names, texts = written_or(place, command, wrong)
    stored = {}
    for db in DATABASES:
        path = place / db
        if not path.exists():
            continue
        try:
            check = integrity(path)
            if check != "ok":
                wrong.append(f"{db}: {check}")
            stored[db] = tables(path)
            if db == "old.db" and command.words[:2] != ["profile", "delete"]:
                now = stored_runs(path)
                if any(now.get(u) != r for u, r in sweep.old_runs.items()):
                    wrong.append("a run that was stored before has changed")
        except sqlite3.Error as e:
            wrong.append(f"{db}: {e}")
    if code == 0:
        reported = command.partial and re.search(command.partial, out + err)
        if not reported and command.steady and not known.out.same(out):
            wrong.append("exit code 0 with another output")
        if not reported and stored != known.tables:
            wrong.append("exit code 0, other rows are stored")
        for file, reference in known.files.items():
            if file not in texts or not reference.same(texts[file]):
                wrong.append(f"exit code 0, {file} is missing or differs")
    else:
        lines = [l for l in err.splitlines() if l.strip()]
        if interrupted and called in BYTES | OPENS:
            wrong.append("does not try again")
        if not lines:
            wrong.append("no message")
        elif len(lines) > 6 and not command.typed and \
                command.words[0] != "lesson":  # one for each
            wrong.append("more than one message")
        if "(null)" in err or "no error" in err or "Success" in err:
            wrong.append("a message without a reason")
    left = [n for n in set(names) - known.names
            if not re.search(r"\.db(-wal|-shm|-journal)?$", n)]
    if left:
        wrong.append(f"left behind: {left}")
    for db in DATABASES:
        if (place / db).exists() and (place / db).stat().st_size:
            after = sweep.start(place, ["profile", "list", "--db", db])
            if after[0] != 0:
                wrong.append(f"{db} cannot be read afterwards: {after[2]}")
    return wrong


def written_or(place, command, wrong):
    try:
        return written(place, command)
    except (sqlite3.Error, OSError) as e:
        wrong.append(f"cannot read what was written: {e}")
        return [], {}


def one(sweep, command, known, fault):
    place = sweep.place()
    report = place / "report"

    def stack_of_fault():
        return report.read_text().splitlines() if report.exists() else []

    try:
        done = sweep.start(place, command.words, command.typed, fault,
                           lambda: foreign(sweep.program, stack_of_fault()),
                           LAB_FAULT_REPORT=str(report))
        stack = stack_of_fault()
        if not stack:  # threads: there were fewer calls this time
            return None, [], done
        wrong = judge(sweep, command, known, place, fault,
                      stack[0].split()[2], done)
        return stack, wrong, done
    finally:
        shutil.rmtree(place, ignore_errors=True)


def symbols(program, stack):
    addresses = [l.split()[1] for l in stack if l.startswith("program ")]
    if not addresses:
        return stack
    try:
        out = subprocess.run(["addr2line", "-fspe", program, *addresses],
                             capture_output=True, text=True).stdout
    except OSError:
        return stack
    named = iter(out.splitlines())
    return [next(named, l) if l.startswith("program ") else l for l in stack]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("shim", type=pathlib.Path)
    p.add_argument("program", type=pathlib.Path)
    p.add_argument("--only")
    p.add_argument("--kinds", default="alloc,io")
    p.add_argument("--most", type=int, default=0)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--all", action="store_true")
    o = p.parse_args()
    names = o.only.split(",") if o.only else list(COMMANDS)
    if missing := list(gone()):
        sys.exit(f"FOREIGN or UNKNOWN: not there: {', '.join(missing)}")
    bad = 0
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        sweep = Sweep(o.shim.resolve(), str(o.program.resolve()),
                      pathlib.Path(folder))
        pool = concurrent.futures.ThreadPoolExecutor(o.jobs)
        for name in names:
            command = COMMANDS[name]
            known = Undisturbed(sweep, name, command)
            for kind in o.kinds.split(","):
                calls = known.trace(sweep, command, kind)
                faults, sites = choose(calls, kind, o.all, o.most)
                spared = collections.Counter()
                groups = collections.defaultdict(list)
                hit = 0
                jobs = {f: pool.submit(one, sweep, command, known, f)
                        for f in faults}
                for fault, job in jobs.items():
                    stack, wrong, done = job.result()
                    hit += stack is not None
                    library = wrong and foreign(o.program, stack)
                    if wrong and library:
                        spared[library] += 1
                    elif wrong:
                        groups[(tuple(wrong), tuple(stack[1:4]))].append(
                            (fault, stack, done))
                print(f"{name} {kind}: {len(calls)} calls from {sites} places, "
                      f"{hit} faults, {sum(map(len, groups.values()))} wrong"
                      + "".join(f", {n} spared: {l}"
                                for l, n in spared.items()), flush=True)
                total += hit
                for (wrong, _), cases in groups.items():
                    fault, stack, done = cases[0]
                    bad += len(cases)
                    print(f"  {len(cases)}x LAB_FAULT={fault}: "
                          f"{'; '.join(wrong)}")
                    for line in symbols(o.program, stack)[:14]:
                        print(f"      {line}")
                    print(f"    exit {done[0]}, stderr: {done[2][-500:]!r}, "
                          f"stdout: {done[1][-200:]!r}", flush=True)
        pool.shutdown()
    print(f"{total} faults, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
