# shellcheck shell=sh
# The lessons that ship: listed, correct, shown.
run lesson list --json
expect_exit 0
expect_no_stderr
expect_json 'len(of("lesson")) >= 6' \
    'len({r["id"] for r in rows}) == len(rows)' \
    'all(r["kind"] in ("lesson", "lab") for r in rows)' \
    'all(r["title"] and r["path"].startswith("/") for r in rows)' \
    'all(__import__("os").path.isfile(r["path"]) for r in rows)'
ids=$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$out")

run lesson list
expect_exit 0
for id in $ids; do
    expect_stdout "$id"
done
run lesson lint
expect_exit 0
for id in $ids; do
    run lesson show "$id"
    expect_exit 0
    expect_no_escape
    expect_stdout "$id"
done

inline_lesson small
run lesson lint small.md
expect_exit 0
run lesson show no-such-lesson
expect_exit 3
expect_stderr no-such-lesson
