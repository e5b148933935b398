# shellcheck shell=sh
# Databases that cannot be used: exit 3, a word, and nothing changed.
inline_lesson small

head -c 8192 /dev/urandom >corrupt.db
cp corrupt.db before.db
for how in 'profile list' 'run small.md --iterations 1'; do
    # shellcheck disable=SC2086 # how is words
    exits 3 $how --db corrupt.db
    expect_stderr corrupt.db
done
cmp -s corrupt.db before.db || complain "the corrupt file was changed"

exits 3 profile list --db "$work/no/such/directory/x.db"
exits 3 run small.md --iterations 1 --db "$work"

if command -v sqlite3 >/dev/null; then
    exits 0 run small.md --iterations 1 --db newer.db
    sqlite3 newer.db 'PRAGMA journal_mode=DELETE; PRAGMA user_version=9999;' \
        >/dev/null
    cp newer.db before.db
    exits 3 run small.md --iterations 1 --db newer.db
    expect_stderr 9999
    cmp -s newer.db before.db || complain "the newer database was changed"
fi
