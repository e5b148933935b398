"""FLOP of functions of mathematics, by two compilers. `--args FOLDER` writes arguments on all
sides of the conditions in their code and prints how many there are; SOURCE JSON JSON compares
the FLOP of each line. A value is there so many times as its number from 1: what is counted too
much for one does not make up for another. Prints the lines that differ; exit code 1."""
import itertools
import json
import math
import sys

from sim_functions import single, write

SIDES = [0.0, 1e-45, 1e-40, 1.17e-38, 1.18e-38, 1e-30, 0.01, 0.3, 0.4, 0.42, 0.55, 0.57, 0.59,
         0.61, 0.78, 0.79, 0.99, 1.0, 1.0029, 1.003, 1.6, 2.3, 2.4, 3.2, 4.0, 5.6, 6.4, 9.0,
         10.1, 29.0, 37.0, 45.0, 87.0, 87.7, 88.5, 88.8, 89.0, 104.0, 125.0, 126.5, 127.0, 128.0,
         150.0, 1000.0, 105614.0, 105616.0, 2e6, 1e10, 1e30, 3e38, math.inf]
FLOATS = [s * v for v in SIDES for s in (1, -1)] + [math.nan]
WIDE = [0.0, 5e-324, 1e-310, 2.2e-308, 2.3e-308, 1e-300, 1e-290, 0.1, 0.7, 1.0, 1.5, 1e10,
        1e300, 1.7e308, math.inf]
DOUBLES = [s * v for v in WIDE for s in (1, -1)] + [math.nan]


def repeated(values):
    return [v for k, v in enumerate(values, 1) for _ in range(k)]


def second(values):
    """Another one beside each, of all in turn."""
    return list(itertools.islice(itertools.cycle([*values, 2.0, 3.0]), len(repeated(values))))


def of_lines(path):
    """FLOP by line, in fp32 and fp64."""
    with open(path, encoding="utf-8") as text:
        rows = [json.loads(line) for line in text]
    return {r["line"]: (r["counts"]["flops"], r["counts"]["flops_f64"])
            for r in rows if r["type"] == "line"}


def main():
    if sys.argv[1] == "--args":
        for name, kind, values in (("f", "f", [single(v) for v in FLOATS]),
                                   ("d", "d", DOUBLES)):
            write(f"{sys.argv[2]}/{name}.npy", kind, repeated(values))
            write(f"{sys.argv[2]}/{name}2.npy", kind, second(values))
            print(len(repeated(values)))
        return 0
    with open(sys.argv[1], encoding="utf-8") as text:
        source = text.read().splitlines()
    one, other = of_lines(sys.argv[2]), of_lines(sys.argv[3])
    lines = [n for n, s in enumerate(source, 1)
             if "y[t] = " in s and (n in one or n in other)]
    wrong = [n for n in lines if one.get(n) != other.get(n) or not any(one[n])]
    for n in wrong:
        print(f"line {n}: {source[n - 1].strip()}: {one.get(n)} and {other.get(n)}")
    return 1 if wrong or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
