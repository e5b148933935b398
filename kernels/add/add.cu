/* kernels/add/add.cu -- two tensors of one shape, added; backward, the gradient
 * goes to both.
 *
 * Thread -> element: one thread an element.
 * Memory: 12 bytes an element, forward and backward: nothing but memory is
 * measured here. */
#include "add/add.h"
#include "common/vector.cuh"

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

struct add_map {
    __device__ float operator()(float a, float b) const
    {
        return a + b;
    }
};

/* add_bwd with a quad a thread: vector.cuh has the reason. */
static __global__ void add_bwd_vector(float *da, float *db, const float *dy,
                                      int64_t count)
{
    int64_t i = lab_element();
    int64_t quads = count / 4;
    if (i < quads) {
        float4 g = reinterpret_cast<const float4 *>(dy)[i];
        if (da)
            reinterpret_cast<float4 *>(da)[i] = g;
        if (db)
            reinterpret_cast<float4 *>(db)[i] = g;
    }
    int64_t last = 4 * quads + i;
    if (i < count % 4 && da)
        da[last] = dy[last];
    if (i < count % 4 && db)
        db[last] = dy[last];
}

static enum lab_status add_forward_vector(const struct lab_call *call)
{
    if (!vector_fits(call))
        return add_forward(call);
    vector_run(call, lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
               each<add_map>{}, call->out[0].count);
    return lab_launched("vector_map");
}

static enum lab_status add_backward_vector(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    if (!vector_fits(call))
        return add_backward(call);
    add_bwd_vector<<<lab_blocks((count + 3) / 4), LAB_BLOCK, 0,
                     lab_stream(call)>>>(lab_out(call, 0), lab_out(call, 1),
                                         lab_in(call, 0), count);
    return lab_launched("add_bwd_vector");
}

static const char source[] = "kernels/add/add.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "add", LAB_FORWARD, add_forward, source, "add_fwd"),
    lab_prefer(lab_row("vector", "add", LAB_FORWARD, add_forward_vector, source,
                       "add_forward_vector")),
    lab_row("naive", "add", LAB_BACKWARD, add_backward, source, "add_bwd"),
    lab_prefer(lab_row("vector", "add", LAB_BACKWARD, add_backward_vector,
                       source, "add_bwd_vector")),
};

const struct lab_kernel_set lab_cuda_add = lab_set("add", variants);
