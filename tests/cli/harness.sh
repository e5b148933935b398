#!/bin/sh
# harness.sh -- the harness itself: each expectation complains when it should.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$here"/lib.sh "$here"/inline.md "$here"/run_cli.sh "$here"/json_lines.py "$work"
cat >"$work/program" <<'END'
#!/bin/sh
printf "$1"
printf "${2:-}" >&2
exit "${3:-0}"
END
chmod +x "$work/program"
fails=0

# holds|fails CASE-TEXT
holds() {
    printf '%s\n' "$1" >"$work/case_one.sh"
    LAB_EXE=$work/program "$work/run_cli.sh" one >"$work/log" 2>&1 && return
    echo "should hold: $1"
    cat "$work/log"
    fails=$((fails + 1))
}
complains() {
    printf '%s\n' "$1" >"$work/case_one.sh"
    if LAB_EXE=$work/program "$work/run_cli.sh" one >"$work/log" 2>&1 ||
        ! grep -q '^FAILED' "$work/log"; then
        echo "should complain: $1"
        cat "$work/log"
        fails=$((fails + 1))
    fi
}

holds 'run hello word 3; expect_exit 3; expect_stdout hello; expect_stderr wor'
complains 'run hello word 3; expect_exit 0'
complains 'run hello; expect_stdout hullo'
complains 'run hello; expect_stderr hello'
complains 'run hello; expect_no_stdout'
complains 'run hello word; expect_no_stderr'
holds 'run hello "" 0; expect_no_stderr; expect_ascii; expect_no_escape'
complains 'run "\\303\\251"; expect_ascii'
complains 'run "\\033[1m"; expect_no_escape'
complains 'run hello; expect_file nothing'
holds 'run "{\"type\":\"a\",\"x\":1,\"format\":1}\\n"; expect_json "one(\"a\")[\"x\"] == 1"'
complains 'run "{\"type\":\"a\",\"x\":1,\"format\":1}\\n"; expect_json "one(\"a\")[\"x\"] == 2"'
complains 'run "{\"type\":\"a\",\"x\":NaN,\"format\":1}\\n"; expect_json'
complains 'run "{\"type\":\"a\"}\\n"; expect_json'
complains 'run "{\"type\":\"a\",\"format\":1}"; expect_json'
complains 'run "{\"kind\":\"a\",\"format\":1}\\n"; expect_json'
complains 'run "{\"type\":\"a\",\"format\":1}\\ntext\\n"; expect_json'
complains 'run "{\"type\":\"a\",\"format\":1}\\n"; expect_json "no_such_name"'
holds 'inline_lesson one; expect_file one.md'

# A golden file with another text, another mark or another exit code is not what
# was printed, and an update makes it so.
export LAB_EXE="${LAB_EXE:?}" LAB_GOLDEN_UPDATE=
mkdir "$work/golden"
golden() {
    printf '$ echo a; echo b >&2; exit 3\n%s\n' "$1" >"$work/golden/one.txt"
    "${LAB_PYTHON:-python3}" "$here/golden.py" "$work/golden/one.txt" "$work" \
        >"$work/log"
}
printed='  a
! b
[3]'
golden "$printed" || { cat "$work/log"; fails=$((fails + 1)); }
for wrong in 's/  a/  c/' 's/! b/  b/' 's/3/4/' 's/^.*b$//' 's/$/x/'; do
    if golden "$(echo "$printed" | sed "$wrong")"; then
        echo "not noticed: $wrong"
        fails=$((fails + 1))
    fi
done
LAB_GOLDEN_UPDATE=1
golden "$(echo "$printed" | sed 's/a/c/')"
LAB_GOLDEN_UPDATE=
sed 1d "$work/golden/one.txt" >"$work/log"
[ "$(cat "$work/log")" = "$printed" ] || fails=$((fails + 1))
[ "$fails" -eq 0 ]
