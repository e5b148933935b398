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
for words in lesson step run lab sim profile table course doctor 'profile show' 'lab offsets'; do
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
sim sim
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

# The ids of errors, one of each way that a command refuses its words.
export LAPENNA_LAB_ERRORS=json
run run mlp-digits --lr x
expect_error option.rate
run lesson
expect_error usage.lesson-command
run profile export 1 --json
expect_error option.foreign
run run mlp-digits --iterations 1 --epochs 1
expect_error option.together
run profile show 7 --db none.db
expect_error profile.database
run lesson show no-such-lesson
expect_error lesson.missing
unset LAPENNA_LAB_ERRORS
