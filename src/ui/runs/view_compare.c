/* The screen of a comparison: two runs step by step, and what the differences
 * mean. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run_columns.h"
#include "base/format.h"
#include "base/mem.h"
#include "ui/pager.h"
#include "ui/ui.h"
#include "ui/views.h"

static const struct lab_table_column COMPARE_TABLE[LAB_COMPARE_COLUMNS] = {
    [LAB_COMPARE_LEVEL] = {"level", 9, 0, 13, false, false},
    [LAB_COMPARE_PHASE] = {"phase", 8, 0, 4, false, false},
    [LAB_COMPARE_NAME] = {"what", 14, 4, 0, false, false},
    [LAB_COMPARE_MEDIAN] = {"run", 8, 0, 3, true, true},
    [LAB_COMPARE_OTHER] = {"run", 8, 0, 2, true, true},
    [LAB_COMPARE_DIFFERENCE] = {"difference", 11, 0, 0, true, true},
    [LAB_COMPARE_SPEED_UP] = {"x", 6, 0, 1, true, true},
    [LAB_COMPARE_P] = {"p", 6, 0, 5, true, false},
    [LAB_COMPARE_VERDICT] = {"verdict", 9, 0, 0, false, false},
    [LAB_COMPARE_COUNT] = {"n", 7, 0, 8, true, true},
    [LAB_COMPARE_OTHER_COUNT] = {"n", 7, 0, 7, true, true},
    [LAB_COMPARE_MAD] = {"MAD", 9, 0, 10, true, true},
    [LAB_COMPARE_OTHER_MAD] = {"MAD", 9, 0, 9, true, true},
    [LAB_COMPARE_RATE] = {"FLOP/s", 12, 0, 12, true, true},
    [LAB_COMPARE_OTHER_RATE] = {"FLOP/s", 12, 0, 11, true, true},
};

static void put_difference(double ns, char *out, size_t cap)
{
    char text[LAB_FORMAT_BYTES];
    lab_format_ns(fabs(ns), text, sizeof(text));
    snprintf(out, cap, "%s%s", isnan(ns) ? "" : ns < 0 ? "-" : "+", text);
}

static void put_p(double p, char *out, size_t cap)
{
    if (isnan(p))
        snprintf(out, cap, LAB_NA);
    else if (p < 0.001)
        snprintf(out, cap, "<0.001");
    else
        snprintf(out, cap, "%.3f", p);
}

static void put_name(const struct lab_ui_compare_row *r, char *out, size_t cap)
{
    bool kernel = strcmp(r->level, "kernel") == 0;
    if (kernel && r->name[0])
        snprintf(out, cap, "%s, %s", r->kernel, r->name);
    else
        snprintf(out, cap, "%s", kernel ? r->kernel : r->name);
}

static void put_side(const struct lab_ui_compare_row *r, int side, int column,
                     char *out, size_t cap)
{
    if (!r->there[side]) {
        snprintf(out, cap, "-");
        return;
    }
    switch (column) {
    case LAB_COMPARE_MEDIAN:
        lab_format_ns(r->median_ns[side], out, cap);
        break;
    case LAB_COMPARE_COUNT:
        lab_format_int(r->count[side], out, cap);
        break;
    case LAB_COMPARE_MAD:
        lab_format_ns(r->mad_ns[side], out, cap);
        break;
    default:
        lab_format_flops(r->flop[side], r->median_ns[side], out, cap);
    }
}

static bool in_one_run(const struct lab_ui_compare_row *r)
{
    return r->there[0] != r->there[1] && strcmp(r->level, "wall") != 0;
}

static void put_verdict(const struct lab_compare_list *list,
                        const struct lab_ui_compare_row *r, char *out,
                        size_t cap, enum lab_role *role)
{
    if (in_one_run(r))
        snprintf(out, cap, "only %" PRId64, list->run[r->there[1]]);
    else
        snprintf(out, cap, "%s", r->verdict);
    if (strcmp(r->verdict, "slower") == 0)
        *role = LAB_ROLE_WARN;
    else if (strcmp(r->verdict, "faster") == 0)
        *role = LAB_ROLE_GOOD;
}

static void compare_cell(const void *user, int64_t row, int column, char *out,
                         size_t cap, enum lab_role *role)
{
    const struct lab_compare_list *list = user;
    const struct lab_ui_compare_row *r = &list->rows[list->shown[row]];
    switch (column) {
    case LAB_COMPARE_LEVEL:
        snprintf(out, cap, "%s", r->level);
        break;
    case LAB_COMPARE_PHASE:
        snprintf(out, cap, "%s", r->phase);
        break;
    case LAB_COMPARE_NAME:
        put_name(r, out, cap);
        break;
    case LAB_COMPARE_DIFFERENCE:
        put_difference(r->difference_ns, out, cap);
        break;
    case LAB_COMPARE_SPEED_UP:
        snprintf(out, cap, isnan(r->speed_up) ? LAB_NA : "%.2f", r->speed_up);
        break;
    case LAB_COMPARE_P:
        put_p(r->p, out, cap);
        break;
    case LAB_COMPARE_VERDICT:
        put_verdict(list, r, out, cap, role);
        break;
    case LAB_COMPARE_OTHER:
    case LAB_COMPARE_OTHER_COUNT:
    case LAB_COMPARE_OTHER_MAD:
    case LAB_COMPARE_OTHER_RATE:
        put_side(r, 1,
                 column == LAB_COMPARE_OTHER ? LAB_COMPARE_MEDIAN : column - 1,
                 out, cap);
        break;
    default:
        put_side(r, 0, column, out, cap);
    }
    if (strcmp(out, LAB_NA) == 0 || strcmp(out, "-") == 0)
        *role = LAB_ROLE_DIM;
}

/* NaN: unknown. */
static double number(const struct lab_ui_compare_row *r, int column)
{
    switch (column) {
    case LAB_COMPARE_MEDIAN:
        return r->median_ns[0];
    case LAB_COMPARE_OTHER:
        return r->median_ns[1];
    case LAB_COMPARE_DIFFERENCE:
        /* What one run alone has is different by all of its time. */
        if (r->there[0] != r->there[1])
            return r->median_ns[r->there[1]];
        return fabs(r->difference_ns);
    case LAB_COMPARE_SPEED_UP:
        return r->speed_up;
    case LAB_COMPARE_P:
        return r->p;
    case LAB_COMPARE_COUNT:
        return r->there[0] ? (double)r->count[0] : (double)NAN;
    case LAB_COMPARE_OTHER_COUNT:
        return r->there[1] ? (double)r->count[1] : (double)NAN;
    case LAB_COMPARE_MAD:
        return r->mad_ns[0];
    case LAB_COMPARE_OTHER_MAD:
        return r->mad_ns[1];
    case LAB_COMPARE_RATE:
        return r->flop[0] / r->median_ns[0];
    default:
        return r->flop[1] / r->median_ns[1];
    }
}

static int compare_compare(const void *user, int64_t a, int64_t b, int column,
                           bool turned)
{
    const struct lab_compare_list *list = user;
    const struct lab_ui_compare_row *p = &list->rows[list->shown[a]];
    const struct lab_ui_compare_row *q = &list->rows[list->shown[b]];
    char s[LAB_TABLE_CELL_BYTES];
    char t[LAB_TABLE_CELL_BYTES];
    switch (column) {
    case LAB_COMPARE_LEVEL:
    case LAB_COMPARE_PHASE: /* as they run: rows come in that order */
        return lab_table_compare_int(list->shown[a], list->shown[b], turned);
    case LAB_COMPARE_NAME:
        put_name(p, s, sizeof(s));
        put_name(q, t, sizeof(t));
        return strcasecmp(s, t);
    case LAB_COMPARE_VERDICT:
        return strcmp(p->verdict, q->verdict);
    default:
        return lab_table_compare_double(number(p, column), number(q, column),
                                        turned);
    }
}

static void lab_compare_columns(struct lab_compare_columns *out,
                                const int64_t run[2])
{
    out->ops = (struct lab_table_ops){out->column, LAB_COMPARE_COLUMNS,
                                      compare_cell, compare_compare};
    memcpy(out->column, COMPARE_TABLE, sizeof(COMPARE_TABLE));
    for (int i = 0; i < LAB_COMPARE_COLUMNS; i++) {
        bool median = i == LAB_COMPARE_MEDIAN || i == LAB_COMPARE_OTHER;
        int pair = i >= LAB_COMPARE_COUNT ? i - LAB_COMPARE_COUNT
                                          : i - LAB_COMPARE_MEDIAN;
        if (!median && i < LAB_COMPARE_COUNT)
            continue;
        snprintf(out->title[i], sizeof(out->title[i]), "%s %" PRId64,
                 COMPARE_TABLE[i].title, run[pair % 2]);
        out->column[i].title = out->title[i];
    }
}

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

/* The heading states where there is more than there is room for. */
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
        .launch = LAB_UNKNOWN,
    };
    return lab_ui_push(s->ui, &lab_view_run, &args);
}

static void compare_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct compare_state *st = s->state;
    *out = (struct lab_panes){.at = {[PANE_ROWS] = {.table = &st->table},
                                     [PANE_FACTS] = {.pager = &st->facts}},
                              .count = PANE_COUNT,
                              .chosen = &st->pane,
                              .click_opens = true};
}

static enum lab_status next_level(struct lab_screen *s)
{
    struct compare_state *st = s->state;
    st->level = (st->level + 1) % LEVEL_COUNT;
    return show_level(st);
}

static void compare_title(struct lab_screen *s, char *out, size_t cap)
{
    const struct compare_state *st = s->state;
    snprintf(out, cap, "Run %" PRId64 " against run %" PRId64,
             st->args.run[1].run, st->args.run[0].run);
}

static const struct lab_binding BINDINGS[] = {
    {"Enter", true, "open", "the run, at this step", LAB_ACT_OPEN, open_row},
    {"s F6", true, "sort", "sort by the next column", LAB_ACT_SORT},
    {"S", true, "reverse", "turn the order", LAB_ACT_SORT_TURN},
    {"v F7", true, "level",
     "steps, kernels, nodes, phases, all of these; the wall time's parts",
     LAB_ACT_OWN, next_level},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"Tab", true, "pane", "what differs, or the rows", LAB_ACT_NEXT_PANE},
    {"Esc", false, "back", "close this screen", LAB_ACT_CANCEL},
    {NULL}};

const struct lab_screen_ops lab_view_compare = {
    .name = "compare",
    .title = "Compare",
    .state_bytes = sizeof(struct compare_state),
    .bindings = BINDINGS,
    .init = compare_init,
    .release = compare_release,
    .draw = compare_draw,
    .panes = compare_panes,
    .title_now = compare_title,
};
