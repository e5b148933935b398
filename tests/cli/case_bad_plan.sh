# shellcheck shell=sh
# A lesson that can be read and makes no network: exit 3, and the place, the
# node and the shapes on standard error, as wording.txt has them; and its id
# where errors are JSON.
lessons=$LAB_SOURCE_DIR/tests/fault/bad_lessons
tried=0
sh "$lessons.sh" bad
for name in bad/plan-*.md; do
    name=$(basename "$name")
    cp "bad/$name" "$name"
    exits 3 step --backend cpu "$name"
    expect_no_stdout
    expect_stderr "$(grep "^$name:" "$lessons/wording.txt")"
    tried=$((tried + 1))
done
[ "$tried" -ge 20 ] || complain "only $tried lessons were tried"
export LAPENNA_LAB_ERRORS=json
exits 3 step --backend cpu "$name"
expect_error "$(sed -n "s/^$name:[0-9:]* //p" "$lessons/ids.txt")"
