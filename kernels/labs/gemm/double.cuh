/* kernels/labs/gemm/double.cuh -- two buffers for the stages of a tile: the
 * kernel of the rungs `double` and `wide`, which differ in the shape alone. */
#pragma once
#include "labs/gemm/warp.cuh"

template <class S, bool FOURS>
static __global__ void __launch_bounds__(S::THREADS, 2)
    gemm_double(float *c, const float *a, const float *b, int64_t M, int64_t N,
                int64_t K)
{
    __shared__ __align__(16) float as[2][S::DEPTH][S::A_ROW];
    __shared__ __align__(16) float bs[2][S::DEPTH][S::B_ROW];
    int64_t row0;
    int64_t col0;
    int now = 0;
    gemm_fetch<S, FOURS> next;
    gemm_sums<S> mine;
    gemm_place<S>(blockIdx.x, M, N, &row0, &col0);
    mine.start();
    next.load(a, b, row0, col0, 0, M, N, K);
    next.store(as[0], bs[0]);
    __syncthreads();
    for (int64_t k0 = S::DEPTH; k0 < K; k0 += S::DEPTH) {
        next.load(a, b, row0, col0, k0, M, N, K); /* on its way */
        mine.add_stage(as[now], bs[now]);
        now ^= 1;
        next.store(as[now], bs[now]);
        __syncthreads();
    }
    mine.add_stage(as[now], bs[now]);
    mine.template write<FOURS>(c, row0, col0, M, N);
}

template <class S>
static enum lab_status gemm_double_run(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    unsigned blocks = gemm_blocks(&g, S::BM, S::BN);
    auto kernel = gemm_fours(&g) ? gemm_double<S, true> : gemm_double<S, false>;
    kernel<<<blocks, S::THREADS, 0, lab_stream(call)>>>(g.c, g.a, g.b, g.M, g.N,
                                                        g.K);
    return lab_launched("gemm_double");
}
