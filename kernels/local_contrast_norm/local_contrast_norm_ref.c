/* local_contrast_norm: mean and variance of each neighbourhood in two passes, so that
 * no digits are lost where it is nearly flat. */
#include "common/ref.h"
#include "local_contrast_norm/local_contrast_norm.h"

#define LAB_REF_FILE "kernels/local_contrast_norm/local_contrast_norm_ref.c"

static enum lab_status normalize_forward(const struct lab_call *call)
{
    const struct lab_local_contrast_norm_params *p = call->params;
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    real *mean = call->out[1].data;
    real *rstd = call->out[2].data;
    for (int64_t i = 0; i < call->in[0].count; i++) {
        struct lab_local_contrast_norm_window w =
            lab_local_contrast_norm_around(p, i);
        double n = (double)(w.rows * w.cols);
        double sum = 0;
        double squares = 0;
        for (int64_t r = 0; r < w.rows; r++)
            for (int64_t c = 0; c < w.cols; c++)
                sum += x[w.first + r * w.down + c * p->inner];
        double m = sum / n;
        for (int64_t r = 0; r < w.rows; r++)
            for (int64_t c = 0; c < w.cols; c++) {
                double off = x[w.first + r * w.down + c * p->inner] - m;
                squares += off * off;
            }
        double each = 1 / sqrt(squares / n + p->eps);
        mean[i] = (real)m;
        rstd[i] = (real)each;
        y[i] = (real)((x[i] - m) * each);
    }
    return LAB_OK;
}

static enum lab_status normalize_backward(const struct lab_call *call)
{
    const struct lab_local_contrast_norm_params *p = call->params;
    const real *dy = call->in[0].data;
    const real *x = call->in[1].data;
    const real *mean = call->in[2].data;
    const real *rstd = call->in[3].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->in[0].count; i++) {
        struct lab_local_contrast_norm_window w =
            lab_local_contrast_norm_around(p, i);
        double sum = (double)dy[i] * rstd[i];
        for (int64_t r = 0; r < w.rows; r++)
            for (int64_t c = 0; c < w.cols; c++) {
                int64_t j = w.first + r * w.down + c * p->inner;
                struct lab_local_contrast_norm_window of =
                    lab_local_contrast_norm_around(p, j);
                double n = (double)(of.rows * of.cols);
                double m = mean[j];
                double s = rstd[j];
                sum -= s / n * dy[j] * (1 + (x[j] - m) * (x[i] - m) * s * s);
            }
        dx[i] = (real)sum;
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("normalize", LAB_FORWARD, normalize_forward),
    LAB_REF_ROW("normalize", LAB_BACKWARD, normalize_backward),
};

LAB_REF_SET(local_contrast_norm, variants);
