#!/bin/sh
# keep_registers.sh COMPILE... -o OBJECT ...: runs nvcc with --resource-usage, and
# keeps what ptxas reports of each kernel in OBJECT.registers: lines of architecture,
# registers, bytes of a thread's stack, kernel. Other messages are passed on.
set -u
object=
before=
for word; do
    [ "$before" != -o ] || object=$word
    before=$word
done
if [ -z "$object" ]; then
    exec "$@"
fi
kept=$object.registers
messages=$object.messages
"$@" 2>"$messages"
status=$?
awk -v kept="$kept" '
    BEGIN { printf "" >kept }
    /^ptxas info +: Compiling entry function / {
        split($0, word, "\047")
        kernel = word[2]
        arch = word[4]
        sub(/^sm_/, "", arch)
        stack = 0
        next
    }
    / bytes stack frame, / { stack = $1; next }
    /^ptxas info +: Used [0-9]+ registers/ {
        match($0, /Used [0-9]+/)
        registers = substr($0, RSTART + 5, RLENGTH - 5)
        if (kernel != "")
            print arch, registers, stack, kernel >kept
        kernel = ""
        next
    }
    /^ptxas info +: \(C[0-9]+\)/ { print; next } # performance is lost
    /^ptxas info / { next }
    { print }
' "$messages" >&2
rm -f "$messages"
exit $status
