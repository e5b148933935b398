# shellcheck shell=sh
# A step's rates stand beside what `profile ceilings` has measured here.
play() { # the script is on standard input
    cat >keys
    command=" (on a terminal)"
    status=0
    LAPENNA_LAB_SCRIPT=keys "${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/pty_run.py" \
        "$LAB_EXE" mlp-digits --backend cpu --db roofs.db \
        >"$out" 2>"$err" </dev/null || status=$?
}

play <<'END'
resize 140 40
await 60000 next: fc1.matmul
key s
await 60000 next: fc1.bias
key 4
expect peak fp32 n/a here
expect peak memory n/a here
END
expect_exit 0

exits 0 profile ceilings --backend cpu --db roofs.db
play <<'END'
resize 140 40
await 60000 next: fc1.matmul
key s
await 60000 next: fc1.bias
key 4
expect of a copy's rate
absent peak memory
END
expect_exit 0
