/* kernels/embedding/embedding.cu -- a row of a table for every id.
 *
 * Forward, a thread an element of the result: the threads of a row read the
 * same id and neighbouring numbers of W. 8 bytes an element, no flop: as a
 * product with a one-hot matrix the same numbers would cost 2*V flop each.
 *
 * Backward is a scatter: rows with the same id end in the same row of dW. A
 * scatter with atomics would be short and would add in another order at every
 * run. Here the table is the one that asks: every row of dW looks through all
 * ids for its own.
 *   naive   a thread an element of dW walks all R ids
 *   block   32 columns x 8 threads an id: thread ty looks at the ids ty, ty + 8
 *           ..., and the 8 partial sums are added in halves, always the same
 *           pairs
 *   split   the ids are read once: a warp has 32 columns of the whole table in
 *           shared memory and adds a slice of the rows to it, one after the
 *           other; the slices' tables are then added in order (columns.cuh).
 *           For tables of at most SPLIT_IDS ids, as of letters. */
#include "common/columns.cuh"
#include "embedding/embedding.h"

enum { SPLIT_IDS = 128, SORTED_ROWS = 1 << 16, SCAN_THREADS = 1024 };

static __global__ void embedding_gather_fwd(float *out, const int32_t *ids,
                                            const float *W, int64_t count,
                                            int64_t V, int64_t D)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t id = ids[i / D];
    out[i] = id >= 0 && id < V ? W[id * D + i % D] : NAN;
}

/* dW[v,d] = sum_r [ids[r] = v] dout[r,d] */
template <int ROWS>
static __global__ void embedding_gather_bwd(float *dW, const float *dout,
                                            const int32_t *ids, int64_t R,
                                            int64_t D)
{
    __shared__ double part[ROWS][32];
    int64_t across = (D + 31) / 32;
    int64_t v = blockIdx.x / across;
    int64_t d = blockIdx.x % across * 32 + threadIdx.x;
    double sum = 0.0;
    for (int64_t r = threadIdx.y; d < D && r < R; r += ROWS) {
        if (ids[r] == v)
            sum += dout[r * D + d];
    }
    part[threadIdx.y][threadIdx.x] = sum;
    for (int half = ROWS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.y < half) {
            part[threadIdx.y][threadIdx.x] +=
                part[threadIdx.y + half][threadIdx.x];
        }
    }
    if (threadIdx.y == 0 && d < D)
        dW[v * D + d] = (float)part[0][threadIdx.x];
}

/* Block (b, s): columns 32 b ... of slice s. */
static __global__ void embedding_gather_slice(double *part, const float *dout,
                                              const int32_t *ids, int64_t V,
                                              int64_t D, columns_cut c)
{
    __shared__ double table[SPLIT_IDS][COLUMNS_WIDE];
    int tx = threadIdx.x;
    int64_t d = blockIdx.x % c.across * COLUMNS_WIDE + tx;
    int64_t slice = blockIdx.x / c.across;
    int64_t end = (slice + 1) * c.each < c.rows ? (slice + 1) * c.each : c.rows;
    for (int64_t v = 0; v < V; v++)
        table[v][tx] = 0.0;
    if (d >= D)
        return;
#pragma unroll 4
    for (int64_t r = slice * c.each; r < end; r++) {
        int32_t id = ids[r];
        float g = dout[r * D + d];
        if (id >= 0 && id < V)
            table[id][tx] += g;
    }
    for (int64_t v = 0; v < V; v++)
        part[(slice * V + v) * D + d] = table[v][tx];
}

/* before[r] = how many of the rows in front of r have its id; count[v + 1] = how
 * many rows have id v. Integer atomics: the same counts in any order. */
static __global__ void embedding_rank(int32_t *before, int32_t *count,
                                      const int32_t *ids, int R, int64_t V)
{
    __shared__ int32_t tile[LAB_BLOCK];
    int r = blockIdx.x * LAB_BLOCK + threadIdx.x;
    int32_t id = r < R ? ids[r] : -1;
    int same = 0;
    for (int first = 0; first <= (int)blockIdx.x * LAB_BLOCK;
         first += LAB_BLOCK) {
        int at = first + threadIdx.x;
        __syncthreads();
        tile[threadIdx.x] = at < R ? ids[at] : -1;
        __syncthreads();
        int n = min((int)LAB_BLOCK, r - first);
#pragma unroll 8
        for (int k = 0; k < n; k++)
            same += tile[k] == id;
    }
    if (r >= R)
        return;
    before[r] = same;
    if (id >= 0 && id < V)
        atomicAdd(&count[id + 1], 1);
}

/* count[v] becomes the sum of count[0 .. v], by one block: a thread has a run of
 * neighbours, and the threads' sums are added in halves. */
static __global__ void embedding_scan(int32_t *count, int64_t n)
{
    __shared__ int32_t sums[SCAN_THREADS];
    int t = threadIdx.x;
    int64_t each = (n + SCAN_THREADS - 1) / SCAN_THREADS;
    int64_t first = min(n, t * each);
    int64_t end = min(n, first + each);
    int32_t sum = 0;
    for (int64_t v = first; v < end; v++)
        sum += count[v];
    sums[t] = sum;
    for (int distance = 1; distance < SCAN_THREADS; distance *= 2) {
        __syncthreads();
        int32_t left = t >= distance ? sums[t - distance] : 0;
        __syncthreads();
        sums[t] += left;
    }
    sum = sums[t] - sum;
    for (int64_t v = first; v < end; v++) {
        sum += count[v];
        count[v] = sum;
    }
}

/* The rows in the order of their ids, those of one id in their own. */
static __global__ void embedding_place(int32_t *order, const int32_t *start,
                                       const int32_t *before,
                                       const int32_t *ids, int R, int64_t V)
{
    int r = blockIdx.x * LAB_BLOCK + threadIdx.x;
    if (r < R && ids[r] >= 0 && ids[r] < V)
        order[start[ids[r]] + before[r]] = r;
}

/* A thread an element of dW: the rows of its id; `more` adds to what is there. */
static __global__ void embedding_sorted(float *dW, const float *dout,
                                        const int32_t *order,
                                        const int32_t *start, int64_t count,
                                        int64_t D, bool more)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t v = i / D;
    int64_t d = i - v * D;
    double sum = more ? dW[i] : 0.0;
    int end = start[v + 1];
#pragma unroll 4
    for (int s = start[v]; s < end; s++)
        sum += dout[order[s] * D + d];
    dW[i] = (float)sum;
}

static enum lab_status gather_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    embedding_gather_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_labels(call, 0), lab_in(call, 1), count,
        lab_view_rows(&call->in[1]), lab_view_cols(&call->in[1]));
    return lab_launched("embedding_gather_fwd");
}

template <int ROWS>
static enum lab_status gather_backward(const struct lab_call *call)
{
    int64_t D = lab_view_cols(&call->out[0]);
    int64_t V = lab_view_rows(&call->out[0]);
    embedding_gather_bwd<ROWS>
        <<<lab_blocks(V * ((D + 31) / 32), 1), dim3(32, ROWS), 0,
           lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                               lab_labels(call, 1), call->in[1].count, D);
    return lab_launched("embedding_gather_bwd");
}

/* The workspace: V + 1 starts, then the ranks and the order of a piece of rows. */
static enum lab_status gather_backward_sorted(const struct lab_call *call)
{
    if (!lab_out(call, 0))
        return LAB_OK;
    int64_t D = lab_view_cols(&call->out[0]);
    int64_t V = lab_view_rows(&call->out[0]);
    int64_t R = call->in[1].count;
    int64_t most = min(R, (int64_t)SORTED_ROWS);
    int32_t *start = static_cast<int32_t *>(call->exec->workspace);
    cudaStream_t stream = lab_stream(call);
    if (!start || (size_t)(V + 1 + 2 * most) * sizeof(*start) >
                      call->exec->workspace_bytes)
        return gather_backward<8>(call);
    int32_t *before = start + V + 1;
    for (int64_t first = 0; first < R; first += most) {
        int rows = (int)(R - first < most ? R - first : most);
        const int32_t *ids = lab_labels(call, 1) + first;
        enum lab_status st =
            lab_zero(call, start, (size_t)(V + 1) * sizeof(*start));
        if (st)
            return st;
        embedding_rank<<<lab_blocks(rows), LAB_BLOCK, 0, stream>>>(
            before, start, ids, rows, V);
        embedding_scan<<<1, SCAN_THREADS, 0, stream>>>(start, V + 1);
        embedding_place<<<lab_blocks(rows), LAB_BLOCK, 0, stream>>>(
            before + most, start, before, ids, rows, V);
        embedding_sorted<<<lab_blocks(V * D), LAB_BLOCK, 0, stream>>>(
            lab_out(call, 0), lab_in(call, 0) + first * D, before + most, start,
            V * D, D, first > 0);
    }
    return lab_launched("embedding_sorted");
}

static enum lab_status gather_backward_split(const struct lab_call *call)
{
    if (!lab_out(call, 0))
        return LAB_OK;
    int64_t V = lab_view_rows(&call->out[0]);
    int64_t D = lab_view_cols(&call->out[0]);
    int64_t R = call->in[1].count;
    columns_cut c = columns_cut_of(call, R, D, (int)(V <= SPLIT_IDS ? V : 1));
    if (V > SPLIT_IDS)
        return gather_backward_sorted(call);
    if (c.slices < 2)
        return gather_backward<8>(call);
    double *part = static_cast<double *>(call->exec->workspace);
    embedding_gather_slice<<<lab_blocks(c.across * c.slices, 1), COLUMNS_WIDE,
                             0, lab_stream(call)>>>(
        part, lab_in(call, 0), lab_labels(call, 1), V, D, c);
    columns_cut tables = {R, V * D, c.each, c.slices, 1};
    columns_join<<<lab_blocks(V * D, COLUMNS_WIDE),
                   dim3(COLUMNS_WIDE, COLUMNS_DEEP), 0, lab_stream(call)>>>(
        part, columns_plain{lab_out(call, 0), nullptr}, tables);
    return lab_launched("embedding_gather_slice");
}

static const char source[] = "kernels/embedding/embedding.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "gather", LAB_FORWARD, gather_forward, source,
            "embedding_gather_fwd"),
    lab_row("naive", "gather", LAB_BACKWARD, gather_backward<1>, source,
            "embedding_gather_bwd"),
    lab_row("block", "gather", LAB_BACKWARD, gather_backward<8>, source,
            "embedding_gather_bwd"),
    lab_apart(lab_row("sorted", "gather", LAB_BACKWARD, gather_backward_sorted,
                      source, "embedding_sorted")),
    lab_apart(lab_prefer(lab_row("split", "gather", LAB_BACKWARD,
                                 gather_backward_split, source,
                                 "embedding_gather_slice"))),
};

const struct lab_kernel_set lab_cuda_embedding = lab_set("embedding", variants);
