"""Counts that a text names with their unit ("16 units", "images of 8 by 8") are its lesson's:
parameters, FLOPs and bytes are those of its steps, layers and parameters, any other is a
side of a tensor or a product of sides beside each other, a key of the head, a number of a
command or formula of the text, or of the data that ship; EXPLAINED has the others.
A number with three digits or more, one of them behind the point, is one that a step of the
lesson computes, or a loss of its training.
Labs name theirs below a run (tests/check/lesson_recorded.py), the lessons "Inside a kernel"
those of the simulator (lesson_inside.py).

usage: lesson_counts.py PROGRAM LESSONS_DIR
"""
import bisect
import collections
import functools
import glob
import gzip
import json
import math
import re
import subprocess
import sys

from lesson_step import first_iteration

exe, root = sys.argv[1:3]
OTHER = "another network's or the course's, beside which this one is put"
FOLLOWS = "follows from the sentence itself"
EXPLAINED = [
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
    ("cnn-digits", "6 by 6 cells of the image", "of the ten by ten, four are padding"),
    ("edge-kernels", "for 11 places it lay", "36 - 25"),
    ("mlp-mnist", "3,200 FLOPs, exactly as before", "2 x 10 x 16 x 10"),
    ("mlp-mnist", "Two products of 3,200 FLOPs", "2 x 10 x 16 x 10"),
    ("mlp-mnist", "82,176 bytes for 250,880 FLOPs", FOLLOWS),
    ("cnn-codelab", "images of 28 by 28", OTHER),
    ("cnn-codelab", "864 numbers under each", "3 x 3 x 96"),
    ("cnn-mnist", "432 products for each", "6 x 6 x 12"),
    ("lenet", "150 products for each", "5 x 5 x 6"),
    ("inference", "43 layers become 27", "lesson_numbers.py has both"),
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
    ("gpt", "60 of 100 characters", "trainings() compares it"),
    ("lstm-text", "61 of 100 characters", "trainings() compares it"),
    ("lstm-text", "After 100 iterations it knows", "a training of minutes"),
    ("rnn-fibonacci", "24,000 iterations", "lesson_numbers.py has it"),
    ("one-hot", "18 of the 48 numbers", "lesson_numbers.py has both"),
    ("embedding-product", "15 of the 60 products", "lesson_numbers.py has both"),
    ("mlp-mnist", "of 8 by 8, made 20 by 20", "lesson_numbers.py has both"),
    ("model-sizes", "costs about 6 FLOPs", "two forward, four backward"),
    ("optimizer-momentum", "20 bytes instead of 12", "lesson_numbers.py has both"),
    ("optimizer-nesterov", "the same 20 bytes per weight", "lesson_numbers.py has it"),
    ("optimizer-adam", "take 16 bytes for each", "4 numbers of 4 bytes, by the sentence"),
    ("optimizer-schedules", "half of it after 30", "lesson_numbers.py has it"),
    ("optimizer-schedules", "After 30 iterations the rate", "lesson_numbers.py has it"),
    ("cnn-example", "dense layer of 8 by 10", OTHER),
    ("inference", "Of 12 layers 6 are left", "lesson_numbers.py has both"),
    ("model-sizes", "30,000 to 50,000 rows", OTHER),
]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def swish(x):
    return x * sigmoid(x)


def gelu(x):
    return x / 2 * (1 + math.erf(x / math.sqrt(2)))


CUBE = 0.044715  # of the approximation's definition; the sum and the differences need it


def gelu_by_tanh(x):
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + CUBE * x**3)))


def softplus(x):
    return math.log(1 + math.exp(x))


NEAR_GELU = 1.702  # a constant that is given; its difference needs it


def smallest(x):
    """As fp32 holds so small a number: by the step of all that are below 2^-126."""
    return round(x / 2**-149) * 2**-149


def slope(f):
    return lambda x: (f(x + 1e-5) - f(x - 1e-5)) / 2e-5


GRID = [i / 1000 for i in range(-4000, 4001)]


def lowest(f):
    """Where a function is least, and its value there."""
    at = min(GRID, key=f)
    return at, f(at)


def highest(f):
    return max(map(f, GRID))


def inputs(lesson):
    return [float(n) for n in re.findall(r"-?[\d.]+", re.search(
        r" x: \[(.*?)\] ", text_of(lesson))[1])]


def positive(lesson):
    return [x for x in inputs(lesson) if x > 0]


def leak():
    return float(re.search(r"slope: ([\d.]+)", text_of("leaky-relu"))[1])


def slide_loss():
    p, truth = [0, .1, 0, .3, .1, .1, 0, 0, .4, 0], 6
    return sum((v - (i == truth)) ** 2 for i, v in enumerate(p)) / 2


def printed_difference():
    """The largest difference of the worked example's numbers that are not rounded right."""
    done = subprocess.run([exe, "--plain", "lstm-example", "--backend", "cpu", "--trace",
                           "off"], input="s\n" * 60, capture_output=True, text=True,
                          check=True, timeout=120).stdout
    return max(abs(float(d)) for p, d in re.findall(
        r"printed (\S+), difference ([-+]\d[^\s,]*)", done)
        if abs(float(d)) > .5 * 10.0 ** -len(p.partition(".")[2]))


# What a text has of a function where its lesson has no number: words, and the numbers.
FUNCTIONS = [
    ("activations", "layer by layer: ${:.2f}^{{10}}$", lambda: [highest(slope(sigmoid))]),
    ("activations", "between 0 and 1, {:g} at $x = 0$", lambda: [sigmoid(0)]),
    ("activations", "at most {:.2f}, in the middle, and {:.3f} at both ends", lambda: [
        highest(slope(sigmoid)), slope(sigmoid)(4)]),
    ("activations", "Its slope is {:.0f} in the middle and {:.4f} at the ends", lambda: [
        slope(math.tanh)(0), slope(math.tanh)(-4)]),
    ("activations", "$\\log 2 = {:.3f}$ above the ReLU, at $x = 4$ only {:.3f}", lambda: [
        softplus(0), softplus(4) - 4]),
    ("activations", "differ by less than {:.4f} everywhere", lambda: [math.ceil(1e4 * highest(
        lambda x: abs(gelu(x) - gelu_by_tanh(x)))) / 1e4]),
    ("activations", "dips deeper, to {1:.3f} near $x = {0:.2f}$", lambda: lowest(swish)),
    ("activations", "{:g} + {:g} + {:g} and so on up to {:g} gives {:g}", lambda: [
        *positive("activations")[:3], positive("activations")[-1],
        sum(positive("activations"))]),
    ("activations", "reads {0} bytes and writes {0},", lambda: [
        4 * len(inputs("activations"))]),
    ("leaky-relu", "At $x = {:g}$ it is {:g}", lambda: [
        inputs("leaky-relu")[0], leak() * inputs("leaky-relu")[0]]),
    ("leaky-relu", "It is {:g} nine times (at $x = 0$ the slope of the left side is used) and "
     "1 eight times", lambda: [leak()]),
    ("leaky-relu", "The sum is $18 - {0:g} \\cdot 18", lambda: [leak()]),
    ("tanh", "for $x = 1$, element {}, take the sigmoid of 2, element {}: $2 \\cdot {:.4f} - 1 "
     "= {:.4f}$", lambda: [inputs("tanh").index(1), inputs("tanh").index(2), sigmoid(2),
                           math.tanh(1)]),
    ("tanh", "{:.4f} at $x = 0.5$, {:.4f} at 1, {:.4f} at 2, {:.4f} at 4: after 2", lambda: map(
        math.tanh, (.5, 1, 2, 4))),
    ("tanh", "slope is {:.0f} in the middle, {:.2f} at $x = 1$, {:.4f} at 2, and {:.4f} at the "
     "end of our range. A unit that is driven so far learns about {:.0f} times", lambda: [
         *map(slope(math.tanh), (0, 1, 2, 4)), round(1 / slope(math.tanh)(4), -1)]),
    ("tanh", "Compute ${:.2f}^{{10}}$", lambda: [slope(math.tanh)(1)]),
    ("softplus", "{:.4f} at $x = -4$, {:.1f} at 0, {:.4f} at 4.", lambda: map(
        sigmoid, (-4, 0, 4))),
    ("softplus", "{:.4f} at $x = -4$, {:.4f} at 0, {:.4f} at 4. Written", lambda: map(
        softplus, (-4, 0, 4))),
    ("softplus", "single precision beyond $x = {:.0f}$", lambda: [
        math.floor(math.log(MOST))]),
    ("softplus", "${:.1f} \\cdot 10^{{-44}}$ for ${:.2f} \\cdot 10^{{-44}}$", lambda: [
        smallest(math.exp(-100)) * 1e44, math.exp(-100) * 1e44]),
    ("swish", "function is {1:.3f}, near $x = {0:.2f}$", lambda: lowest(swish)),
    ("swish", "The slope is {:g} at $x = 0$, at most {:.4f} near $x = {:.1f}$", lambda: [
        slope(swish)(0), highest(slope(swish)), max(GRID, key=slope(swish))]),
    ("swish", "alone: {:.3f} at $x = -4$, half open at 0, {:.3f} at 4", lambda: map(
        sigmoid, (-4, 4))),
    ("swish", "at $x = -4$ it lets {:.4f} through, swish {:.4f}", lambda: [
        gelu(-4), swish(-4)]),
    ("swish", "far left, {:.4f} at $x = -4$", lambda: [slope(swish)(-4)]),
    ("swish", "\\sigma({0} x)$ differs from it by at most {1:.3f}", lambda: [
        NEAR_GELU, math.ceil(1e3 * highest(
            lambda x: abs(gelu(x) - x * sigmoid(NEAR_GELU * x)))) / 1e3]),
    ("gelu", "at $x = -2.5$ the two differ by {:.5f}, at $x = {:.0f}$ not at all", lambda: [
        abs(gelu(-2.5) - gelu_by_tanh(-2.5)), abs(gelu(0) - gelu_by_tanh(0))]),
    ("gelu", "never by more than {:.5f}", lambda: [math.ceil(1e5 * highest(
        lambda x: abs(gelu(x) - gelu_by_tanh(x)))) / 1e5]),
    ("gelu", "With the approximation it would be {:.4f}", lambda: [
        sum(map(gelu_by_tanh, inputs("gelu")))]),
    ("gelu", "from the exact one by up to {:.5f}", lambda: [highest(
        lambda x: abs(slope(gelu)(x) - slope(gelu_by_tanh)(x)))]),
    ("gelu", "(x + {:f} x^3)", lambda: [CUBE]), ("activations", "(x + {:f} x^3)",
                                                 lambda: [CUBE]),
    ("gelu", "The slope is {:g} at $x = 0$ and *larger than 1* from about {:.2f} on: {:.4f} at "
     "$x = 1$", lambda: [slope(gelu)(0), round(4 * next(
         x for x in GRID if slope(gelu)(x) > 1)) / 4, slope(gelu)(1)]),
    ("gelu", "at most {:.4f} at $x = \\sqrt{{2}}$", lambda: [slope(gelu)(math.sqrt(2))]),
    ("gelu", "negative below $x = {0:.2f}$, where the function has its lowest point, {1:.2f}",
     lambda: lowest(gelu)),
    ("training-loop", "- t[j])^2 = {:.2f}$", lambda: [slide_loss()]),
    ("training-loop", "$e^{{{:.1f}}}$ does not fit", lambda: [-120 - math.log(4)]),
    ("softmax-overflow", "is ${:.1f} \\cdot 10^{{38}}$, and $e^{{{:.2f}}}$ is above", lambda: [
        MOST / 1e38, math.ceil(100 * math.log(MOST)) / 100]),
    ("softmax-overflow", "$e^{{88}}$ is ${:.1f} \\cdot 10^{{38}}$", lambda: [
        math.exp(88) / 1e38]),
    ("sigmoid-gradient", "| -2 | {0:.6f} | {0:.6f} | {0:.6f} | | 2 | {0:.6f} | {0:.6f} | "
     "{0:.6f} |", lambda: [sigmoid(2) * sigmoid(-2)]),
    ("sigmoid-gradient", "$e^{{50}} = {:.1f} \\cdot 10^{{21}}$ can be held, but its square, "
     "${:.1f} \\cdot 10^{{43}}$", lambda: [math.exp(50) / 1e21, math.exp(100) / 1e43]),
    ("sigmoid-gradient", "$1 - {:.1f} \\cdot 10^{{-22}}$", lambda: [math.exp(-50) * 1e22]),
    ("sigmoid-gradient", "${:.1f} \\cdot 10^{{-44}}$ at the top", lambda: [
        smallest(math.exp(-100)) * 1e44]),
    ("lstm-example", "the largest by {:.6f}. The tolerance shown here is {:.6f}",
     lambda: [printed_difference(), float(re.search(r"tolerance: (\S+?),", text_of(
         "lstm-example"))[1])]),
    ("lstm-example", "the largest of the differences, {:.6f}", lambda: [printed_difference()]),
]
MOST = (2 - 2**-23) * 2.0**127  # of fp32


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


def network(lesson, head):
    """What a count may be, by the kind of its unit: of a tensor the sides, and the
    products of sides that are beside each other."""
    batch, count, tensors, steps = first_iteration(exe, lesson)
    layers = [json.loads(line) for line in subprocess.run(
        [exe, "lab", "layers", lesson, "--json"], capture_output=True, text=True, check=True,
        timeout=60).stdout.splitlines()]
    keys = integers(" ".join(re.findall(
        r"^(?:data|network|run|parameters|optimizer|text|  ).*", head, re.M)))
    sizes = set(keys)
    parameters = {count} | {r["parameters"] for r in layers}
    work = {r["flop"] for r in steps} | {r["flop"] for r in layers}
    for phase in ("forward", "backward"):
        work.add(sum(r["flop"] for r in steps if r["phase"] == phase))
    moved = {r["bytes"] for r in steps}
    for name, shape in tensors:
        within = {math.prod(shape[a:b]) for a in range(len(shape))
                  for b in range(a + 1, len(shape) + 1)}
        sizes |= within
        moved.add(4 * math.prod(shape))
        if re.search(r"\.(?:[WUb]\w*|gamma|beta)$", name):
            parameters |= within
    sizes |= {math.isqrt(n) for n in sizes if n > 0 and math.isqrt(n)**2 == n}  # an image
    work |= {w / batch for w in work} | {w / 2 for w in work}
    return {"parameters": parameters, "weights": parameters, "biases": parameters,
            "FLOP": work, "FLOPs": work, "bytes": moved}, sizes | data


def check(path, head, text):
    lesson = path.rsplit("/", 1)[-1].split("-", 1)[1][:-3]
    by_unit, sizes = network(lesson, head)
    written = integers(" ".join(re.findall(rf"^    .*$|{FORMULA}", text, re.M)))
    written |= {value(f) for f in re.findall(FORMULA, text)}
    text = re.sub(r"^    .*$", "", text.split("## Try next")[0], flags=re.M)
    text = re.sub(r"\s+", " ", text)
    for words in [w for of, w, _ in EXPLAINED if of == lesson]:
        if words not in text:
            yield f"EXPLAINED has words that are not there: {words}"
        text = text.replace(words, re.sub(r"\d", "_", words))
    plain = re.sub(FORMULA, lambda c: "_" * len(c[0]), text)
    for m in COUNT.finditer(plain):
        before = re.search(r"(\$[^$]*\$) = $", text[:m.start()])
        n = int(m[0].replace(",", ""))
        unit = re.match(r" (\w+)", text[m.end():])
        known = by_unit.get(unit[1] if unit else "", sizes)
        if n not in known | written and not (before and value(before[1]) == n):
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
    whole = re.sub(r"\s+", " ", text)
    text = re.split(r"^\*\*Beside the", text.split("## Try next")[0], flags=re.M)[0]
    text = re.sub(r"\s+", " ", text)
    for words in [w for of, w, _ in EXPLAINED if of == lesson]:
        text = text.replace(words, re.sub(r"\d", "_", words))
    for words, numbers in [(w, n) for of, w, n in FUNCTIONS if of == lesson]:
        words = words.format(*numbers())
        if words not in whole:
            yield f"the function has: {words}"
        text = text.replace(words, re.sub(r"\d", "_", words))
    text = re.sub(CLAIMED.get(lesson, "(?!)"), " ", text)
    before = re.search(r"^prerequisites: \[(.*)\]", head, re.M)
    values = sorted([*computed(lesson), *(v for other in before[1].split(", ")
                                          if other in COMPUTED for v in computed(other)),
                     *(float(n) for n in re.findall(r"\d+\.\d+", head))])
    for m in re.finditer(r"(?<![\w.,/])(\d+)\.(\d+)(?!\w|\.\d|e-)", text):
        half = .5 * 10.0 ** -len(m[2])
        if len((m[1] + m[2]).lstrip("0")) < 2:
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
    characters that are all equally likely need; how often a training reads the text."""
    with open(f"{root}/data/course.txt", encoding="utf-8") as f:
        count = collections.Counter(f.read())
    kinds = len(count)
    whole = sum(count.values())
    often = -sum(n / whole * math.log(n / whole) for n in count.values())
    for lesson in ("lstm-text", "gpt"):
        path, = glob.glob(f"{root}/*-{lesson}.md")
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"\s+", " ", f.read())
        done = subprocess.run([exe, "run", lesson, "--backend", "cpu", "--no-tune",
                               "--trace", "off", "--db", "counts.db", "--iterations", "1",
                               "--json"], capture_output=True, text=True, check=True,
                              timeout=300)
        s = json.loads(done.stdout.splitlines()[-1])
        bits = s["bits_per_char_order3"]
        n = int(re.search(r"iterations: (\d+)", text)[1])
        whole_text = f"{n:,} iterations are {n / s['iterations_per_epoch']:.0f} times over the text"
        if whole_text not in text:
            yield f"{path}: {whole_text}"
        if lesson == "gpt" and f"mean: {s['loss_first']:.2f} at the start" not in text:
            yield f"{path}: the first loss is {s['loss_first']}"
        stated = re.findall(r"(?:counting takes|held-back text:|each three characters:) "
                            r"(\d+\.\d+)", text)
        if set(stated) != {f"{bits:.2f}"}:
            yield f"{path}: counting takes {bits:.2f} bits, not {stated}"
        if lesson == "lstm-text" and \
                f"\\log_2 {kinds} = {math.log2(kinds):.2f}$ bits" not in text:
            yield f"{path}: {kinds} characters need {math.log2(kinds):.2f} bits"
        first = math.log(int(re.search(r"vocab: (\d+)", text)[1]))
        if lesson == "lstm-text" and f"= {first:.2f}$ to about {often:.1f}," not in text:
            yield f"{path}: from {first:.2f} to {often:.3f} by how often each is"


def text_of(lesson):
    path, = glob.glob(f"{root}/*[0-9]-{lesson}.md")
    with open(path, encoding="utf-8") as f:
        return re.sub(r"\s+", " ", f.read())


def above(percent):
    """Another machine may have a string more or less: the next of 5, 10, 15 ... below."""
    return f"more than {5 * math.floor(percent / 5)} of 100"


def below(percent):
    return f"fewer than {5 * math.ceil(percent / 5)} of 100"


def trainings():
    """What trainings of minutes ended with is in docs/measurements.md, by machine and seed,
    with the command: a lesson's figures are those of its first machine."""
    with open(f"{root}/../docs/measurements.md", encoding="utf-8") as f:
        table = f.read()

    def measured(what, machine="A"):
        row, = re.findall(rf"^\| {what} \| {machine} \|(.*)\|$", table, re.M)
        return [float(cell.strip(" %")) for cell in row.split("|")]
    prose = re.sub(r"\s+", " ", table)
    order3, = re.findall(r"needs ([\d.]+) bits a character", prose)
    free, = re.findall(r"gpt with `causal: false` ([\d.]+) % of the characters and ([\d.]+) "
                       r"bits", prose)
    for lesson, what, claim in (
            ("lstm-text", "lstm-text, bits a character", "{0} bits a character with seeds 1 and "
             "2, {2} with seed 3; counting takes {3}. That is {4} to {5} percent less"),
            ("gpt", "gpt", "{0} bits a character with seed 1, {1} with seeds 2 "
             "and 3; counting takes {3}. That is {4} percent less")):
        text = text_of(lesson)
        bits = measured(what)
        less = sorted(f"{100 - 100 * b / float(order3):.0f}" for b in bits)
        claim = claim.format(*(f"{b:.2f}" for b in bits), f"{float(order3):.2f}", less[0],
                             less[-1])
        right, = re.findall(rf"{lesson} ([\d.]+) % of the characters", prose)
        same = bits[:2] if lesson == "lstm-text" else bits[1:]
        if len({f"{b:.2f}" for b in same}) > 1:
            yield f"{lesson}: {same} are not one figure"
        epoch, = re.findall(rf"{lesson} in epoch (\d+)", prose)
        claims = [claim, f"{float(right):.0f} of 100 characters are right",
                  f"passes the table in epoch {epoch}"]
        if lesson == "gpt":
            claims.append(f"{float(free[1]):.2f} bits a character, on held-back text too, and "
                          f"{float(free[0]):.0f} of 100 characters right")
        for phrase in claims:
            if phrase not in text:
                yield f"{lesson}: measured: {phrase}"
    plain, = re.findall(r"\| mlp-digits \|.* ([\d.]+) \| Each of", text_of("mlp-digits"))
    for lesson, claim in (
            ("cnn-digits", "comes to {0:g} to {1:g} percent with seeds 1 to 5; on average about "
             "{2:.0f} percent above"),
            ("residual", "{0:g} to {1:g} percent of the held-back images after 40 epochs, with "
             "seeds 1 to 5")):
        right = measured(f"{lesson}, held-back digits right", "Xeon")
        claim = claim.format(round(min(right), 1), round(max(right), 1),
                             sum(right) / len(right) - float(plain))
        if claim not in text_of(lesson):
            yield f"{lesson}: measured: {claim}"
    one = re.search(r"seq2seq ([\d.]+) %; with `length: 4` and `epochs: (\d+)` in a copy "
                    r"([\d.]+) %, with `length: 8` ([\d.]+) %, with `length: 16` ([\d.]+) %",
                    prose).groups()
    plain = [*measured("seq2seq, without attention"), float(one[0])]
    for lesson, phrase in (
            ("seq2seq-attention",
             f"{above(min(measured('seq2seq-attention, held-back strings exact')))} held-back"),
            ("seq2seq", f"{below(max(plain))} held-back strings come out without"),
            ("seq2seq", f"Set `length: 4` and `epochs: {one[1]}`: {float(one[2]):.0f} of 100 "
             f"strings are right. At 8 {above(float(one[3]))} are after 15 epochs, at 16 "
             f"{below(float(one[4]))}:")):
        if phrase not in text_of(lesson):
            yield f"{lesson}: measured: {phrase}"


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
