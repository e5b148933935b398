# shellcheck shell=sh
# Memory that ends while the command line is read: a message and exit code 4,
# whichever allocation it is. No locale: it would take most of them.
shim=$LAB_BINARY_DIR/lib/fail_calls.so
[ -e "$shim" ] || exit 77
inline_lesson small
run run small.md --backend cpu --iterations 3 --db runs.db
export LC_ALL=C OPENBLAS_NUM_THREADS=1
for words in 'lesson lint small.md' 'lab --list' 'profile list --db runs.db' \
    'step small.md'; do
    reported=0
    for n in $(seq 1 40); do
        command=" $words (no memory from allocation $n on)"
        rm -f hit
        status=0
        # shellcheck disable=SC2086 # words
        LAB_FAULT=alloc:$n+ LAB_FAULT_REPORT=hit LD_PRELOAD=$shim \
            "$LAB_EXE" $words >"$out" 2>"$err" </dev/null || status=$?
        [ -e hit ] || break
        expect_exit 4
        [ -s "$err" ] || complain 'no message'
        if grep -q 'memory while reading the command line' "$err"; then
            reported=$((reported + 1))
        fi
    done
    [ "$reported" -gt 3 ] || complain 'argp was never without memory'
done

# Readers go on where the disk takes nothing any more: SQLite cannot make the
# index of the log. A limit on the size of files plays the disk.
trap '' XFSZ
for words in 'list' 'show 1' 'compare 1 1' 'timeline 1' \
    'export 1 --format csv --output -'; do
    command=" profile $words (no room on the disk)"
    status=0
    # shellcheck disable=SC2086 # words
    (ulimit -f 0 && exec "$LAB_EXE" profile $words --db runs.db 2>&1) \
        </dev/null | cat >"$out"
    : >"$err"
    # shellcheck disable=SC2086 # words
    "$LAB_EXE" profile $words --db runs.db >whole 2>&1 </dev/null
    cmp -s whole "$out" || complain 'the full disk changes what is read'
done
