/* kernels/loss/softmax_cross_entropy.cu -- probabilities, the loss of every sample,
 * their mean, and the gradient of the logits.
 *
 * The loss of a sample is log(sum exp(z - max)) + max - z[label], from the
 * logits: taking the log of a probability that has underflowed to 0 would give
 * infinity. A label outside 0..C-1 gives NaN and reads nothing.
 *
 * Thread -> element: GROUP threads share a row (reduce.cuh); the mean is one
 * block of 1024 threads, thread t adding the samples t, t + 1024 ...; the
 * gradient is one thread an element.
 * Memory, an element of z: softmax 8 bytes and sample 4 at best (the second and
 * third walk over a row find it in the cache), gradient 8. */
#include "common/reduce.cuh"
#include "common/wrong.cuh"

template <int GROUP> static __device__ float row_max(const float *z, int64_t C)
{
    float largest = -INFINITY;
    for (int64_t c = group_lane<GROUP>(); c < C; c += GROUP)
        largest = fmaxf(largest, z[c]);
    return group_max<GROUP>(largest);
}

template <int GROUP>
static __device__ double row_exp_sum(const float *z, int64_t C, float largest)
{
    double sum = 0.0;
    for (int64_t c = group_lane<GROUP>(); c < C; c += GROUP)
        sum += expf(z[c] - largest);
    return group_sum<GROUP>(sum);
}

/* probs[r,c] = exp(z[r,c] - max_r) / sum_c exp(z[r,c] - max_r) */
template <int GROUP>
static __global__ void cross_entropy_softmax(float *probs, const float *z,
                                             int64_t R, int64_t C)
{
    int64_t r = group_row<GROUP>();
    if (r >= R)
        return;
    z += r * C;
    probs += r * C;
    float largest = row_max<GROUP>(z, C);
    float total = (float)row_exp_sum<GROUP>(z, C, largest);
    for (int64_t c = group_lane<GROUP>(); c < C; c += GROUP)
        probs[c] = expf(z[c] - largest) / total;
}

/* sample[r] = log(sum_c exp(z[r,c] - max_r)) + max_r - z[r,y_r] */
template <int GROUP>
static __global__ void cross_entropy_sample(float *sample, const float *z,
                                            const int32_t *y, int64_t R,
                                            int64_t C)
{
    int64_t r = group_row<GROUP>();
    if (r >= R)
        return;
    z += r * C;
    float largest = row_max<GROUP>(z, C);
    double sum = row_exp_sum<GROUP>(z, C, largest);
    if (group_lane<GROUP>() != 0)
        return;
    bool known = y[r] >= 0 && y[r] < C;
    sample[r] = known ? (float)(log(sum) + ((double)largest - z[y[r]])) : NAN;
}

/* The two kernels of the variant that breaks, a thread a row: exp of the logits as
 * they are overflows above 88.72, and infinity over infinity is NaN. */
static __device__ double unstable_exp_sum(const float *z, int64_t C)
{
    double sum = 0.0;
    for (int64_t c = 0; c < C; c++)
        sum += expf(z[c]);
    return sum;
}

/* probs[r,c] = exp(z[r,c]) / sum_c exp(z[r,c]) */
static __global__ void cross_entropy_softmax_unstable(float *probs,
                                                      const float *z, int64_t R,
                                                      int64_t C)
{
    int64_t r = lab_element();
    if (r >= R)
        return;
    double sum = unstable_exp_sum(z + r * C, C);
    for (int64_t c = 0; c < C; c++)
        probs[r * C + c] = (float)(expf(z[r * C + c]) / sum);
}

/* sample[r] = -log(p), p that probability: infinity where it is rounded to 0 */
static __global__ void cross_entropy_sample_unstable(float *sample,
                                                     const float *z,
                                                     const int32_t *y,
                                                     int64_t R, int64_t C)
{
    int64_t r = lab_element();
    if (r >= R)
        return;
    z += r * C;
    bool known = y[r] >= 0 && y[r] < C;
    double sum = unstable_exp_sum(z, C);
    sample[r] = known ? -logf((float)(expf(z[y[r]]) / sum)) : NAN;
}

/* loss = sum_r sample[r] / R; one block */
static __global__ void cross_entropy_mean(float *loss, const float *sample,
                                          int64_t R)
{
    double sum = 0.0;
    for (int64_t r = threadIdx.x; r < R; r += LAB_GROUP_ALL)
        sum += sample[r];
    sum = group_sum<LAB_GROUP_ALL>(sum);
    if (threadIdx.x == 0)
        *loss = (float)(sum / (double)R);
}

/* dz[r,c] = (probs[r,c] - (c == y_r)) / R */
static __global__ void cross_entropy_bwd(float *dz, const float *probs,
                                         const int32_t *y, int64_t R, int64_t C)
{
    int64_t i = lab_element();
    if (i >= R * C)
        return;
    int32_t label = y[i / C];
    bool known = label >= 0 && label < C;
    float target = i % C == label ? 1.0f : 0.0f;
    dz[i] = known ? (probs[i] - target) / (float)R : NAN;
}

template <int GROUP>
static enum lab_status softmax_loss(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t C = lab_view_cols(&call->in[0]);
    cross_entropy_softmax<GROUP>
        <<<group_blocks<GROUP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), R, C);
    return lab_launched("cross_entropy_softmax");
}

template <int GROUP>
static enum lab_status sample_loss(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t C = lab_view_cols(&call->in[0]);
    cross_entropy_sample<GROUP>
        <<<group_blocks<GROUP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_labels(call, 1), R, C);
    return lab_launched("cross_entropy_sample");
}

static enum lab_status softmax_loss_unstable(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    cross_entropy_softmax_unstable<<<lab_blocks(R), LAB_BLOCK, 0,
                                     lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), R, lab_view_cols(&call->in[0]));
    return lab_launched("cross_entropy_softmax_unstable");
}

static enum lab_status sample_loss_unstable(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    cross_entropy_sample_unstable<<<lab_blocks(R), LAB_BLOCK, 0,
                                    lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_labels(call, 1), R,
        lab_view_cols(&call->in[0]));
    return lab_launched("cross_entropy_sample_unstable");
}

static enum lab_status mean_loss(const struct lab_call *call)
{
    cross_entropy_mean<<<1, LAB_GROUP_ALL, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), call->in[0].count);
    return lab_launched("cross_entropy_mean");
}

static enum lab_status softmax_backward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t C = lab_view_cols(&call->in[0]);
    cross_entropy_bwd<<<lab_blocks(R * C), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_labels(call, 1), R, C);
    return lab_launched("cross_entropy_bwd");
}

static const char source[] = "kernels/loss/softmax_cross_entropy.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "softmax", LAB_LOSS, softmax_loss<LAB_GROUP_NAIVE>, source,
            "cross_entropy_softmax"),
    lab_prefer(lab_row("warp", "softmax", LAB_LOSS,
                       softmax_loss<LAB_GROUP_WARP>, source,
                       "cross_entropy_softmax")),
    lab_row("block", "softmax", LAB_LOSS, softmax_loss<LAB_GROUP_BLOCK>, source,
            "cross_entropy_softmax"),
    lab_row("naive", "sample", LAB_LOSS, sample_loss<LAB_GROUP_NAIVE>, source,
            "cross_entropy_sample"),
    lab_prefer(lab_row("warp", "sample", LAB_LOSS, sample_loss<LAB_GROUP_WARP>,
                       source, "cross_entropy_sample")),
    lab_row("block", "sample", LAB_LOSS, sample_loss<LAB_GROUP_BLOCK>, source,
            "cross_entropy_sample"),
    lab_wrong(lab_row("unstable", "softmax", LAB_LOSS, softmax_loss_unstable,
                      source, "cross_entropy_softmax_unstable"),
              "exp overflows"),
    lab_wrong(lab_row("unstable", "sample", LAB_LOSS, sample_loss_unstable,
                      source, "cross_entropy_sample_unstable"),
              "log of a 0 or a NaN"),
    lab_row("block", "mean", LAB_LOSS, mean_loss, source, "cross_entropy_mean"),
    lab_row("naive", "softmax", LAB_BACKWARD, softmax_backward, source,
            "cross_entropy_bwd"),
};

const struct lab_kernel_set lab_cuda_softmax_cross_entropy =
    lab_set("softmax_cross_entropy", variants);
