"""Counts that a text names with their unit ("16 units", "images of 8 by 8") are its lesson's:
a number of the head, of a command or formula of the text, of a layer's result, its
parameters or its FLOPs, a product of those, or of the data that ship; SAID has the others.
A number with three digits or more, one of them behind the point, is one that a step of the
lesson computes, or a loss of its training.
Labs name theirs below a run (tests/check/lesson_recorded.py), the lessons "Inside a kernel"
those of the simulator (lesson_inside.py).

usage: lesson_counts.py PROGRAM LESSONS_DIR
"""
import bisect
import functools
import glob
import gzip
import json
import math
import re
import subprocess
import sys

exe, root = sys.argv[1:3]
OTHER = "another network's or the course's, beside which this one is put"
FUNCTION = "of the function, at a place where the lesson has no number"
FOLLOWS = "follows from the sentence itself"
SAID = [
    ("softmax-regression", "images of 28 by 28", OTHER),
    ("mlp-digits", "digits of 28 by 28", OTHER),
    ("mlp-digits", '"10 by 15"', OTHER),
    ("mlp-digits", "784 by 16 and 16 by 10", OTHER),
    ("mlp-digits", "20,480 + 3,200 = 23,680 FLOPs", FOLLOWS),
    ("mlp-digits", "100 scores, 3,200 FLOPs", "2 x 10 x 16 x 10"),
    ("mlp-digits", "this time, of 3,200 FLOPs each", "2 x 10 x 16 x 10"),
    ("early-stop", "89 rows for 270", "lesson_numbers.py has both"),
    ("optimizer-adam", "28 bytes, against 12", FOLLOWS),
    ("optimizer-adamw", "4096 units", OTHER),
    ("cnn-example", "27 products each: 972 FLOPs", FOLLOWS),
    ("edge-kernels", "for 11 places it lay", "36 - 25"),
    ("mlp-mnist", "3,200 FLOPs, exactly as before", "2 x 10 x 16 x 10"),
    ("mlp-mnist", "Two products of 3,200 FLOPs", "2 x 10 x 16 x 10"),
    ("mlp-mnist", "82,176 bytes for 250,880 FLOPs", FOLLOWS),
    ("cnn-codelab", "images of 28 by 28", OTHER),
    ("cnn-codelab", "864 numbers under each", "3 x 3 x 96"),
    ("cnn-mnist", "432 products for each", "6 x 6 x 12"),
    ("lenet", "150 products for each", "5 x 5 x 6"),
    ("inference", "43 layers become 27", "lesson_numbers.py has both"),
    ("activations", "dips deeper, to -0.278 near", FUNCTION),
    ("gelu", "at most 1.1289 at", FUNCTION), ("gelu", "would be 17.0433", FUNCTION),
    ("swish", "is -0.278, near", FUNCTION), ("swish", "at most 1.0998 near", FUNCTION),
    ("sigmoid-gradient", "| -2 | 0.104994 | 0.104994 | 0.104994 | | 2 | 0.104994 | 0.104994 "
     "| 0.104994 |", FUNCTION),
    ("lstm-text", "the network writes 200 characters", "as --sample does by itself"),
    ("embedding-product", "the 20 numbers of `x`", FOLLOWS),
    ("embedding-product", "5 by 4 by 3 products", FOLLOWS),
    ("embedding-gather", "With 50,000 words", OTHER),
    ("word2vec-cbow", "300 numbers, from", OTHER),
    ("word2vec-cbow", "vocabulary of 50,000 words", OTHER),
    ("word2vec-cbow", "57 iterations of 64 samples", "lesson_numbers.py has it"),
    ("word2vec-cbow", "out of 117 words", "lesson_numbers.py compares the loss to its log"),
    ("scaled-dot-product", "a text of 4,096 characters it is 16.8 million", FOLLOWS),
    ("gpt", "carries 192 numbers of memory", "the hidden units of lstm-text"),
    ("gpt", "60 of 100 characters", "a training of minutes"),
    ("model-sizes", "30,000 to 50,000 rows", OTHER),
]
WHOLE = r"(?<![\w.,/-])(?:\d{1,3}(?:,\d{3})+|\d+)"
UNITS = ("channels|images|pictures|samples|weights|biases|parameters|classes|units|rows|"
         "columns|words|characters|numbers|cells|points|values|scores|kernels|filters|steps|"
         "iterations|epochs|heads|lanes|threads|warps|blocks|places|layers|elements|windows|"
         "sentences|tokens|queries|keys|digits|terms|products|sums|FLOPs?|bytes")
COUNT = re.compile(rf"{WHOLE}(?= (?:{UNITS})\b| (?:by|x) \d)|"
                   r"(?:(?<=\d by )|(?<=\d x ))\d+(?![,.]?\d)")
FORMULA = r"`[^`]*`|\$[^$]*\$"

# Decimals that lesson_numbers.py makes from the run.
CLAIMED = {
    "optimizer-sgd": r"\| \w+ \| 13 (?:\| [\d.]+ )+",
    "softmax-overflow": r"[\d.]+ with every other variant",
    "training-loop": r"`loss\.probs\[0,6\]` is [\d.]+",
    "cnn-example": r"share [\d.]+ of the probability|hold [\d.]+ together",
}


def integers(text):
    return {int(n) for n in re.findall(r"\d+", re.sub(r"(?<=\d),(?=\d{3})", "", text))}


def value(formula):
    """A formula of numbers alone: "$64 \\cdot 16 + 16$"; None where it has more."""
    plain = formula.replace("\\cdot", "*").replace(",", "").strip("$ =")
    return eval(plain, {"__builtins__": {}}) \
        if re.fullmatch(r"[-+*() ]*\d[-+*()\d ]*", plain) else None


def data_counts():
    """What the data that ship have: rows of digits, characters of the texts."""
    with gzip.open(f"{root}/data/digits.csv.gz", "rt") as f:
        yield sum(line[:1].isdigit() for line in f)
    for path in glob.glob(f"{root}/data/*.txt"):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        yield len(text)
        yield len(set(text))
        yield len(text) * 9 // 10  # a tenth is held back


def check(path, head, text):
    lesson = path.rsplit("/", 1)[-1].split("-", 1)[1][:-3]
    layers = subprocess.run([exe, "lab", "layers", lesson, "--json"], capture_output=True,
                            text=True, check=True, timeout=60).stdout
    given = integers(re.sub(r"^(order|minutes):.*", "", head, flags=re.M) + layers)
    sides = {n for n in given if 1 < n < 10000}
    pairs = {a * b for a in sides for b in sides}
    known = given | pairs | {k * n for n in pairs for k in (2, 4)} | data | integers(" ".join(
        re.findall(rf"^    .*$|{FORMULA}", text, re.M)))
    known |= {value(f) for f in re.findall(FORMULA, text)}
    text = re.sub(r"^    .*$", "", text.split("## Try next")[0], flags=re.M)
    text = re.sub(r"\s+", " ", text)
    for words in [w for of, w, _ in SAID if of == lesson]:
        if words not in text:
            yield f"SAID has words that are not there: {words}"
        text = text.replace(words, re.sub(r"\d", "_", words))
    plain = re.sub(FORMULA, lambda c: "_" * len(c[0]), text)
    for m in COUNT.finditer(plain):
        before = re.search(r"(\$[^$]*\$) = $", text[:m.start()])
        n = int(m[0].replace(",", ""))
        if n not in known and not (before and value(before[1]) == n):
            yield f"{m[0]}: {text[max(0, m.start() - 30):m.end() + 20]}"


def leaves(x):
    return sum(map(leaves, x), []) if isinstance(x, list) else [x]


@functools.lru_cache(maxsize=None)
def computed(lesson):
    return [abs(v) for v in results(lesson) if isinstance(v, (int, float))]


def results(lesson):
    """All numbers of a lesson's first two iterations, of an optimizer's lesson also of later
    ones, and the losses of its training."""
    far = [2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 61] if "optimizer" in lesson else [2]
    if "adam" in lesson:
        far += [200, 1000]
    for n in (1, *far):
        done = subprocess.run([exe, "step", lesson, "--backend", "cpu", "--trace", "off",
                               "--json", "--iterations", str(n)], capture_output=True,
                              text=True, check=True, timeout=60)
        for row in map(json.loads, done.stdout.splitlines()):
            for tensor in row.get("outputs", []):
                yield from leaves(tensor["data"])
    done = subprocess.run([exe, "run", lesson, "--backend", "cpu", "--no-tune", "--trace",
                           "off", "--db", "counts.db", "--json"], capture_output=True,
                          text=True, check=True, timeout=120)
    for row in map(json.loads, done.stdout.splitlines()):
        if row["type"] == "iteration":
            yield row["loss"]


def decimals(path, head, text):
    """Numbers of a text that its steps do not have; formulas are lesson_arithmetic.py's,
    what is beside the course is in course_figures.csv."""
    lesson = path.rsplit("/", 1)[-1].split("-", 1)[1][:-3]
    text = re.split(r"^\*\*Beside the", text.split("## Try next")[0], flags=re.M)[0]
    text = re.sub(r"\$[^$]*\$", " ", re.sub(r"\s+", " ", text))
    for words in [w for of, w, _ in SAID if of == lesson]:
        text = text.replace(words, re.sub(r"\d", "_", words))
    text = re.sub(CLAIMED.get(lesson, "(?!)"), " ", text)
    before = re.search(r"^prerequisites: \[(.*)\]", head, re.M)
    values = sorted([*computed(lesson), *(v for other in before[1].split(", ")
                                          if other in COMPUTED for v in computed(other)),
                     *(float(n) for n in re.findall(r"\d+\.\d+", head))])
    for m in re.finditer(r"(?<![\w.,/])(\d+)\.(\d+)(?!\w|\.\d|e-)", text):
        half = .5 * 10.0 ** -len(m[2])
        if len((m[1] + m[2]).lstrip("0")) < 3:
            continue
        at = bisect.bisect_left(values, float(m[0]) - 1.00001 * half)
        if at == len(values) or values[at] > float(m[0]) + 1.00001 * half:
            yield f"{m[0]} is of no step: {text[max(0, m.start() - 30):m.end() + 20]}"


# The small ones, whose texts print what they compute.
COMPUTED = [
    "activations", "leaky-relu", "tanh", "softplus", "gelu", "swish", "sigmoid-gradient",
    "softmax-overflow", "training-loop", "optimizer-sgd", "optimizer-momentum",
    "optimizer-nesterov", "optimizer-adam", "optimizer-adamw", "cnn-example", "edge-kernels",
    "cnn-example-rows", "lstm-example", "lstm-example-label", "bahdanau-attention",
    "scaled-dot-product", "general-attention", "softmax-saturation", "self-attention",
    "embedding-product", "transformer-block"]


def counting():
    """What a table of three characters achieves, by a run of one iteration, and what
    characters that are all equally likely need."""
    done = subprocess.run([exe, "run", "lstm-text", "--backend", "cpu", "--no-tune",
                           "--trace", "off", "--db", "counts.db", "--iterations", "1",
                           "--json"], capture_output=True, text=True, check=True,
                          timeout=300)
    bits = json.loads(done.stdout.splitlines()[-1])["bits_per_char_order3"]
    with open(f"{root}/data/course.txt", encoding="utf-8") as f:
        kinds = len(set(f.read()))
    for lesson in ("lstm-text", "gpt"):
        path, = glob.glob(f"{root}/*-{lesson}.md")
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"\s+", " ", f.read())
        told = re.findall(r"counting takes (\d+\.\d+)|held-back text: (\d+\.\d+) bits", text)
        if {a or b for a, b in told} != {f"{bits:.2f}"}:
            yield f"{path}: counting takes {bits:.2f} bits, not {told}"
        if lesson == "lstm-text" and \
                f"\\log_2 {kinds} = {math.log2(kinds):.2f}$ bits" not in text:
            yield f"{path}: {kinds} characters need {math.log2(kinds):.2f} bits"


def trainings():
    """What trainings of minutes ended with is in docs/measurements.md, by machine and seed,
    with the command: a lesson's figures are those of its first machine."""
    with open(f"{root}/../docs/measurements.md", encoding="utf-8") as f:
        table = f.read()

    def measured(what):
        row, = re.findall(rf"^\| {what} \| A \|(.*)\|$", table, re.M)
        return [float(cell.strip(" %")) for cell in row.split("|")]
    order3, = re.findall(r"needs ([\d.]+) bits a character", table)
    exact = min(measured("seq2seq-attention, held-back strings exact"))
    for lesson, what, told in (
            ("lstm-text", "lstm-text, bits a character", "{0} bits a character with seeds 1 and "
             "2, {2} with seed 3; counting takes {3}. That is {4} to {5} percent less"),
            ("gpt", "gpt", "{0} bits a character with seed 1, {1} with seeds 2 "
             "and 3; counting takes {3}. That is {4} percent less"),
            ("seq2seq-attention", None, "more than 95 of 100 held-back strings")):
        path, = glob.glob(f"{root}/*[0-9]-{lesson}.md")
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"\s+", " ", f.read())
        if what:
            bits = measured(what)
            less = sorted(f"{100 - 100 * b / float(order3):.0f}" for b in bits)
            told = told.format(*(f"{b:.2f}" for b in bits), f"{float(order3):.2f}", less[0],
                               less[-1])
            right, = re.findall(rf"{lesson} ([\d.]+) % of the characters", table)
            if f"{float(right):.0f} of 100 characters are right" not in text:
                yield f"{path}: measured: {right} % of the characters are right"
            same = bits[:2] if lesson == "lstm-text" else bits[1:]
            if len({f"{b:.2f}" for b in same}) > 1:
                yield f"{path}: {same} are not one figure"
        elif exact <= int(re.search(r"\d+", told)[0]):
            yield f"{path}: {exact} of 100 strings at least"
        if told not in text:
            yield f"{path}: measured: {told}"


data = set(data_counts())
wrong = 0
for name in sorted(glob.glob(f"{root}/[0-9]*.md")):
    with open(name, encoding="utf-8") as f:
        _, front, body = f.read().split("---\n", 2)
    if "kind: lab" in front or re.match(r"26\d-", name.rsplit("/", 1)[-1]):
        continue
    own = re.sub(r".*/\d+-|\.md", "", name) in COMPUTED
    for what in [*check(name, front, body), *(decimals(name, front, body) if own else [])]:
        print(f"{name}: {what}")
        wrong = 1
for what in [*counting(), *trainings()]:
    print(what)
    wrong = 1
sys.exit(wrong)
