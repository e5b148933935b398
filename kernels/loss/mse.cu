/* kernels/loss/mse.cu -- squared error: every sample's, their sum, the gradient.
 *
 * The three reductions differ by a factor that the host works out (loss.h), so
 * that one kernel serves them all.
 *
 * Thread -> element: GROUP threads share a sample (reduce.cuh); the sum over
 * the samples is one block of 1024 threads; the gradient is one thread an
 * element.
 * Memory, an element of h: sample reads h and y, 8 bytes; gradient 12. */
#include "loss/loss.h"
#include "common/reduce.cuh"

/* sample[n] = factor sum_e (h[n,e] - y[n,e])^2 */
template <int GROUP>
static __global__ void mse_sample(float *sample, const float *h, const float *y,
                                  int64_t N, int64_t E, double factor)
{
    int64_t n = group_row<GROUP>();
    if (n >= N)
        return;
    h += n * E;
    y += n * E;
    double sum = 0.0;
    for (int64_t e = group_lane<GROUP>(); e < E; e += GROUP) {
        double off = (double)h[e] - y[e];
        sum += off * off;
    }
    sum = group_sum<GROUP>(sum);
    if (group_lane<GROUP>() == 0)
        sample[n] = (float)(factor * sum);
}

/* loss = sum_n sample[n] / over; one block */
static __global__ void mse_reduce(float *loss, const float *sample, int64_t N,
                                  double over)
{
    double sum = 0.0;
    for (int64_t n = threadIdx.x; n < N; n += LAB_GROUP_ALL)
        sum += sample[n];
    sum = group_sum<LAB_GROUP_ALL>(sum);
    if (threadIdx.x == 0)
        *loss = (float)(sum / over);
}

/* dh = s (h - y) */
static __global__ void mse_bwd(float *dh, const float *h, const float *y,
                               float s, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        dh[i] = s * (h[i] - y[i]);
}

/* In a 1-D h every element is a sample. */
static int64_t sample_count(const struct lab_view *h)
{
    return h->rank > 1 ? h->dim[0] : h->count;
}

static enum lab_mse_reduction reduction_of(const struct lab_call *call)
{
    return lab_params<lab_mse_params>(call)->reduction;
}

template <int GROUP>
static enum lab_status sample_loss(const struct lab_call *call)
{
    int64_t N = sample_count(&call->in[0]);
    int64_t E = N > 0 ? call->in[0].count / N : 0;
    double factor = reduction_of(call) == LAB_MSE_MEAN ? 1.0 / (double)E : 0.5;
    mse_sample<GROUP>
        <<<group_blocks<GROUP>(N), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), N, E, factor);
    return lab_launched("mse_sample");
}

static enum lab_status reduce_loss(const struct lab_call *call)
{
    int64_t N = call->in[0].count;
    bool whole = reduction_of(call) == LAB_MSE_HALF_SUM;
    mse_reduce<<<1, LAB_GROUP_ALL, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), N, whole ? 1.0 : (double)N);
    return lab_launched("mse_reduce");
}

static enum lab_status sample_backward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    double s = 1.0;
    if (reduction_of(call) == LAB_MSE_MEAN)
        s = 2.0 / (double)count;
    else if (reduction_of(call) == LAB_MSE_HALF_SUM_PER_SAMPLE)
        s = 1.0 / (double)sample_count(&call->in[0]);
    mse_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), (float)s, count);
    return lab_launched("mse_bwd");
}

static const char source[] = "kernels/loss/mse.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "sample", LAB_LOSS, sample_loss<LAB_GROUP_NAIVE>, source,
            "mse_sample"),
    lab_row("warp", "sample", LAB_LOSS, sample_loss<LAB_GROUP_WARP>, source,
            "mse_sample"),
    lab_row("block", "sample", LAB_LOSS, sample_loss<LAB_GROUP_BLOCK>, source,
            "mse_sample"),
    lab_row("block", "reduce", LAB_LOSS, reduce_loss, source, "mse_reduce"),
    lab_row("naive", "sample", LAB_BACKWARD, sample_backward, source,
            "mse_bwd"),
};

const struct lab_kernel_set lab_cuda_mse = lab_set("mse", variants);
