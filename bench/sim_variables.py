#!/usr/bin/env python3
"""sim_variables.py PROGRAM [--steps N] [--thread T] [WORD ...]: the variables that a
walk inside this tree's kernels shows, against their values by the source.

Walks every variant of every lab, and the steps of some lessons, line by line on the
simulator (--backend sim --into), and lists the variables at each stop. A whole number
whose only assignment is an expression of parameters, threadIdx, blockIdx, numbers and
other such variables is computed from the source, and must be what the walk shows. Floats
are not compared: what they are made of is in no known register at their line. Prints
each that is not, and how many variables were shown, compared and in no register. WORDs
choose labs and lessons whose name has one. Exit code 1 with a wrong value, or
where nothing was compared.
"""
import argparse
import collections
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
LESSONS = {
    "mlp-digits": ["fc1.matmul", "fc1.matmul backward", "fc1.bias", "loss.softmax"],
    "cnn-digits": ["conv1.conv", "conv1.conv backward", "pool1.pool"],
    "lstm-example": ["lstm1.cell.0", "lstm1.cell.1 backward"],
    "self-attention": ["attn1.scores", "attn1.softmax"],
    "transformer-block": ["block1.ln1.stats", "block1.attn.context",
                          "block1.gelu.gelu backward"],
    "activations": ["sigmoid1.sigmoid", "swish1.swish"],
}
WHOLE = r"(?:const )?(?:unsigned|int|long|int32_t|uint32_t|int64_t|uint64_t|size_t)"
HEADER = re.compile(r"^(\S+)  (\S+?):(\d+)  block \((\d+),(\d+),(\d+)\)")
ROW = re.compile(r"^  (\S+)\s+(-?\d+)\s+((?:const )?[a-z_0-9 ]+?)(?:, in (%\w+))?$")
SPECIAL = ("threadIdx", "blockIdx", "blockDim", "gridDim")


class Unknown(Exception):
    """An expression that is not made of what is known."""


class Whole(int):
    """A whole number as C has it: / and % round towards 0."""

    def __truediv__(self, by):
        q = abs(int(self)) // abs(int(by))
        return Whole(q if (self < 0) == (by < 0) else -q)

    def __mod__(self, by):
        return Whole(int(self) - int(by) * int(self / by))


def keep_whole(name):
    of_int = getattr(int, name)
    setattr(Whole, name, lambda *values: Whole(of_int(*values)))


for operator in ("add", "sub", "mul", "lshift", "rshift", "and", "or", "neg"):
    keep_whole(f"__{operator}__")


def sources():
    """The texts of each file name."""
    found = collections.defaultdict(list)
    for kind in ("*.cu", "*.cuh", "*.h"):
        for path in (ROOT / "kernels").rglob(kind):
            found[path.name].append(path)
    return {n: [path.read_text() for path in p] for n, p in found.items()}


def source_of(texts, name, kernel):
    """The text of that name; of several, the one that has the kernel. None: not known."""
    of = texts.get(name, [])
    if len(of) > 1:
        of = [t for t in of if re.search(rf"\b{re.escape(kernel)}\(", t)]
    return of[0] if len(of) == 1 else None


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
    for text in (t for of in texts.values() for t in of):
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

    def definition(self, name, line):
        """The only expression that gives `name` its value, made before `line`."""
        word = re.escape(name)
        changes = re.findall(
            rf"\b{word}\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)|(?:\+\+|--){word}\b"
            rf"|&{word}\b", self.body)
        made = list(re.finditer(rf"\b{WHOLE}\s+{word} = ([^;,]+);", self.body))
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
        kernel, name, line = place
        for axis in "yz":  # not listed where the grid or the block is flat
            for n in SPECIAL:
                known.setdefault(f"{n}.{axis}", int(n.endswith("Dim")))
        text = source_of(texts, name, kernel)
        function = Function(text, line) if text else None
        for n, (value, reg, kind) in rows.items():
            if reg is None or not function or not function.ok:
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
            place, rows = (m.group(1), m.group(2), int(m.group(3))), {}
            total["stops"] += 1
            continue
        m = ROW.match(text)
        if m and place:
            rows[m.group(1)] = (int(m.group(2)), m.group(4), m.group(3))
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
        for variant in m.group(1).split(", ") if m else []:
            walks.append((f"{lab} {variant}", base + [variant]))
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
                    ("walks", "stops", "shown", "compared", "in no register")) +
          f", wrong {len(wrong)}")
    return 1 if wrong or not total["compared"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
