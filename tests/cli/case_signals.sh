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
    # Lines are flushed one by one: none is cut.
    expect_json 'len(of("iteration")) > 10'
    run profile list --json --db "$1.db"
    expect_exit 0
    expect_json 'len(of("run")) == 1'
}
ended_by INT 2
ended_by TERM 15
ended_by HUP 1
