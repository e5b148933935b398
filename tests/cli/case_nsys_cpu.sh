# shellcheck shell=sh
# A run on the processor goes out as an nsys export and comes back as what it
# was: no GPU, and every step with its time.

exits 0 run mlp-digits --json --backend cpu --iterations 40 --db own.db
run profile show 1 --json --db own.db
expect_json 'len(of("step")) == 18'
cp "$out" before
exits 0 profile export 1 --format nsys --output run.sqlite --db own.db
exits 0 profile import run.sqlite --db back.db
expect_stdout 'steps'
exits 0 profile show 1 --json --db back.db
expect_json 'one("run")["backend"] == "cpu"' \
    'one("run")["time_source"] == "cpu_clock"' \
    'one("run").get("device") is None' \
    'len(of("step")) == 18' \
    FILE2=before \
    '[(s["name"], s["phase"], s["index"]) for s in of("step")] == [
        (s["name"], s["phase"], s["index"])
        for s in other if s["type"] == "step"]' \
    'all(s["median_ns"] > 0 for s in of("step"))'
# 32 and then every other iteration is recorded step by step
expect_json 'all(s["count"] == 36 for s in of("step"))'
# the same file again is skipped
run profile import run.sqlite --db back.db
expect_stdout 'skipped 1'
