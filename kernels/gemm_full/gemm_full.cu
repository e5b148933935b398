/* kernels/gemm_full/gemm_full.cu -- C = alpha op(A) op(B) + beta C.
 *
 * plain   thread (x, y) computes element (row y, column x) and reads A and B
 *         through strides. Along x a warp reads neighbours of B, or, where B is
 *         transposed, numbers a whole row apart: a sector for each of the 16
 *         columns that a warp has.
 * tile    a block of 16 x 16 brings tiles into shared memory, each read in the
 *         direction in which it lies (a transposed tile is turned on the way), so
 *         that a warp's loads are neighbours whatever op() is. With a column more
 *         in the tiles at most two lanes of a write meet in a bank; without it
 *         eight do where a tile is turned.
 * cublas  the vendor's library. It has matrices by columns, and a row-major matrix
 *         is the transpose of that: C^T = op(B)^T op(A)^T, the same memory and
 *         leading dimensions, A and B changing places. */
#include "common/tiles.cuh"
#include "gemm_full/gemm_full.h"
#include "library/cublas_exec.h"

enum { SIDE = 16 };

static __global__ void full_plain(struct lab_gemm_full g, float alpha,
                                  float beta)
{
    int64_t row;
    int64_t col;
    lab_tile_start<SIDE>(g.N, &row, &col);
    row += threadIdx.y;
    col += threadIdx.x;
    if (row >= g.M || col >= g.N)
        return;
    float sum = 0.0f;
    for (int64_t k = 0; k < g.K; k++)
        sum +=
            g.a[row * g.a_row + k * g.a_col] * g.b[k * g.b_row + col * g.b_col];
    float *c = g.c + row * g.ldc + col;
    *c = alpha * sum + beta * *c;
}

/* Element (down, across) of the tile at (row, col) of a matrix, read along its
 * rows in memory. */
static __device__ void full_load(float tile[SIDE][SIDE + 1], const float *from,
                                 int64_t row, int64_t col, int64_t rows,
                                 int64_t cols, int64_t row_step,
                                 int64_t col_step)
{
    int down = row_step == 1 ? threadIdx.x : threadIdx.y;
    int across = row_step == 1 ? threadIdx.y : threadIdx.x;
    bool there = row + down < rows && col + across < cols;
    tile[down][across] =
        there ? from[(row + down) * row_step + (col + across) * col_step]
              : 0.0f;
}

static __global__ void __launch_bounds__(SIDE *SIDE)
    full_tile(struct lab_gemm_full g, float alpha, float beta)
{
    __shared__ float as[SIDE][SIDE + 1];
    __shared__ float bs[SIDE][SIDE + 1];
    int64_t row0;
    int64_t col0;
    lab_tile_start<SIDE>(g.N, &row0, &col0);
    float sum = 0.0f;
    for (int64_t k0 = 0; k0 < g.K; k0 += SIDE) {
        full_load(as, g.a, row0, k0, g.M, g.K, g.a_row, g.a_col);
        full_load(bs, g.b, k0, col0, g.K, g.N, g.b_row, g.b_col);
        __syncthreads(); /* both tiles are there */
        for (int k = 0; k < SIDE; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads(); /* no thread needs them any more */
    }
    int64_t row = row0 + threadIdx.y;
    int64_t col = col0 + threadIdx.x;
    if (row < g.M && col < g.N) {
        float *c = g.c + row * g.ldc + col;
        *c = alpha * sum + beta * *c;
    }
}

enum lab_status lab_gemm_full_plain(const struct lab_call *call)
{
    struct lab_gemm_full g = lab_gemm_full_of(call);
    full_plain<<<lab_tiles(g.M, g.N, SIDE, SIDE), dim3(SIDE, SIDE), 0,
                 lab_stream(call)>>>(g, static_cast<float>(LAB_GEMM_FULL_ALPHA),
                                     static_cast<float>(LAB_GEMM_FULL_BETA));
    return lab_launched("full_plain");
}

enum lab_status lab_gemm_full_tile(const struct lab_call *call)
{
    struct lab_gemm_full g = lab_gemm_full_of(call);
    full_tile<<<lab_tiles(g.M, g.N, SIDE, SIDE), dim3(SIDE, SIDE), 0,
                lab_stream(call)>>>(g, static_cast<float>(LAB_GEMM_FULL_ALPHA),
                                    static_cast<float>(LAB_GEMM_FULL_BETA));
    return lab_launched("full_tile");
}

enum lab_status lab_gemm_full_cublas(const struct lab_call *call)
{
    struct lab_gemm_full g = lab_gemm_full_of(call);
    const struct lab_cublas *blas = call->exec->cublas;
    const float alpha = static_cast<float>(LAB_GEMM_FULL_ALPHA);
    const float beta = static_cast<float>(LAB_GEMM_FULL_BETA);
    bool ta = lab_bench_dim(call, 3) == 2;
    bool tb = lab_bench_dim(call, 4) == 2;
    const int64_t sides[] = {g.M, g.K, g.lda, g.ldb, g.ldc};
    enum lab_status st = lab_cublas_ask(blas, sides, 5);
    if (st)
        return st;
    int status =
        blas->sgemm(blas->handle, tb ? LAB_CUBLAS_T : LAB_CUBLAS_N,
                    ta ? LAB_CUBLAS_T : LAB_CUBLAS_N, static_cast<int>(g.N),
                    static_cast<int>(g.M), static_cast<int>(g.K), &alpha, g.b,
                    static_cast<int>(g.ldb), g.a, static_cast<int>(g.lda),
                    &beta, g.c, static_cast<int>(g.ldc));
    return lab_cublas_judge(blas, status, "sgemm");
}

extern const struct lab_variant lab_cuda_variants_gemm_full[] = {
    {.name = "plain",
     .idea = "a thread an element of C, through strides",
     .run = lab_gemm_full_plain,
     .source = "kernels/gemm_full/gemm_full.cu"},
    {.name = "tile",
     .idea = "tiles in shared memory, each read as it lies",
     .run = lab_gemm_full_tile,
     .source = "kernels/gemm_full/gemm_full.cu"},
    {.name = "cublas",
     .idea = "the vendor's library",
     .needs = "cuBLAS",
     .run = lab_gemm_full_cublas,
     .source = "kernels/gemm_full/gemm_full.cu",
     .model = {.library = true}},
    {},
};
