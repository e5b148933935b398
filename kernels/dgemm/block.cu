/* kernels/dgemm/block.cu -- a thread makes 8 x 4 elements.
 *
 * The idea: as gemm's thread_2d: 12 reads of shared memory for 32 multiply-adds.
 * A block of 256 threads has 128 x 64 elements; two buffers.
 * The price: 32 sums of 8 bytes are 64 registers. */
#include "dgemm/stage.cuh"

enum { TM = 8, TN = 4, ACROSS = BN / TN, DOWN = BM / TM };

static __device__ __forceinline__ void
add_stage(double (&sum)[TM][TN], const struct dgemm_shared &s, int y, int x)
{
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        double a[TM];
        double b[TN];
#pragma unroll
        for (int u = 0; u < TM; u++)
            a[u] = s.a[k][y + u * DOWN];
#pragma unroll
        for (int v = 0; v < TN; v++)
            b[v] = s.b[k][x + v * ACROSS];
#pragma unroll
        for (int u = 0; u < TM; u++)
#pragma unroll
            for (int v = 0; v < TN; v++)
                sum[u][v] += a[u] * b[v];
    }
}

static __global__ void __launch_bounds__(THREADS)
    dgemm_block(struct dgemm_call g)
{
    __shared__ struct dgemm_shared stage[2];
    int64_t row0;
    int64_t col0;
    int y = threadIdx.x / ACROSS;
    int x = threadIdx.x % ACROSS;
    double sum[TM][TN] = {};
    dgemm_place(g, &row0, &col0);
    dgemm_stages(stage, g, row0, col0, [&](const struct dgemm_shared &s) {
        add_stage(sum, s, y, x);
    });
#pragma unroll
    for (int u = 0; u < TM; u++) {
#pragma unroll
        for (int v = 0; v < TN; v++) {
            int64_t row = row0 + y + u * DOWN;
            int64_t col = col0 + x + v * ACROSS;
            if (row < g.M && col < g.N)
                g.c[row * g.N + col] = sum[u][v];
        }
    }
}

enum lab_status lab_dgemm_block(const struct lab_call *call)
{
    struct dgemm_call g = dgemm_of(call);
    dgemm_block<<<dgemm_blocks(g, BM, BN), THREADS, 0, lab_stream(call)>>>(g);
    return lab_launched("dgemm_block");
}
