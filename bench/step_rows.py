#!/usr/bin/env python3
"""step_rows.py PROGRAM [--backend cuda|cpu|sim] [--jobs N]: every row of a lab that can be chosen
under a step, against the step's first row, on sizes of a real network and on odd
ones.

The network is a convolution (nchw, stride 1), a dense layer, softmax and a dense
layer. For each row one iteration is walked (`step --npy`) with that row under one
node, and the node's output is compared with that of the first row on the same
inputs. Off: the largest difference over 1e-5 * (1 + the largest number), the unit
of the variants' own check. A row that refuses a shape is listed with its reason.
Prints a line a row, and exits with 1 where one in fp32 is off by more than 1, or
one in TF32 by more than 500. Python 3 and nothing else.
"""
import argparse
import array
import concurrent.futures
import pathlib
import random
import subprocess
import sys
import tempfile

from train_lessons import HEAD, tensor

TF32_LIMIT = 500
REFUSED = "needs", "does not serve"  # a reason, not a fault
NETWORK = """  - {{id: conv1, op: conv2d, filters: {filters}, kernel: [{k}, {k}], padding: same}}
  - {{id: flat, op: flatten}}
  - {{id: fc1, op: dense, units: {units}}}
  - {{id: sm, op: softmax}}
  - {{id: fc2, op: dense, units: 10}}"""
# name: images, channels, height, width, filters, kernel, units
SIZES = {
    "even": (64, 8, 16, 16, 16, 3, 512),
    "odd": (37, 3, 13, 17, 5, 5, 131),
    "one": (1, 1, 3, 3, 1, 1, 1),
}
NODES = {"conv1": "conv1.conv", "fc1": "fc1.xW", "sm": "sm.out"}


def write(folder, name):
    n, c, h, w, filters, k, units = SIZES[name]
    rng = random.Random(1)
    path = folder / f"{name}.md"
    head = HEAD.replace("nhwc", "nchw")
    path.write_text(head.format(
        title=name, network=NETWORK.format(filters=filters, k=k, units=units),
        x=tensor(rng, [n, c, h, w], 0), y=tensor(rng, [n], 10)))
    return path


def numbers(path):
    """The float32 numbers of a .npy file."""
    data = path.read_bytes()
    return array.array("f", data[10 + int.from_bytes(data[8:10], "little"):])


def walk(args, lesson, folder, tensors, choice):
    words = [args.program, "step", str(lesson), "--backend", args.backend,
             "--db", f"{folder}.db", "--npy", str(folder), "--tensors", ",".join(tensors),
             "--variant", "*=naive"]
    done = subprocess.run(words + (["--variant", choice] if choice else []),
                          capture_output=True, text=True)
    return done.returncode, done.stderr.strip()


def rows_of(args, lesson, folder, node):
    """From the program's own list of what it knows."""
    _, error = walk(args, lesson, folder, ["loss"], f"{node}=?")
    return error.splitlines()[-1].split(" it has ")[1].split(", ")


def judge(args, lesson, out, name, node, row, want):
    """What the row's line says, and whether that is wrong; None: it has none."""
    code, error = walk(args, lesson, out, [name], f"{node}={row}")
    if code:
        return error.splitlines()[-1], not any(w in error for w in REFUSED)
    if not (out / f"{name}.npy").exists():
        return None  # a group, which has no such tensor
    unit = 1e-5 * (1 + max(map(abs, want)))
    got = numbers(out / f"{name}.npy")
    off = max(abs(a - b) for a, b in zip(got, want)) / unit
    if any(a != a for a in got):
        off = float("nan")
    right = off <= (TF32_LIMIT if row.endswith("_tf32") else 1)
    return f"{off:10.3g}{'' if right else '  OFF'}", not right


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as where, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        where = pathlib.Path(where)
        rows = []
        for size in SIZES:
            lesson = write(where, size)
            first = where / f"{size}-first"
            code, error = walk(args, lesson, first, NODES.values(), None)
            if code:
                sys.exit(error)
            for node, name in NODES.items():
                want = numbers(first / f"{name}.npy")
                for row in rows_of(args, lesson, where / "list", node):
                    rows.append((size, node, row, pool.submit(
                        judge, args, lesson, where / f"{size}-{node}-{row}",
                        name, node, row, want)))
        for size, node, row, found in rows:
            if found.result():
                text, wrong = found.result()
                bad += wrong
                print(f"{size:5} {node:6} {row:22} {text}", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
