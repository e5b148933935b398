/* kernels/gemm/vector.cu -- four numbers in one load.
 *
 * The idea: loads of 16 bytes, from memory and from shared memory. The tile of
 * A is turned on its way into shared memory, so that the 8 numbers of a column
 * that a thread needs lie side by side: 4 loads for 64 multiply-adds where
 * there were 16. The scheduler issues one instruction a cycle, and a load that
 * is not issued leaves its cycle to arithmetic.
 * Thread -> element: as in gemm_thread_2d.cu. Rows that do not start on 16
 * bytes (N or K not a multiple of 4) are read one number at a time. */
#include "gemm/gemm.cuh"

enum { SIDE = 128, DEPTH = 8, EACH = 8, ACROSS = SIDE / EACH };
enum { THREADS = ACROSS * ACROSS, ROW = SIDE + 4 };

static __device__ __forceinline__ void add_stage(float sum[EACH][EACH],
                                                 const float as[DEPTH][ROW],
                                                 const float bs[DEPTH][SIDE],
                                                 int ty, int tx)
{
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        float av[EACH];
        float bv[EACH];
        gemm_read4(av, &as[k][ty]);
        gemm_read4(av + 4, &as[k][ty + 4]);
        gemm_read4(bv, &bs[k][tx]);
        gemm_read4(bv + 4, &bs[k][tx + 4]);
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int v = 0; v < EACH; v++)
                sum[u][v] += av[u] * bv[v];
    }
}

template <bool FOURS>
static __global__ void __launch_bounds__(THREADS)
    gemm_vector(float *c, const float *a, const float *b, int64_t M, int64_t N,
                int64_t K)
{
    __shared__ __align__(16) float as[DEPTH][ROW]; /* turned: as[k][row] */
    __shared__ __align__(16) float bs[DEPTH][SIDE];
    const int t = threadIdx.x;
    int64_t across = (N + SIDE - 1) / SIDE;
    int64_t row0 = blockIdx.x / across * SIDE;
    int64_t col0 = blockIdx.x % across * SIDE;
    const int ty = t / ACROSS * EACH;
    const int tx = t % ACROSS * EACH;
    const int a_row = t / 2;
    const int a_k = t % 2 * 4;
    const int b_k = t / 32;
    const int b_col = t % 32 * 4;
    float sum[EACH][EACH] = {};
    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
        float4 va = gemm_load4<FOURS>(a + (row0 + a_row) * K, row0 + a_row < M,
                                      k0 + a_k, K);
        float4 vb = gemm_load4<FOURS>(b + (k0 + b_k) * N, k0 + b_k < K,
                                      col0 + b_col, N);
        as[a_k][a_row] = va.x;
        as[a_k + 1][a_row] = va.y;
        as[a_k + 2][a_row] = va.z;
        as[a_k + 3][a_row] = va.w;
        *reinterpret_cast<float4 *>(&bs[b_k][b_col]) = vb;
        __syncthreads();
        add_stage(sum, as, bs, ty, tx);
        __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        int64_t row = row0 + ty + u;
        if (row >= M)
            continue;
        gemm_store4<FOURS>(c + row * N, col0 + tx, N, sum[u]);
        gemm_store4<FOURS>(c + row * N, col0 + tx + 4, N, sum[u] + 4);
    }
}

enum lab_status lab_gemm_vector(const struct lab_call *call)
{
    struct gemm_call g = gemm_of(call);
    unsigned blocks = gemm_blocks(&g, SIDE, SIDE);
    if (gemm_fours(&g))
        gemm_vector<true><<<blocks, THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    else
        gemm_vector<false><<<blocks, THREADS, 0, lab_stream(call)>>>(
            g.c, g.a, g.b, g.M, g.N, g.K);
    return lab_launched("gemm_vector");
}
