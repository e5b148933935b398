#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "run_columns.h"
#include "ui/pager.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { ACT_LEVEL = LAB_ACT_OWN };
enum { PANE_ROWS, PANE_FACTS, PANE_COUNT };

struct compare_state {
    struct lab_compare_args args;
    const struct lab_ui_compare_row *rows;
    int64_t count;
    int64_t *shown; /* the rows of the chosen level */
    struct lab_compare_list list;
    struct lab_compare_columns columns;
    struct lab_table table;
    struct lab_doc doc;
    struct lab_pager facts;
    int level; /* of LEVELS */
    int pane;
};

/* What V goes through. */
static const struct {
    const char *title;
    const char *of[2];
} LEVELS[] = {
    {"Steps", {"step", NULL}},
    {"Kernels", {"kernel", NULL}},
    {"Nodes", {"node", NULL}},
    {"Iteration and phases", {"iteration", "phase"}},
    {"All levels", {NULL, NULL}},
    {"Where the wall time of one iteration goes", {"wall", NULL}},
};
enum { LEVEL_COUNT = sizeof(LEVELS) / sizeof(LEVELS[0]) };

static bool is_of(const struct lab_ui_compare_row *row, int level)
{
    const char *const *of = LEVELS[level].of;
    if (!of[0])
        return strcmp(row->level, "wall") != 0;
    return strcmp(row->level, of[0]) == 0 ||
           (of[1] && strcmp(row->level, of[1]) == 0);
}

/* From the top: what differs most is what was asked for. */
static enum lab_status show_level(struct compare_state *st)
{
    int64_t n = 0;
    for (int64_t i = 0; i < st->count; i++)
        if (is_of(&st->rows[i], st->level))
            st->shown[n++] = i;
    enum lab_status status = lab_table_set_count(&st->table, n);
    if (!status)
        lab_table_action(&st->table, LAB_ACT_FIRST);
    return status;
}

static enum lab_status load(struct compare_state *st)
{
    const struct lab_runs_model *m = st->args.model;
    const int64_t runs[2] = {st->args.run[0].run, st->args.run[1].run};
    enum lab_status status =
        m->load_compare(m->user, runs, &st->rows, &st->count, &st->doc);
    if (status)
        return status;
    st->shown = lab_alloc_array((size_t)st->count + 1, sizeof(*st->shown));
    if (!st->shown)
        return lab_no_memory("a comparison");
    st->list =
        (struct lab_compare_list){st->rows, st->shown, {runs[0], runs[1]}};
    status = show_level(st);
    return status ? status : lab_doc_check(&st->doc);
}

static void compare_release(struct lab_screen *s)
{
    struct compare_state *st = s->state;
    lab_table_release(&st->table);
    lab_pager_release(&st->facts);
    lab_doc_release(&st->doc);
    lab_free(st->shown);
}

static enum lab_status compare_init(struct lab_screen *s, const void *args)
{
    struct compare_state *st = s->state;
    st->args = *(const struct lab_compare_args *)args;
    lab_compare_columns(&st->columns, (const int64_t[]){st->args.run[0].run,
                                                        st->args.run[1].run});
    lab_table_init(&st->table, &st->columns.ops, &st->list);
    lab_table_sort(&st->table, LAB_COMPARE_DIFFERENCE, true);
    lab_doc_init(&st->doc);
    lab_pager_init(&st->facts, &st->doc);
    st->table.empty = "Neither run has any.";
    enum lab_status status = load(st);
    if (status)
        compare_release(s);
    return status;
}

/* The heading says where there is more than there is room for. */
static void draw_facts(struct compare_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    struct lab_rect text = r;
    char heading[64] = "What differs";
    char place[48];
    lab_rect_cut_top(&text, 1);
    lab_pager_draw(&st->facts, c, text);
    if (lab_pager_lines(&st->facts, text.w, c->ascii) > (size_t)text.h)
        snprintf(heading, sizeof(heading), "What differs (%s, Tab)",
                 lab_pager_place(&st->facts, place, sizeof(place)));
    lab_canvas_heading(c, &r, heading, st->pane == PANE_FACTS);
}

static void compare_draw(struct lab_screen *s, struct lab_canvas *c,
                         struct lab_rect body)
{
    struct compare_state *st = s->state;
    struct lab_rect facts = body;
    struct lab_rect rows = body;
    facts.h = body.h < 12 ? 0 : body.h / 3 < 10 ? body.h / 3 : 10;
    rows.y += facts.h;
    rows.h -= facts.h;
    if (facts.h > 0)
        draw_facts(st, c, facts);
    lab_canvas_heading(c, &rows, LEVELS[st->level].title,
                       st->pane == PANE_ROWS);
    lab_table_draw(&st->table, c, rows, st->pane == PANE_ROWS);
}

/* The run that has the row, the other one where both have it, at its step. */
static enum lab_status open_row(struct lab_screen *s)
{
    struct compare_state *st = s->state;
    int64_t place = lab_table_row(&st->table);
    if (place < 0)
        return lab_fail(LAB_E_STATE, "there is nothing to open");
    const struct lab_ui_compare_row *row = &st->rows[st->shown[place]];
    bool step =
        strcmp(row->level, "step") == 0 || strcmp(row->level, "kernel") == 0;
    int side = row->there[1] ? 1 : 0;
    const char *name = row->step[side] ? row->step[side] : row->name;
    const struct lab_run_args args = {
        .model = st->args.model,
        .run = st->args.run[side],
        .step = step ? name : NULL,
        .phase = row->phase,
    };
    return lab_ui_push(s->ui, &lab_view_run, &args);
}

static bool compare_action(struct lab_screen *s, int action)
{
    struct compare_state *st = s->state;
    enum lab_status status = LAB_OK;
    switch (action) {
    case LAB_ACT_OPEN:
        status = open_row(s);
        break;
    case LAB_ACT_NEXT_PANE:
    case LAB_ACT_PREV_PANE:
        st->pane = (st->pane + 1) % PANE_COUNT;
        break;
    case LAB_ACT_SORT:
        lab_table_sort_next(&st->table);
        break;
    case LAB_ACT_SORT_TURN:
        lab_table_sort_turn(&st->table);
        break;
    case ACT_LEVEL:
        st->level = (st->level + 1) % LEVEL_COUNT;
        status = show_level(st);
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
        return st->pane == PANE_FACTS ? lab_pager_action(&st->facts, action)
                                      : lab_table_action(&st->table, action);
    }
    if (status)
        lab_ui_error(s->ui);
    return true;
}

static void compare_answer(struct lab_screen *s, int id, const char *text)
{
    struct compare_state *st = s->state;
    if (id == LAB_PROMPT_SEARCH && text &&
        !lab_table_search(&st->table, text, 1, false))
        lab_ui_message(s->ui, LAB_ROLE_WARN, "\"%s\" is not in this list",
                       text);
}

static bool compare_mouse(struct lab_screen *s, enum lab_mouse what, int y,
                          int x)
{
    struct compare_state *st = s->state;
    int64_t before = lab_table_row(&st->table);
    if (what != LAB_MOUSE_CLICK || !lab_rect_has(st->table.view, y, x))
        return false;
    st->pane = PANE_ROWS;
    if (lab_table_click(&st->table, y, x) == before && before >= 0 &&
        open_row(s))
        lab_ui_error(s->ui);
    return true;
}

static void compare_title(struct lab_screen *s, char *out, size_t cap)
{
    const struct compare_state *st = s->state;
    snprintf(out, cap, "Run %" PRId64 " against run %" PRId64,
             st->args.run[1].run, st->args.run[0].run);
}

static const struct lab_binding BINDINGS[] = {
    {{LAB_KEY_ENTER}, LAB_ACT_OPEN, "open", "the run, at this step", true},
    {{'s', LAB_KEY_F1 + 5},
     LAB_ACT_SORT,
     "sort",
     "sort by the next column",
     true},
    {{'S'}, LAB_ACT_SORT_TURN, "reverse", "turn the order", true},
    {{'v', LAB_KEY_F1 + 6},
     ACT_LEVEL,
     "level",
     "steps, kernels, nodes, phases, all of these; the wall time's parts",
     true},
    {{'/', LAB_KEY_F1 + 2}, LAB_ACT_SEARCH, "search", "search for text", true},
    {{LAB_KEY_TAB},
     LAB_ACT_NEXT_PANE,
     "pane",
     "what differs, or the rows",
     true},
    {{LAB_KEY_ESC}, LAB_ACT_CANCEL, "back", "close this screen", false},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

const struct lab_screen_ops lab_view_compare = {
    .name = "compare",
    .title = "Compare",
    .state_bytes = sizeof(struct compare_state),
    .bindings = BINDINGS,
    .init = compare_init,
    .release = compare_release,
    .draw = compare_draw,
    .action = compare_action,
    .answer = compare_answer,
    .mouse = compare_mouse,
    .title_now = compare_title,
};
