# shellcheck shell=sh
# What `run` trained and --plain walked counts as progress, as on the screens.
inline_lesson small
progress=$XDG_STATE_HOME/lapenna-lab/progress.json

# entry EXPR: `e` is the entry of small; None: there is none.
entry() {
    "${LAB_PYTHON:-python3}" - "$progress" "$1" <<'END' ||
import json, os, sys
path, expr = sys.argv[1:]
e = None
if os.path.exists(path):
    e = json.load(open(path))["lessons"].get("small")
if not eval(expr):
    print("progress.json has", e)
    sys.exit(1)
END
        complain "not so: $1"
}
plain() {
    printf '%b' "$1" >words
    status=0
    command=" --plain small.md: $1"
    timeout 120 "$LAB_EXE" --plain small.md --backend cpu --db runs.db \
        <words >"$out" 2>"$err" || status=$?
    expect_exit 0
    expect_no_stderr
}

plain 'list steps\nquit\n'
entry 'e is None'
plain 'step 2\nquit\n'
entry 'e["steps_seen"] == 2 and not e["finished"]'
steps=$("${LAB_PYTHON:-python3}" -c 'import json, sys
print(json.load(open(sys.argv[1]))["lessons"]["small"]["steps_total"])' \
    "$progress")
plain 'step\nquit\n'
entry 'e["steps_seen"] == 2'
plain "step $((steps + 1))\nquit\n"
entry "e['steps_seen'] == $steps and e['finished']"
rm "$progress"
plain 'train 1\nquit\n'
entry 'e is None or not e["finished"]'
plain 'train\nquit\n'
entry 'e["finished"]'

# run: short of what the lesson asks for it is no more than a try.
rm "$progress"
exits 0 run small.md --backend cpu --db runs.db --iterations 1
entry 'e is None'
exits 0 run small.md --backend cpu --db runs.db
expect_no_stderr
entry 'e["finished"] and e["steps_seen"] == 0'
run step small.md --backend cpu --db runs.db
entry 'e["steps_seen"] == 0'

# A place that cannot be written is a warning, and no failure.
rm -r "$XDG_STATE_HOME/lapenna-lab"
: >"$XDG_STATE_HOME/lapenna-lab"
exits 0 run small.md --backend cpu --db runs.db
expect_stderr 'progress is not kept: '
