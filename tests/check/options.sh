#!/bin/sh
# options.sh BUILD -- every option of a --help is in the manual page and in both
# completions, which are made of the same table; --help and the stepper name the
# values that are taken, and all pages every command. LAB_EXE is the program.
set -eu
man=$1/share/man/man1/lapenna-lab.1
bash=$1/share/bash-completion/completions/lapenna-lab
zsh=$1/share/zsh/site-functions/_lapenna-lab
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commands='lesson step run lab sim profile table course config doctor'
profile='list show kernels timeline compare ceilings roofline baseline export
import merge delete vacuum'
bad=0

words() {
    grep -oE -e '--[a-z][a-z-]*' | sort -u
}

"$LAB_EXE" --help >"$work/help.txt"
for command in $commands 'lab gflops' 'lab calls' 'lab offsets' \
    'lab layers' 'lab inference' \
    activations; do
    # shellcheck disable=SC2086 # two words
    "$LAB_EXE" $command --help >>"$work/help.txt" ||
        { echo "$command --help: exit $?"; exit 1; }
done
# Each command of profile has options of its own, and an example of itself.
for command in $profile; do
    "$LAB_EXE" profile --ascii "$command" --help >"$work/one.txt" || bad=1
    cat "$work/one.txt" >>"$work/help.txt"
    for line in "Usage: lapenna-lab profile $command " \
        "  lapenna-lab profile $command"; do
        grep -q "^$line" "$work/one.txt" ||
            { echo "profile $command --help has no line '$line'"; bad=1; }
    done
done
for wrong in 'delete sort' 'show limit' 'export json' 'list reverse'; do
    if "$LAB_EXE" profile "${wrong% *}" --help | grep -q -e "--${wrong#* }"; then
        echo "profile ${wrong% *} --help lists --${wrong#* }"
        bad=1
    fi
done

words <"$work/help.txt" >"$work/help"
[ "$(wc -l <"$work/help")" -gt 50 ] || { echo "--help names no options"; bad=1; }
# The options of the page are the heads of its OPTIONS section.
sed -n '/^\.SH OPTIONS/,/^\.SH "EXIT/p' "$man" |
    grep -A1 '^\.TP' | sed 's/\\-/-/g' | words >"$work/man"
sed -n '/^_lapenna_lab_table/,/esac/p' "$bash" | words >"$work/bash"
sed -n '/_arguments/,/&& return/p' "$zsh" | grep -oE "^ *'[^[]*\[" | words \
    >"$work/zsh"
for place in man bash zsh; do
    if ! diff "$work/help" "$work/$place" >"$work/diff"; then
        echo "options: --help (<) and $place (>) differ:"
        grep '^[<>]' "$work/diff"
        bad=1
    fi
done
# What is taken is what --help names, and what the stepper's word takes.
for option in backend counters color trace; do
    values=$("$LAB_EXE" run "--$option" '' 2>&1 |
        sed -n "s/.*: use \(.*\)/\1/p" | sed 's/,//g; s/ or / /')
    [ -n "$values" ] || { echo "--$option '' is not refused"; bad=1; }
    for value in $values; do
        sed -n "/ --$option=/,/ --/p" "$work/help.txt" | grep -qw "$value" ||
            { echo "--help of --$option does not name $value"; bad=1; }
    done
done
stepper=$(printf 'help trace\n' |
    "$LAB_EXE" --plain activations --backend cpu --db "$work/runs.db" |
    sed -n 's/^ *trace \[\(.*\)\]$/\1/p' | sed 's/ | / /g')
[ "$stepper" = "$values" ] ||
    { echo "--trace: '$values', and in the stepper '$stepper'"; bad=1; }
for command in $commands $profile; do
    for file in "$work/help.txt" "$man" "$bash" "$zsh"; do
        grep -qw -e "$command" "$file" ||
            { echo "${file##*/} does not name the command $command"; bad=1; }
    done
done
exit "$bad"
