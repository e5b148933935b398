"""train_lessons.py: the networks that training is measured with, as lessons.

write(folder, name, **changes) writes one and returns its path. Inputs are
random and fixed: every iteration sees the same batch, as in the PyTorch twin
of train_peer.py. Python 3 and nothing else.
"""
import random

HEAD = """---
format: 1
title: {title}
seed: 1
layout: nhwc
data:
  source: inline
  x: {x}
  y: {y}
network:
{network}
loss: {{op: softmax_cross_entropy}}
optimizer: {{op: adamw, lr: 0.001, weight_decay: 0.01}}
run: {{iterations: 200}}
---
Timed and compared, not read. bench/train_lessons.py wrote it.
"""

CNN = """  - {id: conv1, op: conv2d, filters: 12, kernel: [3, 3], padding: same}
  - {id: relu1, op: relu}
  - {id: conv2, op: conv2d, filters: 24, kernel: [6, 6], stride: 2, padding: same}
  - {id: relu2, op: relu}
  - {id: conv3, op: conv2d, filters: 32, kernel: [6, 6], stride: 2, padding: same}
  - {id: relu3, op: relu}
  - {id: flatten1, op: flatten}
  - {id: fc1, op: dense, units: 200}
  - {id: relu4, op: relu}
  - {id: fc2, op: dense, units: 10}"""

MLP = """  - {id: fc1, op: dense, units: 16}
  - {id: relu1, op: relu}
  - {id: fc2, op: dense, units: 15}
  - {id: relu2, op: relu}
  - {id: fc3, op: dense, units: 10}"""

MLP_LARGE = MLP.replace("units: 16", "units: 1024").replace("units: 15", "units: 1024")


def lstm(vocab, hidden):
    return f"""  - {{id: emb, op: embedding, vocab: {vocab}, dim: {hidden}}}
  - {{id: lstm1, op: lstm, hidden: {hidden}, return: sequence}}
  - {{id: out, op: dense, units: {vocab}}}"""


def gpt(vocab, dim, heads, layers, length):
    blocks = "\n".join(
        f"  - {{id: block{i + 1}, op: transformer_block, heads: {heads}, "
        f"ff: {4 * dim}, causal: true}}" for i in range(layers))
    return f"""  - {{id: emb, op: embedding, vocab: {vocab}, dim: {dim}}}
  - {{id: pos, op: positional_embedding, max_length: {length}}}
{blocks}
  - {{id: ln, op: layer_norm}}
  - {{id: head, op: dense, units: {vocab}, bias: false}}"""


# Normal numbers; rounded to integers, so that a lesson stays below 4 MiB.
NORMAL, COARSE = 0, -1
# name: network, shape of x, its ids are below (or how it is drawn), shape of y,
# classes
NETWORKS = {
    # For the CPU: those of a laptop, and larger ones.
    "cpu-mlp": (MLP, [128, 784], NORMAL, [128], 10),
    "cpu-cnn": (CNN, [32, 28, 28, 1], COARSE, [32], 10),
    "cpu-lstm": (lstm(65, 128), [16, 32], 65, [16, 32], 65),
    "cpu-gpt": (gpt(65, 128, 4, 2, 64), [8, 64], 65, [8, 64], 65),
    "cpu-cnn-large": (CNN, [128, 28, 28, 1], COARSE, [128], 10),
    "cpu-gpt-large": (gpt(65, 256, 8, 4, 128), [8, 128], 65, [8, 128], 65),
    # For a GPU.
    "mlp-b128": (MLP, [128, 784], NORMAL, [128], 10),
    "mlp-b1024": (MLP_LARGE, [1024, 784], COARSE, [1024], 10),
    "cnn-b128": (CNN, [128, 28, 28, 1], COARSE, [128], 10),
    "cnn-b1024": (CNN, [1024, 28, 28, 1], COARSE, [1024], 10),
    "lstm": (lstm(65, 512), [64, 128], 65, [64, 128], 65),
    "gpt": (gpt(65, 384, 6, 6, 256), [64, 256], 65, [64, 256], 65),
}


DIGITS = {NORMAL: 6, COARSE: 0}


def tensor(rng, shape, below):
    count = 1
    for n in shape:
        count *= n
    values = (str(rng.randrange(below)) if below > 0
              else f"{rng.gauss(0, 1):.{DIGITS[below]}f}" for _ in range(count))
    lines = []
    row = []
    for v in values:
        row.append(v)
        if len(row) == 16:
            lines.append(",".join(row))
            row = []
    if row:
        lines.append(",".join(row))
    return ("{shape: " + str(shape) + ", values: [\n"
            + ",\n".join(lines) + "]}")


def write(folder, name):
    network, x, below, y, classes = NETWORKS[name]
    rng = random.Random(1)
    path = folder / f"{name}.md"
    path.write_text(HEAD.format(title=name, network=network,
                                x=tensor(rng, x, below),
                                y=tensor(rng, y, classes)))
    return path
