/* print and explain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "debug/lesson_print.h"
#include "plain_priv.h"
#include "report/print.h"
#include "debug/step_text.h"
#include "base/format.h"

enum { MOST_ELEMENTS = 400, VALUE_COLUMNS = 10, TERMS = 8 };

/* What `print` was asked for: some coordinates fixed, some axes whole. */
struct slice {
    int tensor;
    struct lab_shape shape;
    int64_t at[LAB_MAX_RANK]; /* of the axes that are not whole */
    int whole[LAB_MAX_RANK];
    int n_whole;
};

enum lab_status lab_plain_tensor(struct lab_plain *p, const char *name,
                                 int *out)
{
    const struct lab_plan *plan = p->snap.plan;
    int id = lab_plan_tensor(plan, name);
    if (id >= 0) {
        *out = id;
        return LAB_OK;
    }
    const char **names =
        lab_alloc_array((size_t)plan->n_tensors, sizeof(*names));
    for (int i = 0; names && i < plan->n_tensors; i++)
        names[i] = plan->tensors[i].name;
    const char *near =
        names ? lab_nearest(name, names, (size_t)plan->n_tensors) : NULL;
    lab_free(names);
    if (near)
        return lab_fail(LAB_E_NOTFOUND, "no tensor '%s'; did you mean %s?",
                        name, near);
    return lab_fail(LAB_E_NOTFOUND, "no tensor '%s'; `list tensors` has them",
                    name);
}

static enum lab_status make_slice(struct lab_plain *p,
                                  const struct lab_ui_command *c,
                                  struct slice *out)
{
    char shape[LAB_SHAPE_TEXT];
    struct slice s = {.tensor = -1};
    enum lab_status st = lab_plain_tensor(p, c->arg, &s.tensor);
    if (st)
        return st;
    s.shape = p->snap.plan->tensors[s.tensor].shape;
    lab_shape_text(&s.shape, shape);
    if (c->index_count > s.shape.rank)
        return lab_fail(LAB_E_RANGE, "%s is %s: %d indices are too many",
                        c->arg, shape, c->index_count);
    for (int i = 0; i < s.shape.rank; i++) {
        int64_t dim = s.shape.dim[i];
        int64_t k = i < c->index_count ? c->index[i] : LAB_INDEX_ALL;
        if (k == LAB_INDEX_ALL) {
            s.whole[s.n_whole++] = i;
            continue;
        }
        if (k < -dim || k >= dim)
            return lab_fail(LAB_E_RANGE,
                            "%s is %s: index %lld of axis %d is outside",
                            c->arg, shape, (long long)k, i);
        s.at[i] = k < 0 ? k + dim : k;
    }
    *out = s;
    return LAB_OK;
}

static enum lab_status look(struct lab_plain *p, int tensor, int row_axis,
                            int col_axis, const int64_t *fixed)
{
    struct lab_command c = {.kind = LAB_DO_SHOW, .phase = -1};
    c.show = (struct lab_show){
        .tensor = tensor, .row_axis = row_axis, .col_axis = col_axis};
    memcpy(c.show.fixed, fixed, sizeof(c.show.fixed));
    enum lab_status st = lab_plain_run(p, &c);
    if (!st && p->snap.plane.tensor != tensor)
        st = lab_fail(LAB_E_NOMEM, "no memory to look at %s",
                      p->snap.plan->tensors[tensor].name);
    if (st == LAB_E_NOMEM)
        lab_print_lose();
    return st;
}

static void look_away(struct lab_plain *p)
{
    const struct lab_command c = {.kind = LAB_DO_SHOW, .show = {.tensor = -1}};
    lab_plain_run(p, &c);
}

/* A printed value is of the first iteration, a parameter's of its end. */
static bool comparable(const struct lab_plain *p, int tensor)
{
    const struct lab_snapshot *s = &p->snap;
    const struct lab_tensor *t = &s->plan->tensors[tensor];
    bool updated = !t->persistent || t->role == LAB_TENSOR_DATA;
    for (int i = 0; i < s->schedule->n_steps && !updated; i++) {
        const struct lab_step *step = s->schedule->steps[i].step;
        for (int k = 0; k < step->n_out; k++)
            updated = updated || (step->out[k] == tensor && s->steps[i].done);
    }
    return s->iteration == 0 && updated;
}

/* What course material prints of the tensor, or of its element `only` (-1: of
 * all that it prints), beside what was computed. */
static enum lab_status print_printed(struct lab_plain *p, int tensor,
                                     int64_t only)
{
    enum lab_status st = LAB_OK;
    bool now = comparable(p, tensor);
    for (int i = 0; i < p->spec.n_printed && now && !st; i++) {
        const struct lab_course_values_spec *spec = &p->spec.printed[i];
        const struct lab_tensor *t = &p->snap.plan->tensors[tensor];
        int64_t first = 0;
        if (strcmp(spec->tensor, t->name) != 0)
            continue;
        if (spec->at.rank == t->shape.rank && spec->at.rank > 0)
            first = lab_shape_ravel(&t->shape, spec->at.dim, spec->at.rank);
        for (int k = 0; k < spec->n_values && first >= 0 && !st; k++) {
            int64_t at[LAB_MAX_RANK] = {0};
            char text[LAB_SHAPE_TEXT];
            if (first + k >= t->count || (only >= 0 && only != first + k))
                continue;
            lab_shape_unravel(&t->shape, first + k, at);
            st = look(p, tensor, -1, -1, at);
            if (st || !p->snap.plane.written)
                continue;
            t = &p->snap.plan->tensors[tensor];
            double off = p->snap.plane.value[0] - spec->values[k];
            lab_printf(stdout,
                       "    %s[%s] = %.9g  printed %.9g, difference %+.2g",
                       t->name, lab_explain_at(&t->shape, first + k, text),
                       p->snap.plane.value[0], spec->values[k], off);
            if (!isnan(spec->tolerance))
                lab_printf(stdout, "%s",
                           fabs(off) <= spec->tolerance
                               ? ", within what was printed"
                               : ", OUTSIDE what was printed");
            lab_printf(stdout, "%s%s%s\n", spec->where ? "  (" : "",
                       spec->where ? spec->where : "", spec->where ? ")" : "");
        }
    }
    return st;
}

enum lab_status lab_plain_print_stats(struct lab_plain *p, int tensor)
{
    const int64_t first[LAB_MAX_RANK] = {0};
    enum lab_status st = look(p, tensor, -1, -1, first);
    if (!st)
        lab_step_text_stats(&p->snap.plan->tensors[tensor],
                            &p->snap.plane.stats, stdout);
    return st ? st : print_printed(p, tensor, -1);
}

/* "[3,0]" */
static void coordinates(const struct lab_shape *shape, const int64_t *at,
                        char out[LAB_SHAPE_TEXT])
{
    struct lab_shape as_shape = {.rank = shape->rank};
    memcpy(as_shape.dim, at, sizeof(as_shape.dim));
    lab_shape_text(&as_shape, out);
}

/* Behind "[3,0]" what the data has at that row, where it is known. */
static void add_symbol(char *text, size_t cap, const struct lab_label *label,
                       int64_t row)
{
    size_t n = strlen(text);
    if (label && label[row].symbol)
        snprintf(text + n, cap - n, " %s", label[row].text);
}

/* Columns that the longest symbol takes, with the space before it. */
static int symbol_room(const struct lab_label *label, int64_t n)
{
    size_t most = 0;
    for (int64_t i = 0; label && i < n; i++) {
        size_t len = label[i].symbol ? strlen(label[i].text) + 1 : 0;
        most = len > most ? len : most;
    }
    return (int)most;
}

/* What stands at the columns, before the rows. */
static void print_columns(const struct lab_plane *plane, int64_t cols)
{
    if (!plane->col_label || !plane->col_label[0].symbol)
        return;
    lab_printf(stdout, "  columns:");
    for (int64_t i = 0; i < cols; i++)
        lab_printf(stdout, " %s", plane->col_label[i].text);
    lab_printf(stdout, "\n");
}

/* Lines of as many values as fit, each behind its first one's coordinates. */
static void print_row(struct lab_plain *p, const struct slice *s, int64_t *at,
                      int64_t row, int64_t cols, int head)
{
    const struct lab_plane *plane = &p->snap.plane;
    int fit = (lab_lesson_columns() - head - 2) / (VALUE_COLUMNS + 1);
    int col_axis = plane->show.col_axis;
    if (fit < 1)
        fit = 1;
    for (int64_t c = 0; c < cols; c++) {
        char text[LAB_SHAPE_TEXT];
        char value[LAB_FORMAT_BYTES];
        if (c % fit == 0) {
            if (col_axis >= 0)
                at[col_axis] = c;
            coordinates(&s->shape, at, text);
            add_symbol(text, sizeof(text), plane->row_label, row);
            lab_printf(stdout, "%s  %-*s", c ? "\n" : "", head, text);
        }
        lab_printf(stdout, " %*s", VALUE_COLUMNS,
                   lab_format_value(plane->value[row * plane->cols + c],
                                    VALUE_COLUMNS, value, sizeof(value)));
    }
    lab_printf(stdout, "\n");
}

/* One plane; returns how many elements it printed. */
static int64_t print_plane(struct lab_plain *p, const struct slice *s,
                           int64_t room)
{
    const struct lab_plane *plane = &p->snap.plane;
    int64_t at[LAB_MAX_RANK];
    int64_t most[LAB_MAX_RANK];
    int64_t printed = 0;
    char text[LAB_SHAPE_TEXT];
    for (int i = 0; i < LAB_MAX_RANK; i++)
        most[i] = i < s->shape.rank ? s->shape.dim[i] - 1 : 0;
    coordinates(&s->shape, most, text);
    int head = (int)strlen(text) + symbol_room(plane->row_label, plane->rows);
    memcpy(at, plane->show.fixed, sizeof(at));
    print_columns(plane, plane->cols < room ? plane->cols : room);
    for (int64_t r = 0; r < plane->rows && printed < room; r++) {
        int64_t cols =
            plane->cols < room - printed ? plane->cols : room - printed;
        if (plane->show.row_axis >= 0)
            at[plane->show.row_axis] = r;
        print_row(p, s, at, r, cols, head);
        printed += cols;
    }
    return printed;
}

/* The next plane of a slice with more than two whole axes; false: no more. */
static bool advance(const struct slice *s, int64_t *at)
{
    for (int k = s->n_whole - 3; k >= 0; k--) {
        int axis = s->whole[k];
        if (++at[axis] < s->shape.dim[axis])
            return true;
        at[axis] = 0;
    }
    return false;
}

static enum lab_status print_slice(struct lab_plain *p, const struct slice *s)
{
    int row_axis = s->n_whole > 1 ? s->whole[s->n_whole - 2] : -1;
    int col_axis = s->n_whole > 0 ? s->whole[s->n_whole - 1] : -1;
    int64_t at[LAB_MAX_RANK];
    int64_t all = 1;
    int64_t printed = 0;
    enum lab_status st = LAB_OK;
    memcpy(at, s->at, sizeof(at));
    for (int k = 0; k < s->n_whole; k++)
        all *= s->shape.dim[s->whole[k]];
    do {
        st = look(p, s->tensor, row_axis, col_axis, at);
        if (!st)
            printed += print_plane(p, s, MOST_ELEMENTS - printed);
    } while (!st && printed < MOST_ELEMENTS && advance(s, at));
    if (!st && printed < all)
        lab_printf(stdout, "  ... %lld more; give indices for a part of them\n",
                   (long long)(all - printed));
    return st;
}

/* What no step has written has no values to print. */
static bool say_unwritten(struct lab_plain *p, int tensor)
{
    const struct lab_snapshot *snap = &p->snap;
    const char *name = snap->plan->tensors[tensor].name;
    if (snap->plane.written)
        return false;
    int hider = lab_schedule_hider(snap->schedule, snap->plan, tensor);
    if (hider < 0) {
        lab_printf(stdout, "%s has not been computed yet in this iteration\n",
                   name);
        return true;
    }
    const struct lab_schedule_step *s = &snap->schedule->steps[hider];
    lab_printf(
        stdout,
        "%s is not written: step %s, variant %s, computes it on its way; "
        "`variant %s naive` takes the step apart\n",
        name, s->step->name, s->variant->name,
        snap->plan->nodes[s->step->node].id);
    return true;
}

static enum lab_status print_element(struct lab_plain *p, const struct slice *s)
{
    char at[LAB_SHAPE_TEXT] = "";
    enum lab_status st = look(p, s->tensor, -1, -1, s->at);
    if (s->shape.rank > 0)
        coordinates(&s->shape, s->at, at);
    if (st || say_unwritten(p, s->tensor))
        return st;
    lab_printf(stdout, "%s%s = %.9g\n", p->snap.plan->tensors[s->tensor].name,
               at, p->snap.plane.value[0]);
    return print_printed(
        p, s->tensor,
        s->shape.rank ? lab_shape_ravel(&s->shape, s->at, s->shape.rank) : 0);
}

enum lab_status lab_plain_print_tensor(struct lab_plain *p,
                                       const struct lab_ui_command *c)
{
    struct slice s;
    enum lab_status st = make_slice(p, c, &s);
    if (st)
        return st;
    if (s.n_whole == 0) {
        st = print_element(p, &s);
    } else {
        st = look(p, s.tensor, -1, -1, s.at);
        if (!st && !say_unwritten(p, s.tensor)) {
            st = lab_plain_print_stats(p, s.tensor);
            if (!st)
                st = print_slice(p, &s);
        }
    }
    look_away(p);
    return st;
}

/* ---- explain ---- */

/* The elements that a term, or a formula that is no sum, came from. */
static void print_sources(struct lab_plain *p, const struct lab_term *t)
{
    for (int i = 0; i < t->n_sources; i++) {
        const struct lab_tensor *from =
            &p->snap.plan->tensors[t->source[i].tensor];
        char at[LAB_SHAPE_TEXT];
        lab_printf(stdout, "%s %s[%s]", i ? "," : " ", from->name,
                   lab_explain_at(&from->shape, t->source[i].index, at));
    }
    lab_printf(stdout, "\n");
}

static enum lab_status print_explanation(struct lab_plain *p)
{
    const struct lab_explanation *e = &p->snap.explanation;
    struct lab_str text;
    if (e->tensor < 0)
        return lab_fail(LAB_E_NOMEM, "no memory to explain that");
    lab_str_init(&text);
    lab_explanation_text(e, TERMS, &text);
    enum lab_status st = lab_read_paragraph(lab_str_text(&text), 2);
    lab_str_release(&text);
    bool sum = e->n_terms_all > 0;
    bool one = e->n_terms_all == 1;
    char which[48] = "Its";
    if (e->n_terms_all > TERMS)
        snprintf(which, sizeof(which), "The largest of %lld",
                 (long long)e->n_terms_all);
    else if (!one)
        snprintf(which, sizeof(which), "Its %lld", (long long)e->n_terms_all);
    if (sum)
        lab_printf(stdout, "  %s term%s, and where %s from:\n", which,
                   one ? "" : "s", one ? "it comes" : "they come");
    else if (e->n_terms > 0)
        lab_printf(stdout, "  from");
    for (int64_t i = 0; e->terms && i < e->n_terms && i < TERMS; i++) {
        if (sum)
            lab_printf(stdout, "    %-28s = %.7g", e->terms[i].text,
                       e->terms[i].value + 0.0);
        print_sources(p, &e->terms[i]);
    }
    if (e->unwritten)
        return st;
    lab_printf(
        stdout,
        "  In double precision %.9g, the tensor holds %.9g: they %s, %.2g "
        "apart; rounding allows %.2g.\n",
        e->value, e->shown, e->agrees ? "agree" : "DO NOT AGREE",
        e->value == e->shown ? 0 : fabs(e->value - e->shown), e->tolerance);
    return st;
}

enum lab_status lab_plain_explain(struct lab_plain *p,
                                  const struct lab_ui_command *c)
{
    struct slice s;
    enum lab_status st = make_slice(p, c, &s);
    if (st)
        return st;
    int64_t count = 1;
    for (int k = 0; k < s.n_whole; k++)
        count *= s.shape.dim[s.whole[k]];
    if (count > 1)
        return lab_fail(LAB_E_USAGE, "explain takes one element of %s: %s[%s]",
                        c->arg, c->arg,
                        s.shape.rank == 1   ? "I"
                        : s.shape.rank == 2 ? "I,J"
                                            : "I,J,...");
    struct lab_command ask = {.kind = LAB_DO_EXPLAIN, .phase = -1};
    ask.element.tensor = s.tensor;
    ask.element.index =
        s.shape.rank ? lab_shape_ravel(&s.shape, s.at, s.shape.rank) : 0;
    st = lab_plain_run(p, &ask);
    if (!st)
        st = print_explanation(p);
    if (!st && !p->snap.explanation.unwritten)
        st = print_printed(p, s.tensor, ask.element.index);
    ask.element.tensor = -1;
    lab_plain_run(p, &ask);
    return st;
}
