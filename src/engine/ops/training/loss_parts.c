/* loss_parts.c -- what the losses share: the check of y and the mean of the
 * samples' losses. */
#include "loss_parts.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "engine/explain.h"

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
            lab_build_fail(b, LAB_E_SHAPE,
                           "[op.loss.logits] reads a scalar; it takes logits");
            return false;
        }
        want.rank--;
    }
    /* One sample of logits may come with one label. */
    bool one = labels && want.rank == 0 && count_of(&y) == 1;
    if (one || lab_shape_equal(&y, &want))
        return true;
    lab_build_fail_target(
        b, LAB_E_SHAPE,
        "[op.loss.targets] it reads %s, which is %s, so y must be %s; y is %s",
        lab_build_name(b, lab_build_input(b, 0)),
        lab_shape_text(&out, out_text), lab_shape_text(&want, want_text),
        lab_shape_text(&y, have_text));
    return false;
}

void lab_loss_formula(char *out, size_t cap, const char *sum, const char *each,
                      const struct lab_shape *read)
{
    static const char *const axes[] = {"", "", "e", "t,e", "h,w,e"};
    const char *e = axes[read->rank <= 4 ? read->rank : 4];
    struct lab_str s;
    lab_str_init(&s);
    const char *word = strrchr(sum, ' '); /* "1/2 sum" */
    if (*e)
        lab_str_addf(&s, "$o0[n] = %s_%s ", sum, e);
    else
        lab_str_addf(&s, "$o0[n] = %.*s ", word ? (int)(word - sum) : 0, sum);
    for (const char *p = each; *p; p++) {
        if (*p == '@')
            lab_str_addf(&s, *e ? "[n,%s]" : "[n]", e);
        else
            lab_str_add_char(&s, *p);
    }
    snprintf(out, cap, "%s", lab_str_text(&s));
    lab_str_release(&s);
}

int lab_loss_sample(struct lab_builder *b, const struct lab_shape *shape)
{
    return lab_build_part(b, "sample", shape, lab_build_real(b));
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
                                             LAB_IN(sample),
                                             LAB_OUT(loss),
                                             .params = params,
                                             .params_bytes = params_bytes,
                                             .formula = formula});
}
