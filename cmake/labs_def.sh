#!/bin/sh
# labs_def.sh OUT FILE...: the list of operations, LAB_OPERATION(name) one a line.
#
# The files are kernels/*/operation.c and lessons. Each `const struct lab_operation
# lab_operation_<name>` is listed, in the order of the first lesson that has it as its
# lab; those of no lesson come last, by name. OUT is written when the list changes.
set -eu
out=$1
shift
awk '
/^order: / { order[FILENAME] = $2 }
/^lab: / { lab[FILENAME] = $2 }
FNR == 1 && FILENAME ~ /\.c$/ { empty[FILENAME] }
/^const struct lab_operation lab_operation_[a-z0-9_]+ = / {
    sub(/^lab_operation_/, "", $4)
    names[$4]
    delete empty[FILENAME]
}
END {
    for (f in empty) {
        print "labs_def.sh: " f " defines no operation" >"/dev/stderr"
        exit 1
    }
    for (f in lab)
        if (!(lab[f] in place) || order[f] < place[lab[f]])
            place[lab[f]] = order[f] + 0
    for (name in names)
        print (name in place) ? place[name] : 999999999, name
}' "$@" >"$out.new"
sort -k 1,1n -k 2 "$out.new" | sed 's/^.* \(.*\)/LAB_OPERATION(\1)/' >"$out.sorted"
rm "$out.new"
if cmp -s "$out.sorted" "$out"; then
    rm "$out.sorted"
else
    mv "$out.sorted" "$out"
fi
