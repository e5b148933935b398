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
 *           pairs */
#include "embedding.h"
#include "launch.cuh"

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

static const char source[] = "kernels/embedding.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "gather", LAB_FORWARD, gather_forward, source,
            "embedding_gather_fwd"),
    lab_row("naive", "gather", LAB_BACKWARD, gather_backward<1>, source,
            "embedding_gather_bwd"),
    lab_row("block", "gather", LAB_BACKWARD, gather_backward<8>, source,
            "embedding_gather_bwd"),
};

const struct lab_kernel_set lab_cuda_embedding = lab_set("embedding", variants);
