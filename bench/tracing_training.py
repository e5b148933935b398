#!/usr/bin/env python3
"""tracing_training.py PROGRAM [NAME...]: what tracing adds to a training run.

For each network of train_lessons.py (mlp-b128 and gpt), taking turns: `run
--trace off`, `run --trace kernels` and `run`, with graphs as always and with --no-graph. Two figures
each, in milliseconds: the median iteration, and the mean over the whole
training (batch / samples a second), in which the iterations that are recorded
step by step count in full. For mlp-b128 also PyTorch's eager step, alone and
under torch.profiler with CUDA activities. JSON lines; what tracing adds as a
share.

  --repeats N      (3)
  --iterations N   of mlp-b128 (2000); a tenth of it of gpt
  --no-torch
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import train_lessons

BATCH = {"mlp-b128": 128, "gpt": 64}


def ours(program, lesson, folder, options):
    out = subprocess.run(
        [program, "run", "--json", "--backend", "cuda", "--db",
         str(folder / "runs.db"), *options, str(lesson)],
        stdout=subprocess.PIPE, text=True)
    last = json.loads(out.stdout.splitlines()[-1]) if out.stdout else {}
    if out.returncode or last.get("type") != "summary":
        raise SystemExit(f"tracing_training.py: {lesson} {options} failed: "
                         f"{out.returncode}")
    return last


def measure(program, lesson, folder, name, iterations, repeats):
    for graph in ([], ["--no-graph"]):
        median = {"off": [], "kernels": [], "on": []}
        whole = {"off": [], "kernels": [], "on": []}
        for _ in range(repeats):
            for trace in median:
                last = ours(program, lesson, folder,
                            ["--iterations", str(iterations), "--trace", trace,
                             *graph])
                median[trace].append(last["step_ms_median"])
                whole[trace].append(BATCH[name] / last["samples_per_s"] * 1e3)
        row = {"network": name, "graphs": not graph, "n": repeats}
        for what, values in (("median", median), ("mean", whole)):
            off = statistics.median(values["off"])
            row[f"{what}_off_ms"] = round(off, 4)
            for trace in ("kernels", "on"):
                on = statistics.median(values[trace])
                row |= {f"{what}_{trace}_ms": round(on, 4),
                        f"{what}_{trace}_adds":
                            f"{100 * (on / off - 1):+.1f} %"}
        print(json.dumps(row), flush=True)


def theirs(repeats):
    import torch
    import train_peer
    step = train_peer.eager("mlp-b128")

    def each(n=500):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(n):
            step()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / n * 1e3

    each(50)
    off, on = [], []
    kinds = [torch.profiler.ProfilerActivity.CPU,
             torch.profiler.ProfilerActivity.CUDA]
    for _ in range(repeats):
        off.append(each())
        with torch.profiler.profile(activities=kinds):
            each(20)
            on.append(each())
    a, b = statistics.median(off), statistics.median(on)
    print(json.dumps({"network": "mlp-b128", "who": "PyTorch eager",
                      "off_ms": round(a, 4), "profiler_ms": round(b, 4),
                      "adds": f"{100 * (b / a - 1):+.1f} %"}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*", default=list(BATCH))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--no-torch", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in args.names:
            measure(args.program, train_lessons.write(folder, name), folder,
                    name, args.iterations // (10 if name == "gpt" else 1),
                    args.repeats)
    if not args.no_torch:
        theirs(args.repeats)


main()
