#!/usr/bin/env python3
"""cpu_all.py PROGRAM [LESSON...]: all figures of training on the CPU in one table.

  beside PyTorch   training_cpu.py: the networks cpu-*, 1 thread and all, PyTorch
                   eager and compiled taking turns; goal 1.2, CNN 1.0
  two threads      one thread's milliseconds over those of all, taking turns; goal 1.6
                   for the CNN, the LSTM and the GPT; by the cores' mode, beside the
                   gain of as many processes, the machine's ceiling (training_cpu.py)
  host             % of an iteration outside its steps, nothing traced: the program's
                   own host_pct; goal 2
  tuning           seconds that opening a network takes more the first time than
                   with --no-tune, and the second time; goals 2 and 0
  variants         variants_cpu.py: lessons with a single --variant setting that is
                   more than 5 % faster than the default; goal none. LESSON...:
                   those alone

Needs a quiet machine: the load is printed before and after. PyTorch is installed by
hand (pip install torch); without it its columns are left out. Options:
  --repeats N (5)  --seconds S (2)  --no-torch  --no-compile  --no-variants
  --parts LIST     of torch,tuning,host,variants (all)
  --names LIST     networks (all)
  --threads LIST   (1,2; 1 where there is one core)
  --limit S        ends after so many seconds; the table has what was measured, as
                   it has after Ctrl-C and SIGTERM
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import train_lessons
import training_cpu

GOAL_RATIO = {"cpu-cnn": 1.0, "cpu-cnn-large": 1.0}
SCALES = ("cpu-cnn", "cpu-lstm", "cpu-gpt", "cpu-cnn-large", "cpu-gpt-large")

table = []


def row(figure, value, goal, met):
    word = "" if met is None else "met" if met else "missed"
    table.append((figure, value, goal, word))
    print(f"{figure:44} {value:>12} {goal:>8} {word}", flush=True)


def run(program, lesson, db, threads, iterations, *options):
    """Wall seconds and the summary of a run."""
    begin = time.perf_counter()
    out = subprocess.run(
        [program, "run", "--json", "--backend", "cpu", "--threads", str(threads),
         "--db", str(db), "--iterations", str(iterations), *options, str(lesson)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    took = time.perf_counter() - begin
    last = json.loads(out.stdout.splitlines()[-1]) if out.stdout else {}
    if out.returncode or last.get("type") != "summary":
        raise SystemExit(f"cpu_all.py: {lesson} failed")
    return took, last


def tuning(args, folder, name, threads):
    """Opening with nothing kept, with all kept, and by the fixed table."""
    lesson = train_lessons.write(folder, name)
    AGAIN = 4
    first, second, fixed = [], [], []
    for repeat in range(args.repeats):
        db = folder / f"tune-{name}-{threads}-{repeat}.db"
        first.append(run(args.program, lesson, db, threads, 1)[0])
        for _ in range(AGAIN):
            second.append(run(args.program, lesson, db, threads, 1)[0])
            fixed.append(run(args.program, lesson, db, threads, 1,
                             "--no-tune")[0])
    # The least: the start of a program is disturbed by anything.
    return min(first) - min(fixed), min(second) - min(fixed)


def host_pct(args, folder, name, threads):
    """What untraced iterations spend outside their steps."""
    lesson = train_lessons.write(folder, name)
    db = folder / "host.db"
    run(args.program, lesson, db, threads, 20)  # tunes
    shares = []
    ms = run(args.program, lesson, db, threads, 20)[1]["step_ms_median"]
    count = max(100, int(args.seconds * 1e3 / ms))
    for _ in range(args.repeats):
        shares.append(run(args.program, lesson, db, threads, count)[1]["host_pct"])
    return statistics.median(shares)


def beside_pytorch(args, threads):
    for r in training_cpu.measure(args, args.names, threads):
        of = f"{r.name}, {r.threads} threads" + (r.mode and f", {r.mode}")
        row(f"{of}, ms (n = {r.n})", f"{r.ms['ours']:.3f}", "", None)
        for peer in ("eager", "compiled"):
            if peer in r.ms:
                row(f"{of}, PyTorch {peer}, ms", f"{r.ms[peer]:.3f}", "", None)
        if r.ratio == r.ratio:  # not NaN
            goal = GOAL_RATIO.get(r.name, 1.2)
            row(f"{of}, PyTorch / ours", f"{r.ratio:.2f}", str(goal),
                r.ratio >= goal)
        if r.threads > 1 and r.name in SCALES:
            row(f"{of}, {r.threads} processes / 1", f"{r.ceiling:.2f}", "", None)
            row(f"{of}, 1 thread / {r.threads}", f"{r.gain:.2f}", "1.6",
                r.gain >= 1.6)


def cores_that_share(cores):
    """Those of `cores` that are a half of a core of which another is there too."""
    text = [pathlib.Path(f"/sys/devices/system/cpu/cpu{c}/topology/"
                         "thread_siblings_list") for c in cores]
    groups = [t.read_text() if t.exists() else str(t) for t in text]
    return [c for c, g in zip(cores, groups) if groups.count(g) > 1]


def measure_all(args, threads):
    if "torch" in args.parts:
        beside_pytorch(args, threads)
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        for name in args.names if "host" in args.parts else []:
            for n in threads:
                pct = host_pct(args, folder, name, n)
                row(f"{name}, {n} threads, host's share, %", f"{pct:.1f}", "2",
                    pct <= 2)
        for name in args.names if "tuning" in args.parts else []:
            first, second = tuning(args, folder, name, threads[-1])
            row(f"{name}, tuning the first time, s", f"{first:.2f}", "2",
                first <= 2)
            row(f"{name}, tuning the second time, s", f"{second:.2f}", "0",
                second <= 0.02)
    if not args.no_variants:
        here = pathlib.Path(__file__).resolve().parent
        code = subprocess.run([sys.executable, here / "variants_cpu.py",
                               args.program, *args.lessons]).returncode
        row("lessons with a faster --variant setting",
            "none" if code == 0 else "some", "none", code == 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("lessons", nargs="*")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--no-variants", action="store_true")
    parser.add_argument("--parts", default="torch,tuning,host,variants")
    parser.add_argument("--names", default=",".join(training_cpu.NAMES))
    parser.add_argument("--threads")
    parser.add_argument("--limit", type=int, default=0)
    args = parser.parse_args()
    args.names = args.names.split(",")
    args.variants = ""
    args.no_variants |= "variants" not in args.parts
    cores = sorted(os.sched_getaffinity(0))
    threads = ([int(n) for n in args.threads.split(",")] if args.threads
               else [1, 2][:len(cores)])
    print(f"load {os.getloadavg()[0]:.2f}, cores {cores}")
    if cores_that_share(cores):
        print(f"halves of the same cores: {cores_that_share(cores)}")
    if not args.no_torch:
        try:
            import torch
            print(f"PyTorch {torch.__version__}")
        except ImportError:
            args.no_torch = True
            print("PyTorch is not installed: left out")
    training_cpu.stop_after(args.limit)
    stopped = False
    try:
        measure_all(args, threads)
    except KeyboardInterrupt:
        stopped = True
    signal.alarm(0)
    if stopped:
        print("stopped: what was measured")
    print(f"load {os.getloadavg()[0]:.2f}\n\n| figure | value | goal | |\n|-|-|-|-|")
    for cells in table:
        print("| " + " | ".join(cells) + " |")
    sys.exit(stopped or any(cells[3] == "missed" for cells in table))


if __name__ == "__main__":
    main()
