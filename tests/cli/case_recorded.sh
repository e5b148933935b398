# shellcheck shell=sh
# The runs that ship with the program: there, whole, from the GPU they name, and
# only read, from a directory without the right to write too.
command -v python3 >/dev/null || exit 77
[ -f "$LAB_SOURCE_DIR/profiles/recorded/h200.db" ] || exit 77 # not made yet

run profile list --recorded --json
expect_exit 0
python3 - "$out" <<'P' || complain "the recorded runs are not what they should be"
import json, sys
runs = [json.loads(line) for line in open(sys.argv[1])]
lessons = {r["lesson"] for r in runs}
assert len(runs) >= 40, len(runs)
assert {"mlp-digits", "cnn-digits", "lstm-example", "lstm-text",
        "multi-head"} <= lessons, lessons
assert {"lab-gemm", "lab-saxpy", "lab-transpose"} <= lessons, lessons
assert all(r["device"] == "NVIDIA H200" for r in runs if r["backend"] == "cuda")
on_cpu = [r for r in runs if r["backend"] != "cuda"]
assert all(r["backend"] == "cpu" for r in on_cpu)
assert {r["lesson"] for r in on_cpu} == {"lab-dgemm", "lab-lu"}, on_cpu
assert {r["status"] for r in runs} == {"done"}
P
# No GPU's serial number ships.
python3 - "$LAB_SOURCE_DIR/profiles/recorded/h200.db" <<'P' || complain "a serial number"
import sqlite3, sys
d = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
found = {u for (u,) in d.execute("""SELECT uuid FROM TARGET_INFO_GPU UNION
         SELECT uuid FROM ceiling UNION SELECT uuid FROM lab_tuned""") if u}
assert found, "no GPU"
assert all(u.startswith("GPU-00000000-0000-0000-0000-") for u in found), found
P
# Every loss ships, the first four iterations whole, and a file that is finished once more
# for runs that are merged into it loses none of its rows.
cp "$LAB_SOURCE_DIR/profiles/recorded/h200.db" finished.db
python3 - "$LAB_SOURCE_DIR/profiles/recorded" <<'P' || complain "rows of runs are lost"
import sqlite3, subprocess, sys
def counts(path):
    d = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tables = [t for (t,) in d.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return d, {t: d.execute(f'SELECT count(*) FROM "{t}"').fetchone() for t in tables}
d, before = counts(f"{sys.argv[1]}/h200.db")
for table, want in ("loss", "iterations"), ("step", 4):
    wrong = d.execute(f"""SELECT id, lesson FROM run WHERE kind = 'lesson' AND (SELECT
        count(DISTINCT iteration) FROM {table} WHERE runId = run.id) != {want}""").fetchall()
    assert not wrong, (table, wrong)
subprocess.run([sys.executable, f"{sys.argv[1]}/finish.py", "finished.db"], check=True)
after = counts("finished.db")[1]
assert before == after, [t for t in before if before[t] != after[t]]
P

run profile show --recorded 491
expect_exit 0
grep -q 'NVIDIA H200' "$out" || complain "show does not name the device"
# The head of a table is bold on a terminal that may have colour, and nowhere else.
grep -q "$(printf '\033')" "$out" && complain 'a sequence in a pipe'
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" "$LAB_EXE" profile list --recorded >head.out
grep -qF "$(printf '\033[1mrun ')" head.out || complain "no bold head: $(sed -n 1p head.out | cat -v)"
# Of a table of facts too, whose rows are lines, or columns where there are few.
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" "$LAB_EXE" table launches >head.out
grep -qF "$(printf '\033[1mlaunch ')" head.out || complain "no bold head: $(sed -n 3p head.out | cat -v)"
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" "$LAB_EXE" table gpus >head.out
grep -qF "$(printf '\033[1mgpu ')" head.out || complain "no bold head: $(sed -n 3p head.out | cat -v)"
for option in '' --plain --color=never; do
    NO_COLOR=$([ "$option" ] || echo 1) "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" \
        "$LAB_EXE" profile list --recorded ${option:+"$option"} >head.out
    grep -q "$(printf '\033')" head.out && complain "${option:-NO_COLOR}, and a sequence"
done
# Sentences break between words where the terminal ends.
run profile list --recorded --json
gpt=$(sed -n 's/.*"run":\([0-9]*\),"lesson":"gpt".*/\1/p' "$out" | head -1)
COLUMNS=80 exits 0 profile roofline --recorded "$gpt"
LC_ALL=C awk '{ gsub(/[\200-\277]/, "") } length > 80' "$out" | grep -q . &&
    complain "roofline: a line of more than 80 columns"
grep -q '^launch-bound: .* its$' "$out" || complain "what launch-bound means does not break"
# Those that were timed without a trace, for their energy, come after the others, and the
# GPU time of an iteration is never more than an iteration takes.
run profile list --recorded --json
untraced=$(python3 - "$out" <<'P'
import json, sys
runs = [json.loads(line) for line in open(sys.argv[1])]
never = [r["trace"] == "never" for r in runs]
assert any(never) and never == sorted(never), never
for r in runs:
    assert r["gpu_ns"] is None or r["gpu_ns"] <= r["iteration_median_ns"], r
assert sum(r["gpu_ns"] is not None for r in runs) > 100
print(runs[-1]["run"])
P
) || complain "the order of recorded runs, or a GPU time"
run profile kernels --recorded "$untraced" --json
expect_exit 0
expect_stderr 'it was timed without tracing'
run profile list --recorded --json
traced=$(python3 -c 'import json, sys
print([r["run"] for r in map(json.loads, open(sys.argv[1]))
       if r["trace"] == "on"][0])' "$out")
run profile kernels --recorded "$traced" --json
expect_exit 0
grep -q '"type":"kernel"' "$out" || complain "a recorded run has no kernels"
run profile roofline --recorded "$traced"
expect_exit 0

run profile list --recorded --json
# Each variant of a lab of several precisions has its name, and its precision's roof.
tensor=$(python3 -c 'import json, sys
print([r["run"] for r in map(json.loads, open(sys.argv[1]))
       if r["lesson"] == "lab-gemm-tensor"][0])' "$out")
run profile roofline --recorded "$tensor" --limit 0
expect_exit 0
for precision in tf32 bf16 fp16; do
    grep -Eq "wgmma $precision 4096 .* $precision .* compute" "$out" ||
        complain "no roof of $precision"
done
grep -q 'What would bound it is not known' "$out" &&
    complain "a variant has no roof"

# On the screen the ceiling is that of the chosen variant, and the picture's the highest.
play lab-gemm-tensor --backend cpu <<'END'
resize 200 60
await 60000 The text
key P
await 60000 recorded on NVIDIA H200
expect  TFLOP/s (tf32)
expect  TFLOP/s (bf16)
key Down
key Down
key Down
key Down
key Down
key Down
absent  TFLOP/s (tf32)
expect of the ceiling (bf16)
quit
END
expect_exit 0

# So have its steps and kernels wherever they are listed: no two are the same.
run profile kernels --recorded "$tensor"
expect_exit 0
grep -q 'gemm 4096' "$out" && complain "a kernel without its variant"
grep -Eq ' wgmma bf16 4096, traced .* gemm_wgmma$' "$out" ||
    complain "no kernel of a variant"
[ "$(awk 'NR > 1 { print $2, $3, $4 }' "$out" | sort -u | wc -l)" -gt 20 ] ||
    complain "variants that cannot be distinguished"
run profile compare --recorded "$tensor" "$tensor" --json
expect_exit 0
python3 - "$out" <<'P' || complain "a variant is not beside itself, and once"
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
rows = [r for r in rows if r["type"] == "comparison"]
assert {r["level"] for r in rows} == {"step", "kernel"}
steps = [(r["rung"], r["precision"], r["size"]) for r in rows
         if r["level"] == "step"]
assert len(steps) == len(set(steps)) > 20, len(steps)
assert all(r["run_a"] and r["run_a"] == r["run_b"] for r in rows)
P

# No iteration takes more power than the card has: 700 W. The energy of a whole run, over
# the time of its iterations, is more, and is no run's power.
run profile list --recorded --json
python3 - "$out" "$LAB_EXE" <<'P' || complain "a power that no H200 has"
import json, subprocess, sys
runs = [json.loads(line) for line in open(sys.argv[1])]
counted = [r for r in runs if r["energy_j"] is not None]
assert len(counted) > 50, len(counted)
for r in counted:
    if r["warm_energy_j"] is not None:
        assert r["warm_ns"] >= 1e9, r["run"]
        assert 0 < r["warm_energy_j"] / r["warm_ns"] * 1e9 <= 700, r["run"]
beyond = [r for r in counted if r["warm_energy_j"] is None and r["iterations"] and
          r["iteration_median_ns"] and
          r["energy_j"] / r["iterations"] / r["iteration_median_ns"] * 1e9 > 700]
assert beyond, "no short run: this test shows nothing"
for r in beyond[:5]:
    shown = subprocess.run([sys.argv[2], "profile", "show", "--recorded", str(r["run"])],
                           capture_output=True, text=True, check=True).stdout
    lines = [x for x in shown.splitlines() if x.startswith("joules an iteration")]
    assert len(lines) == 1 and " n/a: " in lines[0], (r["run"], lines)
    assert "GFLOP/s per W" not in shown, r["run"]
P

# Their numbers may be in the order of a merge; they are listed by their start, those
# without a trace at the end.
run profile list --recorded --json
python3 - "$out" <<'P' || complain "the recorded runs are not in order"
import json, sys
runs = [json.loads(line) for line in open(sys.argv[1])]
for never in False, True:
    began = [r["started"] for r in runs if (r["trace"] == "never") == never]
    assert began == sorted(began, reverse=True)
P

# Of a long run the longest steps have a sentence (two may share one), and all in a table; a step's
# only kernel is no row beside it.
sentences() {
    grep -E '^[0-9]+ .*: [A-Z]' "$out" | sed 's/: [A-Z].*//' | tr , '\n' | wc -l
}
run profile list --recorded --json
gpt=$(python3 -c 'import json, sys
print([r["run"] for r in map(json.loads, open(sys.argv[1]))
       if r["lesson"] == "gpt" and r["trace"] == "on"][0])' "$out")
run profile roofline --recorded "$gpt"
expect_exit 0
[ "$(sentences)" = 10 ] || complain "not ten sentences: $(sentences)"
grep -q 'embed1.gather ' "$out" || complain "a short step is not in the table"
grep -q '  embedding_gather_fwd' "$out" && complain "an only kernel has a row"
run profile roofline --recorded "$gpt" --limit 3
[ "$(sentences)" = 3 ] || complain "not three sentences: $(sentences)"
run profile roofline --recorded "$gpt" --limit 0
[ "$(sentences)" -gt 100 ] || complain "not all sentences: $(sentences)"

# A run of many kernels has a table that ends, and reports it.
run profile list --recorded --json
long=$(python3 -c 'import json, sys
print([r["run"] for r in map(json.loads, open(sys.argv[1]))
       if r["lesson"] == "lab-batched" and r["counters"] == "basic"][0])' "$out")
run profile kernels --recorded "$long"
expect_exit 0
[ "$(wc -l <"$out")" -le 1010 ] || complain "the table of kernels has no end"
run profile kernels --recorded "$long" --limit 0
expect_exit 0
[ "$(wc -l <"$out")" -gt 3000 ] || complain "--limit 0 does not show all"
run profile kernels --recorded 256
expect_exit 0
grep -q 'more kernels' "$err" && complain "a short table is not cut"

# A lab without a GPU shows them beside the CPU's own.
run lab lab-gemm --backend cpu --sizes 33 --repeat 20
expect_exit 0
expect_stdout 'recorded on NVIDIA H200, run '
# And states once which of the lesson's variants it cannot try here.
expect_stdout 'These variants need a GPU: coalesced, tile, '
run lab lab-gemm --backend cpu --sizes 33 --repeat 20 --variants rows
expect_exit 0
grep -q 'need a GPU' "$out" && complain "a variant that was chosen needs no GPU"

run profile delete --recorded 1
expect_exit 2
run profile list --recorded --db other.db
expect_exit 2

run profile import "$LAB_SOURCE_DIR/profiles/recorded/h200.db" --db mine.db
expect_exit 0
run profile list --db mine.db --json
expect_exit 0
grep -q 'NVIDIA H200' "$out" || complain "import brought no recorded run"

# A figure of the course beside a recorded one names the recorded run.
run lab lab-gemm --backend cpu --sizes 64 --variants naive
expect_exit 0
expect_stdout 'torch.matmul at 6000: slide, a GPU of 2020: 7077.22 GFLOP/s; recorded on NVIDIA H200: '
expect_stdout 'np.dot at 6000: slide, its CPU: 71.65 GFLOP/s; this machine: not measured at 6000'
grep 'slide.*H200' "$out" | grep -q 'this machine' &&
    complain 'a recorded figure is called that of this machine'
run lab lab-gemm --backend cpu --sizes 64 --variants naive --json
expect_json \
    '[s["recorded_on"] for s in of("slide")] == ["NVIDIA H200", None]' \
    '[s["this_machine"] is None for s in of("slide")] == [True, False]' \
    '"GFLOP/s (cublas)" in of("slide")[0]["recorded"]'

# What a file states of shared memory may be anything: a sum that does not exist is
# unknown, in the tables and beside a lab's own rows.
python3 -c 'import sqlite3
d = sqlite3.connect("mine.db")
d.execute("""UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET
    staticSharedMemory = 4611686018427387904,
    dynamicSharedMemory = 4611686018427387904, registersPerThread = NULL""")
d.commit()' || complain "the kernels could not be changed"
run profile kernels last --db mine.db
expect_exit 0
grep -q '4611686018427387904' "$out" && complain "a part is shown as the sum"
run lab lab-gemm-tensor --backend cpu --sizes 33 --repeat 20 --db mine.db
expect_exit 0
