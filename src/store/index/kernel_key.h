/* kernel_key.h -- what a kernel is sorted by, the same wherever it is asked
 * for.
 *
 * A key is a number, or unknown: where one of its columns is NULL, a text or a
 * blob, and where it has no room in 64 bits. SQL by itself would take a text
 * for 0 and turn a large product into a real. Zones and ranges (kernel_zone.h,
 * step_range.h) and pages read the columns and put the key together here; a
 * whole sort is SQL's, by an expression that says the same. */
#pragma once
#include "db/row.h"
#include "store/query.h"

struct lab_kernel_key {
    const char *columns; /* what lab_kernel_key_read() reads */
    const char *sql;     /* NULL where the key is unknown */
    char table;          /* alias of its table in both: k,
                            CUPTI_ACTIVITY_KIND_KERNEL; o, op_kernel; s, step */
};

/* A condition: the kernel k is not one of those between steps. */
#define LAB_KERNEL_OF_STEP                                                     \
    "NOT EXISTS (SELECT 1 FROM op_kernel AS b WHERE b.kernelRow = "            \
    "k.kernelRow AND b.stepExec = -1)"

/* By enum lab_kernel_sort. LAB_KERNEL_BY_ROW and _BY_NAME have none: what a
 * name is sorted by is its rank among all texts, for which each query has its
 * way. */
extern const struct lab_kernel_key lab_kernel_keys[LAB_KERNEL_SORT_COUNT];

/* The key of the next columns, as an integer of the same order; LAB_UNKNOWN.
 * Of LAB_KERNEL_BY_NAME: of one column, which is a rank or a name's id. */
int64_t lab_kernel_key_read(struct lab_columns *c, enum lab_kernel_sort sort);
