/* view_home.c -- the home screen: lessons, progress, last runs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "debug/progress.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "record_list.h"
#include "trace/record.h"
#include "ui/layout.h"
#include "ui/table.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { PANE_LESSONS, PANE_RUNS, PANE_COUNT };
enum { WAITING_MS = 200 };
enum { COL_TITLE, COL_ID, COL_MINUTES, COL_PROGRESS, COL_COUNT };

struct home_state {
    struct lab_home_model *model;
    struct lab_table lessons;
    struct lab_table runs;
    struct lab_record_list run_list;
    int pane;
    int64_t start;       /* the row to start with, -1: some lesson is begun */
    struct lab_str none; /* the text where there are no runs */
};

static const struct lab_table_column COLUMNS[COL_COUNT] = {
    [COL_TITLE] = {"lesson", 24, 3, 0, false, false},
    [COL_ID] = {"id", 14, 1, 2, false, false},
    [COL_MINUTES] = {"time", 8, 0, 3, true, false},
    [COL_PROGRESS] = {"progress", 12, 0, 1, false, false},
};

static const struct lab_catalog_entry *entry_at(const struct home_state *st,
                                                int64_t row)
{
    return &st->model->catalog->items[row];
}

static const char *title_of(const struct lab_catalog_entry *e)
{
    return e->lesson ? e->lesson->title : e->id;
}

enum progress { NEW, STARTED, DONE, BROKEN };

static enum progress progress_of(const struct lab_home_model *m, int64_t row)
{
    const struct lab_catalog_entry *e = &m->catalog->items[row];
    const struct lab_progress_entry *p = lab_progress_find(m->progress, e->id);
    return !e->lesson               ? BROKEN
           : p && p->finished       ? DONE
           : p && p->steps_seen > 0 ? STARTED
                                    : NEW;
}

static void put_progress(const struct lab_home_model *m, int64_t row, char *out,
                         size_t cap, enum lab_role *role)
{
    static const struct {
        const char *text;
        enum lab_role role;
    } words[] = {[NEW] = {"new", LAB_ROLE_DIM},
                 [DONE] = {"✓ done", LAB_ROLE_GOOD},
                 [BROKEN] = {"! broken", LAB_ROLE_BAD}};
    enum progress state = progress_of(m, row);
    if (state != STARTED) {
        snprintf(out, cap, "%s", words[state].text);
        *role = words[state].role;
        return;
    }
    const struct lab_progress_entry *p =
        lab_progress_find(m->progress, m->catalog->items[row].id);
    if (p->steps_total == LAB_UNKNOWN)
        snprintf(out, cap, "%" PRId64 " steps", p->steps_seen);
    else
        snprintf(out, cap, "%" PRId64 " of %" PRId64, p->steps_seen,
                 p->steps_total);
}

static void lesson_cell(const void *user, int64_t row, int column, char *out,
                        size_t cap, enum lab_role *role)
{
    const struct home_state *st = user;
    const struct lab_catalog_entry *e = entry_at(st, row);
    switch (column) {
    case COL_TITLE:
        snprintf(out, cap, "%s", title_of(e));
        break;
    case COL_ID:
        snprintf(out, cap, "%s", e->id);
        *role = LAB_ROLE_DIM;
        break;
    case COL_MINUTES:
        if (e->lesson && e->lesson->minutes > 0)
            snprintf(out, cap, "%" PRId64 " min", e->lesson->minutes);
        break;
    default:
        put_progress(st->model, row, out, cap, role);
        if (row == st->start) {
            snprintf(out, cap, "start here");
            *role = LAB_ROLE_GOOD;
        }
    }
}

static const struct lab_table_ops LESSONS = {COLUMNS, COL_COUNT, lesson_cell,
                                             NULL};

/* The lesson to start with, until any lesson is begun. */
static int64_t find_start(const struct lab_home_model *m)
{
    int64_t found = -1;
    for (size_t i = 0; i < m->catalog->count; i++) {
        enum progress state = progress_of(m, (int64_t)i);
        if (state == DONE || state == STARTED)
            return -1;
        if (m->start && strcmp(m->catalog->items[i].id, m->start) == 0 &&
            state == NEW)
            found = (int64_t)i;
    }
    return found;
}

static enum lab_status reload(struct lab_screen *s)
{
    struct home_state *st = s->state;
    enum lab_status status = LAB_OK;
    if (st->model->refresh)
        status = st->model->refresh(st->model->user, st->model);
    st->start = find_start(st->model);
    if (!status)
        status = lab_table_set_count(&st->lessons,
                                     (int64_t)st->model->catalog->count);
    if (!status) {
        st->run_list.rows = st->model->runs;
        status = lab_table_set_count(&st->runs, st->model->run_count);
    }
    st->runs.empty = st->model->runs_unread
                         ? "The runs cannot be read: d says why."
                         : lab_str_text(&st->none);
    lab_ui_tick_every(s->ui, st->model->waiting ? WAITING_MS : 0);
    return status;
}

static void home_release(struct lab_screen *s)
{
    struct home_state *st = s->state;
    lab_table_release(&st->lessons);
    lab_table_release(&st->runs);
    lab_str_release(&st->none);
}

static void say_no_runs(struct home_state *st)
{
    const struct lab_runs_model *runs = st->model->all_runs;
    lab_str_add(&st->none, "No runs yet: open a lesson");
    if (runs) {
        lab_str_add(&st->none, ", or train one with \"");
        runs->hint(runs->user, (const char *const[]){"run", "LESSON", NULL},
                   &st->none);
        lab_str_add_char(&st->none, '"');
    }
    lab_str_add_char(&st->none, '.');
}

/* The lesson to start with, else the first that is not done. */
static void select_next_lesson(struct home_state *st)
{
    if (st->start >= 0) {
        lab_table_select(&st->lessons, st->start);
        return;
    }
    for (int64_t i = 0; i < st->lessons.count; i++) {
        enum progress state = progress_of(st->model, i);
        if (state == NEW || state == STARTED) {
            lab_table_select(&st->lessons, i);
            return;
        }
    }
}

static enum lab_status home_init(struct lab_screen *s, const void *args)
{
    struct home_state *st = s->state;
    st->model = (struct lab_home_model *)(uintptr_t)args;
    lab_table_init(&st->lessons, &LESSONS, st);
    lab_record_list_init(&st->run_list, &lab_run_fields, 0);
    lab_table_init(&st->runs, &st->run_list.ops, &st->run_list);
    st->lessons.empty = "No lessons were found.";
    say_no_runs(st);
    enum lab_status status = reload(s);
    if (status)
        return status;
    select_next_lesson(st);
    if (st->model->note && st->model->note[0])
        lab_ui_message(s->ui, LAB_ROLE_WARN, "%s", st->model->note);
    return LAB_OK;
}

static void home_shown(struct lab_screen *s)
{
    if (reload(s))
        lab_ui_error(s->ui);
}

static bool home_tick(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    if (!st->model->waiting)
        return false;
    if (reload(s))
        lab_ui_error(s->ui);
    return true;
}

struct lab_home_layout lab_home_layout(struct lab_rect body)
{
    struct lab_home_layout l = {0};
    bool wide = body.w >= 120;
    l.badge = lab_rect_cut_top(&body, body.h >= 13 ? 1 : 0);
    if (wide) {
        l.lessons = lab_rect_cut_left(&body, body.w * 11 / 20);
        l.about = lab_rect_cut_top(&body, body.h / 2);
        l.runs = body;
        return l;
    }
    int rows[3];
    const struct lab_share parts[3] = {
        {5, 5, 0},  /* lessons */
        {4, 0, 2},  /* about: two lines and its border */
        {5, 1, 1}}; /* runs */
    lab_layout_share(body.h, parts, 3, rows);
    l.lessons = lab_rect_cut_top(&body, rows[0]);
    l.about = lab_rect_cut_top(&body, rows[1]);
    l.runs = lab_rect_cut_top(&body, rows[2]);
    return l;
}

static void draw_about(const struct home_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    int64_t row = lab_table_row(&st->lessons);
    if (row < 0)
        return;
    const struct lab_catalog_entry *e = entry_at(st, row);
    const struct lab_lesson *l = e->lesson;
    char heading[160];
    size_t n = (size_t)snprintf(heading, sizeof(heading), "About");
    for (int i = 0; l && i < l->n_prerequisites && n < sizeof(heading); i++)
        n += (size_t)snprintf(heading + n, sizeof(heading) - n, "%s%s",
                              i ? ", " : ", builds on ", l->prerequisites[i]);
    lab_canvas_heading(c, &r, heading, false);
    lab_rect_cut_left(&r, 1);
    if (!l) {
        lab_canvas_paragraph(c, r, LAB_ROLE_BAD, e->error);
        return;
    }
    lab_rect_cut_top(&r, lab_canvas_paragraph(c, lab_rect_cut_top(&r, 1),
                                              LAB_ROLE_TITLE, l->title) -
                             1);
    lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, l->summary);
}

static void home_draw(struct lab_screen *s, struct lab_canvas *c,
                      struct lab_rect body)
{
    struct home_state *st = s->state;
    struct lab_home_layout l = lab_home_layout(body);
    lab_canvas_text(c, l.badge.y, l.badge.x + 1, l.badge.w - 1, LAB_ROLE_DIM,
                    l.badge.h && st->model->machine ? st->model->machine : "");
    lab_canvas_heading(c, &l.lessons, "Lessons", st->pane == PANE_LESSONS);
    lab_table_draw(&st->lessons, c, l.lessons, st->pane == PANE_LESSONS);
    draw_about(st, c, l.about);
    if (l.runs.h > 0) {
        lab_canvas_heading(c, &l.runs, "Last runs", st->pane == PANE_RUNS);
        lab_table_draw(&st->runs, c, l.runs, st->pane == PANE_RUNS);
    }
}

static void home_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct home_state *st = s->state;
    *out = (struct lab_panes){.at = {[PANE_LESSONS] = {.table = &st->lessons},
                                     [PANE_RUNS] = {.table = &st->runs}},
                              .count = PANE_COUNT,
                              .chosen = &st->pane,
                              .click_opens = true};
}

static enum lab_status open_row(struct lab_screen *s)
{
    struct home_state *st = s->state;
    int64_t row =
        lab_table_row(st->pane == PANE_LESSONS ? &st->lessons : &st->runs);
    if (row < 0)
        return lab_fail(LAB_E_STATE, "there is nothing to open");
    if (st->pane == PANE_LESSONS) {
        const struct lab_catalog_entry *e = entry_at(st, row);
        if (!e->lesson)
            return lab_fail(LAB_E_PARSE, "%s", e->error);
        return st->model->open_lesson(st->model->user, s->ui, e->id);
    }
    struct lab_run_args args = {.model = st->model->all_runs,
                                .run = st->model->runs[row],
                                .launch = LAB_UNKNOWN};
    if (!args.model)
        return lab_fail(LAB_E_STATE, "there is no database of runs");
    return lab_ui_push(s->ui, &lab_view_run, &args);
}

static enum lab_status open_list(struct lab_screen *s,
                                 const struct lab_runs_model *runs,
                                 const char *none)
{
    if (!runs)
        return lab_fail(LAB_E_STATE, "%s", none);
    enum lab_status status = lab_ui_push(s->ui, &lab_view_runs, runs);
    if (!status && runs->badge)
        lab_ui_badge(s->ui, runs->badge);
    return status;
}

static enum lab_status open_runs(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    return open_list(s, st->model->all_runs, "there is no database of runs");
}

static enum lab_status open_recorded(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    return open_list(s, st->model->recorded, "no recorded runs are installed");
}

static enum lab_status open_doctor(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    struct lab_text_args args = {"Doctor", st->model->user,
                                 st->model->write_doctor};
    if (!args.write)
        return lab_fail(LAB_E_STATE, "nothing here looks at the machine");
    return lab_ui_push(s->ui, &lab_view_text, &args);
}

static enum lab_status open_tables(struct lab_screen *s)
{
    const struct home_state *st = s->state;
    if (!st->model->tables)
        return lab_fail(LAB_E_STATE, "no tables are installed");
    return lab_ui_push(s->ui, &lab_view_tables, st->model->tables);
}

static const struct lab_binding BINDINGS[] = {
    {"Enter", true, "open", "open the lesson or the run", LAB_ACT_OPEN,
     open_row},
    {"r F2", true, "runs", "the list of all runs", LAB_ACT_OWN, open_runs},
    {"g", true, "recorded",
     "runs that ship with the program, recorded on a GPU", LAB_ACT_OWN,
     open_recorded},
    {"t", true, "tables", "the tables of the course, and calculators",
     LAB_ACT_OWN, open_tables},
    {"d F4", true, "doctor", "what this machine can do, and remedies",
     LAB_ACT_OWN, open_doctor},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"Tab", true, "pane", "lessons or runs", LAB_ACT_NEXT_PANE},
    {"R F5", false, "reload", "read everything again", LAB_ACT_OWN, reload},
    {NULL}};

const struct lab_screen_ops lab_view_home = {
    .name = "home",
    .title = "Home",
    .state_bytes = sizeof(struct home_state),
    .bindings = BINDINGS,
    .init = home_init,
    .release = home_release,
    .draw = home_draw,
    .panes = home_panes,
    .shown = home_shown,
    .tick = home_tick,
};
