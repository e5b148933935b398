/* O = softmax(Q K^T / sqrt(D)) V, where query i sees the keys 0 .. i. */
#include "labs/attention/attention.h"

#include <stddef.h>

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    (void)out;
    return lab_attention_element(n, dim, i, true);
}

/* T (T + 1) / 2 pairs of query and key instead of T^2. */
static double flop(const int64_t *dim)
{
    double T = (double)dim[2];
    return lab_attention_flop(dim) * (T + 1) / (2 * T);
}

const struct lab_operation lab_operation_attention_causal = {
    .name = "attention_causal",
    .title = "O = softmax(Q K^T / sqrt(D)) V, a query sees no later key",
    LAB_ATTENTION_MEMBERS,
    .flop = flop,
    .element = element,
};
