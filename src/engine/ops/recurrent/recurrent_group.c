/* recurrent_group.c -- a whole rnn or lstm as one step a phase. It is explained
 * by doing the layer again in double, for one sample where that is enough. */
#include "recurrent.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "engine/explain.h"
#include "ops/unary.h"
#include "engine/plan.h"

/* Explanations of a whole rnn or lstm done in one step: nothing of the time
 * steps was kept, so the layer is done again here, in double, from what the
 * step read. One sample is enough, but for the gradients of the weights. */

/* What is done again costs about this many multiplications at most: a second
 * or two. */
static const double replay_limit = 1e9;

/* Time step t of sample n is row t*N + n. */
struct replay {
    bool lstm;
    int at; /* slot of x: 0 forward, 1 backward */
    int64_t first;
    int64_t N; /* samples, from `first` on */
    int64_t T;
    int64_t D;
    int64_t H;
    int64_t K;    /* 4H or H */
    double *W;    /* (K, D), an rnn's turned */
    double *U;    /* (K, H) */
    double *x;    /* (T, N, D) */
    double *gate; /* (T, N, K): a, i, f, o, or h */
    double *c;    /* (T+1, N, H), c0 first; NULL in an rnn */
    double *h;    /* (T+1, N, H), h0 first */
    double *dz;   /* (T, N, K); NULL forward */
    double *dh;   /* (N, H), of the step before the one at hand */
    double *dc;
};

static void release(struct replay *r)
{
    double *all[] = {r->W, r->U,  r->x,  r->gate, r->c,
                     r->h, r->dz, r->dh, r->dc};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        lab_free(all[i]);
}

static double *room(int64_t a, int64_t b)
{
    return lab_alloc_array((size_t)a * (size_t)b, sizeof(double));
}

static bool take_memory(struct replay *r, bool back)
{
    int64_t rows = r->T * r->N;
    r->W = room(r->K, r->D);
    r->U = room(r->K, r->H);
    r->x = room(rows, r->D);
    r->gate = room(rows, r->K);
    r->c = room(rows + r->N, r->H);
    r->h = room(rows + r->N, r->H);
    r->dz = room(back ? rows : 1, r->K);
    r->dh = room(r->N, r->H);
    r->dc = room(r->N, r->H);
    return r->W && r->U && r->x && r->gate && r->c && r->h && r->dz && r->dh &&
           r->dc;
}

static void read_layer(struct lab_explainer *ex, struct replay *r)
{
    for (int64_t k = 0; k < r->K; k++) {
        for (int64_t d = 0; d < r->D; d++)
            r->W[k * r->D + d] = lab_explain_in(
                ex, r->at + 1, r->lstm ? k * r->D + d : d * r->K + k);
        for (int64_t j = 0; j < r->H; j++)
            r->U[k * r->H + j] = lab_explain_in(
                ex, r->at + 2, r->lstm ? k * r->H + j : j * r->K + k);
    }
    for (int64_t n = 0; n < r->N; n++) {
        int64_t from = r->first + n;
        for (int64_t i = 0; i < r->T * r->D; i++)
            r->x[(i / r->D * r->N + n) * r->D + i % r->D] =
                lab_explain_in(ex, r->at, from * r->T * r->D + i);
        for (int64_t j = 0; j < r->H; j++) {
            r->h[n * r->H + j] = lab_explain_in(ex, r->at + 4, from * r->H + j);
            if (r->lstm)
                r->c[n * r->H + j] =
                    lab_explain_in(ex, r->at + 5, from * r->H + j);
        }
    }
}

static double product(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* z of one row, into its gates. */
static void gates_of(struct lab_explainer *ex, struct replay *r, int64_t row)
{
    double *z = r->gate + row * r->K;
    bool bias = lab_explain_has_in(ex, r->at + 3);
    for (int64_t k = 0; k < r->K; k++)
        z[k] = product(r->x + row * r->D, r->W + k * r->D, r->D) +
               product(r->h + row * r->H, r->U + k * r->H, r->H) +
               (bias ? lab_explain_in(ex, r->at + 3, k) : 0);
    for (int64_t k = 0; k < r->K; k++)
        z[k] = k < r->H ? tanh(z[k]) : lab_sigmoid(z[k]);
}

/* Rows of h and c are one step of N behind those of the gates. */
static void forward(struct lab_explainer *ex, struct replay *r)
{
    for (int64_t row = 0; row < r->T * r->N; row++) {
        gates_of(ex, r, row);
        const double *g = r->gate + row * r->K;
        for (int64_t j = 0; j < r->H; j++) {
            int64_t now = (row + r->N) * r->H + j;
            r->h[now] = g[j];
            if (!r->lstm)
                continue;
            r->c[now] =
                g[j] * g[r->H + j] + g[2 * r->H + j] * r->c[row * r->H + j];
            r->h[now] = tanh(r->c[now]) * g[3 * r->H + j];
        }
    }
}

/* What came back from the layer's result to h[t,n,j]. */
static double returned(struct lab_explainer *ex, const struct replay *r,
                       int64_t t, int64_t n, int64_t j)
{
    if (!lab_explain_has_in(ex, 0))
        return 0;
    bool whole = lab_explain_in_shape(ex, 0)->rank == 3;
    int64_t sample = r->first + n;
    if (whole)
        return lab_explain_in(ex, 0, (sample * r->T + t) * r->H + j);
    return t == r->T - 1 ? lab_explain_in(ex, 0, sample * r->H + j) : 0;
}

/* dz of one row, and dc of the step before it. */
static void cell_back(struct lab_explainer *ex, struct replay *r, int64_t t,
                      int64_t n)
{
    int64_t row = t * r->N + n;
    const double *g = r->gate + row * r->K;
    double *dz = r->dz + row * r->K;
    for (int64_t j = 0; j < r->H; j++) {
        double dh = returned(ex, r, t, n, j) + r->dh[n * r->H + j];
        if (!r->lstm) {
            dz[j] = dh * (1 - g[j] * g[j]);
            continue;
        }
        double a = g[j];
        double i = g[r->H + j];
        double f = g[2 * r->H + j];
        double o = g[3 * r->H + j];
        double shown = tanh(r->c[(row + r->N) * r->H + j]);
        double dc = r->dc[n * r->H + j] + dh * o * (1 - shown * shown);
        dz[j] = dc * i * (1 - a * a);
        dz[r->H + j] = dc * a * i * (1 - i);
        dz[2 * r->H + j] = dc * r->c[row * r->H + j] * f * (1 - f);
        dz[3 * r->H + j] = dh * shown * o * (1 - o);
        r->dc[n * r->H + j] = dc * f;
    }
}

/* What a layer left that starts where this one ends. */
static void read_end(struct lab_explainer *ex, int slot, const struct replay *r,
                     double *to)
{
    for (int64_t i = 0; lab_explain_has_in(ex, slot) && i < r->N * r->H; i++)
        to[i] = lab_explain_in(ex, slot, r->first * r->H + i);
}

/* Leaves dh and dc of the start in r->dh and r->dc. */
static void backward(struct lab_explainer *ex, struct replay *r)
{
    read_end(ex, 13, r, r->dh);
    read_end(ex, 14, r, r->dc);
    for (int64_t t = r->T - 1; t >= 0; t--) {
        for (int64_t n = 0; n < r->N; n++) {
            const double *dz = r->dz + (t * r->N + n) * r->K;
            double *dh = r->dh + n * r->H;
            cell_back(ex, r, t, n);
            memset(dh, 0, (size_t)r->H * sizeof(*dh));
            for (int64_t k = 0; k < r->K; k++)
                for (int64_t j = 0; j < r->H; j++)
                    dh[j] += dz[k] * r->U[k * r->H + j];
        }
    }
}

/* Does the layer again for `sample`, or for all with -1. false: it is too
 * large, or there is no memory, and the explanation reports it. */
static bool replay(struct lab_explainer *ex, struct replay *r, bool back,
                   int64_t sample)
{
    *r = (struct replay){.at = back, .lstm = lab_explain_has_in(ex, back + 5)};
    const struct lab_shape *x = lab_explain_in_shape(ex, r->at);
    const struct lab_shape *U = lab_explain_in_shape(ex, r->at + 2);
    r->first = sample < 0 ? 0 : sample;
    r->N = sample < 0 ? x->dim[0] : 1;
    r->T = x->dim[1];
    r->D = x->dim[2];
    r->K = U->dim[0];
    r->H = U->dim[1];
    double work = (double)r->N * (double)r->T * (double)r->K *
                  (double)(r->D + (back ? 2 : 1) * r->H);
    if (work > replay_limit || !take_memory(r, back)) {
        lab_explain_as_shown(ex,
                             "all %lld steps at once, too large to do "
                             "again here: choose another variant to see "
                             "inside",
                             (long long)r->T);
        return false;
    }
    read_layer(ex, r);
    forward(ex, r);
    if (back)
        backward(ex, r);
    return true;
}

/* a, i, f, o or c of row (t, n), `part` 0 to 4, of a group that keeps them: element
 * `index` of all of them. */
static void explain_part(struct lab_explainer *ex, const struct replay *r,
                         int part, int64_t t, int64_t index)
{
    static const char *const names[] = {"a", "i", "f"};
    const struct lab_shape *shape = lab_explain_out_shape(ex, 1);
    int64_t j = index % r->H;
    const double *g = r->gate + t * r->K + j;
    double before = r->c[t * r->H + j];
    if (part == 4) {
        lab_explain_symbolic(ex, "a * i + f * c_before");
        lab_explain_numeric(ex, "%.6g*%.6g + %.6g*%.6g", g[0], g[r->H],
                            g[2 * r->H], before);
        for (int k = 0; k < 3; k++) {
            lab_explain_let_out(ex, names[k], 2 + k, index, g[k * r->H]);
            lab_explain_source_out(ex, 2 + k, index);
        }
        int64_t step = shape->dim[1] * r->H;
        if (t > 0) {
            lab_explain_let_out(ex, "c_before", 6, index - step, before);
            lab_explain_source_out(ex, 6, index - step);
        } else {
            lab_explain_let(ex, "c_before", 5, index);
            lab_explain_source(ex, 5, index);
        }
        lab_explain_rounds(ex,
                           fabs(g[0] * g[r->H]) + fabs(g[2 * r->H] * before));
        lab_explain_value(ex, g[0] * g[r->H] + g[2 * r->H] * before);
        return;
    }
    double y = g[part * r->H];
    double z = part == 0 ? atanh(y) : log(y / (1 - y));
    lab_explain_symbolic(ex, "%s(z)", part == 0 ? "tanh" : "sigmoid");
    lab_explain_numeric(ex, "%s(%.6g)", part == 0 ? "tanh" : "sigmoid", z);
    lab_explain_where(ex,
                      "z = %.6g, the sum before it, is not written by this "
                      "variant",
                      z);
    lab_explain_value(ex, y);
}

/* h of one time step: out[n,t,j], out[n,j] or h[t,n,j]; or a part of it; or
 * xs[t,n,d]. */
static void recurrent_explain_group(struct lab_explainer *ex, int out_slot,
                                    int64_t index)
{
    const struct lab_shape *out = lab_explain_out_shape(ex, out_slot);
    int64_t T = lab_explain_in_shape(ex, 0)->dim[1];
    int64_t at[LAB_MAX_RANK];
    struct replay r;
    lab_shape_unravel(out, index, at);
    if (out_slot == 7) {
        int64_t from = (at[1] * T + at[0]) * out->dim[2] + at[2];
        lab_explain_let(ex, "x", 0, from);
        lab_explain_symbolic(ex, "x");
        lab_explain_source(ex, 0, from);
        lab_explain_value(ex, lab_explain_in(ex, 0, from));
        return;
    }
    int64_t n = at[out_slot >= 1];
    int64_t t = out->rank == 2 ? T - 1 : at[out_slot == 0];
    int64_t j = at[out->rank - 1];
    bool done = replay(ex, &r, false, n);
    if (done && out_slot > 1) {
        explain_part(ex, &r, out_slot - 2, t, index);
    } else if (done) {
        double h = r.h[(t + 1) * r.H + j];
        const char *name = lab_explain_in_name(ex, 0);
        for (int64_t d = 0; d < r.D; d++)
            lab_explain_source(ex, 0, (n * T + t) * r.D + d);
        double c = r.lstm ? r.c[(t + 1) * r.H + j] : 0;
        double o = r.lstm ? r.gate[t * r.K + 3 * r.H + j] : 0;
        lab_explain_symbolic(ex, r.lstm ? "tanh(c) * o" : "tanh(z)");
        if (r.lstm) {
            lab_explain_numeric(ex, "tanh(%.6g)*%.6g", c, o);
            lab_explain_where(ex,
                              "c = %.6g, the cell, and o = %.6g, the output "
                              "gate, are not written by this variant",
                              c, o);
        } else {
            lab_explain_numeric(ex, "tanh(%.6g)", atanh(h));
            lab_explain_where(ex,
                              "z = %.6g, the sum before the tanh, is not "
                              "written by this variant",
                              atanh(h));
        }
        lab_explain_where(ex, "it follows from %s[%lld], positions 0 to %lld",
                          name, (long long)n, (long long)t);
        lab_explain_value(ex, h);
    }
    release(&r);
}

static void define_dz(struct lab_explainer *ex)
{
    lab_explain_where(ex, "dz[t,n,k] is the gradient of sum k before its "
                          "activation at step t, which this variant does not "
                          "write");
}

/* dz[t,n,k] is a gradient times 1 - y^2 (tanh) or y (1 - y) (sigmoid). Where y is
 * near 1 that difference cancels, and dz has the rounding errors of this size. */
static double size_before(const struct replay *r, int64_t row, int64_t k)
{
    double y = r->gate[row * r->K + k];
    double kept = r->lstm && k >= r->H ? 1 - y : 1 - y * y;
    double dz = r->dz[row * r->K + k];
    return kept > 0 ? dz / kept : dz;
}

/* sum_t sum_n dz[t,n,k] times a column of x or of the h before; of neither for
 * the bias. */
static void explain_weight(struct lab_explainer *ex, const struct replay *r,
                           int out_slot, int64_t index)
{
    int64_t width = out_slot == 1 ? r->D : out_slot == 2 ? r->H : 1;
    int64_t k = r->lstm || out_slot == 3 ? index / width : index % r->K;
    int64_t j = r->lstm || out_slot == 3 ? index % width : index / r->K;
    const double *by = out_slot == 1 ? r->x : r->h;
    if (out_slot == 3)
        lab_explain_symbolic(ex, "sum_t,n dz[t,n,%lld]", (long long)k);
    else if (out_slot == 1)
        lab_explain_symbolic(ex, "sum_t,n dz[t,n,%lld] * %s[n,t,%lld]",
                             (long long)k, lab_explain_in_name(ex, 1),
                             (long long)j);
    else
        lab_explain_symbolic(ex, "sum_t,n dz[t,n,%lld] * h[t-1,n,%lld]",
                             (long long)k, (long long)j);
    if (out_slot == 2)
        lab_explain_where(ex, "h[t-1,n,%lld] of step 0 is the initial one",
                          (long long)j);
    define_dz(ex);
    for (int64_t row = 0; row < r->T * r->N; row++) {
        double dz = r->dz[row * r->K + k];
        double v = out_slot == 3 ? 1 : by[row * width + j];
        lab_explain_rounds(ex, size_before(r, row, k) * v);
        if (out_slot == 3)
            lab_explain_term(ex, dz, "%.6g", dz);
        else
            lab_explain_term(ex, dz * v, "%.6g*%.6g", dz, v);
        if (out_slot == 1)
            lab_explain_source(ex, 1,
                               (row % r->N * r->T + row / r->N) * r->D + j);
    }
}

/* sum_k dz[t,n,k] W[k,d], or of U at the start. */
static void explain_input(struct lab_explainer *ex, const struct replay *r,
                          int out_slot, int64_t index)
{
    int64_t width = out_slot == 0 ? r->D : r->H;
    int64_t t = out_slot == 0 ? index / r->D % r->T : 0;
    int64_t j = index % width;
    const double *w = out_slot == 0 ? r->W : r->U;
    lab_explain_symbolic(
        ex, "sum_k dz[%lld,%lld,k] * %s[%s%lld%s]", (long long)t,
        (long long)r->first, lab_explain_in_name(ex, out_slot == 0 ? 2 : 3),
        r->lstm ? "k," : "", (long long)j, r->lstm ? "" : ",k");
    define_dz(ex);
    for (int64_t k = 0; k < r->K; k++) {
        double dz = r->dz[t * r->K + k];
        double v = w[k * width + j];
        lab_explain_term(ex, dz * v, "%.6g*%.6g", dz, v);
        lab_explain_source(ex, out_slot == 0 ? 2 : 3,
                           r->lstm ? k * width + j : j * r->K + k);
    }
}

static void explain_c0(struct lab_explainer *ex, const struct replay *r,
                       int64_t j)
{
    double f = r->gate[2 * r->H + j];
    double dc = r->dc[j];
    lab_explain_symbolic(ex, "dc * f");
    lab_explain_where(ex,
                      "dc = %.6g, the gradient of the cell of step 0, and f = "
                      "%.6g, its forget gate, are not written by this variant",
                      f != 0 ? dc / f : NAN, f);
    lab_explain_numeric(ex, "%.6g*%.6g", f != 0 ? dc / f : NAN, f);
    lab_explain_value(ex, dc);
}

/* dz[t,n,k] of a group that keeps parts: `e` is the gate's place in its own part. */
static void explain_gate_back(struct lab_explainer *ex, const struct replay *r,
                              int64_t t, int64_t k, int64_t e)
{
    static const char *const gate[] = {"a", "i", "f", "o"};
    int64_t which = k / r->H;
    const char *name = gate[which];
    double y = r->gate[t * r->K + k];
    double dz = r->dz[t * r->K + k];
    double kept = which == 0 ? 1 - y * y : y * (1 - y);
    double g = kept > 0 ? dz / kept : 0;
    if (which == 0)
        lab_explain_symbolic(ex, "g * (1 - a^2)");
    else
        lab_explain_symbolic(ex, "g * %s * (1 - %s)", name, name);
    lab_explain_rounds(ex, size_before(r, t, k));
    lab_explain_where(ex,
                      "g = %.6g, the gradient of %s, is not written by this "
                      "variant",
                      g, name);
    lab_explain_let(ex, name, 8 + (int)which, e);
    lab_explain_source(ex, 8 + (int)which, e);
    lab_explain_value(ex, dz);
}

/* out: dx, dW, dU, db, dh0, dc0; and dz of a group that keeps parts */
static void recurrent_explain_group_back(struct lab_explainer *ex, int out_slot,
                                         int64_t index)
{
    const struct lab_shape *out = lab_explain_out_shape(ex, out_slot);
    bool weights = out_slot >= 1 && out_slot <= 3;
    int64_t each = out_slot == 0 ? out->dim[1] * out->dim[2] : out->dim[1];
    int64_t row = out_slot == 6 ? index / out->dim[2] : 0;
    int64_t sample = weights         ? -1
                     : out_slot == 6 ? row % out->dim[1]
                                     : index / each;
    struct replay r;
    if (replay(ex, &r, true, sample)) {
        if (out_slot == 6)
            explain_gate_back(ex, &r, row / out->dim[1], index % r.K,
                              row * r.H + index % r.H);
        else if (weights)
            explain_weight(ex, &r, out_slot, index);
        else if (out_slot == 5)
            explain_c0(ex, &r, index % r.H);
        else
            explain_input(ex, &r, out_slot, index);
    }
    release(&r);
}

/* The one step that represents all of an rnn's or lstm's steps in a phase. Its
 * tensors are those that the hidden steps read from outside and leave there. */

/* The node's first step of that kernel in the phase, or its last; NULL:
 * none. */
static const struct lab_step *find(const struct lab_plan *plan,
                                   const struct lab_node *node,
                                   enum lab_phase phase, const char *kernel,
                                   bool last)
{
    const struct lab_step *found = NULL;
    for (int i = 0; i < node->n_steps[phase] && (last || !found); i++) {
        const struct lab_step *s = &plan->steps[node->first_step[phase] + i];
        if (strcmp(s->kernel, kernel) == 0)
            found = s;
    }
    return found;
}

/* What both kinds call differently. */
struct names {
    const char *product; /* the step that multiplies by the weights */
    const char *cell;
};

static struct names names_of(const struct lab_node *node)
{
    if (strcmp(node->op->name, "lstm") == 0)
        return (struct names){"gates", "cell"};
    return (struct names){"sum", "tanh"};
}

/* x, W, U, b, h0, c0, from in[at] on; c0 LAB_NO_TENSOR in an rnn. */
static void add_layer(const struct lab_plan *plan, const struct lab_node *node,
                      struct lab_step_def *def, int at)
{
    struct names name = names_of(node);
    const struct lab_step *input =
        find(plan, node, LAB_FORWARD, "input", false);
    const struct lab_step *product =
        find(plan, node, LAB_FORWARD, name.product, false);
    const struct lab_step *cell =
        find(plan, node, LAB_FORWARD, name.cell, false);
    def->in[at] = input->in[0];
    def->in[at + 1] = product->in[2];
    def->in[at + 2] = product->in[3];
    def->in[at + 3] = product->in[4];
    def->in[at + 4] = product->in[1];
    def->in[at + 5] = cell->n_in > 1 ? cell->in[1] : LAB_NO_TENSOR;
    def->n_in = at + 6;
}

/* h of all time steps: what the last output of the first cell is a slice of. */
static int whole_h(const struct lab_plan *plan, const struct lab_node *node)
{
    const struct lab_step *cell =
        find(plan, node, LAB_FORWARD, names_of(node).cell, false);
    return plan->tensors[cell->out[cell->n_out - 1]].alias_of;
}

/* The wholes of what the cells of an lstm write besides h: a, i, f, o, c. */
static void add_parts(const struct lab_plan *plan, const struct lab_node *node,
                      int *to)
{
    const struct lab_step *cell =
        find(plan, node, LAB_FORWARD, names_of(node).cell, false);
    for (int k = 0; k + 1 < cell->n_out; k++)
        to[k] = plan->tensors[cell->out[k]].alias_of;
}

/* The group that keeps parts reads them too, with what a layer left that starts from
 * this one's last state, and writes dz, which it needs whole for the weights. */
static void add_parts_back(const struct lab_plan *plan,
                           const struct lab_node *node,
                           struct lab_step_def *def)
{
    const struct lab_step *last =
        find(plan, node, LAB_BACKWARD, names_of(node).cell, false);
    add_parts(plan, node, def->in + def->n_in);
    def->n_in += 5;
    def->in[def->n_in++] = last->in[1];
    def->in[def->n_in++] = last->in[2];
    def->out[def->n_out++] =
        find(plan, node, LAB_BACKWARD, "weights", false)->in[0];
}

static void group_back(const struct lab_plan *plan, const struct lab_node *node,
                       bool keeps_parts, struct lab_step_def *def)
{
    struct names name = names_of(node);
    const struct lab_step *returned =
        find(plan, node, LAB_BACKWARD, "return", false);
    const struct lab_step *last =
        find(plan, node, LAB_BACKWARD, name.cell, false);
    const struct lab_step *first =
        find(plan, node, LAB_BACKWARD, name.cell, true);
    const struct lab_step *weights =
        find(plan, node, LAB_BACKWARD, "weights", false);
    const struct lab_step *input =
        find(plan, node, LAB_BACKWARD, "input", false);
    bool lstm = strcmp(node->op->name, "lstm") == 0;
    def->in[0] = returned ? returned->in[0] : last->in[0];
    add_layer(plan, node, def, 1);
    def->in[def->n_in++] = whole_h(plan, node);
    def->out[0] = input ? input->out[0] : LAB_NO_TENSOR;
    for (int i = 0; i < 3; i++)
        def->out[1 + i] = weights->out[i];
    def->out[4] = find(plan, node, LAB_BACKWARD, name.product, true)->out[0];
    def->out[5] = lstm ? first->out[3] : LAB_NO_TENSOR;
    def->n_out = 6;
    def->formula = "from the last step to the first: what came back to h and "
                   "the state, through the cell to dz; $o1 and $o2 are dz "
                   "times $i1 and times h before, summed over all steps";
    def->explain = recurrent_explain_group_back;
    if (keeps_parts)
        add_parts_back(plan, node, def);
}

void lab_recurrent_group(const struct lab_plan *plan,
                         const struct lab_node *node, enum lab_phase phase,
                         const struct lab_node *absorbed,
                         struct lab_group_step *out)
{
    struct lab_step_def *def = &out->def;
    (void)absorbed;
    def->flop = lab_group_flop(plan, node, phase);
    if (phase == LAB_BACKWARD) {
        group_back(plan, node, out->variant->keeps_parts, def);
        return;
    }
    add_layer(plan, node, def, 0);
    def->out[0] = find(plan, node, LAB_FORWARD, "return", false)->out[0];
    def->out[1] = whole_h(plan, node);
    def->n_out = 2;
    if (out->variant->keeps_parts) {
        add_parts(plan, node, def->out + 2);
        def->n_out = 7;
    }
    if (out->variant->one_way)
        def->out[def->n_out++] =
            find(plan, node, LAB_FORWARD, "input", false)->out[0];
    if (def->in[5] >= 0)
        def->formula = "step by step: a = tanh, i, f, o = sigmoid of $i0 $i1^T "
                       "+ h $i2^T + $i3; c = a i + f c; h = tanh(c) o; $o0 is "
                       "h";
    else if (def->in[3] >= 0)
        def->formula =
            "step by step: h = tanh($i0 $i1 + h $i2 + $i3); $o0 is h";
    else
        def->formula = "step by step: h = tanh($i0 $i1 + h $i2); $o0 is h";
    def->explain = recurrent_explain_group;
}
