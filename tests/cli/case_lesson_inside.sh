# shellcheck shell=sh
# Commands and figures of the lessons "Inside a kernel".
command=" (a compiler of CUDA C++)"
for compiler in clang nvcc none; do
    "$LAB_EXE" sim "$LAB_SOURCE_DIR/lessons/data/inside/copies.cu" --grid 1 \
        --block 1 --kernel saxpy --compiler "$compiler" --arg 'inout:float[1]' \
        --arg 'in:float[1]' --arg float:1 --arg int:1 >"$out" 2>"$err" && break
done
[ "$compiler" != none ] || finish # doctor names the package
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/lesson_inside.py" "$LAB_EXE" \
    "$LAB_SOURCE_DIR/lessons" "$compiler" >"$out" 2>"$err" ||
    complain 'a lesson prints another number than the simulator'
