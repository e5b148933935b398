/* view_runs.c -- the list of runs: sort, filter, compare, delete. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record_list.h"
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

static enum lab_status reload(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    const struct lab_run_row *rows = NULL;
    int64_t count = 0;
    enum lab_status status =
        st->model->load_runs(st->model->user, &rows, &count);
    if (status)
        return status;
    st->list.rows = st->rows = rows;
    return lab_table_set_count(&st->table, count);
}

static void runs_release(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    lab_table_release(&st->table);
    lab_str_release(&st->none);
}

static enum lab_status runs_init(struct lab_screen *s, const void *args)
{
    struct runs_state *st = s->state;
    st->model = args;
    lab_record_list_init(&st->list, &lab_run_fields, 0);
    st->list.ops.cell = marked_cell;
    st->marked[0] = st->marked[1] = -1;
    lab_table_init(&st->table, &st->list.ops, st);
    lab_str_add(&st->none, "No runs yet: train a lesson with \"");
    st->model->hint(st->model->user,
                    (const char *const[]){"run", "LESSON", NULL}, &st->none);
    lab_str_add(&st->none, "\".");
    st->table.empty = lab_str_text(&st->none);
    enum lab_status status = reload(s);
    lab_table_sort(&st->table,
                   lab_record_list_titled(&st->list, st->model->sorted), false);
    lab_table_action(&st->table, LAB_ACT_FIRST);
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
    lab_table_draw(&st->table, c, body, true);
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

static const struct lab_run_row *find_run(const struct runs_state *st,
                                          int64_t run)
{
    for (int64_t i = 0; i < st->table.count; i++)
        if (st->rows[i].id == run)
            return &st->rows[i];
    return NULL;
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
    .signs = SIGNS,
};
