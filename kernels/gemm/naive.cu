/* kernels/gemm/naive.cu -- the first variant: a thread for each element.
 *
 * Thread -> element: thread x of a block has a row, thread y a column. It is
 * how one writes it down, and it is the wrong way round: the 32 threads of a
 * warp follow x, so they read 32 different rows of A, 32 lines of memory for 32
 * numbers, and write down a column of C in the same way.
 * Memory: 2 numbers read for each multiply-add, all of them through L1. */
#include "gemm/gemm.cuh"

enum { SIDE = 32 };

static __global__ void gemm_naive(float *c, const float *a, const float *b,
                                  int64_t M, int64_t N, int64_t K)
{
    int64_t down = (M + SIDE - 1) / SIDE;
    int64_t row = blockIdx.x % down * SIDE + threadIdx.x;
    int64_t col = blockIdx.x / down * SIDE + threadIdx.y;
    if (row >= M || col >= N)
        return;
    float sum = 0.0f;
    for (int64_t k = 0; k < K; k++)
        sum += a[row * K + k] * b[k * N + col];
    c[row * N + col] = sum;
}

enum lab_status lab_gemm_naive(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    gemm_naive<<<gemm_blocks(&g, SIDE, SIDE), dim3(SIDE, SIDE), 0,
                 lab_stream(call)>>>(g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_naive");
}
