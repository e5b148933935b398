"""The lessons "Inside a kernel": each command of their texts runs, and each figure is
the simulator's: one of a phrase that is made from its counts, or else a count, a line or
a value of one of the runs, or a number of a command or of the lesson's head.

usage: lesson_inside.py PROGRAM LESSONS_DIR COMPILER
"""
import glob
import json
import math
import re
import shlex
import subprocess
import sys
import tempfile

exe, root, compiler = sys.argv[1:4]
wrong = 0


def complain(*words):
    global wrong
    wrong = 1
    print(*words)


def run(args, words=None):
    """Output and exit status of the program; `words` go to standard input."""
    done = subprocess.run([exe, *args], input=words, capture_output=True,
                          text=True, timeout=120, cwd=root + "/..")
    if done.returncode not in (0, 1):
        complain(" ".join(args), "ends with", done.returncode, done.stderr)
    return done.stdout, done.returncode


NUMBER = re.compile(r"(?<![\w.,/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w^]|,\d|\.\d)")


def numbers(what):
    """All numbers in a value of JSON or a text."""
    if isinstance(what, dict):
        return set().union(*map(numbers, what.values()))
    if isinstance(what, list):
        return set().union(*map(numbers, what))
    if isinstance(what, str):
        return {float(n) for n in re.findall(r"\d+(?:\.\d+)?", what)}
    return {float(what)} if isinstance(what, (int, float)) else set()


class Sim:
    """What `sim --json --counts` prints."""

    known = set()  # numbers of all runs of the lesson at hand

    def __init__(self, args):
        out, self.status = run([*args, "--json", "--counts"])
        rows = [json.loads(line) for line in out.splitlines()]
        self.counts = [r["counts"] for r in rows if r["type"] == "launch"][0]
        self.lines = {r["line"]: r for r in rows if r["type"] == "line"}
        self.findings = [r for r in rows if r["type"] == "finding"]
        self.values = [r["data"] for r in rows if r["type"] == "output"][0]
        Sim.known |= numbers([self.counts, self.findings, *self.lines.values()])


class Lesson:
    def __init__(self, name):
        path, = glob.glob(f"{root}/*[0-9]-{name}.md")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.name = name
        self.text = re.sub(r"\s+", " ", text)
        self.begin = self.text.index("---", 4) + 3
        self.end = (self.text + "## Try next").index("## Try next")  # questions, no claims
        self.explained = [m.span() for m in re.finditer(
            r"`[^`]*`|\$[^$]*\$|\(run \d+ of what ships\)[^.]*\.|\d+\. (?=[A-Z*])", self.text)]
        for block in re.findall(r"(?:^    .*\n)+", text, re.M):
            self.explain(re.sub(r"\s+", " ", block).strip())
        Sim.known = numbers(self.text[:self.begin])
        # An indented block that begins with the program's name is a command.
        self.commands = [
            shlex.split(block.replace("\\\n", " "))[1:] for block in
            re.findall(r"^    (lapenna-lab (?:.*\\\n)*.*)$", text, re.M)]

    def command(self, kernel, *changes):
        """That of a kernel, with words changed: (old, new) or (new,)."""
        args, = [c for c in self.commands if c[0] == "sim" and kernel in c]
        args = [a for a in args if a != "--counts"]
        for change in changes:
            at = len(args) - 1 - args[::-1].index(change[0])
            args[at] = change[1]
        return [*args, "--compiler", compiler]

    def explain(self, phrase):
        """The places of a phrase need no other origin."""
        for m in re.finditer(re.escape(phrase), self.text):
            self.explained.append(m.span())

    def has(self, phrase):
        if phrase not in self.text:
            complain(f"{self.name}: the simulator reports: {phrase}")
        self.explain(phrase)

    def network(self):
        """The tensors of the lesson's own network, flat."""
        def leaves(x):
            return sum(map(leaves, x), []) if isinstance(x, list) else [x]
        out, _ = run(["step", self.name, "--backend", "cpu", "--trace", "off", "--json"])
        return {t["name"]: leaves(t["data"]) for row in map(json.loads, out.splitlines())
                if row["type"] == "step" for t in row["outputs"]}

    def rest(self):
        """Complains about each number of the text that no phrase and no run has."""
        known = Sim.known | numbers(sum(self.commands, []))
        threads = set()
        for c in [c for c in self.commands if "--block" in c]:
            grid, block = (math.prod(map(int, c[c.index(w) + 1].split(",")))
                           for w in ("--grid", "--block"))
            threads |= {block, grid * block}
        for m in NUMBER.finditer(self.text, self.begin, self.end):
            of = threads if re.match(r" threads\b", self.text[m.end():]) else known
            if not any(a <= m.start() and m.end() <= b for a, b in self.explained) and \
                    float(m[0].replace(",", "")) not in of:
                complain(f"{self.name}: {m[0]} is of no run:",
                         self.text[max(0, m.start() - 30):m.end() + 15])

    def walk(self, kernel, words):
        return run([*self.command(kernel), "--walk"], words)[0]

    def block(self, phrase, *args):
        """A phrase with the threads of a block of a step's kernel; its warps, or None."""
        if not has_simulator():
            self.explain(re.search(phrase.replace("{}", r"[\d,]+"), self.text)[0])
            return None
        out, _ = run(["step", self.name, "--backend", "sim", "--trace", "off", *args], "quit\n")
        warps = int(re.search(r"warp 0 of (\d+)", out)[1])
        self.has(phrase.format(f"{32 * warps:,}"))
        return warps

    def warp(self, phrase, warp, *args):
        """A phrase with the first and last thread of a warp of a step's kernel."""
        if not has_simulator():
            self.explain(re.search(phrase.replace("{}", r"\d+"), self.text)[0])
            return
        out, _ = run(["step", self.name, "--backend", "sim", "--trace", "off", *args],
                     f"warp {warp}\nlanes\nquit\n")
        threads = re.findall(r"^ *\d+  (\d+),0,0  ", out, re.M)
        self.has(phrase.format(threads[0], threads[-1]))

    def expect(self, what, text):
        if text not in what:
            complain(f"{self.name}: not in the walk: {text}\n{what}")


def inside_kernel():
    lesson = Lesson("inside-kernel")
    s = Sim(lesson.command("saxpy"))
    lesson.has(f"y[31] is {s.values[31]:.0f}")
    lesson.has(f"makes {s.counts['global_requests']} requests")
    lesson.has(f"move {s.counts['global_sectors']} sectors, 4 each")
    sectors = [Sim(lesson.command("strided", ("int:8", f"int:{n}")))
               .counts["global_sectors"] - 4 for n in (1, 2, 4, 8, 16)]
    lesson.has("| sectors of the load | " + " | ".join(map(str, sectors)) + " |")
    lesson.has(f"the load has {sectors[3]}, a sector for each lane")
    touched = [Sim(lesson.command("shifted", ("int:1", f"int:{n}")))
               .counts["global_sectors"] - 4 for n in (1, 8)]
    assert touched[1] == 4, touched
    lesson.has(f"touch {touched[0]} sectors in place of {touched[1]}")
    walk = lesson.walk("saxpy", "watch x[5]\ncontinue\nthread 5\nelements\n"
                                "writer y[5]\nback\naccess\n")
    lesson.expect(walk, "x[0] to x[31]: 4 sectors")
    lesson.expect(walk, "reads x[5]\nwrites y[5]")
    lesson.expect(walk, "written by lane 5, thread (5,0,0)")
    short = run([*lesson.command("saxpy", ("int:32", "int:20")), "--walk"],
                "break 8\ncontinue\n")[0]
    lesson.expect(short, "20 of 32 lanes")
    far = Sim(lesson.command("shifted", ("in:float[64]=iota",
                                         "in:float[32]=iota")))
    assert far.findings[0]["thread"] == [31, 0, 0], far.findings
    lesson.block("Its block has {} threads", "--into", "fc1.W")
    lesson.warp("its threads are {} to {}", 1, "--into", "fc1.W")
    gradient = lesson.network()["fc1.W.grad"]
    lesson.has(f"{len(gradient)} products $x_k y_m$, from {min(gradient):.0f} to "
               f"{max(gradient):.0f}")
    lesson.rest()


def forgotten_check():
    lesson = Lesson("forgotten-check")
    careless = Sim(lesson.command("careless"))
    found, = careless.findings
    assert found["check"] == "memory" and careless.status == 1, found
    lesson.has(f"2 blocks of 64: {found['times']} threads too many")
    careful = Sim(lesson.command("careless", ("careless", "careful")))
    assert not careful.findings and careful.status == 0
    assert careful.values == careless.values == [2 * i for i in range(100)]
    assert careful.counts["divergent_branches"] == 1, careful.counts
    short = [*lesson.command("careless", ("careless", "careful"), ("2", "1"))]
    text, status = run(short)
    assert status == 0 and "nothing found" in text, text
    missing = re.search(r"(\d+) of its 100 elements were not written", text)
    lesson.has(f"{missing[1]} of the 100 elements were not written")
    refused = subprocess.run([exe, *lesson.command("careless", ("64", "2048"))],
                             capture_output=True, text=True,
                             cwd=root + "/..")
    assert refused.returncode == 2, refused
    most = re.search(r"1 to (\d+) are possible", refused.stderr)
    assert most, refused.stderr
    lesson.has(f"A block has {int(most[1]):,} threads at most")
    network = lesson.network()
    lesson.has(f"The sum of all x: {network['twice.W.grad'][0]:.0f}.")
    lesson.has(f"Their sum, {network['loss'][0]:.0f}.")
    lesson.rest()


def missing_barrier():
    lesson = Lesson("missing-barrier")
    early = Sim(lesson.command("early"))
    race = early.findings[0]
    assert race["check"] == "race" and early.status == 1, race
    lesson.has(f"line {race['line']}, which adds, reads a word that another "
               f"thread writes on line {race['other']['line']}")
    lesson.has(f"It counts {race['times']} such reads")
    never = [f for f in early.findings if f["check"] == "uninitialised"]
    lesson.has(f"The other {never[0]['times']} are the second kind")
    assert 64 + race["times"] + never[0]["times"] == 64 * 7
    right = [7 * i + 21 for i in range(64)]
    lesson.has(f"the sum of all 64 is {sum(right):,}")

    def bad(values):
        return [i for i in range(64) if values[i] != right[i]]
    first = bad(early.values)
    lesson.has(f"y[{first[0]}] to y[{first[-1]}]. Now")
    other = Sim([*lesson.command("early"), "--seed", "0"])
    second = bad(other.values)
    assert len(first) == len(second) == 6
    assert other.findings[0]["times"] == race["times"]
    lesson.has(f"y[{second[0]}] to y[{second[-1]}], and")
    waits = Sim(lesson.command("waits"))
    assert waits.values == right and not waits.findings and waits.status == 0
    lesson.has(f"costs {waits.counts['barriers']} arrivals")
    halo = early.findings[1]
    lesson.has(f"{halo['times']} writes of line {halo['line']}, of the halo")
    walk = lesson.walk("early", "continue\nwarps\nshared\n")
    lesson.expect(walk, "stencil.cu:9 ")
    lesson.expect(walk, ", 0 instructions")
    half = "".join(f"{i:6}:{' -' * 8}\n" for i in range(0, 32, 8))
    lesson.expect(walk, half + "    32: 32 33 34")
    # All that is wrong is in the text that the command prints.
    for more, values in (([], early.values), (["--seed", "0"], other.values)):
        text, _ = run([*lesson.command("early"), *more])
        rows = re.findall(r"^ *\d+:((?: \S+)+)$", text, re.M)
        assert [float(v) for row in rows for v in row.split()] == values, text
    lesson.has(f"All 64 sums are added: {lesson.network()['loss'][0]:,.0f}.")
    lesson.rest()


def banks():
    lesson = Lesson("banks")
    plain = Sim(lesson.command("plain"))
    padded = Sim(lesson.command("padded"))
    assert plain.values == padded.values
    write, read = plain.lines[9], plain.lines[12]
    assert write["wavefronts"] == 32 and padded.lines[22]["wavefronts"] == 32
    lesson.has(f"32 requests need {read['wavefronts']:,} passes; "
               f"{read['bank_conflicts']} of them are conflicts")
    lesson.has(f"far from a factor of {read['wavefronts'] // 32},")
    lesson.has(f"{plain.counts['global_requests']} requests, "
               f"{plain.counts['global_sectors']} sectors, 4 each")
    lesson.has(f"kernel {padded.counts['shared_wavefronts']} in place of "
               f"{plain.counts['shared_wavefronts']:,}")
    for kernel, apart in (("plain", 128), ("padded", 132)):
        walk = lesson.walk(kernel, "writer y[1,0]\n" + "instruction\nlanes\n" * 16)
        lesson.expect(walk, "read 4 bytes each of shared memory, "
                            "tile[0][9] to tile[31][9]")
        at = [int(byte) for byte in re.findall(r"tile\[\d+\]\[9\], byte (\d+)\n", walk)]
        assert {b - a for a, b in zip(at[:32], at[1:32])} == {apart}, walk
        lesson.has(f"{apart} apart in `{kernel}`")
    lesson.has(f"a row is {apart // 4} words long")
    lesson.rest()


def divergence():
    lesson = Lesson("divergence")
    by_lane = Sim(lesson.command("two_paths"))
    by_warp = Sim(lesson.command("two_paths", ("int:1", "int:32")))
    for line in (13, 17):
        assert by_lane.lines[line]["executions"] == 16
        assert by_lane.lines[line]["lanes"] == 256
        assert by_warp.lines[line]["executions"] == 8
        assert by_warp.lines[line]["lanes"] == 256
    lesson.has("16 executions each")
    lesson.has("have 8 executions each, and 256 lanes: all 32")
    assert by_lane.counts["divergent_branches"] == 2
    assert by_warp.counts["divergent_branches"] == 0
    lesson.has("Two branches split a warp, one in each")
    rounds = Sim(lesson.command("rounds"))
    longest = max(rounds.values)
    lesson.has(f"thread {rounds.values.index(longest)} needs {longest}.")
    line = rounds.lines[33]
    lesson.has(f"has {line['executions']} executions, with {line['lanes']} "
               f"lanes in all, {line['lanes'] / line['executions']:.0f} of 32")
    chosen = Sim(lesson.command("chosen"))
    assert chosen.counts["divergent_branches"] == 0
    assert chosen.values == by_lane.values
    walk = lesson.walk("two_paths", "break 13\ncontinue\nlanes\ndelete\n"
                                    "break thread 1\n" + "continue\n" * 12)
    walk = walk[walk.index("stops at each line"):]
    assert ">   13" not in walk and ">   17" in walk, walk
    lesson.has("and line 13, in the other branch, passes without it")
    lesson.block("for a block of {} threads", "--into", "act.leaky_relu")
    lesson.rest()


def one_tile():
    lesson = Lesson("one-tile")
    naive = Sim(lesson.command("naive"))
    tiled = Sim(lesson.command("tiled"))
    assert naive.values == tiled.values
    written = 4 * 256
    flops = tiled.counts["flops"]
    lesson.has(f"{(naive.counts['global_bytes'] - written) // 4:,} numbers for "
               f"{naive.counts['flops']:,} FLOP")
    lesson.has(f"from {(tiled.counts['global_bytes'] - written) // 4:,} numbers")
    lesson.has(f"{flops:,} FLOP and {tiled.counts['global_bytes']:,} bytes")
    moved = tiled.counts["global_bytes"] // 4
    lesson.has(f"{moved:,} numbers: {flops / moved:.1f}.")
    walk = lesson.walk("tiled", "break 27\ncontinue\nwriter c[9,3]\nback\n"
                                "thread 0,0\nelements\ndelete\nbreak 32\ncontinue\n")
    lesson.expect(walk, "block (0,1,0)")
    lesson.expect(walk, "reads a[0,0], a[0,8]\nreads b[0,0], b[8,0]\n")
    lesson.expect(walk, ">   32")
    walk = lesson.walk("tiled", "findings\nbreak 27\ncontinue\nshared\ndelete\n"
                                "barrier\nshared bs\nbreak 32\ncontinue\n"
                                "print sum\n")
    lesson.expect(walk, "found nothing in this block so far")
    # A warp's rows of each tile: of the others' words none is written.
    assert walk.count(": - - - - - - - -\n") == 8, walk
    assert walk.count(": 0.5 0.5 0.5 0.5 0.5 0.5 0.5 0.5\n") == 4, walk
    lesson.expect(walk, ": 0 1 2 3 4 5 6 7\n")
    lesson.expect(walk, ": 112 113 114 115 116 117 118 119\n")
    # Column 0 of B, halved: 0.5 * (0 + 16 + ... + 240).
    lesson.expect(walk, "lane  0: 960 968 ")
    n, tiles = round(len(naive.values) ** .5), 2  # of the command: --grid 2,2
    lesson.has(f"here {2 * n} / {2 * tiles + 1} = {2 * n / (2 * tiles + 1):.1f}. The")
    lesson.has(f"has {32 // (n // tiles)} different words, one for each row of the warp")
    warps = lesson.block("`dense_tiled` has one block of {} threads", "--variant",
                         "fc1=tiled", "--into", "fc1.matmul")
    for row in re.findall(r"`c\[(\d+),\d+\]` is row", lesson.text):
        lesson.has(f"is row {row}, in")
    lesson.rest()
    if warps:
        Lesson("lab-autotune").has(f"of one block, {warps} here for {n} x {n} results")


def has_simulator():
    """A build without CUDA has no module of the simulator."""
    return "simulator          ok" in run(["doctor"])[0]


def labs():
    """Each command that a lab has for looking inside runs, once."""
    simulated = has_simulator()
    commands = set()
    for path in glob.glob(f"{root}/*-lab-*.md"):
        with open(path, encoding="utf-8") as f:
            part = f.read().split("## Look inside\n")[1].split("\n## ")[0]
        commands.update(
            block.replace("\\\n", " ") for block in
            re.findall(r"^    (lapenna-lab (?:.*\\\n)*.*)$", part, re.M))
    assert len(commands) > 10, commands
    for command in sorted(commands):
        args = shlex.split(command)[1:]
        if args[0] == "sim":
            out, status = run([*args, "--compiler", compiler])
            assert status == ("early" in args), (args, out)
        elif simulated:
            untraced = [] if args[0] == "lab" else ["--trace", "off"]
            out, status = run([*args, *untraced], "quit\n" * 9)
            assert status == 0 and "block (0,0,0)" in out, (args, out)


def lab_rows(*args):
    """What a lab on the simulator prints as JSON, with a database of its own."""
    with tempfile.TemporaryDirectory() as place:
        out, _ = run(["lab", *args, "--json", "--db", place + "/runs.db"])
    return [json.loads(line) for line in out.splitlines()]


def gradients():
    """The gradients of a convolution: what their labs count."""
    if not has_simulator():
        return
    size = "1x16x32x32x16x3"
    found = {}
    for lab in ("conv_data", "conv_filter"):
        for row in lab_rows(lab, "--backend", "sim", "--sizes", size):
            if row["type"] in ("lab_row", "lab_kernel"):
                found.setdefault((lab, row["variant"]), {}).update(row)
    data = Lesson("lab-conv-data")
    direct = found["conv_data", "direct"]
    data.has(f"formula has {direct['flop']:,.0f} FLOPs")
    data.has(f"simulator counts {direct['fp32_flop']:,.0f}")
    assert direct["fp32_flop"] == 2 * 16 * 16 * 94 * 94
    lesson = Lesson("lab-conv-filter")
    one = found["conv_filter", "direct"]
    many = found["conv_filter", "block"]
    lesson.has(f"starts {one['grid_x']} blocks, so {132 - one['grid_x']} of the 132")
    lesson.has(f"`block` starts {many['grid_x']:,},")
    lesson.has("executes {:.1f} times as many".format(
        many["counted"]["ptx_warp_instructions"] /
        one["counted"]["ptx_warp_instructions"]))
    lesson.has("of `block` takes {:.0f} sectors, of `direct` {:.0f}".format(
        many["counted"]["sectors_per_load"], one["counted"]["sectors_per_load"]))
    lesson.has("uses {:.3f} and `block` {:.4f}".format(
        one["sample_error"], many["sample_error"]))


def errors():
    """The errors of lab precision, by its command of the simulator."""
    if not has_simulator():
        return
    lesson = Lesson("lab-precision")
    command, = [c for c in lesson.commands if c[0] == "lab"]
    found = {}
    for row in lab_rows(*command[1:]):
        if row["type"] == "lab_row":
            digits, power = f"{row['error']:.1e}".split("e")
            found[row["variant"], row["precision"]] = f"{digits}e{int(power)}"
    table = re.findall(r"\| (\w+) \| (\w+) \| (\d\.\de-\d+) (?=\|)", lesson.text)
    if {(variant, bits): error for variant, bits, error in table} != found:
        complain("lab-precision: the errors are", found)
    lesson.has(f"have an error of {found['split_3', 'bf16']}, where `fp32` has "
               f"{found['fp32', 'fp32']}. The error of `tf32x3` is smaller, "
               f"{found['tf32x3', 'tf32']}: ")


def look_inside():
    """The labs' text on the commands that they have for looking inside."""
    def counted(name, kernel, *changes):
        lesson = Lesson(name)
        return lesson, Sim(lesson.command(kernel, *changes))
    lesson, s = counted("lab-saxpy", "saxpy")
    each = s.counts["global_sectors"] // s.counts["global_requests"]
    lesson.has(f"The line of the sum: {s.counts['global_requests']} requests, "
               f"{s.counts['global_sectors']} sectors.")
    Lesson("lab-vector-add").has(f"of 32 neighbours is one request of {each} sectors:")
    lesson, s = counted("lab-transpose", "plain")
    line = max(s.lines.values(), key=lambda r: r["wavefronts"])
    lesson.has(f"The wavefronts of line {line['line']}, where the tile is read down its "
               f"columns: {line['wavefronts'] // (line['wavefronts'] - line['bank_conflicts'])} "
               "for each request")
    lesson, s = counted("lab-stride", "strided")
    lesson.has(f"The sectors of the load, {s.counts['global_sectors'] - each} for a stride "
               "of 8: one for each lane")
    lesson, s = counted("lab-read-levels", "strided")
    _, far = counted("lab-stride", "strided")
    lesson.has(f"takes {s.counts['global_sectors'] - each} of them or "
               f"{far.counts['global_sectors'] - each},")
    lesson, s = counted("lab-divergence", "two_paths")
    _, whole = counted("lab-divergence", "two_paths", ("int:1", "int:32"))
    # Lines that compute: which others a branch repeats depends on the compiler.
    split = [n for n, r in sorted(s.lines.items()) if r["counts"]["flops"] and
             r["executions"] == 2 * whole.lines[n]["executions"] and
             r["lanes"] == whole.lines[n]["lanes"]]
    assert len(split) == 2, s.lines
    lesson.has(f"Lines {split[0]} and {split[1]}: twice the executions, and "
               f"{s.lines[split[0]]['lanes'] // s.lines[split[0]]['executions']} lanes of 32 "
               "in each")
    lesson, s = counted("lab-warps-fma", "rounds")
    rounds = max(s.values)
    body, = [n for n, r in s.lines.items() if r["executions"] == rounds]
    lesson.has(f"with {rounds:.0f} rounds for the slowest lane: line {body} has")
    network = Lesson("mlp-digits").network()
    elements = len(network["fc1.xW"])
    Lesson("lab-network-size").has(
        f"{elements} threads have an element, {-elements % 256} leave at once")
    if not has_simulator():
        return
    lesson = Lesson("lab-trsv")
    walk = run(["lab", "trsv", "--backend", "sim", "--sizes", "100", "--into", "columns"],
               "break 25\ncontinue\ninstruction\ninstruction\ninstruction\nquit\n")[0]
    column, = set(re.findall(r"(\d+) lanes read (\d+) bytes each of global memory, L\[1,0\] "
                             r"to L\[32,0\]: (\d+) sectors", walk))
    own, = set(re.findall(r"x\[1\] to x\[32\]: (\d+) sectors", walk))
    lesson.has(f"{column[0]} lanes read {column[2]} sectors for "
               f"{int(column[0]) * int(column[1])} bytes. Two `instruction` more: x takes "
               f"{own}.")
    lesson = Lesson("lab-gemm-full")
    kernels = [r for r in lab_rows("gemm_full", "--backend", "sim", "--sizes",
                                   "32x32x32x1x1x1,32x32x32x1x2x1")
               if r["type"] == "lab_kernel"]
    loads = {(r["name"], r["size"][-3:-2]): r["counted"]["sectors_per_load"] for r in kernels}
    # Half of a load's requests are A's, which do not change; the warp has 16 columns.
    lesson.has(f"the mean is near {loads['full_plain', '2']:.0f}. `tile` needs "
               f"{loads['full_tile', '2']:.0f} whatever")
    columns = next(r["block_x"] for r in kernels if r["name"] == "full_plain")
    assert abs((columns + 2) / 2 - loads["full_plain", "2"]) < .5
    lesson.has(f"a load of B by `plain` takes {columns} sectors, one for each column")
    assert loads["full_tile", "1"] == loads["full_tile", "2"]


for check in (inside_kernel, forgotten_check, missing_barrier, banks, divergence,
              one_tile, labs, gradients, errors, look_inside):
    check()
sys.exit(wrong)
