"""Numbers that the texts of the lessons print are those of the first iteration:
each phrase is made from what the program computes, and has to be in the text.

usage: lesson_numbers.py PROGRAM LESSONS_DIR
"""
import functools
import glob
import itertools
import json
import math
import re
import subprocess
import sys
import traceback

from lesson_step import first_iteration

exe, root = sys.argv[1:3]


class Walk:
    """One iteration of a lesson: tensors by name, of each phase's steps."""

    def __init__(self, lesson, *options):
        name, = [lesson] if lesson.endswith(".md") else \
            glob.glob(f"{root}/*[0-9]-{lesson}.md")
        self.path = name
        with open(name, encoding="utf-8") as f:
            self.text = re.sub(r"\s+", " ", f.read())
        self.options = [lesson, *options]

    @functools.cached_property
    def rows(self):
        done = subprocess.run(
            [exe, "step", *self.options, "--backend", "cpu", "--trace", "off",
             "--json"], capture_output=True, text=True, check=True, timeout=300)
        return [json.loads(line) for line in done.stdout.splitlines()]

    @functools.cached_property
    def parameters(self):
        return self.rows[0]["parameters"]

    @functools.cached_property
    def steps(self):
        return {(r["name"], r["phase"]): r for r in self.rows
                if r["type"] == "step"}

    @functools.cached_property
    def tensors(self):
        return {t["name"]: t for r in self.steps.values() for t in r["outputs"]}

    def flat(self, name):
        def leaves(x):
            return [v for y in x for v in leaves(y)] if isinstance(x, list) \
                else [x]
        return leaves(self.tensors[name]["data"])

    def at(self, name, *index):
        i = 0
        for k, dim in zip(index, self.tensors[name]["shape"]):
            i = i * dim + k
        return self.flat(name)[i]

    def row(self, name, i):
        width = self.tensors[name]["shape"][-1]
        return self.flat(name)[i * width:(i + 1) * width]

    def key(self, name):
        """The numbers of a tensor in the lesson's head, flat."""
        words, = re.findall(rf" {re.escape(name)}: (\[.*?\])(?= [\w.]+:| -)", self.text)
        return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", words)]

    def length(self, name):
        return math.sqrt(sum(v * v for v in self.flat(name)))

    def work(self, name, phase, what):
        return f"{self.steps[name, phase][what]:,.0f}"


@functools.lru_cache(maxsize=None)
def trained(lesson, *options):
    """The losses of all iterations of a training, and its summary."""
    done = subprocess.run(
        [exe, "run", lesson, "--backend", "cpu", "--no-tune", "--trace", "off",
         "--db", "trained.db", "--json", *options],
        capture_output=True, text=True, check=True, timeout=600)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [r["loss"] for r in rows if r["type"] == "iteration"], rows[-1]


def copy(lesson, *changes):
    """A copy of a lesson with words changed, as its text asks for."""
    name, = glob.glob(f"{root}/*[0-9]-{lesson}.md")
    with open(name, encoding="utf-8") as f:
        text = f.read()
    for old, new in changes:
        assert old in text, (lesson, old)
        text = text.replace(old, new)
    path = f"./copy{next(copies)}.md"
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


copies = itertools.count()


def wrong_in(w, words, what):
    """A number of a text that follows from its others is wrong: in the line with these words."""
    with open(w.path, encoding="utf-8") as f:
        line = next(n for n, text in enumerate(f, 1) if words in text)
    complaints.append(f"{w.path}:{line}: {what}")


complaints = []


def count(w, *names):
    """Parameters of layers that are counted together, weights and biases."""
    return sum(math.prod(t["shape"]) for n, t in w.tensors.items()
               if n in [f"{name}.{p}" for name in names for p in "Wb"])


def close(w, before, value, after, part=.02):
    """A number of the text that may be off by the last digits: another order of
    additions is another training."""
    found = re.search(re.escape(before) + r"\s*([\d.]+)" + re.escape(after), w.text)
    if not found or abs(float(found[1]) - value) > part * value:
        return f"{before} {figures(value, 3)}{after}"
    return before


def of_images(part, rows=360):
    """The percentage that so many of the held-back images can give."""
    return f"{100 * round(part * rows / 100) / rows:.1f}"


def percent(w, before, value, after):
    """A part of the held-back images in percent: two of them may go the other way elsewhere,
    but the number is one that so many images can give."""
    found = re.search(re.escape(before) + r" ([\d.]+)" + re.escape(after), w.text)
    if not found or abs(float(found[1]) - 100 * value) > .6 or \
            of_images(float(found[1])) != found[1]:
        return f"{before} {100 * value:.1f}{after}"
    return found[0]


def honest(w, lesson, before, after):
    """Tested by the hands of other writers."""
    s = trained(copy(lesson, ("shuffle: true", "shuffle: false")))[1]
    yield percent(w, before, s["accuracy"], after)
    yield f"the {s['test_rows']} held-back images counts for {100 / s['test_rows']:.2f} percent" \
        if lesson == "mlp-digits" else \
        f"Of {s['test_rows']} images each one counts for {100 / s['test_rows']:.2f} percent"


def figures(v, n):
    """n significant digits, without an exponent"""
    return f"{v:.{max(0, n - 1 - math.floor(math.log10(abs(v))))}f}"


def softmax_regression(w):
    p = w.flat("loss.probs")
    yield f"{w.parameters} numbers"
    yield f"between {min(p):.2f} and {max(p):.2f}, around"
    yield w.work("fc1.matmul", "forward", "flop") + " FLOPs"
    yield w.work("fc1.matmul", "forward", "bytes") + " bytes for the forward"
    table = Walk("mlp-digits")
    for name in ("mlp-digits", "softmax-regression"):
        row = re.search(rf"\| {name} \| ([\d. |]+\d) \|", table.text)[1]
        *seeds, mean = map(float, row.split(" | "))  # of a training: case_lesson_claims.sh
        for n, seed in enumerate(seeds, 1):
            if of_images(seed) != f"{seed:.1f}":
                wrong_in(table, f"| {name} |", f"{seed:.1f} of seed {n}: the nearest of 360 "
                         f"images is {of_images(seed)}")
        if abs(sum(seeds) / len(seeds) - mean) > .06:
            wrong_in(table, f"| {name} |", f"{mean} as the mean: that of its seeds is "
                     f"{sum(seeds) / len(seeds):.1f}")
    yield f"{seeds[0]} percent of the held-back images are named correctly"
    yield f"to 5 it is {min(seeds)} to {max(seeds)}, {mean} on average"
    yield f"results of {math.floor(min(seeds))} to {math.floor(max(seeds))} percent are common"
    yield from honest(w, "softmax-regression", "the accuracy falls to", " percent with the lesson")


def mlp_digits(w):
    p = w.flat("loss.probs")
    yield f"{w.parameters:,} numbers"
    yield f"between {min(p):.2f} and {max(p):.2f};"
    yield w.work("fc1.matmul", "forward", "flop") + " FLOPs"
    yield w.work("fc2.matmul", "forward", "flop") + " FLOPs"
    yield (f"0.9 for the right digit costs {-math.log(.9):.3f}; 0.01 for it costs "
           f"{-math.log(.01):.3f}")
    count = len(w.steps)
    assert count == 18, count
    yield "eighteen steps"
    deep, plain = (trained(name)[0][-1] for name in ("mlp-digits", "softmax-regression"))
    yield close(w, "(with seed 1,", deep, " against", .1)
    yield close(w, f"{deep:.2f} against", plain, " in the last batch", .05)
    yield from honest(w, "mlp-digits", "The accuracy falls to", " percent, and")


def training_loop(w):
    label, = re.search(r" y: \[(\d)\]", w.text).groups()
    truth = " | ".join("1" if str(i) == label else "0" for i in range(10))
    yield f"| truth | {truth} |"
    yield f"the truth is {label}, to which it gave exactly zero"
    yield f"is the label `y` = {label}: a row with a 1 in place {label}."
    row = " | ".join("0" if v < 1e-9 else f"{v:.1f}".lstrip("0")
                     for v in w.flat("loss.probs"))
    yield f"| output | {row} |"
    yield f"largest score: {w.flat('loss')[0]:.4f}"
    losses, _ = trained("training-loop")
    yield f"In the {len(losses)}th iteration the loss is {losses[-1]:.3f}"
    yield f"`loss.probs[0,6]` is {math.exp(-losses[-1]):.3f}"
    small = Walk(copy("training-loop", ("-120", "-80"))).flat("loss.probs")[int(label)]
    yield f"about $10^{{{math.floor(math.log10(small))}}}$ instead of 0"
    squared = Walk(copy(
        "training-loop", ("units: 10}", "units: 10}\n  - {id: softmax1, op: softmax}"),
        ("{op: softmax_cross_entropy}", "{op: mse, reduction: half_sum}"),
        ("y: [6]", "y: [[0, 0, 0, 0, 0, 0, 1, 0, 0, 0]]"), ("loss.probs, fc1", "fc1")))
    yield f"0]]`. The loss is {squared.flat('loss')[0]:.2f}, and the gradient"
    assert squared.flat("fc1.out.grad")[int(label)] == 0


def sigmoid_gradient(w):
    yield f"divided by 8: {w.flat('loss')[0]:.4f}"
    yield f"The sum is {w.flat('fc1.W.grad')[0]:.4f}"
    yield f"= {w.flat('fc1.W')[0]:.4f}$"
    losses, _ = trained("sigmoid-gradient")
    yield close(w, "0.4720 to about", losses[50], ".", .002)
    yield f"it falls quickly, to {losses[-1]:.4f} after {len(losses) - 1} updates"
    fast, slow = re.search(r"negative after (\d+) updates instead of (\d+)\.", w.text).groups()
    for lesson, claimed in ((copy("sigmoid-gradient", ("half_sum_per_sample", "half_sum")), fast),
                            ("sigmoid-gradient", slow)):
        before, after = (Walk(lesson, "--iterations", str(int(claimed) - n)).flat("fc1.W")[0]
                         for n in (1, 0))
        if before < 0 or after >= 0:
            yield f"{lesson}: the weight is {before}, then {after}, and not after {claimed} updates"


def softmax_overflow(w):
    stable = Walk("softmax-overflow", "--variant", "loss=naive")
    def broken(name, want):
        return [i for i, v in enumerate(w.flat(name))
                if v is None or not math.isfinite(float(v))] == want
    assert broken("loss.probs", [8, 9, 10, 11]), w.flat("loss.probs")
    assert broken("loss.sample", [2, 3, 4]), w.flat("loss.sample")
    assert broken("fc1.W.grad", list(range(9))), w.flat("fc1.W.grad")
    yield f"it has {stable.at('loss.probs', 2, 2):.6f}"
    yield f"= {stable.flat('loss.sample')[4]:.0f}$, a number"
    yield f"{stable.flat('loss')[0]:.4f} with every other variant"


def more_ops(w):
    shape = w.tensors["group1.W"]["shape"]
    weights = math.prod(shape)
    yield f"{weights} weights instead of {2 * weights:,}"
    yield f"{w.tensors['join1.out']['shape'][-1]}, side by side"


def early_stop(w):
    done = subprocess.run(
        [exe, "run", "early-stop", "--backend", "cpu", "--no-tune", "--trace",
         "off", "--db", "early.db", "--json"],
        capture_output=True, text=True, check=True)
    s = json.loads(done.stdout.splitlines()[-1])
    n = s["iterations_per_epoch"]
    assert s["stopped_early"] and s["test_accuracy"] > 0.9, s
    assert s["iterations"] - s["best_iteration"] - 1 == 10 * n, s
    yield (f"{s['train_rows']} rows train, {s['validation_rows']} are for "
           f"validation, {s['test_rows']:,} for the test")
    yield f"${s['train_rows']} / {s['batch']} = {n}$ iterations"


def inference(w):
    done = subprocess.run([exe, "lab", "layers", "inference", "--json"],
                          capture_output=True, text=True, check=True)
    last = json.loads(done.stdout.splitlines()[-1])
    yield f"Of {last['layers']} layers {last['left']} are left"
    done = subprocess.run([exe, "table", "fusion", "--json", "--db", "t.db"],
                          capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    a, b, c = ((r["before"], r["after"]) for r in rows)
    for row in rows:  # a note of the table has our own count beside the talk's
        note = re.search(r"(?:with them it is|is more than) (\d+)", row["slip"] or "")
        if note:
            done = subprocess.run([exe, "lab", "layers", row["model"], "--json"],
                                  capture_output=True, text=True, check=True)
            left = json.loads(done.stdout.splitlines()[-1])["left"]
            assert left == int(note[1]), (row["network"], left)
    yield (f"{a[0]:.0f} layers become {a[1]:.0f}, {b[0]:.0f} become {b[1]:.0f}, "
           f"{c[0]:.0f} become {c[1]:.0f}")


def activation(name, digits):
    def claims(w):
        yield f"{w.flat('loss')[0]:.{digits}f}"
    return name, claims


PER_WEIGHT = {
    "optimizer-sgd": "writes the weight: {:.0f} bytes for",
    "optimizer-momentum": "writes two: {:.0f} bytes instead of 12",
    "optimizer-nesterov": "the same {:.0f} bytes per weight",
    "optimizer-adam": "writes three: {:.0f} bytes, against 12",
}


def furthest(lesson):
    """The largest weight of the first iterations, as far as a training goes beyond 1."""
    return max(max(Walk(lesson, "--iterations", str(n)).flat("fc1.W")) for n in range(1, 25))


def momentum(w):
    after = trained(copy("optimizer-momentum", ("momentum: 0.8", "momentum: 0.9")))[0][60]
    yield f"It goes as far as {furthest('optimizer-momentum'):.2f}, and the loss"
    yield f"After 60 updates the loss is {after:.4f} with 0.9"


def nesterov(w):
    yield (f"It gets no further than {furthest('optimizer-nesterov'):.4f}, where momentum went "
           f"to {furthest('optimizer-momentum'):.2f}; and after 60 updates the loss is "
           f"{trained('optimizer-nesterov')[0][60]:.10f}, which")


def adam(w):
    losses = trained("optimizer-adam")[0]
    yield f"both weights run on to {furthest('optimizer-adam'):.2f}, turn"
    yield (f"After 10 updates the loss is {losses[10]:.4f}, after 20 it is {losses[20]:.3f} "
           f"again, after 60 it is {losses[60]:.4f}")
    slow, fast = (trained("optimizer-adam", "--lr", lr)[0][60] for lr in ("0.05", "0.2"))
    yield f"losses after 60 updates: {slow:.4f} and {fast:.4f}"


def adamw(w):
    second, plain = (Walk(name, "--iterations", "2").flat("fc1.W")[0]
                     for name in ("optimizer-adamw", "optimizer-adam"))
    yield f"then moved: {second:.4f} instead of {plain:.4f}"
    yield f"The {trained('optimizer-adamw')[0][60]:.6f} after 60 updates"
    late = Walk("optimizer-adamw", "--iterations", "1000").flat("fc1.W")[0]
    yield f"creeps towards 1, to {late:.3f} after 1,000 updates"
    a, b = Walk(copy("optimizer-adamw", ("op: adamw", "op: adam")), "--iterations",
                "200").flat("fc1.W")
    yield f"After 200 updates the weights are at {a:.3f} and {b:.3f}"


OPTIMIZERS = {"optimizer-momentum": momentum, "optimizer-nesterov": nesterov,
              "optimizer-adam": adam, "optimizer-adamw": adamw}


def optimizer(name, phrase, after=0, other=None):
    """The weights after one update and after more, and the row of the losses."""
    def claims(w):
        a, b = w.flat("fc1.W")
        yield phrase.format(a, b)
        update = w.steps["fc1.W", "update"]
        moved = update["bytes"] / len(w.flat("fc1.W"))
        if name in PER_WEIGHT:
            yield PER_WEIGHT[name].format(moved)
        if name == "optimizer-sgd":  # at the edge of what converges, and beyond it
            slow, wild = (trained(name, "--lr", lr)[0][-1] for lr in ("0.07", "0.081"))
            yield (f"In a copy set `lr` to 0.07: after {after} updates the loss is {slow:.7f}. "
                   f"Then 0.081: it is {wild:.0f} and rising")
        yield from OPTIMIZERS.get(name, lambda w: ())(w)
        if other:
            a, b = Walk(name, "--iterations", str(after)).flat("fc1.W")
            plain = Walk("optimizer-sgd", "--iterations", str(after)).flat("fc1.W")[0]
            yield other.format(a, b, plain)
        losses, _ = trained(name)
        table = Walk("optimizer-sgd")
        row = re.search(rf"\| {name[len('optimizer-'):]} \| (.*?) \|\s\| \w|"
                        rf"\| {name[len('optimizer-'):]} \| (.*?) \| Do not", table.text)
        ran = [losses[i] for i in (0, 1, 10, 30, 60)]
        for a, b in zip((row[1] or row[2]).split(" | "), ran):  # of two weights: to the digit
            digits = len(a.partition(".")[2])
            assert abs(float(a) - b) < .51 * 10.0**-digits, (name, a, b)
    return name, claims


def schedules(w):
    over = int(re.search(r"over: (\d+)", w.text)[1])
    long = int(re.search(r"x: .*?, 0., .0, (.).", w.text)[1])
    yield f"which is $w_1$ and ${long} w_2$"
    yield f"It is $w_1 - 1$ and ${long**2} (w_2 - 1)$"
    yield f"half of it after {over // 2} iterations, 0 after {over}."
    yield f"After {over // 2} iterations the rate"
    a, b = w.flat("fc1.W")
    yield f"the weights become ({a:.4f}, {b:.4f})"


def vanishing_gradient(w):
    losses, _ = trained("vanishing-gradient")
    yield f"after {len(losses)} iterations the loss is {losses[-1]:.3f}"
    kept = trained("kept-gradient")[0][-1]
    yield f"and ends at {figures(kept, 1)}"
    last = [trained("vanishing-gradient", "--seed", str(s))[0][-1] for s in range(1, 9)]
    stuck = [s for s, loss in enumerate(last, 1) if f"{loss:.2f}" == "0.64"]
    assert all(loss < .001 for s, loss in enumerate(last, 1) if s not in stuck), last
    yield f"Of the seeds 1 to 8 only {' and '.join(map(str, stuck))} end at 0.64"
    for t in (23, 20, 15, 10, 5, 0):
        v = w.length(f"rnn1.h.{t}.grad")
        yield f"| {t} | {figures(v, 3).rstrip('0')} |"


def kept_gradient(w):
    losses, _ = trained("kept-gradient")
    yield f"after {len(losses)} iterations the loss is about {figures(losses[-1], 1)}."
    plain, _ = trained("vanishing-gradient")
    yield f"*vanishing-gradient* is at {plain[len(losses) - 1]:.3f} by then"
    most = max(trained("kept-gradient", "--seed", str(s))[0][-1] for s in range(1, 9))
    yield f"With the seeds 1 to 8 the loss is {figures(most, 1)} or less each time"
    for t in (23, 20, 15, 10, 5, 0):
        v = w.length(f"lstm1.c.{t}.grad")
        yield f"| {t} | {figures(v, 3).rstrip('0')} |"


def lstm_example(w):
    for i, gate in enumerate("aifo"):  # as they were before the update
        x, y = (w.key("lstm1.W")[2 * i + k] for k in (0, 1))
        u, b = w.key("lstm1.U")[i], w.key("lstm1.b")[i]
        found = re.search(rf"\| {gate} \| [\d.]+, [\d.]+ \| [\d.]+ \| [\d.]+ \|", w.text)
        assert [float(n) for n in re.findall(r"[\d.]+", found[0])] == [x, y, u, b], found[0]
    for t in (0, 1):
        for part in "ch":
            yield f"{w.flat(f'lstm1.{part}.{t}')[0]:.6f}"
        yield f"= {w.flat('lstm1.out.grad')[t]:.6f}$"
    yield f"$dc_1 = {w.flat('lstm1.c.1.grad')[0]:.6f}$"
    yield f"$dh_0 = 0.036313 - 0.018275 = " \
          f"{w.flat('lstm1.h.0.grad')[0]:.6f}$"
    yield f"Their sum: {w.flat('loss')[0]:.6f}"


def lstm_example_label(w):
    passed = w.flat("lstm1.h.0.grad")[0] - w.flat("lstm1.out.grad")[0]
    yield f"from t = 1 now {passed:.6f}"
    yield f"and {w.flat('lstm1.out.grad')[1]:.6f} at t = 1"
    yield f"{w.flat('lstm1.c.1.grad')[0]:.6f}"


def cnn_example(w):
    p = w.flat("softmax1.out")
    g = w.flat("flatten1.out.grad")
    cell = w.at("conv1.out.grad", 0, 1, 1, 0)
    zeros = sum(v == 0 for v in w.flat("relu1.out")) - \
        sum(v == 0 for v in w.flat("conv1.out"))
    assert zeros == 7, zeros
    yield "seven of eighteen"
    yield f"share {sum(p[:4]):.4f} of the probability"
    yield f"{p[1]:.4f} \\cdot (1 - {p[1]:.4f}) = {g[1]:.4f}$"
    yield f"$-{p[0]:.4f} \\cdot {p[1]:.4f} = {g[0]:.4f}$"
    yield f"${g[1]:.4f} - 3 \\cdot {-g[0]:.4f} = {cell:.4f}$"
    yield f"which hold {sum(p[4:]):.4f} together"
    yield f"gradient of the cell, {cell:.4f}, is small"


def edge_kernels(w):
    sobel = w.flat("edges.out")[0::2]
    yield f"{max(sobel):.0f} along the upright edge"


def lenet(w):
    yield (f"{w.parameters:,} parameters: {count(w, 'conv1')} and {count(w, 'conv2'):,} "
           f"in the convolutions, {count(w, 'fc1'):,}, {count(w, 'fc2'):,} and "
           f"{count(w, 'fc3')} in the dense layers")
    images = w.tensors["loss.probs"]["shape"][0]
    whole = sum(s["flop"] for (_, phase), s in w.steps.items() if phase == "forward")
    second = w.steps["conv2.conv", "forward"]["flop"]
    assert second > whole / 2, (second, whole)
    yield f"{second / images / 1e6:.2f} million FLOPs an image: more than half"
    yield f"nothing: {whole / images / 1e6:.1f} million FLOPs an image"


def cnn_digits(w):
    yield (f"{w.parameters:,} parameters: {count(w, 'conv1')}, {count(w, 'conv2'):,} and "
           f"{count(w, 'conv3'):,} in the convolutions, {count(w, 'fc1'):,} in the dense")
    products = w.steps["conv2.conv", "forward"]["flop"] + \
        w.steps["conv3.conv", "forward"]["flop"]
    whole = sum(s["flop"] for (_, phase), s in w.steps.items()
                if phase == "forward")
    yield f"about {100 * products / whole:.0f} percent of them"


def embedding_gather(w):
    for title, phase, what in (
            ("FLOPs forward", "forward", "flop"),
            ("bytes forward", "forward", "bytes"),
            ("FLOPs backward", "backward", "flop"),
            ("bytes backward", "backward", "bytes")):
        yield f"| {title} | " + Walk("embedding-product").work(
            "fc1.matmul", phase, what) + " | " + w.work(
                "emb1.gather", phase, what) + " |"


def one_hot(w):
    texts = [set(re.findall(r"[a-z]+", t.lower())) for t in re.findall(r'"([^"]*)"', re.search(
        r"texts: \[(.*?)\]", w.text)[1])]
    words = w.tensors["fc1.W"]["shape"][0]
    assert words == len(set().union(*texts)), texts
    yield f"{sum(map(len, texts))} of the {len(texts) * words} numbers of `x` are 1"


def embedding_product(w):
    rows, columns = w.tensors["fc1.out"]["shape"]
    words = w.tensors["fc1.W"]["shape"][0]
    yield f"{rows * columns} of the {rows * words * columns} products in each"
    yield f"reads the {rows * words} numbers of `x`"


def rnn_fibonacci(w):
    losses, _ = trained("rnn-fibonacci", "--seed", re.search(r" seed: (\d)", w.text)[1])
    yield f"Run it to the end, {len(losses):,} iterations"
    yield close(w, "The loss of the last batch is", losses[-1], " with this seed", .2)
    last = [trained("rnn-fibonacci", "--seed", str(s))[0][-1] for s in range(1, 6)]
    low, high = min(last), max(last)
    low = 10 ** math.floor(math.log10(low))
    unit = 10 ** math.floor(math.log10(high))
    high = unit * math.ceil(high / unit)
    yield f"with seeds 1 to 5 the loss is between {low:.7f} and {high:.6f}"
    golden = (1 + math.sqrt(5)) / 2
    yield f"soon have the ratio {golden:.3f}, the *golden"
    yield (f"\"The last term times {golden:.3f}\" needs no network. After three terms $a$, $b$, "
           f"$a + b$ it is wrong by ${2 - golden:.3f} b - {golden - 1:.3f} a$")
    for terms, words in (3, "$: a loss of {}, some"), (8, "the same guess has a loss of {}, as"):
        whole = Walk(copy("rnn-fibonacci", ("context: 3", f"context: {terms}"),
                          ("batch: 64", "batch: 409")))  # all that train
        x = whole.flat("rnn1.x")  # [terms, samples, 1]
        assert len(x) == 409 * terms, len(x)
        loss = sum((golden * a - (a + b))**2 for a, b in zip(x[-409:], x[-818:-409])) / 409
        yield words.format(figures(loss, 2 if terms == 3 else 1))
    one = ("hidden: 8", "hidden: 1")
    for seed, before, after in (2, "The loss stays near", " ("), (3, "(", " with seed 3)"):
        loss = trained(copy("rnn-fibonacci", one), "--seed", str(seed))[0][-1]
        yield close(w, before, loss, after)
    loss = trained(copy("rnn-fibonacci", one, ("context: 3", "context: 2"),
                        ("rnn1.h.2, ", "")))[0][-1]
    yield f"the loss falls to {figures(loss, 1)}. Which"


def cnn_mnist(w):
    """The table's FLOPs count the padding: each weight at each place of the result."""
    # Its numbers are millions: shapes alone.
    _, w.parameters, shapes, _ = first_iteration(exe, w.path)
    w.tensors = {name: {"shape": shape} for name, shape in shapes}
    for name in ("conv1", "conv2", "conv3", "fc1", "fc2"):
        weights = w.tensors[f"{name}.W"]["shape"]
        places = math.prod(w.tensors[f"{name}.out"]["shape"][1:-1])
        million = 2e-6 * math.prod(weights) * places
        found = re.search(rf"\| {name} \| [\d,]+ \| \d+\.?(\d*) \|", w.text)
        yield f"| {name} | {count(w, name):,} | {million:.{len(found[1])}f} |"
    yield f"{w.parameters:,} parameters in all"
    rows, columns = w.tensors["fc1.W"]["shape"]
    yield f"A matrix of {rows:,} by {columns}: {4e-6 * rows * columns:.2f} MB"
    yield f"{math.prod(w.tensors['conv2.W']['shape'][:3])} products for each result"


def mlp_mnist(w):
    """The digits that take MNIST's place, as src/engine/data/data.c makes them."""
    with open(f"{root}/../src/engine/data/data.c", encoding="utf-8") as f:
        small, large, inner = re.search(
            r"SMALL = (\d+), LARGE = (\d+), INNER = (\d+)", f.read()).groups()
    part = w.steps["fc2.matmul", "forward"]["flop"] / w.steps["fc1.matmul", "forward"]["flop"]
    yield f"exactly as before: {100 * part:.1f} percent of the first layer's"
    yield f"of {small} by {small}, made {inner} by {inner} by interpolation and set into " \
          f"the middle of {large} by {large},"


def softmax_saturation(w):
    def four(values):
        return ", ".join(f"{v + 0.0:.4f}" for v in values)
    yield four(w.row("with.probs", 0))
    yield four(w.row("with.scores.grad", 0))
    top = sorted(w.row("with.scores", 0))
    yield f"by {top[-1]:.2f} to {top[-2]:.4f}"
    top = sorted(w.row("without.scores", 0))
    yield f"{top[-1]:.2f} for the favourite, {top[-2]:.2f}"
    top = sorted(w.row("without.probs", 1))
    yield f"{top[-1]:.4f} and {top[-2]:.4f} are both far"
    yield ", ".join(f"{v:.4f}" for v in w.row("without.probs", 0)[:2])
    yield ", ".join(f"{v:.4f}" for v in w.row("without.scores.grad", 0)[:2])


def word2vec(w):
    assert abs(w.flat("loss")[0] - math.log(119)) < 0.1, w.flat("loss")
    yield "119"


def word2vec_cbow(w):
    yield from word2vec(w)
    _, s = trained("word2vec-cbow", "--iterations", "1")
    yield f"An epoch has {s['iterations_per_epoch']} iterations of {s['batch']} samples"
    yield f"The text has {s['train_rows']:,} such places"
    with open(f"{root}/data/kingdom.txt", encoding="utf-8") as f:
        lines = f.read().lower().splitlines()
    words = len({word for line in lines for word in re.findall(r"[\w']+", line)})
    yield f"{len(lines)} short sentences"
    yield f"animals and food, with {words} different words"
    yield f"come out of {words} words"
    vocabulary = w.tensors["fc1.W"]["shape"][1]
    yield f"score all {vocabulary} entries"
    yield f"with {vocabulary} words we can afford"
    yield f"the loss is near $\\ln {vocabulary}$, {math.log(vocabulary):.2f}"
    yield f"$2 \\cdot {w.tensors['mean1.out']['shape'][0]} \\cdot 16 \\cdot {vocabulary}$ FLOPs"
    times = {3: "three", 4: "four", 5: "five"}[round(50000 / vocabulary / 100)]
    yield f"50,000 words it would be {times} hundred times as much"


def word2vec_skipgram(w):
    yield from word2vec(w)
    each = []
    for lesson, name in (("word2vec-cbow", "bag of words"), ("word2vec-skipgram", "skip-gram")):
        _, s = trained(lesson, "--iterations", "1")
        each.append(s["iterations_per_epoch"])
        yield f"| {name} | {s['train_rows']:,} | {each[-1]} |"
    yield f"skip-gram has {each[1] / each[0]:.1f} iterations for each of the other's"


def tokenise(w):
    rows = re.search(r"tensor: x, values: \[(.*?)\]", w.text)[1].split(", ")
    yield f"With `maxlen: 5` the first sentence is ({', '.join(rows[:5])})"
    yield f"has seven words, (8, 6, {', '.join(rows[15:20])}), and keeps the last five"


def transformer_block(w):
    width, = re.findall(r"blocks of width (\d+) with 6 heads", w.text)
    yield f"with 6 heads. {width} divided by 6 is no whole"
    assert int(width) % 6 and int(width) % 8 == 0
    yield f"{w.parameters} with all biases"
    first = w.flat("block1.attn.probs")[:4]
    assert first == [1, 0, 0, 0], first


def model_sizes(w):
    for i in range(10):
        width = math.sqrt(w.at("x.grad", i, i) / 12)
        row = re.search(rf"\| {i} \| [\w-]+ \| [^|]+ \| [^|]+ \|", w.text)
        want = f"| {w.at('width.out', i, 0) / width:.0f} | {width:.0f} |"
        yield row[0] if row and row[0].endswith(want) else want + f" of model {i}"
    printed = [float(n) * {"M": 1, "B": 1000}[unit] for n, unit in re.findall(
        r"\| ~?([\d.]+) ([MB]) \|", w.text)]
    yield f"from {min(printed):.0f} million to {max(printed) / 1000:.0f} billion"
    sizes = w.flat("loss.sample")
    yield f"GPT-3 is {100 * sizes[9] / sum(sizes):.0f} percent of it"
    yield f"one block is {w.at('x.grad', 9, 9) / 1e9:.1f} billion"


claims = [
    ("softmax-regression", softmax_regression), ("mlp-digits", mlp_digits),
    ("training-loop", training_loop), ("sigmoid-gradient", sigmoid_gradient),
    ("softmax-overflow", softmax_overflow), ("more-ops", more_ops),
    ("early-stop", early_stop), ("inference", inference),
    activation("activations", 0), activation("leaky-relu", 1),
    activation("softplus", 4), activation("gelu", 4), activation("swish", 4),
    optimizer("optimizer-sgd", "({:.2f}, {:.2f})", 60, "still at {:.3f}"),
    optimizer("optimizer-momentum", "({:.2f}, {:.2f})", 60, "at {0:.4f} instead of {2:.3f}"),
    optimizer("optimizer-nesterov", "({:.3f}, {:.2f})"),
    optimizer("optimizer-adam", "both weights go to {:.1f}", 2, "both weights go to {:.4f}"),
    optimizer("optimizer-adamw", "both go to {:.1f}", 200, "both are at {:.3f}"),
    ("optimizer-schedules", schedules),
    ("cnn-example", cnn_example), ("edge-kernels", edge_kernels),
    ("cnn-digits", cnn_digits), ("lenet", lenet), ("vanishing-gradient", vanishing_gradient),
    ("kept-gradient", kept_gradient), ("lstm-example", lstm_example),
    ("lstm-example-label", lstm_example_label),
    ("one-hot", one_hot), ("embedding-product", embedding_product),
    ("rnn-fibonacci", rnn_fibonacci), ("mlp-mnist", mlp_mnist), ("cnn-mnist", cnn_mnist),
    ("embedding-gather", embedding_gather), ("word2vec-cbow", word2vec_cbow),
    ("word2vec-skipgram", word2vec_skipgram),
    ("softmax-saturation", softmax_saturation),
    ("transformer-block", transformer_block), ("tokenise", tokenise), ("model-sizes", model_sizes),
]
for lesson, phrases in claims:
    walk = Walk(lesson)
    try:
        for phrase in phrases(walk):
            if phrase not in walk.text:
                complaints.append(f"{walk.path}: not there, but by the run: {phrase}")
    except (AssertionError, IndexError, TypeError, ValueError) as e:  # or words are not there
        at = traceback.extract_tb(e.__traceback__)[-1]
        complaints.append(f"{walk.path}: line {at.lineno} of this check: {at.line}: {e!r}")
for complaint in complaints:
    print(complaint)
sys.exit(bool(complaints))
