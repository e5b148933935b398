/* ran_variants.h -- the variants that a run's forward steps were timed in. A
 * variant may be switched between two steps, so that a run has more than one. */
#pragma once
#include <stdbool.h>
#include "base/str.h"
#include "trace/record.h"

struct lab_ran_variant;
struct lab_ran_variants {
    struct lab_ran_variant *list; /* each once, in the order of their steps */
    size_t n;
    size_t room;
    bool incomplete; /* no memory for one */
};

void lab_ran_variants_note(struct lab_ran_variants *v,
                           const struct lab_step_record *step);
/* "attn1=cublas" for the first step of a node, "attn1.softmax=warp" for a step
 * of it that runs another; "fc1=naive fc1=blas" after a switch. Naive alone is
 * left out. False: no step was timed, or not all of them are known. */
bool lab_ran_variants_text(const struct lab_ran_variants *v,
                           struct lab_str *out);
void lab_ran_variants_clear(struct lab_ran_variants *v); /* frees */
