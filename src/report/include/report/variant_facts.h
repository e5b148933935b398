/* variant_facts.h -- what follows from the name of a variant.
 * A recorded run has names alone: the tables that would know more are those of
 * the program, and of the machine, that made it. Names may be NULL: false.
 * Threads: any. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* A library's kernel: cuBLAS, cuDNN, oneDNN ... */
bool lab_variant_is_library(const char *variant);
/* Another variant does this step and its neighbours in one kernel, and this one
 * does not. `phase` is an enum lab_phase, `step` a name as "fc1.matmul". */
bool lab_variant_can_fuse(const char *backend, const char *op, int64_t phase,
                          const char *step, const char *variant);
