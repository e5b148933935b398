/* O = softmax(Q K^T / sqrt(D)) V, where query i sees the keys 0 .. i. */
#include "labs/attention/attention.h"

#include <stddef.h>

static struct lab_ladder_element element(const struct lab_lab_numbers *n,
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

static const char *const checks[] = {"2x3x1x64",   "1x2x7x8",     "1x1x200x16",
                                     "1x3x33x13",  "1x1x65x40",   "3x6x127x64",
                                     "2x4x200x96", "1x6x190x128", "1x5x1000x64",
                                     "8x40x3x8",   "4x70x300x8",  NULL};

const struct lab_operation lab_operation_attention_causal = {
    .name = "attention_causal",
    .title = "O = softmax(Q K^T / sqrt(D)) V, a query sees no later key",
    .shape = "BxHxTxD",
    .dims = 4,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1x4x256x64,1x4x512x64",
    .sizes_gpu = "4x16x1024x64,4x16x4096x64",
    .checks = checks,
    .tensors = lab_attention_tensors,
    .flop = flop,
    .bytes = lab_attention_bytes,
    .traffic = lab_attention_traffic,
    .element = element,
    .fill = lab_attention_fill,
};
