#!/usr/bin/env python3
"""Compares `lapenna-lab step --json` with the golden vectors, by map.txt.

    check_step.py PROGRAM [--backend cpu|cuda|sim] [--variants a,b,...|all]
                  [--but a,b,...] [--list] [--only WORD] [--jobs N]

Every lesson (those whose file's name has WORD in it) is walked with the
defaults and with each variant that is named (where the lesson's network has
it), N walks at a time. `all` is every name that the program lists for these
networks; --but leaves names out, which other calls take. --list prints the
names, and walks nothing. The tolerance is 1e-5 * (1 + max|ref|); 500 times that
of variants that round to TF32, with names that end in _tf32.
Prints what differs, in how many walks each variant was taken, then
'N passed, N failed'; exit 1 when something failed, or when a variant that is
named was taken in no walk; of `all` those are listed.
Only the standard library is needed.
"""
import argparse
import concurrent.futures
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = {"dense", "relu", "leaky_relu", "sigmoid", "tanh", "gelu", "softplus",
         "swish", "softmax", "flatten", "dropout", "layer_norm", "conv2d",
         "max_pool2d", "avg_pool2d", "batch_norm", "add", "rnn", "lstm",
         "embedding", "positional_embedding", "scaled_dot_attention",
         "attention", "bahdanau_attention", "transformer_block"}
TF32 = 500  # as bench/step_rows.py
UNSUPPORTED = 4  # none of its steps or sizes are for that variant
NOT_FOR_IT = '"id":"variant.group"'  # the variant exists, for other nodes


def read_golden(path):
    words = open(path).read().split()
    found, i = {}, 0
    while i < len(words):
        if words[i] == "scalar":
            found[words[i + 1]] = [float(words[i + 2])]
            i += 3
        elif words[i] == "tensor":
            rank = int(words[i + 4])
            count = int(words[i + 5 + rank])
            at = i + 6 + rank
            found[words[i + 1]] = [float(w) for w in words[at:at + count]]
            i = at + count
        else:
            i += 1
    return found


def read_map():
    cases = []
    for line in open(os.path.join(HERE, "map.txt")):
        word = line.split()
        if not word or word[0].startswith("#"):
            continue
        if word[0] == "lesson":
            cases.append((word[1], word[2], int(word[3]),
                          set(word[4].split(",")), []))
        elif word[0] in ("tensor", "scalar"):
            cases[-1][4].append((word[1], word[2], float(word[3]),
                                 int(word[4])))
    return cases


def number(v):
    return float(v)  # "nan", "inf" and "-inf" are words in JSON


def variants_of(options, scratch, lesson):
    """The names that this network has, from the program's own list."""
    done = subprocess.run(
        [options.program, "step", os.path.join(HERE, "lessons", lesson),
         "--backend", options.backend, "--db",
         os.path.join(scratch, lesson + ".db"), "--variant", "*=?"],
        capture_output=True, text=True)
    found = re.search(" it has (.*)", done.stderr)
    if done.returncode != 2 or not found:
        raise SystemExit(f"{lesson}: no list of variants: {done.stderr}")
    return found[1].split(", ")


def walk(program, lesson, iterations, backend, variant, db):
    """The tensors; None and why where the variant does not serve this lesson."""
    command = [program, "step", lesson, "--json", "--backend", backend,
               "--iterations", str(iterations), "--db", db]
    if variant:
        command += ["--variant", "*=" + variant]
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "LAPENNA_LAB_ERRORS": "json"})
    if variant and (done.returncode == UNSUPPORTED or
                    NOT_FOR_IT in done.stderr):
        return None, done.stderr
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n"
                           f"{done.stderr}")
    tensors, seen = {}, set()
    for line in done.stdout.splitlines():
        record = json.loads(line)
        if record["type"] != "step":
            continue
        seen.add(record["variant"])
        for out in record["outputs"]:
            key = (out["name"], record["iteration"] + 1)
            tensors[key] = [number(v) for v in out["data"]]
    return tensors, seen


def compare(golden, rows, tensors, tolerance):
    """Yields (name, error in units of the tolerance) for what was compared."""
    for theirs, ours, scale, iteration in rows:
        want = golden[theirs]
        got = tensors.get((ours, iteration))
        if got is None:
            continue  # data and initial values are inputs, not outputs
        if len(got) != len(want):
            yield ours, math.inf
            continue
        unit = tolerance * (1 + max(abs(v) for v in want))
        worst = 0.0
        for a, b in zip(want, got):
            off = abs(a - scale * b)
            worst = math.inf if math.isnan(off) else max(worst, off / unit)
        yield ours, worst


def judge(options, scratch, case, variant):
    """One walk: (tensors compared, what is wrong or None), None: not for it."""
    lesson, golden_name, iterations, _, rows = case
    golden = read_golden(os.path.join(HERE, golden_name + ".txt"))
    db = os.path.join(scratch, f"{lesson}-{variant}.db")
    try:
        tensors, _ = walk(options.program, os.path.join(HERE, "lessons", lesson),
                          iterations, options.backend, variant, db)
    except RuntimeError as e:
        return 0, str(e)
    if tensors is None:
        return None
    rounded = TF32 if (variant or "").endswith("_tf32") else 1
    results = list(compare(golden, rows, tensors, 1e-5 * rounded))
    bad = [(n, w) for n, w in results if not w <= 1]
    if bad or not results:
        return len(results), (f"{lesson} variant {variant}: "
                              f"{bad or 'nothing compared'}")
    return len(results), None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--variants", default="")
    parser.add_argument("--but", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    named = [v for v in options.variants.split(",") if v]
    but = {"default", *options.but.split(",")}
    cases = [c for c in read_map() if c[3] <= BUILT and options.only in c[0]]
    results = []
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        known = list(pool.map(lambda c: variants_of(options, scratch, c[0]),
                              cases)) if named else [()] * len(cases)
        listed = named == ["all"]
        if listed:
            named = sorted(set().union(*known) - but)
        taken = dict.fromkeys(named, 0)
        if options.list:
            print(*named, sep="\n")
            return 0
        walks = [(v, pool.submit(judge, options, scratch, c, v))
                 for c, has in zip(cases, known)
                 for v in [None] + [n for n in named if n in has]]
        for variant, found in walks:
            if found.result():
                results.append(found.result())
                if variant:
                    taken[variant] += 1
    wrong = [why for _, why in results if why]
    untaken = [f"variant {v}: no lesson has a step that takes it"
               for v in named if not taken[v]]
    if not listed:
        wrong += untaken
        untaken = []
    for why in wrong + untaken:
        print(why)
    if named:
        print("walks: " + ", ".join(f"{v} {n}" for v, n in taken.items()))
    print(f"{sum(n for n, _ in results)} tensors compared")
    failed = sum(bool(why) for _, why in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if wrong or not results else 0


sys.exit(main())
