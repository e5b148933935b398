# shellcheck shell=sh
# The trace of kernels, off and on; and what a run's times were taken under.

run run mlp-digits --backend cpu --iterations 3 --trace off --json
expect_exit 0
expect_json 'one("summary")["trace"] is None'
expect_no_stderr
# Without a GPU the run goes on.
for what in run step; do
    for records in on kernels; do
        run $what mlp-digits --backend cpu --iterations 1 \
            --trace $records --json
        expect_exit 0
    done
done
run run mlp-digits --backend cpu --iterations 3 --trace kernels --json
expect_exit 0
expect_json 'one("summary")["trace"] is None'
