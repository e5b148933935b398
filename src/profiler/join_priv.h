/* profiler/join_priv.h -- the three names of a kernel, found once for each, and
 * the steps of a graph's nodes.
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

/* CUPTI hands the same pointer in for each launch of a kernel. */
struct lab_kernel_pointer {
    const char *at;
    char *text; /* owned: what it pointed to; NULL: empty */
    struct lab_kernel_name name;
};

enum { LAB_KERNEL_POINTERS = 256 };

/* Open addressing by the id of the mangled name, and in front of it, to save
 * the look at every letter, the pointers of late. Zeroed: empty. */
struct lab_kernel_names {
    struct lab_kernel_pointer recent[LAB_KERNEL_POINTERS];
    struct lab_kernel_name *slots;
    size_t capacity; /* power of two */
    size_t count;
};

/* Fills in k's names; without memory they are found again each time. A NULL
 * name gives ids 0. */
void lab_kernel_names_fill(struct lab_kernel_names *names, const char *mangled,
                           struct lab_kernel_record *k);
void lab_kernel_names_release(struct lab_kernel_names *names);

struct lab_join_span {
    int64_t start_ns;
    int64_t end_ns;
};

/* The graph that was launched last (lab_join_graph()). Zeroed: none. */
struct lab_join_nodes {
    int64_t exec; /* of the launch, and of its first step */
    int n;
    int64_t first;
    int64_t *end; /* n of them, ascending */
    struct lab_join_span *span;
};
