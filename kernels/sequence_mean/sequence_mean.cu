/* kernels/sequence_mean/sequence_mean.cu -- the mean over the places of a sequence.
 *
 * Forward, a thread has one column d of one sequence n and adds its T numbers
 * up in order; neighbouring threads have neighbouring columns, so that each of
 * the T reads of a warp is one piece of memory. Backward, a thread has one
 * element of dx. Memory limits both: forward 4 bytes for each element of x,
 * backward 4 for each element of dx (dy stays in the cache). */
#include "common/launch.cuh"
#include "sequence_mean/sequence_mean.h"

static __global__ void sequence_mean_fwd(float *y, const float *x,
                                         int64_t count, int64_t T, int64_t D)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    const float *first = x + i / D * T * D + i % D;
    double sum = 0.0;
    for (int64_t t = 0; t < T; t++)
        sum += first[t * D];
    y[i] = (float)(sum / (double)T);
}

static __global__ void sequence_mean_bwd(float *dx, const float *dy,
                                         int64_t count, int64_t T, int64_t D)
{
    int64_t i = lab_element();
    if (i < count)
        dx[i] = (float)(dy[i / (T * D) * D + i % D] / (double)T);
}

static enum lab_status mean_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    const struct lab_view *x = &call->in[0];
    sequence_mean_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count, x->dim[1], x->dim[2]);
    return lab_launched("sequence_mean_fwd");
}

static enum lab_status mean_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    const struct lab_view *dx = &call->out[0];
    sequence_mean_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count, dx->dim[1], dx->dim[2]);
    return lab_launched("sequence_mean_bwd");
}

static const char source[] = "kernels/sequence_mean/sequence_mean.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "mean", LAB_FORWARD, mean_forward, source,
            "sequence_mean_fwd"),
    lab_row("naive", "mean", LAB_BACKWARD, mean_backward, source,
            "sequence_mean_bwd"),
};

const struct lab_kernel_set lab_cuda_sequence_mean =
    lab_set("sequence_mean", variants);
