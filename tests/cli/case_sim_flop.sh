# shellcheck shell=sh
# FLOP of functions of mathematics by clang, where they are calls, are those of nvcc, whose
# PTX has their code: of each function, for arguments on all sides of its conditions.
cp "$LAB_SOURCE_DIR"/tests/cli/golden/files/flop.cu .
python=${LAB_PYTHON:-python3}
check=$LAB_SOURCE_DIR/tests/cli/sim_flop.py
"$python" "$check" --args . >sizes
count() { # kernel, type, file, number of values
    for compiler in nvcc clang; do
        run sim flop.cu --compiler $compiler --kernel "$1" --grid "$4" --block 1 --counts \
            --json --checks memory --arg "in:$2[$4]=@$3.npy" --arg "in:$2[$4]=@${3}2.npy" \
            --arg "out:$2[$4]"
        if [ "$status" -eq 4 ]; then
            echo "skipped: what needs $compiler"
            return
        fi
        expect_exit 0
        cp "$out" "$1.$compiler"
    done
    "$python" "$check" flop.cu "$1.nvcc" "$1.clang" || complain "FLOP of $1"
}
count floats float f "$(sed -n 1p sizes)"
count doubles double d "$(sed -n 2p sizes)"
