# shellcheck shell=sh
# The first kernels; golden/lab.txt has what they print.
lines() {
    grep -c '^Hello World from block' "$out"
}
for launch in '1 10 10' '10 1 10' '10 10 100'; do
    # shellcheck disable=SC2086 # three words
    set -- $launch
    exits 0 lab hello --backend cpu --grid "$1" --block "$2"
    [ "$(lines)" = "$3" ] || complain "$(lines) lines, not $3"
    expect_stdout "$3 threads, $3 lines"
done
# A variant that is wrong on purpose is shown, not timed, and is no failure.
exits 0 lab stencil --backend cpu --sizes 1024 --repeat 20 --json
expect_json '[r["wrong_elements"] for r in of("lab_row") if "wrong_elements" in r] == [168]' \
    '[r["median_ns"] for r in of("lab_row") if "wrong_elements" in r] == [None]' \
    'sum(r["status"] == "done" for r in of("lab_row")) == 2'

# The launch as a picture: a row a block, a warp's lanes side by side, and which
# threads have no element.
has_line() {
    grep -qxF -e "$1" "$out" || complain "no line '$1'"
}
run lab hello --backend cpu --grid 2 --block 10 --ascii
has_line 'block      1  ##########......................'
has_line 'a group is a warp, a cell 1 lane: # thread, . no thread'
run lab vectors --backend cpu --grid 3 --block 48 --elements 100 --ascii
has_line 'block      0  ################################ ################................'
has_line 'block      2  ####oooooooooooooooooooooooooooo oooooooooooooooo................'
run lab vectors --backend cpu --ascii
has_line 'block    195  #### #### ##oo oooo oooo oooo oooo oooo'
has_line 'a group is a warp, a cell 8 lanes: # thread, o without an element'
run lab vectors --backend cpu --json
! grep -q 'block .*#' "$out" || complain "a picture beside JSON"

# Without a GPU the calls of cuDNN are refused, and those of the run that ships shown.
if ! "$LAB_EXE" doctor 2>/dev/null | grep -q '^device  *ok'; then
    exits 4 lab calls
    expect_stdout 'lapenna-lab profile show --recorded 376'
    expect_stdout ' 22  cudaMemcpy(result, y, 768, cudaMemcpyDeviceToHost)'
    expect_stderr 'Remedy'
    exits 4 lab calls --json
    expect_no_stdout
    play lab-cudnn-calls --db calls.db <<'END'
resize 80 24
await 60000 Lab: cuDNN's calls
key t
await 60000 r runs it
key r
await 60000 this machine lacks what it needs; below is what it printed
expect recorded on a GPU, run 376
expect one by one (1-
key v
await 60000 this machine lacks what it needs; v has what it printed
absent one by one (
END
fi
