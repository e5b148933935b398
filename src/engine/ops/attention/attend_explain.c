/* Where a score, a share or a mixed value comes from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attend.h"
#include "attention/attention.h"
#include "engine/explain.h"

/* A place in scores: row = (n, h, i) and key j. */
struct place {
    int64_t n;
    int64_t h;
    int64_t i;
    int64_t j;
};

static struct lab_view view_of(const struct lab_shape *s)
{
    struct lab_view v = {.rank = s->rank, .count = 1};
    memcpy(v.dim, s->dim, sizeof(v.dim));
    for (int i = 0; i < s->rank; i++)
        v.count *= s->dim[i];
    return v;
}

static const struct lab_attention_params *params(const struct lab_explainer *ex)
{
    return lab_explain_params(ex);
}

/* Shapes by name: NULL where the step has none. */
static struct lab_attention_dims dims_of(struct lab_explainer *ex,
                                         const struct lab_shape *q,
                                         const struct lab_shape *k,
                                         const struct lab_shape *v)
{
    struct lab_view views[3];
    views[0] = view_of(q);
    if (k)
        views[1] = view_of(k);
    if (v)
        views[2] = view_of(v);
    return lab_attention_sizes(&views[0], k ? &views[1] : NULL,
                               v ? &views[2] : NULL, params(ex)->heads);
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

/* "k[0,j,5]": an element of slot `slot`, with letters on its last axes. */
static struct text element(const struct lab_explainer *ex, int slot,
                           int64_t index, const char *letters)
{
    struct text t;
    char at[LAB_SHAPE_TEXT];
    snprintf(t.text, sizeof(t.text), "%s[%s]", lab_explain_in_name(ex, slot),
             lab_explain_letters(lab_explain_in_shape(ex, slot), index, letters,
                                 at));
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

/* What the mask says of key j for the row that holds `index`. */
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

void lab_attend_explain_softmax(struct lab_explainer *ex, int out_slot,
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

/* ---- backward ---- */

/* ---- the group: scores and shares that no kernel has written ---- */

/* Slots of the group's inputs. */
struct slots {
    int q;
    int k;
    int v;
};

static double dot(struct lab_explainer *ex, int a, int64_t a_at, int b,
                  int64_t b_at, int64_t width)
{
    double sum = 0;
    for (int64_t w = 0; w < width; w++)
        sum +=
            lab_explain_in(ex, a, a_at + w) * lab_explain_in(ex, b, b_at + w);
    return sum;
}

static double score(struct lab_explainer *ex, const struct slots *s,
                    const struct lab_attention_dims *d, struct place p)
{
    return dot(ex, s->q, head_at(d, &p, p.i, d->Tq, d->E), s->k,
               head_at(d, &p, p.j, d->Tk, d->E), d->E) /
           sqrt((double)d->E);
}

/* max and sum of exp(score - max) over the keys that query p.i sees. */
static void row_stats(struct lab_explainer *ex, const struct slots *s,
                      const struct lab_attention_dims *d, struct place p,
                      double *max, double *sum)
{
    *max = -INFINITY;
    *sum = 0;
    for (p.j = 0; p.j < d->Tk && !hidden(ex, p.i, p.j); p.j++) {
        double x = score(ex, s, d, p);
        double up = fmax(*max, x);
        *sum = *sum * exp(*max - up) + exp(x - up);
        *max = up;
    }
}

/* in: q, k, v; out: ctx */
void lab_attend_explain_group(struct lab_explainer *ex, int out_slot,
                              int64_t index)
{
    const struct slots s = {0, 1, 2};
    struct lab_attention_dims d =
        dims_of(ex, lab_explain_in_shape(ex, 0), lab_explain_in_shape(ex, 1),
                lab_explain_in_shape(ex, 2));
    struct place p = {.n = index / d.F / d.H / d.Tq,
                      .h = index / d.F % d.H,
                      .i = index / d.F / d.H % d.Tq};
    double max;
    double sum;
    (void)out_slot;
    row_stats(ex, &s, &d, p, &max, &sum);
    lab_explain_symbolic(
        ex, "sum_j p[j] * %s",
        down(ex, 2, head_at(&d, &p, 0, d.Tk, d.F) + index % d.F, "j").text);
    lab_explain_where(ex, "p[j] = softmax over j of sum_e %s * %s / sqrt(%lld)",
                      columns(ex, 0, head_at(&d, &p, p.i, d.Tq, d.E), "e").text,
                      columns(ex, 1, head_at(&d, &p, 0, d.Tk, d.E), "e").text,
                      (long long)d.E);
    for (p.j = 0; p.j < d.Tk && !hidden(ex, p.i, p.j); p.j++) {
        int64_t at = head_at(&d, &p, p.j, d.Tk, d.F) + index % d.F;
        double share = exp(score(ex, &s, &d, p) - max) / sum;
        double v = lab_explain_in(ex, 2, at);
        lab_explain_term(ex, share * v, "%.6g*%.6g", share, v);
        lab_explain_source(ex, 2, at);
    }
}

/* d score[i,j], from in: dctx, q, k, v, ctx. Also the share itself. */
static double score_gradient(struct lab_explainer *ex,
                             const struct lab_attention_dims *d, struct place p,
                             double *share)
{
    const struct slots s = {1, 2, 3};
    double max;
    double sum;
    int64_t g_at = head_at(d, &p, p.i, d->Tq, d->F);
    *share = 0;
    if (hidden(ex, p.i, p.j))
        return 0;
    row_stats(ex, &s, d, p, &max, &sum);
    *share = exp(score(ex, &s, d, p) - max) / sum;
    double through = dot(ex, 0, g_at, 4, g_at, d->F);
    double dp = dot(ex, 0, g_at, 3, head_at(d, &p, p.j, d->Tk, d->F), d->F);
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
        double ds = score_gradient(ex, d, p, &share);
        double k = lab_explain_in(ex, 2, at);
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
        double ds = score_gradient(ex, d, p, &share);
        double x = lab_explain_in(ex, value ? 0 : 1, at);
        double m = value ? share : ds;
        if (value)
            lab_explain_term(ex, m * x, "%.6g*%.6g", m, x);
        else
            lab_explain_term(ex, m * x / root, "%.6g*%.6g/%.6g", m, x, root);
        lab_explain_source(ex, value ? 0 : 1, at);
    }
}

/* in: dctx, q, k, v, ctx; out: dq, dk, dv */
void lab_attend_explain_group_back(struct lab_explainer *ex, int out_slot,
                                   int64_t index)
{
    struct lab_attention_dims d =
        dims_of(ex, lab_explain_in_shape(ex, 1), lab_explain_in_shape(ex, 2),
                lab_explain_in_shape(ex, 3));
    if (out_slot == 0)
        group_query(ex, &d, index);
    else
        group_key(ex, &d, out_slot == 2, index);
}
