/* profiler/join_priv.h -- the three names of a kernel, found once for each.
 *
 * Private to the join, which holds its lock. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "trace/record.h"

struct lab_kernel_name {
    uint32_t mangled; /* 0: empty */
    uint32_t demangled;
    uint32_t short_name;
};

/* Open addressing by the id of the mangled name. Zeroed: empty. */
struct lab_kernel_names {
    struct lab_kernel_name *slots;
    size_t capacity; /* power of two */
    size_t count;
};

/* Fills in k's names; without memory they are found again each time. A NULL
 * name gives ids 0. */
void lab_kernel_names_fill(struct lab_kernel_names *names,
                           const struct lab_sink *sink, const char *mangled,
                           struct lab_kernel_record *k);
void lab_kernel_names_release(struct lab_kernel_names *names);
