/* kernels/gemm/tile.cu -- tiles in shared memory.
 *
 * The idea: 32 x 32 threads copy a tile of A and a tile of B into shared
 * memory together, wait for each other, and use every number 32 times. Memory
 * beyond the multiprocessor moves 32 times less: the course's q = 2 n^3 /
 * ((2 N + 2) n^2), with N = n / 32 tiles a side.
 * What it does not change: each multiply-add still reads 2 numbers, now from
 * shared memory, which is the same pipe as L1. At the edges the tiles are
 * filled up with zeros. */
#include "gemm/gemm.cuh"

enum { SIDE = 32 };

static __global__ void __launch_bounds__(SIDE *SIDE)
    gemm_tile(float *c, const float *a, const float *b, int64_t M, int64_t N,
              int64_t K)
{
    __shared__ float as[SIDE][SIDE];
    __shared__ float bs[SIDE][SIDE];
    int64_t across = (N + SIDE - 1) / SIDE;
    int64_t row = blockIdx.x / across * SIDE + threadIdx.y;
    int64_t col = blockIdx.x % across * SIDE + threadIdx.x;
    float sum = 0.0f;
    for (int64_t k0 = 0; k0 < K; k0 += SIDE) {
        int64_t ka = k0 + threadIdx.x;
        int64_t kb = k0 + threadIdx.y;
        as[threadIdx.y][threadIdx.x] =
            row < M && ka < K ? a[row * K + ka] : 0.0f;
        bs[threadIdx.y][threadIdx.x] =
            kb < K && col < N ? b[kb * N + col] : 0.0f;
        __syncthreads(); /* both tiles are there */
        for (int k = 0; k < SIDE; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads(); /* no thread needs them any more */
    }
    if (row < M && col < N)
        c[row * N + col] = sum;
}

enum lab_status lab_gemm_tile(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    gemm_tile<<<gemm_blocks(&g, SIDE, SIDE), dim3(SIDE, SIDE), 0,
                lab_stream(call)>>>(g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_tile");
}
