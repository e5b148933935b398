/* stepper_explain.c -- the pane that explains a number: its formula, its terms,
 * the largest first, and their sources. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/format.h"
#include "stepper_priv.h"

/* The pane that explains a number: its formula, the numbers put in, the terms
 * by size, and where each came from. */

enum { HANG = 2 };

static const char *element_name(const struct lab_stepper *v,
                                const struct lab_element *e, char *out,
                                size_t cap)
{
    const struct lab_tensor *t = &v->snap.plan->tensors[e->tensor];
    struct lab_shape place = {.rank = t->shape.rank};
    char text[LAB_SHAPE_TEXT];
    lab_shape_unravel(&t->shape, e->index, place.dim);
    snprintf(out, cap, "%s%s", t->name,
             place.rank ? lab_shape_text(&place, text) : "");
    return out;
}

static void add_value(struct lab_stepper *v, int columns)
{
    const struct lab_explanation *e = &v->snap.explanation;
    if (e->unwritten)
        return; /* what the memory holds is not a value of the tensor */
    struct lab_stepper_text *t = &v->lines;
    char line[256];
    bool both_nan = isnan(e->value) && isnan(e->shown);
    if (e->step < 0 || e->agrees || both_nan) {
        snprintf(line, sizeof(line), "= %.7g%s", e->shown,
                 e->cancels ? ", 0 but for rounding" : "");
        lab_stepper_text_wrap(t, LAB_ROLE_TITLE, line, columns, HANG);
        if (e->step < 0)
            return;
        snprintf(line, sizeof(line), "  (in double precision %.10g)", e->value);
        lab_stepper_text_add(t, LAB_ROLE_DIM, line);
        return;
    }
    snprintf(line, sizeof(line),
             "= %.7g on the screen, but %.10g in double precision: they differ "
             "by %.2g, more than %.1g",
             e->shown, e->value, fabs(e->shown - e->value), e->tolerance);
    lab_stepper_text_wrap(t, LAB_ROLE_BAD, line, columns, HANG);
}

static void add_printed(struct lab_stepper *v, int columns)
{
    const struct lab_explanation *e = &v->snap.explanation;
    const struct lab_course_values_spec *p;
    double printed;
    char line[512];
    if (e->unwritten ||
        !lab_stepper_printed(v, e->tensor, e->index, &printed, &p))
        return;
    double off = e->shown - printed;
    bool claimed = !isnan(p->tolerance);
    bool fits = fabs(off) <= p->tolerance;
    snprintf(line, sizeof(line), "printed %.8g, difference %+.2g%s%s%s%s%s%s",
             printed, off,
             !claimed ? ""
             : fits   ? ", within what was printed"
                      : ", OUTSIDE what was printed",
             p->where ? " (" : "", p->where ? p->where : "",
             p->where ? ")" : "", p->note ? ": " : "", p->note ? p->note : "");
    lab_stepper_text_wrap(&v->lines,
                          fits || !claimed ? LAB_ROLE_GOOD : LAB_ROLE_WARN,
                          line, columns, HANG);
}

/* A term, its value, and the elements it came from; the chosen source in
 * brackets. Returns whether the line is the chosen one. */
static void add_term(struct lab_stepper *v, int k, bool silent)
{
    const struct lab_term *term = &v->snap.explanation.terms[k];
    struct lab_stepper_text *t = &v->lines;
    char line[256];
    char value[LAB_FORMAT_BYTES];
    lab_stepper_text_line(t);
    lab_format_value(term->value, 9, value, sizeof(value));
    if (!silent) {
        bool same = strcmp(term->text, value) == 0;
        snprintf(line, sizeof(line), "%c %9s", term->value < 0 ? '-' : '+',
                 value[0] == '-' ? value + 1 : value);
        lab_stepper_text_add(t, LAB_ROLE_NORMAL, line);
        snprintf(line, sizeof(line), "  %s%s", same ? "" : "= ",
                 same ? "" : term->text);
        lab_stepper_text_add(t, LAB_ROLE_FORMULA, line);
    }
    lab_stepper_text_add(t, LAB_ROLE_DIM, silent ? "from " : "  from ");
    for (int i = 0; i < term->n_sources; i++) {
        char name[160];
        bool chosen = k == v->term && i == v->source;
        element_name(v, &term->source[i], name, sizeof(name));
        snprintf(line, sizeof(line), chosen ? "[%s]" : " %s ", name);
        lab_stepper_text_add(t, LAB_ROLE_MARK, line);
    }
}

static void add_terms(struct lab_stepper *v, int columns, int64_t *chosen)
{
    const struct lab_explanation *e = &v->snap.explanation;
    struct lab_stepper_text *t = &v->lines;
    bool silent = e->n_terms_all == 0;
    char line[160];
    if (!silent && e->n_terms_all > 1) {
        snprintf(line, sizeof(line),
                 "%lld terms, largest first:", (long long)e->n_terms_all);
        lab_stepper_text_wrap(t, LAB_ROLE_DIM, line, columns, 0);
    }
    v->first_term = (int64_t)t->line_count;
    for (int64_t k = 0; k < e->n_terms; k++) {
        if (k == v->term)
            *chosen = (int64_t)t->line_count;
        add_term(v, (int)k, silent);
    }
    if (e->n_terms_all > e->n_terms) {
        snprintf(line, sizeof(line), "and %lld smaller ones, together %.6g",
                 (long long)(e->n_terms_all - e->n_terms), e->rest);
        lab_stepper_text_wrap(t, LAB_ROLE_DIM, line, columns, 0);
    }
}

static void write_lines(struct lab_stepper *v, int columns, int64_t *chosen)
{
    const struct lab_explanation *e = &v->snap.explanation;
    struct lab_stepper_text *t = &v->lines;
    struct lab_str head;
    lab_stepper_text_clear(t);
    lab_str_init(&head);
    lab_str_add(&head, e->name ? e->name : "?");
    if (e->symbolic && e->symbolic[0])
        lab_str_addf(&head, " = %s", e->symbolic);
    lab_stepper_text_wrap(t, LAB_ROLE_FORMULA, lab_str_text(&head), columns,
                          HANG);
    if (e->numeric && e->numeric[0]) {
        lab_str_clear(&head);
        lab_str_addf(&head, "= %s", e->numeric);
        lab_stepper_text_wrap(t, LAB_ROLE_NORMAL, lab_str_text(&head), columns,
                              HANG);
    }
    add_value(v, columns);
    if (e->where) {
        lab_str_clear(&head);
        lab_str_addf(&head, "where %s", e->where);
        lab_stepper_text_wrap(t, LAB_ROLE_DIM, lab_str_text(&head), columns,
                              HANG);
    }
    lab_str_release(&head);
    add_printed(v, columns);
    if (e->n_terms > 0)
        add_terms(v, columns, chosen);
}

static void add_checks(struct lab_stepper *v, int columns)
{
    for (int i = 0; i < v->snap.n_checks; i++) {
        const struct lab_check_result *k = &v->snap.checks[i];
        char line[512];
        snprintf(line, sizeof(line),
                 "gradient check of %s: %s. %lld elements against central "
                 "differences; the worst, element %lld, is %.6g here and %.6g "
                 "by differences (relative error %.1e).%s",
                 k->parameter, k->passed ? "agrees" : "DISAGREES",
                 (long long)k->elements, (long long)k->worst, k->analytic,
                 k->numeric, k->max_error,
                 k->corners ? " Where the loss has a corner the gradient lies "
                              "between its two slopes."
                            : "");
        lab_stepper_text_wrap(&v->lines,
                              k->passed ? LAB_ROLE_GOOD : LAB_ROLE_BAD, line,
                              columns, HANG);
    }
}

void lab_stepper_draw_explain(struct lab_stepper *v, struct lab_canvas *c,
                              struct lab_rect r)
{
    const struct lab_explanation *e = &v->snap.explanation;
    int64_t chosen = -1;
    v->explain_at = r;
    v->first_term = -1;
    if (e->tensor < 0) {
        const char *why =
            v->snap.state == LAB_SESSION_TRAINING
                ? "Numbers are not explained while training: they change too "
                  "fast. The explanation is back when it stops."
                : "Point at a number in the tensor (2, then the arrows) to see "
                  "where it comes from.";
        lab_stepper_text_clear(&v->lines);
        lab_stepper_text_wrap(&v->lines, LAB_ROLE_DIM, why, r.w - 2, 0);
    } else {
        write_lines(v, r.w - 2, &chosen);
    }
    add_checks(v, r.w - 2);
    bool focused = v->focus == LAB_PANE_EXPLAIN;
    if (focused && v->term == 0 && chosen >= 0 && chosen < r.h)
        v->top[LAB_PANE_EXPLAIN] = 0; /* the formula stays in sight */
    lab_stepper_draw_lines(c, r, &v->lines, &v->top[LAB_PANE_EXPLAIN],
                           focused ? chosen : -1, focused);
}

/* ---- keys ---- */

static void jump_to_source(struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    if (v->term >= e->n_terms || v->source >= e->terms[v->term].n_sources) {
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "this number comes from no other element");
        return;
    }
    lab_stepper_goto_element(v, e->terms[v->term].source[v->source]);
    v->pinned = true;
    lab_stepper_mark_sources(v);
    lab_stepper_focus(v, LAB_PANE_TENSOR);
    lab_ui_message(v->ui, LAB_ROLE_DIM,
                   "an input of %s (y: back to it, e: explain this)",
                   e->name ? e->name : "the number");
}

static void choose_term(struct lab_stepper *v, int64_t term)
{
    int64_t n = v->snap.explanation.n_terms;
    term = term < 0 ? 0 : term >= n ? n - 1 : term;
    v->term = term < 0 ? 0 : (int)term;
    v->source = 0;
}

void lab_stepper_click_explain(struct lab_stepper *v, int y, int x)
{
    int64_t term =
        v->top[LAB_PANE_EXPLAIN] + y - v->explain_at.y - v->first_term;
    if (v->first_term < 0 || !lab_rect_has(v->explain_at, y, x) || term < 0 ||
        term >= v->snap.explanation.n_terms)
        return;
    if (term == v->term)
        jump_to_source(v);
    else
        choose_term(v, term);
}

bool lab_stepper_explain_action(struct lab_stepper *v, int action)
{
    const struct lab_explanation *e = &v->snap.explanation;
    int64_t page = v->view_h[LAB_PANE_EXPLAIN];
    if (e->tensor < 0 || e->n_terms < 1)
        return false;
    int sources = e->terms[v->term].n_sources;
    switch (action) {
    case LAB_ACT_UP:
        choose_term(v, v->term - 1);
        return true;
    case LAB_ACT_DOWN:
        choose_term(v, v->term + 1);
        return true;
    case LAB_ACT_PAGE_UP:
        choose_term(v, v->term - page);
        return true;
    case LAB_ACT_PAGE_DOWN:
        choose_term(v, v->term + page);
        return true;
    case LAB_ACT_FIRST:
        choose_term(v, 0);
        return true;
    case LAB_ACT_LAST:
        choose_term(v, e->n_terms - 1);
        return true;
    case LAB_ACT_LEFT:
        v->source = v->source > 0 ? v->source - 1 : 0;
        return true;
    case LAB_ACT_RIGHT:
        v->source = v->source + 1 < sources ? v->source + 1 : v->source;
        return true;
    case LAB_ACT_OPEN:
        jump_to_source(v);
        return true;
    default:
        return false;
    }
}
