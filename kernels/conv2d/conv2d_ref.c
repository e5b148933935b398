/* A convolution, written as its formula reads: at every place of the image the
 * kernel is laid over it, and what lies on top of each other is multiplied and
 * added up. Seven loops: image, row, column, filter, and the kernel's row,
 * column and channel. One text serves both layouts: an element is found by its
 * strides. Sums are kept in a double and rounded once. */
#include "conv2d/conv2d.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/conv2d/conv2d_ref.c"

static int64_t at(const struct lab_image *i, int64_t n, int64_t c, int64_t h,
                  int64_t w)
{
    return n * i->sn + c * i->sc + h * i->sh + w * i->sw;
}

static bool inside(const struct lab_image *i, int64_t h, int64_t w)
{
    return h >= 0 && h < i->H && w >= 0 && w < i->W;
}

/* The row (axis 1: column) of the image under row k of the kernel, for output row
 * o. */
static int64_t row_of(const struct lab_conv2d *s, int axis, int64_t o,
                      int64_t k)
{
    return o * s->win.stride[axis] - s->win.pad[axis] + k * s->dilation[axis];
}

/* sum_{kh,kw,c} x[n,h,w,c] Wt[kh,kw,c,m], at one place for one filter */
static double conv_at(const struct lab_conv2d *s, const real *x, const real *Wt,
                      int64_t n, int64_t m, int64_t oh, int64_t ow)
{
    double sum = 0;
    int64_t first = m / s->M * s->C; /* channel of the filter's group */
    for (int64_t kh = 0; kh < s->KH; kh++) {
        for (int64_t kw = 0; kw < s->KW; kw++) {
            int64_t h = row_of(s, 0, oh, kh);
            int64_t w = row_of(s, 1, ow, kw);
            if (!inside(&s->x, h, w))
                continue; /* padding is zero */
            const real *weight = Wt + kh * s->w_kh + kw * s->w_kw + m * s->w_m;
            for (int64_t c = 0; c < s->C; c++)
                sum += (double)x[at(&s->x, n, first + c, h, w)] *
                       weight[c * s->w_c];
        }
    }
    return sum;
}

static enum lab_status conv2d_conv_forward(const struct lab_call *call)
{
    const real *x = call->in[0].data;
    const real *Wt = call->in[1].data;
    real *conv = call->out[0].data;
    struct lab_conv2d s = lab_conv2d_of(call, &call->in[0], &call->out[0]);
    for (int64_t n = 0; n < s.y.N; n++)
        for (int64_t oh = 0; oh < s.y.H && !lab_stopped(call); oh++)
            for (int64_t ow = 0; ow < s.y.W; ow++)
                for (int64_t m = 0; m < s.y.C; m++)
                    conv[at(&s.y, n, m, oh, ow)] =
                        (real)conv_at(&s, x, Wt, n, m, oh, ow);
    return LAB_OK;
}

/* out = conv + b, the same number all over a channel */
static enum lab_status conv2d_bias_forward(const struct lab_call *call)
{
    const struct lab_conv2d_params *p = call->params;
    const real *conv = call->in[0].data;
    const real *b = call->in[1].data;
    real *out = call->out[0].data;
    struct lab_image y = lab_image_of(call->out[0].dim, p->window.nhwc);
    for (int64_t i = 0; i < call->out[0].count; i++)
        out[i] = conv[i] + b[i / y.sc % y.C];
    return LAB_OK;
}

/* db[m] = the sum of dout over images, rows and columns */
static enum lab_status conv2d_bias_backward(const struct lab_call *call)
{
    const struct lab_conv2d_params *p = call->params;
    const real *dout = call->in[0].data;
    real *db = call->out[0].data;
    struct lab_image y = lab_image_of(call->in[0].dim, p->window.nhwc);
    for (int64_t m = 0; m < y.C; m++) {
        double sum = 0;
        for (int64_t n = 0; n < y.N; n++)
            for (int64_t h = 0; h < y.H; h++)
                for (int64_t w = 0; w < y.W; w++)
                    sum += dout[at(&y, n, m, h, w)];
        db[m] = (real)sum;
    }
    return LAB_OK;
}

/* sum_{n,oh,ow} x[n,h,w,c] dconv[n,oh,ow,m], for one weight; c counts within the
 * filter's group */
static double weight_gradient(const struct lab_conv2d *s, const real *x,
                              const real *dconv, int64_t kh, int64_t kw,
                              int64_t c, int64_t m)
{
    double sum = 0;
    c += m / s->M * s->C;
    for (int64_t n = 0; n < s->y.N; n++) {
        for (int64_t oh = 0; oh < s->y.H; oh++) {
            int64_t h = row_of(s, 0, oh, kh);
            for (int64_t ow = 0; ow < s->y.W; ow++) {
                int64_t w = row_of(s, 1, ow, kw);
                if (inside(&s->x, h, w))
                    sum += (double)x[at(&s->x, n, c, h, w)] *
                           dconv[at(&s->y, n, m, oh, ow)];
            }
        }
    }
    return sum;
}

/* Which output row (axis 1: column) read input row h through kernel row k? The one
 * with oh*stride - pad + k*dilation = h, if there is one. -1: none. */
static int64_t reader(const struct lab_conv2d *s, int axis, int64_t h,
                      int64_t k, int64_t rows)
{
    int64_t first = h + s->win.pad[axis] - k * s->dilation[axis];
    int64_t stride = s->win.stride[axis];
    if (first < 0 || first % stride != 0 || first / stride >= rows)
        return -1;
    return first / stride;
}

/* The gradient of one input: every output that read it, by the weight that it
 * was read with. */
static double input_gradient(const struct lab_conv2d *s, const real *dconv,
                             const real *Wt, int64_t n, int64_t c, int64_t h,
                             int64_t w)
{
    double sum = 0;
    int64_t first = c / s->C * s->M; /* filter of the channel's group */
    for (int64_t kh = 0; kh < s->KH; kh++) {
        int64_t oh = reader(s, 0, h, kh, s->y.H);
        for (int64_t kw = 0; kw < s->KW && oh >= 0; kw++) {
            int64_t ow = reader(s, 1, w, kw, s->y.W);
            if (ow < 0)
                continue;
            const real *weight =
                Wt + kh * s->w_kh + kw * s->w_kw + c % s->C * s->w_c;
            for (int64_t m = first; m < first + s->M; m++)
                sum +=
                    (double)dconv[at(&s->y, n, m, oh, ow)] * weight[m * s->w_m];
        }
    }
    return sum;
}

static enum lab_status conv2d_conv_backward(const struct lab_call *call)
{
    const real *dconv = call->in[0].data;
    const real *x = call->in[1].data;
    const real *Wt = call->in[2].data;
    real *dWt = call->out[0].data;
    real *dx = call->out[1].data;
    struct lab_conv2d s = lab_conv2d_of(call, &call->in[1], &call->in[0]);
    for (int64_t kh = 0; kh < s.KH; kh++)
        for (int64_t kw = 0; kw < s.KW; kw++)
            for (int64_t c = 0; c < s.C; c++)
                for (int64_t m = 0; m < s.y.C && !lab_stopped(call); m++)
                    dWt[kh * s.w_kh + kw * s.w_kw + c * s.w_c + m * s.w_m] =
                        (real)weight_gradient(&s, x, dconv, kh, kw, c, m);
    for (int64_t n = 0; n < s.x.N && dx; n++)
        for (int64_t c = 0; c < s.x.C; c++)
            for (int64_t h = 0; h < s.x.H && !lab_stopped(call); h++)
                for (int64_t w = 0; w < s.x.W; w++)
                    dx[at(&s.x, n, c, h, w)] =
                        (real)input_gradient(&s, dconv, Wt, n, c, h, w);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("conv", LAB_FORWARD, conv2d_conv_forward),
    LAB_REF_ROW("bias", LAB_FORWARD, conv2d_bias_forward),
    LAB_REF_ROW("bias", LAB_BACKWARD, conv2d_bias_backward),
    LAB_REF_ROW("conv", LAB_BACKWARD, conv2d_conv_backward),
};

LAB_REF_SET(conv2d, variants);
