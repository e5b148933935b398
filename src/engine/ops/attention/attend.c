/* Scores, softmax and context, forward and backward, and the one step that a
 * fused kernel makes of them. */
#include "attend.h"

#include <stdio.h>
#include <string.h>

#include "attention/attention.h"
#include "engine/plan.h"

static double elements(const struct lab_builder *b, int tensor)
{
    struct lab_shape shape = lab_build_shape(b, tensor);
    int64_t n = 0;
    return tensor < 0 || lab_shape_count(&shape, &n) ? 0 : (double)n;
}

/* Of the inner sum of q k and of p v: columns of one head. */
static double head_width(const struct lab_builder *b, int tensor, int64_t heads)
{
    struct lab_shape shape = lab_build_shape(b, tensor);
    return (double)(shape.dim[shape.rank - 1] / heads);
}

static struct lab_shape scores_shape(const struct lab_builder *b,
                                     const struct lab_attend *t,
                                     bool with_heads)
{
    struct lab_shape s = lab_build_shape(b, t->q);
    struct lab_shape k = lab_build_shape(b, t->k);
    int64_t Tq = s.dim[s.rank - 2];
    int64_t Tk = k.dim[k.rank - 2];
    s.rank -= 2;
    if (with_heads)
        s.dim[s.rank++] = t->heads;
    s.dim[s.rank++] = Tq;
    s.dim[s.rank++] = Tk;
    return s;
}

static struct lab_attention_params params_of(const struct lab_attend *t)
{
    struct lab_attention_params p;
    memset(&p, 0, sizeof(p));
    p.heads = t->heads;
    p.causal = t->causal;
    p.masked = t->mask >= 0;
    return p;
}

/* A formula with the indices that a head takes: "<" is the sample, "^" the
 * sample and the head, "&" the first column of the head. E: its columns. */
static void head_formula(char out[LAB_GROUP_FORMULA], const char *with,
                         bool with_heads, double E)
{
    struct lab_str s;
    lab_str_init(&s);
    for (; *with; with++) {
        if (*with == '<')
            lab_str_add(&s, with_heads ? "n," : "");
        else if (*with == '^')
            lab_str_add(&s, with_heads ? "n,h," : "");
        else if (*with != '&')
            lab_str_add_char(&s, *with);
        else if (with_heads)
            lab_str_addf(&s, "%.0f*h+", E);
    }
    snprintf(out, LAB_GROUP_FORMULA, "%s", lab_str_text(&s));
    lab_str_release(&s);
}

void lab_attend_forward(struct lab_builder *b, const struct lab_attend *t,
                        int ctx, bool with_heads)
{
    struct lab_attention_params p = params_of(t);
    struct lab_shape shape = scores_shape(b, t, with_heads);
    enum lab_dtype real = lab_build_real(b);
    int scores = lab_build_part(b, "scores", &shape, real);
    int probs = lab_build_part(b, "probs", &shape, real);
    double n = elements(b, scores);
    double E = head_width(b, t->q, t->heads);
    char display[LAB_GROUP_FORMULA];
    char formula[LAB_GROUP_FORMULA];
    char with[LAB_GROUP_FORMULA];
    snprintf(display, sizeof(display),
             "$o0[i,j] = sum_e $i0[i,e] $i1[j,e] / sqrt(%.0f)", E);
    snprintf(with, sizeof(with),
             "$o0[^i,j] = sum_e $i0[<i,&e] * $i1[<j,&e] / sqrt(%.0f)", E);
    head_formula(formula, with, with_heads, E);
    struct lab_step_def def = {.name = "scores",
                               .phase = LAB_FORWARD,
                               LAB_IN(t->q, t->k),
                               LAB_OUT(scores),
                               LAB_PARAMS(p),
                               .formula = formula,
                               .display = display};
    lab_build_step(b, &def);
    def.name = "softmax";
    def.in[0] = scores;
    def.in[1] = t->mask;
    def.n_in = t->mask >= 0 ? 2 : 1;
    def.out[0] = probs;
    def.flop = 5 * n;
    def.formula =
        t->causal ? "!$o0[i,j] = exp($i0[i,j] - max) / sum_k exp($i0[i,k] - "
                    "max), k <= i; 0 for j > i"
                  : "!$o0[i,j] = exp($i0[i,j] - max) / sum_k exp($i0[i,k] - "
                    "max)";
    if (t->mask >= 0)
        def.formula =
            t->causal
                ? "!$o0[i,j] = exp($i0[i,j] - max) / sum_k exp($i0[i,k] - "
                  "max), k <= i where $i1[k] > 0; 0 for the others"
                : "!$o0[i,j] = exp($i0[i,j] - max) / sum_k exp($i0[i,k] - "
                  "max), k where $i1[k] > 0; 0 for the others";
    def.display = NULL;
    def.explain = lab_attend_explain_softmax;
    lab_build_step(b, &def);
    def.name = "context";
    def.in[0] = probs;
    def.in[1] = t->v;
    def.n_in = 2;
    def.out[0] = ctx;
    def.flop = 0;
    head_formula(formula, "$o0[<i,&f] = sum_j $i0[^i,j] * $i1[<j,&f]",
                 with_heads, head_width(b, t->v, t->heads));
    def.formula = formula;
    def.display = "$o0[i,f] = sum_j $i0[i,j] $i1[j,f]";
    lab_build_step(b, &def);
}

/* Have the scores an axis of heads? */
static bool with_heads(const struct lab_builder *b)
{
    struct lab_shape scores = lab_build_shape(b, lab_build_find(b, "scores"));
    struct lab_shape q = lab_build_shape(b, lab_build_find(b, "q"));
    return lab_build_find(b, "q") >= 0 && scores.rank > q.rank;
}

/* From the scores' gradient, def's output, to those of q and k. */
static void scores_backward(struct lab_builder *b, const struct lab_attend *t,
                            struct lab_step_def *def, double n, int dq, int dk)
{
    double products = (dq >= 0 ? 1.0 : 0.0) + (dk >= 0 ? 1.0 : 0.0);
    def->name = "scores";
    def->in[0] = def->out[0];
    def->in[1] = t->q;
    def->in[2] = t->k;
    def->n_in = 3;
    def->out[0] = dq;
    def->out[1] = dk;
    def->n_out = 2;
    double E = head_width(b, t->q, t->heads);
    char formula[LAB_GROUP_FORMULA];
    char display[LAB_GROUP_FORMULA];
    char with[LAB_GROUP_FORMULA];
    def->flop = n * (2 * E + 1) * products;
    snprintf(display, sizeof(display),
             "$o0[i,e] = sum_j $i0[i,j] $i2[j,e] / sqrt(%.0f); "
             "$o1[j,e] = sum_i $i0[i,j] $i1[i,e] / sqrt(%.0f)",
             E, E);
    snprintf(with, sizeof(with),
             "$o0[<i,&e] = sum_j $i0[^i,j] * $i2[<j,&e] / sqrt(%.0f); "
             "$o1[<j,&e] = sum_i $i0[^i,j] * $i1[<i,&e] / sqrt(%.0f)",
             E, E);
    head_formula(formula, with, with_heads(b), E);
    def->formula = formula;
    def->display = display;
    def->names = NULL;
    lab_build_step(b, def);
}

/* dprobs is wanted where q or k is: v alone needs no more than probs. */
void lab_attend_backward(struct lab_builder *b, const struct lab_attend *t,
                         int dctx, int dq, int dk, int dv)
{
    struct lab_attention_params p = params_of(t);
    int probs = lab_build_find(b, "probs");
    int scores = lab_build_find(b, "scores");
    bool deeper = dq >= 0 || dk >= 0;
    double n = elements(b, probs);
    char formula[LAB_GROUP_FORMULA];
    if (!deeper && dv < 0)
        return;
    head_formula(formula,
                 "$o0[^i,j] = sum_f $i0[<i,&f] * $i2[<j,&f]; $o1[<j,&f] = "
                 "sum_i $i1[^i,j] * $i0[<i,&f]",
                 with_heads(b), head_width(b, t->v, t->heads));
    int dprobs = deeper ? lab_build_grad(b, probs) : LAB_NO_TENSOR;
    int dscores = deeper ? lab_build_grad(b, scores) : LAB_NO_TENSOR;
    struct lab_step_def def = {
        .name = "context",
        .phase = LAB_BACKWARD,
        LAB_IN(dctx, probs, t->v),
        LAB_OUT(dprobs, dv),
        LAB_PARAMS(p),
        .formula = formula,
        .display = "$o0[i,j] = sum_f $i0[i,f] $i2[j,f]; $o1[j,f] = sum_i "
                   "$i1[i,j] $i0[i,f]"};
    lab_build_step(b, &def);
    if (!deeper)
        return;
    def.name = "softmax";
    def.in[0] = dprobs;
    def.n_in = 2;
    def.out[0] = dscores;
    def.n_out = 1;
    def.formula = "$o0[i,j] = $i1[i,j] ($i0[i,j] - sum_k $i0[i,k] $i1[i,k])";
    def.display = NULL;
    def.names = "dp p";
    lab_build_step(b, &def);
    scores_backward(b, t, &def, n, dq, dk);
}

/* ---- the group ---- */

static const struct lab_step *step_of(const struct lab_plan *plan,
                                      const struct lab_node *node,
                                      enum lab_phase phase, const char *name)
{
    int first = node->first_step[phase];
    for (int i = first; i < plan->n_steps; i++) {
        const struct lab_step *s = &plan->steps[i];
        if (s->op == node->op && s->phase == phase &&
            strcmp(s->kernel, name) == 0)
            return s;
    }
    return NULL;
}

/* Of a head's query. */
static int64_t group_width(const struct lab_plan *plan,
                           const struct lab_node *node)
{
    const struct lab_step *scores = step_of(plan, node, LAB_FORWARD, "scores");
    const struct lab_attention_params *p = scores->params;
    const struct lab_shape *q = &plan->tensors[scores->in[0]].shape;
    return q->dim[q->rank - 1] / p->heads;
}

/* The fused kernel recomputes the scores on the way back: 1 product more. */
static void group_back(const struct lab_plan *plan, const struct lab_node *node,
                       struct lab_group_step *out)
{
    struct lab_step_def *def = &out->def;
    long long E = (long long)group_width(plan, node);
    const struct lab_step *context =
        step_of(plan, node, LAB_BACKWARD, "context");
    const struct lab_step *scores = step_of(plan, node, LAB_BACKWARD, "scores");
    const struct lab_step *forward = step_of(plan, node, LAB_FORWARD, "scores");
    def->in[0] = context->in[0];
    def->in[1] = forward->in[0];
    def->in[2] = forward->in[1];
    def->in[3] = context->in[2];
    def->in[4] = step_of(plan, node, LAB_FORWARD, "context")->out[0];
    def->n_in = 5;
    def->out[0] = scores ? scores->out[0] : LAB_NO_TENSOR;
    def->out[1] = scores ? scores->out[1] : LAB_NO_TENSOR;
    def->out[2] = context->out[1];
    def->n_out = 3;
    def->flop = context->flop + forward->flop + (scores ? scores->flop : 0);
    snprintf(out->formula, sizeof(out->formula),
             "p = softmax($i1 $i2^T / sqrt(%lld)); dp = $i0 $i3^T; ds = "
             "p (dp - rows of $i0 $i4 summed); the gradients are ds $i2 / "
             "sqrt(%lld), ds^T $i1 / sqrt(%lld) and p^T $i0",
             E, E, E);
    def->formula = out->formula;
    def->explain = lab_attend_explain_group_back;
}

void lab_attend_group(const struct lab_plan *plan, const struct lab_node *node,
                      enum lab_phase phase, const struct lab_node *absorbed,
                      struct lab_group_step *out)
{
    const struct lab_step *scores = step_of(plan, node, LAB_FORWARD, "scores");
    const struct lab_step *context =
        step_of(plan, node, LAB_FORWARD, "context");
    struct lab_step_def *def = &out->def;
    (void)absorbed;
    memcpy(out->params.bytes, scores->params,
           sizeof(struct lab_attention_params));
    def->params = out->params.bytes;
    def->params_bytes = sizeof(struct lab_attention_params);
    if (phase == LAB_BACKWARD) {
        group_back(plan, node, out);
        return;
    }
    def->in[0] = scores->in[0];
    def->in[1] = scores->in[1];
    def->in[2] = context->in[1];
    def->n_in = 3;
    def->out[0] = context->out[0];
    def->n_out = 1;
    def->flop = scores->flop + context->flop;
    snprintf(out->formula, sizeof(out->formula),
             "!$o0 = softmax($i0 $i1^T / sqrt(%lld)) $i2, the matrix between "
             "not written",
             (long long)group_width(plan, node));
    def->formula = out->formula;
    def->explain = lab_attend_explain_group;
}
