"""One iteration of the lesson port in NumPy, or in CuPy: its tensors as files.

    lapenna-lab step port --npy ours
    python3 mlp.py ours yours
    python3 judge.py ours yours
"""
import os
import sys

import numpy as np  # or: import cupy as np


def main():
    ours, yours = sys.argv[1:3]
    os.makedirs(yours, exist_ok=True)

    def load(name):
        return np.load(f"{ours}/{name}.npy")

    x, y = load("x"), load("y").astype("int64")
    W1, b1 = load("fc1.W.before"), load("fc1.b.before")
    W2, b2 = load("fc2.W.before"), load("fc2.b.before")
    n = x.shape[0]
    rows = np.arange(n)

    # forward
    z1 = x @ W1 + b1
    h = np.maximum(z1, 0)
    z2 = h @ W2 + b2
    e = np.exp(z2 - z2.max(axis=1, keepdims=True))
    probs = e / e.sum(axis=1, keepdims=True)
    loss = -np.log(probs[rows, y]).mean()

    # backward
    dz2 = probs.copy()
    dz2[rows, y] -= 1
    dz2 /= n
    dW2, db2 = h.T @ dz2, dz2.sum(axis=0)
    dh = dz2 @ W2.T
    dz1 = dh * (z1 > 0)
    dW1, db1 = x.T @ dz1, dz1.sum(axis=0)

    # update
    lr = 0.2
    tensors = {
        "fc1.out": z1, "relu1.out": h, "fc2.out": z2, "loss.probs": probs,
        "loss": loss, "fc2.out.grad": dz2, "fc2.W.grad": dW2, "fc2.b.grad": db2,
        "relu1.out.grad": dh, "fc1.out.grad": dz1, "fc1.W.grad": dW1,
        "fc1.b.grad": db1, "fc1.W": W1 - lr * dW1, "fc1.b": b1 - lr * db1,
        "fc2.W": W2 - lr * dW2, "fc2.b": b2 - lr * db2,
    }
    for name, value in tensors.items():
        np.save(f"{yours}/{name}.npy", np.asarray(value, dtype="float32"))


main()
