/* unary.c -- the steps and explanations of elementwise ops: y = f(x) and dx = dy
 * f'(x).
 *
 * An op such as relu.c has a struct lab_unary with its function, slope and
 * texts; LAB_UNARY_OP makes a whole op of that with the functions here. A dense
 * node that absorbs its activation asks for the same. */
#include "unary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* `text` with every "$x" replaced. */
static void put_x(struct lab_str *out, const char *text, const char *x)
{
    for (; *text; text++) {
        if (text[0] == '$' && text[1] == 'x') {
            lab_str_add(out, x);
            text++;
        } else {
            lab_str_add_char(out, *text);
        }
    }
}

/* Of the node's op, for the choice of its first key. */
static const struct lab_unary *unary_of(const struct lab_node *node)
{
    const struct lab_op_def *op = node->op;
    bool choice = op->n_keys > 0 && op->keys[0].type == LAB_KEY_CHOICE;
    return &op->unary[choice ? node->attr[0].choice : 0];
}

static const struct lab_unary *explained(const struct lab_explainer *ex)
{
    return unary_of(&lab_explain_plan(ex)->nodes[lab_explain_step(ex)->node]);
}

/* A key that the formula names: leaky_relu's slope, elu's alpha. */
static void name_key(struct lab_explainer *ex)
{
    const struct lab_node *node =
        &lab_explain_plan(ex)->nodes[lab_explain_step(ex)->node];
    if (node->op->n_keys > 0 && node->op->keys[0].type == LAB_KEY_FLOAT)
        lab_explain_where(ex, "%s = %g", node->op->keys[0].name,
                          node->attr[0].f);
}

static void explain_forward(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_unary *u = explained(ex);
    struct lab_str text;
    char at[LAB_SHAPE_TEXT];
    char x_text[400];
    double x = lab_explain_in(ex, 0, index);
    (void)out_slot;
    lab_str_init(&text);
    snprintf(x_text, sizeof(x_text), "%s[%s]", lab_explain_in_name(ex, 0),
             lab_explain_at(lab_explain_in_shape(ex, 0), index, at));
    put_x(&text, u->value_text, x_text);
    lab_explain_symbolic(ex, "%s", lab_str_text(&text));
    lab_str_clear(&text);
    snprintf(x_text, sizeof(x_text), x < 0 ? "(%.6g)" : "%.6g", x);
    put_x(&text, u->value_text, x_text);
    lab_explain_numeric(ex, "%s", lab_str_text(&text));
    lab_str_release(&text);
    lab_explain_source(ex, 0, index);
    name_key(ex);
    if (u->slope_where) /* 1 + tanh() or 1 + erf() of what may be near -1 */
        lab_explain_rounds(ex, x);
    lab_explain_value(ex, u->value(x, lab_explain_step(ex)->params));
}

/* dx = dy * f'(x) */
static void explain_backward(struct lab_explainer *ex, int out_slot,
                             int64_t index)
{
    const struct lab_unary *u = explained(ex);
    char at[LAB_SHAPE_TEXT];
    double dy = lab_explain_in(ex, 0, index);
    bool of_y = u->slope_of_y != NULL;
    double x = lab_explain_in(ex, of_y ? 2 : 1, index);
    double slope =
        of_y ? u->slope_of_y(x) : u->slope(x, lab_explain_step(ex)->params);
    (void)out_slot;
    lab_explain_at(lab_explain_in_shape(ex, 0), index, at);
    lab_explain_symbolic(ex, "%s[%s] * (%s)", lab_explain_in_name(ex, 0), at,
                         u->slope_text);
    lab_explain_numeric(ex, "%.6g * %.6g", dy, slope);
    lab_explain_source(ex, 0, index);
    lab_explain_let(ex, of_y ? "y" : "x", of_y ? 2 : 1, index);
    if (u->slope_where) {
        struct lab_str where;
        char text[40];
        lab_str_init(&where);
        snprintf(text, sizeof(text), x < 0 ? "(%.6g)" : "%.6g", x);
        put_x(&where, u->slope_where, text);
        lab_explain_where(ex, "%s", lab_str_text(&where));
        lab_str_release(&where);
    }
    name_key(ex);
    lab_explain_source(ex, of_y ? 2 : 1, index);
    if (u->slope_where)
        lab_explain_rounds(ex, dy * (1 + fabs(x)));
    lab_explain_value(ex, dy * slope);
}

static void build_step(struct lab_builder *b, struct lab_step_def *def,
                       bool back)
{
    const struct lab_node *node = lab_build_node(b);
    const struct lab_unary *u = unary_of(node);
    union {
        double align;
        unsigned char bytes[LAB_UNARY_PARAMS];
    } params = {0};
    char formula[160];
    if (u->params_bytes > 0) {
        u->fill_params(node->attr, params.bytes);
        def->params = params.bytes;
        def->params_bytes = u->params_bytes;
    }
    snprintf(formula, sizeof(formula), "!%s",
             back ? u->backward_formula : u->forward_formula);
    def->formula = formula;
    def->name = node->op->name;
    def->n_out = 1;
    def->flop_each = back ? u->backward_flop : u->forward_flop;
    lab_build_step(b, def);
}

void lab_unary_forward(struct lab_builder *b)
{
    int x = lab_build_input(b, 0);
    struct lab_shape shape = lab_build_shape(b, x);
    struct lab_step_def def = {LAB_IN(x), .out = {lab_build_out(b, &shape)},
                               .explain = explain_forward};
    if (unary_of(lab_build_node(b))->activation != LAB_ACT_NONE)
        lab_build_node(b)->may_be_absorbed = true;
    build_step(b, &def, false);
}

void lab_unary_backward(struct lab_builder *b)
{
    struct lab_step_def def = {
        LAB_IN(lab_build_out_grad(b), lab_build_input(b, 0),
               lab_build_find(b, "out")),
        .out = {lab_build_input_grad(b, 0)}, .explain = explain_backward};
    build_step(b, &def, true);
}

void lab_unary_absorb(const struct lab_node *node, struct lab_dense_params *out)
{
    out->activation = unary_of(node)->activation;
    out->slope = out->activation == LAB_ACT_LEAKY_RELU ? node->attr[0].f : 0;
}

void lab_unary_explain_absorbed(struct lab_explainer *ex, int out_slot)
{
    const struct lab_plan *plan = lab_explain_plan(ex);
    int out = lab_explain_step(ex)->out[out_slot];
    const struct lab_node *node = &plan->nodes[plan->tensors[out].node];
    const struct lab_unary *u = unary_of(node);
    union {
        double align;
        unsigned char bytes[LAB_UNARY_PARAMS];
    } params = {0};
    if (u->params_bytes > 0)
        u->fill_params(node->attr, params.bytes);
    lab_explain_through(ex, node->op->name, u->value, params.bytes);
}

double lab_sigmoid(double x)
{
    if (x >= 0)
        return 1 / (1 + exp(-x));
    double e = exp(x);
    return e / (1 + e);
}
