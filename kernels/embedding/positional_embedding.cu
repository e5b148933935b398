/* kernels/embedding/positional_embedding.cu -- a learned row for every place, added.
 *
 * A thread an element; backward, a thread an element of the table adds the N
 * sequences up, in order. Memory: forward 8 bytes an element (W stays in the
 * cache), backward 4. */
#include "common/launch.cuh"
#include "embedding/positional_embedding.h"

static __global__ void position_add_fwd(float *out, const float *x,
                                        const float *W, int64_t count,
                                        int64_t TD)
{
    int64_t i = lab_element();
    if (i < count)
        out[i] = x[i] + W[i % TD];
}

static __global__ void position_add_bwd(float *dW, const float *dout,
                                        int64_t count, int64_t TD,
                                        int64_t table)
{
    int64_t i = lab_element();
    if (i >= table)
        return;
    double sum = 0.0;
    for (int64_t at = i; i < TD && at < count; at += TD)
        sum += dout[at];
    dW[i] = (float)sum;
}

/* Elements of one sequence. */
static int64_t sequence(const struct lab_view *x)
{
    return x->dim[x->rank - 2] * x->dim[x->rank - 1];
}

static enum lab_status add_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    position_add_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count,
        sequence(&call->in[0]));
    return lab_launched("position_add_fwd");
}

static enum lab_status add_backward(const struct lab_call *call)
{
    if (!lab_out(call, 0))
        return LAB_OK;
    int64_t table = call->out[0].count;
    position_add_bwd<<<lab_blocks(table), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), call->in[0].count,
        sequence(&call->in[0]), table);
    return lab_launched("position_add_bwd");
}

static const char source[] = "kernels/embedding/positional_embedding.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "add", LAB_FORWARD, add_forward, source,
            "position_add_fwd"),
    lab_apart(lab_row("naive", "add", LAB_BACKWARD, add_backward, source,
                      "position_add_bwd")),
};

const struct lab_kernel_set lab_cuda_positional_embedding =
    lab_set("positional_embedding", variants);
