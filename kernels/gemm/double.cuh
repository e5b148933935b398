/* kernels/gemm/double.cuh -- two buffers for the stages of a tile: the
 * kernel of the variants `double` and `wide`, which differ in the shape alone. */
#pragma once
#include "gemm/warp.cuh"

template <class S> struct gemm_buffers {
    float a[2][S::DEPTH][S::A_ROW];
    float b[2][S::DEPTH][S::B_ROW];
};

/* Adds the stages of A (M, K) and B (K, N) from k0 to k1 (k1 is K, or as many
 * whole stages after k0) for the tile at row0, col0; the buffers have been read
 * by all threads at the end. */
template <class S, bool FOURS>
static __device__ __forceinline__ void
gemm_add_stages(gemm_sums<S> &mine, gemm_buffers<S> &now_and_next,
                const float *a, const float *b, int64_t row0, int64_t col0,
                int64_t k0, int64_t k1, int64_t M, int64_t N, int64_t K)
{
    auto &as = now_and_next.a;
    auto &bs = now_and_next.b;
    gemm_fetch<S, FOURS> next;
    int now = 0;
    next.load(a, b, row0, col0, k0, M, N, K);
    next.store(as[0], bs[0]);
    __syncthreads();
    for (k0 += S::DEPTH; k0 < k1; k0 += S::DEPTH) {
        next.load(a, b, row0, col0, k0, M, N, K); /* on its way */
        mine.add_stage(as[now], bs[now]);
        now ^= 1;
        next.store(as[now], bs[now]);
        __syncthreads();
    }
    mine.add_stage(as[now], bs[now]);
}

/* BLOCKS of a multiprocessor; 0: the compiler may take what registers there
 * are. */
template <class S, int BLOCKS, bool FOURS>
static __global__ void __launch_bounds__(S::THREADS, BLOCKS)
    gemm_double(float *c, const float *a, const float *b, int64_t M, int64_t N,
                int64_t K)
{
    __shared__ __align__(16) gemm_buffers<S> buffers;
    int64_t row0;
    int64_t col0;
    gemm_sums<S> mine;
    gemm_place<S>(M, N, &row0, &col0);
    mine.start();
    gemm_add_stages<S, FOURS>(mine, buffers, a, b, row0, col0, 0, K, M, N, K);
    mine.template write<FOURS>(c, row0, col0, M, N);
}

/* The first `tiles` tiles of the product; 0: all of them. */
template <class S, int BLOCKS>
static enum lab_status gemm_double_run(const struct lab_call *call,
                                       int64_t tiles = 0)
{
    struct gemm_call g = gemm_of(call);
    unsigned blocks =
        tiles ? lab_blocks(tiles, 1) : gemm_blocks(&g, S::BM, S::BN);
    auto kernel = gemm_fours(&g) ? gemm_double<S, BLOCKS, true>
                                 : gemm_double<S, BLOCKS, false>;
    kernel<<<blocks, S::THREADS, 0, lab_stream(call)>>>(g.c, g.a, g.b, g.M, g.N,
                                                        g.K);
    return lab_launched("gemm_double");
}
