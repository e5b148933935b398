/* O = softmax(Q K^T / sqrt(D)) V, head by head. */
#include "labs/attention/attention.h"

#include <stddef.h>

static struct lab_ladder_element element(const struct lab_lab_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    (void)out;
    return lab_attention_element(n, dim, i, false);
}

/* One query; fewer and more than a tile; heads narrower than a tile; rows that
 * are no multiple of 16 bytes. Large enough to be compared in places: about
 * D = 64, 96 and 128. More tiles than multiprocessors. */
static const char *const checks[] = {"2x3x1x64",   "1x2x7x8",     "1x1x200x16",
                                     "1x3x33x13",  "1x1x65x40",   "3x6x127x64",
                                     "2x4x200x96", "1x6x190x128", "1x5x1000x64",
                                     "8x40x3x8",   "4x70x300x8",  NULL};

const struct lab_operation lab_operation_attention = {
    .name = "attention",
    .title = "O = softmax(Q K^T / sqrt(D)) V",
    .shape = "BxHxTxD",
    .dims = 4,
    .unit = LAB_UNIT_FLOPS,
    .sizes_cpu = "1x4x256x64,1x4x512x64",
    .sizes_gpu = "4x16x1024x64,4x16x4096x64",
    .checks = checks,
    .tensors = lab_attention_tensors,
    .flop = lab_attention_flop,
    .bytes = lab_attention_bytes,
    .traffic = lab_attention_traffic,
    .element = element,
    .fill = lab_attention_fill,
};
