/* O = softmax(Q K^T / sqrt(D)) V, head by head. */
#include "labs/attention/attention.h"

#include <stddef.h>

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    (void)out;
    return lab_attention_element(n, dim, i, false);
}

const struct lab_operation lab_operation_attention = {
    .name = "attention",
    .title = "O = softmax(Q K^T / sqrt(D)) V",
    LAB_ATTENTION_MEMBERS,
    .flop = lab_attention_flop,
    .element = element,
};
