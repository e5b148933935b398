#!/bin/sh
# names.sh FILE -- no name with external linkage is defined twice in what the
# program is linked of: objects and static libraries, listed in FILE, one a
# line. The linker says nothing where one of the two lies in a library: it
# takes the first, be it another module's function for a table of ours.
set -eu
[ -s "$1" ] || { echo "$1 lists nothing"; exit 1; }
twice=$(xargs nm -g --defined-only <"$1" 2>/dev/null |
    awk 'NF == 3 && $2 ~ /^[TDBRC]$/ { print $3 }' | sort | uniq -d)
[ -z "$twice" ] && exit 0
for name in $twice; do
    echo "$name is defined more than once:"
    xargs nm -A -g --defined-only <"$1" 2>/dev/null |
        awk -v name="$name" '$NF == name { print "  " $0 }'
done
exit 1
