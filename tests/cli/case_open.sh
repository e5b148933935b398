# shellcheck shell=sh
# What the first word may be, and what is said where there is no terminal.
inline_lesson small
for lesson in small.md mlp-digits; do
    run "$lesson"
    expect_exit 4
    expect_no_stdout
    expect_stderr 'use --plain'
    expect_stderr "lapenna-lab step $lesson"
    [ "$(wc -l <"$err")" -eq 1 ] || complain "more than a line"
done
run mlp-digit
expect_exit 3
expect_stderr 'the lesson mlp-digits'
run profil list
expect_exit 3
expect_stderr 'the command profile'
run --plain doctr
expect_exit 3
expect_stderr 'the command doctor'
run --db c.db run small.md
expect_exit 2
expect_stderr 'options come behind the command: lapenna-lab run'
run xyzzyxyzzy
expect_exit 3
expect_stderr 'lesson list'
run ./nothing.md
expect_exit 3
expect_stderr nothing.md
for words in --json '--json mlp-digits' '--plain --json' 'small.md small.md'; do
    # shellcheck disable=SC2086 # words
    run $words
    expect_exit 2
    expect_no_stdout
    [ -s "$err" ] || complain "no word about it"
done
