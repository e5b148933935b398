# shellcheck shell=sh
# Labs: measured, printed, recorded; and everything that can be wrong with them.
exits 0 lab gemm --backend cpu --sizes 33,20x30x10 --json
expect_no_stderr
expect_json 'len(of("lab")) == 1' 'of("lab")[0]["run"] >= 1' \
    'of("lab")[0]["backend"] == "cpu"' \
    'len(of("lab_row")) == 12' \
    'all(r["status"] == "done" for r in of("lab_row"))' \
    'all(r["repeats"] == 21 for r in of("lab_row"))' \
    'all(0 <= r["check_error"] <= 1 for r in of("lab_row"))' \
    'all(r["min_ns"] <= r["median_ns"] <= r["max_ns"] for r in of("lab_row"))' \
    'of("lab_row")[0]["flop"] == 2 * 33 ** 3' \
    'of("lab_row")[0]["gain"] is None' \
    'all(r["precision"] == "fp32" for r in of("lab_row"))' \
    'of("lab_row")[0]["note"] is None' \
    'of("lab_row")[0]["workspace_bytes"] is None' \
    'of("lab_row")[1]["gain"] > 0' \
    '{r["variant"] for r in rows if r["type"] == "lab_row"} == {"naive", "rows", "blocked", "tuned", "openblas", "threads"}'
cp "$out" "$work/climbed"

# It is a run like others: its times are steps.
exits 0 profile list --json
expect_json 'of("run")[0]["kind"] == "lab"' 'len(of("run")) == 1' 'of("run")[0]["lesson"] == "gemm"' \
    'of("run")[0]["status"] == "done"'
ideas=$("${LAB_PYTHON:-python3}" -c 'import json, sys
print([json.loads(line)["idea"] for line in open(sys.argv[1]) if "lab_row" in line])' "$work/climbed")
exits 0 profile show last --json
expect_json 'len(of("step")) >= 8' "[r['idea'] for r in of('lab_row')] == $ideas" \
    'all(r["idea"] for r in of("lab_row"))'

# A variant's idea is beside what was recorded of it, in a table and on a page; of rows
# without any there is no such column.
run profile show last
grep -q 'its idea$' "$out" || complain 'no idea in the table'
run profile export last --format html --output -
expect_stdout 'its idea</th>'
run profile export last --format csv --table rungs --output -
expect_stdout ',lab_idea'
run profile show 35 --recorded
! grep -q 'its idea' "$out" || complain 'ideas of rows that have none'

# It goes along when its run is copied.
exits 0 lab saxpy --backend cpu --sizes 100 --repeat 20 --db one.db
exits 0 profile import one.db --db two.db
[ "$(sql two.db 'SELECT count(*) FROM lab_row WHERE rate > 0')" = 2 ] ||
    complain 'two.db has not 2 rows of the lab'

# Into a copy of the file that ships, whatever its version: its runs keep their numbers.
cp "$LAB_BINARY_DIR/share/lapenna-lab/profiles/recorded/h200.db" ships.db
chmod u+w ships.db
"${LAB_PYTHON:-python3}" - ships.db one.db "$LAB_EXE" <<'P' || complain 'the copy that ships'
import sqlite3
import subprocess
import sys

def runs(d):
    return d.execute("SELECT id, uuid FROM run ORDER BY id").fetchall()

before = runs(sqlite3.connect(sys.argv[1]))
subprocess.run([sys.argv[3], "profile", "merge", sys.argv[2], "--db", sys.argv[1]], check=True)
d = sqlite3.connect(sys.argv[1])
assert runs(d)[:-1] == before
ideas = d.execute("SELECT idea FROM lab_row WHERE runId = (SELECT max(id) FROM run)")
assert all(idea for (idea,) in ideas)
P

# By its name or by its lesson: the same lab.
run lab saxpy --backend cpu --sizes 100 --repeat 20 --db both.db
run lab lab-saxpy --backend cpu --sizes 100 --repeat 20 --db both.db
run lab lab-reduction --backend cpu --sizes 100 --repeat 20 --db both.db
exits 0 profile compare 1 2 --db both.db --json
expect_json 'len(of("comparison")) > 0' \
    'all(r["run_a"] and r["run_b"] for r in of("comparison"))'
exits 3 profile compare 1 3 --db both.db
expect_stderr 'run 1 is of the lesson saxpy, run 3 of lab-reduction'

exits 0 lab lab-transpose --backend cpu --sizes 33x7 --repeat 20 --ascii
expect_no_escape
expect_ascii
expect_stdout 'of ceiling'

# A model knows no cache; the reason is printed for a variant that is faster than its own.
exits 0 lab transpose --backend cpu --variants plain --sizes 64 --repeat 20 \
    --db model.db
python3 - "$out" <<'P' || complain 'the rate is not compared with its model'
import sqlite3, sys
rate, model = sqlite3.connect("model.db").execute(
    "SELECT rate, rateModel FROM lab_row WHERE rung = 'plain'").fetchone()
explained = "times as fast as its model: caches serve" in open(sys.argv[1]).read()
assert rate > 0 and model > 0, (rate, model)
assert explained == (rate > 1.02 * model), (rate, model, explained)
P

# So does a ceiling: of a variant that passes it, the share is of none.
exits 0 lab saxpy --backend cpu --sizes 1000,20000 --repeat 20
python3 - "$out" <<'P' || complain 'a share above 100 % is not explained'
import re, sys
text = open(sys.argv[1]).read()
for size in re.split(r"\nN ", text.split("These variants need")[0])[1:]:
    rows = [l for l in size.splitlines() if re.match(r"(plain|openblas) ", l)]
    over = [float(re.findall(r"([\d.]+) %", l)[1]) for l in rows]
    explained = "of ceiling: a copy is no ceiling" in size
    assert explained == any(x > 102.0 for x in over) or \
        any(101.9 < x < 102.1 for x in over), (over, size)
P

# Predictions are beside the result.
exits 0 lab saxpy --backend cpu --sizes 1000 --predict plain=12.5 --json
expect_json 'of("lab_row")[0]["rate_predicted"] == 12.5e9' \
    'of("lab_row")[1]["rate_predicted"] is None'
run lab reduction --backend cpu --sizes 1000 --repeat 20 --predict plain=12.5
expect_stdout 'predicted  vs. predicted'
# A size that no memory holds is a row, and the sweep goes on.
# Copies of inputs count too: here the tensors alone would fit.
columns=$(awk '/^MemTotal/ {printf "%d", $2 * 1024 * 0.8 / 8 / 65536}' \
    /proc/meminfo)
exits 4 lab softmax --backend cpu --sizes "65536x$columns" --json
expect_json 'all(r["status"] == "out of memory" for r in of("lab_row"))' \
    'all("for copies of its inputs, and the host has" in r["reason"] for r in of("lab_row"))'

exits 0 lab saxpy --backend cpu --sizes 100 --precision bf16,fp32 --json
expect_json 'len(of("lab_row")) == 2'
exits 0 lab saxpy --backend cpu --sizes 100 --precision all --json
# Tuning measures once, keeps the winner, and measures again on request.
exits 0 lab tune gemm --backend cpu --sizes 40,44 --repeat 20 --json --db t.db
expect_json 'len(of("lab_row")) == 8' 'len(of("lab_tuned")) == 1' \
    'of("lab_tuned")[0]["measured_now"] is True' \
    'of("lab_tuned")[0]["candidates"] == 8' \
    '0 <= of("lab_tuned")[0]["overlapping"] <= 7' \
    'of("lab_tuned")[0]["size_class"] == "~32"' \
    'min(of("lab_row"), key=lambda r: r["median_ns"])["variant"] == of("lab_tuned")[0]["candidate"]'
exits 2 lab tune gemm --backend cpu --sizes all --repeat 20 --db t.db
expect_stderr 'size all: not a number'
# As text a map: candidates against sizes, the fastest of each marked.
exits 0 lab tune gemm --backend cpu --sizes 40,80 --repeat 20 --retune --ascii --db map.db
expect_stdout 'the tuning map of gemm fp32: % of the fastest at a size'
grep -q '^candidate  ~32  *~64' "$out" || complain "no sizes over the map"
[ "$(sed -n '/^the tuning map/,$p' "$out" | grep -o '##### 100 \*' | wc -l)" = 2 ] ||
    complain "one winner a size"
[ "$(sed -n '/^the tuning map/,$p' "$out" | grep -c '^[0-9]*x[0-9]* .* [0-9]')" = 8 ] ||
    complain "eight candidates"
# The lab's own command has the map of the run that ships, also where all is kept;
# a ladder's run is no tuning.
exits 0 lab tune gemm --backend cpu --sizes 40,80 --db map.db
! grep -q 'recorded on NVIDIA' "$out" || complain "a ladder's variants as a tuning map"
exits 0 lab lab-autotune --backend cpu --sizes 40,80 --db map.db
expect_stdout 'kept since'
expect_stdout 'recorded on NVIDIA H200, run 491'
grep -q '^64x64x32_32x32 .* 100 \* .* 100 \* ' "$out" || complain "no winner of a recorded tuning"
# It comes first where candidates are measured; the winner's line has how many are as
# fast by their middle half of times.
exits 0 lab lab-autotune --backend cpu --sizes 40 --repeat 20 --retune --db map.db
grep -n '^recorded on NVIDIA H200, run 491\|^gemm: \|, the fastest of 8' "$out" >order
[ "$(sed 's/^[0-9]*:\(.\{8\}\).*/\1/' order | tr '\n' '|')" = 'recorded|gemm: La|gemm fp3|' ] ||
    complain 'the recorded map does not come first'
near=$(sql map.db 'WITH q AS (SELECT * FROM lab_row WHERE runId = (SELECT max(runId)
    FROM lab_row) ORDER BY median_ns) SELECT sum(quarter_ns <= (SELECT threeQuarters_ns
    FROM q LIMIT 1)) - 1 FROM q')
grep -q "the fastest of 8; the times of $near other" "$out" || [ "$near" = 0 ] ||
    complain "not as many overlap with the winner"
exits 0 lab tune gemm --backend cpu --sizes 36 --repeat 20 --json --db t.db
expect_json 'len(rows) == 1' 'of("lab_tuned")[0]["measured_now"] is False' \
    'of("lab_tuned")[0]["overlapping"] is None'
exits 0 lab tune gemm --backend cpu --sizes 36 --repeat 20 --retune --json --db t.db
expect_json 'len(of("lab_row")) == 8' 'of("lab_tuned")[0]["measured_now"] is True'
exits 0 lab gemm --backend cpu --sizes 40,80 --repeat 20 --variants tuned --json --db t.db
expect_json '"the fastest of 8 here" in of("lab_row")[0]["note"]' \
    '"not tuned here" in of("lab_row")[1]["note"]'
run doctor --json --db t.db
expect_stdout 'gemm fp32 ~32 on'
# A winner of another machine is none here; an unknown one is reported as unknown.
sql t.db "UPDATE lab_tuned SET candidate = '1x1'"
exits 0 lab gemm --backend cpu --sizes 40 --repeat 20 --variants tuned --json --db t.db
expect_stderr '1x1, is no candidate of this program: it is ignored'
expect_json '"not tuned here" in of("lab_row")[0]["note"]'
sql t.db "UPDATE lab_tuned SET hostname = 'elsewhere', candidate = '64x128'"
exits 0 lab gemm --backend cpu --sizes 40 --repeat 20 --variants tuned --json --db t.db
expect_no_stderr
expect_json '"not tuned here" in of("lab_row")[0]["note"]'
# A name stands for its variant in every precision; errors are a column.
exits 0 lab precision --backend cpu --sizes 20 --variants split_1,split_3 --json
expect_json '[r["precision"] for r in of("lab_row")] == \
    ["bf16", "fp16", "bf16", "fp16"]' \
    'of("lab_row")[2]["error"] < 0.02 * of("lab_row")[0]["error"]'
exits 0 lab saxpy --backend cpu --sizes 20 --json
expect_json 'of("lab_row")[0]["error"] is None' 'of("lab")[0]["error_is"] is None'
# MAGMA's, of fp64: below a unit in the last place (1.1e-16), and never nothing; kept.
for name in dgemm lu; do
    exits 0 lab $name --backend cpu --sizes 60 --repeat 20 --json --db error.db
    expect_json 'all(1e-20 < r["error"] < 1.2e-16 for r in of("lab_row"))' \
        '"testing_d" in of("lab")[0]["error_is"]'
    stored=$(sql error.db "SELECT printf('%.3g', error) FROM lab_row
        WHERE lab = '$name' ORDER BY place LIMIT 1")
    # The simulator's results are other variants', and as near.
    run lab $name --backend sim --sizes 20 --json
    if [ "$status" -eq 4 ]; then
        echo 'skipped: what needs the module of the simulator'
    else
        expect_exit 0
        expect_json 'all(1e-20 < r["error"] < 1.2e-16 for r in of("lab_row")
                         if r["status"] == "done")' \
            'any(r["status"] == "done" for r in of("lab_row"))'
    fi
    exits 0 lab $name --backend cpu --sizes 60 --repeat 20
    expect_stdout 'error: |'
    exits 0 profile show last --db error.db
    expect_stdout "$stored"
done

# Its front matter has keys of its own.
lesson lab <<'END'
---
format: 1
kind: lab
title: A lab
lab: saxpy
cpu_sizes: [300, 700]
precisions: [tf32, bf16]
repeat: 20
---
Text.
END
exits 0 lesson lint lab.md
exits 0 lab ./lab.md --backend cpu --json
expect_json '[r["size"] for r in of("lab_row")] == ["300", "300", "700", "700"]' \
    'of("lab_row")[0]["repeats"] == 20'
# What measures something else than a ladder reports it, and of what.
lesson sweep <<'END'
---
format: 1
kind: lab
title: Batches
measures: batch-size
of: mlp-digits
cpu_sizes: [5, 1000000, 10]
repeat: 20
---
END
exits 0 lesson lint sweep.md
exits 0 lab ./sweep.md --backend cpu --json --db s.db
expect_json '[r["x"] for r in of("sweep_row")] == [5, 1000000, 10]' \
    'of("sweep_row")[0]["status"] == "done"' \
    'of("sweep_row")[0]["iterations"] == 20' \
    'of("sweep_row")[1]["status"] != "done"' \
    '"1437 training rows" in of("sweep_row")[1]["reason"]' \
    'of("sweep_row")[1]["median_ns"] is None' \
    'of("sweep_row")[2]["status"] == "done"' \
    'of("sweep_row")[2]["loss_equal_samples"] == of("sweep_row")[2]["loss_equal_iterations"]' \
    'of("sweep_row")[2]["memory_bytes"] > of("sweep_row")[0]["memory_bytes"]'
rows=$(sql s.db 'SELECT count(*), sum(median_ns > 0), min(kind) FROM sweep_row
    JOIN run ON run.id = runId')
[ "$rows" = '3|2|lab' ] || complain "s.db has $rows of the sweep"
# Names of a GPU's variants are in the CUDA module, where one is built.
if [ -e "${LAB_EXE%/bin/*}/lib/lapenna-lab-cuda.so" ]; then
    lesson bad <<'END'
---
format: 1
kind: lab
title: A lab
lab: gemm
variants: [tile, tiel]
slide:
  - {label: a, size: 5, value: 1, unit: ms, machine: m, source: s,
     rung: opnblas}
---
Text.
END
    exits 3 lesson lint bad.md
    expect_stderr 'bad.md:6:11: error: variants: gemm has no variant tiel; did you'
    expect_stderr 'bad.md:8:5: error: slide: gemm has no variant opnblas; did you'
fi
# Wider until no memory holds it; what can be measured is.
exits 0 lab network-size mlp-digits --backend cpu --sizes 1,1000000000,3 --repeat 20 --json
expect_json '[r["status"] == "done" for r in of("sweep_row")] == [True, False, True]' \
    '"the device has" in of("sweep_row")[1]["reason"]' \
    'of("sweep_row")[0]["parameters"] == 1210' \
    'of("sweep_row")[2]["parameters"] == 3610'
exits 0 lab products mlp-digits --backend cpu --repeat 20 --json
expect_json '[r["name"] for r in of("sweep_row")] == ["products", "the rest"]' \
    'abs(sum(r["share"] for r in of("sweep_row")) - 1) < 1e-9' \
    'of("sweep_row")[0]["flop"] == 2 * 10 * (64 * 16 + 2 * 16 * 10) + 2 * 10 * 64 * 16 + 2 * 10 * 16 * 10'
exits 0 lab backward mlp-digits --backend cpu --repeat 20 --ascii
expect_ascii
expect_stdout 'backward takes'
# All lessons: a row for each, not three and a line.
exits 0 lab backward all --backend cpu --repeat 20
expect_stdout 'recorded on NVIDIA H200'
[ "$(grep -c '^ *cnn-digits ' "$out")" -eq 2 ] || complain 'not a row a lesson'
grep -q 'backward takes' "$out" && complain 'the same again in words'
# A column that has no value on one backend is left out.
exits 0 lab network-size mlp-digits --backend cpu --sizes 1 --repeat 20
grep -q 'over the other' "$out" && complain 'a column of n/a'
exits 0 lab --list
for word in gemm hello offsets gflops calls layers inference tune batch-size backward; do
    grep -q "^$word " "$out" || complain "--list has no line of $word"
done
if grep -vE '^.{16} .{14} [^ ]' "$out"; then
    complain 'a line of --list is out of its columns'
fi
exits 0 lab --list --json
expect_json 'any(r["lab"] == "gemm" for r in of("operation"))'

# A lab of which nothing could be measured has failed; one row is enough.
exits 4 lab gemm --backend cpu --sizes 9999999 --db nothing.db
run lab gemm --backend cpu --sizes 9999999,20 --repeat 20 --db nothing.db
run profile list --json --db nothing.db
expect_json '[r["status"] for r in of("run")] == ["done", "failed"]'

# Lists, comparisons and timelines tell a lab from a network.
exits 0 lab saxpy --backend cpu --sizes 100 --repeat 20 --db c.db
exits 0 run mlp-digits --backend cpu --iterations 2 --db c.db
run profile list --json --db c.db
expect_json '[r["kind"] for r in of("run")] == ["lesson", "lab"]'
run profile show 1 --json --db c.db
expect_json '[r["variant"] for r in of("lab_row")] == ["plain", "openblas"]' \
    'of("lab_row")[0]["rate"] > 0'
run profile show 1 --db c.db --ascii
expect_stdout 'openblas'
expect_stdout "model's"
run lab batch-size mlp-digits --backend cpu --sizes 5,10 --repeat 20 --json \
    --db s.db
cp "$out" measured
run profile show last --db s.db --json
# A recorded run is printed as it was when it was measured.
expect_json "FILE2=$work/measured" '[r["x"] for r in of("sweep_row")] == [5, 10]' \
    '[{k: v for k, v in r.items() if k != "run"} for r in of("sweep_row")] == [r for r in other if r["type"] == "sweep_row"]'
exits 3 profile compare 1 2 --db c.db
expect_stderr 'compare labs with labs'
exits 0 profile timeline 1 --db c.db
expect_stdout 'of a lab'
exits 0 profile timeline 2 --json --db c.db
expect_json 'of("timeline")[0]["of_a_lab"] is False'

# A word that is only near to a lesson of a lab.
exits 3 lab int8 --db c.db
expect_stderr 'did you mean the lesson lab-int8?'
exits 2 lab gemm_sparse --backend cpu --sizes 63 --db c.db
[ "$(tr -d '\n' <"$err" | grep -o MxNxK | wc -l)" -eq 1 ] ||
    complain 'the form of a size is not reported once'

# Of a run in which nothing was timed the rows of `profile show` have the reasons.
run lab gemm --backend cpu --sizes 999999 --db untimed.db
run profile show 1 --db untimed.db
expect_stderr 'no variant of it was timed; the rows above have the reasons'

# A lab of whole numbers: no fp32 in its title, nor fp32's ceiling for its rates.
exits 0 lab gemm_int8 --backend cpu --sizes 16 --repeat 20 --db int8.db
expect_stdout 'C = scale A W^T of numbers of 8 bits, int8, on '
grep -q 'ceilings measured now: copy [0-9.]* GB/s$' "$out" ||
    complain "a ceiling of another arithmetic"
grep -Eq '^integers .* n/a ' "$out" || complain "a part of a ceiling that is none"
run lab gemm_int8 --backend cpu --sizes 16 --repeat 20 --db int8.db --json
expect_json 'one("lab")["precision"] == "int8"' 'one("lab")["int8_flop_per_s"] is None' \
    '"fp32_flop_per_s" not in one("lab")' \
    'all(r["ceiling_fp32_flop_per_s"] is None for r in of("lab_row"))' \
    'all(r["precision"] == "fp32" and r["arithmetic"] == "int8" for r in of("lab_row"))'
run profile show last --db int8.db --json
expect_json 'all(r["precision"] == "fp32" and r["arithmetic"] == "int8" for r in of("lab_row"))'
run profile show last --db int8.db
grep -q '^16  *integers  *int8  *done' "$out" || complain 'int8 is called fp32'
exits 3 lab gemm_int8 --backend cpu --sizes 16 --precision tf32 --db int8.db
expect_stderr 'compute in int8, which --precision calls fp32'
exits 0 lab gemm_int8 --backend cpu --sizes 16 --repeat 20 --precision fp32 --db int8.db
run lab gemm --backend cpu --sizes 16 --repeat 20 --variants naive --db int8.db --json
expect_json '"arithmetic" not in one("lab_row")'

# A library of the CPU that is not on this machine is not a variant that needs a GPU.
modules=$(dirname "$LAB_EXE")/../lib
if [ -f "$modules/lapenna-lab-cuda.so" ]; then
    lesson lab-bytes <<'END'
---
format: 1
kind: lab
title: Bytes
lab: gemm_int8
cpu_sizes: [16]
variants: [onednn, dp4a]
repeat: 20
---
Text.
END
    mkdir cuda-alone
    ln -s "$(cd "$modules" && pwd)/lapenna-lab-cuda.so" cuda-alone/
    export LAPENNA_LAB_MODULE_DIR="$PWD/cuda-alone"
    run lab ./lab-bytes.md --backend cpu --db int8.db
    unset LAPENNA_LAB_MODULE_DIR
    expect_exit 0
    expect_stdout 'These variants need a GPU: dp4a.'
fi

# The heading is there while the first variant is measured, also in a pipe.
"$LAB_EXE" lab gemm --backend cpu --sizes 4096 --db slow.db >slow 2>/dev/null &
slow=$!
for _ in $(seq 300); do
    [ -s slow ] && break
    sleep 0.1
done
kill -0 $slow 2>/dev/null || complain 'a product of 4096 was too fast to look at'
grep -q '^ceilings measured now' slow || complain 'no heading while it measures'
kill -KILL $slow
wait $slow 2>/dev/null

# Sizes with one first side are beside each other, not above each other.
exits 0 lab gemm_full --backend cpu --repeat 20 --chart --db full.db \
    --sizes 16x16x16x1x1x1,16x16x16x2x1x1,16x16x16x1x2x1
expect_stdout 'size, in their order'
run lab gemm_full --backend cpu --repeat 20 --chart --db full.db \
    --sizes 16x16x16x1x1x1,24x24x24x1x1x1
expect_stdout 'size, log'
