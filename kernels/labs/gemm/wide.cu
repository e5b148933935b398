/* kernels/labs/gemm/wide.cu -- 128 sums a thread.
 *
 * The idea: the larger the tile of a thread, the fewer reads for each
 * multiply-add: 8 x 16 elements take 6 loads for 128 multiply-adds, 8 x 8 took
 * 4 for 64. The price is registers: 128 threads make the tile of 128 x 128, two
 * such blocks fill a multiprocessor, and 8 warps are all there are to hide the
 * waiting. Two buffers as in double.cu. */
#include "labs/gemm/warp.cuh"

typedef gemm_shape<128, 128, 8, 64, 64> SHAPE;

template <bool FOURS>
static __global__ void __launch_bounds__(SHAPE::THREADS, 2)
    gemm_wide(float *c, const float *a, const float *b, int64_t M, int64_t N,
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

enum lab_status lab_gemm_wide(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    unsigned blocks = gemm_blocks(&g, SHAPE::BM, SHAPE::BN);
    if (gemm_fours(&g))
        gemm_wide<true><<<blocks, SHAPE::THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    else
        gemm_wide<false><<<blocks, SHAPE::THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_wide");
}
