#!/usr/bin/env python3
"""recorded.py [--all | LESSON...] -- the simulator beside runs that were recorded on a GPU
(profiles/recorded/h200.db): is each iteration's loss the same, bit for bit, and in the
iteration with counters each kernel's FLOP in fp32?

Without words: the lessons in EXACT, whose losses no approximate instruction (ex2.approx,
rcp.approx: a GPU's own bits are not published) changes, of each the last run with counters.
With words, those lessons with each recorded run that took only variants the simulator has.
Exit code 1 where something differs.
A kernel whose sums were given another order on purpose needs the run recorded anew.
"""
import collections
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

DB = pathlib.Path(__file__).parents[2] / "profiles" / "recorded" / "h200.db"
# And how many iterations; None: as many as were recorded. Lessons that it does not name
# run SOME.
SOME = 3
EXACT = {"activations": None, "leaky-relu": None, "tanh": None, "softplus": None,
         "gelu": None, "swish": None, "sigmoid-gradient": None, "training-loop": None,
         "optimizer-sgd": None, "optimizer-momentum": None, "optimizer-nesterov": None,
         "optimizer-adam": None, "optimizer-adamw": None, "optimizer-schedules": None,
         "edge-kernels": None, "embedding-product": None, "embedding-gather": None,
         "scaled-dot-product": None, "one-tile": None, "forgotten-check": None,
         "cnn-digits": SOME}
LIBRARIES = {"cublas", "cublaslt", "cudnn", "cusparselt"}
RUNS = """SELECT r.id, r.lesson, r.seed, r.batch, r.variantsFrom,
(SELECT group_concat(DISTINCT v.value) FROM step s
 JOIN StringIds v ON v.id = s.variantId WHERE s.runId = r.id)
FROM run r WHERE r.kind = 'lesson'
ORDER BY EXISTS (SELECT 1 FROM metric_value m WHERE m.runId = r.id), r.id"""
LOSSES = "SELECT iteration, loss FROM loss WHERE runId = ? ORDER BY iteration"
# Steps in their order, so that the n-th of a name is the n-th of both runs.
FLOP = """SELECT s.iteration, s.exec, n.value, v.value, m.kernelOrdinal, sum(m.value *
CASE WHEN x.value LIKE '%ffma%' THEN 2 ELSE 1 END)
FROM metric_value m JOIN step s ON s.runId = m.runId AND s.exec = m.stepExec
JOIN StringIds x ON x.id = m.metricId JOIN StringIds n ON n.id = s.nameId
LEFT JOIN StringIds v ON v.id = s.variantId
WHERE m.runId = ? AND m.kernelOrdinal IS NOT NULL AND x.value IN (
 'smsp__sass_thread_inst_executed_op_fadd_pred_on.sum',
 'smsp__sass_thread_inst_executed_op_fmul_pred_on.sum',
 'smsp__sass_thread_inst_executed_op_ffma_pred_on.sum')
GROUP BY s.exec, m.kernelOrdinal ORDER BY s.exec, m.kernelOrdinal"""


def flop_of(db, run):
    """{(iteration, step, variant, which of them, kernel): FLOP}"""
    found, place, seen = {}, {}, collections.Counter()
    for iteration, exec_, step, variant, kernel, flop in db.execute(FLOP, (run,)):
        key = (iteration, step.split(", ")[0], variant)
        if exec_ not in place:  # of any variant: forward may have another than backward
            place[exec_] = seen[key[:2]]
            seen[key[:2]] += 1
        found[(*key, place[exec_], kernel)] = flop
    return found


def simulate(folder, lesson, seed, batch, chosen, iterations):
    path = pathlib.Path(folder) / "run.db"
    path.unlink(missing_ok=True)
    words = [os.environ["LAB_EXE"], "run", lesson, "--backend", "sim", "--no-tune",
             "--seed", str(seed), "--batch", str(batch), "--db", str(path),
             "--iterations", str(iterations)]
    for variant in chosen:
        words += ["--variant", f"*={variant}"]
    end = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         text=True, check=False)
    if end.returncode != 0:
        raise SystemExit(f"{lesson}: exit {end.returncode}: {end.stderr[-300:]}")
    return sqlite3.connect(path)


def differences(card, sim, run):
    """Of losses, and of kernels if the run has counters: how many were compared, and a line
    for each that differs."""
    theirs, ours = dict(card.execute(LOSSES, (run,))), dict(sim.execute(LOSSES, (1,)))
    losses = sorted(theirs.keys() & ours.keys())
    loss = [f"iteration {k}: loss {ours[k]!r} simulated, {theirs[k]!r} recorded"
            for k in losses if ours[k] != theirs[k]]
    theirs, ours = flop_of(card, run), flop_of(sim, 1)
    kernels = theirs.keys() & ours.keys()
    flop = [f"{key}: {ours[key]:.0f} FLOP simulated, {theirs[key]:.0f} recorded"
            for key in sorted(kernels, key=str) if ours[key] != theirs[key]]
    both = [("losses", len(losses), loss)]
    return both + [("kernels", len(kernels), flop)] if theirs else both


def main():
    words = sys.argv[1:]
    card = sqlite3.connect(f"file:{DB}?mode=ro", uri=True)
    last = {}
    for run, lesson, seed, batch, chosen, variants in card.execute(RUNS):
        own = set((variants or "").split(",")) - {"naive", "block", "unstable"}
        if not variants or own & LIBRARIES or (own and chosen != "chosen"):
            continue
        named = words and (words == ["--all"] or lesson in words)
        if named or (not words and lesson in EXACT):
            # `chosen` with one variant for all: naive is what no other one has.
            key = (lesson, run) if words else (lesson, 0)
            last[key] = (run, seed, batch,
                         [] if chosen != "chosen" else [min(own, default="naive")])
    if not words and {lesson for lesson, _ in last} != EXACT.keys():
        raise SystemExit(f"not recorded: {EXACT.keys() - {le for le, _ in last}}")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for (lesson, _), (run, seed, batch, chosen) in last.items():
            count = card.execute("SELECT count(*) FROM loss WHERE runId = ?",
                                 (run,)).fetchone()[0]
            sim = simulate(folder, lesson, seed, batch, chosen,
                           EXACT.get(lesson, SOME) or count)
            print(lesson, *chosen)
            for what, n, lines in differences(card, sim, run):
                print(f"  {n} {what} compared, {len(lines)} differ", *lines[:5],
                      sep="\n    ", flush=True)
                failed |= bool(lines) or not n
            sim.close()
    raise SystemExit(failed)


main()
