#!/usr/bin/env python3
"""sim_card.py PROGRAM [JOB...] [--out FOLDER] [--jobs N] [--no-card] [--carried]
[--first JOB,...] [--gpus N] [--limit SECONDS] [--compare]: the simulator's counts beside a GPU's hardware counters,
kernel by kernel.

Every lesson runs one iteration with the fixed table of variants, and those of MANY
with each name of VARIANTS; every lab is climbed at the simulator's sizes and at odd
ones, lu also where cuBLAS cannot be loaded. Each job runs on the simulator and, at the same sizes, on the GPU with all
counters; the two databases lie in FOLDER (sim_card), and what lies there is not run
again. JOB: lessons and labs (gemm) to take instead of all.

--no-card: only simulates, on a machine without a GPU; the folder can then be carried
to one. --carried: only jobs whose simulated database lies there. Jobs of --first go
first; among them, and then among the others, those that launch most kernels which no job
before them launches. --gpus: jobs at a time, each on a GPU of its own. --limit: seconds after which no job
runs on the GPU; what is left out is counted. --compare: only compares what lies there.

FLOP in fp16 are left out where the PTX has none: ptxas loads constants with HFMA2,
which a card counts as FLOP. Kernels are matched by job, step, variant, name and their
order among those of that name in the step: a library's on the card have no partner.
Prints, for each count, in how many kernels it is equal, within 1 %, and the worst; then
each kernel's name with the counts in which it differs. A card's count of store sectors
is not exact: their sums over all kernels stand beside each other, too. Lanes active are
of PTX here and of the machine's instructions there, another definition: only how they
lie beside each other is printed. Exit code 1 when a count of floating-point operations
differs, 4 without anything to compare.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import threading
import time

VARIANTS = ["naive", "tile", "blocked", "warp", "block", "split", "vector", "fused",
            "tf32x3"]
MANY = ["mlp-digits", "cnn-example", "cnn-digits", "residual", "rnn-fibonacci",
        "lstm-example", "self-attention", "multi-head", "seq2seq-attention",
        "transformer-block", "gpt"]
ODD = {"gemm": ["61x67x71", "1x1x1", "130x127x33"], "saxpy": ["1", "100003"],
       "reduction": ["1", "100003"], "transpose": ["61x67", "1x129"],
       "softmax": ["7x1025"], "layer_norm": ["7x1025"], "stencil": ["1031"],
       "gemv": ["61x67"], "attention": ["1x1x67x64"],
       "attention_causal": ["1x1x67x64"], "precision": ["61x67x71"],
       "gemm_int8": ["61x67x71"], "gemm_sparse": ["64x72x96"],
       "gemm_full": ["61x67x71x2x2x64"], "dgemm": ["61x67x71"], "lu": ["77"],
       "trsv": ["61"], "dot": ["1", "100003"], "batched_gemm": ["7x33"],
       "fusion": ["7x1025"], "layout": ["2x3x7x9"], "conv": ["2x3x7x9x5x3"],
       "conv_nhwc": ["2x3x7x9x5x3"], "conv_data": ["2x3x7x9x5x3"],
       "conv_filter": ["2x3x7x9x5x3"], "vector_add": ["1", "100003"],
       "stride": ["1031x3"], "offset": ["1031x5"], "pointer_chase": ["8320x65"],
       "read_levels": ["212992x3"], "launch": ["1000x96x100"], "divergence": ["1031x3"],
       "warps_copy": ["1031x3"], "warps_fma": ["1031x3"], "overlap": ["1031x3"]}
# The end of the name of a job that runs where cuBLAS cannot be loaded.
WITHOUT = " without cublas"
LSU = "_pipe_lsu_mem_global_op_"
INST = "smsp__sass_thread_inst_executed_op_"
TENSOR = "sm__ops_path_tensor_src_"
# The simulator has the sum, a GPU loads and stores.
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
OPS = ("", "_op_ld", "_op_st")
# What is compared: sums of metrics with weights, or a sum over another.
COUNTS = {
    "fp32 FLOP": {INST + "fadd_pred_on.sum": 1, INST + "fmul_pred_on.sum": 1,
                  INST + "ffma_pred_on.sum": 2},
    "fp64 FLOP": {INST + "dadd_pred_on.sum": 1, INST + "dmul_pred_on.sum": 1,
                  INST + "dfma_pred_on.sum": 2},
    "fp16 FLOP": {INST + "hadd_pred_on.sum": 1, INST + "hmul_pred_on.sum": 1,
                  INST + "hfma_pred_on.sum": 2},
    "tf32 tensor FLOP": {TENSOR + "tf32_dst_fp32.sum": 1},
    "bf16 tensor FLOP": {TENSOR + "bf16_dst_fp32.sum": 1},
    "fp16 tensor FLOP": {TENSOR + "fp16.sum": 1},
    "fp64 tensor FLOP": {TENSOR + "fp64.sum": 1},
    "load requests": {"l1tex__t_requests" + LSU + "ld.sum": 1},
    "load sectors": {"l1tex__t_sectors" + LSU + "ld.sum": 1},
    "store requests": {"l1tex__t_requests" + LSU + "st.sum": 1},
    "store sectors": {"l1tex__t_sectors" + LSU + "st.sum": 1},
    "shared wavefronts": {WAVEFRONTS + w + ".sum": 1 for w in OPS},
    "bank conflicts": {CONFLICTS + w + ".sum": 1 for w in OPS},
    # Without what other accesses to the same memory, at that moment, delayed: a card
    # counts that as conflicts, and each as a wavefront.
    "less conflicts": {**{WAVEFRONTS + w + ".sum": 1 for w in OPS},
                       **{CONFLICTS + w + ".sum": -1 for w in OPS}},
}
# Lanes active are a ratio of instructions: of PTX there, of the machine here.
LANES = (("sim__ptx_thread_inst_executed.sum", "sim__ptx_inst_executed.sum"),
         ("smsp__thread_inst_executed.sum", "smsp__inst_executed.sum"))


def listed(program):
    out = subprocess.run([program, "lesson", "list", "--json"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [json.loads(line) for line in out.splitlines()]
    labs = subprocess.run([program, "lab", "--list"], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    return ([r["id"] for r in rows if r["kind"] == "lesson"],
            [line.split()[0] for line in labs.splitlines() if line.strip()])


def jobs(program, chosen):
    """(key, arguments, is a lab), keys are unique."""
    lessons, labs = listed(program)
    for name in lessons:
        if chosen and name not in chosen:
            continue
        common = ["run", name, "--iterations", "1", "--no-tune"]
        yield name, common, False
        for v in VARIANTS if name in MANY else []:
            yield f"{name} {v}", [*common, "--variant", f"*={v}"], False
    for name in labs:
        if chosen and name not in chosen:
            continue
        yield f"lab {name}", ["lab", name], True
        if name in ODD:
            yield (f"lab {name} odd",
                   ["lab", name, "--sizes", ",".join(ODD[name])], True)
        if name == "lu":  # its own product: lu_update
            yield (f"lab {name}{WITHOUT}", ["lab", name, "--sizes", "77"], True)


def call(program, arguments, db, limit, **environment):
    out = subprocess.run(["timeout", "-k", "5", str(limit), program, *arguments,
                          "--db", str(db)],
                         env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True)
    last = out.stderr.strip().splitlines()
    return out.returncode, last[-1] if last else ""


KERNELS = """
SELECT s.exec, n.value, coalesce(v.value, ''), m.kernelOrdinal, x.value, m.value
FROM metric_value m JOIN step s ON s.runId = m.runId AND s.exec = m.stepExec
JOIN StringIds x ON x.id = m.metricId
JOIN StringIds n ON n.id = s.nameId LEFT JOIN StringIds v ON v.id = s.variantId
WHERE m.kernelOrdinal IS NOT NULL ORDER BY s.exec, m.kernelOrdinal"""
NAMES = """
SELECT o.stepExec, x.value FROM op_kernel o
JOIN CUPTI_ACTIVITY_KIND_KERNEL k ON k.kernelRow = o.kernelRow
JOIN StringIds x ON x.id = k.shortName ORDER BY o.kernelRow"""


def whole(db):
    """Whether there is a database of a run that ended: one that was killed may have no
    tables, or a part of the kernels."""
    if not db.exists():
        return False
    d = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        return {s for s, in d.execute("SELECT status FROM run")} == {"done"}
    except sqlite3.DatabaseError:
        return False
    finally:
        d.close()


def read(db):
    """{(step, variant, which of them, kernel, which of that name): metrics}, and the
    kernels' names, of a database that is whole."""
    found, names, place = {}, {}, {}
    if not whole(db):
        return found, names
    d = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    launched = collections.defaultdict(list)
    for exec_, name in d.execute(NAMES):
        launched[exec_].append(name)
    seen = collections.Counter()
    for exec_, step, variant, kernel, metric, value in d.execute(KERNELS):
        step = step.removesuffix(", traced").removesuffix(", counted")
        if exec_ not in place:
            place[exec_] = seen[step, variant]
            seen[step, variant] += 1
        if kernel < len(launched[exec_]):
            name = launched[exec_][kernel]
            which = launched[exec_][:kernel].count(name)
        else:
            name, which = "?", kernel
        key = (step, variant, place[exec_], name, which)
        found.setdefault(key, {})[metric] = value
        names[key] = name
    return found, names


def sizes_of(db):
    """The sizes of a lab's steps: they are called `LAB SIZE`."""
    steps = {step.split(" ", 1)[1] for step, *_ in read(db)[0] if " " in step}
    return ",".join(sorted(steps))


def files(folder, key):
    name = key.replace(" ", "+")
    return folder / f"{name}.sim.db", folder / f"{name}.card.db"


def simulate(program, folder, key, arguments):
    """What went wrong, or ''."""
    sim, _ = files(folder, key)
    if read(sim)[0]:
        return ""
    for left in folder.glob(f"{sim.name}*"):  # by a run that was killed
        left.unlink()
    code, error = call(
        program, [*arguments, "--backend", "sim", "--threads", "2"], sim, 600)
    if code in (0, 1) and read(sim)[0]:
        return ""
    return f"{key}: not simulated: {error}"


def no_cublas(folder):
    """A folder for LD_LIBRARY_PATH with libraries that cannot be loaded."""
    path = folder / "no_cublas"
    path.mkdir(exist_ok=True)
    for n in 12, 13:
        for name in "libcublas", "libcublasLt":
            (path / f"{name}.so.{n}").touch()
    return f"{path.resolve()}:{os.environ.get('LD_LIBRARY_PATH', '')}"


def measure(program, folder, limit, gpu, key, arguments, is_lab):
    sim, card = files(folder, key)
    if not whole(sim) or read(card)[0]:
        return ""
    options = ["--backend", "cuda", "--counters", "full"]
    if is_lab:
        options += ["--repeat", "20"]
        if "--sizes" not in arguments and sizes_of(sim):
            options += ["--sizes", sizes_of(sim)]
    environment = {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {}
    if key.endswith(WITHOUT):
        environment["LD_LIBRARY_PATH"] = no_cublas(folder)
    code, error = call(program, [*arguments, *options], card, limit, **environment)
    return "" if code in (0, 1) else f"{key}: not counted: {error}"


def by_kernels(folder, todo, first):
    """The jobs: those of `first` before the others, and of both those that launch most
    kernels which none before them launches."""
    names = {job[0]: set(read(files(folder, job[0])[0])[1].values())
             for job in todo}
    seen, order, rest = set(), [], list(todo)
    while rest:
        best = max(rest, key=lambda job: (bool(set(job[0].split()) & first),
                                          len(names[job[0]] - seen)))
        rest.remove(best)
        seen |= names[best[0]]
        order.append(best)
    return order


def measure_all(args, todo):
    """Counters are one process's at a time on a GPU."""
    order = iter(by_kernels(args.out, todo, set(args.first.split(","))))
    begin, lock, late = time.monotonic(), threading.Lock(), []

    def one_gpu(gpu):
        while True:
            with lock:
                job = next(order, None)
            if job is None:
                return
            limit = 100
            if args.limit:
                limit = min(limit, int(begin + args.limit - time.monotonic()))
            if limit < 1:
                late.append(job)
                continue
            error = measure(args.program, args.out, limit, gpu, *job)
            if error:
                print(error, flush=True)

    gpus = [str(n) for n in range(args.gpus)] if args.gpus > 1 else [""]
    with concurrent.futures.ThreadPoolExecutor(len(gpus)) as pool:
        list(pool.map(one_gpu, gpus))
    if late:
        print(f"{len(late)} jobs left out: {args.limit} seconds are over")


def total(metrics, of):
    known = [metrics[m] * w for m, w in of.items() if m in metrics]
    return sum(known) if known else None


def compare(folder):
    rows = collections.defaultdict(list)  # count: (kernel, where, sim, card)
    lanes = []
    unmatched = constants = 0
    for sim_db in sorted(folder.glob("*.sim.db")):
        key = sim_db.name.removesuffix(".sim.db").replace("+", " ")
        if not whole(sim_db):
            print(f"{key}: left out: its simulated run did not end")
            continue
        sim, names = read(sim_db)
        card, _ = read(folder / sim_db.name.replace(".sim.db", ".card.db"))
        for where, of_sim in sim.items():
            if where not in card:
                unmatched += bool(card)
                continue
            kernel = names.get(where, "?")
            for count, weights in COUNTS.items():
                a, b = total(of_sim, weights), total(card[where], weights)
                if count == "fp16 FLOP" and not a and b:
                    constants += 1
                elif a is not None and b is not None and (a or b):
                    rows[count].append((kernel, f"{key}: {where}", a, b))
            both = [m[t] / m[w] for m, (t, w) in
                    zip((of_sim, card[where]), LANES) if m.get(w)]
            if len(both) == 2:
                lanes.append(both[0] / both[1])
    return rows, lanes, unmatched, constants


def off(a, b):
    return abs(a - b) / max(abs(a), abs(b))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--out", type=pathlib.Path, default="sim_card")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--no-card", action="store_true")
    parser.add_argument("--carried", action="store_true")
    parser.add_argument("--first", default="")
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--compare", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if not args.compare:
        todo = list(jobs(args.program, args.names))
        if args.carried:
            todo = [job for job in todo if files(args.out, job[0])[0].exists()]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for error in pool.map(lambda job: simulate(args.program, args.out,
                                                       *job[:2]), todo):
                if error:
                    print(error, flush=True)
        if not args.no_card:
            measure_all(args, todo)
        if args.no_card:
            raise SystemExit(0)
    rows, lanes, unmatched, constants = compare(args.out)
    if not rows:
        print("nothing to compare")
        raise SystemExit(4)
    print(f"{'count':18} {'kernels':>8} {'equal':>8} {'within 1 %':>10}  worst")
    wrong = False
    differ = collections.defaultdict(dict)
    for count, found in rows.items():
        equal = sum(a == b for _, _, a, b in found)
        near = sum(off(a, b) <= 0.01 for _, _, a, b in found)
        kernel, where, a, b = max(found, key=lambda r: off(r[2], r[3]))
        wrong |= "FLOP" in count and equal < len(found)
        worst = "" if equal == len(found) else (
            f"{kernel}: {a:.6g} simulated, {b:.6g} counted ({where})")
        print(f"{count:18} {len(found):8} {equal:8} {near:10}  {worst}")
        for kernel, _, a, b in found:
            if a != b:
                ratios = differ[kernel].setdefault(count, [])
                ratios.append(a / b if b else float("inf"))
    stored = rows.get("store sectors", [])
    print(f"store sectors, sums: {sum(r[2] for r in stored):.0f} simulated, "
          f"{sum(r[3] for r in stored):.0f} counted")
    if lanes:
        print(f"lanes active, of PTX / of the machine: median "
              f"{statistics.median(lanes):.3g}, {min(lanes):.3g} to "
              f"{max(lanes):.3g}, {len(lanes)} kernels")
    print(f"kernels without a partner: {unmatched}")
    print(f"fp16 FLOP left out, no such PTX: {constants} kernels\n")
    print("simulated / counted, the least and the most, where they differ")
    for kernel in sorted(differ):
        print(f"{kernel}: " + "; ".join(
            f"{count} {min(r):.4g} to {max(r):.4g} ({len(r)})"
            for count, r in differ[kernel].items()))
    raise SystemExit(1 if wrong else 0)


main()
