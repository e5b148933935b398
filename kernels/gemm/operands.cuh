/* kernels/gemm/operands.cuh -- A and B as the TMA unit takes them.
 *
 * A tensor map wants rows that start on 16 bytes. Where they do (K and N are
 * multiples of 8 in 16 bits, of 4 in fp32) the tensors are taken as they lie;
 * else `prepare` makes room for copies with longer rows, and every `run` copies
 * first: the copy is part of the rung's time. One call at a time, as with all
 * rungs; the room belongs to the size that was prepared. */
#pragma once
#include "gemm/gemm.h"
#include "common/launch.cuh"

struct gemm_operands {
    const void *a;   /* (M, K), rows of a_pitch bytes */
    const void *b;   /* (K, N), rows of b_pitch bytes */
    void *c;         /* (M, N), dense */
    int64_t a_pitch; /* multiples of 16 */
    int64_t b_pitch;
    int M;
    int N;
    int K;
    enum lab_dtype dtype;
    size_t number_bytes;
};

/* Queues the copies, if any, and says where the operands lie. */
enum lab_status gemm_operands_queue(const struct lab_call *call,
                                    struct gemm_operands *out);
