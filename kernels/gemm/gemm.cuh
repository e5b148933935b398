/* kernels/gemm/gemm.cuh -- what the variants of the matrix product share. */
#pragma once
#include "gemm/gemm.h"
#include "common/launch.cuh"

struct gemm_call {
    const float *a; /* (M, K) */
    const float *b; /* (K, N) */
    float *c;       /* (M, N) */
    int64_t M;
    int64_t N;
    int64_t K;
};

static inline struct gemm_call gemm_of(const struct lab_call *call)
{
    return {lab_in(call, 0),    lab_in(call, 1),    lab_out(call, 0),
            call->in[0].dim[0], call->in[1].dim[1], call->in[0].dim[1]};
}

/* Blocks for tiles of m x n of the result. */
static inline unsigned gemm_blocks(const struct gemm_call *g, int m, int n)
{
    return lab_blocks((g->M + m - 1) / m * ((g->N + n - 1) / n), 1);
}

/* The first row and column of this block's tile of BM x BN. Blocks go HIGH tiles
 * down, then one to the right: those that run at the same time read few rows of
 * A and few columns of B, and find most of them in L2. */
template <int BM, int BN, int HIGH>
static __device__ __forceinline__ void
gemm_band_place(int64_t M, int64_t N, int64_t *row0, int64_t *col0)
{
    int64_t down = (M + BM - 1) / BM;
    int64_t across = (N + BN - 1) / BN;
    int64_t first = blockIdx.x / (HIGH * across) * HIGH;
    int64_t high = min(static_cast<int64_t>(HIGH), down - first);
    int64_t in = blockIdx.x % (HIGH * across);
    *row0 = (first + in % high) * BM;
    *col0 = in / high * BN;
}

/* Four numbers in one load are possible when every row starts on 16 bytes. */
static inline bool gemm_fours(const struct gemm_call *g)
{
    return g->N % 4 == 0 && g->K % 4 == 0;
}

/* Numbers col .. col + 3 of a row of `cols`; zero outside. */
template <bool FOURS>
static __device__ __forceinline__ float4 gemm_load4(const float *row,
                                                    bool inside, int64_t col,
                                                    int64_t cols)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (FOURS) {
        if (inside && col < cols)
            v = *reinterpret_cast<const float4 *>(row + col);
        return v;
    }
    if (inside && col < cols)
        v.x = row[col];
    if (inside && col + 1 < cols)
        v.y = row[col + 1];
    if (inside && col + 2 < cols)
        v.z = row[col + 2];
    if (inside && col + 3 < cols)
        v.w = row[col + 3];
    return v;
}

template <bool FOURS>
static __device__ __forceinline__ void gemm_store4(float *row, int64_t col,
                                                   int64_t cols, const float *v)
{
    if (FOURS) {
        if (col < cols)
            *reinterpret_cast<float4 *>(row + col) =
                make_float4(v[0], v[1], v[2], v[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (col + i < cols)
            row[col + i] = v[i];
    }
}

/* to[0..3] from shared memory in one load; `from` lies on 16 bytes. */
static __device__ __forceinline__ void gemm_read4(float *to, const float *from)
{
    float4 v = *reinterpret_cast<const float4 *>(from);
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}
