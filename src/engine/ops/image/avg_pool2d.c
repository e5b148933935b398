/* avg_pool2d: the mean of every window; padding is not counted. */
#include "pools.h"

/* Elements of the window of output `out` inside the image. */
static int64_t elements_of(const struct lab_window *win,
                           const struct lab_image *x, struct lab_pixel out)
{
    int64_t k = 0;
    int64_t index;
    int64_t count = 0;
    while (lab_pool_next(win, x, out, &k, &index))
        count++;
    return count;
}

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    struct lab_pool_window w;
    lab_pool_window_of(ex, out_slot, index, &w);
    int64_t count = elements_of(w.win, &w.x, w.at);
    int64_t i;
    lab_explain_symbolic(ex, "sum of %s[%s] / %lld", lab_explain_in_name(ex, 0),
                         w.text, (long long)count);
    for (int64_t k = 0; lab_pool_next(w.win, &w.x, w.at, &k, &i);) {
        double v = lab_explain_in(ex, 0, i);
        lab_explain_term(ex, v / (double)count, "%.6g/%lld", v,
                         (long long)count);
        lab_explain_source(ex, 0, i);
    }
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    const struct lab_pool_params *p = lab_explain_step(ex)->params;
    struct lab_pool_readers r;
    lab_pool_readers_of(ex, out_slot, index, &r);
    lab_explain_symbolic(ex, "sum_oh,ow %s[%s] / elements of the window",
                         lab_explain_in_name(ex, 0), r.text);
    for (int64_t h = r.rows[0]; h <= r.rows[1]; h++) {
        for (int64_t w = r.cols[0]; w <= r.cols[1]; w++) {
            struct lab_pixel o = {r.at.n, r.at.c, h, w};
            int64_t i = lab_pixel_index(&r.y, o);
            int64_t count = elements_of(&p->window, &r.x, o);
            double g = lab_explain_in(ex, 0, i);
            lab_explain_term(ex, g / (double)count, "%.6g/%lld", g,
                             (long long)count);
            lab_explain_source(ex, 0, i);
        }
    }
}

static void forward(struct lab_builder *b)
{
    struct lab_pool_node p;
    if (!lab_pool_of(b, &p))
        return;
    int y = lab_build_out(b, &p.out);
    lab_build_step(b,
                   &(struct lab_step_def){
                       .name = "pool",
                       LAB_IN(lab_build_input(b, 0)),
                       LAB_OUT(y),
                       LAB_PARAMS(p.params),
                       .flop = p.elements,
                       .formula = "!$o0[oh,ow] = mean over the window of $i0",
                       .explain = explain_forward});
}

static void backward(struct lab_builder *b)
{
    struct lab_pool_node p;
    if (!lab_pool_of(b, &p))
        return;
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "pool",
               LAB_IN(lab_build_out_grad(b)),
               LAB_OUT(lab_build_input_grad(b, 0)),
               LAB_PARAMS(p.params),
               .flop = p.elements,
               .formula = "!$o0[h,w] = sum of $i0 / elements, over the windows "
                          "that hold [h,w]",
               .explain = explain_backward});
}

const struct lab_op_def lab_op_avg_pool2d = {
    LAB_LAYER_OP("avg_pool2d", 1, 1), LAB_KEYS(lab_pool_keys),
    .takes_images = true, .check = lab_pool_check};
