/* flatten: everything but the sample becomes one axis. */
#include "flatten/flatten.h"

#include <stdio.h>

#include "engine/op.h"

enum { ROW_MAJOR, CHANNEL_FIRST };
static const char *const orders[] = {"row_major", "channel_first", NULL};
static const struct lab_key_def keys[] = {
    {"order", LAB_KEY_CHOICE, false, ROW_MAJOR, .choices = orders},
};

static struct lab_flatten_params params_of(struct lab_builder *b,
                                           const struct lab_shape *x)
{
    bool channel_first = lab_build_attr(b, "order")->choice == CHANNEL_FIRST;
    return (struct lab_flatten_params){
        .permute = channel_first && lab_build_nhwc(b) && x->rank == 4};
}

/* Where an element of the permuted image is in its row. */
static void place(char *out, size_t cap, const char *with,
                  const struct lab_shape *image)
{
    long long W = (long long)image->dim[2];
    snprintf(out, cap, with, (long long)image->dim[1] * W, W);
}

static void forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    struct lab_shape flat = {.rank = 2, .dim = {shape.dim[0], 1}};
    char formula[120];
    if (shape.rank < 1) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.flatten.shape] reads a scalar; it takes [N, ...]");
        return;
    }
    for (int i = 1; i < shape.rank; i++)
        flat.dim[1] *= shape.dim[i];
    struct lab_flatten_params p = params_of(b, &shape);
    int y = lab_build_out(b, &flat);
    place(formula, sizeof(formula), "$o0[n,%lld*c+%lld*h+w] = $i0[n,h,w,c]",
          &shape);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "flatten",
                          LAB_IN(x),
                          LAB_OUT(y),
                          LAB_PARAMS(p),
                          .formula = p.permute ? formula : "$o0 = $i0",
                          .display = p.permute ? "$o0[n,(c,h,w)] = $i0[n,h,w,c]"
                                               : "$o0[n,(...)] = $i0[n,...]"});
}

static void backward(struct lab_builder *b)
{
    int dy = lab_build_out_grad(b);
    struct lab_shape shape = lab_build_shape(b, lab_build_input(b, 0));
    struct lab_flatten_params p = params_of(b, &shape);
    char formula[120];
    place(formula, sizeof(formula), "$o0[n,h,w,c] = $i0[n,%lld*c+%lld*h+w]",
          &shape);
    lab_build_step(b, &(struct lab_step_def){
                          .name = "flatten",
                          LAB_IN(dy),
                          LAB_OUT(lab_build_input_grad(b, 0)),
                          LAB_PARAMS(p),
                          .formula = p.permute ? formula : "$o0 = $i0",
                          .display = p.permute ? "$o0[n,h,w,c] = $i0[n,(c,h,w)]"
                                               : "$o0[n,...] = $i0[n,(...)]"});
}

const struct lab_op_def lab_op_flatten = {LAB_LAYER_OP("flatten", 1, 1),
                                          LAB_KEYS(keys), .takes_images = true};
