/* kernels/softmax/softmax.cu -- softmax over the rows of a matrix, and its gradient.
 *
 * Three walks over a row: the largest element, the sum of exp(x - largest),
 * the quotient. The largest is taken off first so that exp never overflows; the
 * exps are computed twice instead of being kept, as a row may be longer than
 * any register file.
 *
 * Thread -> element: GROUP threads share a row (reduce.cuh states how many and
 * why); lane l of them has the elements l, l + GROUP, l + 2 GROUP ...
 * Memory: the row is read three times and written once. The first read comes
 * from DRAM and the others, for rows of a few thousand, from cache: 8 bytes an
 * element at best. Backward: two walks over y and dy, 12 bytes at best. */
#include "common/reduce.cuh"
#include "common/wrong.cuh"
#include "softmax/softmax.h"

/* y[r,c] = exp(x[r,c] - max_r) / sum_c exp(x[r,c] - max_r) */
template <int GROUP>
static __global__ void softmax_fwd(float *y, const float *x, int64_t R,
                                   int64_t C)
{
    int64_t r = group_row<GROUP>();
    if (r >= R)
        return;
    x += r * C;
    y += r * C;
    float largest = -INFINITY;
    for (int64_t c = group_lane<GROUP>(); c < C; c += GROUP)
        largest = fmaxf(largest, x[c]);
    largest = group_max<GROUP>(largest);
    double sum = 0.0;
    for (int64_t c = group_lane<GROUP>(); c < C; c += GROUP)
        sum += expf(x[c] - largest);
    float total = (float)group_sum<GROUP>(sum);
    for (int64_t c = group_lane<GROUP>(); c < C; c += GROUP)
        y[c] = expf(x[c] - largest) / total;
}

/* y[r,c] = exp(x[r,c]) / sum_c exp(x[r,c]): the largest is not taken off. expf
 * overflows above 88.72, and infinity over infinity is NaN. One thread a row. */
static __global__ void softmax_fwd_unstable(float *y, const float *x, int64_t R,
                                            int64_t C)
{
    int64_t r = lab_element();
    if (r >= R)
        return;
    x += r * C;
    y += r * C;
    double sum = 0.0;
    for (int64_t c = 0; c < C; c++)
        sum += expf(x[c]);
    for (int64_t c = 0; c < C; c++)
        y[c] = (float)(expf(x[c]) / sum);
}

/* dx[r,c] = y[r,c] (dy[r,c] - sum_k dy[r,k] y[r,k]) */
template <int GROUP>
static __global__ void softmax_bwd(float *dx, const float *dy, const float *y,
                                   int64_t R, int64_t C)
{
    int64_t r = group_row<GROUP>();
    if (r >= R)
        return;
    dy += r * C;
    y += r * C;
    dx += r * C;
    double dot = 0.0;
    for (int64_t c = group_lane<GROUP>(); c < C; c += GROUP)
        dot += (double)dy[c] * y[c];
    float along = (float)group_sum<GROUP>(dot);
    for (int64_t c = group_lane<GROUP>(); c < C; c += GROUP)
        dx[c] = y[c] * (dy[c] - along);
}

template <int GROUP>
static enum lab_status softmax_forward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t C = lab_view_cols(&call->in[0]);
    softmax_fwd<GROUP>
        <<<group_blocks<GROUP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), R, C);
    return lab_launched("softmax_fwd");
}

static enum lab_status softmax_forward_unstable(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    softmax_fwd_unstable<<<lab_blocks(R), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), R, lab_view_cols(&call->in[0]));
    return lab_launched("softmax_fwd_unstable");
}

template <int GROUP>
static enum lab_status softmax_backward(const struct lab_call *call)
{
    int64_t R = lab_view_rows(&call->in[0]);
    int64_t C = lab_view_cols(&call->in[0]);
    softmax_bwd<GROUP>
        <<<group_blocks<GROUP>(R), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), R, C);
    return lab_launched("softmax_bwd");
}

template <int GROUP>
static constexpr struct lab_variant forward_row(const char *name)
{
    return lab_row(name, "softmax", LAB_FORWARD, softmax_forward<GROUP>,
                   "kernels/softmax/softmax.cu", "softmax_fwd");
}

template <int GROUP>
static constexpr struct lab_variant backward_row(const char *name)
{
    return lab_row(name, "softmax", LAB_BACKWARD, softmax_backward<GROUP>,
                   "kernels/softmax/softmax.cu", "softmax_bwd");
}

static const struct lab_variant variants[] = {
    forward_row<LAB_GROUP_NAIVE>("naive"),
    forward_row<LAB_GROUP_WARP>("warp"),
    forward_row<LAB_GROUP_BLOCK>("block"),
    lab_wrong(lab_row("unstable", "softmax", LAB_FORWARD,
                      softmax_forward_unstable, "kernels/softmax/softmax.cu",
                      "softmax_fwd_unstable"),
              "exp overflows"),
    backward_row<LAB_GROUP_NAIVE>("naive"),
    backward_row<LAB_GROUP_WARP>("warp"),
    backward_row<LAB_GROUP_BLOCK>("block"),
};

const struct lab_kernel_set lab_cuda_softmax = lab_set("softmax", variants);
