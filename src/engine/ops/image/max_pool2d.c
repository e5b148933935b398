/* max_pool2d: the largest number of every window.
 *
 * Forward also writes the position of the maximum (argmax), which backward
 * needs to send the gradient there. Windows and shapes are window.c's, shared
 * parts pools.c's. */
#include <math.h>
#include <stdint.h>

#include "pools.h"
#include "engine/plan.h"

/* The input that wins a window; of equal numbers the first. */
static int64_t winner(struct lab_explainer *ex, int slot,
                      const struct lab_window *win, const struct lab_image *x,
                      struct lab_pixel out)
{
    int64_t best = -1;
    int64_t i;
    double top = 0;
    for (int64_t k = 0; lab_pool_next(win, x, out, &k, &i);) {
        double v = lab_explain_in(ex, slot, i);
        if (best < 0 || v > top || (isnan(v) && !isnan(top))) {
            best = i;
            top = v;
        }
    }
    return best;
}

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    struct lab_pool_window w;
    lab_pool_window_of(ex, out_slot, index, &w);
    int64_t best = winner(ex, 0, w.win, &w.x, w.at);
    int64_t i;
    struct lab_str window;
    lab_str_init(&window);
    for (int64_t k = 0; lab_pool_next(w.win, &w.x, w.at, &k, &i);) {
        lab_explain_source(ex, 0, i);
        lab_str_addf(&window, "%s%.6g", window.len ? ", " : "",
                     lab_explain_in(ex, 0, i));
    }
    char text[LAB_SHAPE_TEXT];
    lab_explain_at(lab_explain_in_shape(ex, 0), best, text);
    if (out_slot == 1) {
        lab_explain_symbolic(ex, "the place in %s of the largest: [%s]",
                             lab_explain_in_name(ex, 0), text);
        lab_explain_value(ex, (double)best);
        lab_str_release(&window);
        return;
    }
    lab_explain_symbolic(ex, "max of %s[%s]", lab_explain_in_name(ex, 0),
                         w.text);
    lab_explain_numeric(ex, "max(%s)", lab_str_text(&window));
    lab_str_release(&window);
    lab_explain_where(ex, "the largest is %s[%s]", lab_explain_in_name(ex, 0),
                      text);
    lab_explain_value(ex, lab_explain_in(ex, 0, best));
}

/* in: dy, argmax; of the group: dy, x, y */
static void add_windows(struct lab_explainer *ex, int out_slot, int64_t index,
                        bool group)
{
    const struct lab_pool_params *p = lab_explain_step(ex)->params;
    struct lab_pool_readers r;
    lab_pool_readers_of(ex, out_slot, index, &r);
    if (group)
        lab_explain_symbolic(ex, "sum_oh,ow [the largest is here] * %s[%s]",
                             lab_explain_in_name(ex, 0), r.text);
    else
        lab_explain_symbolic(ex, "sum_oh,ow [%s[%s] = %lld] * %s[%s]",
                             lab_explain_in_name(ex, 1), r.text,
                             (long long)index, lab_explain_in_name(ex, 0),
                             r.text);
    if (!group)
        lab_explain_where(ex, "%lld is this place", (long long)index);
    for (int64_t h = r.rows[0]; h <= r.rows[1]; h++) {
        for (int64_t w = r.cols[0]; w <= r.cols[1]; w++) {
            struct lab_pixel o = {r.at.n, r.at.c, h, w};
            int64_t i = lab_pixel_index(&r.y, o);
            int64_t won = group ? winner(ex, 1, &p->window, &r.x, o)
                                : (int64_t)lab_explain_in(ex, 1, i);
            double g = lab_explain_in(ex, 0, i);
            lab_explain_term(ex, won == index ? g : 0, "%d*%.6g", won == index,
                             g);
            lab_explain_source(ex, 0, i);
            lab_explain_source(ex, 1, group ? won : i);
        }
    }
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    add_windows(ex, out_slot, index, false);
}

static void forward(struct lab_builder *b)
{
    struct lab_pool_node p;
    int64_t n = 0;
    if (!lab_pool_of(b, &p))
        return;
    if (!lab_shape_count(&p.in, &n) && n > INT32_MAX) {
        lab_build_fail(
            b, LAB_E_SHAPE,
            "[op.max-pool2d.large] reads %lld numbers; argmax counts to %d",
            (long long)n, INT32_MAX);
        return;
    }
    int y = lab_build_out(b, &p.out);
    int argmax = lab_build_part(b, "argmax", &p.out, LAB_I32);
    lab_build_step(
        b, &(struct lab_step_def){
               .name = "pool",
               LAB_IN(lab_build_input(b, 0)),
               LAB_OUT(y, argmax),
               LAB_PARAMS(p.params),
               .flop = p.elements,
               .formula = "!$o0[oh,ow] = max over the window of $i0; $o1 = its "
                          "place",
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
               LAB_IN(lab_build_out_grad(b), lab_build_find(b, "argmax")),
               LAB_OUT(lab_build_input_grad(b, 0)),
               LAB_PARAMS(p.params),
               .flop_each = 1,
               .formula = "!$o0[i] = sum of $i0 where $i1 = i",
               .explain = explain_backward});
}

/* ---- the group: without argmax ---- */

static void explain_group_back(struct lab_explainer *ex, int out_slot,
                               int64_t index)
{
    add_windows(ex, out_slot, index, true);
}

static void group(const struct lab_plan *plan, const struct lab_node *node,
                  enum lab_phase phase, const struct lab_node *absorbed,
                  struct lab_group_step *out)
{
    const struct lab_step *pool = &plan->steps[node->first_step[LAB_FORWARD]];
    const struct lab_step *back = &plan->steps[node->first_step[LAB_BACKWARD]];
    (void)absorbed;
    if (phase == LAB_FORWARD)
        out->def = (struct lab_step_def){
            LAB_IN(pool->in[0]), LAB_OUT(pool->out[0]),
            .formula = "!$o0[oh,ow] = max over the window of $i0",
            .explain = explain_forward};
    else
        out->def = (struct lab_step_def){
            LAB_IN(back->in[0], pool->in[0], pool->out[0]),
            LAB_OUT(back->out[0]),
            .formula = "!$o0[i] = sum of $i0 over the windows whose $i2 is "
                       "$i1[i]",
            .explain = explain_group_back};
    out->def.name = node->op->name;
    out->def.flop = pool->flop;
    lab_group_params(out, pool->params, sizeof(struct lab_pool_params));
}

const struct lab_op_def lab_op_max_pool2d = {LAB_LAYER_OP("max_pool2d", 1, 1),
                                             LAB_KEYS(lab_pool_keys),
                                             .takes_images = true,
                                             .check = lab_pool_check,
                                             .group = group,
                                             .group_both = true};
