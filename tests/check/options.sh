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
# Each command of profile lists options of its own, all of them together those
# of `profile --help`, and has an example of itself.
: >"$work/own"
bad=0
for command in list show kernels timeline compare ceilings roofline baseline \
    export import merge delete; do
    "$LAB_EXE" profile --ascii $command --help >"$work/one.txt" || bad=1
    words <"$work/one.txt" >>"$work/own"
    for line in "Usage: lapenna-lab profile $command " \
        "  lapenna-lab profile $command "; do
        grep -q "^$line" "$work/one.txt" ||
            { echo "profile $command --help has no line '$line'"; bad=1; }
    done
done
"$LAB_EXE" profile --help | words >"$work/profile"
if ! sort -u "$work/own" | diff - "$work/profile"; then
    echo "options: those of profile's commands (<) and profile --help (>) differ"
    bad=1
fi
for wrong in 'delete sort' 'show limit' 'export json' 'list reverse'; do
    if "$LAB_EXE" profile "${wrong% *}" --help | grep -q -e "--${wrong#* }"; then
        echo "profile ${wrong% *} --help lists --${wrong#* }"
        bad=1
    fi
done
# The options of the page are the heads of its OPTIONS section.
sed -n '/^\.SH OPTIONS/,/^\.SH "EXIT/p' docs/lapenna-lab.1 |
    grep -A1 '^\.TP' | sed 's/\\-/-/g' | words >"$work/man"
sed -n '/local options=/,/--version/p' completions/lapenna-lab.bash |
    words >"$work/bash"
sed -n '/_arguments/,/&& return/p' completions/_lapenna-lab | words |
    grep -vx -e '--' >"$work/zsh"

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
# Of these an option has one, and every place names the same ones, in the same
# order: what is asked for, help, page, completions, and the stepper's word.
same_values() { # PLACE VALUES
    [ "$2" = "$said" ] ||
        { echo "--$option: '$said', and in $1 '$2'"; bad=1; }
}
for option in backend counters color trace; do
    said=$("$LAB_EXE" run "--$option" '' 2>&1 |
        sed -n "s/.*: use \(.*\)/\1/p" | sed 's/,//g; s/ or / /')
    [ -n "$said" ] || { echo "--$option '' is not refused"; bad=1; }
    same_values 'the page' "$(sed -n \
        "s/^\.BR \\\\-\\\\-$option \" \" //p" docs/lapenna-lab.1 |
        sed 's/ | / /g')"
    same_values bash "$(sed -n "s/^ *--$option) words='\(.*\)' ;;/\1/p" \
        completions/lapenna-lab.bash)"
    same_values zsh "$(sed -n "s/^ *'--$option=.*:(\(.*\))'.*/\1/p" \
        completions/_lapenna-lab)"
    for value in $said; do
        sed -n "/ --$option=/,/ --/p" "$work/help.txt" | grep -qw "$value" ||
            { echo "--help of --$option does not name $value"; bad=1; }
    done
done
same_values 'the stepper' "$(printf 'help trace\n' |
    "$LAB_EXE" --plain activations --backend cpu --db "$work/runs.db" |
    sed -n 's/^ *trace \[\(.*\)\]$/\1/p' | sed 's/ | / /g')"
for command in $commands; do
    for file in "$work/help.txt" docs/lapenna-lab.1 \
        completions/lapenna-lab.bash completions/_lapenna-lab; do
        grep -qw -e "$command" "$file" ||
            { echo "${file##*/} does not name the command $command"; bad=1; }
    done
done
exit "$bad"
