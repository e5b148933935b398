/* kernels/pool/pool_onednn.c -- max_pool2d and avg_pool2d by oneDNN. Its max pool
 * notes the winner by its place in the window, one byte or four for each output;
 * argmax holds the flat index into the image, so the two are converted into each
 * other. oneDNN's max passes over NaN and takes -inf for a very small number:
 * where x holds either, the windows are searched here. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "library/onednn.h"
#include "pool/pool.h"

/* More cells do not fit in a byte. */
enum { BYTE_CELLS = 255 };

static bool in_bytes(const struct lab_window *win)
{
    return win->size[0] * win->size[1] <= BYTE_CELLS;
}

/* Is the workspace what turn_winners() and turn_places() take it for? */
static dnnl_status_t check_space(const dnnl_memory_desc_t *md,
                                 const struct lab_window *win,
                                 const dnnl_memory_desc_t *y)
{
    const dnnl_blocking_desc_t *a = &md->format_desc.blocking;
    const dnnl_blocking_desc_t *b = &y->format_desc.blocking;
    bool plain = md->format_kind == dnnl_blocked && a->inner_nblks == 0 &&
                 md->ndims == 4 &&
                 memcmp(a->strides, b->strides, 4 * sizeof(a->strides[0])) == 0;
    bool typed = md->data_type == (in_bytes(win) ? dnnl_u8 : dnnl_s32);
    return plain && typed ? dnnl_success : dnnl_unimplemented;
}

/* forward: y, x; backward: dx, dy; and for max the winners' places in the
 * windows. */
static dnnl_status_t recipe(struct onednn_recipe *r,
                            const struct onednn_key *key, dnnl_engine_t engine)
{
    bool back = key->way == ONEDNN_BACKWARD;
    bool max = key->alg == dnnl_pooling_max;
    struct onednn_images p;
    dnnl_pooling_desc_t desc;
    dnnl_memory_desc_t space;
    dnnl_status_t code = onednn_images(&p, &key->windows);
    if (!code)
        code = dnnl_pooling_forward_desc_init(&desc, dnnl_forward_training,
                                              key->alg, &p.x, &p.y, p.stride,
                                              p.size, p.before, p.after);
    if (!code)
        code = onednn_describe(r, &desc, engine);
    if (!code && max) {
        space =
            *dnnl_primitive_desc_query_md(r->desc, dnnl_query_workspace_md, 0);
        code = check_space(&space, &key->windows.win, &p.y);
    }
    if (!code && back)
        code = dnnl_pooling_backward_desc_init(
            &desc, key->alg, &p.x, &p.y, p.stride, p.size, p.before, p.after);
    if (!code && back)
        code = onednn_describe(r, &desc, engine);
    if (code)
        return code;
    onednn_add_arg(r, back ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST,
                   back ? &p.x : &p.y);
    onednn_add_arg(r, back ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC,
                   back ? &p.y : &p.x);
    if (max)
        onednn_add_arg(r, DNNL_ARG_WORKSPACE, &space);
    return dnnl_success;
}

/* ---- winners ---- */

struct pool {
    struct lab_image x;
    struct lab_image y;
    const struct lab_window *win;
};

static struct pool pool_of(const struct lab_call *call,
                           const struct lab_view *x, const struct lab_view *y)
{
    const struct lab_pool_params *p = call->params;
    return (struct pool){.x = lab_image_of(x->dim, p->window.nhwc),
                         .y = lab_image_of(y->dim, p->window.nhwc),
                         .win = &p->window};
}

/* One output: its place, and where its window starts. */
struct spot {
    int64_t to;    /* in y */
    int64_t image; /* the channel's first element in x */
    int64_t row;   /* may be outside */
    int64_t col;
};

static struct spot spot_at(const struct pool *p, int64_t index)
{
    int64_t w = index % p->y.W;
    int64_t h = index / p->y.W % p->y.H;
    int64_t c = index / p->y.W / p->y.H % p->y.C;
    int64_t n = index / p->y.W / p->y.H / p->y.C;
    return (struct spot){.to = n * p->y.sn + c * p->y.sc + h * p->y.sh +
                               w * p->y.sw,
                         .image = n * p->x.sn + c * p->x.sc,
                         .row = h * p->win->stride[0] - p->win->pad[0],
                         .col = w * p->win->stride[1] - p->win->pad[1]};
}

/* argmax from the places in the windows. */
static void turn_places(const struct pool *p, int32_t *argmax,
                        const void *places, bool bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        struct spot s = spot_at(p, i);
        int64_t place = bytes ? ((const unsigned char *)places)[s.to]
                              : ((const int32_t *)places)[s.to];
        int64_t row = s.row + place / p->win->size[1];
        int64_t col = s.col + place % p->win->size[1];
        argmax[s.to] = (int32_t)(s.image + row * p->x.sh + col * p->x.sw);
    }
}

/* The places in the windows from argmax. */
static void turn_winners(const struct pool *p, void *places,
                         const int32_t *argmax, bool bytes, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        struct spot s = spot_at(p, i);
        int64_t at = argmax[s.to] - s.image;
        int64_t row = at / p->x.sh;
        int64_t col = at % p->x.sh / p->x.sw;
        int64_t place = (row - s.row) * p->win->size[1] + col - s.col;
        if (bytes)
            ((unsigned char *)places)[s.to] = (unsigned char)place;
        else
            ((int32_t *)places)[s.to] = (int32_t)place;
    }
}

/* The first of the largest, or the first NaN. */
static void search(const struct pool *p, float *y, int32_t *argmax,
                   const float *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        struct spot s = spot_at(p, i);
        int64_t cells = p->win->size[0] * p->win->size[1];
        int64_t best = -1;
        for (int64_t k = 0; k < cells; k++) {
            int64_t row = s.row + k / p->win->size[1];
            int64_t col = s.col + k % p->win->size[1];
            if (row < 0 || row >= p->x.H || col < 0 || col >= p->x.W)
                continue;
            int64_t at = s.image + row * p->x.sh + col * p->x.sw;
            if (best < 0 || x[at] > x[best] ||
                (isnan(x[at]) && !isnan(x[best])))
                best = at;
        }
        y[s.to] = x[best];
        argmax[s.to] = (int32_t)best;
    }
}

/* ---- the steps ---- */

static struct onednn_key key_of(const struct pool *p, enum onednn_way way,
                                dnnl_alg_kind_t alg)
{
    struct onednn_key key = onednn_key(recipe, way);
    key.alg = alg;
    onednn_set_windows(&key, &p->x, &p->y, p->win);
    return key;
}

static enum lab_status take_places(void **out, int64_t count)
{
    *out = lab_alloc_array((size_t)count, sizeof(int32_t));
    return *out ? LAB_OK : lab_fail(LAB_E_NOMEM, "oneDNN: no memory to pool");
}

static enum lab_status max_pool_forward(const struct lab_call *call)
{
    struct pool p = pool_of(call, &call->in[0], &call->out[0]);
    int64_t count = call->out[0].count;
    if (!onednn_all_finite(&call->in[0])) {
        search(&p, call->out[0].data, call->out[1].data, call->in[0].data,
               count);
        return LAB_OK;
    }
    struct onednn_key key = key_of(&p, ONEDNN_FORWARD, dnnl_pooling_max);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data};
    enum lab_status st = take_places(&data[2], count);
    if (!st)
        st = onednn_run(&key, data);
    if (!st)
        turn_places(&p, call->out[1].data, data[2], in_bytes(p.win), count);
    lab_free(data[2]);
    return onednn_finish(st);
}

static enum lab_status max_pool_backward(const struct lab_call *call)
{
    struct pool p = pool_of(call, &call->out[0], &call->in[0]);
    struct onednn_key key = key_of(&p, ONEDNN_BACKWARD, dnnl_pooling_max);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data};
    enum lab_status st = take_places(&data[2], call->in[0].count);
    if (!st) {
        turn_winners(&p, data[2], call->in[1].data, in_bytes(p.win),
                     call->in[0].count);
        st = onednn_run(&key, data);
    }
    lab_free(data[2]);
    return onednn_finish(st);
}

static enum lab_status avg_pool_forward(const struct lab_call *call)
{
    struct pool p = pool_of(call, &call->in[0], &call->out[0]);
    struct onednn_key key =
        key_of(&p, ONEDNN_FORWARD, dnnl_pooling_avg_exclude_padding);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data};
    return onednn_finish(onednn_run(&key, data));
}

static enum lab_status avg_pool_backward(const struct lab_call *call)
{
    struct pool p = pool_of(call, &call->out[0], &call->in[0]);
    struct onednn_key key =
        key_of(&p, ONEDNN_BACKWARD, dnnl_pooling_avg_exclude_padding);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data};
    return onednn_finish(onednn_run(&key, data));
}

#define FILE_NAME "pool/pool_onednn.c"

static const struct lab_variant max_rows[] = {
    ONEDNN_ROW(FILE_NAME, "pool", LAB_FORWARD, max_pool_forward),
    ONEDNN_ROW(FILE_NAME, "pool", LAB_BACKWARD, max_pool_backward),
};
static const struct lab_variant avg_rows[] = {
    ONEDNN_ROW(FILE_NAME, "pool", LAB_FORWARD, avg_pool_forward),
    ONEDNN_ROW(FILE_NAME, "pool", LAB_BACKWARD, avg_pool_backward),
};

const struct lab_kernel_set lab_onednn_max_pool2d = {"max_pool2d", max_rows, 2};
const struct lab_kernel_set lab_onednn_avg_pool2d = {"avg_pool2d", avg_rows, 2};
