#!/bin/sh
# Every lesson that ships ends with what the profile shows and what to try next,
# and each lesson that it names there exists. A lab has a command that looks inside.
#
# usage: lesson_text.sh SOURCE_DIR
set -eu

cd "$1/lessons"
ids=$(for f in *.md; do
    id=${f%.md}
    echo "${id#[0-9]*-}"
done)
bad=0
complain() {
    echo "lesson_text: $*" >&2
    bad=1
}

# shellcheck disable=SC2016 # the backquotes are Markdown's
# What the text runs, and lessons that its end points to: *one-hot*, `one-hot`.
named() {
    tr '\n' ' ' <"$1" |
        grep -oE 'lapenna-lab (run|step|open) [a-z0-9]+(-[a-z0-9]+)*' |
        sed 's/.* //'
    sed '1,/^## Try next$/d' "$1" | tr '\n' ' ' |
        grep -oE '[*`][a-z0-9]+(-[a-z0-9]+)+[*`]' | tr -d '*`'
}

for f in *.md; do
    for heading in 'What the profile shows' 'Try next'; do
        grep -q "^## $heading\$" "$f" || complain "$f: no \"## $heading\""
    done
    case $f in
    *-lab-*)
        sed -n '/^## Look inside$/,/^## What the profile shows$/p' "$f" |
            grep -qE '^    lapenna-lab (sim|step|lab) ' ||
            complain "$f: no \"## Look inside\" with a command"
        ;;
    esac
    for name in $(named "$f"); do
        echo "$ids" | grep -qx "$name" ||
            complain "$f names $name, and there is no such lesson"
    done
done
exit $bad
