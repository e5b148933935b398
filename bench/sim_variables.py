#!/usr/bin/env python3
"""sim_variables.py PROGRAM [--steps N] [--thread T] [WORD ...]: the variables that a
walk inside this tree's kernels shows, against their values by the source.

Walks every variant of every lab, and the steps of some lessons, line by line on the
simulator (--backend sim --into), and lists the variables at each stop. A whole number
whose only assignment is an expression of parameters, threadIdx, blockIdx, numbers and
other such variables is computed from the source, and must be what the walk shows; a float, whose
values come from memory, must be what its expression gives for the operands that the walk
shows, but for rounding: a compiler fuses products and sums, and approximates functions.
Prints each that is not, and how many variables were shown, compared (whole numbers and
floats) and in no register. WORDs
choose labs and lessons whose name has one. Exit code 1 with a wrong value, or
where nothing was compared.
"""
import argparse
import collections
import math
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
LESSONS = {
    "mlp-digits": ["fc1.matmul", "fc1.matmul backward", "fc1.bias", "loss"],
    "cnn-digits": ["conv1", "conv1 backward", "pool1"],
    "lstm-example": ["lstm"],
    "self-attention": ["scores", "softmax"],
    "transformer-block": ["norm1", "attention"],
}
WHOLE = r"(?:const )?(?:unsigned|int|long|int32_t|uint32_t|int64_t|uint64_t|size_t)"
REAL = r"(?:const )?(?:float|double)"
FUNCTIONS = {"fmaxf": max, "fmax": max, "fminf": min, "fmin": min, "fabsf": abs,
             "fabs": abs, "expf": math.exp, "exp": math.exp, "logf": math.log,
             "log": math.log, "tanhf": math.tanh, "sqrtf": math.sqrt, "sqrt": math.sqrt,
             "rsqrtf": lambda v: 1 / math.sqrt(v), "float": float, "double": float}
NEAR = 1e-5  # of the largest number in an expression
HEADER = re.compile(r"^(\S+)  (\S+?):(\d+)  block \((\d+),(\d+),(\d+)\)")
ROW = re.compile(r"^  (\S+)\s+(-?\d[\d.e+-]*)\s+((?:const )?[a-z_0-9 ]+?)(?:, in (%\w+))?$")
SPECIAL = ("threadIdx", "blockIdx", "blockDim", "gridDim")


class Unknown(Exception):
    """An expression that is not made of what is known."""


class Whole(int):
    """A whole number as C has it: / and % round towards 0."""

    def __truediv__(self, by):
        if not isinstance(by, Whole):
            return NotImplemented
        q = abs(int(self)) // abs(int(by))
        return Whole(q if (self < 0) == (by < 0) else -q)

    def __mod__(self, by):
        return Whole(int(self) - int(by) * int(self / by))


def keep_whole(name):
    of_int = getattr(int, name)

    def of_whole(*values):
        result = of_int(*values)
        return result if result is NotImplemented else Whole(result)

    setattr(Whole, name, of_whole)


for operator in ("add", "sub", "mul", "lshift", "rshift", "and", "or", "neg"):
    keep_whole(f"__{operator}__")


def sources():
    """Text by file name; a name that two files have is left out."""
    found = collections.defaultdict(list)
    for kind in ("*.cu", "*.cuh", "*.h"):
        for path in (ROOT / "kernels").rglob(kind):
            found[path.name].append(path)
    return {n: p[0].read_text() for n, p in found.items() if len(p) == 1}


def without_comments(text):
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def function_at(lines, line):
    """First and last line of the function's body around a line, from 1."""
    depth = 0
    first = None
    for n, text in enumerate(lines, 1):
        for c in text:
            if c == "{":
                if depth == 0:
                    first = n
                depth += 1
            elif c == "}":
                depth -= 1
                if depth == 0 and first and first <= line <= n:
                    return first, n
        if first and depth == 0:
            first = None
    return None


def helpers(texts):
    """Functions without parameters that return one expression."""
    out = {}
    for text in texts.values():
        for m in re.finditer(r"\b(\w+)\(\)\s*\{\s*return ([^;]+);\s*\}", text):
            out[m.group(1)] = None if m.group(1) in out else m.group(2)
    return out


class Function:
    def __init__(self, text, line):
        lines = without_comments(text).split("\n")
        where = function_at(lines, line)
        self.ok = where is not None
        if not self.ok:
            return
        self.first, self.last = where
        self.body = "\n".join(lines[self.first - 1:self.last])

    def definition(self, name, line, kind=WHOLE):
        """The only expression that gives `name` its value, made before `line`."""
        word = re.escape(name)
        changes = re.findall(
            rf"\b{word}\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)|(?:\+\+|--){word}\b"
            rf"|&{word}\b", self.body)
        made = list(re.finditer(rf"\b{kind}\s+{word} = ([^;,]+);", self.body))
        if len(changes) != 1 or len(made) != 1:
            raise Unknown(name)
        at = self.first + self.body[:made[0].end()].count("\n")
        if at >= line:
            raise Unknown(name)
        return made[0].group(1), made[0].group()


def evaluate(text, known, function, line, calls, depth=0):
    """A C expression of whole numbers."""
    if depth > 12:
        raise Unknown(text)
    text = re.sub(r"(?:static_cast<\w+>|\((?:int|int64_t|unsigned)\))", "", text)
    out = []
    for m in re.finditer(r"\s+|\w+\.[xyz]\b|\w+\(\)|\w+|<<|>>|.", text):
        t = m.group()
        if t.isspace():
            continue
        if re.fullmatch(r"\d+[uUlL]*", t):
            out.append(f"Whole({t.rstrip('uUlL')})")
        elif t.endswith("()"):
            if not calls.get(t[:-2]):
                raise Unknown(t)
            value = evaluate(calls[t[:-2]], known, function, line, calls, depth + 1)
            out.append(f"Whole({value})")
        elif t in known:
            out.append(f"Whole({known[t]})")
        elif t in ("+", "-", "*", "/", "%", "(", ")", "<<", ">>", "&", "|"):
            out.append(t)
        elif re.fullmatch(r"[A-Za-z_]\w*", t):
            expression, _ = function.definition(t, line)
            value = evaluate(expression, known, function, line, calls, depth + 1)
            out.append(f"Whole({value})")
        else:
            raise Unknown(t)
    try:
        return int(eval(" ".join(out), {"__builtins__": {}, "Whole": Whole}))
    except (SyntaxError, ZeroDivisionError, TypeError, NameError, ValueError):
        raise Unknown(text) from None


def evaluate_real(text, rows, function, line):
    """A C expression of shown values that do not change, and the largest of them."""
    out = []
    values = [0.0]
    text = re.sub(r"static_cast<(\w+)>", r"\1", text)
    text = re.sub(r"\((float|double)\)\s*(\w+(?:\.[xyz])?)(?![\w(\[])", r"\1(\2)", text)
    for m in re.finditer(r"\s+|\d+\.\d*(?:e[-+]?\d+)?f?|\w+\.[xyz]\b|\w+|.", text):
        t = m.group()
        if t.isspace():
            continue
        if re.fullmatch(r"\d+[uUlL]*", t):
            out.append(f"Whole({t.rstrip('uUlL')})")
        elif re.fullmatch(r"\d+\..*", t):
            out.append(t.rstrip("f"))
            values.append(abs(float(out[-1])))
        elif t in ("+", "-", "*", "/", "(", ")", ",") or (
                t in FUNCTIONS and text[m.end():m.end() + 1] == "("):
            out.append(t)
        elif t in rows:
            value, reg, kind = rows[t]
            if reg is not None:
                function.definition(t, line, REAL if is_real(kind) else WHOLE)
            out.append(repr(value) if is_real(kind) else f"Whole({value})")
            values.append(abs(float(value)))
        else:
            raise Unknown(t)
    try:
        value = eval(" ".join(out), {"__builtins__": {}, "Whole": Whole, **FUNCTIONS})
        return float(value), max(values)
    except (SyntaxError, ZeroDivisionError, TypeError, NameError, ValueError,
            OverflowError):
        raise Unknown(text) from None


def is_real(kind):
    return kind.split()[-1] in ("float", "double")


def survey(what, command, words, texts, calls, total):
    """One walk; the wrong values as lines."""
    try:
        done = subprocess.run(command, input=words, capture_output=True, text=True,
                              timeout=240, check=False)
    except subprocess.TimeoutExpired:
        print(f"{what}: longer than 240 s")
        return []
    wrong = []
    place = None
    rows = {}

    def check():
        known = {n: v for n, (v, reg, _) in rows.items()
                 if n.split(".")[0] in SPECIAL or reg is None}
        name, line = place
        for axis in "yz":  # not listed where the grid or the block is flat
            for n in SPECIAL:
                known.setdefault(f"{n}.{axis}", int(n.endswith("Dim")))
        function = Function(texts[name], line) if name in texts else None
        for n, (value, reg, kind) in rows.items():
            if reg is None or not function or not function.ok:
                continue
            if is_real(kind):
                try:
                    expression, _ = function.definition(n, line, REAL)
                    should, most = evaluate_real(expression, rows, function, line)
                except Unknown:
                    continue
                total["floats"] += 1
                if not abs(should - value) <= NEAR * max(most, abs(should)):
                    wrong.append(f"{what}: {name}:{line}: {n} = {value} in {reg}, but "
                                 f"{expression} is {should}")
                continue
            try:
                expression, _ = function.definition(n, line)
                should = evaluate(expression, known, function, line, calls)
            except Unknown:
                continue
            total["compared"] += 1
            if kind.startswith("u") and should < 0:
                should += 1 << (64 if "64" in kind else 32)
            if should != value:
                wrong.append(f"{what}: {name}:{line}: {n} = {value} in {reg}, but "
                             f"{expression} is {should}")

    for text in done.stdout.split("\n"):
        m = HEADER.match(text)
        if m:
            if place and rows:
                check()
            place, rows = (m.group(2), int(m.group(3))), {}
            total["stops"] += 1
            continue
        m = ROW.match(text)
        if m and place:
            kind = m.group(3)
            value = float(m.group(2)) if is_real(kind) else int(m.group(2))
            rows[m.group(1)] = (value, m.group(4), kind)
            total["shown"] += 1
        elif text.startswith("  in no known register: "):
            total["in no register"] += text.count(",") + 1
    if place and rows:
        check()
    return sorted(set(wrong))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--thread", type=int, default=5)
    parser.add_argument("only", nargs="*", metavar="WORD")
    args = parser.parse_intermixed_args()
    texts = sources()
    calls = helpers(texts)
    words = f"thread {args.thread}\n" + "step\nregisters\n" * args.steps
    total = collections.Counter()
    wrong = []
    walks = []
    chosen = lambda n: not args.only or any(w in n for w in args.only)
    labs = subprocess.run([args.program, "lab", "--list"], capture_output=True,
                          text=True, check=True).stdout.split("\n")
    for lab in [line.split()[0] for line in labs if line]:
        if not chosen(lab):
            continue
        base = [args.program, "lab", lab, "--backend", "sim", "--into"]
        no = subprocess.run(base + ["?"], input="", capture_output=True, text=True,
                            check=False)
        m = re.search(r"there are (.*)", no.stderr)
        for rung in m.group(1).split(", ") if m else []:
            walks.append((f"{lab} {rung}", base + [rung]))
    for lesson, steps in LESSONS.items():
        for step in steps if chosen(lesson) else []:
            walks.append((f"{lesson} {step}",
                          [args.program, "step", lesson, "--backend", "sim", "--into",
                           step]))
    for what, command in walks:
        before = total["stops"]
        for line in survey(what, command, words, texts, calls, total):
            print(line, flush=True)
            wrong.append(line)
        total["walks"] += total["stops"] > before
    print(", ".join(f"{n} {total[n]}" for n in
                    ("walks", "stops", "shown", "compared", "floats",
                     "in no register")) +
          f", wrong {len(wrong)}")
    return 1 if wrong or not total["compared"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
