# shellcheck shell=sh
# What the first word may be, and the message where there is no terminal.
inline_lesson small
for lesson in small.md mlp-digits; do
    exits 4 "$lesson"
    expect_no_stdout
    expect_stderr 'use --plain'
    expect_stderr "lapenna-lab step $lesson"
    [ "$(wc -l <"$err")" -eq 1 ] || complain "more than a line"
done
exits 3 mlp-digit
expect_stderr 'the lesson mlp-digits'
exits 3 profil list
expect_stderr 'the command profile'
exits 3 --plain doctr
expect_stderr 'the command doctor'
exits 2 --db c.db run small.md
expect_stderr 'options come behind the command: lapenna-lab run'
exits 3 xyzzyxyzzy
expect_stderr 'lesson list'
exits 3 ./nothing.md
expect_stderr nothing.md
for words in --json '--json mlp-digits' '--plain --json' 'small.md small.md'; do
    # shellcheck disable=SC2086 # words
    exits 2 $words
    expect_no_stdout
    [ -s "$err" ] || complain "no word about it"
done
