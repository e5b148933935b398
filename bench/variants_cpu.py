#!/usr/bin/env python3
"""variants_cpu.py PROGRAM [LESSON...]: is a lesson slower by default than with a
single --variant setting?

For every lesson that trains (or those that are named): the default, tuned before, and
--variant '*=NAME' for every name that a step of it may have, taking turns. Prints
the milliseconds of an iteration, each of its steps at its least over the repeats, so
that a busy machine disturbs little, and marks settings that are more than 5 % faster
than the default; the exit code is 1 where there is one. A setting by which every step
runs the variant that the default has chosen is printed with "=": it differs by noise
alone, and does not count. A lesson that the program does
not measure, as it is small enough to be followed by hand, keeps the readable kernels on
purpose: it is printed as such and does not count.

  --repeats N    (5)
  --seconds S    of each measurement (0.5)
  --threads N    (all cores)
  --names LIST   settings, *=NAME or OP=NAME (naive,vector,blas,onednn for *)
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FASTER = 1.05


def run(args, lesson, db, options, iterations):
    """The least time of each step, {(node, index, phase, variant): ms}, or None:
    refused."""
    common = ["--json", "--db", str(db)]
    out = subprocess.run(
        [args.program, "run", *common, "--backend", "cpu", "--threads",
         str(args.threads), "--iterations", str(iterations), *options, lesson],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    last = json.loads(out.stdout.splitlines()[-1]) if out.stdout else {}
    if out.returncode or last.get("type") != "summary":
        return None
    shown = subprocess.run(
        [args.program, "profile", "show", str(last["run"]), *common],
        stdout=subprocess.PIPE, text=True, check=True).stdout
    rows = [json.loads(line) for line in shown.splitlines()]
    if not options:
        args.small = any(r.get("variants_from") == "table" for r in rows)
    return {(s["node"], s["index"], s["phase"], s["variant"]): s["min_ns"] / 1e6
            for s in rows if s["type"] == "step" and s["min_ns"] is not None}


def lessons(program):
    out = subprocess.run([program, "lesson", "list", "--json"],
                         stdout=subprocess.PIPE, text=True, check=True).stdout
    found = [json.loads(line) for line in out.splitlines()]
    return [l["id"] for l in found if l.get("type") == "lesson"]


def compare(args, lesson, db):
    """{setting: milliseconds}, and the settings that run what the default does."""
    steps = run(args, lesson, db, [], 5)  # tunes
    if not steps:
        return {}, []
    default = sum(steps.values())
    settings = {"default": []}
    for name in args.names:
        setting = name if "=" in name else f"*={name}"
        settings[setting] = ["--variant", setting]
    best = {}
    for _ in range(args.repeats):
        for name, options in list(settings.items()):
            ms = sum(best.get(name, steps).values())
            count = max(3, min(500, int(args.seconds * 1e3 / ms)))
            found = run(args, lesson, db, options, count)
            if not found or sum(found.values()) > 5 * default:
                del settings[name]
            for step, ms in (found or {}).items():
                least = best.setdefault(name, {})
                least[step] = min(ms, least.get(step, ms))
    return ({name: sum(least.values()) for name, least in best.items()},
            [name for name in best if name != "default" and
             best[name].keys() == best.get("default", {}).keys()])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("lessons", nargs="*")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--threads", type=int,
                        default=len(os.sched_getaffinity(0)))
    parser.add_argument("--names", type=lambda s: s.split(","),
                        default=["naive", "vector", "blas", "onednn"])
    args = parser.parse_args()
    slower = 0
    with tempfile.TemporaryDirectory() as folder:
        for lesson in args.lessons or lessons(args.program):
            best, same = compare(args, lesson, pathlib.Path(folder) / "runs.db")
            if "default" not in best:
                continue
            faster = [n for n in best
                      if n not in same and best["default"] > FASTER * best[n]]
            slower += len(faster) > 0 and not args.small
            print(f"{lesson:28} {'small: readable kernel  ' if args.small else ''}" + "  ".join(
                f"{n} {ms:.4g}{' <' if n in faster else ' =' if n in same else ''}"
                for n, ms in best.items()), flush=True)
    print(f"{slower} lessons have a setting that is more than 5 % faster")
    sys.exit(slower > 0)


if __name__ == "__main__":
    main()
