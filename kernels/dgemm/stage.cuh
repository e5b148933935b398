/* kernels/dgemm/stage.cuh -- tiles of 128 x 64 and 8 deep: how 256 threads
 * bring them. The next stage is on its way while this one is used.
 *
 * Rows of shared memory are PAD numbers longer than the tile, so that what a
 * half of a warp reads or writes lies in different banks. */
#pragma once
#include "dgemm/dgemm.cuh"

enum {
    BM = 128,
    BN = 64,
    DEPTH = 8,
    PAD = 4,
    THREADS = 256,
    A_EACH = BM * DEPTH / THREADS,
    B_EACH = BN * DEPTH / THREADS
};

struct dgemm_shared {
    double a[DEPTH][BM + PAD];
    double b[DEPTH][BN + PAD];
};

/* Which tile of C this block makes. */
static __device__ __forceinline__ void dgemm_place(const struct dgemm_call &g,
                                                   int64_t *row0, int64_t *col0)
{
    int64_t across = (g.N + BN - 1) / BN;
    *row0 = blockIdx.x / across * BM;
    *col0 = blockIdx.x % across * BN;
}

struct dgemm_fetch {
    double a[A_EACH];
    double b[B_EACH];

    __device__ __forceinline__ void load(const struct dgemm_call &g,
                                         int64_t row0, int64_t col0, int64_t k0)
    {
#pragma unroll
        for (int i = 0; i < A_EACH; i++) {
            int64_t row = row0 + (threadIdx.x + i * THREADS) / DEPTH;
            int64_t k = k0 + threadIdx.x % DEPTH;
            a[i] = row < g.M && k < g.K ? g.a[row * g.K + k] : 0.0;
        }
#pragma unroll
        for (int i = 0; i < B_EACH; i++) {
            int64_t k = k0 + (threadIdx.x + i * THREADS) / BN;
            int64_t col = col0 + threadIdx.x % BN;
            b[i] = k < g.K && col < g.N ? g.b[k * g.N + col] : 0.0;
        }
    }

    __device__ __forceinline__ void store(struct dgemm_shared &to) const
    {
#pragma unroll
        for (int i = 0; i < A_EACH; i++)
            to.a[threadIdx.x % DEPTH][(threadIdx.x + i * THREADS) / DEPTH] =
                a[i];
#pragma unroll
        for (int i = 0; i < B_EACH; i++)
            to.b[(threadIdx.x + i * THREADS) / BN][threadIdx.x % BN] = b[i];
    }
};

/* add(stage) for every stage of the tile at (row0, col0), one after the other:
 * two buffers, and the next stage is on its way while one is added. */
template <typename ADD>
static __device__ __forceinline__ void
    dgemm_stages(struct dgemm_shared (&stage)[2], const struct dgemm_call &g,
                 int64_t row0, int64_t col0, ADD add)
{
    struct dgemm_fetch next;
    int now = 0;
    next.load(g, row0, col0, 0);
    next.store(stage[0]);
    __syncthreads();
    for (int64_t k0 = DEPTH; k0 < g.K; k0 += DEPTH) {
        next.load(g, row0, col0, k0);
        add(stage[now]);
        now ^= 1;
        next.store(stage[now]);
        __syncthreads();
    }
    add(stage[now]);
}
