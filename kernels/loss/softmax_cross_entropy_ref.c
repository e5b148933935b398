/* softmax and cross-entropy: the network's last numbers z become probabilities,
 * and the loss of a sample is -log of the probability of its right class.
 *
 * Taken together they need no log of a probability: -log(exp(z[y])/sum) is
 * log(sum) - z[y], finite even where the probability itself underflows to 0.
 * And together their gradient is as simple as can be: probs - (1 at y). */
#include "common/ref.h"

#define LAB_REF_FILE "kernels/loss/softmax_cross_entropy_ref.c"

static real row_max(const real *z, int64_t C)
{
    real max = z[0];
    for (int64_t c = 1; c < C; c++)
        max = z[c] > max ? z[c] : max;
    return max;
}

/* probs[c] = exp(z[c] - max) / sum_c exp(z[c] - max) */
static enum lab_status softmax_cross_entropy_probs(const struct lab_call *call)
{
    int64_t C = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++) {
        const real *z = (const real *)call->in[0].data + r * C;
        real *probs = (real *)call->out[0].data + r * C;
        real max = row_max(z, C);
        double sum = 0;
        for (int64_t c = 0; c < C; c++) {
            probs[c] = real_exp(z[c] - max);
            sum += probs[c];
        }
        for (int64_t c = 0; c < C; c++)
            probs[c] = (real)(probs[c] / sum);
    }
    return LAB_OK;
}

/* sample = log(sum_c exp(z[c] - max)) + max - z[y]. A label outside 0..C-1 has
 * no z: the sample is NaN, and nothing is read. */
static enum lab_status softmax_cross_entropy_sample(const struct lab_call *call)
{
    const int32_t *y = call->in[1].data; /* (R) */
    real *sample = call->out[0].data;    /* (R) */
    int64_t C = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++) {
        const real *z = (const real *)call->in[0].data + r * C;
        real max = row_max(z, C);
        double sum = 0;
        for (int64_t c = 0; c < C; c++)
            sum += real_exp(z[c] - max);
        if (y[r] < 0 || y[r] >= C)
            sample[r] = (real)NAN;
        else
            sample[r] = (real)(log(sum) + ((double)max - z[y[r]]));
    }
    return LAB_OK;
}

/* probs without taking off the largest: exp of a float overflows above 88.72. */
static enum lab_status
softmax_cross_entropy_probs_unstable(const struct lab_call *call)
{
    int64_t C = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++) {
        const real *z = (const real *)call->in[0].data + r * C;
        real *probs = (real *)call->out[0].data + r * C;
        double sum = 0;
        for (int64_t c = 0; c < C; c++) {
            probs[c] = real_exp(z[c]);
            sum += probs[c];
        }
        for (int64_t c = 0; c < C; c++)
            probs[c] = (real)(probs[c] / sum);
    }
    return LAB_OK;
}

/* sample = -log(p), p the probability above: NaN where exp overflowed, infinity
 * where p is rounded to 0. */
static enum lab_status
softmax_cross_entropy_sample_unstable(const struct lab_call *call)
{
    const int32_t *y = call->in[1].data; /* (R) */
    real *sample = call->out[0].data;    /* (R) */
    int64_t C = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++) {
        const real *z = (const real *)call->in[0].data + r * C;
        double sum = 0;
        for (int64_t c = 0; c < C; c++)
            sum += real_exp(z[c]);
        bool known = y[r] >= 0 && y[r] < C;
        real p = known ? (real)(real_exp(z[y[r]]) / sum) : (real)NAN;
        sample[r] = -real_log(p);
    }
    return LAB_OK;
}

/* loss = sum_r sample[r] / R */
static enum lab_status softmax_cross_entropy_mean(const struct lab_call *call)
{
    const real *sample = call->in[0].data;
    real *loss = call->out[0].data;
    int64_t R = call->in[0].count;
    double sum = 0;
    for (int64_t r = 0; r < R; r++)
        sum += sample[r];
    loss[0] = (real)(sum / (double)R);
    return LAB_OK;
}

/* dz[c] = (probs[c] - (c == y)) / R */
static enum lab_status
softmax_cross_entropy_backward(const struct lab_call *call)
{
    const int32_t *y = call->in[1].data; /* (R) */
    int64_t C = lab_view_cols(&call->in[0]);
    int64_t R = lab_view_rows(&call->in[0]);
    for (int64_t r = 0; r < R; r++) {
        const real *probs = (const real *)call->in[0].data + r * C;
        real *dz = (real *)call->out[0].data + r * C;
        bool known = y[r] >= 0 && y[r] < C;
        for (int64_t c = 0; c < C; c++) {
            real target = c == y[r] ? 1 : 0;
            dz[c] = known ? (probs[c] - target) / (real)R : (real)NAN;
        }
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("softmax", LAB_LOSS, softmax_cross_entropy_probs),
    LAB_REF_ROW("sample", LAB_LOSS, softmax_cross_entropy_sample),
    LAB_REF_WRONG_ROW("unstable", "softmax", LAB_LOSS,
                      softmax_cross_entropy_probs_unstable, "exp overflows"),
    LAB_REF_WRONG_ROW("unstable", "sample", LAB_LOSS,
                      softmax_cross_entropy_sample_unstable,
                      "log of a 0 or a NaN"),
    LAB_REF_ROW("mean", LAB_LOSS, softmax_cross_entropy_mean),
    LAB_REF_ROW("softmax", LAB_BACKWARD, softmax_cross_entropy_backward),
};

LAB_REF_SET(softmax_cross_entropy, variants);
