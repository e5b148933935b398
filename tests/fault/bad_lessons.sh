#!/bin/sh
# bad_lessons.sh OUT -- makes the lessons that are refused in the folder OUT: those of
# bad_lessons/edits.txt, and the whole ones beside it, whose bytes are odd.
set -eu
from=$(dirname "$0")/bad_lessons
mkdir -p "$1"
cp "$from"/*.md "$1"
awk -v out="$1" '
function write(    file, i) {
    if (name == "")
        return
    file = out "/" name ".md"
    printf "%s", behind[0] >file
    for (i = 1; i <= lines; i++)
        printf "%s%s", (i in gone ? "" : (i in now ? now[i] : base[i]) "\n"), behind[i] >file
    close(file)
    split("", gone)
    split("", now)
    split("", behind)
}
/^== / { write(); name = substr($0, 4); next }
name == "" { if (!/^#/) base[++lines] = $0; next }
{
    at = substr($1, 2) + 0
    rest = index($0, " ") ? substr($0, index($0, " ") + 1) : ""
}
/^=/ { now[at] = rest }
/^-/ { gone[at] = 1 }
/^[+]/ { behind[at] = behind[at] rest "\n" }
END { write() }' "$from/edits.txt"
