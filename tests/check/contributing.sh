#!/bin/sh
# contributing.sh ROOT CMAKE -- follows the worked examples of docs/add-*.md.
#
# Copies the tree, and for each page in the order of the list below makes the files
# of its blocks "file=PATH", runs its "sh copy" blocks and applies its "diff" blocks.
# Then it runs the "sh" blocks of all pages in the copy, where build/cpu is configured:
# each page changes a table that much is compiled from, and so it is compiled once. The
# errors of the pages have ids. A page may not touch a file of the tree other than by a
# diff. New files are formatted; CUDA ones are compiled where nvcc is.
# Exit 77: no compiler.
set -eu
root=$1
cmake=$2
pages='add-an-op add-another-op add-a-variant add-a-lab add-a-column
add-an-option add-a-view add-a-lesson'

if ! command -v "${CC:-cc}" >/dev/null || ! command -v ninja >/dev/null; then
    echo "skipped: the examples need a C compiler and ninja"
    exit 77
fi
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$root"
if git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard
else
    find . -path ./build -prune -o -type f -print0
fi | xargs -0 cp -P --parents -t "$copy" 2>/dev/null || true
cd "$copy"

export XDG_DATA_HOME="$copy/home" XDG_STATE_HOME="$copy/home"
export CCACHE_BASEDIR="$copy" CCACHE_NOHASHDIR=1
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache
fi
# As fast as a compiler can.
"$cmake" -S . --preset cpu -G Ninja -DLAB_TESTS=ON -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG=-O0 >configure.log 2>&1 || {
    cat configure.log
    exit 1
}

# Writes each block of a page to blocks/PAGE/NN.KIND; the first line of a "file"
# block is its path.
split() {
    mkdir -p "blocks/$1"
    awk -v dir="blocks/$1" '
    /^```/ && open { open = 0; close(out); next }
    /^```/ {
        kind = $0 ~ / file=/ ? "file" : $2 == "copy" ? "copy" : substr($1, 4)
        out = sprintf("%s/%02d.%s", dir, ++n, kind)
        open = 1
        if (kind == "file") { sub(/.* file=/, ""); print > out }
        next
    }
    open { print > out }' "docs/$1.md"
}

fail() {
    echo "$page.md: $1"
    exit 1
}

for page in $pages; do
    split "$page"
    for block in "blocks/$page"/*; do
        case $block in
        *.file)
            path=$(head -n 1 "$block")
            [ ! -e "$path" ] || fail "$path is in the tree already"
            mkdir -p "$(dirname "$path")"
            tail -n +2 "$block" >"$path"
            ;;
        *.diff) patch -p1 -s -F1 --no-backup-if-mismatch <"$block" ||
            fail "a diff does not apply: $(grep '^+++' "$block")" ;;
        *.copy) sh -eu "$block" || fail "its copies fail" ;;
        esac
    done
done
page='a page of docs'
find src kernels tests -newer configure.log -name '*.[ch]*' | while read -r path; do
    [ ! -e "$root/$path" ] || continue
    clang-format --dry-run -Werror "$path" || fail "$path is not formatted"
    case $path in
    *.cu) ! command -v nvcc >/dev/null ||
        nvcc -std=c++17 -Ikernels -Isrc/base/include -c "$path" -o nvcc.o ||
        fail "$path does not compile" ;;
    esac
done
python3 tests/check/error_ids.py . >ids.log || {
    cat ids.log
    echo "an error of a page has no id"
    exit 1
}
for page in $pages; do
    did=0
    for block in "blocks/$page"/*.sh; do
        [ -e "$block" ] || continue
        did=1
        sh -eux "$block" >out.log 2>&1 || {
            tail -n 40 out.log
            fail "its commands fail"
        }
    done
    [ "$did" = 1 ] || fail "no commands were run"
    echo "$page.md: followed"
done
