/* view_runs.c -- the list of runs: sort, filter, compare, delete. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run_columns.h"
#include "ui/ui.h"
#include "ui/view_timeline.h"
#include "ui/views.h"

enum {
    ACT_DELETE = LAB_ACT_OWN,
    ACT_RELOAD,
    ACT_MARK,
    ACT_COMPARE,
    ACT_TIMELINE
};
enum { ASK_DELETE = 1 };

/* The first member is what lab_run_columns reads. */
struct marked_rows {
    const struct lab_ui_run_row *rows;
    int64_t marked[2]; /* runs to compare; -1: none */
};

struct runs_state {
    const struct lab_runs_model *model;
    struct marked_rows list;
    struct lab_table_ops columns;
    struct lab_table table;
    struct lab_str none; /* the text where there are no runs */
};

/* A marked run has a '*' at its number. */
static void marked_cell(const void *user, int64_t row, int column, char *out,
                        size_t cap, enum lab_role *role)
{
    const struct marked_rows *list = user;
    int64_t run = list->rows[row].run;
    char text[LAB_TABLE_CELL_BYTES];
    lab_run_columns.cell(&list->rows, row, column, text, sizeof(text), role);
    bool star =
        column == 0 && (run == list->marked[0] || run == list->marked[1]);
    snprintf(out, cap, "%s%s", star ? "*" : "", text);
}

static int marked_compare(const void *user, int64_t a, int64_t b, int column,
                          bool turned)
{
    const struct marked_rows *list = user;
    return lab_run_columns.compare(&list->rows, a, b, column, turned);
}

static enum lab_status reload(struct runs_state *st)
{
    const struct lab_ui_run_row *rows = NULL;
    int64_t count = 0;
    enum lab_status status =
        st->model->load_runs(st->model->user, &rows, &count);
    if (status)
        return status;
    st->list.rows = rows;
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
    st->columns = lab_run_columns;
    st->columns.cell = marked_cell;
    st->columns.compare = marked_compare;
    st->list.marked[0] = st->list.marked[1] = -1;
    lab_table_init(&st->table, &st->columns, &st->list);
    lab_str_add(&st->none, "No runs yet: train a lesson with \"");
    st->model->hint(st->model->user,
                    (const char *const[]){"run", "LESSON", NULL}, &st->none);
    lab_str_add(&st->none, "\".");
    st->table.empty = lab_str_text(&st->none);
    enum lab_status status = reload(st);
    if (status)
        runs_release(s);
    return status;
}

static void runs_shown(struct lab_screen *s)
{
    if (reload(s->state))
        lab_ui_error(s->ui);
}

static void runs_draw(struct lab_screen *s, struct lab_canvas *c,
                      struct lab_rect body)
{
    struct runs_state *st = s->state;
    lab_table_draw(&st->table, c, body, true);
}

static enum lab_status open_run(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    if (row < 0)
        return lab_fail(LAB_E_STATE, "there is nothing to open");
    struct lab_run_args args = {.model = st->model, .run = st->list.rows[row]};
    return lab_ui_push(s->ui, &lab_view_run, &args);
}

/* The third mark replaces the second: the first is the reference. */
static enum lab_status mark_run(struct runs_state *st)
{
    int64_t row = lab_table_row(&st->table);
    int64_t *marked = st->list.marked;
    if (row < 0)
        return lab_fail(LAB_E_STATE, "there is nothing to mark");
    int64_t run = st->list.rows[row].run;
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

static const struct lab_ui_run_row *find_run(const struct runs_state *st,
                                             int64_t run)
{
    for (int64_t i = 0; i < st->table.count; i++)
        if (st->list.rows[i].run == run)
            return &st->list.rows[i];
    return NULL;
}

/* Two marked ones; or the marked one and the one under the cursor. */
static enum lab_status compare_runs(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    const struct lab_ui_run_row *a = find_run(st, st->list.marked[0]);
    const struct lab_ui_run_row *b = find_run(st, st->list.marked[1]);
    if (a && !b && row >= 0 && st->list.rows[row].run != a->run)
        b = &st->list.rows[row];
    if (!a || !b)
        return lab_fail(LAB_E_STATE, "mark the run to compare with (m), then "
                                     "choose another one");
    if (!st->model->load_compare)
        return lab_fail(LAB_E_STATE, "runs cannot be compared here");
    const struct lab_compare_args args = {st->model, {*a, *b}};
    return lab_ui_push(s->ui, &lab_view_compare, &args);
}

static enum lab_status open_timeline(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    if (row < 0)
        return lab_fail(LAB_E_STATE, "there is nothing to open");
    struct lab_timeline_args args = {.model = st->model,
                                     .run = st->list.rows[row].run};
    return lab_ui_push(s->ui, &lab_view_timeline, &args);
}

static enum lab_status ask_delete(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    char question[128];
    if (row < 0)
        return lab_fail(LAB_E_STATE, "there is nothing to delete");
    if (!st->model->delete_run)
        return lab_fail(LAB_E_STATE, "recorded runs are read-only");
    snprintf(question, sizeof(question),
             "Delete run %" PRId64 " and all its records for good?",
             st->list.rows[row].run);
    lab_ui_ask(s->ui, ASK_DELETE, question);
    return LAB_OK;
}

static bool runs_action(struct lab_screen *s, int action)
{
    struct runs_state *st = s->state;
    enum lab_status status = LAB_OK;
    switch (action) {
    case LAB_ACT_OPEN:
        status = open_run(s);
        break;
    case LAB_ACT_SORT:
        lab_table_sort_next(&st->table);
        break;
    case LAB_ACT_SORT_TURN:
        lab_table_sort_turn(&st->table);
        break;
    case ACT_DELETE:
        status = ask_delete(s);
        break;
    case ACT_RELOAD:
        status = reload(st);
        break;
    case ACT_TIMELINE:
        status = open_timeline(s);
        break;
    case ACT_MARK:
        status = mark_run(st);
        break;
    case ACT_COMPARE:
        status = compare_runs(s);
        break;
    case LAB_ACT_SEARCH_NEXT:
    case LAB_ACT_SEARCH_PREV:
        if (!lab_table_search(&st->table, "",
                              action == LAB_ACT_SEARCH_NEXT ? 1 : -1, true))
            lab_ui_message(s->ui, LAB_ROLE_WARN, "search with / first");
        break;
    case LAB_ACT_CANCEL:
        lab_ui_pop(s->ui);
        break;
    default:
        return lab_table_action(&st->table, action);
    }
    if (status)
        lab_ui_error(s->ui);
    return true;
}

static void delete_chosen(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    int64_t run = row < 0 ? 0 : st->list.rows[row].run;
    if (row < 0)
        return;
    if (st->model->delete_run(st->model->user, run) || reload(st))
        lab_ui_error(s->ui);
    else
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "run %" PRId64 " is deleted",
                       run);
}

static void runs_answer(struct lab_screen *s, int id, const char *text)
{
    struct runs_state *st = s->state;
    if (!text)
        return;
    if (id == ASK_DELETE)
        delete_chosen(s);
    else if (id == LAB_PROMPT_SEARCH &&
             !lab_table_search(&st->table, text, 1, false))
        lab_ui_message(s->ui, LAB_ROLE_WARN, "\"%s\" is not in this list",
                       text);
}

static bool runs_mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct runs_state *st = s->state;
    int64_t before = lab_table_row(&st->table);
    if (what != LAB_MOUSE_CLICK)
        return false;
    if (lab_table_click(&st->table, y, x) == before && before >= 0 &&
        open_run(s))
        lab_ui_error(s->ui);
    return true;
}

static void runs_title(struct lab_screen *s, char *out, size_t cap)
{
    struct runs_state *st = s->state;
    snprintf(out, cap, "%s (%" PRId64 ")",
             st->model->title ? st->model->title : "Runs", st->table.count);
}

static const struct lab_binding BINDINGS[] = {
    {{LAB_KEY_ENTER}, LAB_ACT_OPEN, "open", "its steps and kernels", true},
    {{'s', LAB_KEY_F1 + 5},
     LAB_ACT_SORT,
     "sort",
     "sort by the next column",
     true},
    {{'S'}, LAB_ACT_SORT_TURN, "reverse", "turn the order", true},
    {{'/', LAB_KEY_F1 + 2}, LAB_ACT_SEARCH, "search", "search for text", true},
    {{'m', ' '}, ACT_MARK, "mark", "mark a run for a comparison", true},
    {{'c', LAB_KEY_F1 + 7},
     ACT_COMPARE,
     "compare",
     "compare the marked runs, or the marked one and this one",
     true},
    {{'D', LAB_KEY_DELETE},
     ACT_DELETE,
     "delete",
     "delete the run, after y",
     true},
    {{'T'},
     ACT_TIMELINE,
     "timeline",
     "what happened when, in an iteration",
     true},
    {{'R', LAB_KEY_F1 + 4}, ACT_RELOAD, "reload", "read the list again", false},
    {{LAB_KEY_ESC}, LAB_ACT_CANCEL, "back", "close this screen", false},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

const struct lab_screen_ops lab_view_runs = {
    .name = "runs",
    .title = "Runs",
    .state_bytes = sizeof(struct runs_state),
    .bindings = BINDINGS,
    .init = runs_init,
    .release = runs_release,
    .draw = runs_draw,
    .action = runs_action,
    .answer = runs_answer,
    .mouse = runs_mouse,
    .title_now = runs_title,
    .shown = runs_shown,
    .signs = lab_run_signs,
};
