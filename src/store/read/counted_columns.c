/* counted_columns.c -- the derived columns of counted values: occupancy,
 * throughput, intensity. */
#include "store/counted.h"

#include <stddef.h>

enum { WHOLE = -1 };
static const struct column {
    const char *name;
    ptrdiff_t at; /* in struct lab_counters; WHOLE: all floating-point work */
} columns[LAB_COUNTED_COLUMNS] = {
    {"achieved_occupancy_pct",
     offsetof(struct lab_counters, achieved_occupancy_pct)},
    {"counted_flop", WHOLE},
    {"counted_fp32_flop", offsetof(struct lab_counters, fp32_flop)},
    {"counted_tensor_flop", offsetof(struct lab_counters, tensor_flop)},
    {"tensor_active_pct", offsetof(struct lab_counters, tensor_active_pct)},
    {"dram_read_bytes", offsetof(struct lab_counters, dram_read_bytes)},
    {"dram_write_bytes", offsetof(struct lab_counters, dram_write_bytes)},
    {"ipc", offsetof(struct lab_counters, ipc)},
    {"sm_pct", offsetof(struct lab_counters, sm_pct)},
    {"memory_pct", offsetof(struct lab_counters, memory_pct)},
    {"dram_pct", offsetof(struct lab_counters, dram_pct)},
    {"l1_hit_pct", offsetof(struct lab_counters, l1_hit_pct)},
    {"l2_hit_pct", offsetof(struct lab_counters, l2_hit_pct)},
};

const char *lab_counted_column(int i)
{
    return columns[i].name;
}

void lab_counted_values(const struct lab_counted_item *item, double formula,
                        double out[LAB_COUNTED_COLUMNS])
{
    struct lab_counters none;
    lab_counters_init(&none);
    const struct lab_counters *c = item ? &item->counters : &none;
    for (int i = 0; i < LAB_COUNTED_COLUMNS; i++) {
        const char *at = (const char *)c + columns[i].at;
        out[i] = columns[i].at == WHOLE ? lab_counters_flop_beside(c, formula)
                                        : *(const double *)(const void *)at;
    }
}
