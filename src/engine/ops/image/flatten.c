/* flatten: everything but the sample becomes one axis. */
#include "flatten/flatten.h"

#include "engine/explain.h"
#include "engine/op.h"

enum { ROW_MAJOR, CHANNEL_FIRST };
static const char *const orders[] = {"row_major", "channel_first", NULL};
static const struct lab_key_def keys[] = {
    {"order", LAB_KEY_CHOICE, false, ROW_MAJOR, .choices = orders},
};

/* Flat index into the image for an index into the flattened row, in one
 * sample stored [H, W, C]; see kernels/flatten/flatten.h. */
static int64_t from_channel_first(const struct lab_shape *image, int64_t i)
{
    int64_t hw = image->dim[1] * image->dim[2];
    int64_t sample = hw * image->dim[3];
    int64_t n = i / sample;
    int64_t c = i % sample / hw;
    int64_t at = i % hw;
    return n * sample + at * image->dim[3] + c;
}

static int64_t to_channel_first(const struct lab_shape *image, int64_t i)
{
    int64_t C = image->dim[3];
    int64_t hw = image->dim[1] * image->dim[2];
    int64_t n = i / (hw * C);
    return n * hw * C + i % C * hw + i % (hw * C) / C;
}

static void explain_move(struct lab_explainer *ex, int64_t from)
{
    char at[LAB_SHAPE_TEXT];
    double v = lab_explain_in(ex, 0, from);
    lab_explain_symbolic(ex, "%s[%s]", lab_explain_in_name(ex, 0),
                         lab_explain_at(lab_explain_in_shape(ex, 0), from, at));
    lab_explain_term(ex, v, "%.6g", v);
    lab_explain_source(ex, 0, from);
}

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_flatten_params *p = lab_explain_params(ex);
    (void)out_slot;
    explain_move(
        ex, p->permute ? from_channel_first(lab_explain_in_shape(ex, 0), index)
                       : index);
}

static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    const struct lab_flatten_params *p = lab_explain_params(ex);
    explain_move(
        ex, p->permute
                ? to_channel_first(lab_explain_out_shape(ex, out_slot), index)
                : index);
}

static struct lab_flatten_params params_of(struct lab_builder *b,
                                           const struct lab_shape *x)
{
    bool channel_first = lab_build_attr(b, "order")->choice == CHANNEL_FIRST;
    return (struct lab_flatten_params){
        .permute = channel_first && lab_build_nhwc(b) && x->rank == 4};
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    struct lab_shape flat = {.rank = 2, .dim = {shape.dim[0], 1}};
    if (shape.rank < 1) {
        lab_build_fail(b, LAB_E_SHAPE, "reads a scalar; it takes [N, ...]");
        return;
    }
    for (int i = 1; i < shape.rank; i++)
        flat.dim[1] *= shape.dim[i];
    struct lab_flatten_params p = params_of(b, &shape);
    int y = lab_build_out(b, &flat);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "flatten",
                          .phase = LAB_FORWARD,
                          .in = {x},
                          .n_in = 1,
                          .out = {y},
                          .n_out = 1,
                          .params = &p,
                          .params_bytes = sizeof(p),
                          .formula = p.permute ? "$o0[n,(c,h,w)] = $i0[n,h,w,c]"
                                               : "$o0[n,(...)] = $i0[n,...]",
                          .explain = explain_forward});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    struct lab_shape shape = lab_build_shape(b, lab_build_input(b, 0));
    struct lab_flatten_params p = params_of(b, &shape);
    int dx = lab_build_input_grad(b, 0);
    if (dx < 0)
        return;
    lab_build_step(b, &(struct lab_step_def){
                          .name = "flatten",
                          .phase = LAB_BACKWARD,
                          .in = {dy},
                          .n_in = 1,
                          .out = {dx},
                          .n_out = 1,
                          .params = &p,
                          .params_bytes = sizeof(p),
                          .formula = p.permute ? "$o0[n,h,w,c] = $i0[n,(c,h,w)]"
                                               : "$o0[n,...] = $i0[n,(...)]",
                          .explain = explain_backward});
}

const struct lab_op_def lab_op_flatten = {.name = "flatten",
                                          .kind = LAB_KIND_LAYER,
                                          .keys = keys,
                                          .n_keys = 1,
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .takes_images = true,
                                          .forward = forward,
                                          .backward = backward};
