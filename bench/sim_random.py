#!/usr/bin/env python3
"""sim_random.py PROGRAM [--launches N] [--seconds S] [--seed S]: random launches of
this tree's kernels on the simulator, all checks on: a correct kernel must
have no finding, whatever its shape.

Each turn takes a lesson with a random batch, variant and seed for a few iterations, or
a lab with a random size, small ones more often. Counted are the launches that the
store has; the odd shapes that a lab checks before come on top. Prints the launches so
far, and each run that ended with a finding, a wrong value or an error, with its
command. Exit code 1 with one.
"""
import argparse
import collections
import pathlib
import random
import sqlite3
import subprocess
import tempfile
import time

# Each side's most, by lab; sizes are drawn evenly in their logarithm.
LABS = {
    "vector_add": [3000], "saxpy": [3000], "transpose": [150, 150],
    "reduction": [5000], "softmax": [20, 600], "layer_norm": [20, 600],
    "fusion": [20, 300], "stride": [2000, 40],
    "offset": [2000, 40], "stencil": [3000], "gemv": [80, 200],
    "batched_gemm": [4, 30],
    "layout": [2, 5, 12, 12], "precision": [40, 40, 40],
    "conv": [2, 4, 10, 10, 5, 3], "conv_nhwc": [2, 4, 10, 10, 5, 3],
    "conv_data": [2, 4, 10, 10, 5, 3], "conv_filter": [2, 4, 10, 10, 5, 3],
    "divergence": [2000, 8], "gemm": [150, 150, 150], "dgemm": [70, 70, 70],
    "gemm_full": [50, 50, 50, 2, 2, 5], "attention": [2, 2, 100, 128],
    "attention_causal": [2, 2, 100, 128], "dot": [5000], "trsv": [100],
}
# One of these at a time: all variants of all of them take minutes.
PRECISIONS = {name: ["fp32", "tf32", "bf16", "fp16"]
              for name in ("gemm", "attention", "attention_causal")}
# Lessons with a batch that may be chosen, and its most.
LESSONS = {"mlp-digits": 70, "cnn-example": 1, "residual": 9, "cnn-digits": 2,
           "rnn-fibonacci": 20, "lstm-example": 8, "self-attention": 6,
           "multi-head": 6, "transformer-block": 4, "seq2seq-attention": 6,
           "word2vec-skipgram": 20, "softmax-regression": 90}
VARIANTS = ["naive", "tile", "blocked", "warp", "block", "split", "vector", "fused"]
KERNELS = """SELECT x.value, count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k
JOIN StringIds x ON x.id = k.shortName GROUP BY 1"""


def side(rng, most):
    return max(1, round(most ** rng.random()))


def turn(rng):
    seed = ["--seed", str(rng.randrange(1, 1 << 31))]
    if rng.random() < 0.8:
        name, most = rng.choice(list(LESSONS.items()))
        return ["run", name, "--batch", str(side(rng, most)), "--no-tune",
                "--iterations", str(rng.randrange(1, 5)),
                "--variant", f"*={rng.choice(VARIANTS)}", *seed]
    name, most = rng.choice(list(LABS.items()))
    sizes = [side(rng, m) for m in most]
    if name.startswith("conv"):
        sizes[-1] = rng.choice([1, 3, 5])
        sizes[2:4] = [max(s, sizes[-1]) for s in sizes[2:4]]
    if name.startswith("attention"):
        sizes[-1] = rng.choice([sizes[-1], 32, 64, 128])
    which = []
    if name in PRECISIONS:
        which = ["--precision", rng.choice(PRECISIONS[name])]
    return ["lab", name, "--sizes", "x".join(map(str, sizes)), *which, *seed]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--launches", type=int, default=10000)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    kernels = collections.Counter()
    runs = bad = 0
    end = time.monotonic() + args.seconds
    while kernels.total() < args.launches and time.monotonic() < end:
        command = [args.program, *turn(rng), "--backend", "sim"]
        with tempfile.TemporaryDirectory() as folder:
            db = pathlib.Path(folder) / "r.db"
            out = subprocess.run([*command, "--threads", "1", "--db", str(db)],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
            if db.exists():
                kernels.update(dict(sqlite3.connect(db).execute(KERNELS)))
        runs += 1
        if out.returncode not in (0, 2, 3, 4):  # a size or variant that it has not
            bad += 1
            print(" ".join(command), "->", out.returncode,
                  out.stderr.strip()[-300:], flush=True)
        if runs % 50 == 0:
            print(f"{kernels.total()} launches of {len(kernels)} kernels, "
                  f"{runs} runs, {bad} bad", flush=True)
    print(f"{kernels.total()} launches of {len(kernels)} kernels, {runs} runs, "
          f"{bad} bad")
    raise SystemExit(1 if bad else 0)


main()
