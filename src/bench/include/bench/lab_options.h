/* lab_options.h -- what was written after `lapenna-lab lab`. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

struct lab_bench_options {
    const char *name; /* a ladder, or a lesson of kind lab */
    const char *sizes;
    const char *variants;
    unsigned precisions; /* 1 << enum lab_precision for each; 0: all */
    const char *backend; /* auto, cpu, cuda */
    const char *predict; /* "ask", or RUNG=VALUE,... */
    const char *grid;    /* of the first kernels (lab_first.h) */
    const char *block;
    const char *at;
    const char *elements;
    const char *db;
    const char *counters; /* off, basic, full */
    int device;
    int repeat; /* 0: the lesson's, or the default */
    uint64_t seed;
    bool seed_given;
    const char *lesson_sizes; /* of a sweep: its lesson's, or NULL */
    const char *lesson_cpu_sizes;
    bool calls;  /* of a lesson: cuDNN's, one by one */
    bool list;   /* only say what can be measured */
    int sweep;   /* enum lab_sweep_kind; LAB_SWEEP_KINDS: none */
    bool tune;   /* `lab tune`: measure candidates, keep the fastest */
    bool retune; /* also where one is kept */
    bool json;
    bool ascii;
    bool chart;     /* pictures below the table, on a pipe too */
    unsigned given; /* options that were written; lab_options.c has the bits */
};

/* What `lab` can be asked for, by the options that each takes. */
enum lab_bench_kind {
    LAB_BENCH_LADDER,
    LAB_BENCH_TUNE,
    LAB_BENCH_SIZED, /* batch-size, network-size */
    LAB_BENCH_PARTS, /* products, backward */
    LAB_BENCH_CALLS,
    LAB_BENCH_ONE_KERNEL, /* hello, scalar_add */
    LAB_BENCH_VECTORS,
    LAB_BENCH_INDEX,
    LAB_BENCH_LIST,
    LAB_BENCH_KINDS
};

/* Reads the options as they are written; wrong ones end the program. */
void lab_bench_parse(int argc, char **argv, struct lab_bench_options *o);
/* `tune` or the name of a sweep has been given. */
bool lab_bench_has_word(const struct lab_bench_options *o);
/* LAB_E_USAGE: an option was written that this kind does not use; the message
 * has those that it takes. `name`: what the learner called it. */
enum lab_status lab_bench_refuse_unused(const struct lab_bench_options *o,
                                        enum lab_bench_kind kind,
                                        const char *name);
