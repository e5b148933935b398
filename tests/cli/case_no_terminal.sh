# shellcheck shell=sh
# Without a terminal the bare program walks its default lesson as text, trains
# it, records the run, and states where to look.
LC_ALL=C
export LC_ALL
run
expect_exit 0
expect_no_escape
expect_ascii
expect_file "$XDG_STATE_HOME/lapenna-lab/profiles.db"
for word in forward loss backward update profile; do
    expect_stdout "$word"
done
run profile list --json
expect_json 'len(of("run")) == 1'

# TERM is of no use, and it is the same.
TERM=no-such-terminal
export TERM
inline_lesson small
exits 0 --plain small.md
expect_no_escape
expect_stdout fc1.matmul
