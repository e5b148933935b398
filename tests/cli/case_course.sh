# shellcheck shell=sh
# The rows of the course: all of them, and every lesson, lab, table and command that
# they name exists. case_course_rows.sh runs them all.
exits 0 course --json
expect_json 'len(rows) == 137' 'len({r["id"] for r in rows}) == 137' \
    'all(f"A{i:02}" in {r["id"] for r in rows} for i in range(1, 30))' \
    'all(f"B{i:02}" in {r["id"] for r in rows} for i in range(1, 37))' \
    'all(f"C{i:02}" in {r["id"] for r in rows} for i in range(1, 25))' \
    'all(f"D{i:02}" in {r["id"] for r in rows} for i in range(1, 34))' \
    'all(f"E{i:02}" in {r["id"] for r in rows} for i in range(1, 15))' \
    'all(r["what"] for r in rows)' \
    'all(r["command"] or r["state"] in ("missing", "later") for r in rows)' \
    'all(r["run"] for r in rows if r["state"] == "needs a GPU")'
# What is missing is there to its end.
python3 - "$LAB_SOURCE_DIR/profiles/course.csv" "$out" <<'P' || complain 'a text that is cut off'
import csv, json, sys
with open(sys.argv[1], encoding="utf-8", newline="") as f:
    missing = {r["row"]: r["missing"]
               for r in csv.DictReader(line for line in f if line[0] != "#")}
rows = [r for r in map(json.loads, open(sys.argv[2])) if r["type"] == "row" and r["detail"]]
assert any(missing[r["id"]] for r in rows)
for r in rows:
    assert r["detail"].endswith(missing[r["id"]]), (r["detail"], missing[r["id"]])
P
grep -o '"command": *"[^"]*"' "$out" | sed 's/.*: *"//; s/"$//' |
    sed 's/ ; /\n/g' | sort -u >commands
[ "$(wc -l <commands)" -gt 60 ] || complain 'few commands'
"$LAB_EXE" lesson list --json | sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' >lessons
{
    "$LAB_EXE" lab --list --json | sed -n 's/.*"lab": *"\([^"]*\)".*/\1/p'
    printf '%s\n' offsets gflops calls layers inference mixing products backward batch-size network-size
} >labs
"$LAB_EXE" table --json | sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' >tables
while read -r command rest; do
    case $command in
    step | run) grep -qx "${rest%% *}" lessons ;;
    lesson) grep -qx "${rest#show }" lessons ;;
    table) grep -qx "$rest" tables ;;
    profile) ;; # of runs that ship
    lab)
        name=${rest%% *}
        [ "$name" != tune ] || name=${rest#tune }
        cat labs lessons | grep -qx -e "$name"
        ;;
    *) false ;;
    esac || complain "no such lesson, lab or table: $command $rest"
done <commands
# What the table has in served_by by its own name.
for name in $(grep -o '"served_by": *"[^"]*"' "$out" | sed 's/.*: *"//; s/"$//' |
    tr -d , | tr ' ' '\n' | grep -e - | sort -u); do
    grep -qx "$name" lessons || grep -qx "$name" labs ||
        complain "served by $name: there is no such lesson or lab"
done

exits 0 course --check B02 B04
expect_stdout 'B04     works'
expect_stdout '2 work, 0 need a GPU, 0 in part, 0 come later, 0 missing, 0 fail'
# A command with too much to do ends by itself, and its row states why.
status=0
"${LAB_PYTHON:-python3}" -c 'import os, resource, sys
most = resource.getrlimit(resource.RLIMIT_CPU)[1]
resource.setrlimit(resource.RLIMIT_CPU, (1, most))
os.execv(sys.argv[1], sys.argv[1:])' \
    "$LAB_EXE" course --check B02 B33 >"$out" 2>"$err" || status=$?
expect_exit 1
expect_stdout 'B02     works'
expect_stdout 'B33     fails'
expect_stdout 'too much CPU time'

# Without a GPU the recorded run has to hold what the row shows; a missing run is
# reported. The figures behind the claims are those of the runs that ship.
exits 0 course --check B09 B19 B36 E10 --json
expect_json 'all(r["state"] in ("needs a GPU", "works") for r in of("row"))' \
    'all("not recorded: " not in r["detail"] for r in of("row") if r["id"] in ("B19", "B36"))'
python3 - "$LAB_SOURCE_DIR/profiles/recorded/h200.db" <<'P' || complain 'a claim of the course and its recorded run'
import sqlite3
import sys
db = sqlite3.connect(sys.argv[1])
def at(lesson, variant, size, precision="fp32", what="median_ns"):
    row = db.execute(f"""SELECT l.{what} FROM lab_row l JOIN run r ON r.id = l.runId
        WHERE r.lesson = ? AND l.rung = ? AND l.size = ? AND l.precision = ?
        AND l.status = 'done' ORDER BY r.id DESC""",
                     (lesson, variant, size, precision)).fetchone()
    return row[0] if row else float("nan")
def best(lesson, size):
    return db.execute("""SELECT l.rung FROM lab_row l JOIN run r ON r.id = l.runId
        WHERE r.lesson = ? AND l.size = ? AND l.status = 'done'
        ORDER BY r.id DESC, l.median_ns""", (lesson, size)).fetchone()
launch = [at("lab-launch", "plain", f"67108864x{n}x1") for n in (32, 64, 256)]
paths = [at("lab-divergence", "by_lane", f"4194304x{n}") for n in (1, 2, 4, 8, 16)]
chain = [at("lab-warps-fma", "one", f"1081344x{n}") for n in (1, 2, 4)]
claims = {
    "B07 half of the warps take longer": launch[0] > 1.5 * launch[1] > 1.5 * launch[2],
    "B08 a stride of 8 wastes most of a sector":
        at("lab-stride", "plain", "16777216x8", what="rate") * 2
        < at("lab-stride", "plain", "16777216x1", what="rate"),
    "B09 each branch of a warp takes its time":
        all(1.8 < b / a < 2.1 for a, b in zip(paths, paths[1:])),
    "B10 a thread an element, badly and well placed":
        at("lab-gemm", "naive", "4096") > 5 * at("lab-gemm", "coalesced", "4096"),
    "B12 many elements a thread": at("lab-gemm", "tile", "4096") > 3 * at("lab-gemm", "wide", "4096"),
    "B13 tiles of blocks and warps": at("lab-gemm-tensor", "mma", "4096", "bf16")
        > 1.5 * at("lab-gemm-tensor", "wgmma", "4096", "bf16"),
    "B15 a larger product, a higher rate":
        at("lab-gflops", "cublas", "2000", what="rate") < at("lab-gflops", "cublas", "6000", what="rate"),
    "B16 double precision by the library":
        at("lab-dgemm", "cublas", "6000", "fp64") < at("lab-dgemm", "mma", "6000", "fp64"),
    "B18 tensor cores": at("lab-gflops", "cublas", "6000") > 10 * at("lab-gflops", "cublas", "6000", "bf16"),
    "B20 the fastest algorithm of cuDNN":
        at("lab-conv", "cudnn_precomp_gemm", "1x128x128x128x128x3")
        < at("lab-conv", "cudnn_gemm", "1x128x128x128x128x3"),
    "B26 another tile at another size": best("lab-autotune", "256") != best("lab-autotune", "4096"),
    "B31 copies beside the kernel":
        at("lab-overlap", "streams_8", "16777216x2048") * 2 < at("lab-overlap", "pinned", "16777216x2048"),
    "B35 levels of memory":
        at("lab-pointer-chase", "shared", "131072x16384") < at("lab-pointer-chase", "global", "131072x16384")
        < at("lab-pointer-chase", "l2", "131072x16384"),
    "B36 math types": at("lab-conv-math", "cudnn_precomp_gemm", "1x128x128x128x128x3")
        > 2 * at("lab-conv-math", "tensor_op", "1x128x128x128x128x3", "tf32"),
    "E08 twice the warps, half the time":
        all(1.8 < a / b < 2.1 for a, b in zip(chain, chain[1:])),
    "E10 one kernel for three": at("lab-fusion", "three", "16384x4096")
        > 2 * at("lab-fusion", "one", "16384x4096"),
    "E12 one launch for many products":
        at("lab-batched", "looped", "1000x16") > 100 * at("lab-batched", "blocks", "1000x16"),
}
false = [claim for claim, holds in claims.items() if not holds]
print("not so in the recorded runs:", false) if false else None
sys.exit(bool(false))
P
run course B29
expect_stdout 'B29     later'
expect_stdout '0 in part, 1 come later, 0 missing'
exits 3 course Z01
# A row that does not show what it has to, two with one command that fails, and a
# directory for temporary files with a long name.
TMPDIR=$PWD/a-directory-for-temporary-files-with-a-long-name
mkdir -p "$TMPDIR"
export TMPDIR
mkdir -p share/profiles
printf '#:title T\nrow,what,served_by,command,shows,gpu,missing,source\nX1,a,b,--version,no such text,,,s\nX2,a,b,--version,lapenna-lab,,,s\nX3,a,b,no-such-command,,,,s\nX5,a,b,no-such-command,,,,s\nX4,a,,,,,nothing,s\nX6,a,b,--version,lapenna-lab,,later: more,s\nX7,a,b,--version,lapenna-lab,,not recorded: much,s\nX8,a,b,--version ; no-such-command,lapenna-lab,,,s\nX9,a,b,--help ; --version,Usage:   lapenna-lab|lapenna-lab,,,s\n' \
    >share/profiles/course.csv
LAPENNA_LAB_DATA_DIR=$PWD/share
export LAPENNA_LAB_DATA_DIR
exits 1 course --check
expect_stdout 'does not show "no such text"'
expect_stdout 'X8      fails'
expect_stdout 'X9      works'
expect_stdout "a: \`lapenna-lab --help\`, \`lapenna-lab --version\`"
expect_stdout '3 work, 0 need a GPU, 0 in part, 1 come later, 1 missing, 4 fail'
rmdir "$TMPDIR" || complain 'course --check left files behind'
mkdir "$TMPDIR"
# Without a GPU the newest recorded run of each lesson of the column gpu is looked at.
if ! command -v nvidia-smi >/dev/null; then
    mkdir -p share/profiles/recorded
    ln -s "$LAB_SOURCE_DIR/profiles/recorded/h200.db" share/profiles/recorded/h200.db
    printf '#:title T\nrow,what,served_by,command,shows,gpu,missing,source\nY1,a,b,lab dgemm,mma|4096x1x1,lab-dgemm lab-saxpy,,s\nY2,a,b,lab dgemm,mma|fours|stride,lab-dgemm lab-saxpy,,s\nY3,a,b,lab dgemm,mma,lab-dgemm nosuch,,s\n' \
        >share/profiles/course.csv
    run course --check
    expect_stdout 'does not show "4096x1x1"'
    grep -Eq '^Y2 .*recorded run [0-9]+, lab-dgemm; .*recorded run [0-9]+, lab-saxpy' "$out" ||
        complain 'two recorded runs'
    grep -Eq '^Y2 +needs a GPU' "$out" || complain 'both runs hold its parts'
    expect_stdout 'no recorded run of nosuch'
fi
# A signal ends the command that runs as well.
ln -s "$LAB_SOURCE_DIR/lessons" share/lessons
printf '#:title T\nrow,what,served_by,command,shows,gpu,missing,source\nX1,a,b,--version,,,,s\nX2,a,b,run softmax-regression --backend cpu --no-tune --iterations 1000000000,,,,s\n' \
    >share/profiles/course.csv
"$LAB_EXE" course --check >"$out" 2>"$err" &
pid=$!
until grep -q '^X1  *works' "$out" || ! kill -0 $pid; do sleep 0.05; done
kill $pid
wait $pid
status=$?
expect_exit 143
rmdir "$TMPDIR" || complain 'course --check left files behind when it was ended'
printf '#:title T\nrow,what,source\nX1,a,s\n' >share/profiles/course.csv
exits 3 course
expect_stderr 'the column served_by is missing'
