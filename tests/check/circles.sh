#!/bin/sh
# circles.sh ROOT BUILD -- folders of src use each other in one direction only.
#
# What a folder defines and uses is read from its object files; a row of a table
# of functions counts as a call. One exception: op_table.c names every op, and
# calls none. Prints each circle and who uses what in it, the least first; exit 1
# when there is one.
set -eu
root=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$build"
find src -name '*.c.o' -exec nm -A {} + | awk -v root="$root" '
{
    source = $1
    sub(/:.*/, "", source)
    sub(/\/CMakeFiles\/[^\/]*\.dir/, "", source)
    sub(/\.o$/, "", source)
    if (!(source in there)) { # generated, or of a file that is gone
        there[source] = (getline line < (root "/" source)) >= 0
        close(root "/" source)
    }
    if (!there[source] || source == "src/engine/plan/op_table.c") next
    folder = source
    sub(/\/[^\/]*$/, "", folder)
    if ($(NF - 1) == "U") { from[++n] = folder; name[n] = $NF; user[n] = source }
    else if ($(NF - 1) ~ /^[A-Z]$/) { owner[$NF] = folder; file[$NF] = source }
}
END {
    for (i = 1; i <= n; i++)
        if (name[i] in owner && owner[name[i]] != from[i])
            print from[i], owner[name[i]], user[i] ": " name[i] " of " \
                file[name[i]]
}' >"$work/uses"

[ -s "$work/uses" ] || { echo "no object was found in $build/src"; exit 1; }
cut -d' ' -f1,2 "$work/uses" | sort -u >"$work/pairs"
tsort "$work/pairs" >/dev/null 2>"$work/circles" && exit 0
sed 's/^tsort: .*loop:/circle:/; s/^tsort: /  /' "$work/circles"
awk 'NR == FNR { circle[$2] = 1; next }
    ($1 in circle) && ($2 in circle) {
        count[$1 " -> " $2]++
        one[$1 " -> " $2] = $3 " " $4 " " $5 " " $6
    }
    END { for (p in count) print count[p], p ", as " one[p] }' \
    "$work/circles" "$work/uses" | sort -n
exit 1
