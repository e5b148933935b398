/* kernels/batch_norm/batch_norm.cu -- every channel to mean 0 and variance 1 over the
 * batch, then scaled and shifted.
 *
 * The variance takes a second walk over the channel, sum (x - mean)^2: the
 * one-pass form E[x^2] - E[x]^2 subtracts two large numbers that are nearly
 * equal. The second walk finds what fits in the cache.
 *
 * Thread -> element: where a channel is reduced (stats, dgamma and dbeta, and
 * normalize backward), GROUP threads share it (reduce.cuh); else one thread an
 * element. In nchw the threads of a group read neighbouring addresses; in nhwc
 * they are C numbers apart, and the cache line that one channel fetches serves
 * its neighbours.
 * Memory, an element of x: stats 4 bytes at best, normalize 8, scale 8;
 * backward: scale 16 to 20, normalize 12 at best. */
#include "batch_norm/batch_norm_cuda.cuh"
#include "common/reduce.cuh"

/* A tensor seen as (outer, C, inner). */
struct view3 {
    int64_t C;
    int64_t inner;
    int64_t elements; /* of a channel */
};

/* Flat index of element k of channel c. */
static __device__ inline int64_t element_of(const struct view3 &v, int64_t c,
                                            int64_t k)
{
    return (k / v.inner * v.C + c) * v.inner + k % v.inner;
}

/* sum of (x - mean) (y - mean) over a channel, or of x - mean without y */
template <int GROUP>
static __device__ double channel_sum(const struct view3 &v, int64_t c,
                                     const float *x, const float *y,
                                     double mean)
{
    double sum = 0.0;
    for (int64_t k = group_lane<GROUP>(); k < v.elements; k += GROUP) {
        int64_t i = element_of(v, c, k);
        double other = y ? y[i] - mean : 1.0;
        sum += (x[i] - mean) * other;
    }
    return group_sum<GROUP>(sum);
}

template <int GROUP>
static __global__ void batch_norm_stats(float *mean, float *rstd,
                                        float *running_mean, float *running_var,
                                        const float *x, struct view3 v,
                                        double eps, double momentum)
{
    int64_t c = group_row<GROUP>();
    if (c >= v.C)
        return;
    double E = (double)v.elements;
    double mu = channel_sum<GROUP>(v, c, x, nullptr, 0.0) / E;
    double var = channel_sum<GROUP>(v, c, x, x, mu) / E;
    if (group_lane<GROUP>() != 0)
        return;
    mean[c] = (float)mu;
    rstd[c] = (float)(1.0 / sqrt(var + eps));
    running_mean[c] =
        (float)((1.0 - momentum) * running_mean[c] + momentum * mu);
    running_var[c] = (float)((1.0 - momentum) * running_var[c] +
                             momentum * var * E / (E - 1.0));
}

/* Outside of training: the running statistics stand in for the batch's. */
static __global__ void batch_norm_running(float *mean, float *rstd,
                                          const float *running_mean,
                                          const float *running_var, int64_t C,
                                          double eps)
{
    int64_t c = lab_element();
    if (c >= C)
        return;
    mean[c] = running_mean[c];
    rstd[c] = (float)(1.0 / sqrt(running_var[c] + eps));
}

/* xhat = (x - mean[c]) rstd[c] */
static __global__ void batch_norm_normalize(float *xhat, const float *x,
                                            const float *mean,
                                            const float *rstd, int64_t count,
                                            struct view3 v)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t c = i / v.inner % v.C;
    xhat[i] = (x[i] - mean[c]) * rstd[c];
}

/* y = xhat gamma[c] + beta[c] */
static __global__ void batch_norm_scale(float *y, const float *xhat,
                                        const float *gamma, const float *beta,
                                        int64_t count, struct view3 v)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t c = i / v.inner % v.C;
    y[i] = xhat[i] * gamma[c] + beta[c];
}

/* dgamma[c] = sum dy xhat, dbeta[c] = sum dy */
template <int GROUP>
static __global__ void batch_norm_params(float *dgamma, float *dbeta,
                                         const float *dy, const float *xhat,
                                         struct view3 v)
{
    int64_t c = group_row<GROUP>();
    if (c >= v.C)
        return;
    double g = channel_sum<GROUP>(v, c, dy, xhat, 0.0);
    double b = channel_sum<GROUP>(v, c, dy, nullptr, 0.0);
    if (group_lane<GROUP>() == 0) {
        dgamma[c] = (float)g;
        dbeta[c] = (float)b;
    }
}

/* dxhat = dy gamma[c] */
static __global__ void batch_norm_dxhat(float *dxhat, const float *dy,
                                        const float *gamma, int64_t count,
                                        struct view3 v)
{
    int64_t i = lab_element();
    if (i < count)
        dxhat[i] = dy[i] * gamma[i / v.inner % v.C];
}

/* dx = rstd (dxhat - mean(dxhat) - xhat mean(dxhat xhat)) */
template <int GROUP>
static __global__ void
batch_norm_normalize_bwd(float *dx, const float *dxhat, const float *xhat,
                         const float *rstd, struct view3 v)
{
    int64_t c = group_row<GROUP>();
    if (c >= v.C)
        return;
    double E = (double)v.elements;
    float through_mean =
        (float)(channel_sum<GROUP>(v, c, dxhat, nullptr, 0.0) / E);
    float through_rstd =
        (float)(channel_sum<GROUP>(v, c, dxhat, xhat, 0.0) / E);
    for (int64_t k = group_lane<GROUP>(); k < v.elements; k += GROUP) {
        int64_t i = element_of(v, c, k);
        dx[i] = rstd[c] * (dxhat[i] - through_mean - xhat[i] * through_rstd);
    }
}

static struct view3 view3_of(const struct lab_call *call, int64_t C)
{
    int64_t inner = lab_params<lab_batch_norm_params>(call)->inner;
    return {C, inner, call->in[0].count / C};
}

template <int GROUP>
static enum lab_status stats_forward(const struct lab_call *call)
{
    const struct lab_batch_norm_params *p =
        lab_params<lab_batch_norm_params>(call);
    int64_t C = call->out[0].count;
    if (call->training) {
        batch_norm_stats<GROUP>
            <<<group_blocks<GROUP>(C), LAB_BLOCK, 0, lab_stream(call)>>>(
                lab_out(call, 0), lab_out(call, 1), lab_out(call, 2),
                lab_out(call, 3), lab_in(call, 0), view3_of(call, C), p->eps,
                p->momentum);
    } else {
        batch_norm_running<<<lab_blocks(C), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_out(call, 1), lab_out(call, 2),
            lab_out(call, 3), C, p->eps);
    }
    return lab_launched("batch_norm_stats");
}

enum lab_status batch_norm_normalize_plain(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    batch_norm_normalize<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        count, view3_of(call, call->in[1].count));
    return lab_launched("batch_norm_normalize");
}

enum lab_status batch_norm_scale_plain(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    batch_norm_scale<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        count, view3_of(call, call->in[1].count));
    return lab_launched("batch_norm_scale");
}

template <int GROUP>
static enum lab_status scale_backward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    int64_t C = call->in[2].count;
    batch_norm_params<GROUP>
        <<<group_blocks<GROUP>(C), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 1), lab_out(call, 2), lab_in(call, 0),
            lab_in(call, 1), view3_of(call, C));
    if (lab_out(call, 0)) {
        batch_norm_dxhat<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 2), count,
            view3_of(call, C));
    }
    return lab_launched("batch_norm_params");
}

template <int GROUP>
static enum lab_status normalize_backward(const struct lab_call *call)
{
    int64_t C = call->in[2].count;
    batch_norm_normalize_bwd<GROUP>
        <<<group_blocks<GROUP>(C), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
            view3_of(call, C));
    return lab_launched("batch_norm_normalize_bwd");
}

enum lab_status batch_norm_stats_block(const struct lab_call *call)
{
    return stats_forward<LAB_GROUP_BLOCK>(call);
}

enum lab_status batch_norm_scale_block(const struct lab_call *call)
{
    return scale_backward<LAB_GROUP_BLOCK>(call);
}

enum lab_status batch_norm_normalize_block(const struct lab_call *call)
{
    return normalize_backward<LAB_GROUP_BLOCK>(call);
}

static const char source[] = "kernels/batch_norm/batch_norm.cu";
static const char split[] = "kernels/batch_norm/batch_norm_split.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "stats", LAB_FORWARD, stats_forward<LAB_GROUP_NAIVE>,
            source, "batch_norm_stats"),
    lab_row("warp", "stats", LAB_FORWARD, stats_forward<LAB_GROUP_WARP>, source,
            "batch_norm_stats"),
    lab_row("block", "stats", LAB_FORWARD, batch_norm_stats_block, source,
            "batch_norm_stats"),
    lab_prefer(lab_row("split", "stats", LAB_FORWARD, batch_norm_stats_split,
                       split, "channels_planes")),
    lab_row("naive", "normalize", LAB_FORWARD, batch_norm_normalize_plain,
            source, "batch_norm_normalize"),
    lab_prefer(lab_row("vector", "normalize", LAB_FORWARD,
                       batch_norm_normalize_vector, split,
                       "channels_map_fours")),
    lab_row("naive", "scale", LAB_FORWARD, batch_norm_scale_plain, source,
            "batch_norm_scale"),
    lab_prefer(lab_row("vector", "scale", LAB_FORWARD, batch_norm_scale_vector,
                       split, "channels_map_fours")),
    lab_row("naive", "scale", LAB_BACKWARD, scale_backward<LAB_GROUP_NAIVE>,
            source, "batch_norm_params"),
    lab_row("warp", "scale", LAB_BACKWARD, scale_backward<LAB_GROUP_WARP>,
            source, "batch_norm_params"),
    lab_row("block", "scale", LAB_BACKWARD, batch_norm_scale_block, source,
            "batch_norm_params"),
    lab_prefer(lab_row("split", "scale", LAB_BACKWARD, batch_norm_scale_split,
                       split, "channels_planes")),
    lab_row("naive", "normalize", LAB_BACKWARD,
            normalize_backward<LAB_GROUP_NAIVE>, source,
            "batch_norm_normalize_bwd"),
    lab_row("warp", "normalize", LAB_BACKWARD,
            normalize_backward<LAB_GROUP_WARP>, source,
            "batch_norm_normalize_bwd"),
    lab_row("block", "normalize", LAB_BACKWARD, batch_norm_normalize_block,
            source, "batch_norm_normalize_bwd"),
    lab_prefer(lab_row("split", "normalize", LAB_BACKWARD,
                       batch_norm_normalize_split, split, "channels_planes")),
};

const struct lab_kernel_set lab_cuda_batch_norm =
    lab_set("batch_norm", variants);
