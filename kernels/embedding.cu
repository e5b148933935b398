/* kernels/embedding.cu -- a row of a table for every id.
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
 *           For tables of at most SPLIT_IDS ids, letters say. */
#include "columns.cuh"
#include "embedding.h"

enum { SPLIT_IDS = 128 };

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

static enum lab_status gather_backward_split(const struct lab_call *call)
{
    int64_t V = lab_view_rows(&call->out[0]);
    int64_t D = lab_view_cols(&call->out[0]);
    int64_t R = call->in[1].count;
    columns_cut c = columns_cut_of(call, R, D, (int)(V <= SPLIT_IDS ? V : 1));
    if (V > SPLIT_IDS || c.slices < 2)
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

static const char source[] = "kernels/embedding.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "gather", LAB_FORWARD, gather_forward, source,
            "embedding_gather_fwd"),
    lab_row("naive", "gather", LAB_BACKWARD, gather_backward<1>, source,
            "embedding_gather_bwd"),
    lab_row("block", "gather", LAB_BACKWARD, gather_backward<8>, source,
            "embedding_gather_bwd"),
    lab_prefer(lab_row("split", "gather", LAB_BACKWARD, gather_backward_split,
                       source, "embedding_gather_slice")),
};

const struct lab_kernel_set lab_cuda_embedding = lab_set("embedding", variants);
