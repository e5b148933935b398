#!/bin/sh
# format.sh ROOT -- C, C++ and CUDA sources are as clang-format 14 has them.
# Other versions differ in details: without version 14 this is skipped.
set -eu
cd "$1"
for tool in clang-format-14 clang-format none; do
    "$tool" --version 2>/dev/null | grep -q 'version 14\.' && break
done
if [ "$tool" = none ]; then
    echo "skipped: no clang-format 14 (package clang-format-14)"
    exit 77
fi
files=$(find src kernels tests -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o \
    -name '*.inc')
[ -n "$files" ] || { echo "no source was found"; exit 1; }
# shellcheck disable=SC2086 # a list; no name here has a space
"$tool" --dry-run --Werror --ferror-limit=3 $files
