#!/bin/sh
# install.sh CMAKE BUILD VERSION [CC] -- what `cmake --install` puts where, and that
# the installed program finds its files, also after the tree was moved.
set -eu
cmake=$1
build=$2
version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/usr" >"$work/log" ||
    { cat "$work/log"; exit 1; }

bad=0
for file in bin/lapenna-lab share/man/man1/lapenna-lab.1 \
    share/bash-completion/completions/lapenna-lab \
    share/zsh/site-functions/_lapenna-lab \
    share/lapenna-lab/kernels/dense/dense.h \
    share/lapenna-lab/kernels/dense/dense_ref.c \
    share/lapenna-lab/profiles/schema.sql \
    share/lapenna-lab/sim/clang/cuda_runtime.h \
    share/lapenna-lab/lessons/data/digits.csv.gz \
    share/lapenna-lab/lessons/data/README.md \
    share/doc/lapenna-lab/LICENSE \
    share/lapenna-lab/lessons/data/course.txt; do
    [ -s "$work/usr/$file" ] || { echo "not installed: $file"; bad=1; }
done
for module in "$build"/lib/lapenna-lab-*.so; do
    [ -e "$module" ] || continue
    name=${module##*/}
    [ -s "$work/usr/lib/lapenna-lab/$name" ] ||
        { echo "not installed: $name"; bad=1; }
done
ls "$work"/usr/share/lapenna-lab/lessons/*.md >/dev/null 2>&1 ||
    { echo "no lesson was installed"; bad=1; }
find "$work/usr" -name CMakeLists.txt | grep . && bad=1
[ "$bad" -eq 0 ] || exit 1

mkdir "$work/another place"
mv "$work/usr" "$work/another place/opt"
prefix="$work/another place/opt"
"$(dirname "$0")/runpath.sh" "$prefix" "${4:-cc}"
cd /
"$prefix/bin/lapenna-lab" --version >"$work/out"
grep -qF "$version" "$work/out" ||
    { echo "--version does not state $version:"; cat "$work/out"; exit 1; }
"$prefix/bin/lapenna-lab" lesson list --json >"$work/out"
grep -qF "\"$prefix/" "$work/out" ||
    { echo "lessons are not the installed ones:"; cat "$work/out"; exit 1; }
