# shellcheck shell=sh
# A signal ends a long run with 128+n, and what was recorded can be read.
inline_lesson small

# ended_by SIGNAL NUMBER
ended_by() {
    command=" run (ended by SIG$1)"
    "$LAB_EXE" run small.md --json --backend cpu --iterations 1000000000 \
        --db "$1.db" </dev/null >"$out" 2>"$err" &
    pid=$!
    tries=0
    while [ "$(head -n 3 "$out" | wc -l)" -lt 3 ] && [ "$tries" -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -s "$1" "$pid"
    tries=0
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 100 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    kill -s KILL "$pid" 2>/dev/null && complain "still there after 10 s"
    status=0
    wait "$pid" || status=$?
    expect_exit "$((128 + $2))"
    run profile list --json --db "$1.db"
    expect_exit 0
    expect_json 'len(of("run")) == 1'
}
ended_by TERM 15
ended_by HUP 1
