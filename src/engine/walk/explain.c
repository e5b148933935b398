/* explain.c -- explains one element: its formula, its terms and its value in
 * double, and whether the tensor's value is that but for rounding. What
 * rounding can do is not guessed from the largest number around: of a sum it
 * follows from its terms, of another formula from computing it again with its
 * inputs changed by a rounding error. */
#include "engine/explain.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/formula.h"
#include "formula/formula_priv.h"

/* Explains one element: asks the step's op for the formula, its terms and its
 * value in double, and judges whether the tensor's value is that but for
 * rounding. What rounding can do is not guessed from the largest number around:
 * of a sum it follows from its terms, of another formula from computing it
 * again with its inputs changed by a rounding error. */

/* A sum of a million products is explained by its largest terms. */
enum { TERMS_KEPT = 256 };

struct lab_explainer {
    struct lab_explanation *out;
    const struct lab_plan *plan;
    const struct lab_step *step;
    const struct lab_formula *formula; /* of the step */
    int64_t iteration;
    enum lab_precision ran_as;
    lab_explain_read_fn *read;
    void *user;
    enum lab_status status;
    const void *in[LAB_STEP_IN];
    const void *old[LAB_STEP_OUT];
    int room;
    double sum;     /* of all terms, kept or not */
    double sizes;   /* of the absolute values of all terms */
    double rounded; /* the largest size given to lab_explain_rounds() */
    int64_t reads;
    uint64_t shake;     /* not 0: all are read with a rounding error */
    int64_t shake_read; /* not 0: the read of this number alone is */
    bool value_given;
    struct lab_term loose; /* sources given before any term */
};

/* Half a unit in the last place of 1. */
static double rounding(const struct lab_plan *plan)
{
    return (plan->real == LAB_F64 ? DBL_EPSILON : (double)FLT_EPSILON) / 2;
}

/* The rounding error that this read is to have. */
static double shake(const struct lab_explainer *ex, int tensor, int64_t index)
{
    if (ex->shake_read)
        return ex->shake_read == ex->reads ? rounding(ex->plan) : 0;
    if (!ex->shake)
        return 0;
    uint64_t bits =
        ((uint64_t)index + 1 + ((uint64_t)tensor << 40)) * ex->shake;
    bits ^= bits >> 29;
    bool up = bits * 0x9E3779B97F4A7C15u >> 63;
    return up ? rounding(ex->plan) : -rounding(ex->plan);
}

static double read_slot(struct lab_explainer *ex, const void **cache,
                        int tensor, bool old, int64_t index)
{
    if (tensor < 0 || ex->status)
        return NAN;
    const struct lab_tensor *t = &ex->plan->tensors[tensor];
    if (index < 0 || index >= t->count)
        return NAN;
    if (!*cache)
        ex->status = ex->read(ex->user, tensor, old, cache);
    if (ex->status)
        return NAN;
    double v = lab_number_at(*cache, t->dtype, index);
    ex->reads++;
    return t->dtype == LAB_I32 ? v : v * (1 + shake(ex, tensor, index));
}

double lab_explain_in(struct lab_explainer *ex, int slot, int64_t index)
{
    int tensor = ex->step->in[slot];
    /* A parameter that the update has changed since: as the step read it. */
    bool old = tensor >= 0 && ex->plan->tensors[tensor].persistent &&
               ex->step->phase != LAB_UPDATE;
    return read_slot(ex, &ex->in[slot], tensor, old, index);
}

double lab_explain_old(struct lab_explainer *ex, int out_slot, int64_t index)
{
    return read_slot(ex, &ex->old[out_slot], ex->step->out[out_slot], true,
                     index);
}

bool lab_explain_has_in(const struct lab_explainer *ex, int slot)
{
    return slot < ex->step->n_in && ex->step->in[slot] >= 0;
}

const struct lab_shape *lab_explain_in_shape(const struct lab_explainer *ex,
                                             int slot)
{
    return &ex->plan->tensors[ex->step->in[slot]].shape;
}

const struct lab_shape *lab_explain_out_shape(const struct lab_explainer *ex,
                                              int slot)
{
    return &ex->plan->tensors[ex->step->out[slot]].shape;
}

const char *lab_explain_in_name(const struct lab_explainer *ex, int slot)
{
    int id = ex->step->in[slot];
    return id < 0 ? "?" : ex->plan->tensors[id].name;
}

static const char *explain_out_name(const struct lab_explainer *ex, int slot)
{
    int id = ex->step->out[slot];
    return id < 0 ? "?" : ex->plan->tensors[id].name;
}

const struct lab_op_def *lab_explain_op(const struct lab_explainer *ex)
{
    return ex->step->op;
}

const struct lab_attr *lab_explain_attr(const struct lab_explainer *ex)
{
    return ex->plan->nodes[ex->step->node].attr;
}

const void *lab_explain_params(const struct lab_explainer *ex)
{
    return ex->step->params;
}

int64_t lab_explain_iteration(const struct lab_explainer *ex)
{
    return ex->iteration;
}

uint64_t lab_explain_seed(const struct lab_explainer *ex)
{
    return ex->plan->seed;
}

const struct lab_node *lab_explain_out_node(const struct lab_explainer *ex,
                                            int slot)
{
    return &ex->plan->nodes[ex->plan->tensors[ex->step->out[slot]].node];
}

int lab_explain_node(const struct lab_explainer *ex)
{
    return ex->step->node;
}

const char *lab_explain_at(const struct lab_shape *shape, int64_t index,
                           char buf[LAB_SHAPE_TEXT])
{
    int64_t at[LAB_MAX_RANK];
    size_t n = 0;
    buf[0] = '\0';
    lab_shape_unravel(shape, index, at);
    for (int i = 0; i < shape->rank; i++)
        n += (size_t)snprintf(buf + n, LAB_SHAPE_TEXT - n, "%s%lld",
                              i ? "," : "", (long long)at[i]);
    return buf;
}

const char *lab_explain_row(const struct lab_shape *shape, int64_t index,
                            char buf[LAB_SHAPE_TEXT])
{
    lab_explain_at(shape, index, buf);
    char *comma = strrchr(buf, ',');
    *(comma ? comma + 1 : buf) = '\0';
    return buf;
}

const char *lab_explain_letters(const struct lab_shape *shape, int64_t index,
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

const char *lab_explain_axes(int axes)
{
    static const char *const letters[] = {"", "n", "n,t", "n,h,t"};
    return letters[axes < 0 ? 0 : axes <= 3 ? axes : 3];
}

static char *format(const char *fmt, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof(text), fmt, args);
    return lab_strdup(text);
}

static void keep_text(struct lab_explainer *ex, char **slot, const char *fmt,
                      va_list args)
{
    lab_free(*slot);
    *slot = format(fmt, args);
    if (!*slot)
        ex->status = lab_fail(LAB_E_NOMEM, "no memory to explain");
}

void lab_explain_symbolic(struct lab_explainer *ex, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    keep_text(ex, &ex->out->symbolic, fmt, args);
    va_end(args);
}

void lab_explain_numeric(struct lab_explainer *ex, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    keep_text(ex, &ex->out->numeric, fmt, args);
    va_end(args);
}

/* For the order of terms: a NaN or an infinity is what the learner looks
 * for. */
static double size_of(double v)
{
    return isnan(v) ? INFINITY : fmin(fabs(v), DBL_MAX);
}

double lab_explain_sum(const struct lab_explainer *ex)
{
    return ex->sum;
}

void lab_explain_through(struct lab_explainer *ex, const char *function,
                         double value)
{
    char *inner = ex->out->symbolic;
    ex->out->symbolic = NULL;
    lab_explain_symbolic(ex, "%s(%s)", function, inner ? inner : "");
    lab_free(inner);
    lab_explain_value(ex, value);
}

/* Where the next term goes: a new place, or the smallest kept one when the
 * list is full; NULL: it is smaller than all of them. */
static struct lab_term *term_place(struct lab_explainer *ex, double value)
{
    struct lab_explanation *e = ex->out;
    if (e->n_terms < TERMS_KEPT) {
        if (e->n_terms == ex->room) {
            int room = ex->room ? ex->room * 2 : 16;
            void *p =
                lab_realloc_array(e->terms, (size_t)room, sizeof(*e->terms));
            if (!p) {
                ex->status = lab_fail(LAB_E_NOMEM, "no memory to explain");
                return NULL;
            }
            e->terms = p;
            ex->room = room;
        }
        return &e->terms[e->n_terms++];
    }
    struct lab_term *least = &e->terms[0];
    for (int64_t i = 1; i < e->n_terms; i++) {
        if (size_of(e->terms[i].value) < size_of(least->value))
            least = &e->terms[i];
    }
    if (size_of(value) <= size_of(least->value)) {
        e->rest += value;
        return NULL;
    }
    e->rest += least->value;
    return least;
}

char *lab_explain_term(struct lab_explainer *ex, double value, const char *fmt,
                       ...)
{
    va_list args;
    ex->sum += value;
    ex->sizes += fabs(value);
    ex->out->n_terms_all++;
    if (ex->status)
        return NULL;
    struct lab_term *t = term_place(ex, value);
    ex->loose.n_sources = 0;
    if (!t)
        return NULL;
    *t = (struct lab_term){.value = value};
    va_start(args, fmt);
    vsnprintf(t->text, sizeof(t->text), fmt, args);
    va_end(args);
    /* Sources that follow belong to this term: keep it last in the list. */
    struct lab_explanation *e = ex->out;
    struct lab_term last = e->terms[e->n_terms - 1];
    e->terms[e->n_terms - 1] = *t;
    if (t != &e->terms[e->n_terms - 1])
        *t = last;
    ex->loose.n_sources = -1; /* the last term takes sources */
    return e->terms[e->n_terms - 1].text;
}

static void add_source(struct lab_explainer *ex, int tensor, int64_t index)
{
    struct lab_explanation *e = ex->out;
    if (ex->status || tensor < 0)
        return;
    if (e->n_terms_all == 0) { /* a formula without terms: one silent term */
        if (e->n_terms == 0)
            lab_explain_term(ex, 0, "%s", "");
        if (ex->status)
            return;
        e->n_terms_all = 0;
        ex->loose.n_sources = -1;
        ex->out->n_terms = 1;
    }
    if (ex->loose.n_sources != -1 || e->n_terms == 0)
        return;
    struct lab_term *t = &e->terms[e->n_terms - 1];
    if (t->n_sources < LAB_TERM_SOURCES)
        t->source[t->n_sources++] =
            (struct lab_element){.tensor = tensor, .index = index};
}

void lab_explain_source(struct lab_explainer *ex, int slot, int64_t index)
{
    add_source(ex, ex->step->in[slot], index);
}

void lab_explain_source_out(struct lab_explainer *ex, int slot, int64_t index)
{
    add_source(ex, ex->step->out[slot], index);
}

/* ---- what short names are ---- */

void lab_explain_where(struct lab_explainer *ex, const char *fmt, ...)
{
    va_list args;
    struct lab_str all;
    lab_str_init(&all);
    if (ex->out->where)
        lab_str_addf(&all, "%s; ", ex->out->where);
    va_start(args, fmt);
    lab_str_addv(&all, fmt, args);
    va_end(args);
    lab_free(ex->out->where);
    ex->out->where = lab_str_detach(&all);
    if (!ex->out->where)
        ex->status = lab_fail(LAB_E_NOMEM, "no memory to explain");
}

static void let(struct lab_explainer *ex, const char *name, int tensor,
                int64_t index, const char *when, double value)
{
    const struct lab_tensor *t = tensor < 0 ? NULL : &ex->plan->tensors[tensor];
    char at[LAB_SHAPE_TEXT];
    if (!t)
        return;
    lab_explain_at(&t->shape, index, at);
    lab_explain_where(ex, "%s = %s%s%s%s%s = %.6g", name, t->name,
                      *at ? "[" : "", at, *at ? "]" : "", when, value);
}

void lab_explain_let(struct lab_explainer *ex, const char *name, int slot,
                     int64_t index)
{
    let(ex, name, ex->step->in[slot], index, "",
        lab_explain_in(ex, slot, index));
}

void lab_explain_let_out(struct lab_explainer *ex, const char *name, int slot,
                         int64_t index, double value)
{
    let(ex, name, ex->step->out[slot], index, "", value);
}

void lab_explain_let_old(struct lab_explainer *ex, const char *name,
                         int out_slot, int64_t index)
{
    let(ex, name, ex->step->out[out_slot], index, " before",
        lab_explain_old(ex, out_slot, index));
}

void lab_explain_rounds(struct lab_explainer *ex, double size)
{
    if (fabs(size) > ex->rounded)
        ex->rounded = fabs(size);
}

void lab_explain_value(struct lab_explainer *ex, double value)
{
    ex->out->value = value;
    ex->value_given = true;
}

void lab_explain_as_shown(struct lab_explainer *ex, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    keep_text(ex, &ex->out->symbolic, fmt, args);
    va_end(args);
    lab_explain_value(ex, ex->out->shown);
}

/* By the formula of the step, or by its function. */
static void explain_slot(struct lab_explainer *ex, int slot, int64_t index)
{
    if (lab_formula_statement(ex->formula, slot) >= 0)
        lab_explain_formula(ex, slot, index);
    else if (ex->step->explain)
        ex->step->explain(ex, slot, index);
}

static int by_size(const void *a, const void *b)
{
    double x = size_of(((const struct lab_term *)a)->value);
    double y = size_of(((const struct lab_term *)b)->value);
    return (x < y) - (x > y);
}

/* What a tensor holds that no step has written. */
static void explain_unwritten(struct lab_explainer *ex)
{
    const struct lab_tensor *t = &ex->plan->tensors[ex->out->tensor];
    const char *what = "not computed yet";
    if (t->role == LAB_TENSOR_DATA)
        what = "from the data";
    else if (t->role == LAB_TENSOR_PARAM && ex->iteration == 0)
        what = "the initial value";
    else if (t->persistent)
        what = "as the last iteration left it";
    lab_explain_symbolic(ex, "%s", what);
    lab_explain_value(ex, ex->out->shown);
}

static enum lab_status name_element(struct lab_explainer *ex)
{
    const struct lab_tensor *t = &ex->plan->tensors[ex->out->tensor];
    char at[LAB_SHAPE_TEXT];
    struct lab_str s;
    lab_str_init(&s);
    lab_str_add(&s, t->name);
    if (t->shape.rank > 0)
        lab_str_addf(&s, "[%s]", lab_explain_at(&t->shape, ex->out->index, at));
    ex->out->name = lab_str_detach(&s);
    return ex->out->name ? LAB_OK : lab_fail(LAB_E_NOMEM, "no memory");
}

/* The output of the step that holds the element, and its position in it: a
 * slice, or the whole that it is a slice of, is another view of the same. */
static int written_slot(const struct lab_explainer *ex, int64_t *index)
{
    const struct lab_tensor *t = &ex->plan->tensors[ex->out->tensor];
    for (int i = 0; ex->step && i < ex->step->n_out; i++) {
        int id = ex->step->out[i];
        if (id < 0)
            continue;
        const struct lab_tensor *o = &ex->plan->tensors[id];
        if (id == ex->out->tensor ||
            (o->alias_of == ex->out->tensor && !o->slice))
            return i;
        if (t->slice && t->alias_of == id) {
            *index += t->first;
            return i;
        }
        if (o->slice && o->alias_of == ex->out->tensor && *index >= o->first &&
            *index < o->first + o->count) {
            *index -= o->first;
            return i;
        }
    }
    return -1;
}

/* A kernel adds n numbers in any order: the error grows with their number, at
 * worst like n, mostly like its root. The rest is for functions that are exact
 * to some units in the last place. */
static double roundings(int64_t n)
{
    double count = (double)n;
    return 8 + fmin(count / 2, 32 * sqrt(count));
}

/* How far the value moves with those rounding errors. */
static double moved_by(const struct lab_explainer *ex, uint64_t all,
                       int64_t one)
{
    const struct lab_explanation *e = ex->out;
    struct lab_explanation scratch = {.tensor = e->tensor,
                                      .index = e->index,
                                      .step = e->step,
                                      .shown = e->shown};
    struct lab_explainer again = {.out = &scratch,
                                  .plan = ex->plan,
                                  .step = ex->step,
                                  .formula = ex->formula,
                                  .iteration = ex->iteration,
                                  .read = ex->read,
                                  .user = ex->user,
                                  .shake = all,
                                  .shake_read = one};
    int64_t index = e->index;
    int slot = written_slot(&again, &index);
    if (slot >= 0)
        explain_slot(&again, slot, index);
    bool valid = again.value_given && !again.status;
    double off = valid ? fabs(scratch.value - e->value) : 0;
    lab_explanation_release(&scratch);
    return off;
}

/* Of a few inputs what each does is added up, of many all change at random. */
static double shaken(const struct lab_explainer *ex)
{
    const int64_t few = 24;
    double most = 0;
    for (int64_t k = 1; k <= ex->reads && ex->reads <= few; k++)
        most += moved_by(ex, 0, k);
    for (uint64_t turn = 1; turn <= 3 && ex->reads > few; turn++)
        most = fmax(most, moved_by(ex, turn * 0xD1B54A32D192ED03u, 0));
    return most;
}

static void judge(struct lab_explainer *ex)
{
    struct lab_explanation *e = ex->out;
    /* TF32 keeps 11 bits of each factor. */
    double eps = ex->ran_as == LAB_TF32 ? 1.0 / (1 << 11) : rounding(ex->plan);
    int64_t n = ex->value_given ? ex->reads : e->n_terms_all;
    double size = fabs(e->value) + ex->rounded;
    double moved = ex->value_given && ex->step ? shaken(ex) : 0;
    if (!ex->value_given)
        size += ex->sizes;
    /* What is too small for a normal float may become 0. */
    e->tolerance = roundings(n) * (eps * size + moved) +
                   (ex->plan->real == LAB_F64 ? DBL_MIN : (double)FLT_MIN);
    e->cancels = !ex->value_given && e->n_terms_all > 1 && ex->sizes > 0 &&
                 fabs(e->value) <= 16 * eps * ex->sizes;
    if (!isfinite(e->tolerance))
        e->tolerance = eps * fabs(e->shown);
    bool both_nan = isnan(e->value) && isnan(e->shown);
    bool same = e->value == e->shown;
    /* A value too large for float is inf there. */
    bool overflow = isinf(e->shown) && fabs(e->value) > 3.4e38;
    e->agrees = both_nan || same || overflow ||
                fabs(e->value - e->shown) <= e->tolerance;
}

static enum lab_status run_explainer(struct lab_explainer *ex)
{
    struct lab_explanation *e = ex->out;
    const struct lab_tensor *t = &ex->plan->tensors[e->tensor];
    const void *data = NULL;
    enum lab_status st = ex->read(ex->user, e->tensor, false, &data);
    if (st)
        return st;
    e->shown = lab_number_at(data, t->dtype, e->index);
    st = name_element(ex);
    if (st)
        return st;
    int64_t index = e->index;
    int slot = written_slot(ex, &index);
    if (slot < 0)
        explain_unwritten(ex);
    else
        explain_slot(ex, slot, index);
    return ex->status;
}

enum lab_status lab_explain(struct lab_explanation *out,
                            const struct lab_plan *plan,
                            const struct lab_step *step, int tensor,
                            int64_t index, int64_t iteration,
                            enum lab_precision ran_as,
                            lab_explain_read_fn *read, void *user)
{
    struct lab_explanation e = {.tensor = tensor, .index = index, .step = -1};
    struct lab_formula formula;
    struct lab_explainer ex = {.out = &e,
                               .plan = plan,
                               .step = step,
                               .formula = &formula,
                               .iteration = iteration,
                               .ran_as = ran_as,
                               .read = read,
                               .user = user};
    if (tensor < 0 || tensor >= plan->n_tensors)
        return lab_fail(LAB_E_ARG, "no such tensor");
    if (index < 0 || index >= plan->tensors[tensor].count) {
        char shape[LAB_SHAPE_TEXT];
        return lab_fail(LAB_E_RANGE, "%s is %s: it has no such element",
                        plan->tensors[tensor].name,
                        lab_shape_text(&plan->tensors[tensor].shape, shape));
    }
    enum lab_status st = step ? lab_formula_of(&formula, plan, step) : LAB_OK;
    if (!st)
        st = run_explainer(&ex);
    if (st) {
        lab_explanation_release(&e);
        return st;
    }
    if (!ex.value_given)
        e.value = ex.sum;
    judge(&ex);
    if (e.n_terms > 1)
        qsort(e.terms, (size_t)e.n_terms, sizeof(*e.terms), by_size);
    *out = e;
    return LAB_OK;
}

void lab_explanation_release(struct lab_explanation *e)
{
    lab_free(e->name);
    lab_free(e->symbolic);
    lab_free(e->numeric);
    lab_free(e->where);
    lab_free(e->terms);
    *e = (struct lab_explanation){.tensor = -1, .step = -1};
}

/* One number that is no product: the value is the same. */
static bool plain_number(const struct lab_explanation *e)
{
    char *end = NULL;
    if (e->n_terms_all != 1)
        return false;
    strtod(e->terms[0].text, &end);
    return *end == '\0';
}

static void add_terms(const struct lab_explanation *e, int max_terms,
                      struct lab_str *out)
{
    double rest = e->rest;
    if (plain_number(e))
        return;
    int64_t shown = e->n_terms < max_terms ? e->n_terms : max_terms;
    lab_str_add(out, " = ");
    for (int64_t i = 0; i < shown; i++)
        lab_str_addf(out, "%s%s", i ? " + " : "", e->terms[i].text);
    for (int64_t i = shown; i < e->n_terms; i++)
        rest += e->terms[i].value;
    if (e->n_terms_all > shown)
        lab_str_addf(
            out, " + (%lld %s: %.6g)", (long long)(e->n_terms_all - shown),
            size_of(e->terms[0].value) > 0 ? "smaller" : "more", rest + 0.0);
}

void lab_explanation_text(const struct lab_explanation *e, int max_terms,
                          struct lab_str *out)
{
    lab_str_addf(out, "%s = %s", e->name ? e->name : "?",
                 e->symbolic ? e->symbolic : "");
    if (e->n_terms_all > 0)
        add_terms(e, max_terms, out);
    if (e->numeric)
        lab_str_addf(out, " = %s", e->numeric);
    if (e->unwritten)
        return;
    lab_str_addf(out, " = %.9g%s", e->value + 0.0,
                 e->cancels ? ", 0 but for rounding" : "");
    if (e->where)
        lab_str_addf(out, ", where %s", e->where);
    if (!e->agrees)
        lab_str_addf(out, "  (the tensor holds %.9g: off by more than %.2g)",
                     e->shown, e->tolerance);
}

/* Explains an element by the formula of its step. A sum of products is
 * explained by its terms, anything else by the formula with numbers put in.
 * Short names that the step gives its inputs, and keys of the op, are defined
 * behind it. */

enum { FACTORS = 12 };

struct writer {
    struct formula_element e;
    struct lab_explainer *ex;
    const struct lab_formula *f;
    const char *names; /* of the step's inputs */
    int root;
    struct lab_str *out;
    bool numbers;   /* values in place of names */
    bool averaging; /* within "mean(...)" */
    unsigned bound; /* letters of the sums around */
    char letter[LAB_FORMULA_LETTERS][8];
};

static double read_tensor(void *user, bool old, int slot, int64_t index)
{
    struct lab_explainer *ex = user;
    return old ? lab_explain_old(ex, slot, index)
               : lab_explain_in(ex, slot, index);
}

/* ---- short names ---- */

/* Word number `slot` of the names; NULL: it has none. */
static const char *short_name(const struct writer *w,
                              const struct lab_formula_ref *r)
{
    const char *s = r->out ? NULL : w->names;
    for (int i = 0; s && i < r->slot; i++) {
        s = strchr(s, ' ');
        s = s ? s + 1 : NULL;
    }
    return s && *s != '-' ? s : NULL;
}

/* NULL: the node is no tensor. */
static const struct lab_formula_ref *tensor_of(const struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    return n->kind == F_TENSOR ? &w->f->refs[n->id] : NULL;
}

/* Does the formula read one element of the input, outside of all sums? */
static bool alone(const struct writer *w, int node, int slot)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    const struct lab_formula_ref *r = tensor_of(w, node);
    if (r)
        return !r->out && r->slot == slot;
    return n->kind < F_SUM && ((n->a >= 0 && alone(w, n->a, slot)) ||
                               (n->b >= 0 && alone(w, n->b, slot)));
}

static bool named(const struct writer *w, const struct lab_formula_ref *r)
{
    return short_name(w, r) && alone(w, w->root, r->slot);
}

static bool all_named(const struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (n->kind == F_TENSOR)
        return named(w, &w->f->refs[n->id]);
    return (n->a < 0 || all_named(w, n->a)) && (n->b < 0 || all_named(w, n->b));
}

/* ---- the formula as text ---- */

/* "3", "k", "4+e", "t-1", "2*oh+1", "5-2*oh" */
static void put_index(struct writer *w, const struct lab_formula_ref *r,
                      int axis)
{
    int64_t number = r->index[axis].constant;
    size_t start = w->out->len;
    for (int k = 0; k < r->index[axis].n; k++) {
        int letter = r->index[axis].letter[k];
        if (!(w->bound >> letter & 1))
            number += r->index[axis].coef[k] * w->e.at[letter];
    }
    if (number > 0)
        lab_str_addf(w->out, "%lld", (long long)number);
    for (int k = 0; k < r->index[axis].n; k++) {
        long long coef = (long long)r->index[axis].coef[k];
        int letter = r->index[axis].letter[k];
        if (!(w->bound >> letter & 1))
            continue;
        if (coef < 0 && w->out->len == start)
            lab_str_add(w->out, "0");
        lab_str_add(w->out, coef < 0 ? "-" : w->out->len == start ? "" : "+");
        lab_str_add(w->out, w->letter[letter]);
        if (coef != 1 && coef != -1)
            lab_str_addf(w->out, "*%lld", coef < 0 ? -coef : coef);
    }
    if (number < 0 || w->out->len == start)
        lab_str_addf(w->out, "%lld", (long long)number);
}

static void put_tensor(struct writer *w, const struct lab_formula_ref *r)
{
    const char *name = named(w, r) || (w->bound == 0 && short_name(w, r))
                           ? short_name(w, r)
                           : NULL;
    char at[LAB_SHAPE_TEXT];
    const char *before = "[";
    if (r->out && r->slot == w->e.slot) {
        lab_str_add(w->out, "old");
        return;
    }
    if (name)
        lab_str_add_bytes(w->out, name, strcspn(name, " "));
    else
        lab_str_add(w->out, r->out ? explain_out_name(w->ex, r->slot)
                                   : lab_explain_in_name(w->ex, r->slot));
    if (name && (w->bound == 0 || w->averaging))
        return;
    if (r->flat) {
        lab_explain_at(r->out ? lab_explain_out_shape(w->ex, r->slot)
                              : lab_explain_in_shape(w->ex, r->slot),
                       w->e.flat, at);
        lab_str_addf(w->out, *at ? "[%s]" : "%s", at);
        return;
    }
    for (int i = 0; i < r->n; i++) {
        bool bound = false;
        for (int k = 0; k < r->index[i].n; k++)
            bound |= w->bound >> r->index[i].letter[k] & 1;
        if (name && !bound)
            continue;
        lab_str_add(w->out, before);
        before = ",";
        put_index(w, r, i);
    }
    lab_str_add(w->out, *before == ',' ? "]" : "");
}

static void put(struct writer *w, int node);

/* The letters of a sum under their names: batch axes and the first of the sum
 * together are "n,t" or "n,h,t". */
static void name_letters(struct writer *w, unsigned letters)
{
    int batch = 0;
    for (int i = 0; i < LAB_MAX_RANK; i++)
        batch += letters >> i & 1;
    const char *axes = lab_explain_axes(batch + 1);
    for (int i = 0, k = 0; i < w->f->n_letters; i++) {
        if (!(letters >> i & 1))
            continue;
        if (batch > 0 && k <= batch)
            snprintf(w->letter[i], sizeof(w->letter[i]), "%c", axes[2 * k++]);
        else
            memcpy(w->letter[i], w->f->letters[i].name, sizeof(w->letter[i]));
    }
}

static void put_sum(struct writer *w, const struct lab_formula_node *n)
{
    unsigned around = w->bound;
    const char *before = "sum_";
    if (n->kind == F_MEAN && all_named(w, n->a)) {
        w->averaging = true;
        w->bound |= (unsigned)n->id;
        lab_str_add(w->out, w->f->nodes[n->a].paren ? "mean" : "mean(");
        put(w, n->a);
        lab_str_add(w->out, w->f->nodes[n->a].paren ? "" : ")");
        w->averaging = false;
        w->bound = around;
        return;
    }
    name_letters(w, (unsigned)n->id);
    for (int i = 0; i < w->f->n_letters; i++) {
        if (!((unsigned)n->id >> i & 1) || w->f->letters[i].extent == 0)
            continue;
        lab_str_addf(w->out, "%s%s", before, w->letter[i]);
        before = ",";
    }
    lab_str_add(w->out, *before == ',' ? " " : "");
    w->bound |= (unsigned)n->id;
    put(w, n->a);
    w->bound = around;
    if (n->kind == F_MEAN)
        lab_str_addf(w->out, " / %.0f",
                     lab_formula_combinations(w->f, (unsigned)n->id));
}

static void put_product(struct writer *w, const struct lab_formula_node *n)
{
    const struct lab_formula_node *b = &w->f->nodes[n->b];
    bool blank = n->spelled == ' ' && (b->paren || !w->numbers);
    put(w, n->a);
    if (n->kind == F_DIVIDE)
        lab_str_add(w->out, n->spaced ? " / " : "/");
    else
        lab_str_add(w->out, blank ? " " : " * ");
    put(w, n->b);
}

static void put(struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    static const char *const sign[] = {
        [F_ADD] = " + ", [F_SUBTRACT] = " - ", [F_EQUAL] = " = "};
    bool value = w->numbers && (n->kind == F_TENSOR || n->kind == F_KEY ||
                                n->kind == F_EQUAL || n->kind >= F_SUM);
    lab_str_add(w->out, n->paren ? "(" : "");
    if (value || n->kind == F_NUMBER) {
        lab_str_addf(w->out,
                     n->kind == F_TENSOR || n->kind >= F_SUM ? "%.6g" : "%g",
                     lab_formula_eval(&w->e, node));
    } else if (n->kind == F_TENSOR) {
        put_tensor(w, &w->f->refs[n->id]);
    } else if (n->kind >= F_SUM) {
        put_sum(w, n);
    } else if (n->kind == F_MULTIPLY || n->kind == F_DIVIDE) {
        put_product(w, n);
    } else if (n->kind == F_LETTER) {
        lab_str_addf(w->out, "%lld", (long long)w->e.at[n->id]);
    } else if (n->kind == F_KEY) {
        lab_str_add(w->out, lab_explain_op(w->ex)->keys[n->id].name);
    } else if (n->kind == F_NEGATE) {
        lab_str_add(w->out, "-");
        put(w, n->a);
    } else if (n->kind == F_POWER) {
        put(w, n->a);
        lab_str_addf(w->out, "^%g", n->number);
    } else if (n->kind == F_CALL) {
        lab_str_addf(w->out, "%s(", lab_formula_function(n->id));
        put(w, n->a);
        if (n->b >= 0) {
            lab_str_add(w->out, ", ");
            put(w, n->b);
        }
        lab_str_add(w->out, ")");
    } else {
        lab_str_add(w->out, n->kind == F_EQUAL ? "[" : "");
        put(w, n->a);
        lab_str_add(w->out, sign[n->kind]);
        put(w, n->b);
        lab_str_add(w->out, n->kind == F_EQUAL ? "]" : "");
    }
    lab_str_add(w->out, n->paren ? ")" : "");
}

/* ---- sources and definitions ---- */

/* The tensors under the node; those of a sum only when `sums`. Returns how many
 * there are. */
static int add_sources(struct writer *w, int node, bool sums)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    const struct lab_formula_ref *r = tensor_of(w, node);
    bool old = r && r->out && r->slot == w->e.slot;
    if (r && r->out && !old)
        lab_explain_source_out(w->ex, r->slot, lab_formula_index(&w->e, r));
    else if (r && !old)
        lab_explain_source(w->ex, r->slot, lab_formula_index(&w->e, r));
    if (n->kind >= F_SUM) {
        struct formula_element outside = w->e;
        int found = 0;
        lab_formula_first(&w->e, (unsigned)n->id);
        do
            found += sums ? add_sources(w, n->a, true) : 0;
        while (found < LAB_TERM_SOURCES && sums &&
               lab_formula_next(&w->e, (unsigned)n->id));
        w->e = outside;
        return found;
    }
    return (r != NULL) + (n->a < 0 ? 0 : add_sources(w, n->a, sums)) +
           (n->b < 0 ? 0 : add_sources(w, n->b, sums));
}

static void define_tensor(struct writer *w, const struct lab_formula_ref *r,
                          unsigned *done)
{
    const char *s = short_name(w, r);
    char name[24];
    if (r->out && r->slot == w->e.slot) {
        lab_explain_let_old(w->ex, "old", r->slot, w->e.flat);
    } else if (s && !(*done >> r->slot & 1)) {
        *done |= 1u << r->slot;
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(s, " "), s);
        lab_explain_let(w->ex, name, r->slot, lab_formula_index(&w->e, r));
    }
}

/* What the formula's words are, in their order: short names and keys, then,
 * with `sums`, the sums over what has a short name. */
static void define(struct writer *w, int node, bool sums, unsigned *done)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (n->kind == F_TENSOR && !sums) {
        define_tensor(w, tensor_of(w, node), done);
    } else if (n->kind == F_KEY && !sums && !(*done >> (16 + n->id) & 1)) {
        *done |= 1u << (16 + n->id);
        lab_explain_where(w->ex, "%s = %g",
                          lab_explain_op(w->ex)->keys[n->id].name,
                          lab_formula_eval(&w->e, node));
    } else if (n->kind >= F_SUM && sums && all_named(w, n->a)) {
        struct lab_str text;
        lab_str_init(&text);
        w->out = &text;
        put(w, node);
        lab_explain_where(w->ex, "%s = %.6g", lab_str_text(&text),
                          lab_formula_eval(&w->e, node));
        lab_str_release(&text);
    }
    if (n->kind < F_SUM && n->a >= 0)
        define(w, n->a, sums, done);
    if (n->kind < F_SUM && n->b >= 0)
        define(w, n->b, sums, done);
}

/* ---- terms ---- */

/* Is it a sum of products? What is under a sum may be anything. */
static bool sum_of_products(const struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (lab_formula_constant(w->f, node))
        return true;
    if (n->kind == F_ADD || n->kind == F_MULTIPLY || n->kind == F_DIVIDE)
        return !(n->paren && n->kind == F_ADD) && sum_of_products(w, n->a) &&
               sum_of_products(w, n->b);
    return n->kind == F_TENSOR || n->kind >= F_SUM;
}

struct product {
    struct {
        int node; /* -1: the number of a mean's terms */
        bool divide;
        double count;
    } factor[FACTORS];
    int n;
    unsigned letters;
};

static void add_factors(struct writer *w, struct product *p, int node,
                        bool divide)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    if (!divide && (n->kind == F_MULTIPLY || n->kind == F_DIVIDE) &&
        !lab_formula_constant(w->f, node)) {
        add_factors(w, p, n->a, false);
        add_factors(w, p, n->b, n->kind == F_DIVIDE);
        return;
    }
    if (!divide && n->kind >= F_SUM) {
        p->letters |= (unsigned)n->id;
        add_factors(w, p, n->a, false);
        node = -1;
        divide = true;
        if (n->kind == F_SUM)
            return;
    }
    if (p->n == FACTORS)
        return;
    p->factor[p->n].node = node;
    p->factor[p->n].count = lab_formula_combinations(w->f, (unsigned)n->id);
    p->factor[p->n++].divide = divide;
}

/* "0.5*2/3", and the elements that it is made of. */
static void add_term(struct writer *w, const struct product *p, double value)
{
    struct lab_str text;
    char *term = lab_explain_term(w->ex, value, "%s", "");
    if (!term)
        return;
    lab_str_init(&text);
    w->out = &text;
    w->numbers = true;
    for (int i = 0; i < p->n; i++) {
        int node = p->factor[i].node;
        double v = node < 0 ? p->factor[i].count : 0;
        lab_str_add(&text, i == 0 ? "" : p->factor[i].divide ? "/" : "*");
        if (node >= 0 && !lab_formula_constant(w->f, node)) {
            put(w, node);
            add_sources(w, node, true);
            continue;
        }
        v = node < 0 ? v : lab_formula_eval(&w->e, node);
        lab_str_addf(&text, v == floor(v) && v < 1e15 ? "%.0f" : "%.6g", v);
    }
    w->numbers = false;
    snprintf(term, LAB_TERM_TEXT, "%s", lab_str_text(&text));
    lab_str_release(&text);
}

static void add_product_terms(struct writer *w, int node)
{
    const struct lab_formula_node *n = &w->f->nodes[node];
    struct product p = {.n = 0};
    if (n->kind == F_ADD) {
        add_product_terms(w, n->a);
        add_product_terms(w, n->b);
        return;
    }
    add_factors(w, &p, node, false);
    struct formula_element outside = w->e;
    lab_formula_first(&w->e, p.letters);
    do {
        double value = 1;
        w->e.outside = false;
        for (int i = 0; i < p.n; i++) {
            double v = p.factor[i].node < 0
                           ? p.factor[i].count
                           : lab_formula_eval(&w->e, p.factor[i].node);
            value = p.factor[i].divide ? value / v : value * v;
        }
        if (!w->e.outside)
            add_term(w, &p, value);
    } while (lab_formula_next(&w->e, p.letters));
    w->e = outside;
}

void lab_explain_formula(struct lab_explainer *ex, int out_slot, int64_t index)
{
    const struct lab_formula *f = ex->formula;
    int s = lab_formula_statement(f, out_slot);
    struct writer w = {.ex = ex,
                       .f = f,
                       .names = ex->step->names,
                       .root = f->statements[s].root};
    const char *note = f->statements[s].note;
    struct lab_str text;
    unsigned done = 0;
    lab_formula_at(&w.e, f, s, index);
    w.e.read = read_tensor;
    w.e.user = ex;
    lab_str_init(&text);
    w.out = &text;
    put(&w, w.root);
    if (note) {
        lab_str_add(&text, ", ");
        lab_str_add_bytes(&text, note, strcspn(note, "\""));
    }
    lab_explain_symbolic(ex, "%s", lab_str_text(&text));
    if (sum_of_products(&w, w.root)) {
        add_product_terms(&w, w.root);
    } else {
        lab_str_clear(&text);
        w.numbers = true;
        put(&w, w.root);
        w.numbers = false;
        lab_explain_numeric(ex, "%s", lab_str_text(&text));
        if (add_sources(&w, w.root, false) == 0)
            add_sources(&w, w.root, true);
        lab_explain_value(ex, lab_formula_eval(&w.e, w.root));
    }
    lab_str_release(&text);
    define(&w, w.root, false, &done);
    define(&w, w.root, true, &done);
}
