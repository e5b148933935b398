/* engine/explain.h -- any number of any tensor, from the numbers it came from.
 *
 * An explanation is computed in double precision from the step's real inputs:
 *
 *     fc1.W.grad[3,5] = sum_n x[n,3] * fc1.out.grad[n,5]
 *                     = 0.25*-0.11 + 0.5*0.02 + ... = 0.0417
 *
 * with the terms by size, and the elements they came from. It states whether
 * the double value agrees with the one on the screen within the tolerance of
 * the tensor's precision. Threads: the explainer reads tensors through `read`,
 * so the thread that owns them must call. */
#pragma once
#include "base/str.h"
#include "engine/plan.h"

struct lab_element {
    int tensor;
    int64_t index; /* flat */
};

/* Sources: all of a window of 3 x 3. */
enum { LAB_TERM_TEXT = 96, LAB_TERM_SOURCES = 9 };

struct lab_term {
    double value;
    char text[LAB_TERM_TEXT]; /* "0.25*-0.11" */
    struct lab_element source[LAB_TERM_SOURCES];
    int n_sources;
};

struct lab_explanation {
    int tensor;
    int64_t index;
    int step;       /* index in the schedule, -1: data or initial value */
    char *name;     /* "fc1.W.grad[3,5]" */
    char *symbolic; /* "sum_n x[n,3] * fc1.out.grad[n,5]"; "" for data */
    char *numeric;  /* the formula with numbers, when it is not a sum */
    char *where;    /* what its short names are: "dh = lstm1.h.0.grad[0,0] =
                       0.018; ..."; NULL when there are none */
    struct lab_term *terms; /* largest magnitude first; NULL when none */
    int64_t n_terms;        /* terms kept */
    int64_t n_terms_all;    /* terms of the sum */
    double rest;            /* sum of the terms that were not kept */
    double value;           /* in double */
    double shown;           /* what the tensor holds */
    double tolerance; /* what rounding can do to this value; see formula.c */
    bool agrees;
    bool cancels;   /* a sum that is 0 but for the rounding of its terms */
    bool unwritten; /* no step has written it yet: value and shown are NaN */
};

/* Reads a whole tensor into host memory; the pointer is valid until the
 * explanation is done. `old`: its value before the iteration (in-place
 * outputs). */
typedef enum lab_status lab_explain_read_fn(void *user, int tensor, bool old,
                                            const void **data);

LAB_C_BEGIN
/* step NULL: a tensor that no step has written (data, a parameter before its
 * update): the explanation states where the value comes from. `ran_as`: the
 * arithmetic of the variant that ran the step; the tolerance follows it. */
enum lab_status lab_explain(struct lab_explanation *out,
                            const struct lab_plan *plan,
                            const struct lab_step *step, int tensor,
                            int64_t index, int64_t iteration,
                            enum lab_precision ran_as,
                            lab_explain_read_fn *read, void *user);
void lab_explanation_release(struct lab_explanation *e);
/* One text: name = symbolic = a + b + ... (12 more: 0.1) = value. */
void lab_explanation_text(const struct lab_explanation *e, int max_terms,
                          struct lab_str *out);

/* ---- for explain functions in ops/<op>.c ----
 * `slot` counts the step's inputs or outputs as its lab_step_def has them. */
double lab_explain_in(struct lab_explainer *ex, int slot, int64_t index);
double lab_explain_old(struct lab_explainer *ex, int out_slot, int64_t index);
bool lab_explain_has_in(const struct lab_explainer *ex, int slot);
const struct lab_shape *lab_explain_in_shape(const struct lab_explainer *ex,
                                             int slot);
const struct lab_shape *lab_explain_out_shape(const struct lab_explainer *ex,
                                              int slot);
const char *lab_explain_in_name(const struct lab_explainer *ex, int slot);
/* What is explained: the step, with op, node and params, and its plan. */
const struct lab_step *lab_explain_step(const struct lab_explainer *ex);
const struct lab_plan *lab_explain_plan(const struct lab_explainer *ex);
int64_t lab_explain_iteration(const struct lab_explainer *ex);
/* "x[n,3]" pieces: coordinates of a flat index, without brackets. */
const char *lab_explain_at(const struct lab_shape *shape, int64_t index,
                           char buf[LAB_SHAPE_TEXT]);
/* The same of its row, before an index of your own: "3," or "". */
const char *lab_explain_row(const struct lab_shape *shape, int64_t index,
                            char buf[LAB_SHAPE_TEXT]);

/* The right-hand side in symbols. */
void lab_explain_symbolic(struct lab_explainer *ex, const char *fmt, ...)
    LAB_PRINTF(2, 3);
/* Letters for that many axes: "n", "n,t", "n,h,t". */
const char *lab_explain_axes(int axes);
/* The right-hand side with numbers, for formulas that are not sums. */
void lab_explain_numeric(struct lab_explainer *ex, const char *fmt, ...)
    LAB_PRINTF(2, 3);
/* One term of the sum; then its sources with lab_explain_source(). */
/* Returns the LAB_TERM_TEXT bytes of its text; NULL: it is not kept. */
char *lab_explain_term(struct lab_explainer *ex, double value, const char *fmt,
                       ...) LAB_PRINTF(3, 4);
/* The formula given so far is the argument of this function, and the sum of the terms
 * its value: the element is value(sum, params). */
void lab_explain_through(struct lab_explainer *ex, const char *function,
                         double (*value)(double, const void *),
                         const void *params);
/* What a short name in the formula is: the element of an input; an output of
 * the same step, with the value of its element; what a persistent output held
 * before; or anything, "mhat = m / (1 - beta1^t) = 0.1". */
void lab_explain_let(struct lab_explainer *ex, const char *name, int slot,
                     int64_t index);
void lab_explain_let_out(struct lab_explainer *ex, const char *name, int slot,
                         int64_t index, double value);
void lab_explain_let_old(struct lab_explainer *ex, const char *name,
                         int out_slot, int64_t index);
void lab_explain_where(struct lab_explainer *ex, const char *fmt, ...)
    LAB_PRINTF(2, 3);
/* A number of this size is rounded on the way, and then subtracted from. */
void lab_explain_rounds(struct lab_explainer *ex, double size);
/* An element of an input that the value came from: of the last term, or of
 * the whole when there are no terms yet. */
void lab_explain_source(struct lab_explainer *ex, int slot, int64_t index);
/* The same of another output of the step, written just before. */
void lab_explain_source_out(struct lab_explainer *ex, int slot, int64_t index);
/* The value in double; without it the sum of the terms. */
void lab_explain_value(struct lab_explainer *ex, double value);
/* Nothing is computed; the text has the reason, and the value is the
 * tensor's. */
void lab_explain_as_shown(struct lab_explainer *ex, const char *fmt, ...)
    LAB_PRINTF(2, 3);
LAB_C_END
