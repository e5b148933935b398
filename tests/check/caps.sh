#!/bin/sh
# caps.sh ROOT -- nothing is longer than the house style has it: functions 50
# lines, .c 500, .cu and .cuh 400, .h 200. Split by meaning what is.
set -eu
cd "$1"
# shellcheck disable=SC2016 # awk's dollars
find src kernels tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort | xargs awk '
FNR == 1 { if (name) report(); name = FILENAME; open = 0 }
{ lines = FNR }
# Linux braces: a function opens and closes at the first column.
/^{/ { open = FNR; head = before }
/^}/ {
    if (open && FNR - open + 1 > 50) {
        bad = 1
        printf "%s:%d: %d lines: %s\n", FILENAME, open, FNR - open + 1, head
    }
    open = 0
}
!/^[{} \t]/ && NF { before = $0 }
function report(   cap) {
    cap = name ~ /\.h$/ ? 200 : name ~ /\.cuh?$/ ? 400 : 500
    if (lines > cap) {
        bad = 1
        printf "%s: %d lines, the cap is %d\n", name, lines, cap
    }
}
END { report(); exit bad }'
