/* The roofline of a run: a picture, the points in a list, and what is said of
 * the chosen one. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/format.h"
#include "ui/roof_plot.h"
#include "ui/table.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { ACT_LEVEL = LAB_ACT_OWN };
enum { LEVEL_STEPS, LEVEL_KERNELS, LEVEL_ALL, LEVELS };
enum { WORDS = 512 };

struct roofline_state {
    struct lab_run_args args;
    struct lab_ui_roofline line;
    int64_t *shown; /* the points of the level */
    struct lab_roof_list list;
    struct lab_table table;
    int level;
};

static const char *const LEVEL_TITLES[LEVELS] = {"Steps", "Kernels",
                                                 "Steps and kernels"};

/* ---- the list ---- */

enum {
    COLUMN_LABEL,
    COLUMN_NAME,
    COLUMN_PHASE,
    COLUMN_MEDIAN,
    COLUMN_INTENSITY,
    COLUMN_COUNTED,
    COLUMN_RATE,
    COLUMN_ROOF,
    COLUMN_SHARE,
    COLUMN_BOUND,
    COLUMNS
};

static const struct lab_table_column TABLE[COLUMNS] = {
    [COLUMN_LABEL] = {"", 1, 0, 0, false, false},
    [COLUMN_NAME] = {"step", 14, 4, 0, false, false},
    [COLUMN_PHASE] = {"phase", 8, 0, 4, false, false},
    [COLUMN_MEDIAN] = {"median", 9, 0, 3, true, true},
    [COLUMN_INTENSITY] = {"FLOP/byte", 9, 0, 1, true, true},
    [COLUMN_COUNTED] = {"counted", 8, 0, 6, true, true},
    [COLUMN_RATE] = {"FLOP/s", 12, 0, 2, true, true},
    [COLUMN_ROOF] = {"roof", 4, 0, 5, false, false},
    [COLUMN_SHARE] = {"of roof", 7, 0, 0, true, true},
    [COLUMN_BOUND] = {"bound", 7, 0, 0, false, false},
};

static const struct lab_ui_roof_point *point_at(const void *user, int64_t row)
{
    const struct lab_roof_list *list = user;
    return &list->line->points[list->shown[row]];
}

/* Where there is no formula the point stands by what was counted. */
static double formula_of(const struct lab_ui_roof_point *p)
{
    return isnan(p->flop) ? p->flop : p->intensity;
}

static void put_number(double v, char *out, size_t cap)
{
    if (isnan(v))
        snprintf(out, cap, LAB_NA);
    else
        snprintf(out, cap, "%.3g", v);
}

static void cell(const void *user, int64_t row, int column, char *out,
                 size_t cap, enum lab_role *role)
{
    const struct lab_ui_roof_point *p = point_at(user, row);
    const char *text = NULL;
    switch (column) {
    case COLUMN_LABEL:
        snprintf(out, cap, "%c", lab_roof_label(row));
        break;
    case COLUMN_NAME:
        snprintf(out, cap, "%s%s", p->kernel ? "  " : "", p->name);
        break;
    case COLUMN_PHASE:
        text = p->phase;
        break;
    case COLUMN_MEDIAN:
        lab_format_ns(p->median_ns, out, cap);
        break;
    case COLUMN_INTENSITY:
        put_number(formula_of(p), out, cap);
        break;
    case COLUMN_COUNTED:
        put_number(p->counted_intensity, out, cap);
        break;
    case COLUMN_RATE:
        lab_format_flops(p->flop_s, 1e9, out, cap);
        break;
    case COLUMN_ROOF:
        text = p->roof;
        break;
    case COLUMN_SHARE:
        if (p->share > 0 && p->share < 0.0005)
            snprintf(out, cap, "<0.1 %%");
        else
            lab_format_share(p->share, out, cap);
        break;
    default:
        text = p->bound;
    }
    if (text)
        snprintf(out, cap, "%s", text[0] ? text : LAB_NA);
    if (strcmp(out, LAB_NA) == 0)
        *role = LAB_ROLE_DIM;
}

static int compare(const void *user, int64_t a, int64_t b, int column,
                   bool turned)
{
    const struct lab_ui_roof_point *p = point_at(user, a);
    const struct lab_ui_roof_point *q = point_at(user, b);
    switch (column) {
    case COLUMN_NAME:
        return strcasecmp(p->name, q->name);
    case COLUMN_MEDIAN:
        return lab_table_compare_double(p->median_ns, q->median_ns, turned);
    case COLUMN_INTENSITY:
        return lab_table_compare_double(formula_of(p), formula_of(q), turned);
    case COLUMN_COUNTED:
        return lab_table_compare_double(p->counted_intensity,
                                        q->counted_intensity, turned);
    case COLUMN_RATE:
        return lab_table_compare_double(p->flop_s, q->flop_s, turned);
    case COLUMN_ROOF:
        return strcasecmp(p->roof, q->roof);
    case COLUMN_SHARE:
        return lab_table_compare_double(p->share, q->share, turned);
    case COLUMN_BOUND:
        return strcasecmp(p->bound, q->bound);
    default: /* as they ran */
        return lab_table_compare_int(a, b, turned);
    }
}

static const struct lab_table_ops POINTS = {TABLE, COLUMNS, cell, compare};

/* ---- life ---- */

static bool is_of(const struct lab_ui_roof_point *p, int level)
{
    return level == LEVEL_ALL || p->kernel == (level == LEVEL_KERNELS);
}

static enum lab_status show_level(struct roofline_state *st)
{
    int64_t n = 0;
    for (int64_t i = 0; i < st->line.point_count; i++)
        if (is_of(&st->line.points[i], st->level))
            st->shown[n++] = i;
    st->list = (struct lab_roof_list){&st->line, st->shown, n};
    return lab_table_set_count(&st->table, n);
}

/* The cursor onto the step from which the screen was opened. */
static void select_step(struct roofline_state *st)
{
    for (int64_t i = 0; st->args.step && i < st->list.count; i++) {
        const struct lab_ui_roof_point *p = point_at(&st->list, i);
        if (strcmp(p->name, st->args.step) == 0 &&
            (!st->args.phase || strcmp(p->phase, st->args.phase) == 0)) {
            lab_table_select(&st->table, i);
            return;
        }
    }
}

static void release(struct lab_screen *s)
{
    struct roofline_state *st = s->state;
    lab_table_release(&st->table);
    lab_free(st->shown);
}

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct roofline_state *st = s->state;
    st->args = *(const struct lab_run_args *)args;
    const struct lab_runs_model *m = st->args.model;
    if (!m->load_roofline)
        return lab_fail(LAB_E_STATE, "there is no roofline here");
    enum lab_status status =
        m->load_roofline(m->user, st->args.run.run, &st->line);
    if (status)
        return status;
    lab_table_init(&st->table, &POINTS, &st->list);
    st->table.empty = "This run has none.";
    st->shown =
        lab_alloc_array((size_t)st->line.point_count + 1, sizeof(*st->shown));
    status = st->shown ? show_level(st) : lab_no_memory("the roofline");
    if (status)
        release(s);
    else
        select_step(st);
    return status;
}

/* ---- drawing ---- */

static void draw_picture(const struct roofline_state *st, struct lab_canvas *c,
                         struct lab_rect r)
{
    char title[160];
    snprintf(title, sizeof(title), "Roofline of %s", st->line.device);
    lab_canvas_heading(c, &r, title, false);
    if (st->line.note[0]) {
        enum { MOST = 5 };
        struct lab_rect note = lab_rect_cut_top(
            &r, lab_canvas_paragraph_rows(c, r.w, MOST, st->line.note));
        lab_canvas_paragraph(c, note, LAB_ROLE_WARN, st->line.note);
    }
    lab_roof_plot_draw(c, r, &st->list, lab_table_row(&st->table));
}

static void work_text(const struct lab_ui_roof_point *p, char *out, size_t cap)
{
    char formula[LAB_FORMAT_BYTES];
    char counted[LAB_FORMAT_BYTES];
    char dram[LAB_FORMAT_BYTES];
    bool part = isnan(p->counted_flop) && !isnan(p->counted_least);
    lab_format_flop(p->flop, formula, sizeof(formula));
    lab_format_flop(p->counted_least, counted, sizeof(counted));
    lab_format_bytes(p->dram_bytes, dram, sizeof(dram));
    if (isnan(p->counted_least) && isnan(p->dram_bytes)) {
        snprintf(out, cap, "work: %s by the formula; not counted", formula);
        return;
    }
    int n = snprintf(out, cap, "work: %s by the formula, %s%s counted; DRAM %s",
                     formula, part ? "at least " : "", counted, dram);
    if (p->flop_reason[0] && n > 0 && (size_t)n < cap)
        snprintf(out + n, cap - (size_t)n, " (%s)", p->flop_reason);
}

static void draw_words(const struct roofline_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    int64_t row = lab_table_row(&st->table);
    char text[WORDS];
    if (lab_rect_empty(r) || row < 0)
        return;
    const struct lab_ui_roof_point *p = point_at(&st->list, row);
    snprintf(text, sizeof(text), "%c  %s%s%s", lab_roof_label(row), p->name,
             p->phase[0] ? ", " : "", p->phase);
    lab_canvas_heading(c, &r, text, false);
    int used = lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, p->sentence);
    lab_rect_cut_top(&r, used);
    work_text(p, text, sizeof(text));
    lab_canvas_paragraph(c, r, LAB_ROLE_DIM, text);
}

/* "Steps; not drawn, without FLOPs: 3" */
static void list_title(const struct roofline_state *st, char *out, size_t cap)
{
    int64_t missing = 0;
    for (int64_t i = 0; i < st->list.count; i++)
        missing += !lab_roof_has_place(point_at(&st->list, i));
    int n = snprintf(out, cap, "%s", LEVEL_TITLES[st->level]);
    if (missing > 0)
        n += snprintf(out + n, cap - (size_t)n,
                      "; not drawn, without FLOPs: %lld", (long long)missing);
    if (st->list.count > 0 && lab_roof_label(st->list.count - 1) == '*')
        snprintf(out + n, cap - (size_t)n, "; *: beyond 61");
}

static void draw(struct lab_screen *s, struct lab_canvas *c,
                 struct lab_rect body)
{
    struct roofline_state *st = s->state;
    struct lab_roof_layout l = lab_roof_layout(body);
    char title[160];
    draw_picture(st, c, l.picture);
    list_title(st, title, sizeof(title));
    lab_canvas_heading(c, &l.list, title, true);
    lab_table_draw(&st->table, c, l.list, true);
    draw_words(st, c, l.words);
}

/* ---- keys ---- */

static bool action(struct lab_screen *s, int what)
{
    struct roofline_state *st = s->state;
    switch (what) {
    case ACT_LEVEL:
        st->level = (st->level + 1) % LEVELS;
        if (show_level(st))
            lab_ui_error(s->ui);
        return true;
    case LAB_ACT_SORT:
        lab_table_sort_next(&st->table);
        return true;
    case LAB_ACT_SORT_TURN:
        lab_table_sort_turn(&st->table);
        return true;
    case LAB_ACT_SEARCH_NEXT:
    case LAB_ACT_SEARCH_PREV:
        if (!lab_table_search(&st->table, "",
                              what == LAB_ACT_SEARCH_NEXT ? 1 : -1, true))
            lab_ui_message(s->ui, LAB_ROLE_WARN, "search with / first");
        return true;
    case LAB_ACT_CANCEL:
        lab_ui_pop(s->ui);
        return true;
    default:
        return lab_table_action(&st->table, what);
    }
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct roofline_state *st = s->state;
    if (id == LAB_PROMPT_SEARCH && text &&
        !lab_table_search(&st->table, text, 1, false))
        lab_ui_message(s->ui, LAB_ROLE_WARN, "\"%s\" is not in this list",
                       text);
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct roofline_state *st = s->state;
    if (what != LAB_MOUSE_CLICK || !lab_rect_has(st->table.view, y, x))
        return false;
    lab_table_click(&st->table, y, x);
    return true;
}

static const struct lab_binding BINDINGS[] = {
    {{'v', LAB_KEY_F1 + 6},
     ACT_LEVEL,
     "level",
     "steps, kernels, or both",
     true},
    {{'s', LAB_KEY_F1 + 5},
     LAB_ACT_SORT,
     "sort",
     "sort by the next column",
     true},
    {{'S'}, LAB_ACT_SORT_TURN, "reverse", "turn the order", true},
    {{'/', LAB_KEY_F1 + 2}, LAB_ACT_SEARCH, "search", "search for text", true},
    {{LAB_KEY_ESC}, LAB_ACT_CANCEL, "back", "close this screen", false},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

static const struct lab_sign SIGNS[] = {
    {"1 ... 9 a ... Z", "a point of the list, by the formula's work"},
    {"*", "a step beyond the 61st: it has no sign of its own"},
    {">1<", "the chosen one; the dots go to what the roofs allow there"},
    {"+", "the chosen one by the work that was counted"},
    {NULL, NULL}};

const struct lab_screen_ops lab_view_roofline = {
    .name = "roofline",
    .title = "Roofline",
    .state_bytes = sizeof(struct roofline_state),
    .bindings = BINDINGS,
    .init = init,
    .release = release,
    .draw = draw,
    .action = action,
    .answer = answer,
    .mouse = mouse,
    .signs = SIGNS,
};
