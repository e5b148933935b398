# shellcheck shell=sh
# What the machine lacks is exit 4 with a remedy, where it was asked for.
inline_lesson small
export LAPENNA_LAB_MODULE_DIR="$work/none"
run step small.md --backend cuda --json
expect_exit 4
expect_no_stdout
[ -s "$err" ] || complain "no word about it"
# auto goes on with the CPU.
run step small.md --json
expect_exit 0
expect_json 'all(s["backend"] == "cpu" for s in of("step"))'
run doctor
expect_exit 0
expect_no_escape
run doctor --json
expect_exit 0
expect_json 'len(rows) >= 1'
# Counters that cannot be had are told, and the run goes on.
run step small.md --counters basic --json
expect_exit 0
grep -q 'counters basic: ' "$err" || complain "no word about the counters"
run run small.md --backend cpu --iterations 1 --counters basic --trace on
expect_exit 0
expect_stderr 'lapenna-lab run: --trace: '
expect_stderr 'lapenna-lab run: --counters basic: '
