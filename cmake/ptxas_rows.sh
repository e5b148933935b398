#!/bin/sh
# ptxas_rows.sh OUT OBJECT...: what keep_registers.sh kept beside the objects, as a table
# in C: source, kernel, architecture, registers, stack.
set -eu
exec >"$1"
shift
echo '#include "simcuda_priv.h"'
echo 'const struct simcuda_ptxas simcuda_ptxas_rows[] = {'
for object; do
    case $object in
    *kernels/*.cu.o) source=kernels/${object##*kernels/} ;;
    *) continue ;;
    esac
    kept=$object.registers
    [ ! -f "$kept" ] || awk -v source="${source%.o}" '{
        printf "{\"%s\", \"%s\", %d, %s, %d, %d},\n", source, $4, $1,
            ($1 ~ /a$/) ? "true" : "false", $2, $3 }' "$kept"
done
echo '{0}};'
echo 'const int simcuda_ptxas_row_count ='
echo '    (int)(sizeof(simcuda_ptxas_rows) / sizeof(simcuda_ptxas_rows[0])) - 1;'
