#!/bin/sh
# checks_fail.sh ROOT -- plants what the checks are there to find in a copy of
# the tree, and sees each check pass before and fail after.
set -eu
root=$1
check=$root/tests/check
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A small tree that every check accepts.
fresh_tree() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/tests" "$work/tree/kernels"
    cp "$root/.clang-format" "$work/tree"
    for module in base trace engine profiler store lesson report debug bench ui cli; do
        mkdir -p "$work/tree/src/$module/include/$module"
        printf '#pragma once\nint lab_%s_one(int a);\n' "$module" \
            >"$work/tree/src/$module/include/$module/one.h"
        printf '/* one.c */\n#include "%s/one.h"\n' "$module" \
            >"$work/tree/src/$module/one.c"
    done
    printf '#pragma once\n#include "base/one.h"\n' >"$work/tree/kernels/k.h"
    printf '#include "engine/one.h"\n#include "k.h"\n' \
        >>"$work/tree/src/ui/one.c"
    printf '#pragma once\n' >"$work/tree/src/store/store_priv.h"
    printf '#include "store_priv.h"\n' >>"$work/tree/src/store/one.c"
    mkdir "$work/tree/src/store/sub"
    printf '/* two.c */\n#include "../store_priv.h"\n' >"$work/tree/src/store/sub/two.c"
    printf 'lab_ui lab_engine\nlab_trace lab_base\nlapenna-lab lab_store\n' \
        >"$work/links"
}

fails=0
# passes|catches WHAT CHECK...
passes() {
    what=$1
    shift
    status=0
    "$@" >"$work/out" 2>&1 || status=$?
    [ "$status" -ne 77 ] || { echo "skipped: $what"; return 0; }
    [ "$status" -eq 0 ] && return
    echo "a clean tree fails: $what"
    cat "$work/out"
    fails=$((fails + 1))
}
catches() {
    what=$1
    word=$2
    shift 2
    status=0
    "$@" >"$work/out" 2>&1 || status=$?
    [ "$status" -ne 77 ] || { echo "skipped: $what"; return 0; }
    if [ "$status" -eq 0 ] || ! grep -q -e "$word" "$work/out"; then
        echo "not caught: $what (status $status, wanted: $word)"
        cat "$work/out"
        fails=$((fails + 1))
    else
        echo "caught: $what"
    fi
}
edges() {
    "$check/edges.sh" "$work/tree" "$work/links"
}
# plant FILE LINE: a forbidden include, in a fresh tree.
plant() {
    fresh_tree
    printf '%s\n' "$2" >>"$work/tree/src/$1"
}

fresh_tree
passes edges edges
passes headers "$check/headers.sh" "$work/tree"
passes format "$check/format.sh" "$work/tree"
printf 'int i = blockIdx.x;\n' >"$work/tree/kernels/k.cu"
passes grids "$check/grids.sh" "$work/tree"
printf 'int64_t row = blockIdx.y;\n' >>"$work/tree/kernels/k.cu"
catches 'rows in y of a grid' 'k.cu:2:' "$check/grids.sh" "$work/tree"

plant ui/one.c 'const char *limit = "%d MiB, %s, %.3g of %.1f";'
passes units python3 "$check/units.py" "$work/tree"
plant ui/one.c 'const char *time = "%d of %.3g ms";'
catches 'a unit by hand' '%.3g ms: use LAB_NS_TEXT' python3 "$check/units.py" "$work/tree"
plant bench/one.c 'const char *rate = "at %.*f GFLOP/s";'
catches 'a rate by hand' 'GFLOP/s: use' python3 "$check/units.py" "$work/tree"
plant trace/one.c '#include "engine/one.h"'
catches 'trace uses engine' 'trace may not use engine' edges
plant base/include/base/one.h '#include "ui/one.h"'
catches 'base uses ui, in a header' 'base may not use ui' edges
plant engine/one.c '  #  include "profiler/one.h"'
catches 'engine uses profiler, oddly spaced' 'engine may not use' edges
plant store/one.c '#include "k.h"'
catches 'store uses kernels' 'store may not use kernels' edges
plant ui/one.c '#include "store_priv.h"'
catches "ui uses store's private header" 'neither its own' edges
plant ui/one.c '#include "../store/store_priv.h"'
catches 'a private header by its path' 'goes up' edges
fresh_tree
printf 'lab_engine lab_ui\n' >>"$work/links"
catches 'engine links ui' 'lab_engine .* uses lab_ui' edges

fresh_tree
printf 'size_t lab_size(void);\n' >>"$work/tree/src/base/include/base/one.h"
catches 'a header that wants another first' 'base/one.h: does not stand' \
    "$check/headers.sh" "$work/tree"
fresh_tree
printf 'int lab_class(int class);\n' \
    >>"$work/tree/src/base/include/base/one.h"
catches 'a header that is not C++' 'does not stand alone as cc' \
    "$check/headers.sh" "$work/tree"
fresh_tree
printf '#include "base/one.h"\n' >"$work/tree/src/base/one.c"
catches 'a source without a comment' 'one.c: does not open' \
    "$check/headers.sh" "$work/tree"
fresh_tree
printf '#include "test.h"\n' >"$work/tree/tests/test_one.c"
catches 'a test without a comment' 'test_one.c: does not open' \
    "$check/headers.sh" "$work/tree"
plant ui/one.c 'static const char *of = "SELECT * FROM lab_said"; // untold, foretold'
passes 'a table of the database' "$check/headers.sh" "$work/tree"
plant ui/one.c '/* What nobody wants. */'
catches 'a word for no term' 'one.c:.*nobody wants.*  -- prints' "$check/headers.sh" "$work/tree"
fresh_tree
printf '#define TOLD_TWICE 2\n' >>"$work/tree/kernels/k.h"
catches 'such a word in a name' 'k.h:.*TOLD_TWICE' "$check/headers.sh" "$work/tree"
fresh_tree
printf 'int  lab_spaces ( int a );\n' >>"$work/tree/src/base/one.c"
catches 'unformatted code' 'clang-format-violations' \
    "$check/format.sh" "$work/tree"

# An archive whose table is a function in the program: the linker reports nothing.
if command -v nm >/dev/null && command -v ar >/dev/null; then
    cc=${CC:-cc}
    mkdir "$work/program"
    printf 'const int lab_table[3] = {1, 2, 3};\n' >"$work/table.c"
    printf 'int lab_table(void) { return 0; }\n' >"$work/program/one.c"
    printf 'int lab_other(void) { return 0; }\n' >"$work/program/two.c"
    "$cc" -c -o "$work/table.o" "$work/table.c"
    ar rc "$work/table.a" "$work/table.o"
    "$cc" -c -o "$work/program/two.o" "$work/program/two.c"
    passes symbols "$check/symbols.sh" "$work/table.a" "$work/program"
    "$cc" -c -o "$work/program/one.o" "$work/program/one.c"
    catches 'a table and a function of one name' 'lab_table: defined in' \
        "$check/symbols.sh" "$work/table.a" "$work/program"
fi

# Two folders of a module, the second using the first; then both.
object() { # FOLDER TEXT
    mkdir -p "$work/tree/src/ui/$1" \
        "$work/objects/src/ui/CMakeFiles/lab_ui.dir/$1"
    echo "$2" >"$work/tree/src/ui/$1/one.c"
    "${CC:-cc}" -c -o "$work/objects/src/ui/CMakeFiles/lab_ui.dir/$1/one.c.o" \
        "$work/tree/src/ui/$1/one.c"
}
object low 'int lab_low(void) { return 0; }'
object high 'int lab_low(void); int lab_high(void) { return lab_low(); }'
passes circles "$check/circles.sh" "$work/tree" "$work/objects"
object low 'int lab_high(void); int lab_low(void) { return lab_high(); }'
catches 'two folders that use each other' 'lab_low of src/ui/low/one.c' \
    "$check/circles.sh" "$work/tree" "$work/objects"

# Run paths as CMake pads them, and as a careless -rpath would write them.
mkdir "$work/built"
# shellcheck disable=SC2016 # the loader's word, not a variable
for path in /usr/lib '$ORIGIN/../lib:/usr/lib'; do
    echo 'int main(void) { return 0; }' |
        "${CC:-cc}" -x c - -o "$work/built/one" -Wl,-rpath,"$path"
    passes "run path $path" "$check/runpath.sh" "$work/built"
done
# shellcheck disable=SC2016
for path in /usr/lib: ':/usr/lib' /usr/lib::/lib lib '$ORIGINAL/lib'; do
    echo 'int main(void) { return 0; }' |
        "${CC:-cc}" -x c - -o "$work/built/one" -Wl,-rpath,"$path"
    catches "run path $path" 'empty or relative' \
        "$check/runpath.sh" "$work/built"
done

# A figure that is another: a ratio to its model, of two figures of its sentence, of
# the two variants that it names, a small number of one variant.
figure() {
    rm -rf "$work/figures"
    mkdir -p "$work/figures"
    cp -R "$root/lessons" "$work/figures/lessons"
    ln -s "$root/profiles" "$root/kernels" "$root/src" "$work/figures"
    [ $# -eq 0 ] || sed -i "s/$2/$3/" "$work/figures/lessons/$1"-*.md
}
recorded() {
    python3 "$check/lesson_recorded.py" "$work/figures"
}
figure
passes "figures of the recorded runs" recorded
figure 226 '[0-9.]* times its' '1.6 times its'
catches "another ratio to the model" '1.6 of block' recorded
figure 231 'and [0-9.]* times as fast' 'and 2.0 times as fast'
catches "another quotient of two figures" '2.0 of .*is not in run' recorded
figure 227 'is [0-9.]* times' 'is 1.38 times'
catches "another ratio of two variants" '1.38 of one' recorded
figure 245 'needs [0-9.]*$' 'needs 6.37'
catches "another time of a variant" '6.37 of streams' recorded
figure 201 'reaches$' 'is half, and reaches'
catches "a ratio in words" "'half': a ratio of run" recorded
figure 251 '268 MB' '968 MB'
catches "other bytes of DRAM" '968 of plain' recorded
figure 255 ' 8.7 %' ' 18.7 %'
catches "another achieved occupancy" '18.7 of plain' recorded
figure 204 ' 3.57' ' 3.75'
catches "other instructions a cycle" '3.75 of cublas' recorded
figure 204 '232 of them' '132 of them'
catches "other registers" '132 of wide' recorded
figure 256 '2,147' '3,147'
catches "other multiply-adds" '3,147,483,648 of' recorded
figure 250 '| 939 |$' '| 739 |'
catches "another number of a model" '739 of' recorded
figure 210 'At 4096 in bf16 ' 'At 4096 '
catches "a ratio without its precision" '54 is of some sizes or precisions' recorded
figure 243 '3,998 kernels' '3,999 kernels'
catches "a count that does not follow" 'does not follow: launches 3,999' recorded
figure 243 '\([0-9]*\) at 10000 and \([0-9]*\) at' '\2 at 10000 and \1 at'
catches "the rate of another size" 'of threads 10000 is not in run' recorded
figure 292 'beside run 392' 'beside run 382'
catches "a run of another lesson" 'run 382 is of lab-sparse' recorded
figure 230 '5.13 ms @ 70 ' '5.13 ms @ 71 '
catches "a column of the course" '71 MiB of cudnn_fft_tiling' recorded
figure 170 'compare with' 'ten times faster with'
catches "a speed of no run" 'ten times faster' recorded

# Each figure of these lessons, changed by 10 %.
passes "wrong figures are found" python3 "$check/lesson_recorded.py" "$root" \
    --plant 210 230 240 242 243 253 259 281

# A figure of the course that is another.
course() {
    rm -rf "$work/course"
    mkdir -p "$work/course/tests/check"
    cp -R "$root/lessons" "$root/profiles" "$work/course"
    cp "$check/course_figures.csv" "$work/course/tests/check"
    [ $# -eq 0 ] || sed -i "$2" "$work/course/$1"
}
figures() {
    python3 "$check/course_figures.py" "$work/course"
}
course
passes "figures of the course" figures
course profiles/tables/gpus.csv 's/,1530,/,2530,/'
catches "another clock" 'boost \[MHz\]: 2530' figures
course profiles/tables/mixed_networks.csv '/^WaveGlow/d'
catches "a row that is gone" 'WaveGlow, area: nothing' figures
course profiles/tables/gpus.csv 's/^#:lessons .*/#:lessons lab-launch nosuch/'
catches "a lesson that is none" 'lessons names nosuch' figures
course profiles/tables/fusion.csv 's/^#:lessons .*/#:lessons residual/'
catches "a lesson that names the table" 'lessons lacks inference' figures
course profiles/tables/slackness.csv 's/x 1.98 GHz/x 2.18 GHz/'
catches "a product of a note" 'H200 with a quarter, differs' figures
course profiles/tables/little.csv 's/400 cycles at 1480/400 cycles at 1630/'
catches "a clock of a note" 'P100, differs' figures
course profiles/tables/sheets.csv 's/it has 549/it has 604/'
catches "a data sheet's number of a note" 'P100 PCIe, differs, number 4: 604' figures
course lessons/230-lab-conv.md 's/value: 45.3,/value: 4.53,/'
catches "another figure of a slide" 'the course has 45.3' figures
course lessons/124-word2vec-cbow.md 's/2\.4797/2.7479/'
catches "another number of a text beside the course" 'has 2.4797' figures

# A sum that is written out.
arithmetic() {
    python3 "$check/lesson_arithmetic.py" "$work/course"
}
course
passes "sums of the lessons" arithmetic
course lessons/51-softmax-overflow.md 's/88 + 30/87 + 30/'
catches "another sum" '87 + 30 is 117' arithmetic
course lessons/170-gpt.md 's/1,024 = 2.7/1,024 = 3.0/'
catches "another product, in GFLOP" '437888 \* 1024 is 2.69' arithmetic
course lessons/20-mlp-digits.md 's/log 10 = 2.303/log 10 = 2.330/'
catches "another logarithm" 'log(10) is 2.302' arithmetic
course lessons/125-word2vec-skipgram.md 's/119 = 4.78/119 = 4.87/'
catches "another natural logarithm" 'ln(119) is 4.779' arithmetic
course lessons/50-sigmoid-gradient.md 's/0.0464 = 0.9954/0.0464 = 0.9945/'
catches "another update of a weight" '0.0464 is 0.99536' arithmetic
[ "$fails" -eq 0 ]
