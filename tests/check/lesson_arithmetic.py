"""Sums that lessons write out are right: "$0.75 + 0.03 \\cdot 26.25 = 1.5375$".

usage: lesson_arithmetic.py SOURCE_DIR

Of each formula, and of each sum between blanks, the sides of = and of \\leftarrow that have
numbers alone are computed; each side is to be the first one, rounded to its own digits; to
one unit of its last digit where the first has rounded numbers.
"""
import glob
import math
import os
import re
import sys

root = sys.argv[1]
wrong = 0
compared = 0
SCALES = {"": 1, "million": 1e6, "billion": 1e9, "GFLOP": 1e9}
NAMES = {"log": math.log, "ln": math.log, "sqrt": math.sqrt, "exp": math.exp,
         "tanh": math.tanh}


def plain(side):
    """A side as an expression of Python; None where it has more than numbers."""
    side = re.sub(r"(?<=\d),(?=\d{3})", "", side)
    side = re.sub(r"\\(?:frac|dfrac)\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", side)
    side = re.sub(r"\\log_2\s*(\d+)", r"(log(\1)/log(2))", side)
    side = re.sub(r"\\(log|ln|sqrt|exp|tanh)\{([^{}]*)\}", r"\1(\2)", side)
    side = re.sub(r"\\(log|ln|sqrt|exp|tanh)\s*(\d+(?:\.\d+)?)", r"\1(\2)", side)
    side = re.sub(r"\\(log|ln|sqrt|exp|tanh)\s*(?=\()", r"\1", side)
    side = side.replace("\\cdot", "*").replace("\\times", "*").replace("\\,", "")
    side = re.sub(r"\^\{([^{}]*)\}", r"**(\1)", side).replace("^", "**")
    side = side.replace("{", "(").replace("}", ")").strip()
    words = re.findall(r"[A-Za-z_\\]+", side)
    if not re.search(r"\d", side) or any(w not in NAMES for w in words) or \
            not re.fullmatch(r"[-+*/().\d\sa-z]+", side):
        return None
    return side


def value(side):
    try:
        return float(eval(side, {"__builtins__": {}}, NAMES))  # numbers and NAMES alone
    except (SyntaxError, TypeError, ZeroDivisionError, OverflowError, ValueError):
        return None


def unit(side):
    """One of the last digit of a number; of a sum the number that it is rounded to."""
    number = re.fullmatch(r"-?\s*\d+(?:\.(\d*))?", side)
    return 10.0 ** -len(number[1] or "") if number else None


for name in sorted(glob.glob(f"{root}/lessons/[0-9]*.md")):
    with open(name, encoding="utf-8") as f:
        text = f.read()
    body = text.split("\n---\n", 1)[1]
    body = re.sub(r"\s+", " ", body)
    written = re.findall(r"(?<![\w.$,])(?<![-+x*/=(] )\d[\d.,]*(?: [x+-] \d[\d.,]*)+ = "
                         r"(?:\d[\d.,]*\d|\d)(?!\w)", re.sub(r"\$[^$]*\$", "$", body))
    for formula, scale in re.findall(r"\$([^$]+)\$(?: (billion|million|GFLOP))?", body) + [
            (w.replace(" x ", " * "), "") for w in written]:
        sides = [plain(s) for s in re.split(r"=|\\leftarrow", formula)]
        for a, b in zip(sides, sides[1:]):
            if a is None or b is None:
                continue
            va, vb, step = value(a), value(b), unit(b)
            if va is None or vb is None or step is None:
                continue
            compared += 1
            va /= SCALES[scale]
            if abs(va - vb) > (1.001 if "." in a else 0.501) * step:
                print(f"{os.path.relpath(name, root)}: ${formula}$: {a} is {va:.7g}")
                wrong = 1
if compared < 30:
    print(f"only {compared} sums were found")
    wrong = 1
print(compared, "sums")
sys.exit(wrong)
