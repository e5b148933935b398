#!/bin/sh
# symbols.sh ARCHIVE|OBJECT|DIRECTORY... -- nothing global is defined twice in what the
# program is linked from: archives, objects, directories with objects. The linker
# itself is silent where the one in an archive is then not taken, and a table
# that is a function somewhere else is called, or a function read.
set -eu
command -v nm >/dev/null || exit 77
for from in "$@"; do
    if [ -d "$from" ]; then
        find "$from" -name '*.o' | sort
    else
        printf '%s\n' "$from"
    fi
done | xargs nm -A -g --defined-only 2>/dev/null | awk '
NF >= 3 {
    type = $(NF - 1); name = $NF
    if (type ~ /^[WVwvu]$/)
        next
    where = $1
    sub(/:[0-9a-fA-F]*$/, "", where)
    symbols++
    if (++count[name] == 2)
        twice[++n] = name
    seen[name] = seen[name] (count[name] > 1 ? " and " : "") where
}
END {
    if (symbols == 0) { print "no symbol was found"; exit 1 }
    for (i = 1; i <= n; i++)
        print twice[i] ": defined in " seen[twice[i]]
    printf "%d symbols, %d of them twice\n", symbols, n
    exit n > 0
}'
