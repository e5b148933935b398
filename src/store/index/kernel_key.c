#include "kernel_key.h"

#include "kernel_zone.h"
#include "store/launch.h"

/* Texts and blobs are above every number; the least of these is taken for
 * unknown. A real in a column of integers counts as C reads it. */
#define KNOWN(column) column " BETWEEN -9223372036854775807 AND 1e999"
#define INT(column) "CAST(" column " AS INTEGER)"
#define WITH_ROOM(known, value)                                                \
    "CASE WHEN " known " AND " value " BETWEEN -9223372036854775807 AND "      \
    "9223372036854775807 THEN CAST(" value " AS INTEGER) END"
#define ONE(a) a, WITH_ROOM(KNOWN(a), INT(a))
#define TWO(a, sign, b)                                                        \
    a ", " b, WITH_ROOM(KNOWN(a) " AND " KNOWN(b), INT(a) sign INT(b))
#define PRODUCT(a, b, c)                                                       \
    a ", " b ", " c, WITH_ROOM(KNOWN(a) " AND " KNOWN(b) " AND " KNOWN(c),     \
                               INT(a) " * " INT(b) " * " INT(c))
#define REAL(a) a, "CASE WHEN " a " <= 1e999 THEN " a " END"

const struct lab_kernel_key lab_kernel_keys[LAB_KERNEL_SORT_COUNT] = {
    [LAB_KERNEL_BY_START] = {ONE("k.start"), 'k'},
    [LAB_KERNEL_BY_TIME] = {TWO("k.\"end\"", " - ", "k.start"), 'k'},
    [LAB_KERNEL_BY_STEP] = {ONE("s.stepIndex"), 's'},
    [LAB_KERNEL_BY_GRID] = {PRODUCT("k.gridX", "k.gridY", "k.gridZ"), 'k'},
    [LAB_KERNEL_BY_BLOCK] = {PRODUCT("k.blockX", "k.blockY", "k.blockZ"), 'k'},
    [LAB_KERNEL_BY_REGISTERS] = {ONE("k.registersPerThread"), 'k'},
    [LAB_KERNEL_BY_SHARED] = {TWO("k.staticSharedMemory", " + ",
                                  "k.dynamicSharedMemory"),
                              'k'},
    [LAB_KERNEL_BY_OCCUPANCY] = {REAL("o.occupancy_pct"), 'o'},
};

static int64_t read_size(struct lab_columns *c)
{
    int64_t sides[3];
    for (int i = 0; i < 3; i++)
        sides[i] = lab_column_int(c);
    return lab_launch_size(sides);
}

int64_t lab_kernel_key_read(struct lab_columns *c, enum lab_kernel_sort sort)
{
    int64_t first;
    switch (sort) {
    case LAB_KERNEL_BY_TIME:
        first = lab_column_int(c);
        return lab_span_ns(lab_column_int(c), first);
    case LAB_KERNEL_BY_SHARED:
        first = lab_column_int(c);
        return lab_add_known(first, lab_column_int(c));
    case LAB_KERNEL_BY_GRID:
    case LAB_KERNEL_BY_BLOCK:
        return read_size(c);
    case LAB_KERNEL_BY_OCCUPANCY:
        return lab_zone_real(lab_column_real(c));
    default:
        return lab_column_int(c);
    }
}
