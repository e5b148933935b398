/* local_response_norm: each number divided by a power of the squares of its channel's
 * neighbours at the same place: a loud channel keeps the others down. A.
 * Krizhevsky, I. Sutskever, G. Hinton, 2012. */
#include "local_response_norm/local_response_norm.h"

#include <math.h>

#include "engine/explain.h"
#include "engine/op.h"

enum { SIZE, ALPHA, BETA, K };

static const struct lab_key_def keys[] = {
    {"size", LAB_KEY_INT, false, 5, 1, 1 << 20},
    {"alpha", LAB_KEY_FLOAT, false, 1e-4, 0, 1e6},
    {"beta", LAB_KEY_FLOAT, false, 0.75, 0, 16},
    {"k", LAB_KEY_FLOAT, false, 1, 1e-6, 1e6},
};

static bool node_of(struct lab_builder *b, struct lab_shape *shape,
                    struct lab_local_response_norm_params *p)
{
    char text[LAB_SHAPE_TEXT];
    *shape = lab_build_shape(b, lab_build_input(b, 0));
    int rank = shape->rank;
    if (rank != 2 && rank != 4) {
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.local-norm.shape] reads %s; it takes [N,C] or images",
            lab_shape_text(shape, text));
        return false;
    }
    bool nchw = rank == 4 && !lab_build_nhwc(b);
    *p = (struct lab_local_response_norm_params){
        .size = lab_build_attr(b, "size")->i,
        .alpha = lab_build_attr(b, "alpha")->f,
        .beta = lab_build_attr(b, "beta")->f,
        .k = lab_build_attr(b, "k")->f,
        .channels = shape->dim[nchw ? 1 : rank - 1],
        .inner = nchw ? shape->dim[2] * shape->dim[3] : 1};
    if (p->size % 2 == 0) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.local-norm.size] size is %lld; it has to be odd, "
                       "the channel in the middle of its neighbours",
                       (long long)p->size);
        return false;
    }
    return true;
}

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_local_response_norm_params *p =
        lab_explain_step(ex)->params;
    const char *name = lab_explain_in_name(ex, 0);
    char at[LAB_SHAPE_TEXT];
    double s = p->k;
    int64_t first;
    int64_t last;
    lab_local_response_norm_window(p, index, &first, &last);
    for (int64_t j = first; j <= last; j += p->inner) {
        double x = lab_explain_in(ex, 0, j);
        s += p->alpha / (double)p->size * x * x;
    }
    lab_explain_at(lab_explain_in_shape(ex, 0), index, at);
    if (out_slot == 1) {
        lab_explain_symbolic(ex, "k + alpha/%lld sum of %s^2",
                             (long long)p->size, name);
        lab_explain_where(ex, "k = %.6g; alpha = %.6g", p->k, p->alpha);
        lab_explain_term(ex, p->k, "%.6g", p->k);
        for (int64_t j = first; j <= last; j += p->inner) {
            double x = lab_explain_in(ex, 0, j);
            double share = p->alpha / (double)p->size;
            lab_explain_term(ex, share * x * x, "%.6g*%.6g^2", share, x);
            lab_explain_source(ex, 0, j);
        }
        return;
    }
    double x = lab_explain_in(ex, 0, index);
    lab_explain_symbolic(ex, "%s[%s] / scale^beta", name, at);
    lab_explain_numeric(ex, "%.6g / %.6g^%.6g", x, s, p->beta);
    lab_explain_where(ex, "scale = %.6g; beta = %.6g", s, p->beta);
    lab_explain_source(ex, 0, index);
    lab_explain_value(ex, x * pow(s, -p->beta));
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    const struct lab_local_response_norm_params *p =
        lab_explain_step(ex)->params;
    double x = lab_explain_in(ex, 1, index);
    double dy = lab_explain_in(ex, 0, index);
    double s = lab_explain_in(ex, 3, index);
    int64_t first;
    int64_t last;
    (void)out_slot;
    lab_local_response_norm_window(p, index, &first, &last);
    lab_explain_symbolic(ex,
                         "dy / scale^beta - 2 alpha beta/%lld x sum of dy "
                         "y / scale",
                         (long long)p->size);
    lab_explain_let(ex, "dy", 0, index);
    lab_explain_let(ex, "x", 1, index);
    lab_explain_let(ex, "y", 2, index);
    lab_explain_let(ex, "scale", 3, index);
    lab_explain_where(ex, "alpha = %.6g; beta = %.6g", p->alpha, p->beta);
    lab_explain_term(ex, dy * pow(s, -p->beta), "%.6g / %.6g^%.6g", dy, s,
                     p->beta);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 3, index);
    for (int64_t j = first; j <= last; j += p->inner) {
        double factor = -2 * p->alpha * p->beta / (double)p->size * x;
        double share = lab_explain_in(ex, 0, j) * lab_explain_in(ex, 2, j) /
                       lab_explain_in(ex, 3, j);
        lab_explain_term(ex, factor * share, "%.6g*%.6g", factor, share);
        lab_explain_source(ex, 2, j);
    }
}

static void forward(struct lab_builder *b)
{
    struct lab_shape shape;
    struct lab_local_response_norm_params p;
    if (!node_of(b, &shape, &p))
        return;
    int scale = lab_build_part(b, "scale", &shape, lab_build_real(b));
    lab_build_step(b, &(struct lab_step_def){
                          .name = "normalize",
                          LAB_IN(lab_build_input(b, 0)),
                          LAB_OUT(lab_build_out(b, &shape), scale),
                          LAB_PARAMS(p),
                          .flop_each = 2 * (double)p.size + 3,
                          .formula =
                              "!$o1 = k + alpha/size * (sum of $i0^2 over the "
                              "nearest channels); $o0 = $i0 / $o1^beta",
                          .explain = explain_forward});
}

static void backward(struct lab_builder *b)
{
    struct lab_shape shape;
    struct lab_local_response_norm_params p;
    if (!node_of(b, &shape, &p))
        return;
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "normalize",
               LAB_IN(lab_build_out_grad(b), lab_build_input(b, 0),
                      lab_build_find(b, "out"), lab_build_find(b, "scale")),
               LAB_OUT(lab_build_input_grad(b, 0)),
               LAB_PARAMS(p),
               .flop_each = 3 * (double)p.size + 5,
               .formula = "!$o0 = $i0 / $i3^beta - 2 alpha beta/size * $i1 * "
                          "(sum of $i0 $i2 / $i3 over the nearest channels)",
               .explain = explain_backward});
}

/* Both layouts, a window that is cut at both ends, and no images. */
static bool check(int turn, struct lab_op_check *c)
{
    c->nhwc = turn == 1;
    c->x = (struct lab_shape){4, {2, 4, 3, 5}};
    if (turn == 2)
        c->x = (struct lab_shape){2, {5, 7}};
    c->attr[SIZE].i = turn == 1 ? 3 : 5;
    c->attr[ALPHA].f = 0.5; /* the default changes next to nothing */
    c->attr[K].f = 2;
    return turn < 3;
}

const struct lab_op_def lab_op_local_response_norm = {
    LAB_LAYER_OP("local_response_norm", 1, 1), LAB_KEYS(keys),
    .takes_images = true, .check = check};
