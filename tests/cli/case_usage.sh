# shellcheck shell=sh
# Wrong usage is exit 2 with a word on stderr and nothing on stdout.
for option in --help --version -h help; do
    run "$option"
    expect_exit 0
    expect_stdout lapenna-lab
    expect_no_stderr
    expect_no_escape
done

# help, -h and --help say the same of every command.
for words in lesson step run lab profile doctor 'profile show' 'lab offsets'; do
    # shellcheck disable=SC2086 # words
    run $words --help
    expect_exit 0
    cp "$out" "$work/its-help"
    # shellcheck disable=SC2086 # words
    for ask in "$words -h" "help $words" "${words%% *} help ${words#* }"; do
        [ "$ask" != "$words help $words" ] || ask="$words help"
        # shellcheck disable=SC2086 # words
        run $ask
        expect_exit 0
        expect_no_stderr
        cmp -s "$work/its-help" "$out" ||
            complain "another text than '$words --help'"
    done
done
# Every message begins with the command, as it has to be typed.
for call in lapenna-lab ./lab; do
    LAPENNA_LAB_COMMAND=$call
    export LAPENNA_LAB_COMMAND
    while read -r before words; do
        # shellcheck disable=SC2086 # words
        run $words
        begin="$call $(echo "$before" | tr . ' ')"
        [ "$before" != - ] || begin=$call
        head -n 1 "$err" | grep -qF -e "$begin: " ||
            complain "the message does not begin with '$begin: '"
    done <<'END'
- no-such-word
- --no-such-option
help help no-such-word
run run
run run --no-such-option
run run no-such-lesson
step step
lab lab no-such-lab
lesson lesson no-such-word
lesson lesson show no-such-lesson
profile profile no-such-word
profile.show profile show 1
profile.compare profile compare 1
profile.export profile export 1 --format nothing
END
done
unset LAPENNA_LAB_COMMAND

wrong() {
    run "$@"
    expect_exit 2
    expect_no_stdout
    [ -s "$err" ] || complain "no word about it"
}
inline_lesson small
wrong --no-such-option
wrong step
wrong run
wrong lesson
wrong lesson no-such-word
wrong profile
wrong profile no-such-word
wrong profile show
wrong step small.md small.md
wrong step small.md --backend abacus
wrong step small.md --precision fp31
wrong step small.md --counters many
wrong step small.md --data no-such-file
wrong step small.md --color sometimes
wrong step small.md --batch
wrong step small.md --batch 0
wrong step small.md --batch -3
wrong step small.md --batch 4x
wrong step small.md --batch 99999999999999999999
wrong run small.md --iterations 0
wrong run small.md --epochs 1.5
wrong step small.md --seed seven
wrong step small.md --device -1
# The same words for the same option, whichever command reads it.
for words in 'step small.md' 'lab gemm' 'lab gflops' 'lab calls' \
    'profile ceilings'; do
    for device in -1 1024 4294967296 x 1x; do
        # shellcheck disable=SC2086 # words
        wrong $words --device "$device"
        expect_stderr "--device '$device': a whole number from 0 to 1023"
    done
done
for words in 'step small.md' 'lab gemm' 'lab gflops' 'profile ceilings'; do
    # shellcheck disable=SC2086 # words
    wrong $words --backend abacus
    expect_stderr "--backend 'abacus': use auto, cpu or cuda"
done
for words in 'step small.md' 'lab gemm'; do
    for seed in -1 18446744073709551616 ''; do
        # shellcheck disable=SC2086 # words
        wrong $words --seed "$seed"
        expect_stderr "--seed '$seed': a whole number from 0"
    done
done
# A set is a word alone: what is refused stands apart from the message.
for words in 'run small.md' 'step small.md' 'lab gemm'; do
    for set in basic: full:nosuch :dense basic:dense:0 off:; do
        # shellcheck disable=SC2086 # words
        wrong $words --counters "$set"
        expect_stderr "--counters '$set': nothing follows a set: use off, basic"
        expect_stderr 'in the stepper, counts one'
    done
    for set in many ''; do
        # shellcheck disable=SC2086 # words
        wrong $words --counters "$set"
        expect_stderr "--counters '$set': use off, basic or full"
    done
done
wrong step small.md --variant naive
wrong step small.md --variant =naive
# What may have been meant is a sentence of its own.
for words in 'help rum' 'lesson lisr' 'profile shwo' 'profile show --recorded --sort nme 1'; do
    # shellcheck disable=SC2086 # words
    wrong $words
    expect_stderr 'did you mean '
    ! grep -qF '?;' "$err" || complain 'a semicolon behind the question'
done
