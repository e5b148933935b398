/* store/contents.h -- which kinds of rows a run has: what there is to show of
 * it, and what is missing. Threads: that of the connection. */
#pragma once
#include <stdint.h>
#include "store/database.h"

enum lab_content {
    LAB_HAS_STEPS = 1 << 0,
    LAB_HAS_KERNELS = 1 << 1,
    LAB_HAS_LOSSES = 1 << 2,
    LAB_HAS_VARIANTS = 1 << 3,    /* of a lab's ladder */
    LAB_HAS_SWEEPS = 1 << 4,      /* places of a sweep */
    LAB_HAS_PREDICTIONS = 1 << 5, /* what was expected of a lab */
    LAB_HAS_TUNED = 1 << 6,       /* winners of its tuning */
    LAB_HAS_CHOICES = 1 << 7,     /* by which times variants were chosen */
    LAB_CONTENTS = 8
};

LAB_C_BEGIN
/* Bits of enum lab_content. Errors: LAB_E_NOTFOUND, there is no such run;
 * LAB_E_DB. */
enum lab_status lab_query_contents(struct lab_database *db, int64_t run,
                                   unsigned *out);
LAB_C_END
