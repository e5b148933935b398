/* store/lab_names.h -- which variant of a lab each step of its run was.
 *
 * A lab's steps are named after its problem alone ("gemm 4096"): the variant is
 * their variant, and the precision is in the lab's rows. Here the three are
 * put together, for everything that lists steps. Texts are cut to their arrays,
 * between characters, and may hold anything that the file holds. Threads: that
 * of the connection; what is loaded needs it no more. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "store/database.h"

struct lab_bench_name {
    int64_t step_index;
    bool traced;        /* its launch under CUPTI, not its times */
    char lab[32];       /* "gemm" */
    char precision[16]; /* "": unknown */
    char variant[64];
    char size[64];      /* "4096" */
    char problem[80];   /* "bf16 4096"; a lab of one precision: "4096" */
    char name[160];     /* "wgmma bf16 4096", "wgmma bf16 4096, traced" */
    char own[160];      /* the same, as the run by itself has it */
    double bytes_moved; /* by its model, where the lab is one of memory; NaN */
};

struct lab_bench_names {
    struct lab_bench_name *items; /* by step_index */
    size_t count;                 /* 0: the run is not a lab's */
    bool precisions;              /* several: names have theirs */
    double copy_bytes_s; /* that the lab measured before its variants; NaN */
    double fp32_flop_s;
};

LAB_C_BEGIN
/* A run without rows of a lab has none. Errors: LAB_E_NOTFOUND there is no such
 * run; LAB_E_DB; LAB_E_NOMEM. */
enum lab_status lab_bench_names_load(struct lab_bench_names *out,
                                     struct lab_database *db, int64_t run);
void lab_bench_names_release(struct lab_bench_names *names);
/* Puts the precision into every name (not `own`), for variants that are shown
 * beside those of a run that has another one, or several. */
void lab_bench_names_say_precision(struct lab_bench_names *names);
/* NULL: no variant's step. */
const struct lab_bench_name *
lab_bench_name_find(const struct lab_bench_names *names, int64_t step_index);
/* Whether both are the same variant in the same precision at the same size, and
 * both traced or neither: what is compared from run to run. */
bool lab_bench_name_is(const struct lab_bench_name *a,
                       const struct lab_bench_name *b);
/* What follows from a variant's name (NULL: nothing, false). It computes by
 * another algorithm, with fewer FLOPs than its formula counts: Winograd's, by
 * Fourier transforms; it has all cores of a processor, where a roof is one's;
 * each of its threads adds to the same address. */
bool lab_variant_has_fewer_flop(const char *bench_name);
bool lab_variant_has_all_cores(const char *bench_name);
bool lab_variant_has_one_address(const char *bench_name);
/* What to show for a step or of a kernel: the name of its variant (NULL: no
 * lab's), else `name`; NULL where both are unknown. */
const char *lab_bench_name_text(const struct lab_bench_name *bench_name,
                                const char *name);
LAB_C_END
