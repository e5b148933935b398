/* ops/step_table.h -- every step of every op, with the shapes of its tensors:
 * one table that the tests of the reference and of its variants walk. */
#pragma once
#include "ops/kernel_rig.h"

struct step_case {
    const char *op;
    const char *step;
    enum lab_phase phase;
    /* As rig_run() takes them, "name:dims ...": a letter of dims is N, K or M of
     * the sizes, P = K*M, D = 2*M, Q = 4*M, a digit itself. Before it, '#': labels
     * in 0..M-1; '>': positive values. */
    const char *outs;
    const char *ins;
    const void *params;
};

struct step_sizes {
    int64_t N;
    int64_t K;
    int64_t M;
};

extern const struct step_case step_cases[];
extern const int step_case_count;
/* Odd on purpose: 1, primes, one more than a power of two. */
extern const struct step_sizes step_sizes[];
extern const int step_size_count;

/* "dense.matmul backward, N 3 K 5 M 7" */
void step_describe(char *text, size_t bytes, const struct step_case *c,
                   const struct step_sizes *sizes);

/* Makes the case's tensors with random values; the same in every rig. */
void step_fill(struct rig *r, const struct step_case *c,
               const struct step_sizes *sizes, uint64_t seed);
void step_run(struct rig *r, const struct step_case *c);
/* Compares the outputs of the case in two rigs that have run it. */
void step_compare(const char *what, const struct step_case *c,
                  const struct rig *got, const struct rig *ref,
                  double tolerance);
