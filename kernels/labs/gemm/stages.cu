/* kernels/labs/gemm/stages.cu -- three stages on their way, past the registers.
 *
 * The idea: cp.async (ring.cuh). The copies of `wide` pass through registers,
 * and one stage is on its way while one is used; here two are on their way,
 * twice as deep, and the registers that this leaves hold the numbers of the
 * next k while those of this one are used. The block is small, 64 x 128 by two
 * warps: four of them share a multiprocessor, and while one waits at its
 * barrier the others work. The price: A comes 4 bytes a copy, and the smaller
 * tile reads half as much again from L2. */
#include "labs/gemm/ring.cuh"

typedef ring_shape<64, 128, 16, 3, 4> SHAPE;

template <bool FOURS>
static __global__ void __launch_bounds__(SHAPE::THREADS)
    gemm_stages(float *c, const float *a, const float *b, int M, int N, int K)
{
    extern __shared__ __align__(16) float ring[];
    int64_t row0;
    int64_t col0;
    ring_copies<SHAPE, FOURS> copies;
    gemm_sums<SHAPE> mine;
    gemm_place<SHAPE>(blockIdx.x, M, N, &row0, &col0);
    copies.start(a, b, static_cast<int>(row0), static_cast<int>(col0), 0, M, N,
                 K);
    mine.start();
    ring_add(mine, copies, ring, (K + SHAPE::DEPTH - 1) / SHAPE::DEPTH);
    mine.template write<FOURS>(c, row0, col0, M, N);
}

enum lab_status lab_gemm_stages(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    auto kernel = g.N % 4 == 0 ? gemm_stages<true> : gemm_stages<false>;
    enum lab_status st = ring_ready<SHAPE>(&g, kernel);
    if (st)
        return st;
    kernel<<<gemm_blocks(&g, SHAPE::BM, SHAPE::BN), SHAPE::THREADS,
             SHAPE::BYTES, lab_stream(call)>>>(
        g.c, g.a, g.b, static_cast<int>(g.M), static_cast<int>(g.N),
        static_cast<int>(g.K));
    return lab_launched("gemm_stages");
}
