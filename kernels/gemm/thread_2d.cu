/* kernels/gemm/thread_2d.cu -- a square of 8 x 8 elements a thread.
 *
 * The idea: of 8 numbers of A and 8 of B, both in registers, a thread makes 64
 * products: 16 reads of shared memory for 64 multiply-adds. An outer product
 * instead of an inner one; the 64 sums never leave the registers, and none
 * waits for another.
 * Thread -> element: 256 threads make a tile of 128 x 128; thread t has the
 * rows 8 (t / 16) .. + 7 and the columns 8 (t % 16) .. + 7. */
#include "gemm/gemm.cuh"

enum { SIDE = 128, DEPTH = 8, EACH = 8, ACROSS = SIDE / EACH };
enum { THREADS = ACROSS * ACROSS };

static __device__ void load_tiles(float as[SIDE][DEPTH], float bs[DEPTH][SIDE],
                                  const float *a, const float *b, int64_t row0,
                                  int64_t col0, int64_t k0, int64_t M,
                                  int64_t N, int64_t K)
{
    for (int e = threadIdx.x; e < SIDE * DEPTH; e += THREADS) {
        int64_t row = row0 + e / DEPTH;
        int64_t ka = k0 + e % DEPTH;
        int64_t kb = k0 + e / SIDE;
        int64_t col = col0 + e % SIDE;
        as[e / DEPTH][e % DEPTH] = row < M && ka < K ? a[row * K + ka] : 0.0f;
        bs[e / SIDE][e % SIDE] = kb < K && col < N ? b[kb * N + col] : 0.0f;
    }
}

static __global__ void __launch_bounds__(THREADS)
    gemm_thread_2d(float *c, const float *a, const float *b, int64_t M,
                   int64_t N, int64_t K)
{
    __shared__ float as[SIDE][DEPTH];
    __shared__ float bs[DEPTH][SIDE];
    int64_t across = (N + SIDE - 1) / SIDE;
    int64_t row0 = blockIdx.x / across * SIDE;
    int64_t col0 = blockIdx.x % across * SIDE;
    const int ty = threadIdx.x / ACROSS * EACH;
    const int tx = threadIdx.x % ACROSS * EACH;
    float sum[EACH][EACH] = {};
    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
        load_tiles(as, bs, a, b, row0, col0, k0, M, N, K);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float av[EACH];
            float bv[EACH];
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                av[u] = as[ty + u][k];
                bv[u] = bs[k][tx + u];
            }
#pragma unroll
            for (int u = 0; u < EACH; u++)
#pragma unroll
                for (int v = 0; v < EACH; v++)
                    sum[u][v] += av[u] * bv[v];
        }
        __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < EACH; u++)
#pragma unroll
        for (int v = 0; v < EACH; v++)
            if (row0 + ty + u < M && col0 + tx + v < N)
                c[(row0 + ty + u) * N + col0 + tx + v] = sum[u][v];
}

enum lab_status lab_gemm_thread_2d(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    gemm_thread_2d<<<gemm_blocks(&g, SIDE, SIDE), THREADS, 0,
                     lab_stream(call)>>>(g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_thread_2d");
}
