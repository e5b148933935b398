/* kernels/gemm/warp.cu -- a warp has a tile of its own.
 *
 * The idea: between the tile of the block and that of the thread is the
 * tile of the warp, 64 x 32, and its threads stand in it so that their loads
 * from shared memory meet no bank twice (warp.cuh has the picture). It is
 * the hierarchy that CUTLASS has: block, warp, thread. */
#include "gemm/warp.cuh"

typedef gemm_shape<128, 128, 16, 64, 32> SHAPE;

template <bool FOURS>
static __global__ void __launch_bounds__(SHAPE::THREADS)
    gemm_warp(float *c, const float *a, const float *b, int64_t M, int64_t N,
              int64_t K)
{
    __shared__ __align__(16) float as[SHAPE::DEPTH][SHAPE::A_ROW];
    __shared__ __align__(16) float bs[SHAPE::DEPTH][SHAPE::B_ROW];
    int64_t row0;
    int64_t col0;
    gemm_fetch<SHAPE, FOURS> stage;
    gemm_sums<SHAPE> mine;
    gemm_place<SHAPE>(M, N, &row0, &col0);
    mine.start();
    for (int64_t k0 = 0; k0 < K; k0 += SHAPE::DEPTH) {
        stage.load(a, b, row0, col0, k0, M, N, K);
        stage.store(as, bs);
        __syncthreads();
        mine.add_stage(as, bs);
        __syncthreads();
    }
    mine.template write<FOURS>(c, row0, col0, M, N);
}

enum lab_status lab_gemm_warp(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    unsigned blocks = gemm_blocks(&g, SHAPE::BM, SHAPE::BN);
    if (gemm_fours(&g))
        gemm_warp<true><<<blocks, SHAPE::THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    else
        gemm_warp<false><<<blocks, SHAPE::THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_warp");
}
