#!/usr/bin/env python3
"""training_cpu.py PROGRAM [NAME...]: training speed beside PyTorch 2 on the CPU, in
one run, with 1 thread and with all.

The cpu-* networks of train_lessons.py in fp32 with AdamW. For every network, number
of threads and repeat, one after the other: this program (`run --json`, its median
iteration; tuned before, recording as always), PyTorch eager and PyTorch compiled.
PyTorch is installed by hand: pip install torch. Prints a JSON object for every
figure and a table last: milliseconds an iteration, medians of the turns, and the
ratio of PyTorch's best to ours (above 1 we are faster), the median of the turns'.

A virtual machine's core may be half of a core that another machine uses: for a second
or two it has two thirds of its speed. Before and after each measurement a loop is timed
on all cores at once; a measurement counts where neither was 15 % slower than the best,
and where other programs used less than 5 % of the cores meanwhile (/proc/stat).
Otherwise it is made again, four times at most, and "disturbed" in its figure; a turn
with such a measurement is dropped whole.

With several threads two more kinds take turns: "alone", this program with one thread,
and "at once", as many such processes at the same time, the mean of their times. gain:
alone / ours. ceiling: threads * alone / at once, what this machine's cores give to
programs that share nothing; a gain means little where the ceiling is low.

Two such cores share a cache at some times and not at others. Before and after each
measurement `core_distance` (cmake --build BUILD --target core_distance; it is beside
PROGRAM then) measures how long a number takes to the other core and back: "near" is
120 ns at most, "far" 200 or more. With several threads the table has a line for the turns of which all measurements were near, one for those that were
all far, and one, "mixed", for the others. Without `core_distance` there is one line.

  --repeats N      (5)
  --seconds S      of each measurement (2)
  --threads LIST   (1 and all cores: 1,2)
  --variants TEXT  options for this program, e.g. "--no-tune"
  --no-torch       this program alone
  --no-compile     PyTorch eager alone; so too where there is no compiler
  --limit S        ends after so many seconds; the table has what was measured, as
                   it has after Ctrl-C and SIGTERM
"""
import argparse
import functools
import itertools
import json
import os
import pathlib
import shlex
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import train_lessons

NAMES = [n for n in train_lessons.NETWORKS if n.startswith("cpu-")]


def stop_after(limit):
    """SIGTERM and the time limit (seconds; 0: none) are KeyboardInterrupt."""
    for number in (signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, signal.default_int_handler)
    signal.alarm(limit)


def spin(seconds):
    """Rounds of a loop a second of the processor."""
    begin = time.thread_time()
    rounds = 0
    while time.thread_time() - begin < seconds:
        for _ in range(1000):
            rounds += 1
    return rounds / (time.thread_time() - begin)


def answer():
    """A line of input, one of output: spin()."""
    for _ in sys.stdin:
        print(spin(0.02), flush=True)


def mode_of(before, after):
    """Of a round trip of so many ns before and after; "": not known."""
    NEAR, FAR = 120, 200
    if not (before > 0 and after > 0):  # NaN
        return ""
    return ("near" if max(before, after) <= NEAR
            else "far" if min(before, after) >= FAR else "mixed")


class Measured(typing.NamedTuple):
    ms: float
    disturbed: bool
    mode: str
    others: float  # share of the cores that other programs used


class Steady:
    """measure(work): work()'s milliseconds as Measured."""
    TRIES = 4

    def __init__(self, cores, distance=None):
        self.meter = distance and subprocess.Popen(
            [distance], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            start_new_session=True)
        # Processes that end with their input; a signal to the group is not theirs.
        here = pathlib.Path(__file__).resolve().parent
        self.workers = [subprocess.Popen(
            [sys.executable, "-c", "import training_cpu; training_cpu.answer()"],
            cwd=here, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, start_new_session=True)
            for _ in range(cores)]
        self.best = 0
        for _ in range(10):
            self.full_speed()

    def full_speed(self):
        for worker in self.workers:
            worker.stdin.write("\n")
            worker.stdin.flush()
        slowest = min([float(w.stdout.readline()) for w in self.workers])
        self.best = max(self.best, slowest)
        return slowest > 0.85 * self.best

    @staticmethod
    def others():
        """Seconds of the processor that other programs have used since the start."""
        TICKS = os.sysconf("SC_CLK_TCK")
        cpu = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
        user, nice, system = map(int, cpu[1:4])
        return (user + nice + system) / TICKS - sum(os.times()[:4])

    def share_of_others(self, work):
        """The result, and the share of the cores that other programs used meanwhile."""
        begin, used = time.perf_counter(), self.others()
        result = work()
        used = self.others() - used
        return result, used / (time.perf_counter() - begin) / len(self.workers)

    def distance(self):
        """Nanoseconds of a round trip between two cores; NaN: not known."""
        if not self.meter:
            return float("nan")
        self.meter.stdin.write("\n")
        self.meter.stdin.flush()
        return float(self.meter.stdout.readline())

    def measure(self, work):
        MOST_OTHERS = 0.05
        for _ in range(self.TRIES):
            before = self.full_speed()
            ns = self.distance()
            ms, others = self.share_of_others(work)
            mode = mode_of(ns, self.distance())
            quiet = self.full_speed() and before and others < MOST_OTHERS
            if quiet:
                break
        return Measured(ms, not quiet, mode, others)


def ours(program, lesson, dbs, threads, options, iterations):
    """Milliseconds of an iteration, the mean of a process for each of `dbs`."""
    # Files: a process with a full pipe would wait until the one before has ended.
    outs = [tempfile.TemporaryFile("w+") for _ in dbs]
    runs = [subprocess.Popen(
        [program, "run", "--json", "--backend", "cpu", "--threads", str(threads),
         "--db", str(db), "--iterations", str(iterations), *options, str(lesson)],
        stdout=out) for db, out in zip(dbs, outs)]
    times = []
    for run, out in zip(runs, outs):
        failed = run.wait()
        with out:
            out.seek(0)
            lines = out.read().splitlines()
        last = json.loads(lines[-1]) if lines else {}
        if failed or last.get("type") != "summary":
            raise SystemExit(f"training_cpu.py: {lesson} failed")
        times.append(last["step_ms_median"])
    return statistics.mean(times)


def works_of(program, lesson, folder, threads, options, seconds):
    """{kind: function that measures it}: "ours", and with several threads "alone" and
    "at once". Tunes all, which also gives how many iterations fill the time."""
    works = {}
    kinds = {"ours": (1, threads)}
    if threads > 1:
        kinds |= {"alone": (1, 1), "at once": (threads, 1)}
    for kind, (processes, n) in kinds.items():
        # Each process its own: one writes at a time. The same tuning: the lone one's.
        dbs = [folder / f"runs-{n}-{i}.db" for i in range(processes)]
        first = ours(program, lesson, dbs[:1], n, options, 12)
        for db in dbs[1:]:
            sqlite3.connect(dbs[0]).backup(sqlite3.connect(db))
        count = max(12, int(seconds * 1e3 / first))
        works[kind] = functools.partial(ours, program, lesson, dbs, n, options, count)
    return works


def theirs(step, seconds):
    for _ in range(3):
        step()
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 10:
        start = time.perf_counter()
        step()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3


def training_step(name, threads, peer):
    """PyTorch's, once made; None: there is no compiler for it."""
    import torch
    import train_peer
    torch.set_num_threads(threads)
    step = train_peer.eager(name, "cpu", peer == "compiled")
    try:
        step()
    except Exception as error:  # of many classes
        if peer != "compiled":
            raise
        print(f"{name}: PyTorch compiled is left out: {type(error).__name__}",
              flush=True)
        return None
    return step


def find_distance(program):
    """core_distance beside the program, or None."""
    path = pathlib.Path(program).resolve().parent / "core_distance"
    if path.exists():
        return str(path)
    print("core_distance is not built: the cores' mode is not known")
    return None


def measure(args, names, threads_list):
    """Yields a Row for every network, number of threads and mode."""
    steady = Steady(len(os.sched_getaffinity(0)), find_distance(args.program))
    peers = [] if args.no_torch else ["eager"] + (
        [] if args.no_compile else ["compiled"])
    options = shlex.split(args.variants)
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        for name, threads in itertools.product(names, threads_list):
            lesson = train_lessons.write(folder, name)
            step = {peer: training_step(name, threads, peer) for peer in peers}
            works = works_of(args.program, lesson, folder, threads, options,
                             args.seconds)
            works |= {p: functools.partial(theirs, step[p], args.seconds)
                      for p in peers if step[p]}
            turns = []
            try:
                for repeat in range(args.repeats):
                    turns.append({})
                    for kind, work in works.items():
                        turns[-1][kind] = steady.measure(work)
                        print(json.dumps(
                            {"network": name, "threads": threads, "kind": kind,
                             "repeat": repeat, **turns[-1][kind]._asdict()}),
                            flush=True)
            except KeyboardInterrupt:
                yield from rows_of(name, threads, turns)
                raise
            yield from rows_of(name, threads, turns)


class Row(typing.NamedTuple):
    """Of the turns of one mode: "near", "far", "mixed", or "": all."""
    name: str
    threads: int
    mode: str
    n: int
    ms: dict  # {kind: median of the turns}
    ratio: float  # of PyTorch's best to ours, median of the turns; NaN: alone
    gain: float  # of the threads over one; NaN: there is one
    ceiling: float  # of as many processes over one, as it


def mode_of_turn(turn, threads):
    """One thread is the same in every mode."""
    modes = {m.mode for m in turn.values()}
    return ("" if threads == 1 or "" in modes
            else modes.pop() if len(modes) == 1 else "mixed")


def ratio_of(turn):
    best = min((m.ms for kind, m in turn.items() if kind in ("eager", "compiled")),
               default=float("nan"))
    return best / turn["ours"].ms


def over_one_thread(turn, kind, processes):
    return (processes * turn["alone"].ms / turn[kind].ms
            if "alone" in turn and kind in turn else float("nan"))


def rows_of(name, threads, turns):
    """Those turns count that are whole and that nothing disturbed; all, where none
    of a mode is undisturbed."""
    most = max(map(len, turns), default=0)
    turns = [t for t in turns if "ours" in t and len(t) == most]
    for mode in ("", "near", "far", "mixed"):
        of_mode = [t for t in turns if mode_of_turn(t, threads) == mode]
        quiet = [t for t in of_mode
                 if not any(m.disturbed for m in t.values())] or of_mode
        if quiet:
            yield Row(name, threads, mode, len(quiet),
                      {kind: statistics.median([t[kind].ms for t in quiet])
                       for kind in quiet[0]},
                      statistics.median(map(ratio_of, quiet)),
                      statistics.median(over_one_thread(t, "ours", 1)
                                        for t in quiet),
                      statistics.median(over_one_thread(t, "at once", threads)
                                        for t in quiet))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", default=f"1,{len(os.sched_getaffinity(0))}")
    parser.add_argument("--variants", default="")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--limit", type=int, default=0)
    args = parser.parse_args()
    stop_after(args.limit)
    rows = []
    try:
        for row in measure(args, args.names or NAMES,
                           list(map(int, args.threads.split(",")))):
            rows.append(row)
    except KeyboardInterrupt:
        print("stopped: what was measured")
    kinds = ["ours", "eager", "compiled"]
    print(f"{'network':16} {'threads':>7} {'mode':>5} {'turns':>5} "
          + " ".join(f"{k:>9}" for k in kinds)
          + f" {'ratio':>6} {'gain':>5} {'ceiling':>7}")
    for r in rows:
        print(f"{r.name:16} {r.threads:7} {r.mode or 'all':>5} {r.n:5} "
              + " ".join(f"{r.ms.get(k, float('nan')):9.3f}" for k in kinds)
              + f" {r.ratio:6.2f} {r.gain:5.2f} {r.ceiling:7.2f}")


if __name__ == "__main__":
    main()
