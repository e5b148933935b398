/* kernels/labs/gemm/double.cu -- the next stage comes while this one is used.
 *
 * The idea: two buffers. A thread asks for its part of the next stage before
 * it works on this one, and puts it into the other buffer afterwards: memory
 * and arithmetic overlap, and one barrier a stage is enough. */
#include "labs/gemm/warp.cuh"

typedef gemm_shape<128, 128, 8, 64, 32> SHAPE;

template <bool FOURS>
static __global__ void __launch_bounds__(SHAPE::THREADS, 2)
    gemm_double(float *c, const float *a, const float *b, int64_t M, int64_t N,
                int64_t K)
{
    __shared__ __align__(16) float as[2][SHAPE::DEPTH][SHAPE::A_ROW];
    __shared__ __align__(16) float bs[2][SHAPE::DEPTH][SHAPE::B_ROW];
    int64_t row0;
    int64_t col0;
    int now = 0;
    gemm_fetch<SHAPE, FOURS> next;
    gemm_sums<SHAPE> mine;
    gemm_place<SHAPE>(M, N, &row0, &col0);
    mine.start();
    next.load(a, b, row0, col0, 0, M, N, K);
    next.store(as[0], bs[0]);
    __syncthreads();
    for (int64_t k0 = SHAPE::DEPTH; k0 < K; k0 += SHAPE::DEPTH) {
        next.load(a, b, row0, col0, k0, M, N, K); /* on its way */
        mine.add_stage(as[now], bs[now]);
        now ^= 1;
        next.store(as[now], bs[now]);
        __syncthreads();
    }
    mine.add_stage(as[now], bs[now]);
    mine.template write<FOURS>(c, row0, col0, M, N);
}

enum lab_status lab_gemm_double(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    unsigned blocks = gemm_blocks(&g, SHAPE::BM, SHAPE::BN);
    if (gemm_fours(&g))
        gemm_double<true><<<blocks, SHAPE::THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    else
        gemm_double<false><<<blocks, SHAPE::THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_double");
}
