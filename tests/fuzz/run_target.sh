#!/bin/sh
# run_target.sh FUZZER SECONDS [KEPT] -- makes the seeds of a fuzz target, sees
# that the target understands them, and fuzzes.
#
# A seed is a file of corpus/NAME, or one that is made here of a lesson, a data
# file or a database that the program ($LAB_EXE) records. One whose name begins
# with "bad" may be refused. The input of a failure is left in crashes/NAME, in
# KEPT or here. With KEPT, inputs that reach new code are kept in KEPT/corpus/NAME,
# in the end the fewest that do.
set -eu
fuzzer=$1
seconds=$2
kept=${3:-}
name=${fuzzer##*/fuzz_}
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
memory=/tmp
[ ! -w /dev/shm ] || memory=/dev/shm
work=$(mktemp -d "$memory/fuzz-$name.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
seeds=$work/seeds
most=65536
mkdir "$seeds" "$work/new" "$work/tmp" "$work/crashes"
export TMPDIR="$work/tmp" OPENBLAS_NUM_THREADS=1
export UBSAN_OPTIONS="${UBSAN_OPTIONS-print_stacktrace=1}"
LSAN_OPTIONS=suppressions=$root/tests/lsan.supp:print_suppressions=0
export LSAN_OPTIONS

# add PREFIX FILE...: files as seeds.
add() {
    prefix=$1
    shift
    for file; do
        [ ! -f "$file" ] || cp "$file" "$seeds/$prefix${file##*/}"
    done
}

# put NAME HEAD: standard input as a seed, behind HEAD, which printf reads.
put() {
    # shellcheck disable=SC2059 # it is a format
    { printf "$2" && cat; } >"$seeds/$1"
}

need_sqlite() {
    command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3"; exit 77; }
}

data_seeds() {
    data=$root/lessons/data
    table='1,2,0\n3,-4,1\n5,6,2\n7,8e-1,1\n1,1,0\n2,2,1\n9,9,2\n0,0,0\n'
    # shellcheck disable=SC2059 # it is a format
    printf "$table" | put csv '\000\001'
    # shellcheck disable=SC2059
    printf "a,b,c\n$table" | put csv_header '\001\003'
    # shellcheck disable=SC2059
    printf "$table" | gzip -n | put csv_gz '\000\004'
    gzip -dc "$data/digits.csv.gz" | head -n 8 | put digits '\002\000'
    head -c 900 "$data/course.txt" | put text '\004\001'
    head -n 12 "$data/kingdom.txt" | put words '\005\001'
    head -n 12 "$data/kingdom.txt" | gzip -n | put skip_gram '\006\000'
    images='\000\000\010\003\000\000\000\002\000\000\000\002\000\000\000\002'
    labels='\000\000\010\001\000\000\000\002'
    # shellcheck disable=SC2059
    printf "\030\000${images}abcdefgh\012\000${labels}\001\002\030\000${images}ABCDEFGH\012\000${labels}\003\011" |
        put mnist '\003\000'
}

case $name in
lesson)
    add '' "$root"/tests/unit/lesson_whole.md "$root"/tests/golden/lessons/*.md
    add 'lesson-' "$root"/lessons/*.md
    sh "$root/tests/fault/bad_lessons.sh" "$work/bad"
    add 'bad-' "$work"/bad/*.md
    ;;
kept)
    # Two as the program writes them, and one of another program.
    for lesson in rnn-fibonacci optimizer-adam; do
        "$LAB_EXE" run $lesson --backend cpu --iterations 2 --db "$work/db" \
            --save "$seeds/$lesson" >/dev/null
    done
    printf '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  abcd' |
        put other '\070\000\000\000\000\000\000\000'
    ;;
walk)
    # Those that are small enough to be walked in a moment.
    add '' "$root"/tests/golden/lessons/*.md
    ;;
ptx | sim) most=16384 ;;
markdown)
    most=16384
    for file in "$root"/lessons/*.md; do
        awk 'n > 1 { print } /^---$/ { n++ }' "$file" |
            put "${file##*/}" 'P'
    done
    ;;
data)
    most=8192
    data_seeds
    ;;
database | rows)
    need_sqlite
    most=1048576
    "$here/databases.sh" "$work"
    export FUZZ_DATABASES="$work"
    [ "$name" = rows ] || add '' "$work"/*.db
    [ "$name" = database ] || most=145
    ;;
*) most=512 ;;
esac
add '' "$here/corpus/$name"/*

good=0
for file in "$seeds"/*; do
    case ${file##*/} in
    bad*) ;;
    *) good=$((good + 1)) ;;
    esac
done
[ "$good" -gt 0 ] || { echo "fuzz_$name has no seeds"; exit 1; }
FUZZ_ACCEPT=$good "$fuzzer" -runs=0 -max_len="$most" "$seeds" \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }

corpus=$work/new
if [ -n "$kept" ]; then
    corpus=$kept/corpus/$name
    mkdir -p "$corpus"
fi
seed=1 # 0: another one each time
[ -z "$kept" ] || seed=0
status=0
FUZZ_KEEP_INPUT=$work/crashes/last-input "$fuzzer" \
    -max_total_time="$seconds" -seed="$seed" -max_len="$most" -timeout=60 \
    -rss_limit_mb=4096 -error_exitcode=1 -print_final_stats=1 \
    -artifact_prefix="$work/crashes/" "$corpus" "$seeds" || status=$?
if [ "$status" -ne 0 ]; then
    to=${kept:-.}/crashes/$name
    mkdir -p "$to"
    cp "$work"/crashes/* "$to"
    echo "fuzz_$name failed; its input is in $(cd "$to" && pwd)"
elif [ -n "$kept" ]; then
    mkdir "$work/fewest"
    "$fuzzer" -merge=1 -max_len="$most" "$work/fewest" "$corpus" >"$work/log" \
        2>&1 || { cat "$work/log"; exit 1; }
    rm -rf "$corpus"
    cp -r "$work/fewest" "$corpus"
fi
exit "$status"
