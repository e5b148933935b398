/* average pool: every window becomes the mean of its numbers, and its gradient
 * is shared out among them in equal parts. Padding is not counted: at the edge
 * the mean is taken over what there is. */
#include "pool/pool.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/pool/avg_pool2d_ref.c"

/* The part of a window that lies inside the image, along one axis. */
struct span {
    int64_t from;
    int64_t to; /* one past the last */
};

static struct span span_of(const struct lab_window *win, int axis, int64_t out,
                           int64_t limit)
{
    int64_t first = out * win->stride[axis] - win->pad[axis];
    struct span s = {first < 0 ? 0 : first, first + win->size[axis]};
    if (s.to > limit)
        s.to = limit;
    return s;
}

/* The mean of a window (dx NULL), or `share` added to each of its elements. */
static double walk(const struct lab_window *win, const struct lab_image *x,
                   const real *data, real *dx, real dy, int64_t oh, int64_t ow)
{
    struct span rows = span_of(win, 0, oh, x->H);
    struct span cols = span_of(win, 1, ow, x->W);
    double count = (double)((rows.to - rows.from) * (cols.to - cols.from));
    double sum = 0;
    for (int64_t h = rows.from; h < rows.to; h++) {
        for (int64_t w = cols.from; w < cols.to; w++) {
            int64_t i = h * x->sh + w * x->sw;
            if (dx)
                dx[i] += (real)(dy / count);
            else
                sum += data[i];
        }
    }
    return sum / count;
}

static enum lab_status avg_pool2d_forward(const struct lab_call *call)
{
    const struct lab_pool_params *p = call->params;
    const real *data = call->in[0].data;
    real *y = call->out[0].data;
    struct lab_image x = lab_image_of(call->in[0].dim, p->window.nhwc);
    struct lab_image o = lab_image_of(call->out[0].dim, p->window.nhwc);
    for (int64_t n = 0; n < o.N; n++)
        for (int64_t c = 0; c < o.C; c++)
            for (int64_t h = 0; h < o.H; h++)
                for (int64_t w = 0; w < o.W; w++)
                    y[n * o.sn + c * o.sc + h * o.sh + w * o.sw] =
                        (real)walk(&p->window, &x, data + n * x.sn + c * x.sc,
                                   NULL, 0, h, w);
    return LAB_OK;
}

static enum lab_status avg_pool2d_backward(const struct lab_call *call)
{
    const struct lab_pool_params *p = call->params;
    const real *dy = call->in[0].data;
    real *dx = call->out[0].data;
    struct lab_image x = lab_image_of(call->out[0].dim, p->window.nhwc);
    struct lab_image o = lab_image_of(call->in[0].dim, p->window.nhwc);
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = 0;
    for (int64_t n = 0; n < o.N; n++)
        for (int64_t c = 0; c < o.C; c++)
            for (int64_t h = 0; h < o.H; h++)
                for (int64_t w = 0; w < o.W; w++)
                    walk(&p->window, &x, NULL, dx + n * x.sn + c * x.sc,
                         dy[n * o.sn + c * o.sc + h * o.sh + w * o.sw], h, w);
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("pool", LAB_FORWARD, avg_pool2d_forward),
    LAB_REF_ROW("pool", LAB_BACKWARD, avg_pool2d_backward),
};

LAB_REF_SET(avg_pool2d, variants);
