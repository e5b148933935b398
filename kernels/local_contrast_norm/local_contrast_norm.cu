/* kernels/local_contrast_norm/local_contrast_norm.cu -- each pixel less the mean of its
 * neighbourhood, over the neighbourhood's standard deviation.
 *
 * Thread -> element: thread i computes element i and reads its window, forward
 * twice. Neighbouring threads read nearly the same pixels: the window comes from the
 * cache but for its first read. Memory: 16 bytes an element forward, 20 backward.
 * The index arithmetic and the loads of size^2 pixels are what a large window
 * costs. */
#include "common/launch.cuh"
#include "local_contrast_norm/local_contrast_norm.h"

static __global__ void
local_contrast_fwd(float *y, float *mean, float *rstd, const float *x,
                   struct lab_local_contrast_norm_params p, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct lab_local_contrast_norm_window w =
        lab_local_contrast_norm_around(&p, i);
    float n = (float)(w.rows * w.cols);
    float sum = 0.0f;
    float squares = 0.0f;
    for (int64_t r = 0; r < w.rows; r++)
        for (int64_t c = 0; c < w.cols; c++)
            sum += x[w.first + r * w.down + c * p.inner];
    float m = sum / n;
    for (int64_t r = 0; r < w.rows; r++)
        for (int64_t c = 0; c < w.cols; c++) {
            float off = x[w.first + r * w.down + c * p.inner] - m;
            squares += off * off;
        }
    float each = 1.0f / sqrtf(squares / n + (float)p.eps);
    mean[i] = m;
    rstd[i] = each;
    y[i] = (x[i] - m) * each;
}

static __global__ void
local_contrast_bwd(float *dx, const float *dy, const float *x,
                   const float *mean, const float *rstd,
                   struct lab_local_contrast_norm_params p, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct lab_local_contrast_norm_window w =
        lab_local_contrast_norm_around(&p, i);
    float sum = dy[i] * rstd[i];
    for (int64_t r = 0; r < w.rows; r++)
        for (int64_t c = 0; c < w.cols; c++) {
            int64_t j = w.first + r * w.down + c * p.inner;
            struct lab_local_contrast_norm_window of =
                lab_local_contrast_norm_around(&p, j);
            float n = (float)(of.rows * of.cols);
            float m = mean[j];
            float s = rstd[j];
            sum -= s / n * dy[j] * (1.0f + (x[j] - m) * (x[i] - m) * s * s);
        }
    dx[i] = sum;
}

static enum lab_status normalize_forward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    local_contrast_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_out(call, 1), lab_out(call, 2), lab_in(call, 0),
        *lab_params<lab_local_contrast_norm_params>(call), count);
    return lab_launched("local_contrast_fwd");
}

static enum lab_status normalize_backward(const struct lab_call *call)
{
    int64_t count = call->in[0].count;
    local_contrast_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), lab_in(call, 2),
        lab_in(call, 3), *lab_params<lab_local_contrast_norm_params>(call),
        count);
    return lab_launched("local_contrast_bwd");
}

static const char source[] =
    "kernels/local_contrast_norm/local_contrast_norm.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "normalize", LAB_FORWARD, normalize_forward, source,
            "local_contrast_fwd"),
    lab_row("naive", "normalize", LAB_BACKWARD, normalize_backward, source,
            "local_contrast_bwd"),
};

const struct lab_kernel_set lab_cuda_local_contrast_norm =
    lab_set("local_contrast_norm", variants);
