#!/usr/bin/env python3
"""training_cpu.py PROGRAM [NAME...]: training speed beside PyTorch 2 on the CPU, in
one run, with 1 thread and with all.

The cpu-* networks of train_lessons.py in fp32 with AdamW. For every network, number
of threads and repeat, one after the other: this program (`run --json`, its median
iteration; tuned before, recording as always), PyTorch eager and PyTorch compiled.
PyTorch is installed by hand: pip install torch. Prints a JSON object for every
figure and a table last: milliseconds an iteration, medians of the repeats, and the
ratio of PyTorch's best to ours (above 1 we are faster).

A virtual machine's core may be half of a core that another machine uses: for a second
or two it has two thirds of its speed. Before and after each measurement a loop is timed
on all cores at once; a measurement counts where neither was 15 % slower than the best.
Otherwise it is made again, four times at most, and "disturbed" in its figure.

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
import itertools
import json
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

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


class Steady:
    """measure(work): the result, and whether the cores were disturbed."""
    TRIES = 4

    def __init__(self, cores):
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

    def measure(self, work):
        for _ in range(self.TRIES):
            before = self.full_speed()
            result = work()
            if self.full_speed() and before:
                return result, False
        return result, True


def ours(program, lesson, db, threads, options, iterations):
    out = subprocess.run(
        [program, "run", "--json", "--backend", "cpu", "--threads", str(threads),
         "--db", str(db), "--iterations", str(iterations), *options, str(lesson)],
        stdout=subprocess.PIPE, text=True)
    last = json.loads(out.stdout.splitlines()[-1]) if out.stdout else {}
    if out.returncode or last.get("type") != "summary":
        raise SystemExit(f"training_cpu.py: {lesson} failed")
    return last["step_ms_median"]


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


def measure(args, names, threads_list):
    """Yields (name, threads, {kind: median of its repeats, ms}); kinds are ours,
    eager, compiled."""
    steady = Steady(len(os.sched_getaffinity(0)))
    peers = [] if args.no_torch else ["eager"] + (
        [] if args.no_compile else ["compiled"])
    options = shlex.split(args.variants)
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        for name, threads in itertools.product(names, threads_list):
            lesson = train_lessons.write(folder, name)
            step = {peer: training_step(name, threads, peer) for peer in peers}
            # Tunes, and says how many iterations fill the time.
            first = ours(args.program, lesson, folder / "runs.db", threads,
                         options, 12)
            count = max(12, int(args.seconds * 1e3 / first))
            found = {"ours": []} | {p: [] for p in peers if step[p]}
            for repeat, kind in itertools.product(range(args.repeats), found):
                ms, disturbed = steady.measure(
                    lambda: ours(args.program, lesson, folder / "runs.db",
                                 threads, options, count) if kind == "ours"
                    else theirs(step[kind], args.seconds))
                found[kind].append((disturbed, ms))
                print(json.dumps({"network": name, "threads": threads,
                                  "kind": kind, "repeat": repeat,
                                  "ms": ms, "disturbed": disturbed}), flush=True)
            yield name, threads, {k: statistics.median(undisturbed(v))
                                  for k, v in found.items()}


def undisturbed(found):
    """Those that count; all, where none does."""
    return [ms for bad, ms in found if not bad] or [ms for _, ms in found]


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
    print(f"{'network':16} {'threads':>7} "
          + " ".join(f"{k:>9}" for k in kinds) + f" {'ratio':>6}")
    for name, threads, ms in rows:
        best = min((ms[p] for p in kinds[1:] if p in ms), default=float("nan"))
        print(f"{name:16} {threads:7} "
              + " ".join(f"{ms.get(k, float('nan')):9.3f}" for k in kinds)
              + f" {best / ms['ours']:6.2f}")


if __name__ == "__main__":
    main()
