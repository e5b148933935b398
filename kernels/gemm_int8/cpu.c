/* kernels/gemm_int8/cpu.c -- the product of 8-bit numbers on one thread of a CPU.
 *
 * floats    each number becomes a float first: what a machine without products of
 *           bytes has, and all that 8 bits save is memory.
 * integers  whole numbers: a compiler multiplies several at once, where they lie
 *           side by side. */
#include "gemm_int8/gemm_int8.h"

#define SOURCE "kernels/gemm_int8/cpu.c"

static enum lab_status int8_floats(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    for (int64_t i = 0; i < g.M; i++)
        for (int64_t j = 0; j < g.N; j++) {
            double sum = 0; /* a float has 24 bits, the sum may need 31 */
            for (int64_t k = 0; k < g.words; k++)
                for (int b = 0; b < 4; b++)
                    sum += (float)lab_int8_of(g.a[i * g.words + k], b) *
                           (float)lab_int8_of(g.w[j * g.words + k], b);
            g.c[i * g.N + j] = (float)sum * g.scale[j];
        }
    return LAB_OK;
}

static enum lab_status int8_integers(const struct lab_call *call)
{
    struct lab_gemm_int8 g = lab_gemm_int8_of(call);
    for (int64_t i = 0; i < g.M; i++)
        for (int64_t j = 0; j < g.N; j++) {
            const int8_t *a = (const int8_t *)(g.a + i * g.words);
            const int8_t *w = (const int8_t *)(g.w + j * g.words);
            int32_t sum = 0;
            for (int64_t k = 0; k < 4 * g.words; k++)
                sum += a[k] * w[k];
            g.c[i * g.N + j] = (float)sum * g.scale[j];
        }
    return LAB_OK;
}

const struct lab_variant lab_cpu_variants_gemm_int8[] = {
    {.name = "floats",
     .idea = "each number becomes a float first",
     .run = int8_floats,
     .source = SOURCE},
    {.name = "integers",
     .idea = "whole numbers, four bytes beside each other",
     .run = int8_integers,
     .source = SOURCE},
    {0},
};
