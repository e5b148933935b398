#!/bin/sh
# options.sh ROOT -- the options and commands of --help, of the manual page and
# of both completions are the same. LAB_EXE is the program.
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commands='lesson step run lab profile doctor'

words() {
    grep -oE -e '--[a-z][a-z-]*' | sort -u
}

"$LAB_EXE" --help >"$work/help.txt"
for command in $commands; do
    "$LAB_EXE" "$command" --help >>"$work/help.txt" ||
        { echo "$command --help: exit $?"; exit 1; }
done
words <"$work/help.txt" >"$work/help"
# The options of the page are the heads of its OPTIONS section.
sed -n '/^\.SH OPTIONS/,/^\.SH "EXIT/p' docs/lapenna-lab.1 |
    grep -A1 '^\.TP' | sed 's/\\-/-/g' | words >"$work/man"
sed -n '/local options=/,/--version/p' completions/lapenna-lab.bash |
    words >"$work/bash"
sed -n '/_arguments/,/&& return/p' completions/_lapenna-lab | words |
    grep -vx -e '--' >"$work/zsh"

bad=0
[ -s "$work/help" ] || { echo "--help names no option"; bad=1; }
for place in man bash zsh; do
    if ! diff "$work/help" "$work/$place" >"$work/diff"; then
        echo "options: --help (<) and $place (>) differ:"
        grep '^[<>]' "$work/diff"
        bad=1
    fi
done
# What bash takes a value for is what zsh takes a value for.
sed -n "s/^ *'\*\{0,1\}\(--[a-z-]*\)=.*/\1/p" completions/_lapenna-lab | sort \
    >"$work/zsh-takes"
sed -n '/local takes=/,/)/p' completions/lapenna-lab.bash | words \
    >"$work/bash-takes"
if ! diff "$work/bash-takes" "$work/zsh-takes"; then
    echo "options with a value: bash (<) and zsh (>) differ"
    bad=1
fi
for command in $commands; do
    for file in "$work/help.txt" docs/lapenna-lab.1 \
        completions/lapenna-lab.bash completions/_lapenna-lab; do
        grep -qw -e "$command" "$file" ||
            { echo "${file##*/} does not name the command $command"; bad=1; }
    done
done
exit "$bad"
