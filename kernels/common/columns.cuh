/* kernels/common/columns.cuh -- sums down the columns of a tall matrix: the gradients
 * of what all rows share, a bias, gamma and beta.
 *
 * A block that walks whole columns is slow when they are few: a matrix of
 * 16,384 x 384 keeps 12 blocks of 32 columns busy, on a chip with 132
 * multiprocessors. Here the rows are cut into slices, a block each, and a second
 * kernel adds the slices' sums:
 *
 *   columns_slice   block (b, s): 32 columns, 8 threads each, of slice s
 *   columns_join    8 threads a column: thread y adds the slices y, y + 8 ...
 *
 * Always the same pairs, so the same bits at every run. A matrix too short to
 * be worth two kernels is one slice, and the first kernel writes the result.
 * Memory: the matrix once; the slices' sums, in double, stay in the cache. */
#pragma once
#include "common/launch.cuh"

enum { COLUMNS_WIDE = 32, COLUMNS_DEEP = 8, COLUMNS_LEAST_ROWS = 128 };

/* How the rows are cut. */
struct columns_cut {
    int64_t rows;
    int64_t cols;
    int64_t each; /* rows of a slice */
    int64_t slices;
    int64_t across; /* blocks side by side */
};

static inline columns_cut columns_cut_of(const struct lab_call *call,
                                         int64_t rows, int64_t cols, int sums)
{
    columns_cut c = {rows, cols, 0, 1,
                     (cols + COLUMNS_WIDE - 1) / COLUMNS_WIDE};
    size_t slice_bytes = (size_t)(cols * sums) * sizeof(double);
    int64_t room = (int64_t)(call->exec->workspace_bytes / slice_bytes);
    int64_t most = (rows + COLUMNS_LEAST_ROWS - 1) / COLUMNS_LEAST_ROWS;
    int64_t wanted = 8 * (int64_t)call->exec->sm_count / c.across;
    if (wanted > most)
        wanted = most;
    if (wanted > room)
        wanted = room;
    if (wanted >= 4 && call->exec->workspace)
        c.slices = wanted;
    c.each = (rows + c.slices - 1) / c.slices;
    return c;
}

/* TERMS has `enum { SUMS }`, `add(sum, i)`, which adds element i of the matrix
 * to the sums of its column, and `put(m, k, value)`, which writes sum k of
 * column m. */
template <class TERMS>
static __global__ void columns_slice(double *part, TERMS terms, columns_cut c)
{
    __shared__ double sums[TERMS::SUMS][COLUMNS_DEEP][COLUMNS_WIDE];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int64_t m = blockIdx.x % c.across * COLUMNS_WIDE + tx;
    int64_t slice = blockIdx.x / c.across;
    int64_t end = (slice + 1) * c.each < c.rows ? (slice + 1) * c.each : c.rows;
    double sum[TERMS::SUMS] = {};
    if (m < c.cols) {
#pragma unroll 4
        for (int64_t r = slice * c.each + ty; r < end; r += COLUMNS_DEEP)
            terms.add(sum, r * c.cols + m);
    }
    for (int k = 0; k < TERMS::SUMS; k++)
        sums[k][ty][tx] = sum[k];
    __syncthreads();
    if (ty > 0 || m >= c.cols)
        return;
    for (int k = 0; k < TERMS::SUMS; k++) {
        double total = 0.0;
        for (int y = 0; y < COLUMNS_DEEP; y++)
            total += sums[k][y][tx];
        if (c.slices == 1)
            terms.put(m, k, (float)total);
        else
            part[(slice * TERMS::SUMS + k) * c.cols + m] = total;
    }
}

template <class TERMS>
static __global__ void columns_join(const double *part, TERMS terms,
                                    columns_cut c)
{
    __shared__ double sums[COLUMNS_DEEP][COLUMNS_WIDE + 1];
    int64_t column = (int64_t)blockIdx.x * COLUMNS_WIDE + threadIdx.x;
    int64_t m = column % c.cols;
    int64_t k = column / c.cols;
    double sum = 0.0;
    if (k < TERMS::SUMS) {
        for (int64_t s = threadIdx.y; s < c.slices; s += COLUMNS_DEEP)
            sum += part[(s * TERMS::SUMS + k) * c.cols + m];
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || k >= TERMS::SUMS)
        return;
    sum = 0.0;
    for (int y = 0; y < COLUMNS_DEEP; y++)
        sum += sums[y][threadIdx.x];
    terms.put(m, (int)k, (float)sum);
}

/* Sums of (rows, cols); uses the workspace of the exec. */
template <class TERMS>
static inline void columns_sum(const struct lab_call *call, const TERMS &terms,
                               int64_t rows, int64_t cols)
{
    columns_cut c = columns_cut_of(call, rows, cols, TERMS::SUMS);
    double *part = static_cast<double *>(call->exec->workspace);
    dim3 block(COLUMNS_WIDE, COLUMNS_DEEP);
    columns_slice<<<lab_blocks(c.across * c.slices, 1), block, 0,
                    lab_stream(call)>>>(part, terms, c);
    if (c.slices > 1)
        columns_join<<<lab_blocks(cols * TERMS::SUMS, COLUMNS_WIDE), block, 0,
                       lab_stream(call)>>>(part, terms, c);
}

/* The sum of a matrix itself: a bias's gradient. */
struct columns_plain {
    enum { SUMS = 1 };
    float *db;
    const float *dy;

    __device__ void add(double *sum, int64_t i) const
    {
        sum[0] += dy[i];
    }
    __device__ void put(int64_t m, int, float value) const
    {
        db[m] = value;
    }
};
