/* plain.c -- the stepper as lines of text, for pipes and screen readers: the session,
 * the lines that are read, what each command does, and what is printed. */
#include "debug/plain.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "engine/setup.h"
#include "report/print.h"
#include "debug/step_print.h"
#include "base/format.h"
#include "debug/lesson_print.h"
#include "report/text_table.h"
#include "report/advise.h"
#include "report/counters_text.h"
#include "report/exit.h"
#include "report/suggest.h"
#include "debug/progress.h"
#include "engine/session.h"
#include "debug/debugger.h"
#include "debug/kernel_text.h"
#include "debug/kernel_walk.h"
#include "debug/lesson_run.h"

enum { LINE_BYTES = 4096 };

struct input {
    char bytes[LINE_BYTES];
    size_t used;
    bool ended;
    int error;     /* errno of the read that ended it; 0: none */
    bool skipping; /* the rest of a line that was too long */
};

struct lab_plain {
    struct input input;
    struct lab_lesson_run run;
    struct lab_snapshot snap; /* after the last command */
    struct lab_lesson_reader reader;
    struct lab_ui_command last; /* what an empty line repeats */
    bool interactive;           /* standard input is a terminal */
    int64_t last_exec;          /* executions that have been shown */
    int64_t trained_to;         /* iteration up to which progress was printed */
    int64_t progress_ns;        /* when, of the monotonic clock */
    int64_t walked; /* most steps of an iteration that were walked */
    bool trained;   /* as long as the lesson asks for */
    bool leaving;
    int signal;   /* that ends the session, 0: none */
    bool opening; /* the session starts: INT ends the program, too */
};

/* ---- progress of a training, or of a check ---- */

static const int64_t progress_every_ns = 5000000000;

static double accuracy_between(const struct lab_curve *c, int64_t after,
                               int64_t to)
{
    double found = NAN;
    for (int i = 0; i < c->n; i++) {
        if (c->iteration[i] > after && c->iteration[i] <= to)
            found = c->value[i];
    }
    return found;
}

/* A line for each epoch that has ended, or for each tenth of the way. */
static bool print_ended(struct lab_plain *p, const struct lab_snapshot *s)
{
    int64_t tenth = s->train_target / 10 > 0 ? s->train_target / 10 : 1;
    bool epochs = s->iterations_per_epoch > 0;
    int64_t unit = epochs ? s->iterations_per_epoch : tenth;
    bool any = false;
    for (int i = 0; i < s->losses.n; i++) {
        int64_t at = s->losses.iteration[i];
        if (at <= p->trained_to ||
            (at + 1) / unit <= (p->trained_to + 1) / unit)
            continue;
        double right = accuracy_between(&s->accuracies, p->trained_to, at);
        lab_printf(stdout, "%s %lld  loss %s", epochs ? "epoch" : "iteration",
                   (long long)(epochs ? (at + 1) / unit : at + 1),
                   LAB_DIGITS_TEXT(s->losses.value[i], 6));
        if (!isnan(right))
            lab_printf(stdout, "  validation accuracy %.2f %%", 100 * right);
        lab_printf(stdout, "\n");
        p->trained_to = at;
        any = true;
    }
    return any;
}

/* A long check is not a silent one. */
static void report_checked(struct lab_plain *p, const struct lab_snapshot *s)
{
    int64_t now = lab_clock_monotonic_ns();
    if (p->progress_ns == 0 || now - p->progress_ns < progress_every_ns) {
        p->progress_ns = p->progress_ns ? p->progress_ns : now;
        return;
    }
    p->progress_ns = now;
    lab_printf(stdout, "compared %lld of %lld elements\n",
               (long long)s->check_done, (long long)s->check_of);
    fflush(stdout);
}

static void plain_print_progress(struct lab_plain *p,
                                 const struct lab_snapshot *s)
{
    char text[96];
    int64_t now = lab_clock_monotonic_ns();
    if (s->state == LAB_SESSION_CHECKING && s->check_of > 0)
        report_checked(p, s);
    if (s->state != LAB_SESSION_TRAINING)
        return;
    if (p->progress_ns == 0 || print_ended(p, s)) {
        p->progress_ns = now;
    } else if (now - p->progress_ns > progress_every_ns &&
               s->samples_per_s > 0) {
        double taken =
            (double)(s->train_done * s->plan->batch) * 1e9 / s->samples_per_s;
        lab_printf(stdout, "%s\n",
                   lab_format_progress(s->train_done, s->train_target,
                                       (int64_t)taken, "it", text,
                                       sizeof(text)));
        p->progress_ns = now;
    }
    fflush(stdout);
}

/* ---- asking the session ---- */

enum { TICK_NS = 50000000, SHORT_NS = 5000000 };

static void refresh(struct lab_plain *p)
{
    struct lab_snapshot next;
    if (lab_session_snapshot(p->run.session, &next)) {
        lab_print_lose(); /* no memory: the old one stays */
        return;
    }
    lab_snapshot_release(&p->snap);
    p->snap = next;
}

static void plain_wait(struct lab_plain *p, bool training)
{
    const struct lab_command stop = {.kind = LAB_DO_STOP};
    bool stopping = false;
    while (lab_session_wait(p->run.session, TICK_NS) == LAB_E_CANCELLED) {
        int number = lab_signals_take();
        stopping = stopping || number != 0 || lab_signals_reader_gone();
        if (number && (number != SIGINT || p->opening))
            p->signal = number;
        if (p->signal)
            lab_session_end(p->run.session);
        else if (stopping) /* again and again: it may not have begun yet */
            lab_session_post(p->run.session, &stop);
        struct lab_snapshot now;
        if (!training || lab_session_snapshot(p->run.session, &now))
            continue;
        plain_print_progress(p, &now);
        lab_snapshot_release(&now);
    }
    refresh(p);
}

/* What the session's last command failed with. */
static enum lab_status session_error(const struct lab_plain *p)
{
    return p->snap.error_code
               ? lab_fail_id(p->snap.error_code, p->snap.error_id, "%s",
                             p->snap.error)
               : LAB_OK;
}

static enum lab_status plain_run(struct lab_plain *p,
                                 const struct lab_command *c)
{
    enum lab_status st = lab_session_post(p->run.session, c);
    if (st)
        return st;
    plain_wait(p, c->kind == LAB_DO_TRAIN);
    return session_error(p);
}

/* ---- where ---- */

/* False: none. */
static bool print_notes_from(const char *notice)
{
    if (notice[0])
        lab_printf(stdout, "note: %s%s", notice,
                   notice[strlen(notice) - 1] == '\n' ? "" : "\n");
    return notice[0];
}

/* Without the line that there is no GPU: print_badge() has it. */
static bool print_notes(const struct lab_plain *p)
{
    return print_notes_from(lab_setup_notice_rest(p->snap.notice));
}

static void print_badge(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    bool fell_back = strcmp(p->run.options->backend, "auto") == 0 &&
                     strcmp(s->backend, "cuda") != 0;
    lab_step_text_machine(
        p->run.options, s->backend, s->device.name,
        fell_back ? ", no GPU (`lapenna-lab doctor` shows why)" : "", s->plan,
        s->schedule);
    print_notes(p);
}

static void plain_print_where(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    if (s->position >= s->schedule->n_steps) {
        lab_printf(stdout,
                   "Iteration %lld is done, loss %s. `step` begins the next "
                   "one.\n",
                   (long long)s->iteration, LAB_DIGITS_TEXT(s->loss, 9));
        return;
    }
    const struct lab_schedule_step *next = &s->schedule->steps[s->position];
    lab_printf(stdout, "Next: %d. %s  (%s, %s), iteration %lld\n",
               s->position + 1, next->step->name,
               lab_phase_name(next->step->phase), next->variant->name,
               (long long)s->iteration);
}

/* ---- looking at a tensor ---- */

static enum lab_status look(struct lab_plain *p, int tensor, int row_axis,
                            int col_axis, const int64_t *fixed)
{
    struct lab_command c = {.kind = LAB_DO_SHOW, .phase = -1};
    c.show = (struct lab_show){
        .tensor = tensor, .row_axis = row_axis, .col_axis = col_axis};
    memcpy(c.show.fixed, fixed, sizeof(c.show.fixed));
    enum lab_status st = plain_run(p, &c);
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
    plain_run(p, &c);
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
    return s->iteration == 0 && !s->given && updated;
}

/* What course material prints of the tensor, or of its element `only` (-1: of
 * all that it prints), beside what was computed. */
static enum lab_status print_printed(struct lab_plain *p, int tensor,
                                     int64_t only)
{
    enum lab_status st = LAB_OK;
    bool now = comparable(p, tensor);
    for (int i = 0; i < p->run.spec.n_printed && now && !st; i++) {
        const struct lab_course_values_spec *spec = &p->run.spec.printed[i];
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
                       "    %s[%s] = %s  printed %.9g, difference %+.2g",
                       t->name, lab_explain_at(&t->shape, first + k, text),
                       LAB_DIGITS_TEXT(p->snap.plane.value[0], 9),
                       spec->values[k], off);
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

static enum lab_status print_stats(struct lab_plain *p, int tensor)
{
    const int64_t first[LAB_MAX_RANK] = {0};
    enum lab_status st = look(p, tensor, -1, -1, first);
    if (!st)
        lab_step_text_stats(&p->snap.plan->tensors[tensor],
                            &p->snap.plane.stats);
    return st ? st : print_printed(p, tensor, -1);
}

/* ---- moves ---- */

enum { MOST_LINES = 40 };

static void plain_forget_moves(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    for (int i = 0; i < s->schedule->n_steps; i++) {
        if (s->steps[i].exec > p->last_exec)
            p->last_exec = s->steps[i].exec;
    }
}

static int64_t time_of(struct lab_plain *p, int index)
{
    const struct lab_step_status *st = &p->snap.steps[index];
    return lab_step_text_time(lab_recording_live(p->run.recording), index,
                              st->exec, st->time_ns);
}

static void print_brief(struct lab_plain *p, int index)
{
    const struct lab_schedule_step *s = &p->snap.schedule->steps[index];
    lab_printf(stdout, "%d. %s  (%s, %s)  %s\n", index + 1, s->step->name,
               lab_phase_name(s->step->phase), s->variant->name,
               LAB_NS_TEXT(lab_to_real(time_of(p, index))));
}

static void print_whole(struct lab_plain *p, int index)
{
    /* Looking at tensors makes new snapshots: keep what is needed. */
    struct lab_schedule *schedule = lab_schedule_retain(p->snap.schedule);
    const struct lab_schedule_step *s = &schedule->steps[index];
    int64_t exec = p->snap.steps[index].exec;
    lab_step_text_head(s, index, time_of(p, index),
                       lab_recording_live(p->run.recording), exec);
    for (int i = 0; i < s->step->n_out; i++) {
        if (s->step->out[i] >= 0)
            print_stats(p, s->step->out[i]);
    }
    look_away(p);
    if (s->step->node >= 0)
        lab_read_step(&p->reader, s->step->name,
                      p->snap.plan->nodes[s->step->node].id, s->step->phase);
    lab_schedule_release(schedule);
}

static void plain_print_move(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    int ran = 0;
    int last = -1;
    for (int i = 0; i < s->schedule->n_steps; i++) {
        if (s->steps[i].exec <= p->last_exec || !s->steps[i].done)
            continue;
        ran++;
        last = i;
    }
    int left_out = ran > MOST_LINES ? ran - MOST_LINES : 0;
    if (left_out)
        lab_printf(stdout, "%d steps, and then:\n", left_out);
    int seen = 0;
    for (int i = 0; i < last; i++) {
        if (s->steps[i].exec > p->last_exec && s->steps[i].done &&
            seen++ >= left_out)
            print_brief(p, i);
    }
    char reason[LAB_SESSION_TEXT];
    snprintf(reason, sizeof(reason), "%s", s->stop_reason);
    plain_forget_moves(p);
    if (ran > 1)
        lab_printf(stdout, "\n");
    if (last >= 0)
        print_whole(p, last);
    if (last >= 0)
        lab_printf(stdout, "\n");
    if (reason[0] && p->snap.position < p->snap.schedule->n_steps)
        lab_printf(stdout, "Stopped: %s\n", reason);
    plain_print_where(p);
}

/* ---- training ---- */

static void plain_print_trained(struct lab_plain *p)
{
    const struct lab_snapshot *s = &p->snap;
    bool ran = s->position > 0; /* or it went back to a file's network */
    print_ended(p, s);
    lab_printf(stdout, "%s", s->stop_reason);
    if (ran)
        lab_printf(stdout, ": loss %s", LAB_DIGITS_TEXT(s->loss, 6));
    if (!isnan(s->accuracy))
        lab_printf(stdout, "%svalidation accuracy %.2f %% of %s",
                   ran ? ", " : ": ", 100 * s->accuracy,
                   s->text ? "characters" : "rows");
    if (!isnan(s->test_accuracy))
        lab_printf(stdout, ", %.2f %% of the test rows",
                   100 * s->test_accuracy);
    if (!isnan(s->bits_per_char))
        lab_printf(
            stdout,
            ", %.4f bits a character (counting what follows three: %.4f)",
            s->bits_per_char, s->bits_order3);
    if (!isnan(s->step_ms_median))
        lab_printf(stdout, ", %s an iteration (median)",
                   LAB_NS_TEXT(s->step_ms_median * 1e6));
    lab_printf(stdout, "\n");
    plain_print_where(p);
}

/* ---- tensors ---- */

enum { MOST_ELEMENTS = 400, VALUE_COLUMNS = 10, TERMS = 8 };

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

/* The symbols of the columns, before the rows. */
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
static void print_row(struct lab_plain *p, const struct lab_tensor_part *s,
                      int64_t *at, int64_t row, int64_t cols, int head)
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
static int64_t print_plane(struct lab_plain *p, const struct lab_tensor_part *s,
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
static bool advance(const struct lab_tensor_part *s, int64_t *at)
{
    for (int k = s->n_whole - 3; k >= 0; k--) {
        int axis = s->whole[k];
        if (++at[axis] < s->shape.dim[axis])
            return true;
        at[axis] = 0;
    }
    return false;
}

static enum lab_status print_slice(struct lab_plain *p,
                                   const struct lab_tensor_part *s)
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
static bool report_unwritten(struct lab_plain *p, int tensor)
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

static enum lab_status print_element(struct lab_plain *p,
                                     const struct lab_tensor_part *s)
{
    char at[LAB_SHAPE_TEXT] = "";
    enum lab_status st = look(p, s->tensor, -1, -1, s->at);
    if (s->shape.rank > 0)
        coordinates(&s->shape, s->at, at);
    if (st || report_unwritten(p, s->tensor))
        return st;
    lab_printf(stdout, "%s%s = %s\n", p->snap.plan->tensors[s->tensor].name, at,
               LAB_DIGITS_TEXT(p->snap.plane.value[0], 9));
    return print_printed(
        p, s->tensor,
        s->shape.rank ? lab_shape_ravel(&s->shape, s->at, s->shape.rank) : 0);
}

static enum lab_status plain_print_tensor(struct lab_plain *p,
                                          const struct lab_ui_command *c)
{
    struct lab_tensor_part s;
    enum lab_status st = lab_debugger_part(&p->snap, c, &s);
    if (st)
        return st;
    if (s.n_whole == 0) {
        st = print_element(p, &s);
    } else {
        st = look(p, s.tensor, -1, -1, s.at);
        if (!st && !report_unwritten(p, s.tensor)) {
            st = print_stats(p, s.tensor);
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
    enum lab_status st = lab_lesson_put_paragraph(lab_str_text(&text), 2);
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
            lab_printf(stdout, "    %-28s = %s", e->terms[i].text,
                       LAB_DIGITS_TEXT(e->terms[i].value + 0.0, 7));
        print_sources(p, &e->terms[i]);
    }
    if (e->unwritten)
        return st;
    lab_printf(stdout,
               "  In double precision %s, the tensor holds %s: they %s, %.2g "
               "apart; rounding allows %.2g.\n",
               LAB_DIGITS_TEXT(e->value, 9), LAB_DIGITS_TEXT(e->shown, 9),
               e->agrees ? "agree" : "DO NOT AGREE",
               e->value == e->shown ? 0 : fabs(e->value - e->shown),
               e->tolerance);
    return st;
}

static enum lab_status plain_explain(struct lab_plain *p,
                                     const struct lab_ui_command *c)
{
    struct lab_tensor_part s;
    enum lab_status st = lab_debugger_part(&p->snap, c, &s);
    if (st)
        return st;
    int64_t count = 1;
    for (int k = 0; k < s.n_whole; k++)
        count *= s.shape.dim[s.whole[k]];
    if (count > 1)
        return lab_fail(
            LAB_E_USAGE,
            "[plain.explain] explain takes one element of %s: %s[%s]", c->arg,
            c->arg,
            s.shape.rank == 1   ? "I"
            : s.shape.rank == 2 ? "I,J"
                                : "I,J,...");
    struct lab_command ask = {.kind = LAB_DO_EXPLAIN, .phase = -1};
    ask.element.tensor = s.tensor;
    ask.element.index =
        s.shape.rank ? lab_shape_ravel(&s.shape, s.at, s.shape.rank) : 0;
    st = plain_run(p, &ask);
    if (!st)
        st = print_explanation(p);
    if (!st && !p->snap.explanation.unwritten)
        st = print_printed(p, s.tensor, ask.element.index);
    ask.element.tensor = -1;
    plain_run(p, &ask);
    return st;
}

/* ---- lists, help, checks ---- */

static enum lab_status put_table(struct lab_text_table *t)
{
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = lab_text_table_format(t, &text);
    if (!st)
        lab_print_lines(&text);
    lab_str_release(&text);
    return st;
}

static int candidates(void *session, int node,
                      const struct lab_schedule_step *at,
                      struct lab_candidate *out, int max)
{
    return lab_session_candidates(session, node, at, out, max);
}

static enum lab_status plain_list(struct lab_plain *p, const char *what)
{
    struct lab_str text;
    const char *title;
    if (what[0] == 'n' && strncmp("notes", what, strlen(what)) == 0 &&
        print_notes(p))
        return LAB_OK;
    lab_str_init(&text);
    enum lab_status st = lab_debugger_list(&p->snap, what, candidates,
                                           p->run.session, &title, &text);
    if (!st)
        lab_print_lines(&text);
    lab_str_release(&text);
    return st;
}

static enum lab_status plain_variants(struct lab_plain *p, const char *node)
{
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = lab_debugger_variants(&p->snap, node, candidates,
                                               p->run.session, &text);
    if (!st)
        lab_print_lines(&text);
    lab_str_release(&text);
    return st;
}

static void report_word(const struct lab_ui_command_word *w)
{
    lab_printf(stdout, "  %s\n      %s\n", w->usage, w->help);
}

static enum lab_status plain_help(const char *word)
{
    size_t n;
    const struct lab_ui_command_word *words = lab_ui_command_words(&n);
    struct lab_ui_command c;
    enum lab_ui_command_kind kind = LAB_COMMAND_NONE;
    if (word[0]) {
        for (size_t i = 0; i < n; i++) {
            if (strcmp(words[i].word, word) == 0)
                kind = words[i].kind;
        }
        /* A shortened word, where the parser can tell which. */
        if (!kind && lab_ui_command_parse(word, &c) == LAB_OK)
            kind = c.kind;
        if (!kind)
            return lab_fail(
                LAB_E_PARSE,
                "[plain.command] no command \"%s\"; `help` lists them", word);
    }
    for (size_t i = 0; i < n; i++) {
        if (words[i].help && (!kind || words[i].kind == kind))
            report_word(&words[i]);
    }
    if (!kind)
        lab_printf(
            stdout,
            "\nA word may be shortened as far as it is clear; s, n, c, b, "
            "p and q are\nwhat they are in gdb. An empty line on a "
            "terminal repeats a move. A line that\nbegins with # is a "
            "comment. `check all` checks every parameter. Ctrl-C\nstops "
            "a training, not the program.\n");
    return LAB_OK;
}

static enum lab_status plain_print_checks(struct lab_plain *p)
{
    static const char *const heads[] = {
        "parameter", ">compared",  ">of",       ">max error", ">tolerance",
        "worst at",  ">numerical", ">gradient", "",           NULL};
    const struct lab_snapshot *s = &p->snap;
    struct lab_text_table t;
    bool walked = false;
    int64_t corners = 0;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < s->n_checks; i++) {
        const struct lab_check_result *c = &s->checks[i];
        int id = lab_plan_tensor(s->plan, c->parameter);
        char at[LAB_SHAPE_TEXT] = "";
        if (id >= 0)
            lab_explain_at(&s->plan->tensors[id].shape, c->worst, at);
        lab_text_table_add(&t, c->parameter);
        lab_text_table_add_int(&t, c->elements);
        lab_text_table_add_int(&t, c->of);
        lab_text_table_add_real(&t, c->max_error, 3);
        lab_text_table_add_real(&t, c->tolerance, 3);
        lab_text_table_addf(&t, "[%s]", at);
        lab_text_table_add_real(&t, c->numeric, 7);
        lab_text_table_add_real(&t, c->analytic, 7);
        lab_text_table_add(&t, c->passed ? "ok" : "WRONG");
        walked = walked || c->from_walk;
        corners += c->corners;
    }
    enum lab_status st = put_table(&t);
    if (!st)
        lab_printf(stdout,
                   "%s against central differences of the loss in double\n",
                   walked ? "the gradient of this iteration"
                          : "the backward pass in double");
    if (!st && corners > 0)
        lab_printf(
            stdout,
            "%lld elements are at a corner of the loss (a relu at "
            "exactly 0, a tie), where any number between the two slopes is "
            "a gradient\n",
            (long long)corners);
    return st;
}

/* ---- counters: a block of lines for each kernel ---- */

static void print_line(void *user, const char *name, const char *text)
{
    (void)user;
    lab_printf(stdout, "    %-10s %s\n", name, text);
}

static void print_advice(void *user, const char *text)
{
    print_line(user, "advice", text);
}

static void print_step(struct lab_plain *p, int index)
{
    const struct lab_schedule_step *s = &p->snap.schedule->steps[index];
    struct lab_live *live = lab_recording_live(p->run.recording);
    int64_t exec = p->snap.steps[index].exec;
    struct lab_counters c;
    struct lab_kernel_record k;
    size_t kernels = lab_live_kernels(live, exec, &k, 1);
    for (int64_t i = 0; lab_live_counters(live, exec, i, &c); i++) {
        bool alone = kernels == 1;
        struct lab_counters_beside beside = {
            .occupancy_pct = alone ? k.occupancy_pct : NAN,
            .flop = alone ? s->step->flop : NAN,
            .bytes = alone ? s->step->bytes : NAN,
            .update = s->step->phase == LAB_UPDATE};
        lab_printf(stdout, "  %s, %s, kernel %lld\n", s->step->name,
                   lab_phase_name(s->step->phase), (long long)i + 1);
        lab_counters_lines(&c, &beside, print_line, NULL);
        lab_advise_kernel(live, &p->snap, index, (int)i, print_advice, NULL);
    }
}

static void plain_print_counters(struct lab_plain *p)
{
    for (int i = 0; i < p->snap.position; i++)
        print_step(p, i);
}

static void complain(void)
{
    fflush(stdout); /* the error comes after what led to it */
    lab_warn("%s", lab_error());
}

/* ---- commands ---- */

/* What the session is asked for; LAB_E_NOTFOUND: a name in it is none. */
static enum lab_status session_command(const struct lab_plain *p,
                                       const struct lab_ui_command *from,
                                       struct lab_command *out)
{
    int position = p->snap.position;
    int here = from->kind == LAB_COMMAND_COUNT        ? position - 1
               : position < p->snap.schedule->n_steps ? position
                                                      : 0;
    return lab_debugger_command(&p->snap, from, here, out);
}

/* A finding of the simulator's checks is a stop. */
static void show_found(void)
{
    struct lab_str text;
    struct lab_kernel_goal goal;
    lab_str_init(&text);
    if (lab_kernel_found(&text, &goal)) {
        lab_lesson_put_paragraph(lab_str_text(&text), 2);
        lab_str_clear(&text);
        lab_kernel_way_add(&text, &goal);
        lab_lesson_put_paragraph(lab_str_text(&text), 2);
    }
    lab_str_release(&text);
}

/* What ran before a move failed is worth showing, too. */
static void show_move(struct lab_plain *p, int64_t iteration,
                      enum lab_status st)
{
    if (st)
        complain();
    if (st == LAB_E_CHECK)
        show_found();
    int64_t walked = p->snap.iteration > iteration ? p->snap.schedule->n_steps
                                                   : p->snap.position;
    p->walked = walked > p->walked ? walked : p->walked;
    plain_print_move(p);
}

static void show_restart(struct lab_plain *p, const struct lab_command *c)
{
    if (c->lr > 0)
        lab_printf(stdout, "At the start again, learning rate %g.\n",
                   p->snap.lr);
    else if (c->text[0])
        lab_printf(stdout, "At the start again, with the parameters of %s.\n",
                   c->text);
    else
        lab_printf(stdout, "At the start again, seed %llu.\n",
                   (unsigned long long)p->snap.plan->seed);
    plain_print_where(p);
}

/* As many iterations as the line asks for, else as the command line has it,
 * else the lesson. */
static void prepare_training(struct lab_plain *p, struct lab_command *c)
{
    struct lab_data_facts facts = {.batches_per_epoch =
                                       p->snap.iterations_per_epoch};
    if (c->n == 0)
        c->n =
            lab_train_iterations(&p->run.spec, &facts, p->run.options->epochs,
                                 p->run.options->iterations);
    p->trained_to = p->snap.iteration - (p->snap.position == 0);
}

static void show_neighbours(const struct lab_plain *p)
{
    for (int i = 0; i < p->snap.near.n; i++)
        lab_printf(stdout, "%8.4f %8.4f %8.4f  %s\n",
                   p->snap.near.near[i].similarity,
                   p->snap.near.near[i].distance, p->snap.near.near[i].norm,
                   lab_vocabulary_word(p->snap.words, p->snap.near.near[i].id));
}

/* What a command has done. */
static enum lab_status show(struct lab_plain *p, const struct lab_command *c)
{
    switch (c->kind) {
    case LAB_DO_BACK:
        plain_print_where(p);
        return LAB_OK;
    case LAB_DO_RESTART:
        show_restart(p, c);
        return LAB_OK;
    case LAB_DO_TRAIN:
        plain_print_trained(p);
        return LAB_OK;
    case LAB_DO_LR:
        lab_printf(stdout, "%s\n",
                   lab_ui_command_lr_set_text(p->snap.lr,
                                              p->snap.n_lr_changes == 0,
                                              (char[LAB_COMMAND_LR_TEXT]){0}));
        return LAB_OK;
    case LAB_DO_BREAK:
    case LAB_DO_WATCH:
    case LAB_DO_DELETE:
    case LAB_DO_UNWATCH:
        return plain_list(p, "breaks");
    case LAB_DO_VARIANT:
        lab_printf(stdout, "%s.\n",
                   lab_variant_chosen_text(c->text, c->text2,
                                           (char[LAB_SESSION_TEXT]){0}));
        plain_print_where(p);
        return LAB_OK;
    case LAB_DO_NEAR:
        show_neighbours(p);
        return LAB_OK;
    case LAB_DO_CHECK:
        return plain_print_checks(p);
    case LAB_DO_COUNT:
        lab_printf(stdout, "%s\n", p->snap.stop_reason);
        plain_print_counters(p);
        return LAB_OK;
    case LAB_DO_SAVE:
    case LAB_DO_TRACE:
        lab_printf(stdout, "%s\n", p->snap.stop_reason);
        return LAB_OK;
    default:
        return LAB_OK;
    }
}

static int64_t steps_walked(const struct lab_snapshot *s)
{
    return s->schedule ? s->iteration * s->schedule->n_steps + s->position : 0;
}

/* Of `asked` steps `went` went back. */
static void report_begin(int64_t went, int64_t asked)
{
    if (went < asked)
        lab_printf(stdout,
                   "the walk begins here: %lld of %lld steps went back\n",
                   (long long)went, (long long)asked);
}

static enum lab_status run(struct lab_plain *p,
                           const struct lab_ui_command *from)
{
    struct lab_command c;
    enum lab_status st = session_command(p, from, &c);
    if (st)
        return st;
    int64_t iteration = p->snap.iteration;
    int64_t before = steps_walked(&p->snap);
    size_t noted = strlen(p->snap.notice);
    p->progress_ns = 0;
    if (c.kind == LAB_DO_TRAIN)
        prepare_training(p, &c);
    st = plain_run(p, &c);
    if (c.kind < LAB_DO_BACK) { /* a move forward */
        show_move(p, iteration, st);
        return LAB_OK;
    }
    if (c.kind <= LAB_DO_TRAIN) /* what it ran is not shown step by step */
        plain_forget_moves(p);
    if (c.kind == LAB_DO_TRAIN)
        p->trained = p->trained || lab_seen_trained(&p->run.spec, &p->snap);
    if (!st && c.kind == LAB_DO_BACK)
        report_begin(before - steps_walked(&p->snap), c.n > 0 ? c.n : 1);
    if (!st)
        st = show(p, &c);
    if (!st && c.kind == LAB_DO_RESTART && strlen(p->snap.notice) > noted)
        print_notes_from(p->snap.notice + noted);
    return st;
}

static enum lab_status sample(struct lab_plain *p,
                              const struct lab_ui_command *from)
{
    const struct lab_options *o = p->run.options;
    struct lab_sample_request how = {
        .n = o->sample, .temperature = o->temperature, .top_k = o->top_k};
    snprintf(how.prompt, sizeof(how.prompt), "%s", o->prompt);
    lab_sample_request_take(&how, from);
    struct lab_command c = lab_sample_request_command(&how);
    enum lab_status st = plain_run(p, &c);
    if (!st && p->snap.sample)
        lab_printf(stdout, "%s\n", p->snap.sample);
    return st;
}

/* ---- input ---- */

/* Takes a line out of what has been read; false: there is none yet. */
static bool take_line(struct input *in, char *line)
{
    char *end = memchr(in->bytes, '\n', in->used);
    size_t n = end ? (size_t)(end - in->bytes) : in->used;
    bool full = !end && in->used == sizeof(in->bytes);
    if (!end && !full && !(in->ended && n > 0))
        return false;
    bool rest = in->skipping;
    in->skipping = full;
    if (n == sizeof(in->bytes))
        n--;
    for (size_t i = 0; i < n; i++) /* NUL would hide the rest */
        line[i] = in->bytes[i] ? in->bytes[i] : '?';
    line[n] = '\0';
    size_t gone = end ? n + 1 : in->used;
    memmove(in->bytes, in->bytes + gone, in->used - gone);
    in->used -= gone;
    return rest ? take_line(in, line) : true;
}

/* The next line; false: the input has ended, or a signal came. */
static bool read_line(struct input *in, char *line)
{
    while (!take_line(in, line)) {
        if (in->ended || !lab_signals_wait_input(STDIN_FILENO))
            return false;
        ssize_t n = read(STDIN_FILENO, in->bytes + in->used,
                         sizeof(in->bytes) - in->used);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        in->ended = n <= 0;
        in->error = n < 0 ? errno : 0;
        in->used += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* ---- into a kernel ---- */

static bool read_word(void *user, char *line, size_t cap)
{
    struct lab_plain *p = user;
    char whole[LINE_BYTES];
    fflush(stdout);
    if (!read_line(&p->input, whole))
        return false;
    snprintf(line, cap, "%s", whole);
    return true;
}

/* Each launch of the step waits, and is walked here. */
static enum lab_status walk_step(struct lab_plain *p)
{
    const struct lab_command step = {.kind = LAB_DO_STEP, .n = 1, .phase = -1};
    const struct lab_kernel_pause *now;
    int launches = 0;
    bool left = false;
    lab_kernel_pause_arm(NULL, NULL);
    enum lab_status st = lab_session_post(p->run.session, &step);
    while (!st &&
           lab_session_wait(p->run.session, SHORT_NS) == LAB_E_CANCELLED) {
        now = lab_kernel_pause_now();
        if (!now)
            continue;
        struct lab_kernel_walk w = {.debug = now->debug,
                                    .ptx = now->ptx,
                                    .name = now->name,
                                    .launch = now->launch,
                                    .prompts = p->interactive,
                                    .read = read_word,
                                    .read_user = p};
        st = lab_kernel_walk(&w);
        left = w.left;
        if (left)
            lab_kernel_pause_disarm();
        else
            lab_kernel_pause_next();
        launches++;
    }
    lab_kernel_pause_disarm();
    plain_wait(p, false);
    if (!st)
        st = session_error(p);
    if (!st && launches == 0)
        lab_printf(stdout, "The step launched no kernel of ours.\n");
    return st;
}

static enum lab_status into(struct lab_plain *p, const struct lab_ui_command *c)
{
    struct lab_command to;
    int64_t iteration = p->snap.iteration;
    enum lab_status st = lab_debugger_into(&p->snap, c, &to);
    if (st)
        return st;
    const struct lab_ui_command go = {
        .kind = LAB_COMMAND_RUN, .n = 1, .phase = c->phase};
    if (c->arg[0] && to.n != p->snap.position) {
        struct lab_ui_command run_to = go;
        snprintf(run_to.arg, sizeof(run_to.arg), "%s", c->arg);
        st = run(p, &run_to);
        if (st || p->snap.position != to.n) /* a breakpoint came first */
            return st;
    }
    st = walk_step(p);
    show_move(p, iteration, st);
    return LAB_OK;
}

static void show_lr(const struct lab_plain *p)
{
    char text[LAB_COMMAND_LR_TEXT];
    lab_printf(stdout, "%s\n",
               lab_ui_command_lr_text(p->snap.lr, p->snap.rate, text));
}

static enum lab_status do_command(struct lab_plain *p,
                                  const struct lab_ui_command *c)
{
    switch (c->kind) {
    case LAB_COMMAND_NONE:
        return LAB_OK;
    case LAB_COMMAND_PRINT:
        return plain_print_tensor(p, c);
    case LAB_COMMAND_EXPLAIN:
        return plain_explain(p, c);
    case LAB_COMMAND_LR:
        if (!isnan(c->value) && !isnan(p->snap.lr))
            return run(p, c);
        show_lr(p);
        return LAB_OK;
    case LAB_COMMAND_STOP:
        return lab_fail(
            LAB_E_STATE,
            "[plain.nothing-runs] nothing runs; Ctrl-C stops a training");
    case LAB_COMMAND_INTO:
        return into(p, c);
    case LAB_COMMAND_SAMPLE:
        return sample(p, c);
    case LAB_COMMAND_LIST:
        return plain_list(p, c->arg);
    case LAB_COMMAND_VARIANT:
        return c->arg2[0] ? run(p, c) : plain_variants(p, c->arg);
    case LAB_COMMAND_HELP:
        return plain_help(c->arg);
    case LAB_COMMAND_QUIT:
        p->leaving = true;
        return LAB_OK;
    default:
        return run(p, c);
    }
}

static void plain_do(struct lab_plain *p, const struct lab_ui_command *c)
{
    if (do_command(p, c))
        complain();
}

static void plain_line(struct lab_plain *p, const char *line)
{
    struct lab_ui_command c;
    if (line[strspn(line, " \t\r")] == '#')
        return; /* a script explains itself */
    if (lab_ui_command_parse(line, &c)) {
        complain();
        return;
    }
    bool again = c.kind == LAB_COMMAND_NONE && p->interactive;
    if (again)
        c = p->last;
    if (c.kind == LAB_COMMAND_NONE)
        return;
    p->last = lab_ui_command_repeats(c.kind) ? c : (struct lab_ui_command){0};
    plain_do(p, &c);
}

/* ---- opening ---- */

static void plain_print_start(struct lab_plain *p)
{
    const struct lab_lesson *l = p->run.lesson;
    lab_lesson_put_heading(l->title, 1, false);
    if (l->summary[0])
        lab_lesson_put_paragraph(l->summary, 0);
    lab_printf(stdout, "\n");
    print_badge(p);
    if (l->sections[0].doc.n_blocks > 0) {
        lab_printf(stdout, "\n");
        lab_lesson_put_doc(&l->sections[0].doc, false);
    }
    if (p->snap.n_breaks > 0) {
        lab_printf(stdout, "\nThe lesson stops at:\n");
        plain_list(p, "breaks");
    }
    lab_printf(stdout, "\n`help` lists the commands; `step` takes a step.\n\n");
    plain_print_where(p);
}

static enum lab_status
open_lesson(struct lab_plain *p, const struct lab_options *o, const char *name)
{
    enum lab_status st =
        lab_lesson_run_start(&p->run, o, name, false, NULL, NULL);
    if (!st)
        st = lab_reader_init(&p->reader, p->run.lesson);
    if (st)
        return st;
    p->opening = true;
    plain_wait(p, false);
    p->opening = false;
    if (p->snap.state == LAB_SESSION_FAILED)
        return session_error(p);
    if (!p->signal && !p->snap.schedule)
        return lab_fail(LAB_E_NOMEM, "no memory to show the lesson");
    return LAB_OK;
}

/* ---- ending ---- */

static void report_notes(struct lab_plain *p)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_recording_note(p->run.recording, &text);
    if (text.failed)
        lab_warn("out of memory: what the record lacks is not known");
    else
        lab_warn_lines(lab_str_text(&text));
    lab_str_release(&text);
}

/* A database that refuses is a warning, and no failure of the walk. */
static void close_all(struct lab_plain *p)
{
    struct lab_run_summary summary;
    struct lab_recording_state kept;
    lab_recording_summarize(&p->snap, &summary);
    if (p->signal)
        summary.status = LAB_RUN_CANCELLED;
    if (p->walked > 0 || p->trained)
        lab_seen_keep(p->run.lesson->id, p->walked, p->snap.schedule->n_steps,
                      p->trained || p->walked >= p->snap.schedule->n_steps);
    if (p->run.session)
        lab_session_end(p->run.session); /* hands out its last records */
    if (p->run.recording) {
        lab_recording_finish(p->run.recording, &summary);
        lab_recording_get_state(p->run.recording, &kept);
        if (kept.run > 0 && !kept.empty)
            lab_print_recorded(p->run.options->db, kept.run, kept.whole);
        report_notes(p);
    }
    lab_snapshot_release(&p->snap);
    lab_reader_release(&p->reader);
    lab_lesson_run_close(&p->run);
}

/* At the prompt INT drops the line, as in gdb; from a script it is meant for
 * the whole. */
static bool interrupted(struct lab_plain *p, struct input *in)
{
    int number = lab_signals_take();
    if (!number)
        return false;
    if (number == SIGINT && p->interactive) {
        in->used = 0;
        lab_printf(stdout, "\n");
        return true;
    }
    p->signal = number;
    return false;
}

static enum lab_status read_commands(struct lab_plain *p)
{
    struct input *in = &p->input;
    char line[LINE_BYTES];
    int64_t commands = 0;
    while (!p->leaving && !p->signal && !ferror(stdout)) {
        if (p->interactive)
            lab_printf(stdout, "(lab) ");
        fflush(stdout);
        if (read_line(in, line)) {
            commands++;
            plain_line(p, line);
        } else if (!interrupted(p, in)) {
            break;
        }
    }
    if (p->interactive && in->ended)
        lab_printf(stdout, "\n");
    if (in->error)
        return lab_fail(LAB_E_IO, "[plain.read] cannot read the commands: %s",
                        strerror(in->error));
    if (commands > 0 || p->interactive || p->signal)
        return LAB_OK;
    /* No commands: walk the iteration once. */
    const struct lab_ui_command step = {
        .kind = LAB_COMMAND_STEP, .n = 1, .phase = -1};
    while (!p->signal && !p->snap.error_code && !ferror(stdout) &&
           p->snap.position < p->snap.schedule->n_steps) {
        int before = p->snap.position;
        plain_do(p, &step);
        if (p->snap.position == before)
            break;
    }
    return LAB_OK;
}

int lab_plain_session(const struct lab_options *o, const char *lesson)
{
    struct lab_plain p = {.interactive = isatty(STDIN_FILENO) != 0};
    int code = LAB_EXIT_DONE;
    p.snap.plane.tensor = p.snap.explanation.tensor = -1;
    p.snap.loss = p.snap.accuracy = p.snap.step_ms_median = NAN;
    p.snap.bits_per_char = p.snap.bits_order3 = NAN;
    lab_signals_catch();
    enum lab_status st = open_lesson(&p, o, lesson);
    if (st && !p.signal) {
        code = lab_exit_error(st);
    } else if (!p.signal) {
        plain_print_start(&p);
        st = read_commands(&p);
        code = st ? lab_exit_error(st) : LAB_EXIT_DONE;
    }
    close_all(&p);
    if (p.signal)
        return LAB_EXIT_SIGNAL + p.signal;
    st = lab_print_check();
    return st ? lab_exit_error(st) : code;
}
