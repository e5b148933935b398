# shellcheck shell=sh
# A signal ends a long run with 128+n, and what was recorded can be read.
inline_lesson small

# ended_by SIGNAL NUMBER
ended_by() {
    command=" run (after 2 s SIG$1)"
    status=0
    timeout --preserve-status -k 10 -s "$1" 2 "$LAB_EXE" run small.md --json \
        --backend cpu --iterations 1000000000 --db "$1.db" </dev/null \
        >"$out" 2>"$err" || status=$?
    expect_exit "$((128 + $2))"
    # Whole lines are written: none is cut.
    expect_json 'len(of("iteration")) > 10'
    exits 0 profile list --json --db "$1.db"
    expect_json 'len(of("run")) == 1'
}
ended_by INT 2
ended_by TERM 15
ended_by HUP 1

# A lab that is stopped before its first row leaves no empty run: neither a row
# nor what was predicted.
command=" lab gemm (SIGINT before the first row)"
"$LAB_EXE" lab gemm --backend cpu --variants openblas --sizes 2500 --json \
    --predict openblas=5 --db empty.db </dev/null >"$out" 2>"$err" &
child=$!
i=0
while ! grep -q '"type":"lab"' "$out" && [ $i -lt 3000 ]; do
    sleep 0.01
    i=$((i + 1))
done
kill -s INT "$child"
status=0
wait "$child" || status=$?
expect_exit 130
expect_json 'len(of("lab")) == 1' 'len(of("lab_row")) == 0'
rows=$(sql empty.db 'SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM lab_said),
    (SELECT count(*) FROM step)')
[ "$rows" = '0|0|0' ] || complain "empty.db has $rows of the lab"

# The same while a write waits for a reader that does not read: the signal cuts
# the write short, which is no failure of the output.
# cut_short COMMAND SIGNAL NUMBER
cut_short() {
    command=" $1 (SIG$2 while the pipe is full)"
    mkfifo "pipe.$1.$2"
    "$LAB_EXE" "$1" small.md --json --backend cpu --iterations 1000000000 \
        --db "cut.$1.$2.db" </dev/null >"pipe.$1.$2" 2>"$err" &
    child=$!
    exec 3<"pipe.$1.$2"
    sleep 1
    kill -s "$2" "$child"
    sleep 1
    cat <&3 >"$out"
    exec 3<&-
    status=0
    wait "$child" || status=$?
    expect_exit "$((128 + $3))"
    expect_no_stderr
    exits 0 profile list --json --db "cut.$1.$2.db"
    expect_json 'one("run")["status"] == "cancelled"'
}
cut_short run INT 2
cut_short run TERM 15
cut_short step HUP 1
