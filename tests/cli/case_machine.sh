# shellcheck shell=sh
# What the machine lacks is exit 4 with a remedy, where it was asked for.
inline_lesson small
export LAPENNA_LAB_MODULE_DIR="$work/none"
exits 4 step small.md --backend cuda --json
expect_no_stdout
[ -s "$err" ] || complain "no word about it"
# auto goes on with the CPU.
exits 0 step small.md --json
expect_json 'all(s["backend"] == "cpu" for s in of("step"))'
exits 0 doctor
expect_no_escape
exits 0 doctor --json
expect_json 'len(rows) >= 1'
# Counters that cannot be read are reported, and the run goes on.
exits 0 step small.md --counters basic --json
grep -q 'counters basic: ' "$err" || complain "no word about the counters"
exits 0 run small.md --backend cpu --iterations 1 --counters basic --trace on
expect_stderr 'lapenna-lab run: --trace: '
expect_stderr 'lapenna-lab run: --counters basic: '
