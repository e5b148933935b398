# shellcheck shell=sh
# Commands and figures of the lessons "Inside a kernel", and of the labs' "Look inside".
command=" (a compiler of CUDA C++)"
for compiler in clang nvcc none; do
    "$LAB_EXE" sim "$LAB_SOURCE_DIR/lessons/data/inside/copies.cu" --grid 1 \
        --block 1 --kernel saxpy --compiler "$compiler" --arg 'inout:float[1]' \
        --arg 'in:float[1]' --arg float:1 --arg int:1 >"$out" 2>"$err" && break
done
[ "$compiler" != none ] || finish # doctor names the package

# Five files, some forty runs: each file is compiled once.
mkdir compiled
cat >"$compiler-once" <<END
#!/bin/sh
for word; do source=\$word; done # the last one
kept=$work/compiled/\$(basename "\$source")
for word; do
    [ "\$before" = -o ] && output=\$word
    before=\$word
done
[ -f "\$kept" ] || { $compiler "\$@" && cp "\$output" "\$kept"; } || exit 1
cp "\$kept" "\$output"
END
chmod +x "$compiler-once"
"${LAB_PYTHON:-python3}" "$LAB_CLI_DIR/lesson_inside.py" "$LAB_EXE" \
    "$LAB_SOURCE_DIR/lessons" "$work/$compiler-once" >"$out" 2>"$err" ||
    complain 'a lesson prints another number than the simulator'
