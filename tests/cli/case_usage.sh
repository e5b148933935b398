# shellcheck shell=sh
# Wrong usage is exit 2 with a word on stderr and nothing on stdout.
for option in --help --version -h help; do
    exits 0 "$option"
    expect_stdout lapenna-lab
    expect_no_stderr
    expect_no_escape
done

# help, -h and --help say the same of every command.
for words in lesson step run lab sim profile table course doctor 'profile show' 'lab offsets'; do
    # shellcheck disable=SC2086 # words
    exits 0 $words --help
    cp "$out" "$work/its-help"
    # shellcheck disable=SC2086 # words
    for ask in "$words -h" "help $words" "${words%% *} help ${words#* }"; do
        [ "$ask" != "$words help $words" ] || ask="$words help"
        # shellcheck disable=SC2086 # words
        exits 0 $ask
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

# The common options are common: a command that has lines of text alone takes
# --plain, --color and --ascii too, and prints the same.
cp "$LAB_CLI_DIR/golden/files/scale.ptx" common.ptx
for words in 'lab --list' 'table formats' 'course C01' config \
    "sim common.ptx --kernel scale<float> --grid 1 --block 32 --arg inout:float[32]=iota --arg float:2 --arg int:32" 'lab offsets'; do
    # shellcheck disable=SC2086 # words
    run $words
    code=$status
    cat "$out" "$err" >before
    # shellcheck disable=SC2086 # words
    exits "$code" $words --plain --color never
    [ "$code" != 2 ] || complain "$words is wrong usage"
    cat "$out" "$err" | cmp -s before - ||
        complain "--plain and --color change what $words prints"
    # shellcheck disable=SC2086 # words
    exits "$code" $words --ascii
    expect_ascii
done

# The ids of errors, one of each way that a command refuses its words.
export LAPENNA_LAB_ERRORS=json
run run mlp-digits --lr x
expect_error option.rate
run run mlp-digits --lr
expect_error option.value-missing
run run --no-such
expect_error option.unknown
[ "$(wc -l <"$err")" -eq 1 ] || complain "more than the line of JSON"
run no-such
expect_error usage.first-word
run run mlp-digits --epochs 99999999999999999999
expect_error option.number-range
run run mlp-digits --batch 999999999 --backend cpu
expect_error data.batch
expect_stderr '20-mlp-digits.md: batch'
run step
expect_error usage.step-lesson
run step mlp-digits --backend cpu --into fc1
expect_exit 2
expect_error usage.step-into
expect_stderr 'take one of fc1.matmul, fc1.bias, fc1.W, fc1.b"'
run step mlp-digits --backend cpu --into 'fc1 backward'
expect_error usage.step-into
expect_stderr 'take one of fc1.bias, fc1.matmul"'
run step mlp-digits --backend cpu --into zz
expect_error debugger.name
# shellcheck disable=SC2016 # the backquotes are the text's
expect_stderr '`lapenna-lab step mlp-digits` shows them'
run step mlp-digits --backend cpu --data /nonexistent
expect_error file.open
expect_stderr 'without --data the data that the lesson names are read'
run profile export --recorded last --format xml --output -
expect_error usage.word
expect_stderr 'there are csv, jsonl, trace, html, nsys'
run lesson
expect_error usage.lesson-command
run profile export 1 --json
expect_error option.foreign
# What --help of a command does not list it does not take: no option is passed over.
known() {
    grep -oE -e '^ +(-., )*--[a-z][a-z-]*(=.)?' | sed 's/.*--/--/' | sort -u
}
for of in mlp-digits step run doctor; do
    run "$of" --help
    known <"$out" >"its-options-$of"
done
sort -u its-options-* >all-options
[ "$(wc -l <all-options)" -gt 40 ] || complain "--help lists few options"
refused=0
for of in mlp-digits step run doctor; do
    for option in $(comm -23 all-options "its-options-$of"); do
        case $option in
        --plain | --color=* | --version) continue ;; # every command takes them
        *=*) option=${option%=*}=1 ;;
        esac
        run "$of" "$option"
        expect_exit 2
        grep -qE '"id":"(option.foreign|option.trains|usage.of-run|usage.json)"' "$err" ||
            complain "$of passes over $option: $(cat "$err")"
        refused=$((refused + 1))
    done
done
[ "$refused" -gt 70 ] || complain "$refused options were tried"
run run mlp-digits --picture a.png
expect_error option.foreign
expect_stderr 'it belongs to the screens'
run doctor --seed 3
expect_stderr 'it belongs to step, run, the screens, lab and sim'
# Without the option that it belongs to, or with one that excludes it.
for words in 'run mlp-digits --top-k 3' 'run mlp-digits --force' \
    'step mlp-digits --tensors loss' 'step mlp-digits --npy a --json' \
    'step mlp-digits --npy a --into fc1.bias' 'run mlp-digits --tune --no-tune' \
    'run mlp-digits --graph-nodes --no-graph' '--plain --theme light mlp-digits'; do
    # shellcheck disable=SC2086 # words of a command line
    run $words
    expect_exit 2
    expect_error option.together
done
run run mlp-digits --iterations 1 --epochs 1
expect_error option.together
run profile show 7 --db none.db
expect_error profile.database
run lesson show no-such-lesson
expect_error lesson.missing
# One that is raised again after a clean-up keeps its id.
sql foreign.db 'CREATE TABLE a (b)'
run lab saxpy --backend cpu --sizes 100 --db foreign.db
expect_error db.foreign
run run mlp-digits --iterations 1 --backend cpu --db foreign.db
expect_error db.foreign
unset LAPENNA_LAB_ERRORS

# The examples of docs/errors.md: a command, then what it prints.
inline_lesson ok
run run ok.md --iterations 1 --db lab.db --backend cpu
sed 's/units: 3/untis: 3/' ok.md >bad.md
sed -n 's/^    //; /^\$ /,/^{/p' "$LAB_CLI_DIR/../../docs/errors.md" >examples
[ "$(grep -c '^\$ ' examples)" -ge 4 ] || complain "examples are not found"
while read -r dollar words && read -r want; do
    printf '%s\n' "$want" | sed 's/[][\\.*^$]/\\&/g; s/\\\.\\\.\\\./.*/g; s/.*/^&$/' >pattern
    words=$(echo "$words" | sed 's/lapenna-lab/run/')
    eval "${words}"
    cat "$out" "$err" | head -n 1 | grep -q -f pattern ||
        complain "$dollar $words does not print as docs/errors.md has it"
done <examples
