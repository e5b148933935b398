#!/usr/bin/env python3
"""attention.py PROGRAM [SIZE...]: the labs attention and attention_causal beside
PyTorch's attention, on the same GPU, in one run.

A size is BxHxTxD (4x16x1024x64 and 4x16x4096x64). This program's variants are those
of `lapenna-lab lab`; PyTorch's are scaled_dot_product_attention with the backend
that is named: FLASH_ATTENTION (FlashAttention-2) and CUDNN_ATTENTION in bf16,
EFFICIENT_ATTENTION in fp32. Both sides: random inputs of variance 1, medians of 21
calls, and before each twice as many bytes as the L2 cache holds are read, in
8 pieces that are all copied to one place. FLOP: 4 D for each pair of
query and key that a query sees. Prints a JSON object for every figure and a table
last.

  --variants LIST   variants of this program (all)
"""
import argparse
import json
import statistics
import subprocess

PEERS = (("FLASH_ATTENTION", "bf16"), ("CUDNN_ATTENTION", "bf16"),
         ("EFFICIENT_ATTENTION", "fp32"))
REPEATS = 21
PIECES = 8  # that are read to empty the cache


def flop(size, causal):
    b, h, t, d = map(int, size.split("x"))
    return 4 * b * h * d * (t * (t + 1) // 2 if causal else t * t)


def ours(program, size, causal, variants):
    command = [program, "lab", "attention_causal" if causal else "attention",
               "--backend", "cuda", "--sizes", size, "--repeat", str(REPEATS),
               "--json"]
    if variants:
        command += ["--variants", variants]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if out.returncode:
        raise SystemExit(f"attention.py: {' '.join(command)} failed")
    for line in out.stdout.splitlines():
        row = json.loads(line)
        if row["type"] == "lab_row" and row["status"] == "done":
            yield row["variant"], row["precision"], row["median_ns"]


def theirs(size, causal):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    attend = torch.nn.functional.scaled_dot_product_attention
    shape = tuple(map(int, size.split("x")))
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    # As the ladder does (src/engine/bench/ladder_climb.c): a copy as large as the cache
    # would leave it full of numbers that have to be written to memory first.
    flush = torch.empty((PIECES + 1, 2 * l2 // PIECES), dtype=torch.uint8,
                        device="cuda")
    for name, precision in PEERS:
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        q, k, v = (torch.randn(shape, device="cuda", dtype=dtype)
                   for _ in range(3))
        times = []
        try:
            with sdpa_kernel(getattr(SDPBackend, name)):
                for _ in range(REPEATS + 3):
                    begin, end = (torch.cuda.Event(enable_timing=True)
                                  for _ in range(2))
                    for piece in flush[:PIECES]:
                        flush[PIECES].copy_(piece)
                    begin.record()
                    attend(q, k, v, is_causal=causal)
                    end.record()
                    end.synchronize()
                    times.append(begin.elapsed_time(end) * 1e6)
        except RuntimeError as why:  # a backend that refuses
            print(json.dumps({"variant": f"PyTorch {name}", "error": str(why)}))
            continue
        yield f"PyTorch {name}", precision, statistics.median(times[3:])


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("program")
    args.add_argument("sizes", nargs="*",
                      default=["4x16x1024x64", "4x16x4096x64"])
    args.add_argument("--variants")
    args = args.parse_args()
    table = []
    for size in args.sizes:
        for causal in (False, True):
            rows = [*ours(args.program, size, causal, args.variants),
                    *theirs(size, causal)]
            for name, precision, ns in rows:
                tflops = flop(size, causal) / ns / 1e3
                table.append((size, "causal" if causal else "all", precision,
                              name, ns / 1e6, tflops))
                print(json.dumps(dict(zip(
                    ("size", "mask", "precision", "variant", "ms", "tflop_s"),
                    table[-1]))), flush=True)
    for row in table:
        print("{:15} {:6} {:4} {:28} {:9.3f} ms {:7.1f} TFLOP/s".format(*row))


if __name__ == "__main__":
    main()
