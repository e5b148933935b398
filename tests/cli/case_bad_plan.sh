# shellcheck shell=sh
# A lesson that can be read and makes no network: exit 3, and the place, the
# node and the shapes on standard error, as its .expect file has them.
tried=0
for bad in "$LAB_SOURCE_DIR"/tests/fault/bad_lessons/plan-*.md; do
    name=$(basename "$bad" .md)
    cp "$bad" "$name.md"
    run step --backend cpu "$name.md"
    expect_exit 3
    expect_no_stdout
    expect_stderr "$(cat "${bad%.md}.expect")"
    tried=$((tried + 1))
done
[ "$tried" -ge 20 ] || complain "only $tried lessons were tried"
