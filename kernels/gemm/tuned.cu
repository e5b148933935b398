/* kernels/gemm/tuned.cu -- the same kernel in twelve tile shapes.
 *
 * The idea: none of the tile shapes is the best everywhere. A small product has
 * too few large tiles to fill the device, a large one reads too much with small
 * tiles, and how many registers a thread may have depends on the device. So the
 * shapes are template arguments, `lapenna-lab lab tune gemm` measures them all,
 * and the winner is kept for the device and the size. The price is compiling
 * (24 kernels of one text) and that a winner is known only where it was
 * measured. Two buffers as in double.cu. */
#include "gemm/warp.cuh"

template <class S, bool FOURS>
static __global__ void __launch_bounds__(S::THREADS)
    gemm_tuned(float *c, const float *a, const float *b, int64_t M, int64_t N,
               int64_t K)
{
    __shared__ __align__(16) float as[2][S::DEPTH][S::A_ROW];
    __shared__ __align__(16) float bs[2][S::DEPTH][S::B_ROW];
    int64_t row0;
    int64_t col0;
    int now = 0;
    gemm_fetch<S, FOURS> next;
    gemm_sums<S> mine;
    gemm_place<S>(M, N, &row0, &col0);
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

template <class S> static enum lab_status launch(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    unsigned blocks = gemm_blocks(&g, S::BM, S::BN);
    if (gemm_fours(&g))
        gemm_tuned<S, true><<<blocks, S::THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    else
        gemm_tuned<S, false><<<blocks, S::THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_tuned");
}

#define LAUNCHER(bm, bn, d, wm, wn)                                            \
    enum lab_status lab_gemm_##bm##x##bn##x##d##_##wm##x##wn(                  \
        const struct lab_call *call)                                           \
    {                                                                          \
        return launch<gemm_shape<bm, bn, d, wm, wn>>(call);                    \
    }

LAB_GEMM_SHAPES(LAUNCHER)
