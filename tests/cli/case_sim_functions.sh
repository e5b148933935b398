# shellcheck shell=sh
# Functions of CUDA that the program's own headers have for clang, against Python; by
# nvcc, too: its headers have them all.
cp "$LAB_SOURCE_DIR"/tests/cli/golden/files/functions.cu .
python=${LAB_PYTHON:-python3}
check=$LAB_SOURCE_DIR/tests/cli/sim_functions.py
threads=$("$python" "$check" --args .)
for compiler in clang nvcc; do
    run sim functions.cu --compiler $compiler --grid 1 --block "$threads" --json \
        --arg "in:float[$threads]=@f.npy" --arg "in:double[$threads]=@d.npy" \
        --arg "in:int[$threads]=@a.npy" --arg "out:double[$threads,62]"
    if [ "$status" -eq 4 ]; then
        echo "skipped: what needs $compiler"
        continue
    fi
    expect_exit 0
    "$python" "$check" "$out" || complain "$compiler: a value"
done
