/* view_runs.c -- the list of runs: sort, filter, compare, delete; where there is room,
 * the chosen one small. That one is read once the cursor rests: first its losses, then
 * its steps with what bounds them, so that no key waits for them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "record_list.h"
#include "ui/layout.h"
#include "ui/pager.h"
#include "ui/run_preview.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { ASK_DELETE = 1 };

struct runs_state {
    struct lab_record_list list; /* first: the table reads it */
    const struct lab_runs_model *model;
    const struct lab_run_row *rows;
    int64_t marked[2]; /* runs to compare; -1: none */
    struct lab_table table;
    struct lab_str none; /* the text where there are no runs */
    /* Of the chosen run, then of the marked ones. */
    struct lab_run_preview preview[LAB_PREVIEW_RUNS];
    int64_t preview_of;               /* what was read last; 0: nothing */
    struct lab_str problem;           /* why that was not */
    const struct lab_time_sum *steps; /* the model's */
    int64_t n_steps;
    int64_t steps_of; /* read last, or tried; 0: nothing */
    bool stale;       /* the cursor or a mark is elsewhere since */
    int64_t moved_ns; /* when the cursor or a mark did */
    struct lab_doc facts;
    struct lab_pager pager;
};

/* A marked run has a '*' at its number. */
static void marked_cell(const void *user, int64_t row, int column, char *out,
                        size_t cap, enum lab_role *role)
{
    const struct runs_state *st = user;
    int64_t run = st->rows[row].id;
    bool star = column == 0 && (run == st->marked[0] || run == st->marked[1]);
    if (star)
        *out++ = '*';
    lab_record_cell(&st->list, row, column, out, cap - star, role);
}

/* ---- the preview ---- */

/* What bounds the steps takes longer to find: a reader who looks at one run after the
 * other does not wait for it. */
enum { TICK_MS = 50, REST_NS = 100 * 1000000, STEPS_NS = 300 * 1000000 };

static const struct lab_run_row *find_run(const struct runs_state *st,
                                          int64_t run)
{
    for (int64_t i = 0; i < st->table.rows; i++)
        if (st->rows[i].id == run)
            return &st->rows[i];
    return NULL;
}

/* Reads `run` (NULL: none) unless it is what is there. */
static enum lab_status load_one(struct runs_state *st, int i,
                                const struct lab_run_row *run)
{
    struct lab_run_preview *p = &st->preview[i];
    if (run && p->run == run->id)
        return LAB_OK;
    lab_run_preview_release(p);
    return run ? st->model->load_preview(st->model->user, run, p) : LAB_OK;
}

/* The losses of the chosen run and of those to compare it with. */
static void load_preview(struct runs_state *st, const struct lab_run_row *run)
{
    enum { MARKS = LAB_PREVIEW_RUNS - 1 };
    const struct lab_runs_model *m = st->model;
    st->preview_of = run->id;
    st->stale = false;
    lab_str_clear(&st->problem);
    lab_doc_clear(&st->facts);
    enum lab_status status = load_one(st, 0, run);
    if (!status)
        status = m->write_facts(m->user, run->id, &st->facts);
    if (status)
        lab_str_add(&st->problem, lab_error());
    for (int i = 0; i < MARKS; i++) /* without those that cannot be read */
        (void)load_one(st, i + 1,
                       st->marked[i] == run->id ? NULL
                                                : find_run(st, st->marked[i]));
    lab_pager_show(&st->pager, &st->facts);
}

/* Where the times were not added up it would read each launch. */
static void load_steps(struct runs_state *st, int64_t run)
{
    const struct lab_runs_model *m = st->model;
    st->steps = NULL;
    st->n_steps = 0;
    st->steps_of = run;
    if (st->preview[0].summed &&
        m->load_steps(m->user, run, &st->steps, &st->n_steps))
        st->steps = NULL;
}

static void read_at_rest(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    if (!st->model->load_preview)
        return;
    st->stale = true;
    st->moved_ns = lab_clock_monotonic_ns();
    lab_ui_tick_every(s->ui, TICK_MS);
}

/* The marks may be others too. */
static void runs_after(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    bool chosen = row < 0 || st->rows[row].id == st->preview_of;
    for (int i = 0; i + 1 < LAB_PREVIEW_RUNS; i++)
        chosen = chosen &&
                 (st->marked[i] < 0 || st->marked[i] == st->preview[0].run ||
                  st->marked[i] == st->preview[i + 1].run);
    if (!chosen)
        read_at_rest(s);
}

static bool runs_tick(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    int64_t rests = lab_clock_monotonic_ns() - st->moved_ns;
    bool steps = row >= 0 && st->steps_of != st->rows[row].id;
    if (row >= 0 && st->stale) {
        if (rests < REST_NS)
            return false;
        load_preview(st, &st->rows[row]);
        return true;
    }
    if (steps && rests < STEPS_NS)
        return false;
    lab_ui_tick_every(s->ui, 0);
    if (steps)
        load_steps(st, st->preview_of);
    return steps;
}

/* Those that were read, each once. */
static void draw_preview(struct runs_state *st, struct lab_canvas *c,
                         struct lab_rect r)
{
    struct lab_preview_picture p = {.run = find_run(st, st->preview_of),
                                    .of = {&st->preview[0]},
                                    .count = 1,
                                    .problem = lab_str_text(&st->problem),
                                    .facts = &st->pager};
    if (!p.run || lab_rect_empty(r))
        return;
    for (int i = 1; i < LAB_PREVIEW_RUNS; i++)
        if (st->preview[i].run == st->marked[i - 1] &&
            st->preview[i].run != st->preview_of && st->preview[i].loss.n > 0)
            p.of[p.count++] = &st->preview[i];
    if (st->steps_of == st->preview_of) {
        p.steps = st->steps;
        p.n_steps = st->n_steps;
    }
    lab_run_preview_draw(c, r, &p);
}

/* ---- the list ---- */

static enum lab_status reload(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    const struct lab_run_row *rows = NULL;
    int64_t count = 0;
    enum lab_status status =
        st->model->load_runs(st->model->user, &rows, &count);
    /* What the model gave before is gone, also where it failed. */
    st->list.rows = st->rows = rows;
    for (int i = 0; i < LAB_PREVIEW_RUNS; i++) /* it may have gone on */
        lab_run_preview_release(&st->preview[i]);
    st->preview_of = st->steps_of = 0;
    st->steps = NULL;
    st->n_steps = 0;
    read_at_rest(s);
    const enum lab_status set = lab_table_set_count(&st->table, count);
    return status ? status : set;
}

static void runs_release(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    for (int i = 0; i < LAB_PREVIEW_RUNS; i++)
        lab_run_preview_release(&st->preview[i]);
    lab_table_release(&st->table);
    lab_str_release(&st->none);
    lab_str_release(&st->problem);
    lab_pager_release(&st->pager);
    lab_doc_release(&st->facts);
}

static enum lab_status runs_init(struct lab_screen *s, const void *args)
{
    struct runs_state *st = s->state;
    st->model = args;
    lab_record_list_init(&st->list, &lab_run_fields, 0);
    st->list.ops.cell = marked_cell;
    st->marked[0] = st->marked[1] = -1;
    lab_table_init(&st->table, &st->list.ops, st);
    lab_doc_init(&st->facts);
    lab_str_init(&st->problem);
    lab_pager_init(&st->pager, &st->facts);
    lab_str_add(&st->none, "No runs yet: train a lesson with \"");
    st->model->hint(st->model->user,
                    (const char *const[]){"run", "LESSON", NULL}, &st->none);
    lab_str_add(&st->none, "\".");
    st->table.empty = lab_str_text(&st->none);
    enum lab_status status = reload(s);
    lab_table_sort(&st->table,
                   lab_record_list_titled(&st->list, st->model->sorted), false);
    lab_table_action(&st->table, LAB_ACT_FIRST);
    int64_t row = lab_table_row(&st->table);
    if (!status && row >= 0 && st->model->load_preview)
        load_preview(st, &st->rows[row]);
    return status;
}

static void runs_shown(struct lab_screen *s)
{
    if (reload(s))
        lab_ui_error(s->ui);
}

static void runs_draw(struct lab_screen *s, struct lab_canvas *c,
                      struct lab_rect body)
{
    struct runs_state *st = s->state;
    struct lab_list_layout l =
        lab_list_layout(body, st->model->load_preview ? st->table.rows : 0,
                        body.h - body.h * 2 / 5);
    lab_table_draw(&st->table, c, l.list, true);
    draw_preview(st, c, l.preview);
}

/* The run under the cursor. */
static enum lab_status runs_subject(struct lab_screen *s, enum lab_subject of,
                                    struct lab_run_args *out)
{
    const struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    (void)of;
    if (row < 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.nothing] there is nothing to open");
    out->model = st->model;
    out->run = st->rows[row];
    return LAB_OK;
}

static enum lab_status open_run(struct lab_screen *s)
{
    struct lab_run_args args = {.launch = LAB_UNKNOWN};
    enum lab_status st = runs_subject(s, LAB_OF_RUN, &args);
    return st ? st : lab_ui_push(s->ui, &lab_view_run, &args);
}

/* The third mark replaces the second: the first is the reference. */
static enum lab_status mark_run(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    int64_t *marked = st->marked;
    if (row < 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-mark] there is nothing to mark");
    int64_t run = st->rows[row].id;
    if (marked[0] == run) {
        marked[0] = marked[1];
        marked[1] = -1;
    } else if (marked[1] == run) {
        marked[1] = -1;
    } else {
        marked[marked[0] < 0 ? 0 : 1] = run;
    }
    return LAB_OK;
}

/* Two marked ones; or the marked one and the one under the cursor. */
static enum lab_status compare_runs(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    const struct lab_run_row *a = find_run(st, st->marked[0]);
    const struct lab_run_row *b = find_run(st, st->marked[1]);
    if (a && !b && row >= 0 && st->rows[row].id != a->id)
        b = &st->rows[row];
    if (!a || !b)
        return lab_fail(
            LAB_E_STATE,
            "[screen.compare-one] mark the run to compare with (m), then "
            "choose another one");
    if (!st->model->load_compare)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-compare] runs cannot be compared here");
    const struct lab_compare_args args = {st->model, {*a, *b}};
    return lab_ui_push(s->ui, &lab_view_compare, &args);
}

static enum lab_status ask_delete(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    char question[128];
    if (row < 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-delete] there is nothing to delete");
    if (!st->model->delete_run)
        return lab_fail(LAB_E_STATE,
                        "[screen.read-only] recorded runs are read-only");
    snprintf(question, sizeof(question),
             "Delete run %" PRId64 " and all its records for good?",
             st->rows[row].id);
    lab_ui_ask(s->ui, ASK_DELETE, question);
    return LAB_OK;
}

static void runs_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct runs_state *st = s->state;
    out->at[0].table = &st->table;
    out->click_opens = true;
}

/* The deletion was confirmed. */
static void runs_answer(struct lab_screen *s, int id, const char *text)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    int64_t run = row < 0 ? 0 : st->rows[row].id;
    if (!text || id != ASK_DELETE || row < 0)
        return;
    if (st->model->delete_run(st->model->user, run) || reload(s))
        lab_ui_error(s->ui);
    else
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "run %" PRId64 " is deleted",
                       run);
}

static void runs_title(struct lab_screen *s, char *out, size_t cap)
{
    struct runs_state *st = s->state;
    snprintf(out, cap, "%s (%" PRId64 ")",
             st->model->title ? st->model->title : "Runs", st->table.count);
}

static const struct lab_sign SIGNS[] = {
    {"done", "it went as far as it was asked to"},
    {"cancelled", "stopped before that, by a key or a signal"},
    {"interrupted", "its program ended without a word: killed, or the machine "
                    "was switched off; what it had recorded is kept"},
    {"first 21.8 ms", "the wall time of the only iteration: on a GPU kernels "
                      "and libraries are loaded in it"},
    {"GPU time", "of an iteration's steps on the GPU, without the host's work"},
    {NULL, NULL}};

static const struct lab_binding BINDINGS[] = {
    {"Enter", true, "open", "its steps and kernels", LAB_ACT_OPEN, open_run},
    {"s F6", true, "sort", "sort by the next column", LAB_ACT_SORT},
    {"S", true, "reverse", "turn the order", LAB_ACT_SORT_TURN},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"m Space", true, "mark", "mark a run for a comparison", LAB_ACT_OWN,
     mark_run},
    {"c F8", true, "compare",
     "compare the marked runs, or the marked one and this one", LAB_ACT_OWN,
     compare_runs},
    {"D Del", true, "delete", "delete the run, after y", LAB_ACT_OWN,
     ask_delete},
    LAB_VIEWS_OF_RUN,
    {"R F5", false, "reload", "read the list again", LAB_ACT_OWN, reload},
    {"Esc", false, "back", "close this screen", LAB_ACT_CANCEL},
    {NULL}};

const struct lab_screen_ops lab_view_runs = {
    .name = "runs",
    .title = "Runs",
    .state_bytes = sizeof(struct runs_state),
    .bindings = BINDINGS,
    .init = runs_init,
    .release = runs_release,
    .draw = runs_draw,
    .panes = runs_panes,
    .subject = runs_subject,
    .answer = runs_answer,
    .title_now = runs_title,
    .shown = runs_shown,
    .after = runs_after,
    .tick = runs_tick,
    .signs = SIGNS,
};
