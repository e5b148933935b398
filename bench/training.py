#!/usr/bin/env python3
"""training.py [PROGRAM [BACKEND]]: how well and how fast networks train.

  accuracy   (cpu) the digits lessons as they stand, seeds 0 to 19: the share of
             the held-back digits that is right after the last epoch. Then the same
             with `shuffle: false`: held back is the end of the file, which is
             other people's handwriting.
  speed      training runs of two MLPs with each variant that the backend has,
             five times each: samples per second

Prints one JSON object a line. Python 3 and nothing else. BACKEND is cpu or
cuda (cpu); every run records into a database that is thrown away.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LESSONS = {"softmax-regression": "10-softmax-regression.md",
           "mlp-digits": "20-mlp-digits.md"}
SEEDS = range(20)
REPEATS = 5
VARIANTS = {"cpu": ["naive", "blas", "onednn"],
            "cuda": ["naive", "tiled", "cublas", "fused"]}
WIDE = """---
format: 1
title: A wide MLP for the clock
data: {{source: digits, batch: {batch}, split: 0.8}}
network:
  - {{id: fc1, op: dense, units: {units}}}
  - {{op: relu}}
  - {{id: fc2, op: dense, units: {units}}}
  - {{op: relu}}
  - {{id: fc3, op: dense, units: 10}}
loss: {{op: softmax_cross_entropy}}
optimizer: {{op: sgd, lr: 0.01}}
run: {{iterations: {iterations}}}
---
Timed, not read.
"""


class Bench:
    def __init__(self, program, backend, folder):
        self.words = [program, "run", "--json", "--backend", backend,
                      "--db", str(folder / "runs.db")]

    def run(self, lesson, *options):
        """The summary of one training run."""
        lines = subprocess.run(self.words + [*options, str(lesson)],
                               check=True, stdout=subprocess.PIPE,
                               text=True).stdout.splitlines()
        last = json.loads(lines[-1])
        if last["type"] != "summary":
            raise SystemExit(f"training.py: no summary of {lesson}")
        return last


def summary(values, **facts):
    print(json.dumps(facts | {"n": len(values),
                              "median": round(statistics.median(values), 3),
                              "min": round(min(values), 3),
                              "max": round(max(values), 3)}), flush=True)


def by_writer(name, folder):
    """The lesson with its data in the file's order."""
    text = (ROOT / "lessons" / LESSONS[name]).read_text()
    changed = text.replace("  shuffle: true\n", "  shuffle: false\n")
    if changed == text:
        raise SystemExit(f"training.py: {name} has no `shuffle: true`")
    path = folder / LESSONS[name]
    path.write_text(changed)
    return path


def accuracy(bench, folder):
    for name in LESSONS:
        for split, lesson in (("shuffled", name),
                              ("by writer", by_writer(name, folder))):
            values = [100 * bench.run(lesson, "--seed", str(seed))["accuracy"]
                      for seed in SEEDS]
            summary(values, figure="held-back right", lesson=name, split=split,
                    unit="%")


def speed(bench, folder, backend):
    networks = [("mlp-digits", "mlp-digits", 10)]
    for units, batch, iterations in ((256, 64, 100), (1024, 256, 10)):
        path = folder / f"wide-{units}.md"
        path.write_text(WIDE.format(units=units, batch=batch,
                                    iterations=iterations))
        networks.append((f"64-{units}-{units}-10", path, batch))
    for name, lesson, batch in networks:
        for variant in VARIANTS[backend]:
            values = [bench.run(lesson, "--variant",
                                f"dense={variant}")["samples_per_s"]
                      for _ in range(REPEATS)]
            summary(values, figure="training speed", network=name, batch=batch,
                    dense=variant, unit="samples/s")


def main():
    program = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else
                               ROOT / "build/default/bin/lapenna-lab").resolve())
    backend = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        bench = Bench(program, backend, folder)
        if backend == "cpu":
            accuracy(bench, folder)
        speed(bench, folder, backend)


main()
