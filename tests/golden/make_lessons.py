#!/usr/bin/env python3
"""Write a lesson for each golden case of the families i to viii, for the
printed convolution examples and for the embedding.

Reads the *.txt files beside this script and writes lessons/<name>.md and
map.txt there. map.txt has which tensor of the lesson must equal which golden
tensor; its first lines explain its form. Run it again after changing a case;
with --check it only reports (exit 1) whether the files on disk are current.
"""

import math
import os
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))

HEADER = """\
# Written by make_lessons.py. Which tensor of a lesson must equal which golden
# tensor. Words stand apart by blanks:
#   lesson FILE CASE ITERATIONS OPS    the rows below belong to lessons/FILE and
#                                      CASE.txt; walk that many iterations; OPS
#                                      are the ops it takes, joined by commas
#   tensor GOLDEN OURS SCALE ITERATION
#   scalar GOLDEN OURS SCALE ITERATION
#                                      GOLDEN = SCALE * OURS in that iteration,
#                                      counted from 1: a parameter (and its
#                                      state) as the update leaves it, anything
#                                      else as it was computed. A parameter in
#                                      iteration 0 is its value at the start
#   skip GOLDEN REASON                 a golden tensor that no tensor of this
#                                      lesson shows
"""


class Case:
    """One golden case: scalars by name, tensors by name as (shape, values)."""

    def __init__(self, name):
        self.name = name
        self.scalars = {}
        self.tensors = {}
        with open(os.path.join(HERE, name + ".txt")) as f:
            words = f.read().split()
        self._read(words)

    def _read(self, w):
        i = 0
        while w[i] != "end":
            if w[i] in ("golden", "case", "family"):
                i += 2
            elif w[i] == "scalar":
                self.scalars[w[i + 1]] = float(w[i + 2])
                i += 3
            elif w[i] == "tensor":
                name, kind, ndim = w[i + 1], w[i + 3], int(w[i + 4])
                shape = [int(d) for d in w[i + 5 : i + 5 + ndim]]
                count = int(w[i + 5 + ndim])
                i += 6 + ndim
                cast = int if kind == "i64" else float
                values = [cast(v) for v in w[i : i + count]]
                self.tensors[name] = (shape, values)
                if math.prod(shape) != count:
                    sys.exit(f"{self.name}: {name}: shape and count differ")
                i += count
            else:
                sys.exit(f"{self.name}: unknown word {w[i]!r}")

    def __getitem__(self, name):
        return self.tensors[name]


def number(v):
    """A number as YAML 1.1 and 1.2 both read it: a float keeps its point."""
    s = repr(v)
    if "e" in s and "." not in s:
        s = s.replace("e", ".0e")
    return s


def tensor(value):
    """A format 1 TENSOR in flow style, from (shape, values)."""
    shape, values = value
    return "{shape: %s, values: [%s]}" % (
        list(shape),
        ", ".join(number(v) for v in values),
    )


class Lesson:
    """The text of one lesson and its rows of the map."""

    def __init__(self, case, suffix="", iterations=1):
        self.case = case
        self.name = case.name + suffix
        self.iterations = iterations
        self.keys = []
        self.data = []
        self.nodes = []
        self.ops = []
        self.loss = ""
        self.optimizer = ""
        self.parameters = []
        self.rows = []
        self.named = set()

    def input(self, key, value):
        self.data.append((key, tensor(value)))

    def node(self, ident, op, extra=""):
        self.nodes.append("{id: %s, op: %s%s}" % (ident, op, extra))
        if op not in self.ops:
            self.ops.append(op)

    def parameter(self, name, value):
        self.parameters.append((name, tensor(value)))

    def expect(self, golden, ours, scale=1.0, iteration=1):
        kind = "scalar" if golden in self.case.scalars else "tensor"
        if kind == "tensor":
            self.case[golden]
        self.named.add(golden)
        self.rows.append(f"{kind} {golden} {ours} {scale!r} {iteration}")

    def skip(self, golden, reason):
        self.named.add(golden)
        self.rows.append(f"skip {golden} {reason}")

    def skip_rest(self, reason):
        for golden in list(self.case.scalars) + list(self.case.tensors):
            if golden not in self.named:
                self.skip(golden, reason)

    def map_text(self):
        missing = (set(self.case.tensors) | set(self.case.scalars)) - self.named
        if missing:
            sys.exit(f"{self.name}: no row for {sorted(missing)}")
        ops = ",".join(self.ops)
        head = f"lesson {self.name}.md {self.case.name} {self.iterations} {ops}"
        return "\n".join([head] + self.rows) + "\n"

    def text(self):
        out = ["---", "format: 1", f"title: Golden case {self.name}"]
        out += self.keys
        out += ["data:", "  source: inline", "  gradient: true"]
        out += [wrap(f"  {k}: {v}", 4) for k, v in self.data]
        out += ["network:"] + [f"  - {n}" for n in self.nodes]
        out += [f"loss: {self.loss}"]
        if self.optimizer:
            out += [wrap(f"optimizer: {self.optimizer}", 2)]
        if self.parameters:
            out += ["parameters:"]
            out += [wrap(f"  {k}: {v}", 4) for k, v in self.parameters]
        out += ["run: {iterations: %d}" % self.iterations, "---"]
        note = (
            f"The numbers of the golden case `{self.case.name}`. Written by "
            "`make_lessons.py` for the tests, not to be read in order."
        )
        return "\n".join(out) + "\n" + wrap(note, 0) + "\n"


def wrap(line, indent):
    return textwrap.fill(
        line,
        width=78,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def dense_rows(lesson, n, ident, inner):
    """Rows of the n-th dense layer; inner: the golden name of its input's
    gradient and our name of it."""
    lesson.expect(f"z{n}", f"{ident}.out")
    lesson.expect(f"dz{n}", f"{ident}.out.grad")
    lesson.expect(f"dW{n}", f"{ident}.W.grad")
    lesson.expect(f"db{n}", f"{ident}.b.grad")
    lesson.expect(*inner)
    for golden, part in ((f"W{n}", "W"), (f"b{n}", "b")):
        lesson.parameter(f"{ident}.{part}", lesson.case[golden])
        lesson.expect(golden, f"{ident}.{part}", iteration=0)


def mlp(name, activation, target, loss):
    """4-3-2; `activation` after the first layer and, where h2 is, the last."""
    case = Case(name)
    lesson = Lesson(case)
    lesson.input("x", case["x"])
    lesson.input("y", case[target])
    lesson.loss = loss
    lesson.node("fc1", "dense", ", units: %d" % case["W1"][0][1])
    lesson.node("act1", activation)
    lesson.node("fc2", "dense", ", units: %d" % case["W2"][0][1])
    lesson.expect("x", "x")
    lesson.expect(target, "y")
    dense_rows(lesson, 1, "fc1", ("dx", "x.grad"))
    lesson.expect("h1", "act1.out")
    dense_rows(lesson, 2, "fc2", ("dh1", "act1.out.grad"))
    if "h2" in case.tensors:
        lesson.node("act2", activation)
        lesson.expect("h2", "act2.out")
        lesson.expect("dh2", "act2.out.grad")
    if "p" in case.tensors:
        lesson.expect("p", "loss.probs")
    lesson.expect("loss_per_sample", "loss.sample")
    lesson.expect("loss", "loss")
    return lesson


def softmax_regression(name):
    case = Case(name)
    lesson = Lesson(case)
    lesson.input("x", case["x"])
    lesson.input("y", case["labels"])
    lesson.loss = "{op: softmax_cross_entropy}"
    lesson.node("fc1", "dense", ", units: %d" % case["W1"][0][1])
    lesson.expect("x", "x")
    lesson.expect("labels", "y")
    dense_rows(lesson, 1, "fc1", ("dx", "x.grad"))
    lesson.expect("p", "loss.probs")
    lesson.expect("loss_per_sample", "loss.sample")
    lesson.expect("loss", "loss")
    return lesson


def optimizer(name, keys, states, steps=3, betas=(0.9, 0.999)):
    """f(p) = 1/2 sum c (p - t)^2 as a dense layer: the rows of x are the axes,
    each as long as the root of its curvature: x^T (x p - y) = c (p - t)."""
    case = Case(name)
    lesson = Lesson(case, iterations=steps + 1)
    roots = [math.sqrt(c) for c in case["curvature"][1]]
    n = len(roots)
    x = [roots[i] if i == j else 0.0 for i in range(n) for j in range(n)]
    y = [r * t for r, t in zip(roots, case["target"][1])]
    lesson.input("x", ([n, n], x))
    lesson.input("y", ([n, 1], y))
    lesson.node("fc1", "dense", ", units: 1, bias: false")
    lesson.loss = "{op: mse, reduction: half_sum}"
    lesson.optimizer = keys
    lesson.parameter("fc1.W", ([n, 1], case["p_0"][1]))
    lesson.expect("p_0", "fc1.W", iteration=0)
    lesson.expect("f_0", "loss")
    for t in range(1, steps + 1):
        lesson.expect(f"g_{t}", "fc1.W.grad", iteration=t)
        lesson.expect(f"p_{t}", "fc1.W", iteration=t)
        lesson.expect(f"f_{t}", "loss", iteration=t + 1)
        for golden, ours in states.items():
            lesson.expect(f"{golden}_{t}", f"fc1.W.{ours}", iteration=t)
        if "mhat_1" in case.tensors:
            for ours, beta in zip("mv", betas):
                scale = 1.0 / (1.0 - beta**t)
                lesson.expect(f"{ours}hat_{t}", f"fc1.W.{ours}", scale, t)
    lesson.skip("target", "part of y: y = sqrt(curvature) * target")
    lesson.skip("curvature", "part of x: x = diag(sqrt(curvature))")
    return lesson


def probe(name, ident, op, extra=""):
    """x -> op -> sum of G * out: the gradient of out is G itself."""
    case = Case(name)
    lesson = Lesson(case)
    lesson.input("x", case["x"])
    lesson.input("y", case["G"])
    lesson.node(ident, op, extra)
    lesson.loss = "{op: weighted_sum}"
    lesson.expect("x", "x")
    lesson.expect("G", f"{ident}.out.grad")
    lesson.expect("y", f"{ident}.out")
    lesson.expect("dx", "x.grad")
    lesson.expect("loss", "loss")
    return lesson


def activation(name, op, extra=""):
    """The case itself, and once more with weights 1, where x.grad is the
    derivative."""
    lesson = probe(name, "act1", op, extra)
    lesson.skip("dydx", "shown by the lesson whose weights are 1")
    case = lesson.case
    ones = Lesson(case, "_dydx")
    ones.input("x", case["x"])
    ones.data.append(("y", "{shape: %s, fill: 1}" % case["x"][0]))
    ones.node("act1", op, extra)
    ones.loss = "{op: weighted_sum}"
    ones.expect("x", "x")
    ones.expect("y", "act1.out")
    ones.expect("dydx", "x.grad")
    ones.skip_rest("shown by the lesson whose weights are G")
    return [lesson, ones]


def softmax(name):
    lesson = probe(name, "softmax1", "softmax")
    why = "a tensor of log-softmax, which is no op here"
    lesson.skip("logsoftmax", why)
    lesson.skip("dx_log", why)
    return lesson


def layer_norm(name):
    lesson = probe(name, "norm1", "layer_norm", ", eps: 1.0e-5")
    for part in ("gamma", "beta"):
        lesson.parameter(f"norm1.{part}", lesson.case[part])
        lesson.expect(part, f"norm1.{part}", iteration=0)
        lesson.expect("d" + part, f"norm1.{part}.grad")
    for part in ("mean", "rstd", "xhat"):
        lesson.expect(part, f"norm1.{part}")
    lesson.skip("var", "shown as rstd = 1/sqrt(var + eps)")
    return lesson


def batch_norm(name):
    lesson = probe(name, "norm1", "batch_norm", ", eps: 1.0e-5, momentum: 0.1")
    lesson.keys.append("layout: nhwc")
    case = lesson.case
    for part in ("gamma", "beta"):
        lesson.parameter(f"norm1.{part}", case[part])
        lesson.expect(part, f"norm1.{part}", iteration=0)
        lesson.expect("d" + part, f"norm1.{part}.grad")
    for part in ("running_mean", "running_var"):
        lesson.parameter(f"norm1.{part}", case[part + "_in"])
        lesson.expect(part + "_in", f"norm1.{part}", iteration=0)
        lesson.expect(part + "_out", f"norm1.{part}")
    for part in ("mean", "rstd", "xhat"):
        lesson.expect(part, f"norm1.{part}")
    lesson.skip("var", "shown as rstd = 1/sqrt(var + eps)")
    lesson.skip("y_eval", "computed outside training")
    return lesson


def recurrent_parts(lesson, ident, steps, path, names):
    """Rows of the parts of each time step: names maps golden names to the
    lesson's; `path` is how the next step's gradient comes back to h."""
    for t in range(steps):
        for golden, ours in names.items():
            lesson.expect(f"{golden}_{t}", f"{ident}.{ours % t}")
        if f"dout_in_{t}" not in lesson.case.tensors:
            continue
        if t + 1 < steps:
            lesson.expect(f"dout_in_{t}", f"{ident}.h.{t}.grad.{path}")
        else:
            lesson.skip(f"dout_in_{t}", "zero: no later step")


def lstm(name):
    """x -> lstm -> 1/2 the sum of squares, one step of sgd with lr 0.1."""
    case = Case(name)
    lesson = Lesson(case, iterations=2)
    steps = case["x"][0][1]
    lesson.input("x", case["x"])
    lesson.input("y", case["y"])
    hidden = case["U"][0][1]
    lesson.node("lstm1", "lstm", f", hidden: {hidden}")
    lesson.loss = "{op: mse, reduction: half_sum}"
    lesson.optimizer = "{op: sgd, lr: 0.1}"
    lesson.expect("x", "x")
    lesson.expect("y", "y")
    for part in ("W", "U", "b"):
        lesson.parameter(f"lstm1.{part}", case[part])
        lesson.expect(part, f"lstm1.{part}", iteration=0)
        lesson.expect("d" + part, f"lstm1.{part}.grad")
        lesson.expect(part + "_new", f"lstm1.{part}")
    for golden, ours in (("out", "h0"), ("state", "c0")):
        lesson.parameter(f"lstm1.{ours}", case[golden + "_init"])
        lesson.expect(golden + "_init", f"lstm1.{ours}", iteration=0)
        lesson.expect(f"d{golden}_init", f"lstm1.{ours}.grad")
    names = {g: g + ".%d" for g in ("z", "a", "i", "f", "o")}
    names.update({"state": "c.%d", "out": "h.%d", "dout": "h.%d.grad"})
    names.update({"dstate": "c.%d.grad", "dgates": "z.%d.grad"})
    names["Delta"] = "h.%d.grad.return"
    recurrent_parts(lesson, "lstm1", steps, "gates", names)
    lesson.expect("dx", "x.grad")
    lesson.expect("loss", "loss")
    lesson.expect("loss_after_step", "loss", iteration=2)
    for t in range(steps):
        lesson.skip(f"dx_{t}", "a slice of x.grad")
        lesson.skip(f"dW_step_{t}", "a term of lstm1.W.grad: one step sums all")
        lesson.skip(f"dU_step_{t}", "a term of lstm1.U.grad: one step sums all")
    return lesson


def rnn(name):
    """x -> rnn -> dense -> 1/2 the sum of squares."""
    case = Case(name)
    lesson = Lesson(case)
    steps = case["x"][0][1]
    bias = "" if "bh" in case.tensors else ", bias: false"
    lesson.input("x", case["x"])
    lesson.input("y", case["y"])
    hidden, units = case["Why"][0]
    lesson.node("rnn1", "rnn", f", hidden: {hidden}{bias}")
    lesson.node("fc1", "dense", f", units: {units}{bias}")
    lesson.loss = "{op: mse, reduction: half_sum}"
    lesson.expect("x", "x")
    lesson.expect("y", "y")
    lesson.parameter("rnn1.h0", case["h_init"])
    lesson.expect("h_init", "rnn1.h0", iteration=0)
    lesson.expect("dh_init", "rnn1.h0.grad")
    parts = {"Wxh": "rnn1.Wx", "Whh": "rnn1.Wh", "Why": "fc1.W"}
    if not bias:
        parts.update({"bh": "rnn1.b", "by": "fc1.b"})
    for golden, ours in parts.items():
        lesson.parameter(ours, case[golden])
        lesson.expect(golden, ours, iteration=0)
        lesson.expect("d" + golden, ours + ".grad")
    names = {"a": "z.%d", "h": "h.%d", "da": "z.%d.grad", "dh": "h.%d.grad"}
    recurrent_parts(lesson, "rnn1", steps, "sum", names)
    for t in range(steps):
        lesson.skip(f"yhat_{t}", "a slice of fc1.out")
        lesson.skip(f"dyhat_{t}", "a slice of fc1.out.grad")
    lesson.expect("dx", "x.grad")
    lesson.expect("loss", "loss")
    return lesson


def conv(name, stride, padding, pool_stride):
    """conv, relu, max pool over [N,H,W,C]."""
    case = Case(name)
    lesson = Lesson(case)
    lesson.keys.append("layout: nhwc")
    lesson.input("x", case["x"])
    lesson.input("y", case["G"])
    kh, kw, _, filters = case["w"][0]
    lesson.node(
        "conv1",
        "conv2d",
        f", filters: {filters}, kernel: [{kh}, {kw}], stride: {stride}, "
        f"padding: {padding}",
    )
    lesson.node("relu1", "relu")
    lesson.node("pool1", "max_pool2d", f", size: [2, 2], stride: {pool_stride}")
    lesson.loss = "{op: weighted_sum}"
    for golden, part in (("w", "W"), ("b", "b")):
        lesson.parameter(f"conv1.{part}", case[golden])
        lesson.expect(golden, f"conv1.{part}", iteration=0)
        lesson.expect("d" + golden, f"conv1.{part}.grad")
    rows = {"x": "x", "G": "pool1.out.grad", "conv": "conv1.out",
            "relu": "relu1.out", "pool": "pool1.out",
            "pool_argmax": "pool1.argmax", "drelu_out": "relu1.out.grad",
            "dconv": "conv1.out.grad", "dx": "x.grad", "loss": "loss"}
    for golden, ours in rows.items():
        lesson.expect(golden, ours)
    return lesson


def cnn_example(suffix, order, flat, soft):
    """The 7x7x3 example; the flattened order decides the rest."""
    case = Case("seed_cnn")
    lesson = Lesson(case, suffix)
    lesson.keys.append("layout: nhwc")
    lesson.input("x", case["x"])
    lesson.data.append(("y", "{shape: [1, 8], fill: 1}"))
    lesson.node("conv1", "conv2d", ", filters: 2, kernel: [3, 3], stride: 2")
    lesson.node("relu1", "relu")
    lesson.node("pool1", "max_pool2d", ", size: [2, 2], stride: 1")
    lesson.node("flatten1", "flatten", f", order: {order}")
    lesson.node("softmax1", "softmax")
    lesson.loss = "{op: weighted_sum}"
    for golden, part in (("w", "W"), ("b", "b")):
        lesson.parameter(f"conv1.{part}", case[golden])
        lesson.expect(golden, f"conv1.{part}", iteration=0)
    lesson.expect("x", "x")
    lesson.expect("conv", "conv1.out")
    lesson.expect("relu", "relu1.out")
    lesson.expect("pool", "pool1.out")
    lesson.expect(flat, "flatten1.out")
    for name in soft:
        lesson.expect(name, "softmax1.out")
    lesson.skip_rest("shown by the lesson of the other order")
    return lesson


def sobel():
    case = Case("seed_sobel7")
    lesson = Lesson(case)
    lesson.keys.append("layout: nhwc")
    lesson.input("x", ([1, 3, 3, 1], case["x"][1]))
    lesson.data.append(("y", "{shape: [1, 1, 1, 1], fill: 1}"))
    lesson.node("conv1", "conv2d", ", filters: 1, kernel: [3, 3], bias: false")
    lesson.loss = "{op: weighted_sum}"
    lesson.parameter("conv1.W", ([3, 3, 1, 1], case["w"][1]))
    lesson.expect("x", "x")
    lesson.expect("w", "conv1.W", iteration=0)
    lesson.expect("y", "conv1.out")
    return lesson


def weigh(case, suffix=""):
    """A lesson whose loss is the sum of G * out."""
    lesson = Lesson(case, suffix)
    lesson.loss = "{op: weighted_sum}"
    lesson.expect("G", "y")
    lesson.expect("loss", "loss")
    return lesson


def take_parameters(lesson, names):
    """names: golden -> ours; the values come in, the gradients are expected."""
    for golden, ours in names.items():
        lesson.parameter(ours, lesson.case[golden])
        lesson.expect(golden, ours, iteration=0)
        lesson.expect("d" + golden, ours + ".grad")


def transformer(name, causal):
    lesson = weigh(Case(name))
    case = lesson.case
    lesson.input("x", case["x"])
    lesson.input("y", case["G"])
    extra = ", heads: 2, ff: 16, eps: 1.0e-5, causal: " + causal
    lesson.node("b", "transformer_block", extra)
    lesson.expect("x", "x")
    lesson.expect("dx", "x.grad")
    for n in "12":
        for part in ("mean", "rstd", "xhat"):
            lesson.expect(f"ln{n}_{part}", f"b.ln{n}.{part}")
        lesson.skip(f"ln{n}_var", "shown as rstd = 1/sqrt(var + eps)")
        take_parameters(lesson, {f"ln{n}_g": f"b.ln{n}.gamma",
                                 f"ln{n}_b": f"b.ln{n}.beta",
                                 f"W{n}": f"b.ff{n}.W", f"b{n}": f"b.ff{n}.b"})
    take_parameters(lesson, {p + q: f"b.attn.{p}{q}" for q in "qkvo"
                             for p in "Wb"})
    both = {"ln1": "b.ln1.out", "q": "b.attn.q", "k": "b.attn.k",
            "v": "b.attn.v", "scores": "b.attn.scores",
            "probs": "b.attn.probs", "ctx": "b.attn.ctx", "resid1": "b.r",
            "ln2": "b.ln2.out", "ff1": "b.ff1.out", "gelu": "b.gelu.out",
            "ff2": "b.ff2.out"}
    for golden, ours in both.items():
        lesson.expect(golden, ours)
        lesson.expect("d" + golden, ours + ".grad")
    lesson.expect("attn_out", "b.attn.out")
    lesson.expect("y", "b.out")
    lesson.skip("ctx_heads", "shown as ctx, the heads side by side")
    return lesson


def attention_rows(lesson, ident):
    for golden, ours in (("E", "scores"), ("A", "probs")):
        lesson.expect(golden, f"{ident}.{ours}")
        lesson.expect("d" + golden, f"{ident}.{ours}.grad")
    lesson.expect("Y", f"{ident}.out")


def sdpa(name, causal, padding=False):
    lesson = weigh(Case(name))
    case = lesson.case
    for golden in "QKV":
        lesson.input(golden.lower(), case[golden])
        lesson.expect(golden, golden.lower())
        lesson.expect("d" + golden, golden.lower() + ".grad")
    if padding:  # the same for every query
        (tq, tk), mask = case["mask"]
        assert mask == mask[:tk] * tq
        lesson.input("mask", ([tk], mask[:tk]))
    lesson.input("y", case["G"])
    lesson.node("sdpa1", "scaled_dot_attention",
                f", from: [q, k, v{', mask' if padding else ''}], "
                f"causal: {causal}")
    attention_rows(lesson, "sdpa1")
    if "mask" in case.tensors:
        lesson.skip("mask", "the input mask, the same for every query"
                    if padding else "the key causal: true")
    return lesson


def self_attention(name):
    lesson = weigh(Case(name))
    case = lesson.case
    lesson.input("x", case["X"])
    lesson.input("y", case["G"])
    lesson.expect("X", "x")
    lesson.expect("dX", "x.grad")
    for golden in "QKV":
        ident = golden.lower()
        units = case["W" + golden][0][1]
        lesson.node(ident, "dense",
                    f", from: x, units: {units}, bias: false")
        take_parameters(lesson, {"W" + golden: ident + ".W"})
        lesson.expect(golden, ident + ".out")
        lesson.expect("d" + golden, ident + ".out.grad")
    lesson.node("sdpa1", "scaled_dot_attention", ", from: [q, k, v]")
    attention_rows(lesson, "sdpa1")
    return lesson


def bahdanau(name):
    lesson = weigh(Case(name))
    case = lesson.case
    for golden in "sh":
        lesson.input(golden, case[golden])
        lesson.expect(golden, golden)
        lesson.expect("d" + golden, golden + ".grad")
    lesson.input("y", case["G"])
    align = case["b"][0][0]
    lesson.node("att1", "bahdanau_attention", f", from: [s, h], align: {align}")
    take_parameters(lesson, {p: f"att1.{p}" for p in ("Ws", "Wh", "b")})
    if "v" in case.tensors:
        take_parameters(lesson, {"v": "att1.v"})
    else:  # the slide's form: e = t
        lesson.parameters.append(("att1.v", "{shape: [1], fill: 1}"))
    for golden in "utea":
        lesson.expect(golden, "att1." + golden)
    for golden in ("da", "de"):
        lesson.expect(golden, f"att1.{golden[1]}.grad")
    lesson.expect("c", "att1.out")
    return lesson


def embedding(name):
    lesson = weigh(Case(name))
    case = lesson.case
    vocab, dim = case["E"][0]
    lesson.input("x", case["ids"])
    lesson.input("y", case["G"])
    lesson.expect("ids", "x")
    lesson.node("emb1", "embedding", f", vocab: {vocab}, dim: {dim}")
    take_parameters(lesson, {"E": "emb1.W"})
    lesson.expect("y", "emb1.out")
    lesson.skip("onehot", "the product that the gather spares")
    return lesson


def all_lessons():
    mse = "{op: mse, reduction: half_sum_per_sample}"
    ce = "{op: softmax_cross_entropy}"
    adam = "lr: 0.05, beta1: 0.9, beta2: 0.999, eps: 1.0e-8"
    decay = adam + ", weight_decay: 0.1"
    sgd = "lr: 0.1, momentum: 0.9"
    nesterov = sgd + ", nesterov: true"
    velocity = {"v": "velocity"}
    moments = {"m": "m", "v": "v"}
    out = [
        lstm("i_lstm_seed_y1p25"),
        lstm("i_lstm_seed_y1m25"),
        lstm("i_lstm_b2t3d3h2"),
        rnn("v_rnn_t3"),
        rnn("v_rnn_t3_bias_b2"),
        mlp("ii_mlp_4_3_2_relu_ce", "relu", "labels", ce),
        mlp("ii_mlp_4_3_2_sigmoid_mse", "sigmoid", "target", mse),
        softmax_regression("ii_softmax_regression_5_3"),
        transformer("iv_transformer_causal", "true"),
        transformer("iv_transformer_full", "false"),
        sdpa("vi_sdpa_nomask", "false"),
        sdpa("vi_sdpa_causal", "true"),
        sdpa("vi_sdpa_padding", "false", padding=True),
        self_attention("vi_self_attention"),
        bahdanau("vi_bahdanau_slide"),
        bahdanau("vi_bahdanau_v"),
        embedding("extra_embedding"),
        optimizer("vii_sgd", "{op: sgd, lr: 0.1}", {}),
        optimizer("vii_sgd_momentum", "{op: sgd, %s}" % sgd, velocity),
        optimizer("vii_sgd_nesterov", "{op: sgd, %s}" % nesterov, velocity),
        optimizer("vii_adam", "{op: adam, %s}" % adam, moments),
        optimizer("vii_adamw", "{op: adamw, %s}" % decay, moments),
        softmax("viii_softmax"),
        layer_norm("viii_layernorm"),
        batch_norm("viii_batchnorm_2d"),
        batch_norm("viii_batchnorm_nhwc"),
        conv("iii_conv_same_s1_pool_s2", 1, "same", 2),
        conv("iii_conv_same_s2_asym", 2, "same", 1),
        conv("iii_conv_same_s2_pool_s1", 2, "same", 1),
        conv("iii_conv_valid_s1_pool_s1", 1, "valid", 1),
        conv("iii_conv_valid_s2_pool_s1", 2, "valid", 1),
        cnn_example("", "channel_first", "flatten", ["softmax", "softmax_printed"]),
        cnn_example("_nhwc", "row_major", "flatten_nhwc", ["softmax_nhwc_order"]),
        sobel(),
    ]
    out += activation("viii_relu", "relu")
    out += activation("viii_leaky_relu", "leaky_relu", ", slope: 0.01")
    out += activation("viii_sigmoid", "sigmoid")
    out += activation("viii_tanh", "tanh")
    out += activation("viii_gelu_tanh", "gelu", ", approximate: tanh")
    out += activation("viii_gelu_erf", "gelu", ", approximate: erf")
    return out


def main():
    check = "--check" in sys.argv[1:]
    lessons = all_lessons()
    files = {f"lessons/{le.name}.md": le.text() for le in lessons}
    files["map.txt"] = HEADER + "".join("\n" + le.map_text() for le in lessons)
    stale = []
    os.makedirs(os.path.join(HERE, "lessons"), exist_ok=True)
    for name, text in files.items():
        path = os.path.join(HERE, name)
        old = open(path).read() if os.path.exists(path) else None
        if old == text:
            continue
        stale.append(name)
        if not check:
            with open(path, "w") as f:
                f.write(text)
    if check and stale:
        print("out of date, run make_lessons.py:", *stale, sep="\n  ")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
