/* kernels/gemm/coalesced.cu -- neighbours read neighbours.
 *
 * The idea: thread x has a column. The 32 threads of a warp now read 32 numbers
 * of B that lie side by side, one line of 128 bytes, and all the same number of
 * A, which is sent to all of them at once. Nothing else has changed.
 * Memory: still 2 accesses for each multiply-add of a warp, and an access takes
 * a cycle of L1 where four multiply-adds take one of the arithmetic: an eighth
 * of the peak at best. */
#include "gemm/gemm.cuh"

enum { SIDE = 32 };

static __global__ void gemm_coalesced(float *c, const float *a, const float *b,
                                      int64_t M, int64_t N, int64_t K)
{
    int64_t across = (N + SIDE - 1) / SIDE;
    int64_t row = blockIdx.x / across * SIDE + threadIdx.y;
    int64_t col = blockIdx.x % across * SIDE + threadIdx.x;
    if (row >= M || col >= N)
        return;
    float sum = 0.0f;
    for (int64_t k = 0; k < K; k++)
        sum += a[row * K + k] * b[k * N + col];
    c[row * N + col] = sum;
}

enum lab_status lab_gemm_coalesced(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    gemm_coalesced<<<gemm_blocks(&g, SIDE, SIDE), dim3(SIDE, SIDE), 0,
                     lab_stream(call)>>>(g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_coalesced");
}
