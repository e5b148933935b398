# shellcheck shell=sh
# The first kernels; golden/lab.txt has what they print.
lines() {
    grep -c '^Hello World from block' "$out"
}
for launch in '1 10 10' '10 1 10' '10 10 100'; do
    # shellcheck disable=SC2086 # three words
    set -- $launch
    run lab hello --backend cpu --grid "$1" --block "$2"
    expect_exit 0
    [ "$(lines)" = "$3" ] || complain "$(lines) lines, not $3"
    expect_stdout "$3 threads, $3 lines"
done
# A rung that is wrong on purpose is shown, not timed, and is no failure.
run lab stencil --backend cpu --sizes 1024 --repeat 20 --json
expect_exit 0
expect_json '[r["wrong_elements"] for r in of("lab_row") if "wrong_elements" in r] == [168]' \
    '[r["median_ns"] for r in of("lab_row") if "wrong_elements" in r] == [None]' \
    'sum(r["status"] == "done" for r in of("lab_row")) == 2'
