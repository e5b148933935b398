/* kernels/multiply/multiply.cu -- two tensors of one shape, multiplied.
 *
 * Thread -> element: one thread an element. Memory: 12 bytes an element forward,
 * 20 backward with both gradients: memory limits both. */
#include "common/launch.cuh"
#include "multiply/multiply.h"

/* y = a b */
static __global__ void multiply_fwd(float *y, const float *a, const float *b,
                                    int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = a[i] * b[i];
}

/* da = dy b, db = dy a; either may be left out */
static __global__ void multiply_bwd(float *da, float *db, const float *dy,
                                    const float *a, const float *b,
                                    int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    if (da)
        da[i] = dy[i] * b[i];
    if (db)
        db[i] = dy[i] * a[i];
}

static enum lab_status multiply_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    multiply_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), count);
    return lab_launched("multiply_fwd");
}

static enum lab_status multiply_backward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    multiply_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), lab_in(call, 0), lab_in(call, 1),
        lab_in(call, 2), count);
    return lab_launched("multiply_bwd");
}

static const char source[] = "kernels/multiply/multiply.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "multiply", LAB_FORWARD, multiply_forward, source,
            "multiply_fwd"),
    lab_row("naive", "multiply", LAB_BACKWARD, multiply_backward, source,
            "multiply_bwd"),
};

const struct lab_kernel_set lab_cuda_multiply = lab_set("multiply", variants);
