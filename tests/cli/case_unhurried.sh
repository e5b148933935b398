# shellcheck shell=sh
# Tests measure in haste (LAPENNA_LAB_BENCH, tests/CMakeLists.txt); others do not: the
# caches are emptied between repeats, and ceilings are those of memory.
unset LAPENNA_LAB_BENCH
run lab saxpy --backend cpu --sizes 1000 --repeat 20 --db unhurried.db
expect_exit 0
expect_stdout 'before each 128 MiB are read'
run profile ceilings --backend cpu --json --db unhurried.db
expect_exit 0
cp "$out" whole
export LAPENNA_LAB_BENCH=quick
run profile ceilings --backend cpu --json --db quick.db
expect_exit 0
expect_json "FILE2=$work/whole" 'len([r for r in of("ceiling") if r["size"]]) == 3' \
    '[r["size"] for r in other if r["type"] == "ceiling" and r["size"]] == [128 << 20, 768, 1 << 20]' \
    '[r["size"] for r in of("ceiling") if r["size"]] == [8 << 20, 192, 1 << 16]'
