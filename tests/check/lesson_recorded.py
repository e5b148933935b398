"""The figures that lessons print of our own machines are those of the recorded
runs that ship.

usage: lesson_recorded.py SOURCE_DIR [--plant LESSON...]

With --plant each figure of these lessons is changed by 10 %, up and down: a change that
the check does not find is an error.

A paragraph that prints figures names the run that they are of, "run 36 of what
ships" or "runs 7 and 34"; it counts for the paragraphs and tables below it too, up
to the next heading or the next run that is named. There each number with a unit,
with a decimal point or a comma, or behind the name of a variant must be one of that run:
a time, a rate, a ceiling, a size, a workspace, a number of a row's note, or, with %
or "times", a ratio of two that belong together (of one size, of one variant, of a row
and its model or its ceiling). "1.3 times its model's" is of the variant's rate and model
alone, "by the model 1.7 times" of two models, "2.7 times as fast" the quotient of two
figures of its sentence where that prints them and names no variants, and "15 times worse"
that of two errors of its sentence. An error ("1.25e-18 at 1000") is that of the run's rows. In a sentence that names two variants or more the ratio
is of two of those; where it names fewer, the others are of its paragraph, or, where
that has fewer too, of the text and the tables above it with the same run. A number
behind a variant's name must be that variant's, and in a table one of the variant, precision and
size that its row and its column name. A time, a rate or "N times faster" in a paragraph
without a run is an error: what no run that ships has is described in words. A ratio in words ("half", "three
times") below a run is an error: it is tied to nothing. A ratio in a sentence that names
the course or its card may be one of a variant and a figure of the course: of those that the
sentence prints, or of the lesson's `slide` list at the same size. The questions of
"Predict first" give figures and claim none.

The course's own figures are those of the `slide` lists, in a column of the course's
machine at the row's variant and the size of the column before. In a lesson that has such a
list this goes for the paragraphs without a run too, if they name the course. What follows
from other figures, or from a file of the tree, has a line in RELATIONS. What a text states
of the GPU that made the runs, before it comes to them, is that of the run's own list
(TARGET_INFO_GPU), of profiles/devices.csv and of the copy of the runs: FACTS.

A ratio of two sizes is of two of those that its sentence names, if it names any. "7 % of"
is a part, "7 % ahead" is more, "saves 7 %" less. Where the run has several sizes or
precisions, and the ratio is another at another one, the sentence names which it is of;
"within 7 %", "up to 7 %" and "2 to 7 times" are the bounds of all.

A figure is of the sizes that its sentence names ("at 4096", "S = 8", "64 KiB"), or the
last sentence that named some; in a table of its row's. One without a unit has a unit
of a number before it. Of hardware counters, kernels and notes the run has the bytes
that "DRAM reads", the occupancy that is "*achieved*", the share of the cycles in which
the "tensor cores work", "instructions a cycle", multiply-adds that a variant "executes",
registers "a thread", bytes of "workspace" and "sectors".

When a recording gives the runs other numbers, or other figures, this check has a
line for each: put the run's new number and its figures into the text.
`lapenna-lab lab LESSON --backend cpu` prints both, below the table of the CPU.
"""
import csv
import functools
import glob
import math
import os
import re
import sqlite3
import sys

# What a lesson may print although no run has it: its number, words (a regular
# expression) that are not looked at, and where they come from.
COURSE = "the course's figure"
DERIVED = "follows from figures of the paragraph or of the text's own sizes"
SHEET = "the data sheet's figure"
ALLOWED = [
    ("230", r"trains 2\.5 times", COURSE),
    ("258", r"67 TFLOP/s", SHEET),
    ("258", r"132 x 128 multiply-adds", DERIVED),
    ("290", r"shape 64 x 64, 32 deep", "what the search chose"),
    ("258", r"an occupancy of 6 %", DERIVED),
    ("202", r"half of a multiprocessor that waits", DERIVED),
    ("210", r"arithmetic is sixteen times as fast", SHEET),
    ("210", r"a fifth lower", DERIVED),
    ("225", r"loads are a quarter as many", DERIVED),
    ("226", r"walks twice", DERIVED),
    ("227", r"two thirds of the multiprocessors", DERIVED),
    ("232", r"half precision,", DERIVED),
    ("236", r"36,864 elements", DERIVED),
    ("232", r"not half of them|nine tenths of a tile", DERIVED),
    ("233", r"less than a third", DERIVED),
    ("254", r"91 % of 128 bytes a cycle", DERIVED),
    ("242", r"half of the fp32 rate", SHEET),
    ("202", r"is an eighth", DERIVED),
    ("202", r"a quarter of the instructions|writes it twice", DERIVED),
    ("204", r"more than a third full", DERIVED),
    ("210", r"eight rounds and a half", DERIVED),
    ("211", r"half a unit of its last bit", DERIVED),
    ("254", r"asks for 8,590 MB|82 % is still", DERIVED),
    ("252", r"six of every 32|19 in a hundred", DERIVED),
    ("256", r"one thread of 32", DERIVED),
    ("255", r"occupancy doubles|12\.5 a multiprocessor a microsecond", DERIVED),
    ("257", r"half of it reads|half of 92 GB/s, the", DERIVED),
    ("257", r"half that is read", DERIVED),
    ("280", r"with half of the exponentials", "what was tried, and no figure"),
    ("211", r"above 65504 is infinite", DERIVED),
]

# Figures that follow from others: the lesson, its words, and what they are computed
# from. {} is a figure that is looked at like any other, {=} one of which this line
# alone has what it must be.
RELATIONS = [
    ("210", "an A100 make {=} multiply-adds of fp16 a cycle in a multiprocessor, those of "
     "a V100 {=}, Hopper's {=}; its fp32 units make {=}",
     lambda a, v, h, f: (a, v) == (
         fact("fma_per_clock", "Ampere", "tensor_fp16"),
         fact("fma_per_clock", "Volta", "tensor_fp16")) and
     2 * h == h200("tensor_flop_per_clock") / sms() and f == h200("lanes") / sms()),
    ("210", "work in {} % of the cycles (counters of the run): at {=} MHz {=} "
     "multiprocessors with {=} operations a cycle would make {=} TFLOP/s",
     lambda p, f, m, o, t: f == h200("boost_mhz") and m == sms() and
     o * m == h200("tensor_flop_per_clock") and t.is_(p * f * m * o / 1e8)),
    ("210", "products have {=} bits instead of {=}", lambda a, b: (a, b) == (
        fact("formats", "half", "precision"), fact("formats", "bfloat16", "precision"))),
    ("210", "Tiles of {=} x {=} would be six rounds there, but three at {}",
     lambda a, b, n: [rounds(n, a, b), rounds(6000, a, b)] == [3, 6]),
    ("230", "{=} MiB are {=} channels x {=} x {=} x {=} numbers of {=} bytes",
     lambda m, *of: m == math.prod(of) / 2**20 == slide("230", "GEMM, workspace", 3)),
    ("230", "image of {=} x {=} with {=} channels and {=} kernels: {=} GFLOP for {=} x {=},"
     " {=} for {=} x {=}. Then {} milliseconds are {=} TFLOP/s, and the {} of Winograd {=}",
     lambda h, w, c, k, small, r, r_, large, s, s_, t, rate, winograd, faster:
     (r, s) == (r_, s_) and small.is_(2e-9 * h * w * c * k * r * r) and
     large.is_(2e-9 * h * w * c * k * s * s) and rate.is_(small / t) and
     faster.is_(small / winograd)),
    ("230", "one image, {=} channels, {=} x {=}, {=} kernels", lambda c, h, w, k:
     f"1x{c:.0f}x{h:.0f}x{w:.0f}x{k:.0f}x3" in run_of(383).sizes),
    ("240", "for N = {=}, {=} and {=} on a CPU", lambda *n:
     [f"{v:.0f}" for v in n] == sorted({s for _, s, *_ in slides["240"]})),
    ("240", "on its GPU for N = {=}: {=} times as much", lambda n, times: times.is_(
        slide("240", "torch.matmul", n) / slide("240", "np.dot, third run", n))),
    ("240", "reports {=} ms for N = {=}, which is {=}",
     lambda ms, n, rate: rate.is_(2 * n**3 / ms / 1e6)),
    ("240", "$2 n^3$ = {=}, exactly(?s:.*?)--arg int:{=}",
     lambda flop, n: flop == 2 * n**3),
    ("240", "from {} to {}: {=} tiles of {=} x {=}", lambda n, _, tiles, a, b:
     tiles == math.ceil(n / a) * math.ceil(n / b)),
    ("242", "for N = {=} to {=}: cuBLAS reaches {=} GFLOP/s, MAGMA's own kernel {=}, and MKL "
     "on {=} threads {=}", lambda first, last, blas, magma, threads, mkl:
     (first, last) == (min(n := [float(s) for _, s, *_ in slides["242"]]), max(n)) and
     blas.is_(best("242", "cuBLAS")) and magma.is_(best("242", "MAGMA")) and
     mkl.is_(best("242", f"CPU, MKL, {threads:.0f} threads"))),
    ("242", "cuBLAS {}. That is {=} times what the course's GPU did in *single* precision "
     "({})", lambda rate, times, single: times.is_(rate / single)),
    ("242", "`mma.m8n8k4.f64` makes {=} sums", lambda n: n == 8 * 8),
    ("242", "Up to {=} x {=} all elements are compared", lambda a, b: a == b == math.isqrt(
        1 << int(re.search(r" ALL_UP_TO = 1 << (\d+),", source(
            "src/engine/bench/ladder.c")).group(1)))),
    ("242", "and beyond {=} of them stand for all", lambda n:
     f" SAMPLES = {n:.0f}," in source("src/engine/bench/ladder.c")),
    ("242", "is {=} TFLOP/s ({=} multiprocessors, {=} fp64 units each, two operations, at "
     "{=} MHz; the P100 for NVLink has {=})", lambda t, m, u, f, other:
     m == fact("gpus", "P100", "sms") and u == fact("gpus", "P100", "fp64_lanes_per_sm") and
     round(2 * m * u * f / 1e3) == fact("magma_dgemm", "n=5000", "peak") and
     t.is_(2 * m * u * f / 1e6) and other == fact("gpus", "P100", "printed_fp64")),
    ("243", "P100: {=} GFLOP/s at n = {=}, {=} at {=} and {=} at {=}, against {=} of MKL on "
     "{=} threads", lambda *of: all(rate.is_(slide("243", "MAGMA", n)) for rate, n in
     zip(of[:6:2], of[1:6:2])) and of[6].is_(
         slide("243", f"CPU, MKL, {of[7]:.0f} threads", of[5]))),
    ("243", "the course's {=} rows with their residuals; at n = {=} its CPU is ahead",
     lambda rows, n: rows == len([s for w, s, *_ in slides["243"] if w == "MAGMA"]) and
     slide("243", "CPU, MKL, 20 threads", n) > slide("243", "MAGMA", n)),
    ("243", "A panel of {=} columns instead of {=}", lambda other, n: other == 2 * n and
     f"PANEL = {n:.0f}," in source("kernels/lu/blocked.cu")),
    ("243", "example with n = {=} and {=} right hand sides", lambda n, m: re.search(
        rf'sizes_cpu = "{n:.0f}x{m:.0f}', source("kernels/gesv/operation.c"))),
    ("243", "`lab gesv`, {=} x {=}, is", lambda n, m: re.search(
        rf'sizes_cpu = "{n:.0f}x{m:.0f}', source("kernels/gesv/operation.c"))),
    ("243", "launches {=} kernels for n = {}", lambda k, n: k == 4 * n - 2),
    ("243", "At all {=} sizes (run {}", lambda n, run: n == len(run_of(int(run)).sizes)),
    ("259", "(run {} of what ships), {=} MiB each way", lambda run, m: m == 4 * int(
        run_of(int(run)).rows[0]["size"].split("x")[0]) / 2**20),
    ("259", "takes {} ms, {=} GB/s", lambda ms, rate: rate.is_(64 * 2**20 / ms / 1e6)),
    ("259", "from pageable memory {=} to {=} ms there and {=} to {=} back",
     lambda *rest: all(t.is_(end(float(n) for n in alone(403, "pageable", word)))
                       for t, word, end in zip(rest, ("in", "in", "out", "out"),
                                               (min, max, min, max)))),
    ("259", "model is {=} ms short", lambda short: all(
        short.is_(r["median_ns"] / 1e6 - float(re.search(
            r"together ([\d.]+)", r["note"]).group(1))) for r in run_of(403).rows
        if r["rung"] == "streams_8" and r["size"][-3:] in ("6x1", "024"))),
    ("259", "{} times as fast as `pinned`, of {=} that could be",
     lambda _, n: n == len(("in", "kernel", "out"))),
    ("259", "which part, {=} to {=}, is", lambda first, last: first == 1 and last == max(
        int(r.split("_")[1]) for r in run_of(403).variants if "_" in r)),
    ("281", "a tile of {=} queries and {=} keys hides", lambda queries, keys:
     queries % 64 == 0 and f"wgmma_config<TYPE, 64, {queries / 64:.0f}, {keys:.0f}," in
     source("kernels/attention/wgmma_sm90.cu")),
    ("281", "of the pairs {=} % are left", lambda p: p.is_(100 * (4096 + 1) / 2 / 4096)),
    ("204", "At {=} these are {=} operations a byte", lambda n, o: o.is_(n / 6)),
    ("204", "tiles, {=} at once: how full", lambda places: places == 2 * sms()),
    ("212", "of an A100 makes {=} multiply-adds of INT8", lambda n: n == fact(
        "fma_per_clock", "Ampere", "tensor_int8")),
    ("213", "In {=} bits that is 9/16 of A, the {=} % of", lambda bits, p:
     p == 100 / 2 + 100 * 2 / bits / 2 == 100 * 9 / 16),
    ("227", "At {=} GB/s a GPU of {=} multiprocessors gets {=} numbers in a nanosecond",
     lambda rate, m, n: n == rate / 12 and m == sms() and rate == copy_about()),
    ("231", "off by {=} at most in results of up to {=}", lambda e, top: all(
        note_of(374, variant) == [e, top] for variant in ("default_math", "tensor_op",
                                                     "conversion"))),
    ("231", "it is off by {=} only", lambda e:
     note_of(374, "nonfused_tensor_op")[0] == e),
    ("231", "A sum has {=} terms of about {=}.", lambda n, v: [
        f"x{n / 9:.0f}x" in run_of(374).rows[0]["size"], v == .08] == [True, True]),
    ("231", "`--sizes 1x128x128x128x128x11`, where a sum has {=} terms",
     lambda n: n == 128 * 11 * 11),
    ("204", "pieces of {=} x {=} are read by {=} x {=} threads, two numbers a thread",
     lambda a, b, c, d: a * b == 2 * c * d and a == c == 32),
    ("204", "A thread keeps {=} elements of C in registers: {=} in a row, or {=} x {=}. They "
     "are the same {=} multiply-adds for each k, but in a row they take {=} number of A and "
     "{=} of B, {=} reads, and as a square {=} and {=}, {=} reads",
     lambda n, row, a, b, same, one, of, reads, c, d, square: one == 1 and
     n == row == a * b == same == of and reads == 1 + n and [c, d, square] == [a, b, a + b]),
    ("204", "the first ({=} of a column, {=} reads)", lambda n, reads: [n] == numbers_in_idea(
        "gemm", "thread_1d") and reads == n + 1),
    ("204", "the second ({=} x {=}: {=} multiply-adds for {=} reads)",
     lambda a, b, n, reads: [a, b] == numbers_in_idea("gemm", "thread_2d") and n == a * b and
     reads == a + b),
    ("201", "With x = {=}, y = {=} and a = {=} every result is {=} x {=} + {=} = {=}",
     lambda x, y, a, a_, x_, y_, r: [a, x, y] == [a_, x_, y_] and r == a * x + y and
     [x, y, a] == [1, 2, 2]),
    ("211", "every {=} terms they are added up", lambda n: n == math.prod(int(
        v) for v in re.search(r"DEPTH = (\d+), PROMOTE = (\d+),", source(
            "kernels/tf32x3/tf32x3_sm90.cuh")).groups())),
    ("241", "An H200 needs {=} operations a byte, {=} a number in fp32", lambda a, b:
     b == 4 * a and a.is_(fp32_over_copy())),
    ("241", "a launch, and {=} MB.", lambda m: m.is_(next(
        r["bytes"] for r in run_of(385).rows if r["size"] == "1024") / 1e6)),
    ("243", "panel while {=} multiprocessors wait", lambda n: n == sms() - 1),
    ("251", "{=} numbers are {=} bytes, so that O = {=} is aligned, and O = {=} is {=} bytes "
     "off", lambda n, b, o, one, off: b == 4 * n and o == n and off == 4 * one and {
         f"x{o:.0f}", f"x{one:.0f}"} <= {s[s.index("x"):] for s in run_of(387).sizes}),
    ("251", "what should O = {=} cost", lambda n: f"67108864x{n:.0f}" in run_of(387).sizes),
    ("253", "{=} KiB of L1 and shared memory", lambda n: n == 256 > gpu(
        "maxShmemPerSm") / 1024),
    ("253", "and {=} MB of L2", lambda n: n == gpu("l2CacheSize") / 2**20),
    ("281", "L2 cache of an H200 has {=} MiB", lambda n: n == gpu("l2CacheSize") / 2**20),
    ("255", "holds {=} threads, {=} blocks and {=} KiB of shared memory a multiprocessor",
     lambda t, b, k: t == gpu("maxWarpsPerSm") * gpu("threadsPerWarp") and
     b == gpu("maxBlocksPerSm") and k == gpu("maxShmemPerSm") / 1024),
    ("201", "multiprocessors of {=} threads each", lambda t: t == gpu(
        "maxWarpsPerSm") * gpu("threadsPerWarp")),
    ("280", "at {=} GB/s, if nothing else did", lambda rate: rate == copy_about()),
    ("280", "fp32 arithmetic, {=} TFLOP/s on an H200. The tensor cores have {=} in bf16",
     lambda f, t: f == h200("fp32_gflop_per_s") / 1e3 and t == h200(
         "bf16_gflop_per_s") // 1e3),
    ("280", "of an H200 does {=} operations of the tensor cores a cycle", lambda n:
     n == h200("tensor_flop_per_clock") / sms()),
    # CUDA C++ Programming Guide, throughput of arithmetic instructions, 9.0.
    ("280", "and {=} exponentials. A pair", lambda n: n == 16),
    # Its lanes double with each generation; the copy needs more than the one before.
    ("259", "behind PCI Express {=} (run", lambda n: 2 ** n * 2 > 64 * 2**20 / 1e6 / float(
        alone(403, "pinned", "in")[0]) > 2 ** (n - 1) * 2),
    ("245", "A launch takes {=} microseconds on", lambda us: us.is_(time_of(
        380, "looped", "1000x16") / 1000 / 1e3)),
    ("290", "A tile of {=} x {=} was the best at {=} in the recorded run of", lambda h, w, n:
     {(r["precision"], f"gemm_shape<{h:.0f}, {w:.0f}," in source(
         f"kernels/gemm/{r['rung']}.cu")) for r in sorted(
             (r for r in run_of(377).rows if r["size"] == f"{n:.0f}" and
              r["rung"] != "cublas"), key=lambda r: r["median_ns"])[:2]} == {("fp32", True)}),
    ("200", "An addition moves {=} bytes", lambda n: n == 3 * 4),
    ("200", "At {=} elements these are {=} kB", lambda n, k: k == 12 * n / 1e3),
    ("201", "one block of {=} threads", lambda n: n == block_of(367, "one_block")),
    ("202", "a block of {=} threads that waits at its barrier is half of a multiprocessor "
     "that waits, and a block of {=} is", lambda a, b: [a, b] == [
         block_of(368, "padded"), block_of(368, "rows")] and a == 4 * b == gpu(
         "maxWarpsPerSm") * gpu("threadsPerWarp") / 2),
    ("203", "{} numbers, {=} MiB", lambda n, m: m == 4 * n / 2**20),
    ("225", "{} x {}, {=} MiB", lambda a, b, m: m == 4 * a * b / 2**20),
    ("226", "{} x {}, {=} MiB", lambda a, b, m: m == 4 * a * b / 2**20),
    ("227", "{} x {}, {=} MiB in all", lambda a, b, m: m == 3 * 4 * a * b / 2**20),
    ("225", "{} x {}, where a row is {=} KiB", lambda _, n, k: k == 4 * n / 1024),
    ("226", "{} x {}, where a row is {=} KiB", lambda _, n, k: k == 4 * n / 1024),
    ("225", "rows of {=} KiB stay in the cache", lambda k: k == 4 * 1024 / 1024),
    ("225", "a block of {=} threads that does four", lambda n: n == block_of(371, "block") ==
     1024 / 4),
    ("225", "no row starts on {=} bytes", lambda n: n == 4 * 4),
    ("226", "No row starts on {=} bytes, and $\\gamma$ and $\\beta$ come {=} bytes at a time",
     lambda n, one: n == 4 * one == 4 * 4),
    ("227", "{=} blocks leave", lambda n: n == grid_of(373, "vector", "128x768")),
    ("204", "reads the same numbers {=} bytes at a time", lambda n: n == 4 * 4),
    ("204", "at {} there are {=} tiles for {=} places", lambda n, tiles, places:
     tiles == math.ceil(n / 128)**2 and
     places == 2 * sms() == grid_of(377, "even", f"{n:.0f}")),
    ("204", "1023x1025x1027, has {=} tiles for", lambda tiles: tiles == math.ceil(
        1023 / 128) * math.ceil(1025 / 128)),
    ("204", "GFLOP/s for its GPU and about {=} for its CPU", lambda n: n == round(
        slide("204", "LAB 2, np.dot", 6000), -1)),
    ("210", "They make {=}, so", lambda n: n == round(
        rate_of(364, "persistent", "4096", "bf16") / 1e12)),
    ("211", "adds up {=} terms at a time, where `fp32` has one sum of {=}.", lambda n, k:
     n == math.prod(int(v) for v in re.search(r"DEPTH = (\d+), PROMOTE = (\d+),", source(
         "kernels/tf32x3/tf32x3_sm90.cuh")).groups()) and k == 1024),
    ("213", "instruction alone promises {=}", lambda n: n == 4 / 2),
    ("231", "$2^{-{=}} \\cdot {=} \\cdot \\sqrt{{=}} \\approx {=}$", lambda bits, v, n, e:
     bits == fact("formats", "TF32", "precision") and n == 128 * 9 and
     e == round(2**-bits * v * math.sqrt(n), 3)),
    ("231", "milliseconds and {=} MiB, no less", lambda m: m.is_(next(
        r["workspace_bytes"] / 2**20 for r in run_of(374).rows
        if r["rung"] == "nonfused_tensor_op"))),
    ("232", "a warp's access is {=} bytes then", lambda n: n == 32 * 2),
    ("233", "the model has for {=} accesses a multiply-add", lambda n: n == 32 + 1),
    ("234", "the convolution of {=} results", lambda n: n == math.prod(
        int(run_of(35).rows[0]["size"].split("x")[k]) for k in (0, 2, 3, 4))),
    ("234", "PRECOMP with {=} bytes", lambda n: n == next(
        r["workspace_bytes"] for r in run_of(35).rows if r["rung"] == "cudnn_precomp_gemm")),
    ("241", "At {} x {} all but `plain` ({} microseconds) take {=} to {=}:",
     lambda n, m, _, least, most: n == m and [least, most] == [round(end(
         r["median_ns"] / 1e3 for r in run_of(385).rows
         if r["size"] == f"{n:.0f}" and r["rung"] != "plain")) for end in (min, max)]),
    ("241", "`warp` has {=} warps for {=} multiprocessors", lambda n, m: m == sms() and
     f"{n:.0f}x262144" in run_of(385).sizes),
    ("245", "{=} streams 4.74", lambda n: [n] == numbers_in_idea("batched_gemm", "streams")),
    ("245", "that writes {=} addresses costs {=} microseconds", lambda n, us: n == 3 * 1000 and
     us.is_((time_of(380, "cublas_batched", "1000x16") - time_of(
         380, "cublas_strided", "1000x16")) / 1e3)),
    ("250", "At S = {} the model is met: {=} bytes move for {=}", lambda s, moved, n:
     n == 4 + 4 and moved == 32 + 4 and s * 4 == 32),
    ("250", "in bursts of {=} bytes, two sectors", lambda n: n == 2 * 32),
    ("251", "loads of {=} bytes must be aligned, and four loads of {=} bytes", lambda a, b:
     a == 4 * b == 4 * 4),
    ("252", "three loads of {=} bytes for four results", lambda n: n == 4 * 4),
    ("253", "The slide's {=} cycles", lambda n: f"The slides give {n:.0f} cycles" in source(
        "lessons/253-lab-pointer-chase.md")),
    ("255", "{=} million blocks in {} ms are {} a multiprocessor a microsecond",
     lambda n, ms, each: n == round(67108864 / 32 / 1e6) and
     each.is_(67108864 / 32 / ms / 1e3 / sms())),
    ("255", "before all {=} warps of the last", lambda n: n == 1024 / 32),
    ("255", "So {=} to {=} threads it is", lambda a, b: {
        f"67108864x{n:.0f}x1" for n in (a, b)} == {
            r["size"] for r in sorted((r for r in run_of(401).rows if r["rung"] == "fours"),
                                      key=lambda r: -r["rate"])[:2]}),
    ("257", "One warp has {=} bytes on their way, {=} multiprocessors {=}; at half of {} GB/s, "
     "the half that is read, that is a way of {=} nanoseconds", lambda one, m, b, rate, ns:
     one == 32 * 4 and m == sms() and b == m * one and rate.is_(copied("one", 1)) and
     ns.is_(2 * b / rate)),
    ("257", "Two warps make {=} times the rate of one, {=} warps {=} times that of {=}:",
     lambda two, more, times, less: two.is_(copied("one", 2) / copied("one", 1)) and
     times.is_(copied("one", more) / copied("one", less))),
    ("257", "even {=} are not enough with one load of {=} bytes: {=} KiB on their way a "
     "multiprocessor, and {} GB/s times {=} nanoseconds over {=} of them, half of it reads, "
     "are {=} kB", lambda warps, one, k, rate, ns, m, kb: one == 4 and
     k == warps * 32 * one / 1024 and m == sms() and kb.is_(rate * ns / m / 2 / 1e3) and
     ns.is_(next(r["median_ns"] / int(r["size"].split("x")[1]) for r in run_of(388).rows
                 if r["rung"] == "global" and r["size"].startswith(f"{2**30}x")))),
    ("257", "With up to {=} warps two loads in each thread are {=} to {=} times as fast as "
     "one, not {=}:", lambda most, a, b, two: two == 2 and most == 4 and [a.is_(end(
         copied("two", w) / copied("one", w) for w in (1, 2, 4))) for a, end in
         ((a, min), (b, max))] == [True, True]),
    ("258", "{=} warps of one chain, {=} of two and {=} of four give {}, {} and {}",
     lambda a, b, c, *rest: all(r.is_(rate_of(390, variant, f"1081344x{w:.0f}") / 1e12)
                                for r, variant, w in zip(rest, ("one", "two", "four"),
                                                      (a, b, c)))),
    ("262", "far from a factor of {=}", lambda n: n == gpu("threadsPerWarp")),
    ("280", "at T = {} there are {=} for {=} multiprocessors", lambda t, n, m: m == sms() and
     n == 4 * 16 * math.ceil(t / 192)),
    ("290", "it is the slowest but one ({}), and the shape of `wide` wins", lambda r: r.is_(
        sorted(v["rate"] for v in run_of(491).rows if v["size"] == "4096")[1] / 1e9)),
    ("225", "gets {=} % less: rows of", lambda p: p.is_(100 - 100 * rate_of(
        371, "online", "65536x1024") / rate_of(371, "block", "65536x1024"))),
    ("225", "`registers` {=} %, `vector`, whose loads are a quarter as many, {=} %",
     lambda *rest: all(p.is_(of_copy(371, variant, "2048x32768"))
                       for p, variant in zip(rest, ("registers", "vector")))),
    ("226", "saves a walk and loses {=} % of the rate", lambda p: p.is_(100 - 100 * rate_of(
        372, "welford", "65536x1024") / rate_of(372, "block", "65536x1024"))),
    ("231", "one image, {} channels and kernels, {} x {}, {} x {}: fp32 {} milliseconds, "
     "and {}, {} and {} with the default", lambda c, h, w, r, s, _, *rest: r == s and
     all(v.is_(time_of(374, variant, f"1x{c:.0f}x{h:.0f}x{w:.0f}x{c:.0f}x{r:.0f}") / 1e6)
         for v, variant in zip(rest, ("default_math", "tensor_op", "conversion")))),
    ("241", "MB. {} rows of {} numbers: `warp`", lambda a, b:
     f"{a:.0f}x{b:.0f}" in run_of(385).sizes),
    ("241", "splits rows, {}. {} rows of {}: `block`", lambda _, a, b:
     f"{a:.0f}x{b:.0f}" in run_of(385).sizes),
    ("243", "`unblocked` {} GFLOP/s at n = {}, {=} at {}", lambda a, n, b, m:
     b.is_(rate_of(248, "unblocked", f"{m:.0f}") / 1e9)),
    ("243", "at n = {=} our `blocked` is {=} % faster than MAGMA", lambda n, p: p.is_(
        rate_of(248, "blocked", f"{n:.0f}") / 1e7 / slide("243", "MAGMA", n) - 100)),
    ("243", "GFLOP/s at n = {} and {} at n = {}, {=} and {=} times the course's MAGMA",
     lambda n, rate, m, a, b: all(v.is_(rate_of(246, "cusolver", f"{k:.0f}") / 1e9 / slide(
         "243", "MAGMA", k)) for v, k in ((a, n), (b, m)))),
    ("245", "cuBLAS in a loop takes {=}, batched {=}, strided {=}:", lambda *rest: all(
        v.is_(time_of(380, f"cublas_{way}", "1000x16") / 1e6)
        for v, way in zip(rest, ("looped", "batched", "strided")))),
    ("245", "needs {} microseconds for each of {} products of {} x {}, and {} for each of "
     "{} products of {} x {}", lambda a, n, k, _, b, m, j, __: all(
         v.is_(time_of(380, "streams", f"{c:.0f}x{s:.0f}") / c / 1e3)
         for v, c, s in ((a, n, k), (b, m, j)))),
    ("251", "`plain` {=} GB/s at O = {=} and {=} at O = {=}; `single` {=} and {=}; `shifted` "
     "{=} and {=}", lambda p, o, q, one, *rest: all(v.is_(rate_of(
         387, variant, f"67108864x{at:.0f}") / 1e9) for v, variant, at in zip(
             (p, q, *rest), ("plain", "plain", "single", "single", "shifted", "shifted"),
             (o, one) * 3))),
    ("251", "touches {=} sectors at O = {} and {=} sectors at O = {}", lambda a, o, b, one: all(
        f"{n:.0f} sectors" in next(r["note"] for r in run_of(387).rows if (
            r["rung"], r["size"]) == ("plain", f"67108864x{at:.0f}"))
        for n, at in ((a, o), (b, one)))),
    ("252", "{} % of its elements at {}, and at {} {} % of the {} that are checked",
     lambda a, n, m, b, checked: [a.is_(wrong_of(n)[0]), b.is_(wrong_of(m)[0]),
                                  wrong_of(m)[1]] == [True, True, checked]),
    ("253", "L2 {} ({}) up to {} KiB, {=} at {} MiB, {=} at {} MiB and {=} at {} MiB; DRAM {=} "
     "at {} MiB and {} ({}) at {} GiB", lambda _, __, ___, a, am, b, bm, c, cm, d, dm, e,
     ____, em: all(v.is_(time_of(388, "global", f"{m * unit:.0f}x16384") / 16384)
                   for v, m, unit in ((a, am, 2**20), (b, bm, 2**20), (c, cm, 2**20),
                                      (d, dm, 2**20), (e, em, 2**30)))),
    ("255", "From {=} to {=} threads occupancy doubles, and from {=} to {=} it does not",
     lambda a, b, c, d: [occupied(n) for n in (a, b, c, d)] == [50, 100, 100, 100] and
     b == 2 * a == c and d == 2 * c),
    ("256", "TFLOP/s with {=}, {=}, {=}, {=}, {=} and {=} branches:", lambda *n: sorted(
        int(s.split("x")[1]) for s in run_of(389).sizes) == list(n)),
    ("259", "page-locked memory takes {=} ms", lambda ms: ms == float(
        alone(403, "pinned", "in")[0])),
    ("281", "`mma` {=} milliseconds, {=} TFLOP/s; `wgmma` {=}, {=}; cuDNN {=}, {=}.",
     lambda *rest: all(v.is_(time_of(362, variant, "4x16x4096x64", "bf16") / 1e6) and r.is_(
         rate_of(362, variant, "4x16x4096x64", "bf16") / 1e12) for v, r, variant in zip(
             rest[::2], rest[1::2], ("mma", "wgmma", "cudnn")))),
    ("281", "are left, of the time {=} %", lambda p: p.is_(100 * time_of(
        362, "wgmma", "4x16x4096x64", "bf16") / time_of(378, "wgmma", "4x16x4096x64", "bf16"))),
    ("291", "batch {=} has the lowest loss ({=}, batch {=} has {=}), after as many samples batch "
     "{=} ({=}), and batch {=} has hardly begun ({=})", lambda a, la, b, lb, c, lc, d, ld:
     a == min(swept(391), key=lambda r: r["lossIterations"])["x"] and
     c == min(swept(391), key=lambda r: r["loss"])["x"] and all(
         v.is_(next(r[of] for r in swept(391) if r["x"] == x)) for v, x, of in (
             (la, a, "lossIterations"), (lb, b, "lossIterations"), (lc, c, "loss"),
             (ld, d, "loss")))),
    ("291", "takes {=} microseconds at batch {=} and {=} at batch {=}", lambda a, b, c, d: all(
        v.is_(next(r["median_ns"] / 1e3 for r in swept(391) if r["x"] == x))
        for v, x in ((a, b), (c, d)))),
    ("292", "takes {=} microseconds an iteration at width {=}, {=} at width {=}, {=} at {=} and {=} "
     "at {=} ({=} parameters)", lambda *rest: all(v.is_(next(
         r["median_ns"] / 1e3 for r in swept(392) if r["x"] == x))
         for v, x in zip(rest[:8:2], rest[1:8:2])) and rest[8] == next(
             r["parameters"] for r in swept(392) if r["x"] == rest[7])),
    ("211", "unit of its last bit: $2^{-{=}}$ of it for bf16, which keeps {=} bits, $2^{-{=}}$ "
     "for fp16 and tf32, which keep {=}", lambda a, b, c, d: a == b == fact(
         "formats", "bfloat16", "precision") and c == d == fact(
             "formats", "half", "precision") == fact("formats", "TF32", "precision")),
    ("211", "which is at most $2^{-{=}}$ (fp16: $2^{-{=}}$) of the whole", lambda a, b:
     a == 2 * fact("formats", "bfloat16", "precision") and
     b == 2 * fact("formats", "half", "precision")),
    ("211", "fp16 has {=} bits of exponent", lambda n: n == fact(
        "formats", "half", "exponent")),
    ("211", "an $A_2$ below $2^{-{=}}$", lambda n: n == 2 ** (fact(
        "formats", "half", "exponent") - 1) - 2),
    ("245", "which is {=} microseconds a launch", lambda n: n.is_(time_of(
        380, "looped", "1000x16") / 1000 / 1e3)),
    ("250", "At S = {} the rate is {=} % of that at S = {}", lambda s, p, r: p.is_(
        100 * rate_of(398, "plain", f"16777216x{s:.0f}") / rate_of(
            398, "plain", f"16777216x{r:.0f}"))),
    ("253", "L1 {=} ({=}) at {} KiB and {=} at {} KiB", lambda a, cycles, k, b, m: all(v.is_(
        time_of(388, "global", f"{n * 1024:.0f}x16384") / 16384) for v, n in ((a, k), (b, m))) and
     cycles.is_(cycles_of(388, "global", f"{k * 1024:.0f}x16384"))),
    ("254", "past L1 {=} at {} MiB and {=} at {} MiB", lambda a, m, b, n: all(any(
        v.is_(r["rate"] / 1e9) for r in run_of(400).rows if r["size"].startswith(
            f"{k * 2**20:.0f}")) for v, k in ((a, m), (b, n)))),
    ("256", "issues {=} instructions a cycle of `by_lane` with {} branch, and with {} branches {=} "
     "instructions", lambda a, n, m, b: [issued_by(389, "by_lane", f"4194304x{k:.0f}", v)
                                         for v, k in ((a, n), (b, m))] == [True, True]),
    ("235", "one image of {=} channels, 1x128x", lambda n: n == 128),
    ("202", "at {=} x {=} (run", lambda a, b: a == b and f"{a:.0f}" in run_of(368).sizes),
    ("202", "At {=} x {=} rows start anywhere", lambda a, b:
     f"{a:.0f}x{b:.0f}" in run_of(368).sizes),
    ("234", "the one above, and {=} with IMPLICIT_GEMM", lambda v: v.is_(time_of(
        35, "cudnn_implicit_gemm", run_of(35).rows[0]["size"]) / 1e3)),
    ("236", "algorithms {=}, {=} and {=} take {=}, {=} and {=} us, its FFT {=} us, Winograd {=} us",
     lambda a, b, c, *rest: all(v.is_(time_of(396, f"cudnn_{way}", "32x64x56x56x64x3") / 1e3)
                                for v, way in zip(rest, (f"algo_{a:.0f}", f"algo_{b:.0f}",
                                                         f"algo_{c:.0f}", "fft",
                                                         "winograd_nonfused")))),
    ("235", "algorithms {=} and {=} {} us and {} us, its FFT", lambda a, b, *rest: all(v.is_(
        time_of(395, f"cudnn_algo_{n:.0f}", "32x64x56x56x64x3") / 1e3)
        for v, n in zip(rest, (a, b)))),
    ("241", "makes {} GFLOP/s: {=} % of what the same card's", lambda rate, p: p.is_(
        1e11 * rate / run_of(385).rows[0]["ceilingFp32_FLOP_s"])),
    ("253", "shared memory {=} ({=}); L1", lambda ns, cycles: any(
        ns.is_(r["median_ns"] / 16384) and cycles.is_(cycles_of(388, "shared", r["size"]))
        for r in run_of(388).rows if r["rung"] == "shared")),
    ("253", "L2 {=} ({=}) up to {} KiB", lambda ns, cycles, k: ns.is_(time_of(
        388, "l2", f"{k * 1024:.0f}x16384") / 16384) and cycles.is_(
            cycles_of(388, "l2", f"{k * 1024:.0f}x16384"))),
    ("255", "by {=} % from {} to {} threads and by {=} % from {} to {}", lambda p, a, b, q, c, d:
     all(v.is_(100 * rate_of(401, "plain", f"67108864x{y:.0f}x1") / rate_of(
         401, "plain", f"67108864x{x:.0f}x1") - 100) for v, x, y in ((p, a, b), (q, c, d)))),
    ("256", "`by_lane` {=}, {=}, {=}, {=}, {=} and {=}. The rate falls with each doubling, to {=} %",
     lambda *rest: all(v.is_(rate_of(389, "by_lane", f"4194304x{2**k}") / 1e12)
                       for k, v in enumerate(rest[:6])) and rest[6].is_(
                           100 * rate_of(389, "by_lane", "4194304x32") / rate_of(
                               389, "by_lane", "4194304x1"))),
    ("281", "at T = {} `wgmma` {=} and cuDNN {=}", lambda n, *rest: all(v.is_(rate_of(
        362, variant, f"4x16x{n:.0f}x64", "bf16") / 1e12)
        for v, variant in zip(rest, ("wgmma", "cudnn")))),
    ("292", "than on a GPU with {=} lanes", lambda n: n == h200("lanes")),
    ("234", "`cudnnCreate` takes {=} ms and `cudnnConvolutionForward` {=} ms; the list of "
     "algorithms takes {=} ms, and making the descriptor of the convolution {=} ms. The wait "
     "for the result is {=} ms", lambda *rest: all(v.is_(called(376, name)) for v, name in zip(
         rest, ("cudnnCreate", "cudnnConvolutionForward",
                "cudnnGetConvolutionForwardAlgorithm_v7", "cudnnCreateConvolutionDescriptor",
                "cudaDeviceSynchronize")))),
    ("250", "Of each sector a request uses {=} % at S = {=} and {=} % from S = {=} on",
     lambda p, s, q, r: used_of_sectors(398, s) == [p] and
     set(used_of_sectors(398, r, math.inf)) == {q} and q not in used_of_sectors(398, 0, r - 1)),
]

# Of the GPU of the runs, wherever a lab names it: a pattern, and what its number must be.
FACTS = [
    ("{=} multiprocessors", lambda: sms()),
    ("at {=} MHz", lambda: h200("boost_mhz")),
    ("at {=} GHz", lambda: h200("boost_mhz") / 1e3),
    ("At {=} TB/s", lambda: h200("dram_gbyte_per_s") / 1e3),
    ("of the {=} lanes", lambda: gpu("threadsPerWarp")),
    ("sectors of {=} bytes", lambda: 32), ("sector of {=} bytes", lambda: 32),
    ("pieces of {=} bytes", lambda: 32), ("piece of {=} bytes", lambda: 32),
    ("{=} bytes a load", lambda: 16), ("`vector` reads {=} bytes", lambda: 16),
]

# Columns of a table that have values of counters, or of the model's parts.
COLUMNS = {"achieved": [("occupied", .01, "")], "kernel": [("kernel", 1e6, "")],
           "model for 8": [("together", 1e6, "")]}
# Columns of a table that are of the course's machine, at the size of the column before.
COURSE_COLUMNS = ("GV100",)

# What the text calls a variant, and what the run calls it.
NAMES = {"cuBLAS": "cublas", "cuSOLVER": "cusolver", "cuDNN": "cudnn"}
IN_TABLES = {
    "GEMM": "cudnn_gemm", "IMPLICIT_GEMM": "cudnn_implicit_gemm",
    "IMPLICIT_PRECOMP_GEMM": "cudnn_precomp_gemm", "FFT": "cudnn_fft",
    "FFT_TILING": "cudnn_fft_tiling", "WINOGRAD": "cudnn_winograd",
    "WINOGRAD_NONFUSED": "cudnn_winograd_nonfused",
}

DIGITS = r"(?<![\w.,/^])(?<!e-)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\w^]|,\d|\.\d)"
NUMBER = re.compile(DIGITS)
UNITS = [
    ("byte/s", 1e9, r"GB/s"), ("byte/s", 1e12, r"TB/s"),
    ("flop/s", 1e9, r"GFLOP/s"), ("flop/s", 1e12, r"TFLOP/s"),
    ("ns", 1, r"ns\b|nanoseconds?"), ("ns", 1e3, r"us\b|microseconds?"),
    ("ns", 1e6, r"ms\b|milliseconds?"),
    ("top", .01, r"%\s+of\s+the\s+copy"), ("ratio", .01, r"%"), ("ratio", 1, r"times\b"),
    ("count", 1, r"samples a second"),
]
LIST = r"(?:(?:,\s|\s(?:and|to)\s)\s*[\d.]+)*"  # 1.1, 1.2 and 1.3 ms
MEASURED = re.compile(DIGITS + r"\s+(?:[GT](?:B|FLOP)/s|[mun]s\b|"
                      r"(?:milli|micro|nano)seconds?\b)")
SPEED = re.compile(r"\b(?!several|many|how)[\w.,]+\s+times\s+(?:as\s+)?"
                   r"(?:fast|slow|quick)(?:er|ly)?\b")
# Behind these a number is a count or a setting.
COUNTED = re.compile(
    r"\s*(?:x\s*\d|of them\b|(?:MiB|KiB|kB|MB|bytes?|MHz|GHz|numbers?|elements?|"
    r"threads?|blocks?|warps?|tiles?|multiprocessors?|places?|results?|parameters?|"
    r"launches|products|addresses|channels|kernels|rows|cycles|rounds?|queries|"
    r"accesses|branches|operations|registers|keys|bits|streams|multiply-adds)\b)")

# Behind these a number is a part of a size, as the runs of the ladder have it.
SIZED = re.compile(LIST + r"\s+(?:branches|products|warps|threads|parameters)\b")

root = sys.argv[1]
db = sqlite3.connect(f"file:{root}/profiles/recorded/h200.db?mode=ro", uri=True)
db.row_factory = sqlite3.Row
complaints = []  # of the lesson at hand


def complain(name, what):
    complaints.append(f"{os.path.relpath(name, root)}: {what}")


def lesson_of(name):
    return os.path.basename(name).split("-")[0]


class Run:
    """A run's values: kind, value, and the variant, precision and size of each, which
    are empty where it is of the whole run."""

    def __init__(self, number):
        self.number = number
        self.values = []
        self.kinds = {}  # the same by kind, once all are there
        self.rows = db.execute("SELECT * FROM lab_row WHERE runId = ? AND "
                               "status = 'done'", (number,)).fetchall()
        run = db.execute("SELECT * FROM run WHERE id = ?", (number,)).fetchone()
        self.ships = run is not None
        if run:
            self.add("ns", run["iterationMedian_ns"])
            self.steps(number)
        self.counters(number)
        self.variants = {r["rung"] for r in self.rows}
        self.precisions = {r["precision"] for r in self.rows}
        self.sizes = {r["size"] for r in self.rows}
        for r in self.rows:
            self.row(r)
        # How much of a variant is wrong that has to be.
        for reason, in db.execute("SELECT reason FROM lab_row WHERE runId = ? AND "
                                  "status != 'done'", (number,)):
            for n in re.findall(r"\d+", reason or ""):
                self.add("count", int(n))
        for r in db.execute("SELECT * FROM lab_row WHERE runId = ? AND reason LIKE "
                            "'%elements are wrong%'", (number,)):
            self.variants.add(r["rung"])
            bad, of = re.search(r"(\d+) of (\d+) elements", r["reason"]).groups()
            self.add("ratio", int(bad) / int(of), r)
        for r in db.execute("SELECT * FROM sweep_row WHERE runId = ? AND "
                            "status = 'done'", (number,)):
            self.add("ns", r["median_ns"])
            self.add("iterations", r["iterations"])
            self.add("ratio", r["share"],
                     {"rung": r["lesson"], "precision": "", "size": ""})
            self.variants.add(r["lesson"])
            if r["x"] is not None:  # of a sweep over sizes
                self.sizes |= {f"{r['x']:.0f}", f"{r['parameters'] or 0:.0f}"}
            for column in ("samples_per_s", "parameters", "x", "loss",
                           "lossIterations"):
                self.add("count", r[column])
        for share, lesson in db.execute(
                "SELECT a.flop / sum(b.flop), a.lesson FROM sweep_row a JOIN sweep_row b "
                "USING (runId, lesson) WHERE a.runId = ? GROUP BY a.runId, a.place",
                (number,)):
            self.add("ratio", share, {"rung": lesson, "precision": "", "size": ""})

    def add(self, kind, value, row=None, other="", size=""):
        """`other`, `size`: the variant and the size that a ratio is to."""
        if value is not None:
            self.values.append((kind, value, row["rung"] if row else "",
                                row["precision"] if row else "",
                                row["size"] if row else "", other, size))

    def counters(self, number):
        """Hardware counters and kernels of each row: of all its kernels the bytes that
        DRAM reads and writes, of the longest one the rest."""
        counted, kernels = {}, {}
        for at, ordinal, metric, value in db.execute(
                "SELECT stepExec, kernelOrdinal, s.value, m.value FROM metric_value m "
                "JOIN StringIds s ON s.id = m.metricId WHERE runId = ?", (number,)):
            counted.setdefault(at, {}).setdefault(ordinal, {})[metric] = value
        for at, ns, registers, grid, occupancy in db.execute(
                "SELECT o.stepExec, k.end - k.start, k.registersPerThread, k.gridX * "
                "k.gridY * k.gridZ, o.occupancy_pct FROM op_kernel o JOIN "
                "CUPTI_ACTIVITY_KIND_KERNEL k USING (kernelRow) WHERE o.runId = ?",
                (number,)):
            kernels.setdefault(at, []).append((ns or 0, registers, grid, occupancy))
        for r in self.rows:
            if r["tracedExec"] in kernels:
                _, registers, grid, occupancy = max(kernels[r["tracedExec"]])
                self.add("registers", registers, r)
                self.add("blocks", grid, r)
                self.add("theory", occupancy / 100, r)
                for ns, *_ in kernels[r["tracedExec"]]:
                    self.add("kernel ns", ns, r)
            of = counted.get(r["tracedExec"], {}).values()
            if not of:
                continue
            first = int(re.match(r"\d+", r["size"]).group())
            for which in ("read", "write"):
                moved = sum(k.get(f"dram__bytes_{which}.sum") or 0 for k in of)
                self.add(f"dram {which}", moved, r)
                self.add(f"dram {which}", moved / first, r)
            longest = max(of, key=lambda k: k.get("gpu__time_duration.sum") or 0)
            for kind, metric, scale in (
                    ("occupied", "sm__warps_active.avg.pct_of_peak_sustained_active", .01),
                    ("tensor", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_"
                     "active", .01),
                    ("issued", "sm__inst_executed.avg.per_cycle_active", 1),
                    ("ffma", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 1)):
                if longest.get(metric) is not None:
                    self.add(kind, longest[metric] * scale, r)

    def steps(self, number):
        """An iteration's steps, as `profile compare` has them."""
        for ns, in db.execute("SELECT median_ns FROM time_sum WHERE runId = ? AND "
                              "level = 0", (number,)):
            self.add("ns", ns)

    def row(self, r):
        unit = "byte/s" if r["unit"] == "B/s" else "flop/s"
        top = r["ceilingCopy_B_s" if unit == "byte/s" else "ceilingFp32_FLOP_s"]
        time = r["median_ns"]
        first = int(re.match(r"\d+", r["size"]).group())
        self.add(unit, r["rate"], r)
        self.add(unit, r["rateModel"], r)
        self.add("flop/s", r["flop"] and r["flop"] / time * 1e9, r)
        self.add("ns", time, r)
        self.add("ns", r["bytes"] and r["bytes"] / r["ceilingCopy_B_s"] * 1e9, r)
        # Of one element, product or launch; of one of a chain of accesses.
        self.add("ns", time / first, r)
        if r["unit"] == "s/access":
            one = time / int(r["size"].split("x")[1])
            self.add("ns", one, r)
            self.add("cycles", r["smClockAfter_hz"] and one * r["smClockAfter_hz"] / 1e9, r)
        if r["workspace_bytes"]:
            self.add("count", r["workspace_bytes"] / (1 << 20), r)
            self.add("workspace", r["workspace_bytes"], r)
        for n, what in re.findall(r"(\d+) (sectors|paths?|blocks|warps|launch)",
                                  r["note"] or ""):
            self.add(what[:5], int(n), r)
        for word, n in re.findall(r"\b(kernel|together) (\d+\.\d+)", r["note"] or ""):
            self.add(word, float(n) * 1e6, r)
        for n in re.findall(r"\d+\.\d+", r["note"] or ""):
            self.add("noted", float(n), r)
            self.add("note", float(n) * 1e6, r)
            self.add("ratio", float(n) / 100, r)
        self.add("error", r["error"], r)
        self.add("byte/s", r["ceilingCopy_B_s"])
        self.add("flop/s", r["ceilingFp32_FLOP_s"])
        for n in re.findall(r"\d+", r["size"]):
            self.add("count", int(n))
        self.add("model", r["rate"] and r["rateModel"] and r["rate"] / r["rateModel"], r)
        for other in (r["rateModel"], top):
            if r["rate"] and other:
                self.add("ratio", r["rate"] / other, r)
        if r["flop"] and r["ceilingFp32_FLOP_s"]:
            self.add("ratio", r["flop"] / time * 1e9 / r["ceilingFp32_FLOP_s"], r)
        self.add("top", r["rate"] and top and r["rate"] / top, r)
        for b in self.rows:
            if b["place"] == r["place"] or b["size"] != r["size"] and \
                    (b["rung"], b["precision"]) != (r["rung"], r["precision"]):
                continue
            both = {"rung": r["rung"], "size": r["size"],
                    "precision": r["precision"] if b["precision"] == r["precision"] else
                    f"{r['precision']}/{b['precision']}"}
            ratios = [b["median_ns"] / time, time / b["median_ns"]]
            if r["rate"] and b["rate"]:
                ratios.append(r["rate"] / b["rate"])
            if r["rateModel"] and b["rateModel"]:
                ratios.append(r["rateModel"] / b["rateModel"])
                self.add("models", ratios[-1], both, b["rung"], b["size"])
            for ratio in ratios:
                self.add("ratio", ratio, both, b["rung"], b["size"])

    def has(self, number, slack, units, variant, precision, sizes, variants=(), near=(),
            form=""):
        """Whether a figure is one of the run's: "no", "yes", or "loose", where it names
        no size or no precision and is another at others. `form`: of a percentage, as
        form_of has it. `sizes`, `precision`: those that will do, all where there is
        none. `variants`: those of the sentence; `near`: those of the text around it. A ratio
        of two variants is of the sentence's; where that names one, of it and one near;
        where it names none, of two near."""
        hits, others = set(), set()
        for kind, value, r, p, s, other, to in [
                v for kind in {u[0] for u in units} for v in self.of_kind(kind)]:
            if other and r == other and len(variants) > 1 and kind != "top":
                continue
            if other and r != other and (
                    not {r, other} <= set(variants) if len(variants) > 1 else
                    variants and not {r, other} & set(variants) or
                    not {r, other} <= set(variants) | set(near)):
                continue
            if (variant and r != variant) or (precision and p and not set(
                    p.split("/")) & set(precision)) or \
                    (sizes and s and s not in sizes) or (sizes and to and to not in sizes):
                continue
            for k, scale, _ in units:
                if k != kind:
                    continue
                shown = [value / scale] if form in ("", "part") else []
                if kind == "ratio" and scale < 1 and form != "part":
                    shown += {"more": [(value - 1) / scale], "less": [(1 - value) / scale]
                              }.get(form, [abs(value - 1) / scale])
                at = (s, to) if not sizes else (), p
                if any(abs(v - number) <= slack * 1.000001 for v in shown):
                    hits.add(at)
                elif kind == "ratio" and other and r != other and "/" not in p:
                    others.add(at)
        return "no" if not hits else "loose" if others - hits else "yes"

    def of_kind(self, kind):
        if not self.kinds:
            for v in self.values:
                self.kinds.setdefault(v[0], []).append(v)
        return self.kinds.get(kind, [])

    def apart(self, variants, precision, sizes):
        """How many times as fast the first of two variants is, in each row."""
        return [b["median_ns"] / a["median_ns"] for a in self.rows for b in self.rows
                if (a["rung"], b["rung"]) == variants and
                (a["size"], a["precision"]) == (b["size"], b["precision"]) and
                (not precision or a["precision"] in precision) and
                (not sizes or a["size"] in sizes)]


runs = {}


def run_of(number):
    if number not in runs:
        runs[number] = Run(number)
    return runs[number]


def pairs(named, variants, precision, sizes):
    """The ratios of the same row in two runs."""
    return [a["median_ns"] / b["median_ns"]
            for x in named for y in named if x is not y
            for a in x.rows for b in y.rows
            if (a["rung"], a["size"], a["precision"]) ==
            (b["rung"], b["size"], b["precision"]) and
            (not variants or a["rung"] in variants) and
            (not precision or a["precision"] in precision) and
            (not sizes or a["size"] in sizes)]


def sentence_of(text, m):
    begin = max((b.end() for b in re.finditer(r"[.;]\s", text[:m.start()])), default=0)
    end = re.search(r"[.;]\s", text[m.end():])
    return text[begin:m.end() + end.start() if end else len(text)]


def printed_quotient(text, m, number, slack):
    """Whether "2.7 times as fast" is the quotient of two figures that its sentence
    prints, each as far off as it is rounded; None: it does not print two, or names
    the variants, whose ratios are the run's."""
    sentence = sentence_of(text, m)
    errors = [float(e) for e in re.findall(r"\d(?:\.\d+)?e-\d+", sentence)]
    if len(errors) > 1 and re.match(r"\s*times\s+(?:worse|better)", text[m.end():]):
        return any(abs(a / b - number) <= slack + .05 * number
                   for a in errors for b in errors if a > b)
    if "`" in sentence or not re.match(LIST + r"\s*times\s+as\s+fast", text[m.end():]):
        return None
    figures = []
    for n in NUMBER.finditer(sentence):
        if n.group(2) and not re.match(LIST + r"\s*(?:times|%)", sentence[n.end():]):
            half = .5 * 10 ** (1 - len(n.group(2)))
            v = float(n.group(1).replace(",", "") + n.group(2))
            figures.append((v - half, v + half))
    if len(figures) < 2:
        return None
    return any(a[0] / b[1] <= number + slack and number - slack <= a[1] / b[0]
               for a in figures for b in figures if a is not b and b[0] > 0)


def variants_in(text, named):
    words = re.findall(r"`([^`]*)`|\b(" + "|".join(NAMES) + r")\b", text)
    return ({a or NAMES[b] for a, b in words} &
            set().union(*(r.variants for r in named)))


SLIDE = re.compile(r"label: (\"[^\"]*\"|[^,]*), size: (\S+),\s+value: ([\d.]+),\s+"
                   r"unit: ([^,]+),[^}]*?rung: (\w+)")
SCALES = {"GFLOP/s": 1e9, "TFLOP/s": 1e12, "ms": 1e6, "MiB": 1}


def slides_of(number):
    """A lesson's `slide` list: label, size, value, unit and variant of each."""
    path, = glob.glob(f"{root}/lessons/{number}-*.md")
    with open(path, encoding="utf-8") as f:
        head = f.read().split("\n---\n")[0]
    own_sizes[number] = " ".join(re.findall(r"sizes: \[([^]]*)\]", head))
    return [(label.strip('"'), size, float(v), unit, variant)
            for label, size, v, unit, variant in SLIDE.findall(head)]


own_sizes = {}  # of a lesson's labs, from its head
slides = {n: slides_of(n) for n in map(lesson_of, glob.glob(f"{root}/lessons/*.md"))}
COURSE_WORDS = re.compile(r"\b(?:course|P100|GV100|MAGMA|MKL|slides?)\b")


def slide(lesson, label, size):
    """The value of a lesson's slide by its label and (the end of) its size."""
    return next((v for words, s, v, *_ in slides[lesson]
                 if words == label and s.split("x")[-1] == f"{size:.0f}"), math.nan)


def best(lesson, label):
    return max((v for words, _, v, *_ in slides[lesson] if words == label),
               default=math.nan)


def in_course(lesson, number, slack, unit, sizes=(), variant=""):
    """Whether a figure is one of the lesson's slides, or else of those of any other."""
    of = slides.get(lesson) or sum(slides.values(), [])
    for given in (of, sum(slides.values(), [])) if not variant else (of,):
        for _, size, value, u, r in given:
            scale = SCALES[unit] if unit in SCALES else SCALES[u]
            if (not variant or r == variant) and (not sizes or size in sizes) and \
                    (not unit or u == unit or {u, unit} <= {"GFLOP/s", "TFLOP/s"}) and \
                    abs(value * SCALES[u] / scale - number) <= slack * 1.000001:
                return True
    return False


def course_rates(lesson, text, m):
    """The rates of the course that the sentence of a number prints."""
    sentence = sentence_of(text, m)
    return {float(n.replace(",", "")) * 1e9 for n in
            re.findall(r"(?<![\d,])\d,\d{3}(?![\d,])", sentence)
            if COURSE_WORDS.search(sentence) and
            in_course(lesson, float(n.replace(",", "")), .5, "GFLOP/s")}


def beside_course(lesson, text, m, number, slack, scale, named, where):
    """Whether a sentence that names the course has a ratio of a variant to a figure of the
    course, of one size: to those that it prints, or else to the lesson's slides."""
    sentence = sentence_of(text, m)
    if not COURSE_WORDS.search(sentence):
        return False
    rates = course_rates(lesson, text, m)
    own = [(s, v * SCALES[u]) for _, s, v, u, _ in slides[lesson] if u == "GFLOP/s"]
    printed = set(re.findall(r"\d+", sentence)) | set(where[2])
    for row in [row for r in named for row in r.rows if row["rate"]]:
        size = row["size"]
        if where[0] not in ("", row["rung"]) or where[2] and size not in where[2]:
            continue
        for flops in rates or [v for s, v in own if s == size and (
                s in printed or not printed & {s for s, _ in own})]:
            ratio = row["rate"] / flops
            if any(abs(v / scale - number) <= slack for v in (ratio, abs(ratio - 1))):
                return True
    return False


class Figure(float):
    """A printed number, and how far it may be from what it is rounded from."""

    def __new__(cls, whole, fraction):
        self = super().__new__(cls, whole.replace(",", "") + (fraction or ""))
        self.slack = slack_of(whole.replace(",", ""), fraction or "", self)
        return self

    def is_(self, value):
        return abs(self - value) <= self.slack * 1.000001


def slack_of(digits, fraction, number):
    # 31,500 is rounded to hundreds, but no number to fewer than three digits.
    return .5 * 10 ** (1 - len(fraction)) if fraction else \
        min(.5 * 10 ** (len(digits) - len(digits.rstrip("0"))),
            max(.005 * number, .5))


def fact(table, row, column):
    with open(f"{root}/profiles/tables/{table}.csv", encoding="utf-8") as f:
        rows = list(csv.reader(line for line in f if line[0] != "#"))
    at, = [i for i, head in enumerate(rows[0]) if head.split(" ")[0] == column]
    return float(next(r[at] for r in rows if r[0] == row))


def h200(column):
    with open(f"{root}/profiles/devices.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(line for line in f if line[0] != "#"))
    return float(next(r[column] for r in rows if r["name"] == "H200"))


def source(path):
    with open(f"{root}/{path}", encoding="utf-8") as f:
        return f.read()


def sms():
    return db.execute("SELECT smCount FROM run WHERE device = 'NVIDIA H200' AND kind = "
                      "'lab' LIMIT 1").fetchone()[0]


def gpu(column):
    """What the driver reports of the GPU that made the runs."""
    return db.execute(f"SELECT {column} FROM TARGET_INFO_GPU WHERE name = 'NVIDIA H200' AND "
                      f"{column} IS NOT NULL LIMIT 1").fetchone()[0]


def copy_about():
    """The copy of most runs, to hundreds of GB/s."""
    values = sorted(v for v, in db.execute(
        "SELECT ceilingCopy_B_s FROM lab_row WHERE ceilingCopy_B_s > 0 GROUP BY runId"))
    return round(values[len(values) // 2] / 1e9, -2)


def fp32_over_copy():
    """FLOPs a byte where the roofs of most runs meet."""
    values = sorted(f / c for f, c in db.execute(
        "SELECT ceilingFp32_FLOP_s, ceilingCopy_B_s FROM lab_row WHERE ceilingCopy_B_s > 0 "
        "AND ceilingFp32_FLOP_s > 0 GROUP BY runId"))
    return values[len(values) // 2]


def note_of(run, variant):
    """The numbers of the note of a variant at a run's first size."""
    note = next(r["note"] for r in run_of(run).rows if r["rung"] == variant)
    return [float(n) for n in re.findall(r"(?<![\w.])\d+\.\d+", note)]


def rate_of(run, variant, size, precision=None):
    return next((r["rate"] for r in run_of(run).rows if (r["rung"], r["size"]) == (variant, size)
                 and precision in (None, r["precision"])), math.nan)


def time_of(run, variant, size, precision=None):
    return next((r["median_ns"] for r in run_of(run).rows
                 if (r["rung"], r["size"]) == (variant, size) and
                 precision in (None, r["precision"])), math.nan)


def cycles_of(run, variant, size):
    return next((v for _, v, r, _, s, *_ in run_of(run).of_kind("cycles")
                 if (r, s) == (variant, size)), math.nan)


def of_copy(run, variant, size):
    return 100 * rate_of(run, variant, size) / run_of(run).rows[0]["ceilingCopy_B_s"]


def wrong_of(elements):
    """Percent of the elements that lab-stencil checks, and how many these are."""
    reason = next((r for r, in db.execute(
        "SELECT reason FROM lab_row WHERE runId = 399 AND rung = 'no_barrier' AND size = ?",
        (f"{elements:.0f}",))), "0 of 1 elements")
    bad, of = map(int, re.search(r"(\d+) of (\d+) elements", reason).groups())
    return 100 * bad / of, of


def issued_by(run, variant, size, figure):
    """Whether these are the instructions a cycle of the counters of a row."""
    return any(figure.is_(v) for kind, v, r, _, s, *_ in run_of(run).values
               if (kind, r, s) == ("issued", variant, size))


def occupied(threads):
    """The theoretical occupancy of lab-launch, by its run's kernels."""
    return round(kernel_of(401, "plain", "o.occupancy_pct", f"67108864x{threads:.0f}x1") or 0)


def swept(run):
    return db.execute("SELECT * FROM sweep_row WHERE runId = ? AND status = 'done'",
                      (run,)).fetchall()


def called(run, name):
    """Milliseconds of a library's call."""
    return next(r["median_ns"] / 1e6 for r in swept(run) if r["name"].startswith(name + "("))


def used_of_sectors(run, first, last=None):
    """Percent of each sector that `plain` uses, at the strides first to last."""
    return [float(r["note"].split(" %")[0]) for r in run_of(run).rows if r["rung"] == "plain" and
            first <= int(r["size"].split("x")[1]) <= (first if last is None else last)]


def copied(variant, warps):
    """GB/s of lab-warps-copy."""
    return rate_of(402, variant, f"33554432x{warps:.0f}") / 1e9


def kernel_of(run, variant, what, size=""):
    """Of a variant's longest kernel."""
    return max(map(tuple, db.execute(
        f"SELECT k.end - k.start, {what} FROM lab_row l JOIN op_kernel o ON o.runId = l.runId "
        "AND o.stepExec = l.tracedExec JOIN CUPTI_ACTIVITY_KIND_KERNEL k USING (kernelRow) "
        "WHERE l.runId = ? AND l.rung = ? AND ? IN ('', l.size)", (run, variant, size))), default=(0, None))[1]


def block_of(run, variant):
    return kernel_of(run, variant, "k.blockX * k.blockY * k.blockZ")


def grid_of(run, variant, size):
    return kernel_of(run, variant, "k.gridX * k.gridY * k.gridZ", size)


def numbers_in_idea(lab, variant):
    idea, = db.execute("SELECT idea FROM lab_row WHERE lab = ? AND rung = ? AND idea NOT NULL",
                       (lab, variant)).fetchone()
    return [float(n) for n in re.findall(r"\d+", idea)]


def facts(name, text):
    for words, value in FACTS if "-lab-" in name else []:
        pattern = re.sub(r"(?:\\ )+", r"\\s+", re.escape(words)).replace(
            r"\{=\}", DIGITS)
        for found in re.finditer(pattern, text):
            if Figure(*found.groups()) != value():
                complain(name, f"the GPU of the runs has {value()}: " +
                         re.sub(r"\s+", " ", found.group()))


def ideas(name, head, text):
    """A lab's table of variants has the numbers of the variants' own ideas."""
    lab = re.search(r"^lab: (\w+)", head, re.M)
    own = {}
    for variant, idea in db.execute("SELECT DISTINCT rung, idea FROM lab_row WHERE lab = ? AND "
                                 "idea NOT NULL", (lab[1] if lab else "",)):
        own.setdefault(variant, []).append(re.findall(r"\d+", re.sub(r"^\w*\d: ", "", idea)))
    table = re.search(r"^\|[^\n]*idea[^\n]*\n((?:\|.*\n)+)", text, re.M)
    for row in table[1].splitlines() if table else []:
        variant, *cells = [c.strip() for c in row.strip("|").split("|")]
        numbers = re.findall(r"\d+", cells[-1])
        if numbers and any(own.get(variant, [])) and numbers not in own[variant]:
            complain(name, f"the idea of {variant} has {own[variant]}, not {numbers}")


def rounds(n, high, wide):
    return math.ceil(math.ceil(n / high) * math.ceil(n / wide) / sms())


def alone(run, variant, word):
    return [re.search(word + r" ([\d.]+)", r["note"]).group(1)
            for r in run_of(run).rows if r["rung"] == variant]


def relations(name, lesson, text):
    """Looks at what follows from other figures, and returns the text without it."""
    for of, words, holds in RELATIONS:
        if of != lesson:
            continue
        kept, marks = words.split("(?s:.*?)"), []
        for part in re.findall(r"\{=?\}", words):
            marks.append(part == "{=}")
        pattern = "(?s:.*?)".join(
            re.sub(r"(?:\\ )+", r"\\s+", re.escape(part)).replace(r"\{=\}", DIGITS)
            .replace(r"\{\}", DIGITS) for part in kept)
        found = re.search(pattern, text)
        if not found:
            complain(name, f"RELATIONS has words that are not there: {words}")
            continue
        figures = [Figure(*found.groups()[i:i + 2]) for i in range(0, len(marks) * 2, 2)]
        try:
            follows = holds(*figures)
        except (StopIteration, RuntimeError, ZeroDivisionError):
            follows = False  # no row of the run has such a size
        if not follows:
            complain(name, "does not follow: " + re.sub(r"\s+", " ", found.group()))
        for i in reversed([i for i, own in enumerate(marks) if own]):
            begin = found.start(2 * i + 1)
            end = max(found.end(2 * i + 1), found.end(2 * i + 2))
            text = text[:begin] + " " * (end - begin) + text[end:]
    return text


def sizes_in(sentence, named):
    """The sizes that a sentence names: whole ones, or else those that have the numbers
    behind "at", "=" and the like among their parts."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", sentence)
    text = re.sub(r"(?<=\d) x (?=\d)", "x", text)
    of = set().union(*(r.sizes for r in named))
    whole, parts = set(), set()
    for m in re.finditer(r"(?<![\w.^/-])(\d+(?:x\d+)*)(?![\w^]|\.\d)(?:\s*([KMG])iB)?", text):
        word = m.group(1)
        if m.group(2):
            word = str(int(word.split("x")[-1]) << {"K": 10, "M": 20, "G": 30}[m.group(2)])
        elif any(re.match(r"\s*(?:" + u[2] + ")", text[m.end():]) for u in UNITS):
            continue
        square = word.split("x")
        if len(square) == 2 and square[0] == square[1]:
            word = square[0]
            parts |= {s for s in of if word in s.split("x")}
        whole |= of & {word}
        if "x" in word:
            parts |= {s for s in of if f"x{word}x" in f"x{s}x"}
        elif m.group(2) or re.search(SIZE_BEFORE, text[:m.start()]) or \
                re.match(SIZE_BEHIND, text[m.end():]):
            parts |= {s for s in of if word in s.split("x")}
    return whole or parts


def clause_of(text, m):
    """The part of a sentence, between commas, that a number is in."""
    begin = max((b.end() for b in re.finditer(r"[.,;:]\s", text[:m.start()])), default=0)
    end = re.search(r"[.,;:]\s", text[m.end():])
    return text[begin:m.end() + end.start() if end else len(text)]


def precisions_in(text, named):
    """The precisions that a text names, of those of the runs."""
    have = set().union(*(r.precisions for r in named))
    words = set(re.findall(r"(?<!`)\b(?:fp64|fp32|tf32|bf16|fp16|int8)\b", text.lower()))
    if re.search(r"\b16\s+bits\b", text):
        words |= {"bf16", "fp16"}
    return frozenset(words & have)


SIZE_BEFORE = r"(?:=|\bat|\bfrom|\bto|\bwith|\bbatch|\bwidth)\s*$"
SIZE_BEHIND = r"\s+(?:branches|products|elements|results|numbers|rows|threads)\b"


def form_of(text, m):
    """Whether a percentage is a part ("7 % of"), what is more ("7 % ahead") or less ("7 %
    behind"), a difference ("within 7 %") or any."""
    ahead, behind = text[m.end():], text[:m.start()]
    if re.match(LIST + r"\s*%\s+(?:ahead|faster|more|longer)\b", ahead) or \
            re.search(r"\b(?:gains?|grows\s+by)\s+$", behind):
        return "more"
    if re.match(LIST + r"\s*%\s+(?:behind|less)\b", ahead) or \
            re.search(r"\b(?:saves?|loses?)\s+$", behind):
        return "less"
    if re.match(LIST + r"\s*%\s+slower\b", ahead) or re.search(r"\bwithin\s+$", behind):
        return "apart"
    return "part" if re.match(r"\s*%\s+of\b", ahead) else ""


def names_size(text, m):
    """Whether a number is a size by the words before it: "n = 6000", "for 3 x 3"."""
    before, after = text[:m.start()], text[m.end():]
    if re.search(r"(?:\b[A-Za-z]\s*=|\b[Aa]t|\bbatch|\bwidth)\s*$", before):
        return not COUNTED.match(after) and not re.match(r"\s*(?:[KMG]iB\b|x\s)", after)
    return (re.search(r"\bfor\s+$", before) and
            re.match(r"\s+x\s+\d+\b(?!\s+x)", after) or
            re.search(r"\bfor\s+\d+\s+x\s+$", before) and not re.match(r"\s+x", after))


def size_part(text, m):
    """The number in a size that "at 64 MiB" or "512 x 512" means; else ""."""
    before, after = text[:m.start()], text[m.end():]
    digits = m.group(1).replace(",", "")
    unit = re.match(r"\s+([KMG])iB\b", after)
    if unit and re.search(r"\b(?:[Aa]t|to|[Ff]rom)\s+$", before):
        return str(int(digits) << {"K": 10, "M": 20, "G": 30}[unit.group(1)])
    if re.search(r"(?:^|\s|\()\d+\s+x\s+$", before) or re.match(r"\s+x\s+\d", after):
        return digits
    return ""


def bound_of(text, m):
    """Whether a ratio is the least or the most of all that its sentence speaks of."""
    if re.match(r"\s+to\s+[\d.]+\s*(?:times|%)", text[m.end():]):
        return "least"
    if re.search(r"\bwithin\s+$", text[:m.start()]):
        return "within"
    return "most" if re.search(r"(?:\bup|[\d.])\s+to\s+$", text[:m.start()]) and \
        re.match(r"\s*(?:times|%)", text[m.end():]) else ""


def bounded(number, slack, bound, scale, values):
    if not values:
        return False
    if bound == "within":
        far = max(abs(v - 1) for v in values) / scale
        return number - 2 * slack < far <= number
    end = (min if bound == "least" else max)(values)
    return any(abs(v / scale - number) <= slack for v in
               [end] + [end - 1, 1 - min(values)] * (scale < 1))


def check_number(name, text, m, named, where, always, near=(), units_before=(), cell=None):
    """`cell`: None, or the head of the column of a table. `where`: variant, precisions and
    sizes, each empty where any will do. `near`: the
    variants of the paragraphs and tables above, of the same run. `units_before`: the units of the
    numbers before, of which one without a unit is."""
    lesson = lesson_of(name)
    whole, fraction = m.group(1), m.group(2) or ""
    digits = whole.replace(",", "")
    unit, listed = (next((u for u in UNITS if re.match(
        before + r"\s*(?:" + u[2] + ")", text[m.end():])), None) for before in ("", LIST))
    if "," in whole and re.match(r"\s*(?:elements|numbers|results)\b", text[m.end():]) and \
            any(r.sizes for r in named):
        if not any(digits in re.findall(r"\d+", s) for r in named for s in r.sizes):
            complain(name, f"{whole} is no size of run " +
                     " or ".join(str(r.number) for r in named))
        return
    if cell is None and not unit and not fraction and not listed and \
            names_size(text, m) and any(r.sizes for r in named) and \
            not any(digits in re.findall(r"\d+", s) for r in named for s in r.sizes) and \
            digits not in re.findall(r"\d+", own_sizes[lesson]):
        complain(name, f"{whole} is no size of run " + " or ".join(
            str(r.number) for r in named) + ": " + re.sub(
            r"\s+", " ", text[max(0, m.start() - 30):m.end() + 10]))
        return
    if cell is None and any(r.sizes for r in named) and SIZED.match(text[m.end():]) and \
            digits not in {n for r in named for s in r.sizes for n in re.findall(r"\d+", s)} | \
            set(re.findall(r"\d+", own_sizes[lesson])):
        complain(name, f"{m.group(0)} is of no size of run " + " or ".join(
            str(r.number) for r in named) + ": " + re.sub(
            r"\s+", " ", text[max(0, m.start() - 30):m.end() + 30]))
        return
    part = size_part(text, m)
    if cell is None and not fraction and part and any(r.sizes for r in named) and \
            part not in {n for r in named for s in r.sizes for n in re.findall(r"\d+", s)} | \
            set(re.findall(r"\d+", own_sizes[lesson])):
        complain(name, f"{m.group(0)} is no size of run " + " or ".join(
            str(r.number) for r in named) + ": " + re.sub(
            r"\s+", " ", text[max(0, m.start() - 30):m.end() + 10]))
        return
    by_run = counted(text, m) if cell is None else COLUMNS.get(cell, [])
    if by_run:
        where = (where[0], "", where[2])
    in_brackets = re.search(r"\d\s*\($", text[:m.start()])
    if in_brackets and any(v[0] == "cycles" for r in named for v in r.values):
        by_run = [("cycles", 1, "")]
    if not by_run and not unit and (COUNTED.match(text[m.end():]) or
                     re.search(r"\bx\s*$|[=(]\s*$", text[:m.start()]) and
                     not fraction and "," not in whole):
        return
    bare = not unit and not fraction and "," not in whole
    long = len(digits) > 2 and not re.search(SIZE_BEFORE, text[:m.start()])
    if bare and not by_run and cell is None and (
            not (always or long) or len(digits) < 2 or
            any(digits in re.findall(r"\d+", s) for r in named for s in r.sizes)):
        return
    number = float(digits + fraction)
    around = re.sub(r"\s+", " ", text[max(0, m.start() - 30):m.end() + 15]).strip()
    slack = slack_of(digits, fraction, number)
    printed = printed_quotient(text, m, number, slack)
    others = [u for u in [*units_before, listed or next_unit(text, m)] if u]
    units = [unit] if unit else [u for u in others if u[0] not in ("ratio", "top")] or \
        [u for u in UNITS if u[0] not in ("ratio", "top")]
    units += [] if unit else [u for u in [listed, *UNITS] if u and (
        u is listed or u[0] == "count")]
    if cell is None and re.search(r"\bkernels?\b", sentence_of(text, m)):
        units += [("kernel ns", u[1], "") for u in units if u[0] == "ns"]
    if cell is None:  # a row's note has times of parts, which no table's column is of
        units += [({"ns": "note"}.get(u[0], "noted"), u[1], "") for u in units
                  if u[0] in ("ns", "count")]
    if by_run:
        other = re.match(r"[^.;,\d]{0,40}?\b(?:of|for)\s+(?:`(\w+)`|(" + "|".join(NAMES) +
                         r")\b)", text[m.end():])
        if other:
            where = (other.group(1) or NAMES[other.group(2)], *where[1:])
        units, unit, listed, printed = by_run, None, None, None
    elif re.match(r"\s*times\s+(?:as\s+fast\s[^.;:,]*?)?(?:as\s+)?its\s+model",
                  text[m.end():]):
        units = [("model", 1, "")]
    elif re.search(r"\bby\s+(?:the|its)\s+models?\s*$", text[:m.start()]):
        units = [("models", 1, "")]
    variants = variants_in(sentence_of(text, m), named)
    own = variants_in(text, named)
    near = own if len(own) > 1 else own | set(near)
    of_all = bound_of(text, m) if unit or listed else ""
    if of_all and len(variants) == 2:
        if not any(bounded(number, slack, of_all, (unit or listed)[1], r.apart(
                pair, where[1], where[2])) for r in named
                for pair in (tuple(sorted(variants)), tuple(sorted(variants, reverse=True)))):
            complain(name, f"{m.group(0)} is not the bound of run " +
                     " or ".join(str(r.number) for r in named) + ": " + around)
        return
    if unit and unit[0] == "ratio" and not variants and course_rates(lesson, text, m):
        printed = False
    found = {r.has(number, slack, units, *where, variants, near, form_of(text, m))
             for r in named} if printed is None else {"yes" if printed else "no"}
    if "yes" in found:
        return
    if "loose" in found and cell is None and unit and unit[0] == "ratio":
        complain(name, f"{m.group(0)} is of some sizes or precisions alone, which its "
                 f"sentence names: {around}")
        return
    if "loose" in found:
        return
    if unit and unit[0] == "ratio" and units[0] == unit and printed is None and any(
            abs(v / unit[1] - number) <= slack for v in pairs(named, variants, *where[1:])):
        return
    if len(named) == 2 and unit and unit[0] == "ratio" and printed is None:
        sums = [v for r in named for k, v, g, *_ in r.values if k == "ns" and not g]
        if any(abs(a / b / unit[1] - number) <= slack for a in sums for b in sums):
            return
    ratio = next((u for u in units if u and u[0] == "ratio"), None)
    if ratio and beside_course(lesson, text, m, number, slack, ratio[1], named, where) or \
            not (unit and unit[0] == "ratio") and \
            COURSE_WORDS.search(sentence_of(text, m)) and in_course(
                lesson, number, slack, "", where[2]):
        return
    of = [where[0]] * bool(where[0]) + sorted(where[1]) + sorted(where[2])
    of = " of " + " ".join(of) if of else ""
    complain(name, f"{m.group(0)}{of} is not in run " +
             " or ".join(str(r.number) for r in named) + f": {around}")


RATIO_WORD = re.compile(
    r"\b(twice|half|(?:an?|one|two|three|four|five|six|nine)\s+(?:good\s+|little\s+)?"
    r"(?:[a-z]+-)?(?:third|quarter|"
    r"fifth|sixth|seventh|eighth|ninth|tenth|(?:parts?\s+in\s+[a-z]+))s?|"
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|twenty)\s+times|"
    r"(?:one|two|three|four|five|six|seven|eight|nine)\s+(?:(?:threads?|lanes?)\s+)?(?:of|in)\s+"
    r"(?:every\s+)?"
    r"(?:[a-z]*ten|a\s+hundred|[a-z]*teen|twenty|[a-z]+ty|\d+)|"
    r"\w+\s+(?:\w+\s+)?in\s+a\s+hundred|doubles?(?!\s+precision)|halves)\b")


def check_words(name, text, named):
    """A ratio in words is tied to nothing: it is written as a number, or ALLOWED has it."""
    for m in RATIO_WORD.finditer(re.sub(r"`[^`]*`", lambda c: "`" + "_" * (len(c[0]) - 2)
                                        + "`", text)):
        around = re.sub(r"\s+", " ", sentence_of(text, m)).strip()
        complain(name, f"{m.group(1)!r}: a ratio of run " + " or ".join(
            str(r.number) for r in named) + f" is written as a number: {around}")


# What hardware counters, kernels and notes of a row have, and the words for it: where
# a sentence states it, the words behind the number, and the values that it must be.
BYTES = [(1, r"bytes\b"), (1e3, r"kB\b"), (1e6, r"MB\b"), (1e9, r"GB\b")]
COUNTED_BY_RUN = [
    (r"\bDRAM\s+(?:that\s+)?reads?\b", BYTES, "dram read"),
    (r"\bDRAM\s+writes?\b", BYTES, "dram write"),
    (r"\bworkspace\b", [(1, r"bytes\b"), (1 << 10, r"KiB\b"), (1 << 20, r"MiB\b")],
     "workspace"),
    (r"\*achieved\*", [(.01, "%")], "occupied"),
    (r"\btensor\s+cores\s+work\b", [(.01, "%")], "tensor"),
    (r"\boccupancy\b", [(.01, "%")], "theory"),
    (r"", [(1, r"instructions\s+a\s+cycle|of\s+(?:`\w+`|cuBLAS)\s*(?:with|:)")], "issued"),
    (r"\bexecutes\b", [(1, r"multiply-adds")], "ffma"),
    (r"", [(1, r"(?:of\s+them|registers)\s+a\s+thread")], "registers"),
    (r"", [(1, r"sectors\b")], "secto"),
    (r"", [(1, r"iterations\s+each")], "iterations"),
]


def counted(text, m):
    """The values that a number behind or before such words must be one of: units, or
    none. One without a word has that of the others of its sentence."""
    sentence = sentence_of(text, m)
    if re.match(SIZE_BEHIND, text[m.end():]) or "workspace" not in sentence and (
            re.search(SIZE_BEFORE, text[:m.start()]) or
            re.match(r"\s*[KMG]iB\b", text[m.end():])):
        return []
    unit = unit_of(text, m.end())
    for pattern, words, kind in COUNTED_BY_RUN:
        match = re.search(pattern, sentence)
        if not match:
            continue
        own = [scale for scale, word in words if re.match(r"\s*(?:" + word + ")",
                                                          text[m.end():])]
        if not own and pattern and not (unit and unit[0] != "ratio") and \
                kind.startswith("dram"):
            behind = sentence.find(m.group(0) + text[m.end():m.end() + 9])
            own = [scale for scale, word in words if behind > match.start() and
                   not unit and re.search(DIGITS + r"\s*(?:" + word + ")", sentence)]
        if own:
            return [(kind, scale, "") for scale in own]
    return []


def next_unit(text, m):
    """The unit of the next number of the sentence that has one."""
    for n in NUMBER.finditer(text[m.end():]):
        if re.search(r"[.;]\s", text[m.end():m.end() + n.start()]):
            return None
        unit = unit_of(text, m.end() + n.end())
        if unit and unit[0] not in ("ratio", "top"):
            return unit
    return None


def unit_of(text, end):
    return next((u for u in UNITS if re.match(r"\s*(?:" + u[2] + ")", text[end:])), None)


def check_text(name, text, named, near, sizes=frozenset()):
    """Returns the sizes that its last sentences name."""
    variants = set().union(*(r.variants for r in named))
    variant, units, begin = "", [], 0
    for m in re.finditer(r"`([^`]*)`|\b(" + "|".join(NAMES) + r")\b|([.;]\s|:\s)|" +
                         DIGITS, text):
        if m.group(3):
            variant = ""
            if m.group(3)[0] != ":":
                sizes, begin = sizes_in(text[begin:m.start()], named) or sizes, m.end()
        elif m.group(1) is not None or m.group(2):
            word = m.group(1) if m.group(1) is not None else NAMES[m.group(2)]
            variant = word if word in variants else ""
        else:
            number = NUMBER.match(text, m.start())
            of = sizes_in(sentence_of(text, number), named) or sizes
            at = re.match(r"[^.;,\d]{0,30}?\bat\s+(?:n = )?(\d[\d,]*\d)\b", text[number.end():])
            if at and any(at[1].replace(",", "") in r.sizes for r in named):
                of = frozenset([at[1].replace(",", "")])  # "133 GFLOP/s at 10000"
            unit = unit_of(text, m.end())
            precision = precisions_in(clause_of(text, number), named)
            if unit and unit[0] == "ratio" and not precision:
                precision = precisions_in(sentence_of(text, number), named)
            check_number(name, text, number, named, (variant, precision, of), variant, near,
                         units)
            units.append(unit_of(text, m.end()))
    return sizes_in(text[begin:], named) or sizes


def check_error(name, stated, variant, precisions, sizes, named):
    """An error that a text states is that of the rows of a variant (empty: of all), precisions
    (empty: of any) and sizes."""
    number = re.fullmatch(r"\d(?:\.(\d+))?e-\d+", stated)
    of = {float(f"{v:.{len(number[1] or '')}e}") for r in named if number
          for _, v, one, p, s, *_ in r.of_kind("error")
          if variant in ("", one) and (not precisions or p in precisions) and s in sizes}
    if not number or of != {float(stated)}:
        complain(name, f"the error of {' '.join([variant or 'all variants', *precisions])} at "
                 f"{' or '.join(sorted(sizes))} is not {stated} in run " +
                 " or ".join(str(r.number) for r in named))


def check_errors(name, text, named):
    """"1.25e-18 at 1000" is the error of the variant before it, where the sentence names none of
    all variants, at that size, else at those of the sentence."""
    text = re.sub(r"\s+", " ", text)
    if not any(r.of_kind("error") for r in named):
        return
    for m in re.finditer(r"(?<![\w.])(\d(?:\.\d+)?e-\d+)", text):
        begin = max((b.end() for b in re.finditer(r"[.;]\s", text[:m.start()])), default=0)
        variant = ([""] + [a or NAMES[b] for a, b in re.findall(
            r"`(\w+)`|\b(" + "|".join(NAMES) + r")\b", text[begin:m.start()])])[-1]
        at = re.match(r" at ([\d,]+)", text[m.end():])
        sizes = {at[1].replace(",", "")} if at else sizes_in(sentence_of(text, m), named)
        check_error(name, m[1], variant, (), sizes, named)


def check_course(name, text):
    """A paragraph of the course's figures alone: each, and each size, is of a slide."""
    lesson = lesson_of(name)
    sizes = {s for _, s, *_ in slides[lesson]}
    for m in NUMBER.finditer(re.sub(r"`[^`]*`", lambda c: " " * len(c[0]), text)):
        digits, fraction = m.group(1).replace(",", ""), m.group(2) or ""
        unit = re.match(r"\s*(GFLOP/s|TFLOP/s|MiB|ms)\b|", text[m.end():]).group(1)
        if COUNTED.match(text[m.end():]) and not unit or re.search(
                r"\bx\s*$|\bcompute\s+capability\s*$", text[:m.start()]) or \
                re.search(r"\(20\d\d$", text[:m.end()]):
            continue
        number = float(digits + fraction)
        if re.search(r"\b(?:[nN]\s*=|at|and|to|,)\s*$", text[:m.start()]) and digits in sizes:
            continue
        if not (fraction or unit or len(digits) > 2):
            continue
        if not in_course(lesson, number, slack_of(digits, fraction, number), unit or ""):
            complain(name, f"{m.group(0)} is no figure or size of the course's: " +
                     re.sub(r"\s+", " ", text[max(0, m.start() - 40):m.end() + 10]))


def table_variants(text, named):
    """The variants that a table has, in its cells and its heads."""
    words = {c.strip("` \t") for c in re.split(r"[|\n]", text)}
    words |= {NAMES.get(w, IN_TABLES.get(w, w)) for w in words}
    return words & set().union(*(r.variants for r in named))


def check_occupancy(name, size, cell, named):
    """A column of its own: that of the row's size, from the note. "256, 24,576" is of
    NxTxS with T = 256 and S = 24576, and "256" of S = 1."""
    sides = [s.replace(",", "") for s in re.split(r",\s", size)]
    sides += ["1"] * (2 - len(sides))
    for r in named:
        for row in r.rows:
            noted = re.search(r"occupancy ([\d.]+) %", row["note"] or "")
            if noted and row["size"].split("x")[1:] == sides and \
                    float(noted.group(1)) == float(cell.split()[0]):
                return
    complain(name, f"occupancy {cell} at {size} is not in run " +
             " or ".join(str(r.number) for r in named))


def check_table(name, text, named, near, units_before, sizes=frozenset()):
    """`units_before`: the units of the paragraph above, of all cells that have none; `sizes`: its
    sizes."""
    def place(cell, at, kinds=("variants", "precisions", "sizes")):
        word = cell.strip("` ")
        word = NAMES.get(word, IN_TABLES.get(word, word))
        for i, of in enumerate(("variants", "precisions", "sizes")):
            have = set().union(*(getattr(r, of) for r in named))
            if of in kinds and of == "sizes":
                key = re.sub(r",\s+", "x", word) if re.match(r"\d", word) else word
                key = key.replace(",", "").replace(" x ", "x")
                key = re.sub(r"^(\d+)x\1$", r"\1", key)
                fits = have & {key} or {s for s in have if re.fullmatch(r"\d[\dx]*", key)
                                        and f"x{key}x" in f"x{s}x"}
                if fits:
                    at = at[:2] + (fits,)
            elif of in kinds and word in have:
                at = at[:i] + ((word,) if i else word,) + at[i + 1:]
        return at

    lines = [[c.strip() for c in line.strip().strip("|").split("|")]
             for line in text.strip().splitlines()]
    # Where one head, or one cell of the first column, is a size, all that look so are.
    for cells in (lines[0], [line[0] for line in lines[2:]]):
        looks = [c for c in cells if re.fullmatch(r"[\d,]+(?:(?: x |x)\d+)*", c)]
        fits = [c for c in looks if place(c, ("", "", ()), ("sizes",))[2]]
        for c in looks if fits else []:
            if c not in fits:
                complain(name, f"{c} is no size of run " +
                         " or ".join(str(r.number) for r in named))
    for cells in lines[2:]:
        at = ("", "", ())
        at = place(cells[0], at, ("variants", "sizes"))
        at = place(cells[1], at, ("precisions", "sizes"))
        for column, cell in enumerate(cells):
            if lines[0][column] in COURSE_COLUMNS:
                _, _, of = place(lines[0][column - 1], at)
                variant = IN_TABLES.get(cells[0], "")
                for m in NUMBER.finditer(cell):
                    digits, fraction = m.group(1).replace(",", ""), m.group(2) or ""
                    unit = "MiB" if "@" in cell[:m.start()] else "ms"
                    number = float(digits + fraction)
                    if not in_course(lesson_of(name), number, slack_of(
                            digits, fraction, number), unit, of, variant):
                        complain(name, f"{m.group(0)} {unit} of {variant} is none of the "
                                 "course's")
                continue
            if place(cell, ("", "", ()))[:2] != ("", ""):
                continue
            here = place(lines[0][column], at) if column else at
            if lines[0][column] == "occupancy":
                check_occupancy(name, cells[0], cell, named)
                continue
            if lines[0][column] == "error" and any(r.of_kind("error") for r in named):
                variant, precisions, at = here
                check_error(name, cell, variant or cells[0], precisions, at or sizes, named)
                continue
            for m in NUMBER.finditer(cell):
                if column or here == ("", "", ()):
                    check_number(name, cell, m, named, here, here[0], near, units_before,
                                 lines[0][column])


def paragraphs(text):
    """Each paragraph below a lesson's head that is looked at: where it begins, itself and
    the numbers of the runs it is of."""
    begin = (re.match(r"\A---\n.*?\n---\n", text, flags=re.S) or re.match("", text)).end()
    named, question = [], False
    for paragraph in re.split(r"(\n[ \t]*\n)", text[begin:]):
        if paragraph.startswith("#"):
            named, question = [], paragraph.startswith("## Predict first")
            yield begin, "", named
        elif paragraph.strip() and not paragraph.startswith("    ") and not question:
            here = re.findall(r"\bruns? (\d+)(?: and (\d+))?\b", paragraph)
            named = sorted({int(n) for p in here for n in p if n}) or named
            yield begin, paragraph, named
        begin += len(paragraph)


def check_runs(name, text):
    """A run that is named is one of the lesson, or of one that the text names."""
    own = os.path.basename(name).split("-", 1)[1].removesuffix(".md")
    for m in re.finditer(r"\bruns?\s+((?:\d+(?:,\s+|\s+and\s+|\s+to\s+)?)+)",
                         re.sub(r"(?m)^    .*$", "", text)):
        for n in re.findall(r"\d+", m[1]):
            of = db.execute("SELECT lesson FROM run WHERE id = ?", (n,)).fetchone()
            if of and of[0] != own and of[0] not in text:
                complain(name, f"run {n} is of {of[0]}, which is not named")


def check_lesson(name, text):
    lesson = lesson_of(name)
    check_runs(name, text)
    text = relations(name, lesson, text)
    facts(name, text)
    ideas(name, text.split("\n---\n")[0], text)
    for of, words, _ in ALLOWED:
        for one in words.split("|") if of == lesson else []:
            text, found = re.subn(one.replace(" ", r"\s+"), " ", text, flags=re.S)
            if not found:
                complain(name, f"ALLOWED has words that are not there: {one}")
    state = frozenset(), frozenset(), ()
    for _, paragraph, numbers in paragraphs(text):
        found, *state = check_paragraph(name, paragraph, tuple(numbers), *state)
        complaints.extend(found)


@functools.lru_cache(maxsize=None)  # of a lesson with one figure changed, most are as before
def check_paragraph(name, paragraph, numbers, near, sizes, units_before):
    """Returns the complaints, and then the variants, the sizes and the units that the next
    one may be of."""
    if not paragraph:  # a heading
        return [], frozenset(), frozenset(), ()
    if re.search(r"\bruns? \d", paragraph):
        near = sizes = frozenset()
    begin = len(complaints)
    named = [run_of(n) for n in numbers]
    for r in named:
        if not r.ships:
            complain(name, f"run {r.number} does not ship: a recording has given "
                     "the runs other numbers")
    named = [r for r in named if r.ships]
    words = re.sub(r"\bruns? \d+(?: and \d+)?\b|--recorded( \d+)+", " ", paragraph)
    words = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", " ", words, flags=re.S)
    if not named and slides[lesson_of(name)] and COURSE_WORDS.search(words):
        check_course(name, words)
    elif not named:
        for m in sorted([*MEASURED.finditer(words), *SPEED.finditer(words)],
                        key=re.Match.start):
            complain(name, f"{m.group(0)!r} is of no run that is named: " + re.sub(
                r"\s+", " ", words[max(0, m.start() - 40):m.end() + 10]).strip())
    elif words.lstrip().startswith("|"):
        near |= table_variants(words, named)
        check_table(name, words, named, near, units_before, sizes)
    else:
        sizes = frozenset(check_text(name, words, named, near, sizes))
        units_before = tuple(u for u in UNITS if u[0] not in ("ratio", "top") and
                             re.search(r"(?:\b|(?<=\s))(?:" + u[2] + ")", words))
        check_words(name, words, named)
        check_errors(name, words, named)
        near |= variants_in(words, named)
    found = complaints[begin:]
    del complaints[begin:]
    return found, near, sizes, units_before


def figures_of(text, course):
    """Each number of the paragraphs that are of a run or of the course, but for those of
    a formula, a command, a product ("16 x 8") and a number of a run."""
    for begin, paragraph, numbers in paragraphs(text):
        if not numbers and not (course and COURSE_WORDS.search(paragraph)):
            continue
        blank = re.sub(r"`[^`]*`|\$[^$]*\$|\bruns? \d+(?: and \d+)?|"
                       r"\b(?:cuDNN|Express|Problem|capability|model for) [\d.]+|"
                       r"(?<!for )\b\d+(?: x \d+)+", lambda c: " " * len(c[0]), paragraph)
        for m in NUMBER.finditer(blank):
            if Figure(*m.groups()):
                yield begin + m.start(), m


def plant(name):
    """Changes each figure of a lesson by 10 %, up and down: complaints are what is not
    seen."""
    with open(name, encoding="utf-8") as f:
        text = f.read()
    caught = planted = 0
    seen = []
    for at, m in figures_of(text, slides[lesson_of(name)]):
        digits = len(m.group(2) or ".") - 1
        for factor in (1.1, .9):
            other = Figure(*m.groups()) * factor
            if abs(other - Figure(*m.groups())) < .5 * 10**-digits:
                other = Figure(*m.groups()) + (1 if factor > 1 else -1) * 10**-digits
            other = f"{other:{',' if ',' in m.group(1) else ''}.{digits}f}"
            planted += 1
            complaints.clear()
            check_lesson(name, text[:at] + other + text[at + len(m.group(0)):])
            caught += bool(complaints)
            if not complaints:
                seen.append(f"{m.group(0)} as {other}: " + re.sub(
                    r"\s+", " ", text[at - 40:at + 30]))
    complaints.clear()
    print(f"{os.path.relpath(name, root)}: {caught} of {planted} wrong figures are found")
    complaints.extend(seen)


wrong = False
for path in sorted(glob.glob(f"{root}/lessons/*.md")):
    if sys.argv[2:3] != ["--plant"]:
        with open(path, encoding="utf-8") as f:
            check_lesson(path, f.read())
    elif lesson_of(path) in sys.argv[3:]:
        plant(path)
    print(*complaints, sep="\n", end="\n" * bool(complaints))
    wrong = wrong or bool(complaints)
    complaints.clear()
sys.exit(wrong)
