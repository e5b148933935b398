/* kernels/gemm/thread_1d.cu -- a column of eight elements a thread.
 *
 * The idea: a thread makes 8 elements below each other. It reads one number of
 * B once and uses it 8 times from a register: 9 reads of shared memory for 8
 * multiply-adds where there were 16.
 * Thread -> element: 512 threads make a tile of 64 x 64; thread t has column
 * t % 64 and the rows 8 (t / 64) .. + 7. The depth is walked 8 at a time, so
 * that each thread fetches one number of A and one of B a stage. */
#include "gemm/gemm.cuh"

enum { SIDE = 64, DEPTH = 8, ROWS = 8, THREADS = SIDE * SIDE / ROWS };

static __global__ void __launch_bounds__(THREADS)
    gemm_thread_1d(float *c, const float *a, const float *b, int64_t M,
                   int64_t N, int64_t K)
{
    __shared__ float as[SIDE][DEPTH];
    __shared__ float bs[DEPTH][SIDE];
    const int t = threadIdx.x;
    int64_t across = (N + SIDE - 1) / SIDE;
    int64_t row0 = blockIdx.x / across * SIDE;
    int64_t col0 = blockIdx.x % across * SIDE;
    int64_t a_row = row0 + t / DEPTH;
    int64_t col = col0 + t % SIDE;
    float sum[ROWS] = {};
    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
        int64_t ka = k0 + t % DEPTH;
        int64_t kb = k0 + t / SIDE;
        as[t / DEPTH][t % DEPTH] =
            a_row < M && ka < K ? a[a_row * K + ka] : 0.0f;
        bs[t / SIDE][t % SIDE] = kb < K && col < N ? b[kb * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float v = bs[k][t % SIDE];
#pragma unroll
            for (int u = 0; u < ROWS; u++)
                sum[u] += as[t / SIDE * ROWS + u][k] * v;
        }
        __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < ROWS; u++) {
        int64_t row = row0 + t / SIDE * ROWS + u;
        if (row < M && col < N)
            c[row * N + col] = sum[u];
    }
}

enum lab_status lab_gemm_thread_1d(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    gemm_thread_1d<<<gemm_blocks(&g, SIDE, SIDE), THREADS, 0,
                     lab_stream(call)>>>(g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_thread_1d");
}
