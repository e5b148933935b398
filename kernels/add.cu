/* kernels/add.cu -- two tensors of one shape, added; backward, the gradient
 * goes to both.
 *
 * Thread -> element: one thread an element.
 * Memory: 12 bytes an element, forward and backward: nothing but memory is
 * measured here. */
#include "add.h"
#include "launch.cuh"

/* y = a + b */
static __global__ void add_fwd(float *y, const float *a, const float *b,
                               int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = a[i] + b[i];
}

/* da = dy, db = dy; either may be left out */
static __global__ void add_bwd(float *da, float *db, const float *dy,
                               int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    float g = dy[i];
    if (da)
        da[i] = g;
    if (db)
        db[i] = g;
}

static enum lab_status add_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    add_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("add_fwd");
}

static enum lab_status add_backward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    add_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), lab_in(call, 0), count);
    return lab_launched("add_bwd");
}

static const char source[] = "kernels/add.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "add", LAB_FORWARD, add_forward, source, "add_fwd"),
    lab_row("naive", "add", LAB_BACKWARD, add_backward, source, "add_bwd"),
};

const struct lab_kernel_set lab_cuda_add = lab_set("add", variants);
