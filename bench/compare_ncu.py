#!/usr/bin/env python3
"""compare_ncu.py PROGRAM [--case NAME...] [--count LESSON] [--ncu COMMAND]

The program's own times and hardware counters beside Nsight Compute's, for the
kernels of one training iteration, on the same GPU:

  durations          ours: kernel records of the trace; ncu: gpu__time_duration
  achieved occupancy, DRAM bytes, FP32 operations
  tensor-core operations: of the variants of a lab, the product of 2048 cubed

ncu runs the same program with `--clock-control none --cache-control none` and
counts the kernels inside the NVTX range of iteration 0, in both of its ways:
`--replay-mode application` runs the program again for every pass, as we run the
iteration again; `--replay-mode kernel`, its default, runs each kernel again by
itself, having saved the device's memory, so that it finds something else in L2.
ncu's two ways beside each other, and one of them twice, show what that makes, and
what is noise. Kernels are matched by their order and must agree in name. Prints the worst and the median difference of each
figure over the kernels of at least --above microseconds (20), with the kernel
that it is, and the share of kernels within the goal; a JSON line each.

The time: --count LESSON (cnn-codelab) is counted twice in one process and once
by ncu with the same metrics; wall times.

Python 3 and nothing else; ncu must be on PATH or named.
"""
import argparse
import csv
import io
import json
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import random

import train_lessons

# 16,384 tokens, so that products are of 16384 x 1024 x 4096, and updates of
# 4 M numbers: kernels of tens of microseconds to some milliseconds.
LARGE = """  - {id: emb, op: embedding, vocab: 65, dim: 1024}
  - {id: ln, op: layer_norm}
  - {id: up, op: dense, units: 4096}
  - {id: act, op: gelu}
  - {id: down, op: dense, units: 1024}
  - {id: head, op: dense, units: 65}"""

CASES = {
    "large": [],
    "large, blocked": ["--variant", "dense=blocked"],
}
# Lab options; kernels are matched by their names: each does the same every time.
TENSOR_LAB = ["lab", "gemm", "--sizes", "2048", "--repeat", "20"]
PRECISIONS = ["tf32", "bf16", "fp16"]
FADD = "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
FMUL = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
TIME = "gpu__time_duration.sum"
OCCUPANCY = "sm__warps_active.avg.pct_of_peak_sustained_active"
READ, WRITE = "dram__bytes_read.sum", "dram__bytes_write.sum"
TENSOR = ["sm__ops_path_tensor_src_tf32_dst_fp32.sum",
          "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
          "sm__ops_path_tensor_src_fp16.sum"]
# What the set `basic` is shown as, where no tensor core works.
METRICS = [TIME, OCCUPANCY, READ, WRITE, FADD, FMUL, FFMA,
           "sm__inst_executed.avg.per_cycle_active",
           "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"]
RANGE = "lapenna-lab@iteration 0/"


def large_lesson(folder):
    rng = random.Random(1)
    path = folder / "large.md"
    path.write_text(train_lessons.HEAD.format(
        title="large", network=LARGE,
        x=train_lessons.tensor(rng, [64, 256], 65),
        y=train_lessons.tensor(rng, [64, 256], 65)))
    return path


def command(program, lesson, db, options):
    return [program, "run", "--backend", "cuda", "--no-graph", "--iterations",
            "1", "--db", str(db), *options, str(lesson)]


def ours(program, lesson, folder, options):
    """Kernels in the order of their launches; None: the program refuses."""
    db = folder / "ours.db"
    db.unlink(missing_ok=True)
    done = subprocess.run(command(program, lesson, db,
                                  ["--counters", "basic", *options]),
                          capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode:
        return None
    c = sqlite3.connect(db)
    kernels = c.execute(
        "SELECT o.stepExec, k.end - k.start, n.value FROM op_kernel AS o JOIN "
        "CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow JOIN "
        "StringIds AS n ON n.id = k.mangledName JOIN step AS s ON s.exec = "
        "o.stepExec AND s.runId = o.runId WHERE s.iteration = 0 ORDER BY "
        "k.start").fetchall()
    values = {}
    for step, ordinal, name, value in c.execute(
            "SELECT m.stepExec, m.kernelOrdinal, n.value, m.value FROM "
            "metric_value AS m JOIN StringIds AS n ON n.id = m.metricId"):
        values.setdefault((step, ordinal), {})[name] = value
    c.close()
    rows, nth = [], {}
    for step, ns, name in kernels:
        i = nth.get(step, 0)
        nth[step] = i + 1
        rows.append({"name": name, "ns": ns, **values.get((step, i), {})})
    return rows


def number(text):
    return float(text.replace(",", "")) if text else float("nan")


def ask_ncu(ncu, metrics, words):
    """Rows of ncu's table, and its wall time in seconds."""
    start = time.perf_counter()
    done = subprocess.run(
        [*ncu, "--clock-control", "none", "--cache-control", "none",
         "--print-units", "base", "--csv", "--page", "raw",
         "--print-kernel-base", "mangled", "--metrics", ",".join(metrics),
         *words], capture_output=True, text=True)
    wall = time.perf_counter() - start
    lines = [l for l in done.stdout.splitlines() if l.startswith('"')]
    table = list(csv.DictReader(io.StringIO("\n".join(lines))))
    if done.returncode or not table:
        sys.stderr.write(done.stdout[-2000:] + done.stderr[-2000:])
        raise SystemExit("compare_ncu.py: ncu gave no table")
    return [row for row in table if row["ID"]], wall  # without that of units


def theirs(ncu, program, lesson, folder, options, replay):
    db = folder / "ncu.db"
    # With the variants that were measured for ours: under ncu others may be the fastest.
    shutil.copy(folder / "ours.db", db)
    table, wall = ask_ncu(
        ncu, METRICS, ["--nvtx", "--nvtx-include", RANGE, "--replay-mode",
                       replay, *command(program, lesson, db, options)])
    rows = []
    for row in table:
        found = {m: number(row[m]) for m in METRICS if m in row}
        rows.append({"name": row["Kernel Name"], "ns": found[TIME], **found})
    return rows, wall


def base(name):
    return re.sub(r"[^A-Za-z0-9_].*", "", name)


def flop(row):
    return row[FADD] + row[FMUL] + 2 * row[FFMA]


def relative(a, b):
    return 0.0 if a == b else abs(a - b) / max(abs(b), 1e-300)


def report(case, what, goal, found):
    """found: (difference, kernel's name, microseconds)."""
    if not found:
        return
    worst = max(found)
    print(json.dumps({
        "case": case, "figure": what, "goal": goal, "kernels": len(found),
        "median": round(statistics.median(f[0] for f in found), 6),
        "worst": round(worst[0], 6), "of": worst[1][:70],
        "us": round(worst[2], 1),
        "within": sum(f[0] <= goal for f in found)}), flush=True)


def compare(case, a, b, above_ns):
    if len(a) != len(b):
        raise SystemExit(f"compare_ncu.py: {case}: {len(a)} kernels here, "
                         f"{len(b)} there")
    off = {k: [] for k in ("duration", "counted", "occupancy", "dram",
                           "fp32")}
    strangers = sum(base(x["name"]) != base(y["name"]) for x, y in zip(a, b))
    for x, y in zip(a, b):
        if y["ns"] < above_ns or FFMA not in x:
            continue
        def add(what, difference):
            off[what].append((difference, x["name"], y["ns"] / 1e3))
        add("duration", relative(x["ns"], y["ns"]))
        add("counted", relative(x[TIME], y["ns"]))
        add("occupancy", abs(x[OCCUPANCY] - y[OCCUPANCY]))
        add("dram", relative(x[READ] + x[WRITE], y[READ] + y[WRITE]))
        add("fp32", relative(flop(x), flop(y)))
    print(json.dumps({"case": case, "kernels": len(a),
                      "names that differ": strangers}))
    report(case, "duration, trace", 0.05, off["duration"])
    report(case, "duration, counted", 0.05, off["counted"])
    report(case, "achieved occupancy, points", 1.0, off["occupancy"])
    report(case, "DRAM bytes", 0.01, off["dram"])
    report(case, "FP32 operations", 0.01, off["fp32"])
    if "-v" in sys.argv:
        for x, y in zip(a, b):
            if y["ns"] >= above_ns and FFMA in x:
                print(f"  {x['ns']:>9} {x[TIME]:>9.0f} {y['ns']:>9.0f} ns  "
                      f"{x[OCCUPANCY]:6.2f} {y[OCCUPANCY]:6.2f} %  "
                      f"{(x[READ] + x[WRITE]) / 1e6:9.3f} "
                      f"{(y[READ] + y[WRITE]) / 1e6:9.3f} MB  "
                      f"{x['name'][:48]}")


def compare_all(args, ncu, program, lesson, folder, case, options):
    above = args.above * 1e3
    a = ours(program, lesson, folder, options)
    if a is None:
        print(json.dumps({"case": case, "skipped": "refused"}))
        return
    application, kernel, again = (
        theirs(ncu, program, lesson, folder, options, replay)[0]
        for replay in ("application", "kernel", "kernel"))
    compare(f"{case}: ours, ncu's application replay", a, application, above)
    compare(f"{case}: ours, ncu's kernel replay", a, kernel, above)
    compare(f"{case}: ncu's kernel and its application replay", kernel,
            application, above)
    compare(f"{case}: ncu's kernel replay, twice", again, kernel, above)


def tensor_operations(ncu, program, folder, precision):
    """Each kernel's tensor-core operations, ours and ncu's."""
    words = [program, *TENSOR_LAB, "--precision", precision, "--backend",
             "cuda", "--counters", "basic"]
    db = folder / "tensor.db"
    db.unlink(missing_ok=True)
    subprocess.run([*words, "--db", str(db)], capture_output=True, check=True)
    c = sqlite3.connect(db)
    marks = ",".join("?" * len(TENSOR))
    mine = {}
    for name, operations in c.execute(
        "SELECT k.value, sum(m.value) FROM metric_value AS m JOIN op_kernel AS "
        "o ON o.stepExec = m.stepExec AND o.runId = m.runId JOIN "
        "CUPTI_ACTIVITY_KIND_KERNEL AS r ON r.kernelRow = o.kernelRow JOIN "
        "StringIds AS k ON k.id = r.mangledName JOIN StringIds AS n ON n.id = "
        f"m.metricId WHERE n.value IN ({marks}) GROUP BY m.stepExec HAVING "
        "count(DISTINCT o.kernelRow) = 1", TENSOR):
        mine[name] = max(operations, mine.get(name, 0))
    c.close()
    words[words.index("basic")] = "off"
    off = []
    for name, operations in mine.items():
        table, _ = ask_ncu(ncu, TENSOR, [
            "--kernel-name-base", "mangled", "--kernel-name", name,
            "--launch-count", "60", *words, "--db", str(folder / "ncu.db")])
        # The same kernel also computes smaller checks and larger ceilings.
        found = min((sum(number(row[m]) for m in TENSOR) for row in table),
                    key=lambda v: abs(v - operations))
        off.append((relative(operations, found), name, 0))
    report(f"gemm {precision}", "tensor operations", 0.01, off)


def counting(program, lesson, folder):
    """Seconds of the first and of the second count of one process."""
    script = "delete\ncontinue\n" + "count iteration\n" * 2 + "quit\n"
    done = subprocess.run([program, "--plain", "--backend", "cuda", "--db",
                           str(folder / "count.db"), lesson], input=script,
                          capture_output=True, text=True)
    found = re.findall(r"counted (\d+) kernels: (\d+) counters, (\d+) passes, "
                       r"([0-9.]+) (m?)s", done.stdout + done.stderr)
    if len(found) != 2:
        sys.stderr.write(done.stdout[-1500:] + done.stderr[-1500:])
        raise SystemExit("compare_ncu.py: two counts were expected")
    return [(int(k), int(m), int(p), float(s) / (1e3 if milli else 1))
            for k, m, p, s, milli in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--case", action="append")
    parser.add_argument("--precision", action="append", default=None,
                        choices=PRECISIONS, help="of the lab (all)")
    parser.add_argument("--count", default="cnn-codelab")
    parser.add_argument("--above", type=float, default=20)
    parser.add_argument("--ncu", default=shutil.which("ncu") or "ncu")
    parser.add_argument("-v", action="store_true", help="every kernel")
    args = parser.parse_args()
    args.precision = args.precision or PRECISIONS
    program = str(pathlib.Path(args.program).resolve())
    ncu = args.ncu.split()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        first, second = counting(program, args.count, folder)
        a = ours(program, args.count, folder, [])
        b, wall = theirs(ncu, program, args.count, folder, [], "kernel")
        print(json.dumps({
            "figure": "counting an iteration", "lesson": args.count,
            "kernels": first[0], "counters": first[1], "passes": first[2],
            "first_s": first[3], "second_s": second[3],
            "ncu_s": round(wall, 2), "ncu / first": round(wall / first[3], 1),
            "ncu / second": round(wall / second[3], 1)}), flush=True)
        compare(args.count, a, b, args.above * 1e3)
        lesson = large_lesson(folder)
        for case in args.case if args.case is not None else CASES:
            compare_all(args, ncu, program, lesson, folder, case, CASES[case])
        for precision in args.precision:
            tensor_operations(ncu, program, folder, precision)


main()
