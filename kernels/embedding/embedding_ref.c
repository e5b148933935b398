/* A row of a table for every id, and the gradient that goes back to the rows
 * that were looked up: an id that occurs twice gets two contributions. */
#include "embedding/embedding.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/embedding/embedding_ref.c"

/* out[r,d] = W[ids[r],d] */
static enum lab_status embedding_gather_forward(const struct lab_call *call)
{
    const int32_t *ids = call->in[0].data; /* (R) */
    const real *W = call->in[1].data;      /* (V, D) */
    real *out = call->out[0].data;         /* (R, D) */
    int64_t D = lab_view_cols(&call->in[1]);
    int64_t V = lab_view_rows(&call->in[1]);
    for (int64_t r = 0; r < call->in[0].count; r++) {
        bool known = ids[r] >= 0 && ids[r] < V;
        for (int64_t d = 0; d < D; d++)
            out[r * D + d] = known ? W[ids[r] * D + d] : (real)NAN;
    }
    return LAB_OK;
}

enum { WIDTH = 64 };

/* WIDTH columns of dW from `first` on, for the id v. */
static void gather_columns(real *dW, const struct lab_call *call, int64_t v,
                           int64_t first, int64_t D)
{
    const real *dout = call->in[0].data;
    const int32_t *ids = call->in[1].data;
    int64_t n = D - first < WIDTH ? D - first : WIDTH;
    double sum[WIDTH] = {0};
    for (int64_t r = 0; r < call->in[1].count; r++) {
        for (int64_t d = 0; ids[r] == v && d < n; d++)
            sum[d] += dout[r * D + first + d];
    }
    for (int64_t d = 0; d < n; d++)
        dW[v * D + first + d] = (real)sum[d];
}

/* dW[v,d] = sum_r [ids[r] = v] dout[r,d] */
static enum lab_status embedding_gather_backward(const struct lab_call *call)
{
    int64_t D = lab_view_cols(&call->out[0]);
    int64_t V = lab_view_rows(&call->out[0]);
    for (int64_t v = 0; v < V; v++) {
        for (int64_t first = 0; first < D; first += WIDTH)
            gather_columns(call->out[0].data, call, v, first, D);
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("gather", LAB_FORWARD, embedding_gather_forward),
    LAB_REF_ROW("gather", LAB_BACKWARD, embedding_gather_backward),
};

LAB_REF_SET(embedding, variants);
