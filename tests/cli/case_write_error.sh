# shellcheck shell=sh
# Output that cannot be written is reported, once, with exit code 3.
if [ ! -w /dev/full ]; then
    echo "no /dev/full here"
    exit 77
fi
inline_lesson small
for words in '--version' '--help' 'lesson list' 'lesson list --json' \
    'lesson --help' 'lesson show gpt' 'run --help' 'run small.md' \
    'run small.md --json' 'step small.md' 'step small.md --json' \
    'profile list' 'profile list --json' 'profile list --help' \
    'profile --help' 'lab --help' 'doctor' 'doctor --help'; do
    command=" $words >/dev/full"
    status=0
    # shellcheck disable=SC2086 # words
    "$LAB_EXE" $words </dev/null >/dev/full 2>"$err" || status=$?
    : >"$out"
    expect_exit 3
    [ "$(grep -c 'write' "$err")" = 1 ] || complain "does not state it once"
done

# What is recorded in the usual place is for its owner alone; a file that was
# named is like any other.
rm -rf "$XDG_STATE_HOME"
(umask 022 && exec "$LAB_EXE" run small.md --iterations 3 --backend cpu) \
    >"$out" 2>"$err" </dev/null
place=$XDG_STATE_HOME/lapenna-lab
command=' run (rights of the database)'
[ "$(stat -c %a "$place")" = 700 ] || complain "the directory is open to others"
[ "$(stat -c %a "$place/profiles.db")" = 600 ] ||
    complain "the database is open to others"
(umask 022 && exec "$LAB_EXE" run small.md --iterations 3 --backend cpu \
    --db new/shared.db) >"$out" 2>"$err" </dev/null
[ "$(stat -c %a new/shared.db)" = 644 ] || complain "a named file is closed"
