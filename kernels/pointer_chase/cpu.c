/* kernels/pointer_chase/cpu.c -- at = next[at] on one thread of a CPU.
 *
 * The caches are emptied before each repeat, so that the footprint is read once
 * before the chase begins; where it is larger than the caches, what was read
 * last is what they hold. From a few megabytes on, the translation of addresses
 * (TLB) is part of the latency too. */
#include "pointer_chase/chase.h"

static int64_t sum_of_lines(const int32_t *next, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i += LAB_CHASE_LINE)
        sum += next[i];
    return sum;
}

static enum lab_status plain(const struct lab_call *call)
{
    const int32_t *next = call->in[0].data;
    int64_t accesses = lab_bench_dim(call, 1);
    /* No index is negative; the compiler does not know, and reads them. */
    int32_t at = sum_of_lines(next, call->in[0].count) < 0;
    for (int64_t k = 0; k < accesses; k++)
        at = next[at];
    int64_t line = (int64_t)(at / LAB_CHASE_LINE);
    *(float *)call->out[0].data = (float)line;
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_pointer_chase[] = {
    {.name = "plain",
     .idea = "each access waits for the one before",
     .run = plain,
     .source = "kernels/pointer_chase/cpu.c"},
    {0},
};
