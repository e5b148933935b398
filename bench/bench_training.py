#!/usr/bin/env python3
"""bench_training.py PROGRAM [NAME...]: training speed beside PyTorch 2, on the
same GPU, in one run.

Networks of train_lessons.py; fp32 without TF32, AdamW. For every network and
repeat, one after the other: this program (`run --json`, its median iteration;
recording as always; variants found by measuring in a run before), PyTorch eager
with the fused AdamW, PyTorch's whole step in a CUDA graph, and eager with a
compiled model (torch.compile). PyTorch's inputs lie on the device. Prints a JSON object
for every figure and a table last; milliseconds an iteration, medians.

  --repeats N      (5)
  --iterations N   of this program in a repeat (2000; 400 of gpt and lstm): the
                   first ones are recorded step by step, and the median must be
                   of the others
  --variants TEXT  options for this program, e.g. "--variant dense=naive"
  --no-torch       this program alone
  --no-compile     without torch.compile, which takes a minute a network
"""
import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import train_lessons


def ours(program, lesson, folder, options, iterations):
    out = subprocess.run(
        [program, "run", "--json", "--backend", "cuda", "--db",
         str(folder / "runs.db"), "--iterations", str(iterations), *options,
         str(lesson)], stdout=subprocess.PIPE, text=True)
    last = json.loads(out.stdout.splitlines()[-1]) if out.stdout else {}
    if out.returncode or last.get("type") != "summary":
        raise SystemExit(f"bench_training.py: {lesson} failed")
    return last["step_ms_median"]


def theirs(step, seconds=0.5):
    import torch
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    start = time.perf_counter()
    step()
    torch.cuda.synchronize()
    n = max(10, int(seconds / max(time.perf_counter() - start, 1e-5)))
    n = min(n, 2000)
    start = time.perf_counter()
    for _ in range(n):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / n * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*",
                        default=[n for n in train_lessons.NETWORKS
                                 if not n.startswith("cpu-")])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--variants", default="")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--no-compile", action="store_true")
    args = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in args.names:
            lesson = train_lessons.write(folder, name)
            n = args.iterations // (5 if name in ("gpt", "lstm") else 1)
            kinds = {"lapenna-lab": lambda f=lesson, i=n: ours(
                args.program, f, folder, shlex.split(args.variants), i)}
            if not args.no_torch:
                import train_peer
                steps = {"eager": train_peer.eager(name),
                         "graph": train_peer.graphed(name)}
                if not args.no_compile:
                    steps["compiled"] = train_peer.eager(name, compiled=True)
                kinds |= {kind: lambda s=step: theirs(s)
                          for kind, step in steps.items()}
            ours(args.program, lesson, folder, shlex.split(args.variants), 20)
            values = {kind: [] for kind in kinds}
            for _ in range(args.repeats):
                for kind, measure in kinds.items():
                    values[kind].append(measure())
            for kind, found in values.items():
                print(json.dumps({
                    "network": name, "who": kind, "n": len(found),
                    "median_ms": round(statistics.median(found), 4),
                    "min_ms": round(min(found), 4),
                    "max_ms": round(max(found), 4)}), flush=True)
                rows.setdefault(name, []).append(statistics.median(found))
    print("network      " + "".join(f"{k:>15}" for k in kinds))
    for name, row in rows.items():
        print(f"{name:13}" + "".join(f"{v:15.4f}" for v in row))


main()
