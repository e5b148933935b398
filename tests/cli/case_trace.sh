# shellcheck shell=sh
# The trace of kernels, off and on; and what a run's times were taken under.

exits 0 run mlp-digits --backend cpu --iterations 3 --trace off --json
expect_json 'one("summary")["trace"] is None'
expect_no_stderr
# Without a GPU the run goes on.
for what in run step; do
    for records in on kernels; do
        exits 0 $what mlp-digits --backend cpu --iterations 1 \
            --trace $records --json
    done
done
exits 0 run mlp-digits --backend cpu --iterations 3 --trace kernels --json
expect_json 'one("summary")["trace"] is None'
