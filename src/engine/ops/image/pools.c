/* pools.c -- what max_pool2d and avg_pool2d share: shapes, windows,
 * explanations. */
#include "pools.h"

#include <stdio.h>

static const char *const paddings[] = {"same", "valid", NULL};
enum { SAME, VALID };

/* stride 0 means "as size". */
const struct lab_key_def lab_pool_keys[LAB_POOL_KEYS] = {
    {"size", LAB_KEY_INTS, true, 0, 1, 1 << 30, .min_items = 2, .max_items = 2},
    {"stride", LAB_KEY_INTS, false, 0, 1, 1 << 30, .min_items = 1,
     .max_items = 2},
    {"padding", LAB_KEY_PADDING, false, VALID, 0, 1 << 30, .choices = paddings},
};

bool lab_pool_of(struct lab_builder *b, struct lab_pool_node *out)
{
    int64_t rows_cols[2] = {0, 0};
    struct lab_window *win = &out->params.window;
    out->in = lab_build_shape(b, lab_build_input(b, 0));
    if (!lab_window_of(b, &out->in, "size", NULL, win, rows_cols))
        return false;
    if (win->pad[0] >= win->size[0] || win->pad[1] >= win->size[1]) {
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.pool.padding] padding %lld leaves windows of %lld x %lld that "
            "hold nothing but padding; it must be smaller than the window",
            (long long)lab_build_attr(b, "padding")->i, (long long)win->size[0],
            (long long)win->size[1]);
        return false;
    }
    struct lab_image x = lab_image_of(out->in.dim, win->nhwc);
    out->out = lab_window_shape(win, x.N, x.C, rows_cols);
    out->elements = (double)x.N * (double)x.C * (double)rows_cols[0] *
                    (double)rows_cols[1] * (double)win->size[0] *
                    (double)win->size[1];
    return true;
}

bool lab_pool_check(int turn, struct lab_op_check *c)
{
    c->nhwc = turn % 2 == 1;
    c->x = (struct lab_shape){4, {2, 3, 7, 6}};
    if (c->nhwc)
        c->x = (struct lab_shape){4, {2, 7, 6, 3}};
    c->attr[0].n = 2; /* size */
    c->attr[0].list[0] = 3;
    c->attr[0].list[1] = 2;
    c->attr[1].n = 1; /* stride: the windows overlap, or leave gaps */
    c->attr[1].list[0] = turn / 2 == 0 ? 2 : 3;
    c->attr[2].choice = turn / 2 == 0 ? SAME : VALID;
    return turn < 4;
}

static bool inside(const struct lab_image *image, struct lab_pixel p)
{
    return p.h >= 0 && p.h < image->H && p.w >= 0 && p.w < image->W;
}

bool lab_pool_next(const struct lab_window *win, const struct lab_image *x,
                   struct lab_pixel out, int64_t *k, int64_t *index)
{
    while (*k < win->size[0] * win->size[1]) {
        struct lab_pixel p = {
            .n = out.n,
            .c = out.c,
            .h = out.h * win->stride[0] - win->pad[0] + *k / win->size[1],
            .w = out.w * win->stride[1] - win->pad[1] + *k % win->size[1]};
        ++*k;
        if (inside(x, p)) {
            *index = lab_pixel_index(x, p);
            return true;
        }
    }
    return false;
}

void lab_pool_window_of(struct lab_explainer *ex, int out_slot, int64_t index,
                        struct lab_pool_window *out)
{
    const struct lab_pool_params *p = lab_explain_step(ex)->params;
    const struct lab_window *win = &p->window;
    struct lab_image y =
        lab_image_of(lab_explain_out_shape(ex, out_slot)->dim, win->nhwc);
    out->win = win;
    out->x = lab_image_of(lab_explain_in_shape(ex, 0)->dim, win->nhwc);
    out->at = lab_pixel_of(&y, index);
    const int64_t at[2] = {out->at.h, out->at.w};
    const int64_t limit[2] = {out->x.H, out->x.W};
    char side[2][48];
    for (int a = 0; a < 2; a++) {
        int64_t first = at[a] * win->stride[a] - win->pad[a];
        int64_t end = first + win->size[a];
        first = first < 0 ? 0 : first;
        end = end > limit[a] ? limit[a] : end;
        snprintf(side[a], sizeof(side[a]), "%lld..%lld", (long long)first,
                 (long long)end - 1);
    }
    if (win->nhwc)
        snprintf(out->text, sizeof(out->text), "%lld,%s,%s,%lld",
                 (long long)out->at.n, side[0], side[1], (long long)out->at.c);
    else
        snprintf(out->text, sizeof(out->text), "%lld,%lld,%s,%s",
                 (long long)out->at.n, (long long)out->at.c, side[0], side[1]);
}

/* Output rows (axis 0) or columns (1) with a window that holds input `at`: from
 * *first to *last, none when *first > *last. */
static void readers(const struct lab_window *win, int axis, int64_t at,
                    int64_t limit, int64_t *first, int64_t *last)
{
    int64_t reach = at + win->pad[axis];
    int64_t skip = reach - win->size[axis] + 1;
    *last = reach / win->stride[axis];
    if (*last >= limit)
        *last = limit - 1;
    *first = skip <= 0 ? 0 : (skip + win->stride[axis] - 1) / win->stride[axis];
}

void lab_pool_readers_of(struct lab_explainer *ex, int out_slot, int64_t index,
                         struct lab_pool_readers *out)
{
    const struct lab_pool_params *p = lab_explain_step(ex)->params;
    bool nhwc = p->window.nhwc;
    out->x = lab_image_of(lab_explain_out_shape(ex, out_slot)->dim, nhwc);
    out->y = lab_image_of(lab_explain_in_shape(ex, 0)->dim, nhwc);
    out->at = lab_pixel_of(&out->x, index);
    readers(&p->window, 0, out->at.h, out->y.H, &out->rows[0], &out->rows[1]);
    readers(&p->window, 1, out->at.w, out->y.W, &out->cols[0], &out->cols[1]);
    snprintf(out->text, sizeof(out->text),
             nhwc ? "%lld,oh,ow,%lld" : "%lld,%lld,oh,ow", (long long)out->at.n,
             (long long)out->at.c);
    if (out->rows[0] > out->rows[1] || out->cols[0] > out->cols[1])
        lab_explain_where(ex, "no window holds it");
    else
        lab_explain_where(ex,
                          "oh = %lld..%lld, ow = %lld..%lld are the windows "
                          "that hold it",
                          (long long)out->rows[0], (long long)out->rows[1],
                          (long long)out->cols[0], (long long)out->cols[1]);
}
