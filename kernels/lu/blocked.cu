/* kernels/lu/blocked.cu -- P A = L U by our own kernels and one product.
 *
 * A panel of B columns at a time:
 *   panel   one block of 1,024 threads finds the pivots of its columns, exchanges
 *           rows within it, divides, and updates the panel's own columns
 *   rows    the panel's exchanges, in all the other columns
 *   solve   U to the right of the panel: a triangle of B x B, a thread a column
 *   update  what is left -= L U: a product, by cuBLAS; where that is not to be had,
 *           on a simulated GPU too, by the kernel lu_update
 *
 * unblocked  B = 1: the update is a column times a row, two operations for each
 *            number that memory moves twice: as fast as memory, no faster.
 * blocked    B = 32. The idea of LAPACK and of MAGMA: all but a part that grows
 *            with n n B is products, which use every number many times.
 *            The price: a panel is the work of one multiprocessor, while the
 *            others wait. MAGMA factors it on the CPU, while the GPU updates. */
#include <limits.h>

#include "library/cublas_exec.h"
#include "lu/lu.h"
#include "common/tiles.cuh"

enum {
    PANEL = 32,
    PANEL_THREADS = 1024,
    WARPS = PANEL_THREADS / 32,
    SIDE = 16,       /* of a block's square in lu_update */
    TYPE_64F = 1,    /* cudaDataType_t */
    COMPUTE_64F = 70 /* cublasComputeType_t */
};

struct candidate {
    double size;
    int row;
};

static __device__ __forceinline__ struct candidate
larger(const struct candidate &a, const struct candidate &b)
{
    bool first = a.size > b.size || (a.size == b.size && a.row < b.row);
    return first ? a : b;
}

static __device__ __forceinline__ struct candidate
warp_largest(struct candidate mine)
{
#pragma unroll
    for (int down = 16; down > 0; down /= 2) {
        struct candidate other = {
            __shfl_down_sync(0xffffffffu, mine.size, down),
            __shfl_down_sync(0xffffffffu, mine.row, down)};
        mine = larger(mine, other);
    }
    return mine;
}

/* The row from k on with the largest number in `column`; all threads get
 * it. */
static __device__ int find_pivot(const double *column, int k, int n)
{
    __shared__ struct candidate best[WARPS];
    struct candidate mine = {-1.0, INT_MAX};
    for (int i = k + threadIdx.x; i < n; i += PANEL_THREADS)
        mine = larger(mine, {fabs(column[i]), i});
    mine = warp_largest(mine);
    if (threadIdx.x % 32 == 0)
        best[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = warp_largest(best[threadIdx.x]);
        if (threadIdx.x == 0)
            best[0] = mine;
    }
    __syncthreads();
    int row = best[0].row;
    __syncthreads();          /* `best` is used again for the next column */
    return row < n ? row : k; /* a column of NaN */
}

/* Columns k0 .. k0 + wide - 1, rows from k0 on. */
static __global__ void __launch_bounds__(PANEL_THREADS)
    lu_panel(double *a, int32_t *pivots, int k0, int wide, int n)
{
    __shared__ double pivot_row[PANEL];
    int64_t ld = n;
    double *panel = a + k0 * ld;
    int t = threadIdx.x;
    for (int j = 0; j < wide; j++) {
        int k = k0 + j;
        double *column = panel + j * ld;
        int best = find_pivot(column, k, n);
        if (t == 0)
            pivots[k] = best + 1;
        if (t < wide) {
            double v = panel[t * ld + best];
            panel[t * ld + best] = panel[t * ld + k];
            panel[t * ld + k] = v;
            pivot_row[t] = v;
        }
        __syncthreads();
        for (int i = k + 1 + t; i < n; i += PANEL_THREADS) {
            double l = column[i] / pivot_row[j];
            column[i] = l;
            for (int c = j + 1; c < wide; c++)
                panel[c * ld + i] -= l * pivot_row[c];
        }
        __syncthreads();
    }
}

/* A thread for each column outside of the panel. */
static __global__ void lu_rows(double *a, const int32_t *pivots, int k0,
                               int wide, int n)
{
    int64_t c = lab_element();
    if (c >= n || (c >= k0 && c < k0 + wide))
        return;
    double *column = a + c * n;
    for (int k = k0; k < k0 + wide; k++) {
        int other = pivots[k] - 1;
        double v = column[k];
        column[k] = column[other];
        column[other] = v;
    }
}

/* Rows k0 .. k0 + wide - 1 of the columns to the right become U's. */
static __global__ void lu_solve(double *a, int k0, int wide, int n)
{
    __shared__ double l[PANEL][PANEL];
    for (int i = threadIdx.x; i < wide * wide; i += blockDim.x)
        l[i / wide][i % wide] =
            a[static_cast<int64_t>(k0 + i / wide) * n + k0 + i % wide];
    __syncthreads();
    int64_t c = k0 + wide + lab_element();
    if (c >= n)
        return;
    double *column = a + c * n + k0;
    for (int k = 0; k < wide; k++) {
        double v = column[k];
        for (int i = k + 1; i < wide; i++)
            column[i] -= l[k][i] * v;
    }
}

/* What is right of and below the panel -= L U. A block has SIDE x SIDE elements, a
 * thread one: the block's rows of L and columns of U, 2 x SIDE x 32 numbers at most, go
 * through shared memory. An element takes 2 `wide` operations and is read and written
 * once, which leaves memory the limit: a library's product keeps more in registers. */
static __global__ void __launch_bounds__(SIDE *SIDE)
    lu_update(double *a, int k0, int wide, int n)
{
    __shared__ double l[PANEL][SIDE];
    __shared__ double u[SIDE][PANEL + 1]; /* + 1: columns in other banks */
    int64_t ld = n;
    int x = threadIdx.x % SIDE;
    int y = threadIdx.x / SIDE;
    int64_t row;
    int64_t col;
    lab_tile_start<SIDE>(n - k0 - wide, &col, &row); /* by columns */
    row += x + k0 + wide;
    col += y + k0 + wide;
    for (int k = y; k < wide; k += SIDE)
        l[k][x] = row < n ? a[(k0 + k) * ld + row] : 0.0;
    for (int k = x; k < wide; k += SIDE)
        u[y][k] = col < n ? a[col * ld + k0 + k] : 0.0;
    __syncthreads();
    if (row >= n || col >= n)
        return;
    double sum = 0.0;
    for (int k = 0; k < wide; k++)
        sum += l[k][x] * u[y][k];
    a[col * ld + row] -= sum;
}

static enum lab_status update(const struct lab_call *call, double *a, int k,
                              int wide, int n)
{
    const struct lab_cublas *blas = call->exec->cublas;
    const double minus = -1.0;
    const double one = 1.0;
    int64_t right = static_cast<int64_t>(k + wide) * n;
    int64_t panel = static_cast<int64_t>(k) * n;
    int left = n - k - wide;
    if (!blas) {
        lu_update<<<lab_tiles(left, left, SIDE, SIDE), SIDE * SIDE, 0,
                    lab_stream(call)>>>(a, k, wide, n);
        return LAB_OK; /* the caller asks whether the launches were taken */
    }
    int status = blas->gemm_ex(
        blas->handle, LAB_CUBLAS_N, LAB_CUBLAS_N, left, left, wide, &minus,
        a + panel + k + wide, TYPE_64F, n, a + right + k, TYPE_64F, n, &one,
        a + right + k + wide, TYPE_64F, n, COMPUTE_64F, -1);
    return lab_cublas_judge(blas, status, "gemm_ex");
}

static enum lab_status factor(const struct lab_call *call, int panel)
{
    double *a = static_cast<double *>(call->out[0].data);
    int32_t *pivots = static_cast<int32_t *>(call->out[1].data);
    cudaStream_t stream = lab_stream(call);
    int n = static_cast<int>(call->in[0].dim[0]);
    enum lab_status st = LAB_OK;
    cudaError_t err =
        cudaMemcpyAsync(a, call->in[0].data,
                        static_cast<size_t>(call->in[0].count) * sizeof(*a),
                        cudaMemcpyDeviceToDevice, stream);
    if (err)
        return lab_fail(LAB_E_DEVICE, "lu: %s", cudaGetErrorString(err));
    for (int k = 0; k < n && !st; k += panel) {
        int wide = n - k < panel ? n - k : panel;
        int left = n - k - wide;
        lu_panel<<<1, PANEL_THREADS, 0, stream>>>(a, pivots, k, wide, n);
        lu_rows<<<lab_blocks(n), LAB_BLOCK, 0, stream>>>(a, pivots, k, wide, n);
        if (left > 0) {
            lu_solve<<<lab_blocks(left, 64), 64, 0, stream>>>(a, k, wide, n);
            st = update(call, a, k, wide, n);
        }
        if (!st)
            st = lab_launched("lu");
    }
    return st;
}

enum lab_status lab_lu_unblocked(const struct lab_call *call)
{
    return factor(call, 1);
}

enum lab_status lab_lu_blocked(const struct lab_call *call)
{
    return factor(call, PANEL);
}
