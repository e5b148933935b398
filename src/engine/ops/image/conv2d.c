/* conv2d: one small set of weights, laid over every place of the image. The
 * same two ideas as in a dense layer, products and a bias; only, each output
 * sees a window of the input, and all places share the weights. */
#include "conv2d/conv2d.h"

#include <stdio.h>

#include "base/str.h"
#include "engine/explain.h"
#include "engine/formula.h"
#include "pools.h"

static const char *const paddings[] = {"same", "valid", NULL};
enum { SAME, VALID };
enum { FILTERS, KERNEL, STRIDE, PADDING, BIAS, DILATION, GROUPS, N_KEYS };

static const struct lab_key_def keys[N_KEYS] = {
    {"filters", LAB_KEY_INT, true, 0, 1, 1 << 30},
    {"kernel", LAB_KEY_INTS, true, 0, 1, 1 << 30, .min_items = 2,
     .max_items = 2},
    {"stride", LAB_KEY_INTS, false, 1, 1, 1 << 30, .min_items = 1,
     .max_items = 2},
    {"padding", LAB_KEY_PADDING, false, VALID, 0, 1 << 30, .choices = paddings},
    {"bias", LAB_KEY_BOOL, false, 1},
    {"dilation", LAB_KEY_INTS, false, 1, 1, 1 << 20, .min_items = 1,
     .max_items = 2},
    {"groups", LAB_KEY_INT, false, 1, 1, 1 << 30},
};

struct node {
    struct lab_conv2d_params p;
    struct lab_shape x;
    struct lab_shape y;
    struct lab_shape W;
};

static bool node_of(struct lab_builder *b, struct node *n)
{
    struct lab_window *win = &n->p.window;
    const struct lab_attr *dilation = lab_build_attr(b, "dilation");
    int64_t groups = lab_build_attr(b, "groups")->i;
    int64_t rows_cols[2];
    n->x = lab_build_shape(b, lab_build_input(b, 0));
    n->p.groups = groups;
    for (int axis = 0; axis < 2; axis++)
        n->p.dilation[axis] = dilation->list[dilation->n == 1 ? 0 : axis];
    if (!lab_window_of(b, &n->x, "kernel", n->p.dilation, win, rows_cols))
        return false;
    struct lab_image x = lab_image_of(n->x.dim, win->nhwc);
    int64_t M = lab_build_attr(b, "filters")->i;
    if (x.C % groups != 0 || M % groups != 0) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.conv2d.groups] cuts %lld channels and %lld filters "
                       "into %lld groups; both have to be divisible",
                       (long long)x.C, (long long)M, (long long)groups);
        return false;
    }
    if ((n->p.dilation[0] > 1 && win->stride[0] > 1) ||
        (n->p.dilation[1] > 1 && win->stride[1] > 1)) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.conv2d.dilation] has a dilation and a stride above "
                       "1 along one axis; one of them has to be 1");
        return false;
    }
    n->y = lab_window_shape(win, x.N, M, rows_cols);
    int64_t C = x.C / groups;
    n->W = win->nhwc
               ? (struct lab_shape){4, {win->size[0], win->size[1], C, M}}
               : (struct lab_shape){4, {M, C, win->size[0], win->size[1]}};
    return true;
}

/* Dilation and groups are beyond the index notation of formulas: then the elements
 * are explained by the functions below. */
static bool is_plain(const struct lab_conv2d_params *p)
{
    return p->dilation[0] <= 1 && p->dilation[1] <= 1 && p->groups <= 1;
}

static struct lab_conv2d sizes_of(const struct lab_conv2d_params *p,
                                  const struct lab_shape *x,
                                  const struct lab_shape *y)
{
    struct lab_view views[2] = {{.rank = 4}, {.rank = 4}};
    const struct lab_call call = {.params = p};
    for (int axis = 0; axis < 4; axis++) {
        views[0].dim[axis] = x->dim[axis];
        views[1].dim[axis] = y->dim[axis];
    }
    return lab_conv2d_of(&call, &views[0], &views[1]);
}

/* Products of the forward step: inputs that lie in the padding have none. */
static double products(const struct node *n)
{
    struct lab_conv2d s = sizes_of(&n->p, &n->x, &n->y);
    const int64_t in[2] = {s.x.H, s.x.W};
    const int64_t out[2] = {s.y.H, s.y.W};
    double count = (double)s.y.N * (double)s.y.C * (double)s.C;
    for (int axis = 0; axis < 2; axis++) {
        int64_t taps = 0;
        for (int64_t o = 0; o < out[axis]; o++) {
            for (int64_t k = 0; k < s.win.size[axis]; k++) {
                int64_t at = o * s.win.stride[axis] - s.win.pad[axis] +
                             k * s.dilation[axis];
                taps += at >= 0 && at < in[axis];
            }
        }
        count *= (double)taps;
    }
    return count;
}

/* A pair that is multiplied: element of x, of Wt and of conv, all by flat index. */
struct pair {
    int64_t x;
    int64_t w;
    int64_t y;
};

/* What output o meets under place kh, kw of the kernel and channel c of its group;
 * false: padding. */
static bool meets(const struct lab_conv2d *s, struct lab_pixel o, int64_t kh,
                  int64_t kw, int64_t c, struct pair *out)
{
    struct lab_pixel p = {
        .n = o.n,
        .c = o.c / s->M * s->C + c,
        .h = o.h * s->win.stride[0] - s->win.pad[0] + kh * s->dilation[0],
        .w = o.w * s->win.stride[1] - s->win.pad[1] + kw * s->dilation[1]};
    out->x = lab_pixel_index(&s->x, p);
    out->y = lab_pixel_index(&s->y, o);
    out->w = kh * s->w_kh + kw * s->w_kw + c * s->w_c + o.c * s->w_m;
    return p.h >= 0 && p.h < s->x.H && p.w >= 0 && p.w < s->x.W;
}

static void add_pair(struct lab_explainer *ex, int a_slot, int64_t a_at,
                     int b_slot, int64_t b_at)
{
    double a = lab_explain_in(ex, a_slot, a_at);
    double b = lab_explain_in(ex, b_slot, b_at);
    lab_explain_term(ex, a * b, "%.6g*%.6g", a, b);
    lab_explain_source(ex, a_slot, a_at);
    lab_explain_source(ex, b_slot, b_at);
}

/* in: x Wt */
static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    struct pair at;
    struct lab_conv2d s =
        sizes_of(lab_explain_step(ex)->params, lab_explain_in_shape(ex, 0),
                 lab_explain_out_shape(ex, 0));
    struct lab_pixel o = lab_pixel_of(&s.y, index);
    (void)out_slot;
    lab_explain_symbolic(ex, "sum of %s * %s", lab_explain_in_name(ex, 0),
                         lab_explain_in_name(ex, 1));
    for (int64_t k = 0; k < s.KH * s.KW * s.C; k++) {
        if (meets(&s, o, k / s.C / s.KW, k / s.C % s.KW, k % s.C, &at))
            add_pair(ex, 0, at.x, 1, at.w);
    }
}

/* in: dconv x Wt; one weight: all outputs of its filter */
static void explain_weight(struct lab_explainer *ex, const struct lab_conv2d *s,
                           int64_t index)
{
    struct pair at;
    for (int64_t i = 0; i < s->y.N * s->y.H * s->y.W; i++) {
        struct lab_pixel o = {.n = i / (s->y.H * s->y.W),
                              .c = index / s->w_m % s->y.C,
                              .h = i / s->y.W % s->y.H,
                              .w = i % s->y.W};
        if (meets(s, o, index / s->w_kh % s->KH, index / s->w_kw % s->KW,
                  index / s->w_c % s->C, &at))
            add_pair(ex, 0, at.y, 1, at.x);
    }
}

/* One input: the outputs of its image and group that read it. */
static void explain_input(struct lab_explainer *ex, const struct lab_conv2d *s,
                          int64_t index)
{
    struct pair at;
    struct lab_pixel from = lab_pixel_of(&s->x, index);
    for (int64_t i = 0; i < s->y.H * s->y.W * s->M; i++) {
        struct lab_pixel o = {.n = from.n,
                              .c = from.c / s->C * s->M + i % s->M,
                              .h = i / s->M / s->y.W,
                              .w = i / s->M % s->y.W};
        for (int64_t k = 0; k < s->KH * s->KW; k++) {
            if (meets(s, o, k / s->KW, k % s->KW, from.c % s->C, &at) &&
                at.x == index)
                add_pair(ex, 0, at.y, 2, at.w);
        }
    }
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    struct lab_conv2d s =
        sizes_of(lab_explain_step(ex)->params, lab_explain_in_shape(ex, 1),
                 lab_explain_in_shape(ex, 0));
    lab_explain_symbolic(ex, "sum of %s * %s", lab_explain_in_name(ex, 0),
                         lab_explain_in_name(ex, out_slot == 0 ? 1 : 2));
    if (out_slot == 0)
        explain_weight(ex, &s, index);
    else
        explain_input(ex, &s, index);
}

static void build_bias(struct lab_builder *b, const struct node *n, int conv,
                       int out)
{
    struct lab_shape M = {1, {lab_build_attr(b, "filters")->i}};
    int bias = lab_build_param(b, "b", &M, LAB_INIT_ZERO);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "bias",
               LAB_IN(conv, bias),
               LAB_OUT(out),
               LAB_PARAMS(n->p),
               .formula = n->p.window.nhwc
                              ? "$o0[n,h,w,m] = $i0[n,h,w,m] + $i1[m]"
                              : "$o0[n,m,h,w] = $i0[n,m,h,w] + $i1[m]"});
}

/* A formula with the places that a window reads: "R" and "C" are row and column
 * of the input under kernel place kh, kw of output oh, ow; "K" and "L" the
 * kernel's row and column that read input h, w. */
static void window_formula(char *out, size_t cap, const char *with,
                           const struct lab_window *win)
{
    struct lab_str s;
    lab_str_init(&s);
    for (; *with; with++) {
        int axis = *with == 'C' || *with == 'L';
        long long stride = (long long)win->stride[axis];
        long long pad = (long long)win->pad[axis];
        const char *o = axis ? "ow" : "oh";
        if (*with == 'R' || *with == 'C')
            lab_str_addf(&s, "%lld*%s+%s-%lld", stride, o, axis ? "kw" : "kh",
                         pad);
        else if (*with == 'K' || *with == 'L')
            lab_str_addf(&s, "%s+%lld-%lld*%s", axis ? "w" : "h", pad, stride,
                         o);
        else
            lab_str_add_char(&s, *with);
    }
    snprintf(out, cap, "%s", lab_str_text(&s));
    lab_str_release(&s);
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
    if (!is_plain(&n.p)) {
        lab_build_step(b, &(struct lab_step_def){
                              .name = "conv",
                              LAB_IN(lab_build_input(b, 0), W),
                              LAB_OUT(conv),
                              LAB_PARAMS(n.p),
                              .flop = 2 * products(&n),
                              .formula = "!$o0 = sum over the window and the "
                                         "group's channels of $i0 * $i1",
                              .explain = explain_forward});
        if (bias)
            build_bias(b, &n, conv, lab_build_out(b, &n.y));
        return;
    }
    char formula[240];
    window_formula(formula, sizeof(formula),
                   n.p.window.nhwc
                       ? "$o0[n,oh,ow,m] = sum_kh,kw,c $i0[n,R,C,c] * "
                         "$i1[kh,kw,c,m]"
                       : "$o0[n,m,oh,ow] = sum_c,kh,kw $i0[n,c,R,C] * "
                         "$i1[m,c,kh,kw]",
                   &n.p.window);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "conv",
                          LAB_IN(lab_build_input(b, 0), W),
                          LAB_OUT(conv),
                          LAB_PARAMS(n.p),
                          .formula = formula,
                          .display = n.p.window.nhwc
                                         ? "$o0[n,oh,ow,m] = sum_kh,kw,c "
                                           "$i0[n,h,w,c] * $i1[kh,kw,c,m]"
                                         : "$o0[n,m,oh,ow] = sum_c,kh,kw "
                                           "$i0[n,c,h,w] * $i1[m,c,kh,kw]"});
    if (bias)
        build_bias(b, &n, conv, lab_build_out(b, &n.y));
}

static int bias_back(struct lab_builder *b, const struct node *n, int dout)
{
    int db = lab_build_grad(b, lab_build_find(b, "b"));
    int dconv = lab_build_grad_alias(b, lab_build_find(b, "conv"), dout);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "bias",
                          LAB_IN(dout),
                          LAB_OUT(db, dconv),
                          LAB_PARAMS(n->p),
                          .formula = n->p.window.nhwc
                                         ? "$o0[m] = sum_n,h,w $i0[n,h,w,m]; "
                                           "$o1 = $i0 " LAB_PASSED
                                         : "$o0[m] = sum_n,h,w $i0[n,m,h,w]; "
                                           "$o1 = $i0 " LAB_PASSED,
                          .display = "$o0[m] = sum_n,h,w $i0; $o1 = $i0"});
    return dconv;
}

static const char *const back_display[] = {
    "$o0[m,c,kh,kw] = sum_n,oh,ow $i1[n,c,h,w] * $i0[n,m,oh,ow]; $o1[n,c,h,w] "
    "= sum_m,kh,kw $i0[n,m,oh,ow] * $i2[m,c,kh,kw]",
    "$o0[kh,kw,c,m] = sum_n,oh,ow $i1[n,h,w,c] * $i0[n,oh,ow,m]; $o1[n,h,w,c] "
    "= sum_kh,kw,m $i0[n,oh,ow,m] * $i2[kh,kw,c,m]"};
static const char *const back_formula[] = {
    "$o0[m,c,kh,kw] = sum_n,oh,ow $i1[n,c,R,C] * $i0[n,m,oh,ow]; $o1[n,c,h,w] "
    "= sum_m,oh,ow $i0[n,m,oh,ow] * $i2[m,c,K,L]",
    "$o0[kh,kw,c,m] = sum_n,oh,ow $i1[n,R,C,c] * $i0[n,oh,ow,m]; $o1[n,h,w,c] "
    "= sum_oh,ow,m $i0[n,oh,ow,m] * $i2[K,L,c,m]"};

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
    if (!is_plain(&n.p)) {
        lab_build_step(
            b, &(struct lab_step_def){
                   .name = "conv",
                   LAB_IN(dconv, lab_build_input(b, 0), W),
                   LAB_OUT(dW, dx),
                   LAB_PARAMS(n.p),
                   .flop = (dx < 0 ? 2 : 4) * products(&n),
                   .formula = "!$o0 = sum over the outputs of $i0 * $i1; $o1 "
                              "= sum over those that read it of $i0 * $i2",
                   .explain = explain_backward});
        return;
    }
    char formula[320];
    window_formula(formula, sizeof(formula), back_formula[n.p.window.nhwc],
                   &n.p.window);
    lab_build_step(
        b, &(struct lab_step_def){.name = "conv",
                                  LAB_IN(dconv, lab_build_input(b, 0), W),
                                  LAB_OUT(dW, dx),
                                  LAB_PARAMS(n.p),
                                  .formula = formula,
                                  .display = back_display[n.p.window.nhwc]});
}

/* Both layouts; padding that is uneven, none, and more than the kernel. Then
 * the shape that every way of computing serves: 3 x 3, stride 1; with dilation
 * and groups, and with groups alone, which that shape's size check lets through. */
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
    if (turn / 2 == 4) { /* each channel with two filters of its own */
        c->attr[FILTERS].i = 6;
        c->attr[GROUPS].i = 3;
        c->attr[DILATION].n = 1;
        c->attr[DILATION].list[0] = 2;
        c->attr[STRIDE].list[0] = c->attr[STRIDE].list[1] = 1;
        c->attr[PADDING].choice = SAME;
    }
    if (turn / 2 == 5) {
        c->attr[FILTERS].i = 6;
        c->attr[KERNEL].list[1] = 3;
        c->attr[GROUPS].i = 3;
        c->attr[STRIDE].list[0] = c->attr[STRIDE].list[1] = 1;
        c->attr[PADDING].choice = SAME;
    }
    return turn < 12;
}

const struct lab_op_def lab_op_conv2d = {LAB_LAYER_OP("conv2d", 1, 1),
                                         LAB_KEYS(keys), .takes_images = true,
                                         .check = check};
