/* kernels/trsv/trsv.cu -- forward substitution: x[i] needs all x before it, so that
 * the longest chain is n divisions and products, whatever the number of threads.
 *
 * columns  one block. As soon as x[j] is known, its threads take column j from the
 *          rest; two barriers for each x: 2 n, and one multiprocessor.
 * blocked  32 rows at a time: a warp solves the triangle on the diagonal by shuffles,
 *          and a grid takes those 32 columns from all rows below, a warp a row, its
 *          lanes reading neighbours. 2 n/32 launches; nearly all of the work is
 *          a product of a matrix and a vector. */
#include "common/launch.cuh"
#include "trsv/trsv.h"

enum { SIDE = 32 };

static __global__ void trsv_columns(double *x, const double *l, const double *b,
                                    int64_t n)
{
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = b[i];
    for (int64_t j = 0; j < n; j++) {
        __syncthreads(); /* x[j] has all that came before */
        double known = x[j] / l[j * n + j];
        __syncthreads(); /* all threads have read it */
        for (int64_t i = j + 1 + threadIdx.x; i < n; i += blockDim.x)
            x[i] -= l[i * n + j] * known;
        if (threadIdx.x == 0)
            x[j] = known;
    }
}

/* Rows j .. j+31, x of which has all that came before; one warp. */
static __global__ void trsv_triangle(double *x, const double *l, int64_t j,
                                     int64_t n)
{
    int64_t row = j + threadIdx.x;
    bool there = row < n;
    double mine = there ? x[row] : 0.0;
    for (int k = 0; k < SIDE && j + k < n; k++) {
        if (threadIdx.x == k)
            mine /= l[row * n + row];
        double known = __shfl_sync(0xffffffffu, mine, k);
        if (there && threadIdx.x > k)
            mine -= l[row * n + j + k] * known;
    }
    if (there)
        x[row] = mine;
}

/* A warp a row below: 32 columns, a lane each. */
static __global__ void trsv_update(double *x, const double *l, int64_t j,
                                   int64_t n)
{
    int64_t row = j + SIDE + lab_element() / SIDE;
    int lane = threadIdx.x % SIDE;
    if (row >= n) /* a whole warp leaves */
        return;
    double v = l[row * n + j + lane] * x[j + lane];
#pragma unroll
    for (int down = SIDE / 2; down > 0; down /= 2)
        v += __shfl_down_sync(0xffffffffu, v, down);
    if (lane == 0)
        x[row] -= v;
}

enum lab_status lab_trsv_columns(const struct lab_call *call)
{
    trsv_columns<<<1, LAB_BLOCK, 0, lab_stream(call)>>>(
        static_cast<double *>(call->out[0].data),
        static_cast<const double *>(call->in[0].data),
        static_cast<const double *>(call->in[1].data), call->in[1].count);
    return lab_launched("trsv_columns");
}

enum lab_status lab_trsv_blocked(const struct lab_call *call)
{
    double *x = static_cast<double *>(call->out[0].data);
    const double *l = static_cast<const double *>(call->in[0].data);
    int64_t n = call->in[1].count;
    cudaError_t err = cudaMemcpyAsync(
        x, call->in[1].data, static_cast<size_t>(n) * sizeof(double),
        cudaMemcpyDeviceToDevice, lab_stream(call));
    if (err != cudaSuccess)
        return lab_fail(LAB_E_DEVICE, "cannot copy b: %s",
                        cudaGetErrorString(err));
    enum lab_status st = LAB_OK;
    for (int64_t j = 0; j < n && !st; j += SIDE) {
        int64_t below = n - j - SIDE;
        trsv_triangle<<<1, SIDE, 0, lab_stream(call)>>>(x, l, j, n);
        st = lab_launched("trsv_triangle");
        if (!st && below > 0) {
            trsv_update<<<lab_blocks(below * SIDE), LAB_BLOCK, 0,
                          lab_stream(call)>>>(x, l, j, n);
            st = lab_launched("trsv_update");
        }
    }
    return st;
}

extern const struct lab_variant lab_cuda_variants_trsv[] = {
    {.name = "columns",
     .idea = "one block, a column at a time",
     .run = lab_trsv_columns,
     .source = "kernels/trsv/trsv.cu",
     .precision = LAB_FP64},
    {.name = "blocked",
     .idea = "32 rows by a warp, then the rest by a grid",
     .run = lab_trsv_blocked,
     .source = "kernels/trsv/trsv.cu",
     .precision = LAB_FP64},
    {},
};
