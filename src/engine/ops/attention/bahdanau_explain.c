#include "bahdanau_explain.h"

#include <math.h>
#include <stdio.h>

#include "engine/explain.h"

static int64_t last(const struct lab_shape *s)
{
    return s->dim[s->rank - 1];
}

static int64_t rows_of(const struct lab_shape *s)
{
    int64_t n = 1;
    for (int i = 0; i + 1 < s->rank; i++)
        n *= s->dim[i];
    return n;
}

/* x y as a term, with where they stand. */
static void add_product(struct lab_explainer *ex, int a, int64_t a_at, int b,
                        int64_t b_at)
{
    double x = lab_explain_in(ex, a, a_at);
    double y = lab_explain_in(ex, b, b_at);
    lab_explain_term(ex, x * y, "%.6g*%.6g", x, y);
    lab_explain_source(ex, a, a_at);
    lab_explain_source(ex, b, b_at);
}

/* in: s, h, Ws, Wh, b */
void lab_bahdanau_explain_u(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    const struct lab_shape *u = lab_explain_out_shape(ex, out_slot);
    int64_t A = last(u);
    int64_t T = u->dim[u->rank - 2];
    int64_t S = last(lab_explain_in_shape(ex, 0));
    int64_t D = last(lab_explain_in_shape(ex, 1));
    int64_t row = index / A;
    int64_t a = index % A;
    char s_at[LAB_SHAPE_TEXT];
    char h_at[LAB_SHAPE_TEXT];
    lab_explain_symbolic(
        ex, "sum_i s[%si] Ws[i,%lld] + sum_d h[%sd] Wh[d,%lld] + b[%lld]",
        lab_explain_row(lab_explain_in_shape(ex, 0), row / T * S, s_at),
        (long long)a,
        lab_explain_row(lab_explain_in_shape(ex, 1), row * D, h_at),
        (long long)a, (long long)a);
    lab_explain_where(ex, "s is %s", lab_explain_in_name(ex, 0));
    lab_explain_where(ex, "h is %s", lab_explain_in_name(ex, 1));
    lab_explain_where(ex, "Ws is %s", lab_explain_in_name(ex, 2));
    lab_explain_where(ex, "Wh is %s", lab_explain_in_name(ex, 3));
    lab_explain_where(ex, "b is %s", lab_explain_in_name(ex, 4));

    for (int64_t i = 0; i < S; i++)
        add_product(ex, 0, row / T * S + i, 2, i * A + a);
    for (int64_t d = 0; d < D; d++)
        add_product(ex, 1, row * D + d, 3, d * A + a);
    double b = lab_explain_in(ex, 4, a);
    lab_explain_term(ex, b, "%.6g", b);
    lab_explain_source(ex, 4, a);
}

void lab_bahdanau_explain_t(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    double u = lab_explain_in(ex, 0, index);
    (void)out_slot;
    lab_explain_symbolic(ex, "tanh(u)");
    lab_explain_let(ex, "u", 0, index);
    lab_explain_numeric(ex, "tanh(%.6g)", u);
    lab_explain_source(ex, 0, index);
    lab_explain_value(ex, tanh(u));
}

/* in: t, v */
void lab_bahdanau_explain_e(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    int64_t A = last(lab_explain_in_shape(ex, 1));
    char at[LAB_SHAPE_TEXT];
    (void)out_slot;
    lab_explain_symbolic(
        ex, "sum_a t[%sa] v[a]",
        lab_explain_row(lab_explain_in_shape(ex, 0), index * A, at));
    lab_explain_where(ex, "t is %s", lab_explain_in_name(ex, 0));
    lab_explain_where(ex, "v is %s", lab_explain_in_name(ex, 1));

    for (int64_t a = 0; a < A; a++)
        add_product(ex, 0, index * A + a, 1, a);
}

void lab_bahdanau_explain_a(struct lab_explainer *ex, int out_slot,
                            int64_t index)
{
    int64_t T = last(lab_explain_out_shape(ex, out_slot));
    int64_t row = index / T * T;
    double max = -INFINITY;
    double sum = 0;
    for (int64_t t = 0; t < T; t++)
        max = fmax(max, lab_explain_in(ex, 0, row + t));
    for (int64_t t = 0; t < T; t++)
        sum += exp(lab_explain_in(ex, 0, row + t) - max);
    double e = lab_explain_in(ex, 0, index);
    lab_explain_source(ex, 0, index);
    lab_explain_symbolic(ex, "exp(e - max) / sum_k exp(e[k] - max)");
    lab_explain_numeric(ex, "exp(%.6g - %.6g) / %.6g", e, max, sum);
    lab_explain_let(ex, "e", 0, index);
    lab_explain_where(ex, "max = %.6g, the largest e[k] of the sequence", max);
    lab_explain_value(ex, exp(e - max) / sum);
}

/* in: a, h */
void lab_bahdanau_explain_context(struct lab_explainer *ex, int out_slot,
                                  int64_t index)
{
    const struct lab_shape *h = lab_explain_in_shape(ex, 1);
    int64_t D = last(h);
    int64_t T = h->dim[h->rank - 2];
    int64_t n = index / D;
    char letters[32];
    (void)out_slot;
    char a_at[LAB_SHAPE_TEXT];
    char h_at[LAB_SHAPE_TEXT];
    snprintf(letters, sizeof(letters), "t,%lld", (long long)(index % D));
    lab_explain_symbolic(
        ex, "sum_t a[%st] h[%s]",
        lab_explain_row(lab_explain_in_shape(ex, 0), n * T, a_at),
        lab_explain_letters(h, n * T * D, letters, h_at));
    lab_explain_where(ex, "a is %s", lab_explain_in_name(ex, 0));
    lab_explain_where(ex, "h is %s", lab_explain_in_name(ex, 1));

    for (int64_t t = 0; t < T; t++)
        add_product(ex, 0, n * T + t, 1, (n * T + t) * D + index % D);
}

/* in: dout, a, h; out: da, dh */
void lab_bahdanau_explain_context_back(struct lab_explainer *ex, int out_slot,
                                       int64_t index)
{
    const struct lab_shape *h = lab_explain_in_shape(ex, 2);
    int64_t D = last(h);
    int64_t T = h->dim[h->rank - 2];
    char at[LAB_SHAPE_TEXT];
    char other[LAB_SHAPE_TEXT];
    if (out_slot == 1) {
        int64_t d_at = index / D / T * D + index % D;
        lab_explain_symbolic(
            ex, "a[%s] * dout[%s]",
            lab_explain_at(lab_explain_in_shape(ex, 1), index / D, at),
            lab_explain_at(lab_explain_in_shape(ex, 0), d_at, other));
        lab_explain_where(ex, "a is %s", lab_explain_in_name(ex, 1));
        lab_explain_where(ex, "dout is %s", lab_explain_in_name(ex, 0));

        add_product(ex, 1, index / D, 0, d_at);
        return;
    }
    lab_explain_symbolic(
        ex, "sum_d dout[%sd] h[%sd]",
        lab_explain_row(lab_explain_in_shape(ex, 0), index / T * D, at),
        lab_explain_row(h, index * D, other));
    lab_explain_where(ex, "dout is %s", lab_explain_in_name(ex, 0));
    lab_explain_where(ex, "h is %s", lab_explain_in_name(ex, 2));

    for (int64_t d = 0; d < D; d++)
        add_product(ex, 0, index / T * D + d, 2, index * D + d);
}

/* in: da, a */
void lab_bahdanau_explain_a_back(struct lab_explainer *ex, int out_slot,
                                 int64_t index)
{
    int64_t T = last(lab_explain_out_shape(ex, out_slot));
    int64_t row = index / T * T;
    double dot = 0;
    for (int64_t t = 0; t < T; t++)
        dot += lab_explain_in(ex, 0, row + t) * lab_explain_in(ex, 1, row + t);
    double da = lab_explain_in(ex, 0, index);
    double a = lab_explain_in(ex, 1, index);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, index);
    lab_explain_symbolic(ex, "a (da - sum_k da[k] a[k])");
    lab_explain_numeric(ex, "%.6g (%.6g - %.6g)", a, da, dot);
    lab_explain_let(ex, "a", 1, index);
    lab_explain_let(ex, "da", 0, index);
    lab_explain_where(ex, "da[k] and a[k] are the sequence's: the sum is %.6g",
                      dot);
    lab_explain_value(ex, a * (da - dot));
}

/* in: de, t, v; out: dt, dv */
void lab_bahdanau_explain_e_back(struct lab_explainer *ex, int out_slot,
                                 int64_t index)
{
    int64_t A = last(lab_explain_in_shape(ex, 2));
    char at[LAB_SHAPE_TEXT];
    const char *lead;
    if (out_slot == 0) {
        lab_explain_symbolic(
            ex, "de[%s] * v[%lld]",
            lab_explain_at(lab_explain_in_shape(ex, 0), index / A, at),
            (long long)(index % A));
        lab_explain_where(ex, "de is %s", lab_explain_in_name(ex, 0));
        lab_explain_where(ex, "v is %s", lab_explain_in_name(ex, 2));

        add_product(ex, 0, index / A, 2, index % A);
        return;
    }
    lead = lab_explain_axes(lab_explain_in_shape(ex, 1)->rank - 1);
    lab_explain_symbolic(ex, "sum_%s de[%s] t[%s,%lld]", lead, lead, lead,
                         (long long)index);
    lab_explain_where(ex, "de is %s", lab_explain_in_name(ex, 0));
    lab_explain_where(ex, "t is %s", lab_explain_in_name(ex, 1));

    for (int64_t r = 0; r < rows_of(lab_explain_in_shape(ex, 1)); r++)
        add_product(ex, 0, r, 1, r * A + index);
}

/* in: dt, t */
void lab_bahdanau_explain_t_back(struct lab_explainer *ex, int out_slot,
                                 int64_t index)
{
    double g = lab_explain_in(ex, 0, index);
    double t = lab_explain_in(ex, 1, index);
    (void)out_slot;
    lab_explain_symbolic(ex, "dt (1 - t^2)");
    lab_explain_numeric(ex, "%.6g (1 - %.6g^2)", g, t);
    lab_explain_let(ex, "dt", 0, index);
    lab_explain_let(ex, "t", 1, index);
    lab_explain_source(ex, 0, index);
    lab_explain_source(ex, 1, index);
    lab_explain_value(ex, g * (1 - t * t));
}

/* in: du, s, h, Ws, Wh; out: dWs, dWh, db, ds, dh */
void lab_bahdanau_explain_u_back(struct lab_explainer *ex, int out_slot,
                                 int64_t index)
{
    const struct lab_shape *du = lab_explain_in_shape(ex, 0);
    int64_t A = last(du);
    int64_t rows = rows_of(du);
    bool state = out_slot == 0 || out_slot == 3;
    int64_t each = state ? du->dim[du->rank - 2] : 1; /* rows of one s */
    int from = state ? 1 : 2;
    int64_t K = last(lab_explain_in_shape(ex, from));
    const char *lead = lab_explain_axes(du->rank - 1);
    char at[LAB_SHAPE_TEXT];
    if (out_slot == 2) {
        lab_explain_symbolic(ex, "sum_%s du[%s,%lld]", lead, lead,
                             (long long)index);
        lab_explain_where(ex, "du is %s", lab_explain_in_name(ex, 0));

        for (int64_t r = 0; r < rows; r++) {
            double g = lab_explain_in(ex, 0, r * A + index);
            lab_explain_term(ex, g, "%.6g", g);
            lab_explain_source(ex, 0, r * A + index);
        }
    } else if (out_slot < 2) {
        lab_explain_symbolic(
            ex, "sum_%s %s[%s,%lld] du[%s,%lld]", lead, state ? "s" : "h",
            state ? lab_explain_axes(lab_explain_in_shape(ex, 1)->rank - 1)
                  : lead,
            (long long)(index / A), lead, (long long)(index % A));
        lab_explain_where(ex, "du is %s; %s is %s", lab_explain_in_name(ex, 0),
                          state ? "s" : "h", lab_explain_in_name(ex, from));
        for (int64_t r = 0; r < rows; r++)
            add_product(ex, from, r / each * K + index / A, 0,
                        r * A + index % A);
    } else {
        lab_explain_symbolic(ex, "sum_%sa du[%s] %s[%lld,a]", state ? "t," : "",
                             lab_explain_letters(du, index / K * each * A,
                                                 state ? "t,a" : "a", at),
                             state ? "Ws" : "Wh", (long long)(index % K));
        lab_explain_where(ex, "du is %s; %s is %s", lab_explain_in_name(ex, 0),
                          state ? "Ws" : "Wh",
                          lab_explain_in_name(ex, from + 2));
        for (int64_t i = 0; i < each * A; i++)
            add_product(ex, 0, index / K * each * A + i, from + 2,
                        index % K * A + i % A);
    }
}
