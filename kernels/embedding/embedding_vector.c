/* Rows of a table by their ids, on all threads (cpu/vector.h): copies forward,
 * sums backward, both bound by memory. Backward each thread has columns of its own
 * and goes through all ids in their order, so that no two add to one element. */
#include <string.h>

#include "cpu/vector.h"
#include "embedding/embedding.h"

#define LAB_VECTOR_FILE "kernels/embedding/embedding_vector.c"

/* out[r,:] = W[ids[r],:], rows r = from .. to-1 */
static void gather_rows(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const int32_t *ids = call->in[0].data;
    const float *W = call->in[1].data;
    int64_t D = lab_view_cols(&call->in[1]);
    int64_t V = lab_view_rows(&call->in[1]);
    for (int64_t r = from; r < to; r++) {
        float *out = (float *)call->out[0].data + r * D;
        if (ids[r] >= 0 && ids[r] < V)
            memcpy(out, W + ids[r] * D, (size_t)D * sizeof(*out));
        else
            for (int64_t d = 0; d < D; d++)
                out[d] = NAN;
    }
}

static enum lab_status gather_forward(const struct lab_call *call)
{
    int64_t D = lab_view_cols(&call->in[1]);
    lab_parallel(call->in[0].count, 1 + LAB_GRAIN / (1 + D), gather_rows, call);
    return LAB_OK;
}

/* dW[v,d] = sum_r [ids[r] = v] dout[r,d], columns d = from .. to-1 */
LAB_VECTOR static void sum_columns(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const float *dout = call->in[0].data;
    const int32_t *ids = call->in[1].data;
    float *dW = call->out[0].data;
    int64_t D = lab_view_cols(&call->out[0]);
    int64_t V = lab_view_rows(&call->out[0]);
    for (int64_t v = 0; v < V; v++)
        memset(dW + v * D + from, 0, (size_t)(to - from) * sizeof(*dW));
    for (int64_t r = 0; r < call->in[1].count; r++) {
        if (ids[r] < 0 || ids[r] >= V)
            continue;
        float *sum = dW + ids[r] * D;
        const float *add = dout + r * D;
#pragma omp simd
        for (int64_t d = from; d < to; d++)
            sum[d] += add[d];
    }
}

static enum lab_status gather_backward(const struct lab_call *call)
{
    int64_t rows = call->in[1].count + lab_view_rows(&call->out[0]);
    lab_parallel(lab_view_cols(&call->out[0]), 16 + LAB_GRAIN / (1 + rows),
                 sum_columns, call);
    return LAB_OK;
}

static const struct lab_variant rows[] = {
    LAB_VECTOR_ROW("gather", LAB_FORWARD, gather_forward),
    LAB_VECTOR_ROW("gather", LAB_BACKWARD, gather_backward),
};
const struct lab_kernel_set lab_vector_embedding = {"embedding", rows, 2};

/* A learned row for every place of a sequence: out[n,t,:] = x[n,t,:] + W[t,:], rows
 * n*T + t = from .. to-1 */
LAB_VECTOR static void add_places(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    int64_t T = call->in[0].dim[call->in[0].rank - 2];
    int64_t D = lab_view_cols(&call->in[0]);
    for (int64_t r = from; r < to; r++) {
        const float *x = (const float *)call->in[0].data + r * D;
        const float *W = (const float *)call->in[1].data + r % T * D;
        float *out = (float *)call->out[0].data + r * D;
#pragma omp simd
        for (int64_t d = 0; d < D; d++)
            out[d] = x[d] + W[d];
    }
}

static enum lab_status places_forward(const struct lab_call *call)
{
    return lab_each_row(call, &call->in[0], add_places);
}

/* dW[t,:] = sum_n dout[n,t,:], and 0 past the sequence's end */
static enum lab_status places_backward(const struct lab_call *call)
{
    const int64_t *dim = call->in[0].dim + call->in[0].rank - 2;
    float *dW = call->out[0].data;
    int64_t each = dim[0] * dim[1];
    memset(dW + each, 0, (size_t)(call->out[0].count - each) * sizeof(*dW));
    lab_column_sums(dW, call->in[0].data,
                    each > 0 ? call->in[0].count / each : 0, each);
    return LAB_OK;
}

static const struct lab_variant places_rows[] = {
    LAB_VECTOR_ROW("add", LAB_FORWARD, places_forward),
    LAB_VECTOR_ROW("add", LAB_BACKWARD, places_backward),
};
const struct lab_kernel_set lab_vector_positional_embedding = {
    "positional_embedding", places_rows, 2};
