/* kernels/dgemm/mma.cu -- double precision on the tensor cores.
 *
 * The idea: since compute capability 8.0 the instruction mma.m8n8k4.f64 makes
 * 8 x 8 sums of 4 products each: 256 multiply-adds of a warp in one instruction,
 * rounded as fp64 is. Each of the block's 8 warps has 32 x 32 elements, 4 x 4
 * such squares; a thread has one number of a square's A, one of its B and two
 * sums (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64"):
 *   A  row lane / 4, k lane % 4;  B  k lane % 4, column lane / 4;
 *   C  row lane / 4, columns 2 (lane % 4) and the next.
 * The price: the same tiles as block.cu, and a fixed form of the work. */
#include "dgemm/stage.cuh"

enum { SQUARE = 8, WARP_TILE = 32, EACH = WARP_TILE / SQUARE, STEP = 4 };

static __device__ __forceinline__ void multiply(double (&c)[2], double a,
                                                double b)
{
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c[0]), "+d"(c[1])
        : "d"(a), "d"(b));
#else
    (void)c;
    (void)a;
    (void)b;
    __trap(); /* the variant asks for 8.0 */
#endif
}

/* row and col: of the warp's tile in the block's. */
static __device__ __forceinline__ void add_stage(double (&sum)[EACH][EACH][2],
                                                 const struct dgemm_shared &s,
                                                 int row, int col)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < DEPTH; k += STEP) {
        double a[EACH];
        double b[EACH];
#pragma unroll
        for (int u = 0; u < EACH; u++) {
            a[u] = s.a[k + lane % 4][row + u * SQUARE + lane / 4];
            b[u] = s.b[k + lane % 4][col + u * SQUARE + lane / 4];
        }
#pragma unroll
        for (int u = 0; u < EACH; u++)
#pragma unroll
            for (int v = 0; v < EACH; v++)
                multiply(sum[u][v], a[u], b[v]);
    }
}

static __device__ __forceinline__ void write(const struct dgemm_call &g,
                                             const double (&sum)[EACH][EACH][2],
                                             int64_t row0, int64_t col0)
{
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        int64_t row = row0 + u * SQUARE + lane / 4;
#pragma unroll
        for (int v = 0; v < EACH; v++) {
            int64_t col = col0 + v * SQUARE + lane % 4 * 2;
            if (row < g.M && col < g.N)
                g.c[row * g.N + col] = sum[u][v][0];
            if (row < g.M && col + 1 < g.N)
                g.c[row * g.N + col + 1] = sum[u][v][1];
        }
    }
}

static __global__ void __launch_bounds__(THREADS) dgemm_mma(struct dgemm_call g)
{
    __shared__ struct dgemm_shared stage[2];
    int64_t row0;
    int64_t col0;
    int warp = threadIdx.x / 32;
    int row = warp / (BN / WARP_TILE) * WARP_TILE;
    int col = warp % (BN / WARP_TILE) * WARP_TILE;
    double sum[EACH][EACH][2] = {};
    dgemm_place(g, &row0, &col0);
    dgemm_stages(stage, g, row0, col0, [&](const struct dgemm_shared &s) {
        add_stage(sum, s, row, col);
    });
    write(g, sum, row0 + row, col0 + col);
}

enum lab_status lab_dgemm_mma(const struct lab_call *call)
{
    struct dgemm_call g = dgemm_of(call);
    dgemm_mma<<<dgemm_blocks(g, BM, BN), THREADS, 0, lab_stream(call)>>>(g);
    return lab_launched("dgemm_mma");
}
