/* conv2d: one small set of weights, laid over every place of the image. The
 * same two ideas as in a dense layer, products and a bias; only, each output
 * sees a window of the input, and all places share the weights. */
#include "conv2d/conv2d.h"

#include <stdio.h>

#include "base/str.h"
#include "engine/formula.h"
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

struct node {
    struct lab_conv2d_params p;
    struct lab_shape x;
    struct lab_shape y;
    struct lab_shape W;
};

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
    return true;
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

const struct lab_op_def lab_op_conv2d = {LAB_LAYER_OP("conv2d", 1, 1),
                                         LAB_KEYS(keys), .takes_images = true,
                                         .check = check};
