/* kernels/loss/weighted_sum.cu -- a probe: loss = sum y h; its gradient is y.
 *
 * Thread -> element: GROUP threads share a sample (reduce.cuh); the sum over
 * the samples is one block of 1024 threads; the gradient is a copy, one thread
 * an element.
 * Memory, an element of h: sample reads h and y, 8 bytes; gradient 8. */
#include "common/reduce.cuh"

/* sample[n] = sum_e y[n,e] h[n,e] */
template <int GROUP>
static __global__ void weighted_sum_sample(float *sample, const float *h,
                                           const float *y, int64_t N, int64_t E)
{
    int64_t n = group_row<GROUP>();
    if (n >= N)
        return;
    h += n * E;
    y += n * E;
    double sum = 0.0;
    for (int64_t e = group_lane<GROUP>(); e < E; e += GROUP)
        sum += (double)y[e] * h[e];
    sum = group_sum<GROUP>(sum);
    if (group_lane<GROUP>() == 0)
        sample[n] = (float)sum;
}

/* loss = sum_n sample[n]; one block */
static __global__ void weighted_sum_reduce(float *loss, const float *sample,
                                           int64_t N)
{
    double sum = 0.0;
    for (int64_t n = threadIdx.x; n < N; n += LAB_GROUP_ALL)
        sum += sample[n];
    sum = group_sum<LAB_GROUP_ALL>(sum);
    if (threadIdx.x == 0)
        *loss = (float)sum;
}

/* dh = y */
static __global__ void weighted_sum_bwd(float *dh, const float *y,
                                        int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dh[i] = y[i];
}

template <int GROUP>
static enum lab_status sample_loss(const struct lab_call *call)
{
    int64_t N = call->out[0].count;
    int64_t E = N > 0 ? call->in[0].count / N : 0;
    weighted_sum_sample<GROUP>
        <<<group_blocks<GROUP>(N), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), N, E);
    return lab_launched("weighted_sum_sample");
}

static enum lab_status reduce_loss(const struct lab_call *call)
{
    weighted_sum_reduce<<<1, LAB_GROUP_ALL, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), call->in[0].count);
    return lab_launched("weighted_sum_reduce");
}

static enum lab_status sample_backward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    weighted_sum_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), count);
    return lab_launched("weighted_sum_bwd");
}

static const char source[] = "kernels/loss/weighted_sum.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "sample", LAB_LOSS, sample_loss<LAB_GROUP_NAIVE>, source,
            "weighted_sum_sample"),
    lab_row("warp", "sample", LAB_LOSS, sample_loss<LAB_GROUP_WARP>, source,
            "weighted_sum_sample"),
    lab_row("block", "sample", LAB_LOSS, sample_loss<LAB_GROUP_BLOCK>, source,
            "weighted_sum_sample"),
    lab_row("block", "reduce", LAB_LOSS, reduce_loss, source,
            "weighted_sum_reduce"),
    lab_row("naive", "sample", LAB_BACKWARD, sample_backward, source,
            "weighted_sum_bwd"),
};

const struct lab_kernel_set lab_cuda_weighted_sum =
    lab_set("weighted_sum", variants);
