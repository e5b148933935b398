#!/usr/bin/env python3
"""step_rows.py PROGRAM [--backend cuda|cpu|sim] [--jobs N]: every row of a lab that can be chosen
under a step, against the step's first row, on sizes of a real network and on odd
ones.

The network has a convolution (nchw, stride 1), a dense layer and softmax beside each
other, each of the data, so that one walk (`step --npy`) takes a row of each: a row is
under its node, and the node's output is compared with that of the first row. Off: the
largest difference over 1e-5 * (1 + the largest number), the unit of the variants' own
check. A row that refuses a shape is listed with its reason.
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
REFUSED = 4  # the exit code of what does not serve a shape
NETWORK = """  - {{id: flat, op: flatten}}
  - {{id: conv1, op: conv2d, filters: {filters}, kernel: [{k}, {k}], padding: same, from: x}}
  - {{id: flat1, op: flatten}}
  - {{id: out1, op: dense, units: 10}}
  - {{id: fc1, op: dense, units: {units}, from: flat}}
  - {{id: out2, op: dense, units: 10}}
  - {{id: sm, op: softmax, from: flat}}
  - {{id: out3, op: dense, units: 10}}
  - {{id: sum1, op: add, from: [out1, out2]}}
  - {{id: sum2, op: add, from: [sum1, out3]}}"""
# name: images, channels, height, width, filters, kernel, units
SIZES = {
    "even": (64, 8, 16, 16, 16, 3, 512),
    "odd": (37, 3, 13, 17, 5, 5, 131),
    "one": (1, 1, 1, 1, 1, 1, 1),
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


def walk(args, lesson, folder, tensors, rows):
    """The output of `step`, with a row under each node of `rows`."""
    words = [args.program, "step", str(lesson), "--backend", args.backend,
             "--db", f"{folder}.db", "--npy", str(folder), "--tensors", ",".join(tensors),
             "--variant", "*=naive"]
    for node, row in rows.items():
        words += ["--variant", f"{node}={row}"]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, done.stderr.strip()


def rows_of(args, lesson, folder, node):
    """From the program's own list of what it knows."""
    _, error = walk(args, lesson, folder, ["loss"], {node: "?"})
    return error.splitlines()[-1].split(" it has ")[1].split(", ")


def judge(args, lesson, out, rows, want):
    """{node: what the row's line states, whether that is wrong}."""
    code, error = walk(args, lesson, out, [NODES[node] for node in rows], rows)
    if code and len(rows) > 1:  # one refuses: each by itself
        return {node: found for node, row in rows.items() for node, found in judge(
            args, lesson, out.with_name(f"{out.name}-{node}"), {node: row}, want).items()}
    if code:
        node, = rows
        return {node: (error.splitlines()[-1], code != REFUSED)}
    found = {}
    for node, row in rows.items():
        file = out / f"{NODES[node]}.npy"
        if not file.exists():
            continue  # a group, which has no such tensor
        unit = 1e-5 * (1 + max(map(abs, want[node])))
        got = numbers(file)
        off = max(abs(a - b) for a, b in zip(got, want[node])) / unit
        if any(a != a for a in got):
            off = float("nan")
        right = off <= (TF32_LIMIT if row.endswith("_tf32") else 1)
        found[node] = f"{off:10.3g}{'' if right else '  OFF'}", not right
    return found


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
        walks = []
        for size in SIZES:
            lesson = write(where, size)
            first = where / f"{size}-first"
            code, error = walk(args, lesson, first, NODES.values(), {})
            if code:
                sys.exit(error)
            want = {node: numbers(first / f"{name}.npy") for node, name in NODES.items()}
            known = {node: rows_of(args, lesson, where / "list", node) for node in NODES}
            for i in range(max(map(len, known.values()))):
                rows = {node: row[i] for node, row in known.items() if i < len(row)}
                walks.append((size, rows, pool.submit(
                    judge, args, lesson, where / f"{size}-{i}", rows, want)))
        for size, rows, found in walks:
            for node, (text, wrong) in found.result().items():
                bad += wrong
                print(f"{size:5} {node:6} {rows[node]:22} {text}", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
