# shellcheck shell=sh
# The trace of kernels, off and on; and what a run's times were taken under.

run run mlp-digits --backend cpu --iterations 3 --trace off --json
expect_exit 0
expect_json 'one("summary")["trace"] is None'
expect_no_stderr
# Without a GPU who asks for a trace hears what is recorded instead.
for what in run step; do
    for records in on kernels; do
        run $what mlp-digits --backend cpu --iterations 1 \
            --trace $records --json
        expect_exit 0
        expect_stderr '--trace: '
        expect_stderr "timed by the host's clock"
    done
done
run run mlp-digits --backend cpu --iterations 1 --graph-nodes
expect_exit 0
expect_stderr '--graph-nodes: '
expect_stderr 'each step is launched by itself'
run run mlp-digits --backend cpu --trace sometimes
expect_exit 2
expect_stderr 'off, kernels or on'
run run mlp-digits --backend cpu --iterations 3 --trace kernels --json
expect_exit 0
expect_json 'one("summary")["trace"] is None'
run run mlp-digits --backend cpu --graph-nodes --no-graph
expect_exit 2
expect_stderr 'leave out --no-graph'
run run mlp-digits --backend cpu --graph-nodes --trace off
expect_exit 2
expect_stderr 'leave out --trace off'

printf 'trace\ntrace off\ntrace kernels\ntrace maybe\nquit\n' >script
status=0
timeout 300 "$LAB_EXE" --plain mlp-digits --backend cpu <script \
    >"$out" 2>"$err" || status=$?
expect_exit 0
expect_stdout "timed by the host's clock"
expect_stderr "tracing is a GPU's"
expect_stderr 'off, kernels or on'
