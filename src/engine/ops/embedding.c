/* embedding: a row of a learned table for every id.
 *
 * Forward copies rows. Backward adds a gradient's rows to those of the ids: an
 * id that occurs twice gets both. */
#include "embedding/embedding.h"

#include "engine/explain.h"
#include "engine/op.h"

#define MANY 1073741824.0

static const struct lab_key_def keys[] = {
    {"vocab", LAB_KEY_INT, true, 0, 1, MANY},
    {"dim", LAB_KEY_INT, true, 0, 1, MANY},
};

static void explain_gather(struct lab_explainer *ex, int out_slot,
                           int64_t index)
{
    const struct lab_shape *out = lab_explain_out_shape(ex, out_slot);
    int64_t D = out->dim[out->rank - 1];
    int64_t id = (int64_t)lab_explain_in(ex, 0, index / D);
    double w = lab_explain_in(ex, 1, id * D + index % D);
    lab_explain_symbolic(ex, "%s[%lld,%lld]: the row of id %lld",
                         lab_explain_in_name(ex, 1), (long long)id,
                         (long long)(index % D), (long long)id);
    lab_explain_term(ex, w, "%.6g", w);
    lab_explain_source(ex, 0, index / D);
    lab_explain_source(ex, 1, id * D + index % D);
}

/* in: dout, ids */
static void explain_scatter(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_shape *ids = lab_explain_in_shape(ex, 1);
    const struct lab_shape *dW = lab_explain_out_shape(ex, out_slot);
    int64_t D = dW->dim[1];
    int64_t v = index / D;
    int64_t R = 1;
    for (int i = 0; i < ids->rank; i++)
        R *= ids->dim[i];
    const char *axes = lab_explain_axes(ids->rank);
    lab_explain_symbolic(ex, "sum_%s %s[%s,%lld] over the positions of id %lld",
                         axes, lab_explain_in_name(ex, 0), axes,
                         (long long)(index % D), (long long)v);
    lab_explain_where(ex, "those are the %s with %s[%s] = %lld", axes,
                      lab_explain_in_name(ex, 1), axes, (long long)v);
    lab_explain_value(ex, 0); /* an id that does not occur has no terms */
    double sum = 0;
    for (int64_t r = 0; r < R; r++) {
        if ((int64_t)lab_explain_in(ex, 1, r) != v)
            continue;
        double g = lab_explain_in(ex, 0, r * D + index % D);
        sum += g;
        lab_explain_term(ex, g, "%.6g", g);
        lab_explain_source(ex, 0, r * D + index % D);
        lab_explain_source(ex, 1, r);
    }
    lab_explain_value(ex, sum);
}

static void forward(struct lab_builder *b)
{
    int ids = lab_build_input(b, 0);
    int64_t V = lab_build_attr(b, "vocab")->i;
    int64_t D = lab_build_attr(b, "dim")->i;
    struct lab_shape shape = lab_build_shape(b, ids);
    if (shape.rank >= LAB_MAX_RANK) {
        lab_build_fail(b, LAB_E_SHAPE,
                       "[op.embedding.rank] ids of rank %d are too many",
                       shape.rank);
        return;
    }
    shape.dim[shape.rank++] = D;
    int W = lab_build_param(b, "W", &(struct lab_shape){2, {V, D}},
                            LAB_INIT_FAN_IN_FIRST);
    int out = lab_build_out(b, &shape);
    lab_build_id_limit(b, 0, V);
    if (out < 0)
        return;
    int64_t n = 0;
    int64_t rows = 0;
    struct lab_shape id_shape = lab_build_shape(b, ids);
    if (lab_shape_count(&shape, &n) || lab_shape_count(&id_shape, &rows))
        return;
    double each = lab_build_real(b) == LAB_F64 ? 8 : 4;
    lab_build_step(b, &(struct lab_step_def){
                          .name = "gather",
                          LAB_IN(ids, W),
                          LAB_OUT(out),
                          /* of W only the rows that are looked up */
                          .bytes = 2 * each * (double)n + 4 * (double)rows,
                          .formula = "!$o0[n,:] = $i1[$i0[n],:]",
                          .explain = explain_gather});
}

static void backward(struct lab_builder *b)
{
    int dout = lab_build_out_grad(b);
    int dW = lab_build_grad(b, lab_build_find(b, "W"));
    lab_build_step(
        b,
        &(struct lab_step_def){
            .name = "gather",
            LAB_IN(dout, lab_build_input(b, 0)),
            LAB_OUT(dW),
            .flop_each = 1,
            .formula = "!$o0[v,:] = sum of $i0[n,:] over the n with $i1[n] = v",
            .explain = explain_scatter});
}

static const struct lab_op_test_network trials[] = {
    {.in = {{2, {5, 7}}},
     .out = {3, {5, 7, 67}},
     .keys = {{"vocab", 5}, {"dim", 67}}},
};

const struct lab_op_def lab_op_embedding = {LAB_LAYER_OP("embedding", 1, 1),
                                            LAB_KEYS(keys), .takes_ids = true,
                                            LAB_TRIALS(trials)};
