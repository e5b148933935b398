/* attend.c -- scores, softmax and context, forward and backward, the one step
 * that a fused kernel makes of them, and where a score or a mixed value comes
 * from. */
#include "attend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attention/attention.h"
#include "engine/explain.h"
#include "engine/plan.h"

/* A place in scores: row = (n, h, i) and key j. */
struct place {
    int64_t n;
    int64_t h;
    int64_t i;
    int64_t j;
};

static const struct lab_attention_params *params(const struct lab_explainer *ex)
{
    return lab_explain_step(ex)->params;
}

/* Of the step's inputs q, q + 1 and q + 2: queries, keys and values. */
static struct lab_attention_dims dims_of(struct lab_explainer *ex, int q)
{
    struct lab_view v[3] = {{.count = 1}};
    for (int k = 0; k < 3; k++) {
        const struct lab_shape *s = lab_explain_in_shape(ex, q + k);
        v[k].rank = s->rank;
        memcpy(v[k].dim, s->dim, sizeof(v[k].dim));
        for (int i = 0; i < s->rank && k == 0; i++)
            v[k].count *= s->dim[i];
    }
    return lab_attention_sizes(&v[0], &v[1], &v[2], params(ex)->heads);
}

/* The first column of a head in row t of a tensor of T rows. */
static int64_t head_at(const struct lab_attention_dims *d,
                       const struct place *p, int64_t t, int64_t T,
                       int64_t width)
{
    return ((p->n * T + t) * d->H + p->h) * width;
}

struct text {
    char text[200];
};

/* The coordinates of a flat index, with letters on the last axes: "j,4+e" gives
 * "0,j,4+e" in a tensor of three axes. */
static const char *lettered(const struct lab_shape *shape, int64_t index,
                            const char *letters, char buf[LAB_SHAPE_TEXT])
{
    int64_t at[LAB_MAX_RANK];
    size_t n = 0;
    int given = 1;
    for (const char *p = letters; *p; p++)
        given += *p == ',';
    buf[0] = '\0';
    lab_shape_unravel(shape, index, at);
    for (int i = 0; i + given < shape->rank; i++)
        n += (size_t)snprintf(buf + n, LAB_SHAPE_TEXT - n, "%lld,",
                              (long long)at[i]);
    for (; given > shape->rank; given--)
        letters = strchr(letters, ',') + 1;
    snprintf(buf + n, LAB_SHAPE_TEXT - n, "%s", letters);
    return buf;
}

/* "k[0,j,5]": an element of slot `slot`, with letters on its last axes. */
static struct text element(const struct lab_explainer *ex, int slot,
                           int64_t index, const char *letters)
{
    struct text t;
    char at[LAB_SHAPE_TEXT];
    snprintf(t.text, sizeof(t.text), "%s[%s]", lab_explain_in_name(ex, slot),
             lettered(lab_explain_in_shape(ex, slot), index, letters, at));
    return t;
}

/* The same of a row's columns from `index` on: "q[0,3,e]", "q[0,3,4+e]" where
 * they are those of a later head. */
static struct text columns(const struct lab_explainer *ex, int slot,
                           int64_t index, const char *letter)
{
    const struct lab_shape *s = lab_explain_in_shape(ex, slot);
    int64_t first = index % s->dim[s->rank - 1];
    char last[32];
    snprintf(last, sizeof(last), "%lld+%s", (long long)first, letter);
    return element(ex, slot, index, first > 0 ? last : letter);
}

/* "k[0,j,5]": a column over all rows of the sequence that holds `index`. */
static struct text down(const struct lab_explainer *ex, int slot, int64_t index,
                        const char *row)
{
    const struct lab_shape *s = lab_explain_in_shape(ex, slot);
    char last[48];
    snprintf(last, sizeof(last), "%s,%lld", row,
             (long long)(index % s->dim[s->rank - 1]));
    return element(ex, slot, index, last);
}

static bool hidden(struct lab_explainer *ex, int64_t i, int64_t j)
{
    return params(ex)->causal && j > i;
}

/* ---- forward ---- */

/* The mask of key j for the row that holds `index`. */
static bool masked(struct lab_explainer *ex, int64_t index, int64_t j)
{
    if (!lab_explain_has_in(ex, 1))
        return false;
    const struct lab_shape *s = lab_explain_in_shape(ex, 0);
    const struct lab_shape *mask = lab_explain_in_shape(ex, 1);
    int64_t Tk = s->dim[s->rank - 1];
    int64_t each = 1;
    for (int a = mask->rank - 1; a < s->rank; a++)
        each *= s->dim[a];
    return !(lab_explain_in(ex, 1, index / each * Tk + j) > 0);
}

static void explain_hidden(struct lab_explainer *ex, int64_t i, int64_t j,
                           bool later)
{
    lab_explain_symbolic(ex,
                         later ? "0: query %lld does not see the later key "
                                 "%lld"
                               : "0: the mask hides, from query %lld and all "
                                 "others, key %lld",
                         (long long)i, (long long)j);
    lab_explain_value(ex, 0);
}

static void attend_explain_softmax(struct lab_explainer *ex, int out_slot,
                                   int64_t index)
{
    const struct lab_shape *s = lab_explain_in_shape(ex, 0);
    int64_t Tk = s->dim[s->rank - 1];
    int64_t i = index / Tk % s->dim[s->rank - 2];
    int64_t row = index / Tk * Tk;
    double max = -INFINITY;
    double sum = 0;
    char at[LAB_SHAPE_TEXT];
    char row_at[LAB_SHAPE_TEXT];
    (void)out_slot;
    lab_explain_source(ex, 0, index);
    if (hidden(ex, i, index % Tk) || masked(ex, index, index % Tk)) {
        explain_hidden(ex, i, index % Tk, hidden(ex, i, index % Tk));
        return;
    }
    for (int64_t j = 0; j < Tk && !hidden(ex, i, j); j++) {
        if (!masked(ex, index, j))
            max = fmax(max, lab_explain_in(ex, 0, row + j));
    }
    for (int64_t j = 0; j < Tk && !hidden(ex, i, j); j++) {
        if (!masked(ex, index, j))
            sum += exp(lab_explain_in(ex, 0, row + j) - max);
    }
    double x = lab_explain_in(ex, 0, index);
    lab_explain_symbolic(ex,
                         "exp(%s[%s] - max) / sum_k exp(%s[%sk] - max), over "
                         "the keys k that query %lld sees",
                         lab_explain_in_name(ex, 0),
                         lab_explain_at(s, index, at),
                         lab_explain_in_name(ex, 0),
                         lab_explain_row(s, index, row_at), (long long)i);
    lab_explain_where(ex, "max = %.6g, the largest of those", max);
    lab_explain_numeric(ex, "exp(%.6g - %.6g) / %.6g", x, max, sum);
    lab_explain_value(ex, exp(x - max) / sum);
}

/* ---- the group: scores and shares that no kernel has written. Queries, keys and
 * values are inputs q, q + 1 and q + 2 ---- */

static double dot(struct lab_explainer *ex, int a, int64_t a_at, int b,
                  int64_t b_at, int64_t width)
{
    double sum = 0;
    for (int64_t w = 0; w < width; w++)
        sum +=
            lab_explain_in(ex, a, a_at + w) * lab_explain_in(ex, b, b_at + w);
    return sum;
}

static double score(struct lab_explainer *ex, int q,
                    const struct lab_attention_dims *d, struct place p)
{
    return dot(ex, q, head_at(d, &p, p.i, d->Tq, d->E), q + 1,
               head_at(d, &p, p.j, d->Tk, d->E), d->E) /
           sqrt((double)d->E);
}

/* max and sum of exp(score - max) over the keys that query p.i sees. */
static void row_stats(struct lab_explainer *ex, int q,
                      const struct lab_attention_dims *d, struct place p,
                      double *max, double *sum)
{
    *max = -INFINITY;
    *sum = 0;
    for (p.j = 0; p.j < d->Tk && !hidden(ex, p.i, p.j); p.j++) {
        double x = score(ex, q, d, p);
        double up = fmax(*max, x);
        *sum = *sum * exp(*max - up) + exp(x - up);
        *max = up;
    }
}

/* A share, of no scores that are written. */
static void group_share(struct lab_explainer *ex, int64_t index)
{
    struct lab_attention_dims d = dims_of(ex, 0);
    struct place p = {.n = index / d.Tk / d.Tq / d.H,
                      .h = index / d.Tk / d.Tq % d.H,
                      .i = index / d.Tk % d.Tq,
                      .j = index % d.Tk};
    double max;
    double sum;
    if (hidden(ex, p.i, p.j)) {
        explain_hidden(ex, p.i, p.j, true);
        return;
    }
    row_stats(ex, 0, &d, p, &max, &sum);
    double x = score(ex, 0, &d, p);
    lab_explain_symbolic(ex,
                         "exp(s[%lld] - max) / sum_j exp(s[j] - max), over the "
                         "keys j that query %lld sees",
                         (long long)p.j, (long long)p.i);
    lab_explain_where(ex, "s[j] = sum_e %s * %s / sqrt(%lld)",
                      columns(ex, 0, head_at(&d, &p, p.i, d.Tq, d.E), "e").text,
                      columns(ex, 1, head_at(&d, &p, 0, d.Tk, d.E), "e").text,
                      (long long)d.E);
    lab_explain_where(ex, "max = %.6g, the largest of those", max);
    lab_explain_numeric(ex, "exp(%.6g - %.6g) / %.6g", x, max, sum);
    lab_explain_value(ex, exp(x - max) / sum);
}

/* in: q, k, v; out: ctx, probs */
static void attend_explain_group(struct lab_explainer *ex, int out_slot,
                                 int64_t index)
{
    struct lab_attention_dims d = dims_of(ex, 0);
    struct place p = {.n = index / d.F / d.H / d.Tq,
                      .h = index / d.F % d.H,
                      .i = index / d.F / d.H % d.Tq};
    double max;
    double sum;
    if (out_slot == 1) {
        group_share(ex, index);
        return;
    }
    row_stats(ex, 0, &d, p, &max, &sum);
    lab_explain_symbolic(
        ex, "sum_j p[j] * %s",
        down(ex, 2, head_at(&d, &p, 0, d.Tk, d.F) + index % d.F, "j").text);
    lab_explain_where(ex, "p[j] = softmax over j of sum_e %s * %s / sqrt(%lld)",
                      columns(ex, 0, head_at(&d, &p, p.i, d.Tq, d.E), "e").text,
                      columns(ex, 1, head_at(&d, &p, 0, d.Tk, d.E), "e").text,
                      (long long)d.E);
    for (p.j = 0; p.j < d.Tk && !hidden(ex, p.i, p.j); p.j++) {
        int64_t at = head_at(&d, &p, p.j, d.Tk, d.F) + index % d.F;
        double share = exp(score(ex, 0, &d, p) - max) / sum;
        double v = lab_explain_in(ex, 2, at);
        lab_explain_term(ex, share * v, "%.6g*%.6g", share, v);
        lab_explain_source(ex, 2, at);
    }
}

/* d score[i,j], from in: dctx, q, k, v, ctx. Also the share itself, and the size of
 * what is subtracted: where a query sees one key, that is all, and nothing is left but
 * its rounding. */
static double score_gradient(struct lab_explainer *ex,
                             const struct lab_attention_dims *d, struct place p,
                             double *share, double *before)
{
    double max;
    double sum;
    int64_t g_at = head_at(d, &p, p.i, d->Tq, d->F);
    *share = 0;
    *before = 0;
    if (hidden(ex, p.i, p.j))
        return 0;
    row_stats(ex, 1, d, p, &max, &sum);
    *share = exp(score(ex, 1, d, p) - max) / sum;
    double through = dot(ex, 0, g_at, 4, g_at, d->F);
    double dp = dot(ex, 0, g_at, 3, head_at(d, &p, p.j, d->Tk, d->F), d->F);
    *before = *share * (fabs(dp) + fabs(through));
    return *share * (dp - through);
}

/* Which map a query and a key are of. */
static struct text of_head(const struct lab_explainer *ex,
                           const struct place *p)
{
    struct text t = {""};
    if (params(ex)->heads > 1)
        snprintf(t.text, sizeof(t.text), " in sequence %lld, head %lld",
                 (long long)p->n, (long long)p->h);
    return t;
}

static void define_ds(struct lab_explainer *ex, const struct place *p)
{
    lab_explain_where(ex,
                      "ds[i,j] = p[i,j] (dp[i,j] - sum_k dp[i,k] p[i,k]) is "
                      "the gradient of the score of query i and key j%s",
                      of_head(ex, p).text);
    lab_explain_where(ex, "p[i,j] is what query i takes of key j");
    lab_explain_where(ex, "dp[i,j] = sum_f %s[i,f] * %s[j,f]",
                      lab_explain_in_name(ex, 0), lab_explain_in_name(ex, 3));
}

/* dq: a sum over the keys. */
static void group_query(struct lab_explainer *ex,
                        const struct lab_attention_dims *d, int64_t index)
{
    struct place p = {.n = index / d->E / d->H / d->Tq,
                      .h = index / d->E % d->H,
                      .i = index / d->E / d->H % d->Tq};
    double root = sqrt((double)d->E);
    lab_explain_symbolic(
        ex, "sum_j ds[%lld,j] * %s / sqrt(%lld)", (long long)p.i,
        down(ex, 2, head_at(d, &p, 0, d->Tk, d->E) + index % d->E, "j").text,
        (long long)d->E);
    define_ds(ex, &p);
    for (p.j = 0; p.j < d->Tk; p.j++) {
        int64_t at = head_at(d, &p, p.j, d->Tk, d->E) + index % d->E;
        double share;
        double before;
        double ds = score_gradient(ex, d, p, &share, &before);
        double k = lab_explain_in(ex, 2, at);
        lab_explain_rounds(ex, before * k / root);
        lab_explain_term(ex, ds * k / root, "%.6g*%.6g/%.6g", ds, k, root);
        lab_explain_source(ex, 2, at);
    }
}

/* dk and dv: sums over the queries. */
static void group_key(struct lab_explainer *ex,
                      const struct lab_attention_dims *d, bool value,
                      int64_t index)
{
    int64_t width = value ? d->F : d->E;
    struct place p = {.n = index / width / d->H / d->Tk,
                      .h = index / width % d->H,
                      .j = index / width / d->H % d->Tk};
    double root = value ? 1 : sqrt((double)d->E);
    lab_explain_symbolic(
        ex,
        value ? "sum_i p[i,%lld] * %s" : "sum_i ds[i,%lld] * %s / sqrt(%lld)",
        (long long)p.j,
        down(ex, value ? 0 : 1, head_at(d, &p, 0, d->Tq, width) + index % width,
             "i")
            .text,
        (long long)width);
    if (value)
        lab_explain_where(ex, "p[i,j] is what query i takes of key j%s",
                          of_head(ex, &p).text);
    else
        define_ds(ex, &p);
    for (p.i = 0; p.i < d->Tq; p.i++) {
        int64_t at = head_at(d, &p, p.i, d->Tq, width) + index % width;
        double share;
        double before;
        double ds = score_gradient(ex, d, p, &share, &before);
        double x = lab_explain_in(ex, value ? 0 : 1, at);
        double m = value ? share : ds;
        lab_explain_rounds(ex, value ? 0 : before * x / root);
        if (value)
            lab_explain_term(ex, m * x, "%.6g*%.6g", m, x);
        else
            lab_explain_term(ex, m * x / root, "%.6g*%.6g/%.6g", m, x, root);
        lab_explain_source(ex, value ? 0 : 1, at);
    }
}

/* in: dctx, q, k, v, ctx; out: dq, dk, dv */
static void attend_explain_group_back(struct lab_explainer *ex, int out_slot,
                                      int64_t index)
{
    struct lab_attention_dims d = dims_of(ex, 1);
    if (out_slot == 0)
        group_query(ex, &d, index);
    else
        group_key(ex, &d, out_slot == 2, index);
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
    def.flop_each = 5;
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
    def.explain = attend_explain_softmax;
    lab_build_step(b, &def);
    def.name = "context";
    def.in[0] = probs;
    def.in[1] = t->v;
    def.n_in = 2;
    def.out[0] = ctx;
    def.flop_each = 0;
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
                            struct lab_step_def *def, int dq, int dk)
{
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
    def->flop_each = (2 * E + 1) * ((dq >= 0) + (dk >= 0));
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
    char formula[LAB_GROUP_FORMULA];
    head_formula(formula,
                 "$o0[^i,j] = sum_f $i0[<i,&f] * $i2[<j,&f]; $o1[<j,&f] = "
                 "sum_i $i1[^i,j] * $i0[<i,&f]",
                 with_heads(b), head_width(b, t->v, t->heads));
    int dprobs = deeper ? lab_build_grad(b, probs) : LAB_NO_TENSOR;
    int dscores = deeper ? lab_build_grad(b, scores) : LAB_NO_TENSOR;
    struct lab_step_def def = {
        .name = "context",
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
    scores_backward(b, t, &def, dq, dk);
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

/* Without the shares that the forward steps have written, the scores are computed again:
 * 1 product more. */
static void group_back(const struct lab_plan *plan, const struct lab_node *node,
                       struct lab_group_step *out)
{
    long long E = (long long)group_width(plan, node);
    const struct lab_step *context =
        step_of(plan, node, LAB_BACKWARD, "context");
    const struct lab_step *scores = step_of(plan, node, LAB_BACKWARD, "scores");
    const struct lab_step *forward = step_of(plan, node, LAB_FORWARD, "scores");
    out->def = (struct lab_step_def){
        LAB_IN(context->in[0], forward->in[0], forward->in[1], context->in[2],
               step_of(plan, node, LAB_FORWARD, "context")->out[0]),
        LAB_OUT(scores ? scores->out[0] : LAB_NO_TENSOR,
                scores ? scores->out[1] : LAB_NO_TENSOR, context->out[1]),
        .flop = context->flop + forward->flop + (scores ? scores->flop : 0),
        .explain = attend_explain_group_back};
    if (out->variant->one_way) {
        out->def.in[out->def.n_in++] = context->in[1];
        out->def.flop -= forward->flop;
        snprintf(out->formula, sizeof(out->formula),
                 "dp = $i0 $i3^T; ds = $i5 (dp - rows of $i0 $i4 summed); the "
                 "gradients are ds $i2 / sqrt(%lld), ds^T $i1 / sqrt(%lld) and "
                 "$i5^T $i0",
                 E, E);
        return;
    }
    snprintf(out->formula, sizeof(out->formula),
             "p = softmax($i1 $i2^T / sqrt(%lld)); dp = $i0 $i3^T; ds = "
             "p (dp - rows of $i0 $i4 summed); the gradients are ds $i2 / "
             "sqrt(%lld), ds^T $i1 / sqrt(%lld) and p^T $i0",
             E, E, E);
}

void lab_attend_group(const struct lab_plan *plan, const struct lab_node *node,
                      enum lab_phase phase, const struct lab_node *absorbed,
                      struct lab_group_step *out)
{
    const struct lab_step *scores = step_of(plan, node, LAB_FORWARD, "scores");
    const struct lab_step *context =
        step_of(plan, node, LAB_FORWARD, "context");
    (void)absorbed;
    if (phase == LAB_BACKWARD) {
        group_back(plan, node, out);
    } else {
        bool shares = out->variant->one_way; /* the steps back read them */
        out->def = (struct lab_step_def){
            LAB_IN(scores->in[0], scores->in[1], context->in[1]),
            LAB_OUT(context->out[0], shares ? context->in[0] : LAB_NO_TENSOR),
            .flop = scores->flop + context->flop,
            .explain = attend_explain_group};
        snprintf(out->formula, sizeof(out->formula),
                 shares ? "!$o1 = softmax($i0 $i1^T / sqrt(%lld)); !$o0 = "
                          "$o1 $i2"
                        : "!$o0 = softmax($i0 $i1^T / sqrt(%lld)) $i2, the "
                          "matrix between not written",
                 (long long)group_width(plan, node));
    }
    out->def.name = node->op->name;
    out->def.formula = out->formula;
    lab_group_params(out, scores->params, sizeof(struct lab_attention_params));
}
