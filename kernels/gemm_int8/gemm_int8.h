/* kernels/gemm_int8/gemm_int8.h -- the product of inference in 8 bits: C (M, N) =
 * scale[n] A (M, K) W (N, K)^T. A size is M, N, K.
 *
 *   in[0]  A      (M, words) i32: four numbers of -127..127 in a word, the first in
 *                 the lowest byte; what is behind K is 0
 *   in[1]  W      (N, words) i32, in the same way: a row is a filter
 *   in[2]  scale  (N) f32: the value of one unit of a filter's sum
 *   out[0] C      (M, N) f32
 *   out[1]        (M, N) i32, scratch: the sums of a library
 * words = (K + 3) / 4. Sums are whole numbers of 32 bits and exact: K is at most
 * LAB_GEMM_INT8_DEPTH. */
#pragma once
#include "common/kernel.h"

enum { LAB_GEMM_INT8_DEPTH = 131072 }; /* times 127 * 127 is below 2^31 */

struct lab_gemm_int8 {
    const int32_t *a;
    const int32_t *w;
    const float *scale;
    float *c;
    int32_t *sums;
    int64_t M, N, words;
};

static inline struct lab_gemm_int8 lab_gemm_int8_of(const struct lab_call *call)
{
    struct lab_gemm_int8 g;
    g.a = (const int32_t *)call->in[0].data;
    g.w = (const int32_t *)call->in[1].data;
    g.scale = (const float *)call->in[2].data;
    g.c = (float *)call->out[0].data;
    g.sums = (int32_t *)call->out[1].data;
    g.M = call->in[0].dim[0];
    g.N = call->in[1].dim[0];
    g.words = call->in[0].dim[1];
    return g;
}

/* Number i of a word, 0..3. */
LAB_HOST_DEVICE static inline int32_t lab_int8_of(int32_t word, int i)
{
    return (int8_t)(uint8_t)((uint32_t)word >> 8 * i);
}
