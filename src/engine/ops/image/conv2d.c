/* conv2d: one small set of weights, laid over every place of the image. The
 * same two ideas as in a dense layer, products and a bias; only, each output
 * sees a window of the input, and all places share the weights. */
#include "conv2d/conv2d.h"

#include <stdio.h>

#include "window.h"

static const char *const paddings[] = {"same", "valid", NULL};
enum { SAME, VALID };
enum { FILTERS, KERNEL, STRIDE, PADDING, BIAS, N_KEYS };

static const struct lab_key_def keys[N_KEYS] = {
    {"filters", LAB_KEY_INT, true, 0, 1, 1 << 30},
    {"kernel", LAB_KEY_INTS, true, 0, 1, 1 << 30, .min_items = 2,
     .max_items = 2},
    {"stride", LAB_KEY_INTS, false, 1, 1, 1 << 30, .min_items = 1,
     .max_items = 2},
    {"padding", LAB_KEY_PADDING, false, VALID, 0, 1 << 30, .choices = paddings},
    {"bias", LAB_KEY_BOOL, false, 1},
};

/* ---- explanations ---- */

struct geometry {
    struct lab_window win;
    struct lab_image x;
    struct lab_image y;
};

static struct geometry geometry_of(const struct lab_explainer *ex,
                                   const struct lab_shape *x,
                                   const struct lab_shape *y)
{
    const struct lab_conv2d_params *p = lab_explain_params(ex);
    struct geometry g = {.win = p->window};
    g.x = lab_image_of(x->dim, p->window.nhwc);
    g.y = lab_image_of(y->dim, p->window.nhwc);
    return g;
}

/* Flat index of a weight. */
static int64_t weight_at(const struct geometry *g, int64_t kh, int64_t kw,
                         int64_t c, int64_t m)
{
    if (g->win.nhwc)
        return ((kh * g->win.size[1] + kw) * g->x.C + c) * g->y.C + m;
    return ((m * g->x.C + c) * g->win.size[0] + kh) * g->win.size[1] + kw;
}

static const char *image_text(const struct geometry *g, char *buf, size_t size,
                              const char *n, const char *c, const char *h,
                              const char *w)
{
    if (g->win.nhwc)
        snprintf(buf, size, "%s,%s,%s,%s", n, h, w, c);
    else
        snprintf(buf, size, "%s,%s,%s,%s", n, c, h, w);
    return buf;
}

static const char *number(char *buf, size_t size, int64_t v)
{
    snprintf(buf, size, "%lld", (long long)v);
    return buf;
}

/* conv[n,oh,ow,m] = sum x[n,h,w,c] Wt[kh,kw,c,m] */
static void explain_conv(struct lab_explainer *ex, int out_slot, int64_t index)
{
    struct geometry g = geometry_of(ex, lab_explain_in_shape(ex, 0),
                                    lab_explain_out_shape(ex, out_slot));
    struct lab_pixel o = lab_pixel_of(&g.y, index);
    int64_t top = o.h * g.win.stride[0] - g.win.pad[0];
    int64_t left = o.w * g.win.stride[1] - g.win.pad[1];
    char at[128];
    char row[40];
    char col[40];
    char n[24];
    snprintf(row, sizeof(row), "%lld+kh", (long long)top);
    snprintf(col, sizeof(col), "%lld+kw", (long long)left);
    number(n, sizeof(n), o.n);
    lab_explain_symbolic(ex,
                         g.win.nhwc ? "sum_kh,kw,c %s[%s] * %s[kh,kw,c,%lld]"
                                    : "sum_c,kh,kw %s[%s] * %s[%lld,c,kh,kw]",
                         lab_explain_in_name(ex, 0),
                         image_text(&g, at, sizeof(at), n, "c", row, col),
                         lab_explain_in_name(ex, 1), (long long)o.c);
    for (int64_t kh = 0; kh < g.win.size[0]; kh++) {
        for (int64_t kw = 0; kw < g.win.size[1]; kw++) {
            for (int64_t c = 0; c < g.x.C; c++) {
                struct lab_pixel p = {o.n, c, top + kh, left + kw};
                if (!lab_pixel_inside(&g.x, p))
                    continue;
                int64_t from = lab_pixel_index(&g.x, p);
                int64_t weight = weight_at(&g, kh, kw, c, o.c);
                double x = lab_explain_in(ex, 0, from);
                double w = lab_explain_in(ex, 1, weight);
                lab_explain_term(ex, x * w, "%.6g*%.6g", x, w);
                lab_explain_source(ex, 0, from);
                lab_explain_source(ex, 1, weight);
            }
        }
    }
}

static void explain_bias(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_conv2d_params *p = lab_explain_params(ex);
    const struct lab_shape *out = lab_explain_out_shape(ex, out_slot);
    struct lab_image y = lab_image_of(out->dim, p->window.nhwc);
    int64_t m = lab_pixel_of(&y, index).c;
    char at[LAB_SHAPE_TEXT];
    double conv = lab_explain_in(ex, 0, index);
    double b = lab_explain_in(ex, 1, m);
    lab_explain_symbolic(ex, "%s[%s] + %s[%lld]", lab_explain_in_name(ex, 0),
                         lab_explain_at(out, index, at),
                         lab_explain_in_name(ex, 1), (long long)m);
    lab_explain_term(ex, conv, "%.6g", conv);
    lab_explain_source(ex, 0, index);
    lab_explain_term(ex, b, "%.6g", b);
    lab_explain_source(ex, 1, m);
}

static void explain_bias_back(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    const struct lab_conv2d_params *p = lab_explain_params(ex);
    struct lab_image y =
        lab_image_of(lab_explain_in_shape(ex, 0)->dim, p->window.nhwc);
    if (out_slot == 1) { /* d conv is d out itself */
        lab_explain_passed(ex, 0, index);
        return;
    }
    lab_explain_symbolic(ex,
                         p->window.nhwc ? "sum_n,h,w %s[n,h,w,%lld]"
                                        : "sum_n,h,w %s[n,%lld,h,w]",
                         lab_explain_in_name(ex, 0), (long long)index);
    for (int64_t k = 0; k < y.N * y.H * y.W; k++) {
        struct lab_pixel at = {k / (y.H * y.W), index, k / y.W % y.H, k % y.W};
        int64_t i = lab_pixel_index(&y, at);
        double g = lab_explain_in(ex, 0, i);
        lab_explain_term(ex, g, "%.6g", g);
        lab_explain_source(ex, 0, i);
    }
}

/* "oh*2+1", "oh" */
static void along(char *buf, size_t size, const char *name, int64_t stride,
                  int64_t first)
{
    char times[24] = "";
    char plus[24] = "";
    if (stride != 1)
        snprintf(times, sizeof(times), "*%lld", (long long)stride);
    if (first)
        snprintf(plus, sizeof(plus), "%+lld", (long long)first);
    snprintf(buf, size, "%s%s%s", name, times, plus);
}

/* dWt[kh,kw,c,m] = sum_n,oh,ow x[n,h,w,c] dconv[n,oh,ow,m] */
static void explain_dW(struct lab_explainer *ex, int64_t index)
{
    struct geometry g = geometry_of(ex, lab_explain_in_shape(ex, 1),
                                    lab_explain_in_shape(ex, 0));
    const struct lab_shape *W = lab_explain_out_shape(ex, 0);
    int64_t at[LAB_MAX_RANK];
    lab_shape_unravel(W, index, at);
    int64_t kh = at[g.win.nhwc ? 0 : 2];
    int64_t kw = at[g.win.nhwc ? 1 : 3];
    int64_t c = at[g.win.nhwc ? 2 : 1];
    int64_t m = at[g.win.nhwc ? 3 : 0];
    char x_at[128];
    char y_at[128];
    char row[40];
    char col[40];
    char cn[24];
    char mn[24];
    along(row, sizeof(row), "oh", g.win.stride[0], kh - g.win.pad[0]);
    along(col, sizeof(col), "ow", g.win.stride[1], kw - g.win.pad[1]);
    lab_explain_symbolic(ex, "sum_n,oh,ow %s[%s] * %s[%s]",
                         lab_explain_in_name(ex, 1),
                         image_text(&g, x_at, sizeof(x_at), "n",
                                    number(cn, sizeof(cn), c), row, col),
                         lab_explain_in_name(ex, 0),
                         image_text(&g, y_at, sizeof(y_at), "n",
                                    number(mn, sizeof(mn), m), "oh", "ow"));
    for (int64_t k = 0; k < g.y.N * g.y.H * g.y.W; k++) {
        struct lab_pixel o = {k / (g.y.H * g.y.W), m, k / g.y.W % g.y.H,
                              k % g.y.W};
        struct lab_pixel p = {o.n, c, o.h * g.win.stride[0] - g.win.pad[0] + kh,
                              o.w * g.win.stride[1] - g.win.pad[1] + kw};
        if (!lab_pixel_inside(&g.x, p))
            continue;
        double x = lab_explain_in(ex, 1, lab_pixel_index(&g.x, p));
        double d = lab_explain_in(ex, 0, lab_pixel_index(&g.y, o));
        lab_explain_term(ex, x * d, "%.6g*%.6g", x, d);
        lab_explain_source(ex, 1, lab_pixel_index(&g.x, p));
        lab_explain_source(ex, 0, lab_pixel_index(&g.y, o));
    }
}

/* The terms of one output place that read the input at kernel (kh, kw). */
static void add_readers(struct lab_explainer *ex, const struct geometry *g,
                        struct lab_pixel in, int64_t oh, int64_t ow)
{
    int64_t kh = in.h + g->win.pad[0] - oh * g->win.stride[0];
    int64_t kw = in.w + g->win.pad[1] - ow * g->win.stride[1];
    for (int64_t m = 0; m < g->y.C; m++) {
        int64_t from =
            lab_pixel_index(&g->y, (struct lab_pixel){in.n, m, oh, ow});
        int64_t weight = weight_at(g, kh, kw, in.c, m);
        double d = lab_explain_in(ex, 0, from);
        double w = lab_explain_in(ex, 2, weight);
        lab_explain_term(ex, d * w, "%.6g*%.6g", d, w);
        lab_explain_source(ex, 0, from);
        lab_explain_source(ex, 2, weight);
    }
}

/* "5-oh*2": the kernel's row with which output row oh reads input row 5. */
static void kernel_at(char *buf, size_t size, const char *name, int64_t stride,
                      int64_t reach)
{
    char times[24] = "";
    if (stride != 1)
        snprintf(times, sizeof(times), "*%lld", (long long)stride);
    snprintf(buf, size, "%lld-%s%s", (long long)reach, name, times);
}

/* rows, cols: the first and the last output that read the pixel. */
static void dx_formula(struct lab_explainer *ex, const struct geometry *g,
                       struct lab_pixel in, const int64_t *rows,
                       const int64_t *cols)
{
    char d_at[128];
    char n[24];
    char c[24];
    char kh[64];
    char kw[64];
    number(n, sizeof(n), in.n);
    number(c, sizeof(c), in.c);
    kernel_at(kh, sizeof(kh), "oh", g->win.stride[0], in.h + g->win.pad[0]);
    kernel_at(kw, sizeof(kw), "ow", g->win.stride[1], in.w + g->win.pad[1]);
    if (rows[0] > rows[1] || cols[0] > cols[1]) {
        lab_explain_symbolic(ex, "0: no window of %s holds it",
                             lab_explain_in_name(ex, 0));
        return;
    }
    image_text(g, d_at, sizeof(d_at), n, "m", "oh", "ow");
    lab_explain_symbolic(ex,
                         g->win.nhwc ? "sum_oh,ow,m %s[%s] * %s[%s,%s,%s,m]"
                                     : "sum_m,oh,ow %s[%s] * %s[m,%s,%s,%s]",
                         lab_explain_in_name(ex, 0), d_at,
                         lab_explain_in_name(ex, 2), g->win.nhwc ? kh : c,
                         g->win.nhwc ? kw : kh, g->win.nhwc ? c : kw);
    lab_explain_where(ex,
                      "the outputs oh = %lld..%lld, ow = %lld..%lld are those "
                      "that read it",
                      (long long)rows[0], (long long)rows[1],
                      (long long)cols[0], (long long)cols[1]);
}

static void explain_conv_back(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    if (out_slot == 0) {
        explain_dW(ex, index);
        return;
    }
    struct geometry g = geometry_of(ex, lab_explain_in_shape(ex, 1),
                                    lab_explain_in_shape(ex, 0));
    struct lab_pixel in = lab_pixel_of(&g.x, index);
    int64_t rows[2];
    int64_t cols[2];
    lab_window_readers(&g.win, 0, in.h, g.y.H, &rows[0], &rows[1]);
    lab_window_readers(&g.win, 1, in.w, g.y.W, &cols[0], &cols[1]);
    dx_formula(ex, &g, in, rows, cols);
    for (int64_t oh = rows[0]; oh <= rows[1]; oh++)
        for (int64_t ow = cols[0]; ow <= cols[1]; ow++)
            add_readers(ex, &g, in, oh, ow);
}

/* ---- steps ---- */

struct node {
    struct lab_conv2d_params p;
    struct lab_shape x;
    struct lab_shape y;
    struct lab_shape W;
    double flop; /* of one product; those with padding are not done */
};

/* Pairs of an output and a kernel place, along an axis, inside the image. */
static double overlaps(const struct lab_window *win, int axis, int64_t size,
                       int64_t out)
{
    double pairs = 0;
    for (int64_t o = 0; o < out; o++) {
        int64_t from = o * win->stride[axis] - win->pad[axis];
        int64_t to = from + win->size[axis];
        if (from < 0)
            from = 0;
        if (to > size)
            to = size;
        pairs += to > from ? (double)(to - from) : 0;
    }
    return pairs;
}

static bool node_of(struct lab_builder *b, struct node *n)
{
    struct lab_window *win = &n->p.window;
    int64_t rows_cols[2];
    n->x = lab_build_shape(b, lab_build_input(b, 0));
    if (!lab_window_of(b, &n->x, "kernel", win, rows_cols))
        return false;
    struct lab_image x = lab_image_of(n->x.dim, win->nhwc);
    int64_t M = lab_build_attr(b, "filters")->i;
    n->y = lab_window_shape(win, x.N, M, rows_cols);
    n->W = win->nhwc
               ? (struct lab_shape){4, {win->size[0], win->size[1], x.C, M}}
               : (struct lab_shape){4, {M, x.C, win->size[0], win->size[1]}};
    n->flop = 2.0 * (double)x.N * (double)x.C * (double)M *
              overlaps(win, 0, x.H, rows_cols[0]) *
              overlaps(win, 1, x.W, rows_cols[1]);
    return true;
}

static double count_of(const struct lab_shape *s)
{
    int64_t n = 0;
    return lab_shape_count(s, &n) ? 0 : (double)n;
}

static void build_bias(struct lab_builder *b, const struct node *n, int conv,
                       int out)
{
    struct lab_shape M = {1, {lab_build_attr(b, "filters")->i}};
    int bias = lab_build_param(b, "b", &M, LAB_INIT_ZERO);
    lab_build_step(b,
                   &(struct lab_step_def){
                       .name = "bias",
                       .phase = LAB_FORWARD,
                       .in = {conv, bias},
                       .n_in = 2,
                       .out = {out},
                       .n_out = 1,
                       .params = &n->p,
                       .params_bytes = sizeof(n->p),
                       .flop = count_of(&n->y),
                       .formula = n->p.window.nhwc
                                      ? "$o0[n,h,w,m] = $i0[n,h,w,m] + $i1[m]"
                                      : "$o0[n,m,h,w] = $i0[n,m,h,w] + $i1[m]",
                       .explain = explain_bias});
}

static const char *conv_formula(const struct node *n)
{
    return n->p.window.nhwc
               ? "$o0[n,oh,ow,m] = sum_kh,kw,c $i0[n,h,w,c] * $i1[kh,kw,c,m]"
               : "$o0[n,m,oh,ow] = sum_c,kh,kw $i0[n,c,h,w] * $i1[m,c,kh,kw]";
}

static void forward(struct lab_builder *b)
{
    struct node n;
    if (!node_of(b, &n))
        return;
    bool bias = lab_build_attr(b, "bias")->b;
    int W = lab_build_param(b, "W", &n.W,
                            n.p.window.nhwc ? LAB_INIT_FAN_IN
                                            : LAB_INIT_FAN_IN_FIRST);
    int conv = bias ? lab_build_part(b, "conv", &n.y, lab_build_real(b))
                    : lab_build_out(b, &n.y);
    lab_build_step(b, &(struct lab_step_def){.name = "conv",
                                             .phase = LAB_FORWARD,
                                             .in = {lab_build_input(b, 0), W},
                                             .n_in = 2,
                                             .out = {conv},
                                             .n_out = 1,
                                             .params = &n.p,
                                             .params_bytes = sizeof(n.p),
                                             .flop = n.flop,
                                             .formula = conv_formula(&n),
                                             .explain = explain_conv});
    if (bias)
        build_bias(b, &n, conv, lab_build_out(b, &n.y));
}

static int bias_back(struct lab_builder *b, const struct node *n, int dout)
{
    int db = lab_build_grad(b, lab_build_find(b, "b"));
    int dconv = lab_build_grad_alias(b, lab_build_find(b, "conv"), dout);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "bias",
                          .phase = LAB_BACKWARD,
                          .in = {dout},
                          .n_in = 1,
                          .out = {db, dconv},
                          .n_out = 2,
                          .params = &n->p,
                          .params_bytes = sizeof(n->p),
                          .flop = count_of(&n->y),
                          .formula = "$o0[m] = sum_n,h,w $i0; $o1 = $i0",
                          .explain = explain_bias_back});
    return dconv;
}

static const char *back_formula(bool nhwc, bool dx)
{
    if (nhwc)
        return dx ? "$o0[kh,kw,c,m] = sum_n,oh,ow $i1[n,h,w,c] * "
                    "$i0[n,oh,ow,m]; $o1[n,h,w,c] = sum_kh,kw,m "
                    "$i0[n,oh,ow,m] * $i2[kh,kw,c,m]"
                  : "$o0[kh,kw,c,m] = sum_n,oh,ow $i1[n,h,w,c] * "
                    "$i0[n,oh,ow,m]";
    return dx ? "$o0[m,c,kh,kw] = sum_n,oh,ow $i1[n,c,h,w] * "
                "$i0[n,m,oh,ow]; $o1[n,c,h,w] = sum_m,kh,kw "
                "$i0[n,m,oh,ow] * $i2[m,c,kh,kw]"
              : "$o0[m,c,kh,kw] = sum_n,oh,ow $i1[n,c,h,w] * "
                "$i0[n,m,oh,ow]";
}

static void backward(struct lab_builder *b)
{
    struct node n;
    int dconv = lab_build_out_grad(b);
    int W = lab_build_find(b, "W");
    if (!node_of(b, &n))
        return;
    if (lab_build_attr(b, "bias")->b)
        dconv = bias_back(b, &n, dconv);
    int dW = lab_build_grad(b, W);
    int dx = lab_build_input_grad(b, 0);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "conv",
                          .phase = LAB_BACKWARD,
                          .in = {dconv, lab_build_input(b, 0), W},
                          .n_in = 3,
                          .out = {dW, dx},
                          .n_out = 2,
                          .params = &n.p,
                          .params_bytes = sizeof(n.p),
                          .flop = dx >= 0 ? 2 * n.flop : n.flop,
                          .formula = back_formula(n.p.window.nhwc, dx >= 0),
                          .explain = explain_conv_back});
}

/* Both layouts; padding that is uneven, none, and more than the kernel. Then
 * the shape that every way of computing serves: 3 x 3, stride 1. */
static bool check(int turn, struct lab_op_check *c)
{
    c->nhwc = turn % 2 == 1;
    c->x = (struct lab_shape){4, {2, 3, 7, 6}};
    if (c->nhwc)
        c->x = (struct lab_shape){4, {2, 7, 6, 3}};
    c->attr[FILTERS].i = 5;
    c->attr[KERNEL].n = c->attr[STRIDE].n = 2;
    c->attr[KERNEL].list[0] = 3;
    c->attr[KERNEL].list[1] = 2;
    c->attr[STRIDE].list[0] = turn / 2 == 0 ? 2 : 1;
    c->attr[STRIDE].list[1] = turn / 2 == 2 ? 3 : 1;
    c->attr[PADDING].choice = turn / 2 == 0 ? SAME : VALID;
    if (turn / 2 == 2) {
        c->attr[PADDING].choice = -1;
        c->attr[PADDING].i = 4;
    }
    if (turn / 2 == 3) {
        c->attr[KERNEL].list[1] = 3;
        c->attr[STRIDE].list[0] = 1;
        c->attr[PADDING].choice = SAME;
    }
    c->attr[BIAS].b = turn / 2 != 1;
    return turn < 8;
}

const struct lab_op_def lab_op_conv2d = {.name = "conv2d",
                                         .kind = LAB_KIND_LAYER,
                                         .keys = keys,
                                         .n_keys = N_KEYS,
                                         .min_inputs = 1,
                                         .max_inputs = 1,
                                         .takes_images = true,
                                         .forward = forward,
                                         .backward = backward,
                                         .check = check};
