/* kernels/dgemm/dgemm.cuh -- what the variants in double precision share. */
#pragma once
#include "dgemm/dgemm.h"
#include "common/launch.cuh"

struct dgemm_call {
    const double *a; /* (M, K) */
    const double *b; /* (K, N) */
    double *c;       /* (M, N) */
    int64_t M;
    int64_t N;
    int64_t K;
};

static inline struct dgemm_call dgemm_of(const struct lab_call *call)
{
    return {static_cast<const double *>(call->in[0].data),
            static_cast<const double *>(call->in[1].data),
            static_cast<double *>(call->out[0].data),
            call->in[0].dim[0],
            call->in[1].dim[1],
            call->in[0].dim[1]};
}

/* Blocks for tiles of m x n of the result. */
static inline unsigned dgemm_blocks(const struct dgemm_call &g, int m, int n)
{
    return lab_blocks((g.M + m - 1) / m * ((g.N + n - 1) / n), 1);
}
