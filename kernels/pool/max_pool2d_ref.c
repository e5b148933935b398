/* max pool: of every window the largest number goes on, and its place is kept,
 * for that is where the gradient goes back to. All other numbers of the window
 * could move a little and nothing would change: their gradient is zero. */
#include "pool/pool.h"
#include "common/ref.h"

#define LAB_REF_FILE "kernels/pool/max_pool2d_ref.c"

/* Flat index of the winner: the first one, row by row, of those that are
 * largest; the first NaN, where there is one. */
static int64_t winner(const struct lab_window *win, const struct lab_image *x,
                      const real *data, int64_t base, int64_t oh, int64_t ow)
{
    int64_t best = -1;
    for (int64_t u = 0; u < win->size[0]; u++) {
        int64_t h = oh * win->stride[0] - win->pad[0] + u;
        for (int64_t v = 0; v < win->size[1]; v++) {
            int64_t w = ow * win->stride[1] - win->pad[1] + v;
            if (h < 0 || h >= x->H || w < 0 || w >= x->W)
                continue;
            int64_t i = base + h * x->sh + w * x->sw;
            if (best < 0 || data[i] > data[best] ||
                (isnan(data[i]) && !isnan(data[best])))
                best = i;
        }
    }
    return best;
}

static enum lab_status max_pool2d_forward(const struct lab_call *call)
{
    const struct lab_pool_params *p = call->params;
    const real *data = call->in[0].data;
    real *y = call->out[0].data;
    int32_t *argmax = call->out[1].data;
    struct lab_image x = lab_image_of(call->in[0].dim, p->window.nhwc);
    struct lab_image o = lab_image_of(call->out[0].dim, p->window.nhwc);
    for (int64_t n = 0; n < o.N; n++) {
        for (int64_t c = 0; c < o.C; c++) {
            for (int64_t h = 0; h < o.H; h++) {
                for (int64_t w = 0; w < o.W; w++) {
                    int64_t to = n * o.sn + c * o.sc + h * o.sh + w * o.sw;
                    int64_t from =
                        winner(&p->window, &x, data, n * x.sn + c * x.sc, h, w);
                    y[to] = data[from];
                    argmax[to] = (int32_t)from;
                }
            }
        }
    }
    return LAB_OK;
}

/* Windows may overlap, and then one number wins several times. */
static enum lab_status max_pool2d_backward(const struct lab_call *call)
{
    const real *dy = call->in[0].data;
    const int32_t *argmax = call->in[1].data;
    real *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = 0;
    for (int64_t i = 0; i < call->in[0].count; i++)
        dx[argmax[i]] += dy[i];
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    LAB_REF_ROW("pool", LAB_FORWARD, max_pool2d_forward),
    LAB_REF_ROW("pool", LAB_BACKWARD, max_pool2d_backward),
};

LAB_REF_SET(max_pool2d, variants);
