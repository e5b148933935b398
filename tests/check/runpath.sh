#!/bin/sh
# runpath.sh BUILD [CC] -- nothing that was built, or is installed in the prefix
# BUILD, searches the current directory for its libraries: every element of every
# run path is absolute or begins with $ORIGIN. The program also starts in a
# directory of planted libraries.
set -eu
build=$1
cc=${2:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ":RUNPATH: FILE" of every program and library below BUILD.
find "$build" -type f \( -perm -u+x -o -name '*.so*' \) >"$work/files"
while read -r file; do
    readelf -d "$file" 2>/dev/null |
        sed -n "s|.*(RU\{0,1\}N\{0,1\}PATH).*\[\(.*\)\]\$|:\1: $file|p"
done <"$work/files" >"$work/paths"
[ -s "$work/files" ] || { echo "nothing is built in $build"; exit 1; }
# shellcheck disable=SC2016 # the loader's word, not a variable
origin='\$(ORIGIN|\{ORIGIN\})(/[^:]*)?'
if grep -vE "^:((/[^:]*|$origin):)+ /" "$work/paths"; then
    echo "an element of these run paths is empty or relative"
    exit 1
fi

# Everything that the program links, and what it or a module loads by name, as
# a library without a symbol: were one loaded, the program would not start.
exe=$build/bin/lapenna-lab
[ -x "$exe" ] || exit 0
mkdir "$work/planted"
ldd "$exe" "$build"/lib/*.so "$build"/lib/lapenna-lab/*.so 2>/dev/null |
    awk '$2 == "=>" { print $1 }' >"$work/libraries"
for name in libopenblas.so.0 libnvidia-ml.so.1 libcuda.so.1 libcublas.so.13 libcudnn.so.9; do
    echo "$name"
done >>"$work/libraries"
echo '__attribute__((constructor)) static void run(void)
{ __builtin_trap(); }' >"$work/planted.c"
while read -r name; do
    "$cc" -shared -fPIC -Wl,-soname,"$name" -o "$work/planted/$name" \
        "$work/planted.c"
done <"$work/libraries"
cd "$work/planted"
for word in --version doctor; do
    if ! "$exe" $word >"$work/out" 2>&1 </dev/null; then
        cat "$work/out"
        echo "$word loads a library of the current directory"
        exit 1
    fi
done
