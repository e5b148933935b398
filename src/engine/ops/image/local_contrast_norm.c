/* local_contrast_norm: each pixel less the mean of its neighbourhood in the channel,
 * over the neighbourhood's standard deviation: edges stay, and how bright the place
 * is does not count. K. Jarrett, K. Kavukcuoglu, M. Ranzato, Y. LeCun, 2009. */
#include "local_contrast_norm/local_contrast_norm.h"

#include <math.h>

#include "engine/explain.h"
#include "engine/op.h"

enum { SIZE, EPS };

static const struct lab_key_def keys[] = {
    {"size", LAB_KEY_INT, false, 3, 1, 1 << 15},
    {"eps", LAB_KEY_FLOAT, false, 1e-2, 1e-9, 1e6},
};

static bool node_of(struct lab_builder *b, struct lab_shape *shape,
                    struct lab_local_contrast_norm_params *p)
{
    char text[LAB_SHAPE_TEXT];
    *shape = lab_build_shape(b, lab_build_input(b, 0));
    if (shape->rank != 4) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.contrast-norm.shape] reads %s; it takes images",
                       lab_shape_text(shape, text));
        return false;
    }
    bool nhwc = lab_build_nhwc(b);
    *p = (struct lab_local_contrast_norm_params){
        .size = lab_build_attr(b, "size")->i,
        .eps = lab_build_attr(b, "eps")->f,
        .height = shape->dim[nhwc ? 1 : 2],
        .width = shape->dim[nhwc ? 2 : 3],
        .inner = nhwc ? shape->dim[3] : 1};
    if (p->size % 2 == 0) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.contrast-norm.size] size is %lld; it has to be "
                       "odd, the pixel in the middle of its neighbours",
                       (long long)p->size);
        return false;
    }
    return true;
}

/* Element k of a window, row by row. */
static int64_t neighbour(const struct lab_local_contrast_norm_params *p,
                         const struct lab_local_contrast_norm_window *w,
                         int64_t k)
{
    return w->first + k / w->cols * w->down + k % w->cols * p->inner;
}

/* Mean, and one over the standard deviation with eps, of a window. */
static double statistics(struct lab_explainer *ex,
                         const struct lab_local_contrast_norm_params *p,
                         const struct lab_local_contrast_norm_window *w,
                         double *rstd)
{
    const int64_t n = w->rows * w->cols;
    double sum = 0;
    double squares = 0;
    for (int64_t k = 0; k < n; k++)
        sum += lab_explain_in(ex, 0, neighbour(p, w, k));
    const double mean = sum / (double)n;
    for (int64_t k = 0; k < n; k++) {
        double off = lab_explain_in(ex, 0, neighbour(p, w, k)) - mean;
        squares += off * off;
    }
    *rstd = 1 / sqrt(squares / (double)n + p->eps);
    return mean;
}

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_local_contrast_norm_params *p =
        lab_explain_step(ex)->params;
    const char *name = lab_explain_in_name(ex, 0);
    struct lab_local_contrast_norm_window w =
        lab_local_contrast_norm_around(p, index);
    char at[LAB_SHAPE_TEXT];
    double rstd;
    double mean = statistics(ex, p, &w, &rstd);
    double x = lab_explain_in(ex, 0, index);
    lab_explain_at(lab_explain_in_shape(ex, 0), index, at);
    if (out_slot == 1) {
        double share = 1 / (double)(w.rows * w.cols);
        lab_explain_symbolic(ex, "1/%lld sum of %s",
                             (long long)(w.rows * w.cols), name);
        for (int64_t k = 0; k < w.rows * w.cols; k++) {
            int64_t j = neighbour(p, &w, k);
            double v = lab_explain_in(ex, 0, j);
            lab_explain_term(ex, share * v, "%.6g*%.6g", share, v);
            lab_explain_source(ex, 0, j);
        }
        return;
    }
    for (int64_t k = 0; k < w.rows * w.cols; k++)
        lab_explain_source(ex, 0, neighbour(p, &w, k));
    if (out_slot == 2) {
        lab_explain_symbolic(ex, "1 / sqrt(variance + eps)");
        lab_explain_where(ex, "variance = %.6g; eps = %.6g",
                          1 / (rstd * rstd) - p->eps, p->eps);
        lab_explain_value(ex, rstd);
    } else {
        lab_explain_symbolic(ex, "(%s[%s] - mean) * rstd", name, at);
        lab_explain_numeric(ex, "(%.6g - %.6g)*%.6g", x, mean, rstd);
        lab_explain_where(ex, "mean = %.6g; rstd = %.6g", mean, rstd);
        lab_explain_value(ex, (x - mean) * rstd);
    }
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    const struct lab_local_contrast_norm_params *p =
        lab_explain_step(ex)->params;
    struct lab_local_contrast_norm_window w =
        lab_local_contrast_norm_around(p, index);
    double x = lab_explain_in(ex, 1, index);
    (void)out_slot;
    lab_explain_symbolic(
        ex, "dy rstd - sum of rstd/n dy (1 + (x - mean) (x - mean) rstd^2)");
    lab_explain_let(ex, "dy", 0, index);
    lab_explain_let(ex, "x", 1, index);
    lab_explain_let(ex, "mean", 2, index);
    lab_explain_let(ex, "rstd", 3, index);
    lab_explain_where(ex, "n = %lld", (long long)(w.rows * w.cols));
    lab_explain_term(
        ex, lab_explain_in(ex, 0, index) * lab_explain_in(ex, 3, index),
        "%.6g*%.6g", lab_explain_in(ex, 0, index),
        lab_explain_in(ex, 3, index));
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 3, index);
    for (int64_t k = 0; k < w.rows * w.cols; k++) {
        int64_t j = neighbour(p, &w, k);
        struct lab_local_contrast_norm_window of =
            lab_local_contrast_norm_around(p, j);
        double m = lab_explain_in(ex, 2, j);
        double s = lab_explain_in(ex, 3, j);
        double factor = -s / (double)(of.rows * of.cols) *
                        (1 + (lab_explain_in(ex, 1, j) - m) * (x - m) * s * s);
        double dy = lab_explain_in(ex, 0, j);
        lab_explain_term(ex, factor * dy, "%.6g*%.6g", factor, dy);
        lab_explain_source(ex, 0, j);
        lab_explain_source(ex, 1, j);
    }
}

static void forward(struct lab_builder *b)
{
    struct lab_shape shape;
    struct lab_local_contrast_norm_params p;
    if (!node_of(b, &shape, &p))
        return;
    int mean = lab_build_part(b, "mean", &shape, lab_build_real(b));
    int rstd = lab_build_part(b, "rstd", &shape, lab_build_real(b));
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "normalize",
               LAB_IN(lab_build_input(b, 0)),
               LAB_OUT(lab_build_out(b, &shape), mean, rstd),
               LAB_PARAMS(p),
               .flop_each = 4 * (double)p.size * (double)p.size + 6,
               .formula = "!$o1 = mean of $i0 around; $o2 = 1 / sqrt(variance "
                          "around + eps); $o0 = ($i0 - $o1) $o2",
               .explain = explain_forward});
}

static void backward(struct lab_builder *b)
{
    struct lab_shape shape;
    struct lab_local_contrast_norm_params p;
    if (!node_of(b, &shape, &p))
        return;
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "normalize",
               LAB_IN(lab_build_out_grad(b), lab_build_input(b, 0),
                      lab_build_find(b, "mean"), lab_build_find(b, "rstd")),
               LAB_OUT(lab_build_input_grad(b, 0)),
               LAB_PARAMS(p),
               .flop_each = 9 * (double)p.size * (double)p.size + 1,
               .formula = "!$o0 = $i0 $i3 - sum_j $i3_j/n $i0_j (1 + ($i1_j - "
                          "$i2_j) ($i1 - $i2_j) $i3_j^2), j around",
               .explain = explain_backward});
}

/* Both layouts, and a window that is larger than the image. */
static bool check(int turn, struct lab_op_check *c)
{
    c->nhwc = turn == 1;
    c->x = (struct lab_shape){4, {2, 3, 4, 5}};
    c->attr[SIZE].i = turn == 0 ? 3 : turn == 1 ? 5 : 9;
    c->attr[EPS].f = turn == 2 ? 0.5 : 0.1;
    return turn < 3;
}

const struct lab_op_def lab_op_local_contrast_norm = {
    LAB_LAYER_OP("local_contrast_norm", 1, 1), LAB_KEYS(keys),
    .takes_images = true, .check = check};
