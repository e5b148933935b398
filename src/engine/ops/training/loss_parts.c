#include "loss_parts.h"

#include <stdio.h>

static int64_t count_of(const struct lab_shape *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

int64_t lab_loss_samples(const struct lab_shape *out)
{
    return out->rank > 0 ? out->dim[0] : 1;
}

bool lab_loss_check_target(struct lab_builder *b, bool labels)
{
    struct lab_shape out = lab_build_shape(b, lab_build_input(b, 0));
    struct lab_shape y = lab_build_shape(b, lab_build_target(b));
    struct lab_shape want = out;
    char have_text[LAB_SHAPE_TEXT];
    char out_text[LAB_SHAPE_TEXT];
    char want_text[LAB_SHAPE_TEXT];
    if (labels) {
        if (out.rank < 1) {
            lab_build_fail(b, LAB_E_SHAPE, "reads a scalar; it takes logits");
            return false;
        }
        want.rank--;
    }
    /* One sample of logits may come with one label. */
    bool one = labels && want.rank == 0 && count_of(&y) == 1;
    if (one || lab_shape_equal(&y, &want))
        return true;
    lab_build_fail_target(
        b, LAB_E_SHAPE, "it reads %s, which is %s, so y must be %s; y is %s",
        lab_build_name(b, lab_build_input(b, 0)),
        lab_shape_text(&out, out_text), lab_shape_text(&want, want_text),
        lab_shape_text(&y, have_text));
    return false;
}

static const char *const sample_axes[] = {"", "", "e", "t,e", "h,w,e"};

const char *lab_loss_sum(const struct lab_shape *out)
{
    static const char *const sums[] = {"", "", "sum_e ", "sum_t,e ",
                                       "sum_h,w,e "};
    return sums[out->rank <= 4 ? out->rank : 4];
}

const char *lab_loss_at(const struct lab_shape *out, int64_t sample,
                        char buf[LAB_SHAPE_TEXT])
{
    const char *axes = sample_axes[out->rank <= 4 ? out->rank : 4];
    snprintf(buf, LAB_SHAPE_TEXT, "%lld%s%s", (long long)sample,
             *axes ? "," : "", axes);
    return buf;
}

int lab_loss_sample(struct lab_builder *b, const struct lab_shape *shape)
{
    return lab_build_part(b, "sample", shape, lab_build_real(b));
}

static void explain_mean(struct lab_explainer *ex, int out_slot, int64_t index)
{
    int64_t n = count_of(lab_explain_in_shape(ex, 0));
    (void)out_slot;
    (void)index;
    const char *axes = lab_explain_axes(lab_explain_in_shape(ex, 0)->rank);
    lab_explain_symbolic(ex, "sum_%s %s[%s] / %lld", axes,
                         lab_explain_in_name(ex, 0), axes, (long long)n);
    for (int64_t i = 0; i < n; i++) {
        double v = lab_explain_in(ex, 0, i);
        lab_explain_term(ex, v / (double)n, "%.6g/%lld", v, (long long)n);
        lab_explain_source(ex, 0, i);
    }
}

static void explain_sum(struct lab_explainer *ex, int out_slot, int64_t index)
{
    int64_t n = count_of(lab_explain_in_shape(ex, 0));
    (void)out_slot;
    (void)index;
    const char *axes = lab_explain_axes(lab_explain_in_shape(ex, 0)->rank);
    lab_explain_symbolic(ex, "sum_%s %s[%s]", axes, lab_explain_in_name(ex, 0),
                         axes);
    for (int64_t i = 0; i < n; i++) {
        double v = lab_explain_in(ex, 0, i);
        lab_explain_term(ex, v, "%.6g", v);
        lab_explain_source(ex, 0, i);
    }
}

void lab_loss_reduce(struct lab_builder *b, const char *name, int sample,
                     bool mean, const void *params, size_t params_bytes)
{
    struct lab_shape shape = lab_build_shape(b, sample);
    int loss = lab_build_out(b, &(struct lab_shape){0});
    const char *axes = lab_explain_axes(shape.rank);
    char formula[40];
    snprintf(formula, sizeof(formula), "$o0 = %s_%s $i0[%s]",
             mean ? "mean" : "sum", axes, axes);
    lab_build_step(b, &(struct lab_step_def){.name = name,
                                             .phase = LAB_LOSS,
                                             .in = {sample},
                                             .n_in = 1,
                                             .out = {loss},
                                             .n_out = 1,
                                             .params = params,
                                             .params_bytes = params_bytes,
                                             .flop = (double)count_of(&shape),
                                             .formula = formula,
                                             .explain = mean ? explain_mean
                                                             : explain_sum});
}
