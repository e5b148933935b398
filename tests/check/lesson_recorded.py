"""The figures that lessons print of our own machines are those of the recorded
runs that ship.

usage: lesson_recorded.py SOURCE_DIR

A paragraph that prints figures names the run that they are of, "run 36 of what
ships" or "runs 7 and 34"; it counts for the paragraphs and tables below it too, up
to the next heading or the next run that is named. There each number with a unit,
with a decimal point or a comma, or behind the name of a rung must be one of that run:
a time, a rate, a ceiling, a size, a workspace, a number of a row's note, or, with %
or "times", a ratio of two that belong together (of one size, of one rung, of a row
and its model or its ceiling). "1.3 times its model's" is of the rung's rate and model
alone, "by the model 1.7 times" of two models, "2.7 times as fast" the quotient of two
figures of its sentence where that prints them and names no rungs, and "15 times worse"
that of two errors of its sentence. In a sentence that names two rungs or more the ratio
is of two of those; where it names fewer, the others are of its paragraph, or, where
that has fewer too, of the text and the tables above it with the same run. A number
behind a rung's name must be that rung's, and in a table one of the rung, precision and
size that its row and its column name. A time, a rate or "N times faster" in a paragraph
without a run is an error: what no run that ships has is said in words. A ratio in words ("half", "three
times") below a run is an error: it is tied to nothing. A ratio in a sentence that names
the course or its card may be one of a rung and a figure of the lesson's `slide` list at
the same size. The questions of "Predict first" give figures and claim none.

A ratio of two sizes is of two of those that its sentence names, if it names any. "7 % of"
is a part, "7 % ahead" or "saves 7 %" a difference.

A figure is of the sizes that its sentence names ("at 4096", "S = 8", "64 KiB"), or the
last sentence that named some; in a table of its row's. One without a unit has a unit
that was said before it. Of hardware counters, kernels and notes the run has the bytes
that "DRAM reads", the occupancy that is "*achieved*", the share of the cycles in which
the "tensor cores work", "instructions a cycle", multiply-adds that a rung "executes",
registers "a thread", bytes of "workspace" and "sectors".

When a recording gives the runs other numbers, or other figures, this check has a
line for each: put the run's new number and its figures into the text.
`lapenna-lab lab LESSON --backend cpu` prints both, below the table of the CPU.
"""
import glob
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
    ("204", r"prints at N = 6000, in fp32: 7,077 GFLOP/s", COURSE),
    ("230", r"0\.47 milliseconds are 10\.3 TFLOP/s", COURSE),
    ("230", r"trains 2\.5 times", COURSE),
    ("240", r"67\.77, 68\.90 and .*?69\.96, 69\.99 and 70\.84; 7,077", COURSE),
    ("240", r"228 ms for N = 2000|course's 7,077", COURSE),
    ("242", r"\(7,077\)|P100's 4,537", COURSE),
    ("242", r"cuBLAS reaches 4,537 GFLOP/s|is 4\.76 TFLOP/s", COURSE),
    ("243", r"43\.5 GFLOP/s|P100 has 43\.5, 218 and 838", COURSE),
    ("257", r"132 multiprocessors 16,896|half of 92 GB/s, the|a way of 367 nanoseconds",
     DERIVED),
    ("257", r"352 nanoseconds|5\.6 kB", DERIVED),
    ("259", r"55 GB/s|0\.2 ms short", DERIVED),
    ("258", r"67 TFLOP/s", SHEET),
    ("258", r"an occupancy of 6 %", DERIVED),
    ("202", r"half of a multiprocessor that waits", DERIVED),
    ("210", r"arithmetic is sixteen times as fast", SHEET),
    ("210", r"1,003 TFLOP/s of that|a fifth lower", DERIVED),
    ("225", r"loads are a quarter as many", DERIVED),
    ("226", r"walks twice", DERIVED),
    ("227", r"two thirds of the multiprocessors", DERIVED),
    ("232", r"half precision,", DERIVED),
    ("236", r"36,864 elements", DERIVED),
    ("232", r"not half of them|nine tenths of a tile", DERIVED),
    ("233", r"less than a third", DERIVED),
    ("254", r"91 % of 128 bytes a cycle", DERIVED),
    ("242", r"half of the fp32 rate", SHEET),
    ("202", r"a block of 256 is an eighth", DERIVED),
    ("202", r"a quarter of the instructions|writes it twice", DERIVED),
    ("204", r"more than a third full", DERIVED),
    ("210", r"eight rounds and a half", DERIVED),
    ("211", r"half a unit of its last bit", DERIVED),
    ("254", r"asks for 8,590 MB|82 % is still", DERIVED),
    ("252", r"six of every 32|19 in a hundred", DERIVED),
    ("256", r"one thread of 32", DERIVED),
    ("255", r"occupancy doubles|12\.5 a multiprocessor a microsecond", DERIVED),
    ("257", r"half of it reads", DERIVED),
    ("257", r"half that is read", DERIVED),
    ("280", r"with half of the exponentials", "what was tried, and no figure"),
    ("211", r"above 65504 is infinite", DERIVED),
    ("280", r"there are 384 for 132", DERIVED),
    ("281", r"of the pairs 50 % are left", DERIVED),
]
# Columns of a table that have values of counters.
COLUMNS = {"achieved": [("occupied", .01, "")]}
# Columns of a table that are not of our machines.
COURSE_COLUMNS = ("GV100",)

# What the text calls a rung, and what the run calls it.
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

root = sys.argv[1]
db = sqlite3.connect(f"file:{root}/profiles/recorded/h200.db?mode=ro", uri=True)
db.row_factory = sqlite3.Row
wrong = 0


def complain(name, what):
    global wrong
    print(f"{os.path.relpath(name, root)}: {what}")
    wrong = 1


class Run:
    """A run's values: kind, value, and the rung, precision and size of each, which
    are empty where it is of the whole run."""

    def __init__(self, number):
        self.number = number
        self.values = []
        self.rows = db.execute("SELECT * FROM lab_row WHERE runId = ? AND "
                               "status = 'done'", (number,)).fetchall()
        run = db.execute("SELECT * FROM run WHERE id = ?", (number,)).fetchone()
        self.ships = run is not None
        if run:
            self.add("ns", run["iterationMedian_ns"])
            self.steps(number)
        self.counters(number)
        self.rungs = {r["rung"] for r in self.rows}
        self.precisions = {r["precision"] for r in self.rows}
        self.sizes = {r["size"] for r in self.rows}
        for r in self.rows:
            self.row(r)
        # How much of a rung is wrong that has to be.
        for reason, in db.execute("SELECT reason FROM lab_row WHERE runId = ? AND "
                                  "status != 'done'", (number,)):
            for n in re.findall(r"\d+", reason or ""):
                self.add("count", int(n))
        for r in db.execute("SELECT * FROM lab_row WHERE runId = ? AND reason LIKE "
                            "'%elements are wrong%'", (number,)):
            self.rungs.add(r["rung"])
            bad, of = re.search(r"(\d+) of (\d+) elements", r["reason"]).groups()
            self.add("ratio", int(bad) / int(of), r)
        for r in db.execute("SELECT * FROM sweep_row WHERE runId = ? AND "
                            "status = 'done'", (number,)):
            self.add("ns", r["median_ns"])
            self.add("iterations", r["iterations"])
            self.add("ratio", r["share"],
                     {"rung": r["lesson"], "precision": "", "size": ""})
            self.rungs.add(r["lesson"])
            for column in ("samples_per_s", "parameters", "x", "loss",
                           "lossIterations"):
                self.add("count", r[column])
        for share, lesson in db.execute(
                "SELECT a.flop / sum(b.flop), a.lesson FROM sweep_row a JOIN sweep_row b "
                "USING (runId, lesson) WHERE a.runId = ? GROUP BY a.runId, a.place",
                (number,)):
            self.add("ratio", share, {"rung": lesson, "precision": "", "size": ""})

    def add(self, kind, value, row=None, other="", size=""):
        """`other`, `size`: the rung and the size that a ratio is to."""
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
                    self.add("ns", ns, r)
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
        for n in re.findall(r"\d+\.\d+", r["note"] or ""):
            self.add("count", float(n), r)
            self.add("ns", float(n) * 1e6, r)
            self.add("ratio", float(n) / 100, r)
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
            if b["place"] != r["place"] and (
                    b["size"] == r["size"] or
                    (b["rung"], b["precision"]) == (r["rung"], r["precision"])):
                self.add("ratio", b["median_ns"] / time, r, b["rung"], b["size"])
                self.add("ratio", time / b["median_ns"], r, b["rung"], b["size"])
                if r["rate"] and b["rate"]:
                    self.add("ratio", r["rate"] / b["rate"], r, b["rung"], b["size"])
                if r["rateModel"] and b["rateModel"]:
                    for kind in ("ratio", "models"):
                        self.add(kind, r["rateModel"] / b["rateModel"], r, b["rung"],
                                 b["size"])

    def has(self, number, slack, units, rung, precision, sizes, rungs=(), near=(),
            form=""):
        """`form`: of a percentage, "part" as in "7 % of", "more" as in "7 % ahead", or
        either. `sizes`: those that will do, all where there is none. `rungs`: those of the sentence; `near`: those of the text around it. A ratio
        of two rungs is of the sentence's; where that names one, of it and one near;
        where it names none, of two near."""
        for kind, value, r, p, s, other, to in self.values:
            if other and r == other and len(rungs) > 1 and kind != "top":
                continue
            if other and r != other and (
                    not {r, other} <= set(rungs) if len(rungs) > 1 else
                    rungs and not {r, other} & set(rungs) or
                    not {r, other} <= set(rungs) | set(near)):
                continue
            if (rung and r != rung) or (precision and p and p != precision) or \
                    (sizes and s and s not in sizes) or \
                    (sizes and to and to not in sizes):
                continue
            for k, scale, _ in units:
                if k != kind:
                    continue
                shown = [value / scale] if form != "more" else []
                if kind == "ratio" and scale < 1 and form != "part":
                    shown += [abs(value - 1) / scale]
                if any(abs(v - number) <= slack * 1.000001 for v in shown):
                    return True
        return False


runs = {}


def run_of(number):
    if number not in runs:
        runs[number] = Run(number)
    return runs[number]


def pairs(named):
    """The ratio of the same row in two runs."""
    return [("ratio", a["median_ns"] / b["median_ns"])
            for x in named for y in named if x is not y
            for a in x.rows for b in y.rows
            if (a["rung"], a["size"], a["precision"]) ==
            (b["rung"], b["size"], b["precision"])]


def sentence_of(text, m):
    begin = max((b.end() for b in re.finditer(r"[.;]\s", text[:m.start()])), default=0)
    end = re.search(r"[.;]\s", text[m.end():])
    return text[begin:m.end() + end.start() if end else len(text)]


def printed_quotient(text, m, number, slack):
    """Whether "2.7 times as fast" is the quotient of two figures that its sentence
    prints, each as far off as it is rounded; None: it does not print two, or names
    the rungs, whose ratios are the run's."""
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


def rungs_in(text, named):
    words = re.findall(r"`([^`]*)`|\b(" + "|".join(NAMES) + r")\b", text)
    return ({a or NAMES[b] for a, b in words} &
            set().union(*(r.rungs for r in named)))


SLIDE = re.compile(r"size: (\S+), value: ([\d.]+),\s+unit: ([GT])FLOP/s")
slides = []  # of the lesson at hand: size, FLOP/s


def beside_course(text, m, number, slack, scale, named, rung):
    """Whether a sentence that names the course has a ratio of a rung to a figure of the
    lesson's slides, of one size."""
    sentence = sentence_of(text, m)
    if not re.search(r"\bcourse|P100|MAGMA|slide", sentence):
        return False
    told = set(re.findall(r"\d+", sentence))
    named_sizes = [s for s in slides if s[0] in told]
    for size, flops in named_sizes or slides:
        for r in named:
            for kind, value, of, _, s, *_ in r.values:
                if kind == "flop/s" and s == size and rung in ("", of) and any(
                        abs(v / scale - number) <= slack
                        for v in (value / flops, abs(value / flops - 1))):
                    return True
    return False


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


SIZE_BEFORE = r"(?:=|\bat|\bfrom|\bto|\bwith|\bbatch|\bwidth)\s*$"
SIZE_BEHIND = r"\s+(?:branches|products|elements|results|numbers|rows|threads)\b"


def form_of(text, m):
    """Whether a percentage is a part ("7 % of"), a difference ("7 % ahead") or either."""
    if re.match(LIST + r"\s*%\s+(?:ahead|behind|faster|slower|more|less|longer)\b",
                text[m.end():]) or re.search(r"\b(?:gains?|saves?|loses?|within|grows\s+by)\s+$", text[:m.start()]):
        return "more"
    return "part" if re.match(r"\s*%\s+of\b", text[m.end():]) else ""


def check_number(name, text, m, named, where, always, near=(), said=(), cell=None):
    """`cell`: None, or the head of the column of a table. `where`: rung, precision and sizes, each empty where any will do. `near`: the
    rungs of the paragraphs and tables above, of the same run. `said`: the units of the
    numbers before, of which one without a unit is."""
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
    by_run = counted(text, m) if cell is None else COLUMNS.get(cell, [])
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
    # 31,500 is rounded to hundreds, but no number to fewer than three digits.
    slack = .5 * 10 ** (1 - len(fraction)) if fraction else \
        min(.5 * 10 ** (len(digits) - len(digits.rstrip("0"))),
            max(.005 * number, .5))
    printed = printed_quotient(text, m, number, slack)
    others = [u for u in [*said, listed or next_unit(text, m)] if u]
    units = [unit] if unit else [u for u in others if u[0] not in ("ratio", "top")] or \
        [u for u in UNITS if u[0] not in ("ratio", "top")]
    units += [] if unit else [u for u in [listed, *UNITS] if u and (
        u is listed or u[0] == "count")]
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
    rungs = rungs_in(sentence_of(text, m), named)
    own = rungs_in(text, named)
    near = own if len(own) > 1 else own | set(near)
    if printed or printed is None and any(
            r.has(number, slack, units, *where, rungs, near, form_of(text, m))
            for r in named):
        return
    if unit and unit[0] == "ratio" and units[0] == unit and printed is None and any(
            abs(v / unit[1] - number) <= slack for _, v in pairs(named)):
        return
    if len(named) == 2 and unit and unit[0] == "ratio" and printed is None:
        sums = [v for r in named for k, v, g, *_ in r.values if k == "ns" and not g]
        if any(abs(a / b / unit[1] - number) <= slack for a in sums for b in sums):
            return
    ratio = next((u for u in units if u and u[0] == "ratio"), None)
    if ratio and beside_course(text, m, number, slack, ratio[1], named, where[0]):
        return
    around = re.sub(r"\s+", " ", text[max(0, m.start() - 30):m.end() + 15]).strip()
    of = [w for w in where[:2] if w] + sorted(where[2])
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
# a sentence says so, the words behind the number, and the values that it must be.
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
    for says, words, kind in COUNTED_BY_RUN:
        said = re.search(says, sentence)
        if not said:
            continue
        own = [scale for scale, word in words if re.match(r"\s*(?:" + word + ")",
                                                          text[m.end():])]
        if not own and says and not (unit and unit[0] != "ratio") and \
                kind.startswith("dram"):
            behind = sentence.find(m.group(0) + text[m.end():m.end() + 9])
            own = [scale for scale, word in words if behind > said.start() and
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
    rungs = set().union(*(r.rungs for r in named))
    rung, said, begin = "", [], 0
    for m in re.finditer(r"`([^`]*)`|\b(" + "|".join(NAMES) + r")\b|([.;]\s|:\s)|" +
                         DIGITS, text):
        if m.group(3):
            rung = ""
            if m.group(3)[0] != ":":
                sizes, begin = sizes_in(text[begin:m.start()], named) or sizes, m.end()
        elif m.group(1) is not None or m.group(2):
            word = m.group(1) if m.group(1) is not None else NAMES[m.group(2)]
            rung = word if word in rungs else ""
        else:
            number = NUMBER.match(text, m.start())
            of = sizes_in(sentence_of(text, number), named) or sizes
            check_number(name, text, number, named, (rung, "", of), rung, near, said)
            said.append(unit_of(text, m.end()))
    return sizes_in(text[begin:], named) or sizes


def table_rungs(text, named):
    """The rungs that a table has, in its cells and its heads."""
    words = {c.strip("` \t") for c in re.split(r"[|\n]", text)}
    words |= {NAMES.get(w, IN_TABLES.get(w, w)) for w in words}
    return words & set().union(*(r.rungs for r in named))


def check_occupancy(name, size, cell, named):
    """A column of its own: that of the row's size, from the note. "256, 24,576" is of
    NxTxS with T = 256 and S = 24576, and "256" of S = 1."""
    sides = [s.replace(",", "") for s in re.split(r",\s", size)]
    sides += ["1"] * (2 - len(sides))
    for r in named:
        for row in r.rows:
            told = re.search(r"occupancy ([\d.]+) %", row["note"] or "")
            if told and row["size"].split("x")[1:] == sides and \
                    float(told.group(1)) == float(cell.split()[0]):
                return
    complain(name, f"occupancy {cell} at {size} is not in run " +
             " or ".join(str(r.number) for r in named))


def check_table(name, text, named, near, said):
    """`said`: the units of the paragraph above, of all cells that have none."""
    def place(cell, at, kinds=("rungs", "precisions", "sizes")):
        word = cell.strip("` ")
        word = NAMES.get(word, IN_TABLES.get(word, word))
        for i, of in enumerate(("rungs", "precisions", "sizes")):
            have = set().union(*(getattr(r, of) for r in named))
            if of in kinds and of == "sizes":
                key = re.sub(r",\s+", "x", word) if re.match(r"\d", word) else word
                key = key.replace(",", "").replace(" x ", "x")
                fits = have & {key} or {s for s in have if re.fullmatch(r"\d[\dx]*", key)
                                        and f"x{key}x" in f"x{s}x"}
                if fits:
                    at = at[:2] + (fits,)
            elif of in kinds and word in have:
                at = at[:i] + (word,) + at[i + 1:]
        return at

    lines = [[c.strip() for c in line.strip().strip("|").split("|")]
             for line in text.strip().splitlines()]
    for cells in lines[2:]:
        at = ("", "", ())
        at = place(cells[0], at, ("rungs", "sizes"))
        at = place(cells[1], at, ("precisions", "sizes"))
        for column, cell in enumerate(cells):
            if lines[0][column] in COURSE_COLUMNS or place(cell, ("", "", ()))[:2] != ("", ""):
                continue
            here = place(lines[0][column], at) if column else at
            if lines[0][column] == "occupancy":
                check_occupancy(name, cells[0], cell, named)
                continue
            for m in NUMBER.finditer(cell):
                if column or here == ("", "", ()):
                    check_number(name, cell, m, named, here, here[0], near, said,
                                 lines[0][column])


for name in sorted(glob.glob(f"{root}/lessons/*.md")):
    number = os.path.basename(name).split("-")[0]
    with open(name, encoding="utf-8") as f:
        text = f.read()
    head = re.match(r"\A---\n.*?\n---\n", text, flags=re.S)
    slides = [(size, float(v) * {"G": 1e9, "T": 1e12}[u])
              for size, v, u in SLIDE.findall(head.group() if head else "")]
    text = text[head.end() if head else 0:]
    for lesson, words, _ in ALLOWED:
        for one in words.split("|") if lesson == number else []:
            text, found = re.subn(one.replace(" ", r"\s+"), " ", text, flags=re.S)
            if not found:
                complain(name, f"ALLOWED has words that are not there: {one}")
    named, question, near, sizes, said = [], False, set(), frozenset(), []
    for paragraph in re.split(r"\n[ \t]*\n", text):
        if paragraph.startswith("#"):
            named, near, sizes, said = [], set(), frozenset(), []
            question = paragraph.startswith("## Predict first")
            continue
        if paragraph.startswith("    ") or question:
            continue
        here = re.findall(r"\bruns? (\d+)(?: and (\d+))?\b", paragraph)
        if here:
            named = [run_of(n) for n in sorted({int(n) for p in here for n in p if n})]
            for r in named:
                if not r.ships:
                    complain(name, f"run {r.number} does not ship: a recording has given "
                             "the runs other numbers")
            named = [r for r in named if r.ships]
            near, sizes = set(), frozenset()
        words = re.sub(r"\bruns? \d+(?: and \d+)?\b|--recorded( \d+)+", " ", paragraph)
        words = re.sub(r"\$\$.*?\$\$|\$[^$]*\$", " ", words, flags=re.S)
        if not named:
            for m in sorted([*MEASURED.finditer(words), *SPEED.finditer(words)],
                            key=re.Match.start):
                complain(name, f"{m.group(0)!r} is of no run that is named: " + re.sub(
                    r"\s+", " ", words[max(0, m.start() - 40):m.end() + 10]).strip())
        elif words.lstrip().startswith("|"):
            near |= table_rungs(words, named)
            check_table(name, words, named, near, said)
        else:
            sizes = check_text(name, words, named, near, sizes)
            said = [u for u in UNITS if u[0] not in ("ratio", "top") and
                    re.search(r"(?:\b|(?<=\s))(?:" + u[2] + ")", words)]
            check_words(name, words, named)
            near |= rungs_in(words, named)
sys.exit(wrong)
