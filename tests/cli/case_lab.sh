# shellcheck shell=sh
# Labs: climbed, told, recorded; and everything that can be wrong with them.
run lab gemm --backend cpu --sizes 33,20x30x10 --json
expect_exit 0
expect_no_stderr
expect_json 'len(of("lab")) == 1' 'of("lab")[0]["run"] >= 1' \
    'of("lab")[0]["backend"] == "cpu"' \
    'len(of("lab_row")) == 8' \
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
    '{r["variant"] for r in rows if r["type"] == "lab_row"} == {"naive", "rows", "blocked", "openblas"}'

# It is a run like others: its times are steps.
run profile list --json
expect_exit 0
expect_json 'of("run")[0]["kind"] == "lab"' 'len(of("run")) == 1' 'of("run")[0]["lesson"] == "gemm"' \
    'of("run")[0]["status"] == "done"'
run profile show last --json
expect_exit 0
expect_json 'len(of("step")) >= 8'

# It goes along when its run is copied.
run lab saxpy --backend cpu --sizes 100 --repeat 20 --db one.db
expect_exit 0
run profile import one.db --db two.db
expect_exit 0
rows=$("${LAB_PYTHON:-python3}" -c 'import sqlite3
print(sqlite3.connect("two.db").execute(
    "SELECT count(*) FROM lab_row WHERE rate > 0").fetchone()[0])')
[ "$rows" = 2 ] || complain "two.db has $rows rows of the lab, not 2"

run lab lab-transpose --backend cpu --sizes 33x7 --repeat 20 --ascii
expect_exit 0
expect_no_escape
expect_ascii
expect_stdout 'of ceiling'

# Predictions stand beside the result.
run lab saxpy --backend cpu --sizes 1000 --predict plain=12.5 --json
expect_exit 0
expect_json 'of("lab_row")[0]["rate_predicted"] == 12.5e9' \
    'of("lab_row")[1]["rate_predicted"] is None'
run lab reduction --backend cpu --sizes 1000 --repeat 20 --predict plain=12.5
expect_stdout 'you said'
for wrong in nobody=3 plain plain= plain=-1 plain=nan plain=1x ask; do
    run lab saxpy --backend cpu --sizes 1000 --predict "$wrong"
    expect_exit 2
    expect_stderr '--predict'
done

# A size that no memory holds is a row, and the sweep goes on.
run lab saxpy --backend cpu --sizes 99999999999,1000 --json
expect_exit 0
expect_json 'of("lab_row")[0]["status"] == "out of memory"' \
    '"GiB" in of("lab_row")[0]["reason"]' \
    'of("lab_row")[0]["median_ns"] is None' \
    'of("lab_row")[2]["status"] == "done"'
run lab saxpy --backend cpu --sizes 99999999999
expect_exit 4

for size in 0 -5 12a 5x5 '' 4,,5 99999999999999999999; do
    run lab gemm --backend cpu --sizes "$size"
    expect_exit 2
    expect_stderr 'size'
done
run lab gemm --backend cpu --variants blokced
expect_exit 2
expect_stderr 'did you mean blocked?'
run lab gemm --backend cpu --variants naive,naive
expect_exit 2
for n in 19 1001 many; do
    run lab gemm --repeat "$n"
    expect_exit 2
done
run lab gemm --backend cpu --precision bf16
expect_exit 3
expect_stderr '--precision bf16'
expect_stderr 'compute in fp32'
run lab saxpy --backend cpu --sizes 100 --precision bf16,fp32 --json
expect_exit 0
expect_json 'len(of("lab_row")) == 2'
run lab saxpy --backend cpu --sizes 100 --precision all --json
expect_exit 0
for wrong in '' fp31 'fp32,' ',fp32' 'fp32 ' all32; do
    run lab saxpy --backend cpu --sizes 100 --precision "$wrong"
    expect_exit 2
    expect_stderr '--precision is a list of fp32'
done
run lab gem
expect_exit 3
expect_stderr 'did you mean gemm?'
run lab
expect_exit 2

# A lab is no network, and a network no lab.
run run lab-gemm
expect_exit 2
expect_stderr 'lapenna-lab lab'
run lab-gemm --plain
expect_exit 2
run lab-gemm
expect_exit 2
expect_stderr 'lapenna-lab lab'
run lab mlp-digits
expect_exit 2
expect_stderr 'lapenna-lab run'

# Its front matter has keys of its own.
lesson lab <<'END'
---
format: 1
kind: lab
title: A lab
lab: saxpy
cpu_sizes: [300, 700]
repeat: 20
---
Text.
END
run lesson lint lab.md
expect_exit 0
run lab ./lab.md --backend cpu --json
expect_exit 0
expect_json '[r["size"] for r in of("lab_row")] == ["300", "300", "700", "700"]' \
    'of("lab_row")[0]["repeats"] == 20'
for line in 'lab: saxpi' 'sizes: [0]' 'sizes: []' 'sizes: 5' 'repeat: 3' \
    'network: []' 'sizes: [5x5]'; do
    lesson bad <<END
---
format: 1
kind: lab
title: A lab
lab: saxpy
$line
---
END
    run lesson lint bad.md
    expect_exit 3
    expect_stderr 'bad.md:'
done
