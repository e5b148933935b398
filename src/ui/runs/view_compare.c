/* view_compare.c -- the screen of a comparison: two runs step by step, and what the
 * differences mean; where there is room, their losses over one another and the time of
 * their phases and nodes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record_list.h"
#include "base/format.h"
#include "base/mem.h"
#include "report/palette.h"
#include "ui/chart.h"
#include "ui/layout.h"
#include "ui/pager.h"
#include "ui/run_preview.h"
#include "ui/ui.h"
#include "ui/views.h"

/* The columns of one run or the other have its number in their titles. */
struct compare_columns {
    struct lab_record_list list;
    char title[LAB_TABLE_COLUMNS][32];
};

static void name_columns(struct compare_columns *out, const int64_t run[2])
{
    lab_record_list_init(&out->list, &lab_compare_fields, 0);
    for (int i = 0, side = 0; i < out->list.ops.column_count; i++) {
        const char *title = out->list.column[i].title;
        size_t n = strlen(title);
        if (title[n - 1] != ' ')
            continue;
        snprintf(out->title[i], sizeof(out->title[i]), "%s%" PRId64, title,
                 run[side]);
        out->list.column[i].title = out->title[i];
        side = 1 - side;
    }
}

enum { DIFFERENCE = 5 }; /* the column that rows are sorted by at first */
enum { PANE_ROWS, PANE_FACTS, PANE_COUNT };

struct compare_state {
    struct lab_compare_args args;
    const struct lab_compare_row *rows;
    int64_t count;
    int64_t *shown; /* the rows of the chosen level */
    bool *apart;    /* of each row: the steps of its node and phase differ */
    struct compare_columns columns;
    struct lab_table table;
    struct lab_doc doc;
    struct lab_pager facts;
    int level; /* of LEVELS */
    int pane;
    struct lab_run_preview preview[LAB_SIDES]; /* run 0: it was not read */
};

/* What V goes through: bits of levels. */
#define LEVEL(name) (1u << LAB_SUM_##name)
enum { WALL = 1u << LAB_SUM_LEVELS, MIXED = WALL << 1 };
static const struct {
    const char *title;
    unsigned levels;
} LEVELS[] = {
    {"Steps, and nodes where the steps differ", MIXED},
    {"Steps", LEVEL(STEP)},
    {"Kernels", LEVEL(KERNEL)},
    {"Nodes", LEVEL(NODE)},
    {"Iteration and phases", LEVEL(ITERATION) | LEVEL(PHASE)},
    {"All levels", WALL - 1},
    {"Where the wall time of one iteration goes", WALL},
};
enum { LEVEL_COUNT = sizeof(LEVELS) / sizeof(LEVELS[0]) };

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* One does in one step what takes the other several: of this node and phase only
 * the whole can be compared, which both have. */
static bool is_apart(const struct compare_state *st,
                     const struct lab_compare_row *row)
{
    const struct lab_time_sum *of = lab_compare_either(row);
    bool whole = false;
    bool alone = false;
    for (int64_t i = 0; of->node && i < st->count; i++) {
        const struct lab_compare_row *r = &st->rows[i];
        const struct lab_time_sum *s = lab_compare_either(r);
        bool both = r->side[LAB_SIDE_A] && r->side[LAB_SIDE_B];
        if (!same_text(s->node, of->node) || !same_text(s->phase, of->phase))
            continue;
        whole = whole || (r->level == LAB_SUM_NODE && both);
        alone = alone || (r->level == LAB_SUM_STEP && !both);
    }
    return whole && alone;
}

static bool is_of(const struct compare_state *st, int64_t i)
{
    const struct lab_compare_row *row = &st->rows[i];
    unsigned bit = row->level == LAB_SUM_WALL ? WALL : 1u << row->level;
    unsigned levels = LEVELS[st->level].levels;
    if (levels == MIXED)
        return row->level ==
               (st->apart[i] ? (int)LAB_SUM_NODE : (int)LAB_SUM_STEP);
    return (levels & bit) != 0;
}

/* Green where time was saved, and the letter of the phase. */
static enum lab_role color_of(const void *user, const void *row, char *letter)
{
    const struct lab_compare_row *r = row;
    const struct lab_time_sum *s = lab_compare_either(r);
    (void)user;
    if (s->phase)
        for (int p = 0; p < LAB_PHASE_COUNT; p++)
            if (strcmp(s->phase, lab_phase_name((enum lab_phase)p)) == 0)
                *letter = lab_phase_letter((enum lab_phase)p)[0];
    switch (r->verdict) {
    case LAB_VERDICT_FASTER:
    case LAB_VERDICT_ONLY_A:
        return LAB_ROLE_GOOD;
    case LAB_VERDICT_SLOWER:
    case LAB_VERDICT_ONLY_B:
        return LAB_ROLE_BAD;
    case LAB_VERDICT_UNKNOWN:
        return LAB_ROLE_SERIES_1;
    default:
        return LAB_ROLE_DIM;
    }
}

static bool is_same(const void *user, const void *row)
{
    const struct lab_compare_row *r = row;
    (void)user;
    return r->verdict == LAB_VERDICT_SAME;
}

/* From the top: what differs most is what was asked for. */
static enum lab_status show_level(struct compare_state *st)
{
    int64_t n = 0;
    for (int64_t i = 0; i < st->count; i++)
        if (is_of(st, i))
            st->shown[n++] = i;
    lab_record_list_scale(&st->columns.list, n);
    enum lab_status status = lab_table_set_count(&st->table, n);
    if (!status)
        lab_table_action(&st->table, LAB_ACT_FIRST);
    return status;
}

/* The kind of list that has what was counted: a simulation has no times. */
enum { COUNTED = 1 };

static bool is_counted(const struct lab_compare_row *row)
{
    bool simulated = false;
    for (int side = 0; side < LAB_SIDES; side++) {
        const struct lab_time_sum *s = row->side[side];
        simulated = simulated || (s && s->level >= LAB_SUM_STEP &&
                                  s->counters.warp_inst > 0);
    }
    return simulated;
}

static enum lab_status load(struct compare_state *st)
{
    const struct lab_runs_model *m = st->args.model;
    const int64_t runs[2] = {st->args.run[0].id, st->args.run[1].id};
    enum lab_status status =
        m->load_compare(m->user, runs, &st->rows, &st->count, &st->doc);
    if (status)
        return status;
    st->shown = lab_alloc_array((size_t)st->count + 1, sizeof(*st->shown));
    st->apart = lab_alloc_array((size_t)st->count + 1, sizeof(*st->apart));
    if (!st->shown || !st->apart)
        return lab_no_memory("a comparison");
    for (int64_t i = 0; i < st->count; i++)
        st->apart[i] = (st->rows[i].level == LAB_SUM_STEP ||
                        st->rows[i].level == LAB_SUM_NODE) &&
                       is_apart(st, &st->rows[i]);
    for (int64_t i = 0; i < st->count; i++)
        if (is_counted(&st->rows[i]))
            lab_record_list_turn(&st->columns.list, COUNTED);
    st->columns.list.rows = st->rows;
    st->columns.list.shown = st->shown;
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
    lab_free(st->apart);
    for (int i = 0; i < LAB_SIDES; i++)
        lab_run_preview_release(&st->preview[i]);
}

static enum lab_status compare_init(struct lab_screen *s, const void *args)
{
    struct compare_state *st = s->state;
    st->args = *(const struct lab_compare_args *)args;
    name_columns(&st->columns,
                 (const int64_t[]){st->args.run[0].id, st->args.run[1].id});
    lab_table_init(&st->table, &st->columns.list.ops, &st->columns.list);
    st->columns.list.color = color_of;
    st->columns.list.faint = is_same;
    lab_table_sort(&st->table, DIFFERENCE, true);
    lab_doc_init(&st->doc);
    lab_pager_init(&st->facts, &st->doc);
    st->table.empty = "Neither run has any.";
    const struct lab_runs_model *m = st->args.model;
    for (int i = 0; i < LAB_SIDES && m->load_preview; i++)
        /* What cannot be read is not drawn. */
        (void)m->load_preview(m->user, &st->args.run[i], &st->preview[i]);
    return load(st);
}

/* ---- the two runs small ---- */

enum { PAIRS = 64, PAIR_H = 2 };

static double larger_median(const struct lab_compare_row *row)
{
    double most = 0;
    for (int i = 0; i < LAB_SIDES; i++)
        if (row->side[i] && row->side[i]->median_ns > most)
            most = row->side[i]->median_ns;
    return most;
}

/* The rows of one level: phases as they run, others the longest first, at most PAIRS. */
static int rows_of(const struct compare_state *st, enum lab_sum_level level,
                   const struct lab_compare_row *out[PAIRS])
{
    int n = 0;
    for (int64_t i = 0; i < st->count; i++) {
        const struct lab_compare_row *row = &st->rows[i];
        const double size = larger_median(row);
        int at = n;
        if (row->level != level || !(size > 0))
            continue;
        while (level != LAB_SUM_PHASE && at > 0 &&
               larger_median(out[at - 1]) < size)
            at--;
        if (at == PAIRS)
            continue;
        n += n < PAIRS;
        memmove(&out[at + 1], &out[at], (size_t)(n - 1 - at) * sizeof(out[0]));
        out[at] = row;
    }
    return n;
}

/* The bar of one run, with its name and time; the second's in the verdict's colour. */
static void draw_side(const struct compare_state *st, struct lab_canvas *c,
                      struct lab_rect row, const struct lab_compare_row *of,
                      int side, double most)
{
    enum { RUN_W = 10, TIME_W = 10, RATIO_W = 9 };
    char letter = ' ';
    const double ns = of->side[side] ? of->side[side]->median_ns : NAN;
    struct lab_rect run = lab_rect_cut_left(&row, RUN_W);
    struct lab_rect end = lab_rect_cut_right(&row, TIME_W + RATIO_W);
    lab_canvas_textf(c, run.y, run.x, run.w - 1, LAB_ROLE_DIM, "run %" PRId64,
                     st->args.run[side].id);
    lab_bar_draw(c, row.y, row.x, row.w, ns, 0, most,
                 side == LAB_SIDE_A ? LAB_ROLE_SERIES_1
                                    : color_of(NULL, of, &letter));
    lab_canvas_textf(c, end.y, end.x, TIME_W, LAB_ROLE_NORMAL, "%*s", TIME_W,
                     LAB_NS_TEXT(ns));
    if (side == LAB_SIDE_B && !isnan(of->speed_up))
        lab_canvas_textf(c, end.y, end.x + TIME_W, RATIO_W, LAB_ROLE_DIM,
                         "%*.3gx", RATIO_W - 1, of->speed_up);
}

/* Both runs' times of the rows of one level, as many as have room, the longest first
 * but for phases; nothing where the list has them now. */
static void draw_pairs(const struct compare_state *st, struct lab_canvas *c,
                       struct lab_rect *r, enum lab_sum_level level,
                       const char *title)
{
    enum { NAME_W = 20 };
    const struct lab_compare_row *of[PAIRS];
    const int n = rows_of(st, level, of);
    double most = 0;
    if (n == 0 || r->h < PAIR_H + 1 ||
        (LEVELS[st->level].levels & 1u << level) != 0)
        return;
    for (int i = 0; i < n; i++)
        most = fmax(most, larger_median(of[i]));
    lab_canvas_heading(c, r, title, false);
    for (int i = 0; i < n && r->h >= PAIR_H; i++) {
        const struct lab_time_sum *s = lab_compare_either(of[i]);
        struct lab_rect pair = lab_rect_cut_top(r, PAIR_H);
        struct lab_rect name = lab_rect_cut_left(&pair, NAME_W);
        char letter = ' ';
        (void)color_of(NULL, of[i], &letter);
        if (level == LAB_SUM_PHASE)
            lab_canvas_textf(c, name.y, name.x + 1, name.w - 2, LAB_ROLE_NORMAL,
                             "%s", s->phase ? s->phase : "");
        else
            lab_canvas_textf(c, name.y, name.x + 1, name.w - 2, LAB_ROLE_NORMAL,
                             "%c %s", letter,
                             s->node   ? s->node
                             : s->name ? s->name
                                       : "");
        for (int side = 0; side < LAB_SIDES; side++)
            draw_side(st, c, lab_rect_cut_top(&pair, 1), of[i], side, most);
    }
}

static void draw_both(const struct compare_state *st, struct lab_canvas *c,
                      struct lab_rect r)
{
    struct lab_preview_picture p = {.count = 0};
    for (int i = 0; i < LAB_SIDES; i++)
        if (st->preview[i].run)
            p.of[p.count++] = &st->preview[i];
    if (lab_run_preview_has_losses(&p)) {
        lab_run_preview_losses(c, lab_rect_cut_left(&r, r.w / 2 - 1), &p);
        lab_rect_cut_left(&r, 2);
    }
    draw_pairs(st, c, &r, LAB_SUM_PHASE,
               "Phases of both runs: median, times faster");
    draw_pairs(st, c, &r, LAB_SUM_NODE,
               "Nodes of both runs, the longest first");
}

/* ---- the screen ---- */

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
    int lines = 1 + (int)lab_pager_lines(&st->facts, body.w, c->ascii);
    facts.h = body.h < 12 ? 0 : body.h / 3 < 10 ? body.h / 3 : 10;
    facts.h = lines < facts.h ? lines : facts.h;
    rows.y += facts.h;
    rows.h -= facts.h;
    if (facts.h > 0)
        draw_facts(st, c, facts);
    enum { PREVIEW = 18 };
    struct lab_list_layout l =
        lab_list_layout(rows, st->table.rows + 1, PREVIEW);
    if (lab_rect_empty(l.preview) || l.preview.y == rows.y)
        l.list = rows; /* the list needs the width */
    else
        draw_both(st, c, l.preview);
    lab_canvas_heading(c, &l.list, LEVELS[st->level].title,
                       st->pane == PANE_ROWS);
    lab_table_draw(&st->table, c, l.list, st->pane == PANE_ROWS);
}

/* The run that has the row, the other one where both have it, at its step. */
static enum lab_status open_row(struct lab_screen *s)
{
    struct compare_state *st = s->state;
    int64_t place = lab_table_row(&st->table);
    if (place < 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.nothing] there is nothing to open");
    const struct lab_compare_row *row = &st->rows[st->shown[place]];
    int side = row->side[1] ? 1 : 0;
    const struct lab_time_sum *sum = row->side[side];
    const char *name = sum->bench_name
                           ? sum->bench_name->own
                           : lab_time_sum_step(sum); /* in its run */
    bool step = row->level == LAB_SUM_STEP || row->level == LAB_SUM_KERNEL;
    const struct lab_run_args args = {
        .model = st->args.model,
        .run = st->args.run[side],
        .step = step ? name : NULL,
        .phase = sum->phase,
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
             st->args.run[1].id, st->args.run[0].id);
}

static const struct lab_binding BINDINGS[] = {
    {"Enter", true, "open", "the run, at this step", LAB_ACT_OPEN, open_row},
    {"s F6", true, "sort", "sort by the next column", LAB_ACT_SORT},
    {"S", true, "reverse", "turn the order", LAB_ACT_SORT_TURN},
    {"v F7", true, "level",
     "steps with nodes, steps, kernels, nodes, phases, all; the wall time",
     LAB_ACT_OWN, next_level},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"Tab", true, "pane", "what differs, or the rows", LAB_ACT_NEXT_PANE},
    {"Esc", false, "back", "close this screen", LAB_ACT_CANCEL},
    {NULL}};

static const struct lab_sign SIGNS[] = {
    {"▐█│  │█▌",
     "the second run takes less time, or more; the longest bar of the "
     "list fills its side"},
    {"F L B U", "before it: forward, loss, backward, update"},
    {"x", "the first run's time over the second's: above 1 the second run is "
          "faster"},
    {"nodes",
     "where one run has a step that the other has not, the whole node is "
     "compared in place of its steps; v shows the steps"},
    {NULL, NULL}};

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
    .signs = SIGNS,
};
