#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run_columns.h"
#include "ui/ui.h"
#include "ui/view_timeline.h"
#include "ui/views.h"

enum { ACT_DELETE = LAB_ACT_OWN, ACT_RELOAD, ACT_TIMELINE };
enum { ASK_DELETE = 1 };

struct runs_state {
    const struct lab_runs_model *model;
    const struct lab_ui_run_row *rows;
    struct lab_table table;
};

static enum lab_status reload(struct runs_state *st)
{
    const struct lab_ui_run_row *rows = NULL;
    int64_t count = 0;
    enum lab_status status =
        st->model->load_runs(st->model->user, &rows, &count);
    if (status)
        return status;
    st->rows = rows;
    return lab_table_set_count(&st->table, count);
}

static enum lab_status runs_init(struct lab_screen *s, const void *args)
{
    struct runs_state *st = s->state;
    st->model = args;
    lab_table_init(&st->table, &lab_run_columns, &st->rows);
    st->table.empty = "No runs yet: train a lesson with "
                      "\"lapenna-lab run LESSON\".";
    enum lab_status status = reload(st);
    if (status)
        lab_table_release(&st->table);
    return status;
}

static void runs_release(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    lab_table_release(&st->table);
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
    struct lab_run_args args = {st->model, st->rows[row]};
    return lab_ui_push(s->ui, &lab_view_run, &args);
}

static enum lab_status open_timeline(struct lab_screen *s)
{
    struct runs_state *st = s->state;
    int64_t row = lab_table_row(&st->table);
    if (row < 0)
        return lab_fail(LAB_E_STATE, "there is nothing to open");
    struct lab_timeline_args args = {.model = st->model,
                                     .run = st->rows[row].run};
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
        return lab_fail(LAB_E_STATE, "this database is only for reading");
    snprintf(question, sizeof(question),
             "Delete run %" PRId64 " and all its records for good?",
             st->rows[row].run);
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
    case ACT_TIMELINE:
        status = open_timeline(s);
        break;
    case ACT_RELOAD:
        status = reload(st);
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
    int64_t run = row < 0 ? 0 : st->rows[row].run;
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
    snprintf(out, cap, "Runs (%" PRId64 ")", st->table.count);
}

static const struct lab_binding BINDINGS[] = {
    {{LAB_KEY_ENTER}, LAB_ACT_OPEN, "open", "its steps and kernels", true},
    {{'s', LAB_KEY_F1 + 5},
     LAB_ACT_SORT,
     "sort",
     "sort by the next column",
     true},
    {{'S'}, LAB_ACT_SORT_TURN, "turn", "turn the order", true},
    {{'/', LAB_KEY_F1 + 2}, LAB_ACT_SEARCH, "search", "search for text", true},
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
};
