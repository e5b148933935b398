#!/usr/bin/env python3
"""compare_pytorch.py PROGRAM [NAME...]: whole iterations beside PyTorch 2 on the
same GPU, with the same parameters and data, fp32 without TF32.

Networks of train_lessons.py. This program walks N iterations (`step --npy`) and
writes the parameters that the last one found, its loss and every parameter's
gradient. PyTorch takes the same parameters and data, and computes loss and
gradients of its own. The loss must agree to 1e-6 of itself, and each of PyTorch's
parameters must have a gradient within 1e-4 of its norm. Prints the worst of each
network and exits with 1 where one is further off.

A number that rounding carries over 0 passes relu here and not there, or the other
way: of millions a few do, and each changes the gradients by far more than rounding
does. They are counted ("relu differs"), each must lie within 1e-5 of the largest
number of its layer, and the gradients are compared with PyTorch's again for which
relu let pass what it did here. Those have to agree.

  --iterations N   (1, and then 4)
  --variants TEXT  options for this program, e.g. "--variant conv2d=tile"
"""
import argparse
import pathlib
import shlex
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

import train_lessons
import train_peer

PARAMETERS = ["*.W", "*.b", "*.U", "*.W[qkvo]", "*.b[qkvo]", "*.gamma",
              "*.beta"]
PATTERNS = ",".join(PARAMETERS + [p + ".grad" for p in PARAMETERS] +
                    ["x", "y", "loss", "relu*.out"])
LOSS_LIMIT = 1e-6
GRADIENT_LIMIT = 1e-4
NEAR_ZERO = 1e-5


class Tensors:
    """The files of one walk; `which` is .before or .grad."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name, which=""):
        return torch.from_numpy(np.load(self.folder / f"{name}{which}.npy"))


def linear(get, node, which, bias=True):
    found = {"weight": get(f"{node}.W", which).T}
    if bias:
        found["bias"] = get(f"{node}.b", which)
    return found


def named(module, tensors):
    return {f"{module}.{k}": v for k, v in tensors.items()}


def mlp(get, which):
    return {k: v for n in ("fc1", "fc2", "fc3")
            for k, v in named(n, linear(get, n, which)).items()}


def cnn(get, which):
    found = {}
    for n in ("conv1", "conv2", "conv3"):
        found[f"{n}.weight"] = get(f"{n}.W", which).permute(3, 2, 0, 1)
        found[f"{n}.bias"] = get(f"{n}.b", which)
    flat = get("fc1.W", which)  # rows are h, w, c; PyTorch flattens c, h, w
    flat = flat.reshape(7, 7, 32, -1).permute(2, 0, 1, 3).reshape(32 * 49, -1)
    found |= {"fc1.weight": flat.T, "fc1.bias": get("fc1.b", which)}
    return found | named("fc2", linear(get, "fc2", which))


def lstm(get, which):
    def gates(t):  # a, i, f, o here; i, f, a, o there
        a, i, f, o = t.chunk(4)
        return torch.cat([i, f, a, o])
    return {"emb.weight": get("emb.W", which),
            "lstm1.weight_ih_l0": gates(get("lstm1.W", which)),
            "lstm1.weight_hh_l0": gates(get("lstm1.U", which)),
            "lstm1.bias_ih_l0": gates(get("lstm1.b", which))} | named(
                "out", linear(get, "out", which))


def gpt(get, which):
    found = {"emb.weight": get("emb.W", which),
             "pos.weight": get("pos.W", which),
             "ln.weight": get("ln.gamma", which),
             "ln.bias": get("ln.beta", which),
             "head.weight": get("head.W", which).T}
    for i in range(6):
        ours, theirs = f"block{i + 1}", f"blocks.{i}"
        for n in ("ln1", "ln2"):
            found[f"{theirs}.{n}.weight"] = get(f"{ours}.{n}.gamma", which)
            found[f"{theirs}.{n}.bias"] = get(f"{ours}.{n}.beta", which)
        found[f"{theirs}.qkv.weight"] = torch.cat(
            [get(f"{ours}.attn.W{c}", which).T for c in "qkv"])
        found[f"{theirs}.qkv.bias"] = torch.cat(
            [get(f"{ours}.attn.b{c}", which) for c in "qkv"])
        found[f"{theirs}.output.weight"] = get(f"{ours}.attn.Wo", which).T
        found[f"{theirs}.output.bias"] = get(f"{ours}.attn.bo", which)
        for n in ("ff1", "ff2"):
            found |= named(f"{theirs}.{n}", linear(get, f"{ours}.{n}", which))
    return found


OWN_RELU = train_peer.relu
MAPS = {"mlp-b128": mlp, "cnn-b128": cnn, "cnn-b1024": cnn, "lstm": lstm,
        "gpt": gpt}


def walk(program, lesson, folder, iterations, options):
    target = folder / f"{lesson.stem}-{iterations}"
    subprocess.run([program, "step", "--backend", "cuda", "--db",
                    str(folder / "runs.db"), "--iterations", str(iterations),
                    "--npy", str(target), "--tensors", PATTERNS, *options,
                    str(lesson)], check=True, stdout=subprocess.DEVNULL)
    return Tensors(target)


class Relu:
    """Lets pass what our relu did, and looks where PyTorch's would not."""

    def __init__(self, get):
        self.get = get
        self.differ = 0
        self.farthest = 0.0  # from 0, of those; 1 is the layer's largest

    def __call__(self, name, x):
        passed = self.get(f"{name}.out").cuda() > 0
        if passed.dim() == 4:
            passed = passed.permute(0, 3, 1, 2)
        passed = passed.reshape(x.shape)
        other = x.detach()[passed != (x > 0)].abs()
        if other.numel():
            self.differ += other.numel()
            self.farthest = max(self.farthest,
                                (other.max() / x.abs().max()).item())
        return x * passed


def gradients(model, x, y, relu):
    train_peer.relu = relu
    model.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    return loss.item(), {k: p.grad.cpu().double()
                         for k, p in model.named_parameters()}


def worst_of(ours, theirs, left):
    """The worst gradient's relative error, and its parameter."""
    return max((((ours[k].double() - g).norm() / g.norm()).item(), k)
               for k, g in theirs.items() if k not in left)


def compare(name, get):
    """Our loss, its relative error, the worst gradient with PyTorch's relu and
    with ours, and that relu."""
    model = train_peer.MODELS[name]()
    found = MAPS[name](get, ".before")
    state = model.state_dict()
    for key in found:
        assert state[key].shape == found[key].shape, key
    left = set(state) - set(found)
    assert left <= {"lstm1.bias_hh_l0"}, left
    for key in left:
        found[key] = torch.zeros_like(state[key])
    model.load_state_dict(found)
    model.cuda()
    x, y = get("x"), get("y").long().flatten()
    x = x.long() if "lstm" in name or "gpt" in name else x
    if name.startswith("cnn"):
        x = x.permute(0, 3, 1, 2).contiguous()
    x, y = x.cuda(), y.cuda()
    found = MAPS[name](get, ".grad")
    ours = get("loss").item()
    loss, theirs = gradients(model, x, y, OWN_RELU)
    loss_error = abs(ours - loss) / abs(loss)
    relu = Relu(get)
    _, same = gradients(model, x, y, relu)
    return (ours, loss_error, worst_of(found, theirs, left),
            worst_of(found, same, left), relu)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("names", nargs="*", default=list(MAPS))
    parser.add_argument("--iterations", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--variants", default="")
    args = parser.parse_args()
    bad = 0
    print("network     iteration  loss          loss error  relu differs  "
          "with ours  worst gradient")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in args.names:
            lesson = train_lessons.write(folder, name)
            for n in args.iterations:
                get = walk(args.program, lesson, folder, n,
                           shlex.split(args.variants))
                loss, loss_error, worst, same, relu = compare(name, get)
                right = (loss_error <= LOSS_LIMIT and
                         same[0] <= GRADIENT_LIMIT and
                         relu.farthest <= NEAR_ZERO)
                bad += not right
                print(f"{name:11} {n:9}  {loss:.8f}    {loss_error:.2e}  "
                      f"{relu.differ:12}  {same[0]:.2e}   {worst[0]:.2e} "
                      f"{worst[1]} {'ok' if right else 'WRONG'}", flush=True)
    return 1 if bad else 0


sys.exit(main())
