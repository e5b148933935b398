"""The figures that lab lessons print are those of the recorded runs that ship.

usage: lesson_recorded.py SOURCE_DIR
"""
import glob
import re
import sqlite3
import sys

root = sys.argv[1]
db = sqlite3.connect(f"file:{root}/profiles/recorded/h200.db?mode=ro", uri=True)


def column(lesson, what, size, rung, precision="fp32"):
    rows = db.execute(
        f"SELECT {what} FROM lab_row JOIN run ON id = runId WHERE lesson = ? AND "
        "size = ? AND rung = ? AND lab_row.precision = ?",
        (lesson, size, rung, precision)).fetchall()
    assert len(rows) == 1, (lesson, size, rung, rows)
    return rows[0][0]


def rate(lesson, size, rung, scale=1e9, precision="fp32"):
    return column(lesson, "rate", size, rung, precision) / scale


def access(size, rung):
    size = f"{size}x16384"
    return column("lab-pointer-chase", "median_ns", size, rung) / 16384


def sweep(kind, x, what):
    (value,), = db.execute(
        f"SELECT {what} FROM sweep_row WHERE sweep = ? AND x = ?",
        (kind, x)).fetchall()
    return value


def whole(v):
    return f"{v:,.0f}"


claims = []
for rung in ("plain", "tile", "padded", "rows", "large", "down", "fours"):
    claims.append(("202", f"`{rung}` " + whole(
        rate("lab-transpose", "8192", rung))))
for rung in ("large", "down"):
    claims.append(("202", f"`{rung}` " + whole(
        rate("lab-transpose", "8191x8193", rung))))
for rung in ("tile", "thread_1d", "thread_2d", "vector", "warp", "double"):
    claims.append(("204", f"`{rung}` " + whole(rate("lab-gemm", "4096", rung))))
for rung in ("wide", "even", "cublas"):
    claims.append(("204", f"| {rung} | " + " | ".join(
        whole(rate("lab-gemm", n, rung)) for n in ("4096", "6000"))))
for warps in (1, 2, 4, 8, 16, 32, 64):
    claims.append(("257", f"| {warps} | " + " | ".join(
        whole(rate("lab-warps-copy", f"33554432x{warps}", r))
        for r in ("one", "two", "four")) + " |"))
for size, rung, phrase in (
        (4096, "shared", "shared memory {:.1f}"), (4096, "global", "L1 {:.1f}"),
        (131072, "global", "{:.1f} at 128 KiB"),
        (1048576, "l2", "L2 {:.0f} ("), (8388608, "l2", "{:.0f} at 8 MiB"),
        (33554432, "l2", "{:.0f} at 32 MiB"),
        (268435456, "l2", "DRAM {:.0f} at 256 MiB"),
        (1073741824, "l2", "and {:.0f} ("),
        (32768, "constant", "Constant memory {:.0f}"),
        (67108864, "l2", "an access takes {:.0f} on")):
    claims.append(("253", phrase.format(access(size, rung))))
for rung, precision, digits in (("unfused", "fp32", 1), ("fused", "fp32", 1),
                                ("mma", "bf16", 0), ("wgmma", "bf16", 0),
                                ("cudnn", "bf16", 0)):
    claims.append(("280", "{:.{}f} TFLOP/s".format(
        rate("lab-attention", "4x16x4096x64", rung, 1e12, precision), digits)))
claims.append(("291", "{:.1f} microseconds at batch 1".format(
    sweep("batch-size", 1, "median_ns") / 1e3)))
claims.append(("291", "{:.1f} at batch 1024".format(
    sweep("batch-size", 1024, "median_ns") / 1e3)))
claims.append(("291", "{:.2f}, batch 1 has {:.2f}".format(
    sweep("batch-size", 1024, "lossIterations"),
    sweep("batch-size", 1, "lossIterations"))))
claims.append(("291", "batch 4 ({:.2f})".format(
    sweep("batch-size", 4, "loss"))))
for width in (1, 64, 1024):
    claims.append(("292", "{:.1f} ".format(
        sweep("network-size", width, "median_ns") / 1e3)))

for size, rung, digits, phrase in (
        ("1000x16", "looped", 2, "`looped` {} milliseconds"),
        ("1000x16", "streams", 2, "8 streams {},"),
        ("1000x16", "blocks", 4, "one launch for all {}:"),
        ("1000x16", "cublas_looped", 2, "cuBLAS in a loop takes {},"),
        ("1000x16", "cublas_batched", 4, "batched {},"),
        ("1000x16", "cublas_strided", 4, "strided {}:"),
        ("1000x128", "looped", 1, "the loop takes {} milliseconds"),
        ("1000x128", "streams", 2, "the streams {},"),
        ("1000x128", "blocks", 3, "ours {} and"),
        ("1000x128", "cublas_strided", 3, "cuBLAS {}.")):
    claims.append(("245", phrase.format("{:.{}f}".format(
        column("lab-batched", "median_ns", size, rung) / 1e6, digits))))
claims.append(("245", "{:.0f} times less".format(
    column("lab-batched", "median_ns", "1000x16", "looped") /
    column("lab-batched", "median_ns", "1000x16", "blocks"))))
for rung, phrase in (("looped", "{} GFLOP/s looped"), ("streams", "{} on streams"),
                     ("blocks", "{} in one launch"),
                     ("cublas_looped", "cuBLAS {} looped"),
                     ("cublas_strided", "and {} strided")):
    claims.append(("245", phrase.format(whole(
        rate("lab-batched", "50x512", rung)))))

wrong = 0
for number, phrase in claims:
    name, = glob.glob(f"{root}/lessons/{number}-*.md")
    with open(name, encoding="utf-8") as f:
        text = re.sub(r"\s+", " ", f.read())
    if phrase not in text:
        print(f"{name}: the recorded run says: {phrase}")
        wrong = 1
sys.exit(wrong)
