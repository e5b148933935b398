/* view_lab.c -- the lab's screen: its table, pictures, the chosen kernel's
 * source and profile, and its keys. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "base/str.h"
#include "ui/view_text.h"
#include "lesson/lesson.h"
#include "ui/chart.h"
#include "ui/ui.h"
#include "base/mem.h"
#include "ui/views.h"
#include "ui/kernel.h"
#include "ui/lab_chart.h"
#include "bench/model.h"
#include "ui/layout.h"
#include "ui/pager.h"
#include "ui/screen.h"
#include "ui/table.h"
#include "view_lab_priv.h"

static const struct lab_bench_set *set_of(const struct lab_bench_state *st)
{
    return &st->lab.sets[st->set];
}

/* An index of lab.rows; -1: none. */
static int64_t bench_chosen_row(const struct lab_bench_state *st)
{
    int64_t row = lab_table_row(&st->table);
    return row < 0 ? -1 : st->shown[row];
}

static const struct lab_bench_result *
bench_chosen(const struct lab_bench_state *st)
{
    int64_t row = bench_chosen_row(st);
    return row < 0 ? NULL : &st->lab.rows[row];
}

/* The table of a lab: a row for each variant of one size. */

/* Panes in which one moves: the kernel's source, or the text in its place, and the
 * course's figures. */
enum { ROWS, RIGHT, SLIDES };

enum column {
    COL_VARIANT,
    COL_PRECISION,
    COL_MEDIAN,
    COL_SPREAD,
    COL_RATE,
    COL_SHARE,
    COL_LIBRARY,
    COL_GAIN,
    COL_MODEL,
    COL_PREDICTED,
    COL_RATIO,
    COL_COUNTED, /* lab_bench_counted_column() from here on */
    COL_COUNTED_LAST = COL_COUNTED + 2,
    COL_IDEA,
    COLUMNS
};

static const struct lab_table_column TABLE[COLUMNS] = {
    [COL_VARIANT] = {"variant", 10, 1, 0, false, false},
    [COL_PRECISION] = {"type", 4, 0, 2, false, false},
    [COL_MEDIAN] = {"median", 9, 0, 0, true, false},
    [COL_SPREAD] = {"spread", 7, 0, 5, true, false},
    [COL_RATE] = {"rate", 13, 0, 0, true, true},
    [COL_SHARE] = {"ceiling", 7, 0, 1, true, true},
    [COL_LIBRARY] = {"library", 7, 0, 4, true, true},
    [COL_GAIN] = {"gain", 7, 0, 1, true, true},
    [COL_MODEL] = {"model's", 7, 0, 3, true, true},
    [COL_PREDICTED] = {"predicted", 13, 1, 6, false, false},
    [COL_RATIO] = {"vs.pred", 7, 0, 2, true, true},
    [COL_COUNTED] = {"instructions", 12, 0, 0, true, true},
    [COL_COUNTED + 1] = {"sectors/load", 12, 0, 0, true, true},
    [COL_COUNTED_LAST] = {"conflicts", 9, 0, 0, true, true},
    [COL_IDEA] = {"idea, or why not", 12, 9, 8, false, false},
};

static const struct lab_bench_result *row_at(const void *user, int64_t row)
{
    const struct lab_bench_state *st = user;
    return &st->lab.rows[st->shown[row]];
}

/* What a column sorts by; NaN: unknown, or a text. */
static double number(const struct lab_bench_state *st,
                     const struct lab_bench_result *r, int column)
{
    switch (column) {
    case COL_MEDIAN:
        return r->median_ns;
    case COL_SPREAD:
        return (r->three_quarters_ns - r->quarter_ns) / r->median_ns;
    case COL_RATE:
        return r->rate;
    case COL_SHARE:
        return r->share;
    case COL_LIBRARY:
        return r->of_library;
    case COL_GAIN:
        return r->gain;
    case COL_MODEL:
        return r->gain_model;
    case COL_RATIO:
        return lab_prediction_ratio(st->lab.unit, &r->predicted, r);
    default:
        break;
    }
    if (column < COL_COUNTED || column > COL_COUNTED_LAST)
        return NAN;
    const struct lab_counted_row counted = {.counters = r->counted};
    return lab_field_real(lab_bench_counted_column(column - COL_COUNTED),
                          &counted);
}

/* What a column of texts sorts by; NULL: it has numbers. */
static const char *text(const struct lab_bench_result *r, int column)
{
    return column == COL_VARIANT     ? r->variant
           : column == COL_PRECISION ? r->precision
           : column == COL_IDEA      ? r->idea
                                     : NULL;
}

static void put_words(const struct lab_bench_state *st,
                      const struct lab_bench_result *r, int column, char *out,
                      size_t cap, enum lab_role *role)
{
    if (column == COL_PREDICTED) {
        lab_prediction_text(&st->lab, &r->predicted, out, cap);
    } else if (column == COL_RATIO) {
        lab_prediction_ratio_short(st->lab.unit, &r->predicted, r, out, cap);
    } else if (column == COL_PRECISION) {
        snprintf(out, cap, "%s", lab_bench_precision_text(&st->lab, r));
    } else if (column != COL_MEDIAN) {
        bool failed = column == COL_IDEA && r->reason;
        snprintf(out, cap, "%s", failed ? r->reason : text(r, column));
        if (failed)
            *role = LAB_ROLE_BAD;
    } else if (r->state == LAB_BENCH_DONE) {
        if (isnan(r->median_ns) && st->lab.sets[r->set].untimed)
            snprintf(out, cap, "right");
        else
            lab_format_ns(r->median_ns, out, cap);
    } else {
        snprintf(out, cap, "%s", lab_bench_state_text(r->state));
        *role = r->state == LAB_BENCH_FAILED    ? LAB_ROLE_BAD
                : r->state == LAB_BENCH_WAITING ? LAB_ROLE_DIM
                                                : LAB_ROLE_WARN;
    }
}

static void cell(const void *user, int64_t row, int column, char *out,
                 size_t cap, enum lab_role *role)
{
    const struct lab_bench_state *st = user;
    const struct lab_bench_result *r = row_at(user, row);
    double v = number(st, r, column);
    bool counted = column >= COL_COUNTED && column <= COL_COUNTED_LAST;
    bool words = column < COL_SPREAD || (column > COL_MODEL && !counted);
    out[0] = '\0';
    if (words) {
        put_words(st, r, column, out, cap, role);
        return;
    }
    if (column == COL_SHARE &&
        lab_bench_ceiling_beaten(&st->lab, r->set, r->size_index,
                                 lab_bench_row_ceiling(r)))
        v = NAN; /* a share of no ceiling */
    if (isnan(v)) {
        /* Not there yet is not the same as not to be had. */
        if (r->state == LAB_BENCH_DONE)
            snprintf(out, cap, LAB_NA);
        *role = LAB_ROLE_DIM;
    } else if (counted) {
        snprintf(out, cap, v < 1e9 ? "%.*g" : "%.*e",
                 v == floor(v) && v < 1e9 ? 9 : 3, v);
    } else if (column == COL_RATE) {
        lab_bench_rate_text(&st->lab, v, out, cap);
    } else if (column == COL_GAIN || column == COL_MODEL) {
        snprintf(out, cap, v >= 100 ? "%.0f x" : "%.2f x", v);
    } else {
        snprintf(out, cap, "%.1f %%", 100 * v);
    }
}

static int compare(const void *user, int64_t a, int64_t b, int column,
                   bool turned)
{
    const struct lab_bench_state *st = user;
    const struct lab_bench_result *p = row_at(user, a);
    const struct lab_bench_result *q = row_at(user, b);
    if (text(p, column))
        return strcasecmp(text(p, column), text(q, column));
    return lab_table_compare_double(number(st, p, column),
                                    number(st, q, column), turned);
}

static void table_init(struct lab_bench_state *st)
{
    st->ops = (struct lab_table_ops){st->columns, COLUMNS, cell, compare};
    memcpy(st->columns, TABLE, sizeof(TABLE));
    lab_table_init(&st->table, &st->ops, st);
}

static void show_columns(struct lab_bench_state *st, int first, int last,
                         bool any)
{
    enum { NEVER = 1 << 20 }; /* no terminal is wide enough */
    for (int i = first; i <= last; i++) {
        st->columns[i].least = any ? TABLE[i].least : NEVER;
        st->columns[i].drop = any ? TABLE[i].drop : 9;
    }
}

/* The chosen variant's kernel: its source, and what was measured of it. */

enum { TEXT_W = 84 }; /* of a column of the lab's text */
enum { SYMBOLS = 128 };

/* ---- source ---- */

/* Nearest first: the name is the variant's, ends in it, holds it. */
static int likeness(const char *symbol, const char *variant)
{
    size_t n = strlen(symbol);
    size_t m = strlen(variant);
    if (strcmp(symbol, variant) == 0)
        return 3;
    if (n > m + 1 && symbol[n - m - 1] == '_' &&
        strcmp(symbol + n - m, variant) == 0)
        return 2;
    return strstr(symbol, variant) != NULL;
}

/* A kernel before its launcher: of equals the first counts. SYMBOLS: none. */
static size_t find_kernel(const struct lab_source_symbol *symbols, size_t n,
                          const char *symbol, const char *variant)
{
    for (size_t i = 0; symbol && i < n; i++)
        if (strcmp(symbols[i].name, symbol) == 0)
            return i;
    size_t found = n > 0 ? 0 : SYMBOLS;
    int best = 0;
    for (size_t i = 0; i < n; i++) {
        int like = likeness(symbols[i].name, variant);
        if (like > best) {
            best = like;
            found = i;
        }
    }
    return found;
}

int64_t lab_bench_kernel_find(const char *text, size_t bytes,
                              const char *symbol, const char *variant,
                              char *name, size_t cap)
{
    struct lab_source_symbol symbols[SYMBOLS];
    size_t n = lab_source_symbols(text, bytes, symbols, SYMBOLS);
    size_t at =
        find_kernel(symbols, n < SYMBOLS ? n : SYMBOLS, symbol, variant);
    snprintf(name, cap, "%s", at < SYMBOLS ? symbols[at].name : "");
    return at < SYMBOLS ? symbols[at].line : 1;
}

static void load_file(struct lab_bench_state *st,
                      const struct lab_bench_result *row)
{
    const char *text = NULL;
    size_t bytes = 0;
    st->kernel_problem[0] = '\0';
    lab_doc_clear(&st->kernel);
    if (st->model->source(st->model->user, row->source, &text, &bytes)) {
        snprintf(st->kernel_problem, sizeof(st->kernel_problem), "%s",
                 lab_error());
        return;
    }
    lab_source_write(&st->kernel, text, bytes, false);
    if (lab_doc_check(&st->kernel)) {
        lab_doc_clear(&st->kernel);
        snprintf(st->kernel_problem, sizeof(st->kernel_problem), "%s",
                 lab_error());
        return;
    }
    lab_pager_show(&st->kernel_pager, &st->kernel);
    char name[96];
    int64_t line = lab_bench_kernel_find(text, bytes, row->symbol, row->variant,
                                         name, sizeof(name));
    /* A line or two before: `template` and `__global__` stand there. */
    lab_pager_goto(&st->kernel_pager, (size_t)(line > 2 ? line - 3 : 0));
}

static void bench_kernel_load(struct lab_bench_state *st)
{
    const struct lab_bench_result *row = bench_chosen(st);
    if (!row || (strcmp(st->kernel_of, row->source) == 0 &&
                 strcmp(st->kernel_variant, row->variant) == 0))
        return;
    snprintf(st->kernel_of, sizeof(st->kernel_of), "%s", row->source);
    snprintf(st->kernel_variant, sizeof(st->kernel_variant), "%s",
             row->variant);
    load_file(st, row);
}

static void bench_kernel_draw(struct lab_bench_state *st, struct lab_canvas *c,
                              struct lab_rect r)
{
    char title[128];
    snprintf(title, sizeof(title), "Kernel: %s",
             st->kernel_of[0] ? st->kernel_of : "none");
    lab_canvas_heading(c, &r, title, st->scrolling == RIGHT && !st->reading);
    if (st->kernel_problem[0])
        lab_canvas_paragraph(c, r, LAB_ROLE_BAD, st->kernel_problem);
    else
        lab_pager_draw(&st->kernel_pager, c, r);
}

/* ---- profile ---- */

struct page {
    struct lab_canvas *c;
    struct lab_rect r;
    bool counting; /* nothing is drawn: how many lines are there? */
    int lines;
    int spare; /* rows that long lines may take */
};

static void line_of(struct page *p, const char *name, const char *fmt, ...)
    LAB_PRINTF(3, 4);

static void line_of(struct page *p, const char *name, const char *fmt, ...)
{
    enum { LABEL_W = 13 };
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    int more =
        lab_canvas_paragraph_rows(p->c, p->r.w - LABEL_W, p->spare + 1, text) -
        1;
    more = more > 0 ? more : 0;
    p->lines++;
    if (p->counting)
        return;
    p->spare -= more;
    struct lab_rect row = lab_rect_cut_top(&p->r, 1 + more);
    if (lab_rect_empty(row))
        return;
    struct lab_rect label = lab_rect_cut_left(&row, LABEL_W);
    lab_canvas_text(p->c, label.y, label.x, label.w, LAB_ROLE_DIM, name);
    lab_canvas_paragraph(p->c, row, LAB_ROLE_NORMAL, text);
}

static void model_line(struct page *p, const struct lab_bench_data *lab,
                       const struct lab_bench_result *r)
{
    char rate[48] = "none";
    const char *why = lab_bench_model_passed(lab->unit, r->rate, r->rate_model,
                                             r->bytes, r->traffic_bytes);
    if (!isnan(r->rate_model))
        lab_bench_rate_text(lab, r->rate_model, rate, sizeof(rate));
    line_of(p, "model", "%s%s%s", rate, why ? ", passed: " : "",
            why ? why : "");
}

/* The set's is the highest of its precisions; a row's share is of its own. */
static const char *ceiling_of(const struct lab_bench_data *lab,
                              const struct lab_bench_result *r)
{
    const char *name = lab->sets[r->set].ceiling_name;
    const char *precision = lab_bench_precision_text(lab, r);
    return lab->unit != LAB_UNIT_FLOPS || strstr(name, precision) ? name
                                                                  : precision;
}

static void rate_line(struct page *p, const struct lab_bench_data *lab,
                      const struct lab_bench_result *r)
{
    char rate[48];
    const char *passed = lab_bench_ceiling_passed(lab->unit, r->share);
    lab_bench_rate_text(lab, r->rate, rate, sizeof(rate));
    if (!passed && lab_bench_ceiling_beaten(lab, r->set, r->size_index,
                                            lab_bench_row_ceiling(r)))
        passed =
            "another variant is faster than what was measured as the ceiling";
    if (passed || isnan(r->share))
        line_of(p, "rate", "%s%s%s", rate, passed ? "; " : "",
                passed ? passed : "");
    else
        line_of(p, "rate", "%s, %.1f %% of the ceiling (%s)", rate,
                100 * r->share, ceiling_of(lab, r));
}

static void gain_line(struct page *p, const struct lab_bench_data *lab,
                      const struct lab_bench_result *r)
{
    char model[48] = "";
    const struct lab_bench_result *over = lab_bench_gain_over(lab, r);
    if (isnan(r->gain))
        return;
    if (!isnan(r->gain_model))
        snprintf(model, sizeof(model), "; the model: %.3g x", r->gain_model);
    line_of(p, "gain", "%.3g x over %s%s", r->gain,
            over ? over->variant : "the variant before", model);
}

static void work_line(struct page *p, const struct lab_bench_result *r)
{
    bool traffic = !isnan(r->traffic_bytes);
    line_of(p, "work", "%s, %s needed%s%s", LAB_AMOUNT_TEXT(r->flop, "FLOP"),
            LAB_BYTES_TEXT(r->bytes),
            traffic ? "; asked of L2 and memory by the model: " : "",
            traffic ? LAB_BYTES_TEXT(r->traffic_bytes) : "");
}

/* In place of times. */
static void simulated_lines(struct page *p, const struct lab_bench_result *r)
{
    const struct lab_counters *c = &r->counted;
    char sectors[64] = "no loads";
    if (c->load_requests > 0)
        snprintf(sectors, sizeof(sectors), "%.3g sectors a load of a warp",
                 c->sectors_per_load);
    line_of(p, "simulated",
            "%s, %s, %s conflicts of banks, %.1f of 32 lanes active",
            LAB_AMOUNT_TEXT(lab_counters_flop(c), "FLOP"), sectors,
            LAB_INT_TEXT((int64_t)c->bank_conflicts), c->lanes_per_inst);
}

static void launch_lines(struct page *p, const struct lab_bench_result *r)
{
    char achieved[48] = "";
    char occupancy[48] = LAB_NA;
    const struct lab_launch *l = &r->launch;
    bool simulated = r->counted.warp_inst > 0;
    if (!simulated && isnan(r->occupancy_pct) &&
        l->registers_per_thread == LAB_UNKNOWN)
        return;
    if (r->kernel)
        line_of(p, r->kernels > 1 && !simulated ? "longest of" : "kernel",
                "%s, %s blocks of %s%s", r->kernel, LAB_DIMS_TEXT(l->grid),
                LAB_DIMS_TEXT(l->block),
                r->kernels > 1 && simulated ? ", and more" : "");
    if (simulated)
        simulated_lines(p, r);
    if (!isnan(r->achieved_pct))
        snprintf(achieved, sizeof(achieved), ", %.4g %% achieved",
                 r->achieved_pct);
    if (!isnan(r->occupancy_pct))
        snprintf(occupancy, sizeof(occupancy), "%.4g %%", r->occupancy_pct);
    line_of(p, "occupancy", "%s%s: %s registers a thread, %s shared a block",
            occupancy, achieved, LAB_INT_TEXT(l->registers_per_thread),
            LAB_BYTES_TEXT(lab_to_real(lab_launch_shared(l))));
    if (!isnan(r->dram_bytes))
        line_of(p, "DRAM", "%s counted", LAB_BYTES_TEXT(r->dram_bytes));
}

static void state_line(struct page *p, const struct lab_bench_result *r)
{
    char state[96] = "";
    char work[48] = "";
    if (!isnan(r->sm_clock_after_hz))
        snprintf(state, sizeof(state), "; SM clock %s, %.0f C, %s",
                 LAB_AMOUNT_TEXT(r->sm_clock_after_hz, "Hz"), r->temperature_c,
                 LAB_AMOUNT_TEXT(r->power_w, "W"));
    if (!isnan(lab_bench_flop_per_j(r)))
        snprintf(work, sizeof(work), ", %s per W",
                 LAB_AMOUNT_TEXT(lab_bench_flop_per_j(r), "FLOP/s"));
    line_of(p, "checked", "error at %.3g %% of tolerance%s%s",
            100 * r->check_error, state, work);
}

static void error_line(struct page *p, const struct lab_bench_data *lab,
                       const struct lab_bench_result *r)
{
    if (!lab->error_is)
        return;
    if (isnan(r->error))
        line_of(p, "error", LAB_NA ": it was recorded without");
    else
        line_of(p, "error", "%.2e: %s", r->error, lab->error_is);
}

static void prediction_lines(struct page *p, const struct lab_bench_data *lab,
                             const struct lab_bench_result *r)
{
    char text[300];
    if (!lab_prediction_any(&r->predicted))
        return;
    line_of(p, "predicted", "%s",
            lab_prediction_text(lab, &r->predicted, text, sizeof(text)));
    lab_prediction_ratio_text(lab->unit, &r->predicted, r, text, sizeof(text));
    if (text[0])
        line_of(p, "measured", "%s", text);
}

static void time_lines(struct page *p, const struct lab_bench_data *lab,
                       const struct lab_bench_result *row)
{
    line_of(p, "time", "median %s, IQR %s to %s, least %s",
            LAB_NS_TEXT(row->median_ns), LAB_NS_TEXT(row->quarter_ns),
            LAB_NS_TEXT(row->three_quarters_ns), LAB_NS_TEXT(row->min_ns));
    rate_line(p, lab, row);
    model_line(p, lab, row);
    gain_line(p, lab, row);
    line_of(p, "bound by", "%s",
            row->bound ? row->bound
                       : "not known: its ceiling was not measured");
}

static void profile_lines(struct page *p, const struct lab_bench_data *lab,
                          const struct lab_bench_result *row)
{
    line_of(p, "idea", "%s", row->idea);
    if (row->state == LAB_BENCH_FAILED)
        return;
    if (row->state != LAB_BENCH_DONE) {
        line_of(p, "time", "%s", lab_bench_state_text(row->state));
        prediction_lines(p, lab, row);
        return;
    }
    if (row->note)
        line_of(p, "note", "%s", row->note);
    if (!lab->sets[row->set].untimed)
        time_lines(p, lab, row);
    prediction_lines(p, lab, row);
    work_line(p, row);
    launch_lines(p, row);
    state_line(p, row);
    error_line(p, lab, row);
}

static void bench_profile_draw(const struct lab_bench_state *st,
                               struct lab_canvas *c, struct lab_rect r)
{
    const struct lab_bench_result *row = bench_chosen(st);
    struct page p = {.c = c, .r = r, .counting = true};
    char title[160];
    if (!row || lab_rect_empty(r))
        return;
    snprintf(title, sizeof(title), "Profile: %s, %s, size %s", row->variant,
             lab_bench_precision_text(&st->lab, row), row->size);
    lab_canvas_heading(c, &p.r, title, false);
    profile_lines(&p, &st->lab, row);
    bool failed = row->state == LAB_BENCH_FAILED;
    p.counting = false;
    p.spare = p.r.h > p.lines && !failed ? p.r.h - p.lines : 0;
    profile_lines(&p, &st->lab, row);
    if (failed)
        lab_canvas_paragraph(c, p.r, LAB_ROLE_BAD,
                             row->reason ? row->reason : "");
}

/* What the lab's screen shows, and where. */

enum {
    WIDE_W = 140, /* from here on pictures and source stand beside the table */
    TEXT_BESIDE_W = 180, /* and the text, when the lab opens */
    WIDE_H = 30,
    FACTS_H = 2,
    WORDS_H = 2,
    LOWER_H = 8,
    TABLE_H = 4, /* that it keeps on a small screen */
    PROFILE_H = 13
};

static const char *const LOWER_TITLES[LAB_LOWERS] = {
    "Variants", "Rates", "Kernel", "Profile", "The course's figures"};

struct lab_bench_layout lab_bench_layout(struct lab_rect body, int variants,
                                         int slides, bool tall, int lanes)
{
    struct lab_bench_layout l = {.wide = body.w >= WIDE_W && body.h >= WIDE_H};
    int rows = variants + 1;
    l.facts = lab_rect_cut_top(&body, FACTS_H);
    if (!l.wide) {
        int lower = body.h - WORDS_H - rows;
        int most = body.h - WORDS_H - (rows < TABLE_H ? rows : TABLE_H);
        lower = tall ? most : lower > LOWER_H ? lower : LOWER_H;
        l.lower = lab_rect_cut_bottom(&body, lower < most ? lower : most);
        l.words = lab_rect_cut_bottom(&body, WORDS_H);
        l.table = body;
        return l;
    }
    struct lab_rect right = lab_rect_cut_right(&body, body.w * 2 / 5);
    lab_rect_cut_left(&right, 1);
    l.profile = lab_rect_cut_top(&right, PROFILE_H);
    l.kernel = right;
    l.table = lab_rect_cut_top(&body, rows < body.h / 3 ? rows : body.h / 3);
    l.words = lab_rect_cut_top(&body, WORDS_H);
    if (slides > 0)
        l.slide = lab_rect_cut_bottom(&body, slides < 4 ? slides + 1 : 5);
    int bars = rows + 1 + lanes;
    bars = bars < body.h / 2 ? bars : body.h / 2;
    l.bars = lab_rect_cut_top(&body, bars);
    l.rates = body;
    return l;
}

/* ---- facts ---- */

static void draw_state(const struct lab_bench_state *st, struct lab_canvas *c,
                       struct lab_rect row)
{
    const struct lab_bench_data *lab = &st->lab;
    const struct lab_bench_set *set = &lab->sets[st->set];
    char text[80];
    int x = row.x;
    if (!set->untimed || lab->running >= 0) /* its device's name has it */
        x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_TITLE,
                              "%s: ", set->name);
    if (lab->running >= 0) {
        int w = row.w > 120 ? 60 : row.w > 76 ? 40 : row.w / 3;
        struct lab_rect gauge = lab_rect_cut_right(&row, w);
        lab_format_progress(lab->done, lab->total, lab->elapsed_ns, "rows",
                            text, sizeof(text));
        lab_gauge_draw(c, gauge.y, gauge.x, gauge.w,
                       lab->total ? (double)lab->done / (double)lab->total : 0,
                       LAB_ROLE_GOOD, text);
        lab_canvas_text_cut(c, row.y, x, row.x + row.w - x - 1, LAB_ROLE_WARN,
                            lab->doing);
        return;
    }
    x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_NORMAL, "%s", set->device);
    /* What went wrong comes first: the end of a long line is cut off. */
    if (lab->problem[0] && lab->problem_set == st->set)
        x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_BAD, "; %s",
                              lab->problem);
    if (set->note[0])
        lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM, ", %s", set->note);
}

static void draw_sizes(const struct lab_bench_state *st, struct lab_canvas *c,
                       struct lab_rect row)
{
    const struct lab_bench_data *lab = &st->lab;
    const struct lab_bench_set *set = &lab->sets[st->set];
    const struct lab_bench_result *r = bench_chosen(st);
    const bool own = r && lab->unit == LAB_UNIT_FLOPS && r->share > 0;
    const double ceiling = own ? lab_bench_row_ceiling(r) : set->ceiling;
    char rate[48];
    int x = row.x;
    if (!isnan(ceiling)) {
        char text[120];
        bool beaten = lab_bench_ceiling_beaten(lab, st->set, st->size, ceiling);
        snprintf(text, sizeof(text), "%s %s (%s)",
                 beaten ? "not a ceiling:" : "ceiling",
                 lab_bench_rate_text(lab, ceiling, rate, sizeof(rate)),
                 own ? ceiling_of(lab, r) : set->ceiling_name);
        int w = lab_canvas_columns(c, text);
        struct lab_rect right =
            lab_rect_cut_right(&row, w < row.w / 2 ? w : row.w / 2);
        lab_canvas_text_cut(c, right.y, right.x, right.w, LAB_ROLE_DIM, text);
        lab_rect_cut_right(&row, 2);
    }
    struct lab_rect old = lab_canvas_clip(c, row);
    x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM, "%s ",
                          lab->size_name ? lab->size_name : "size");
    /* From the first on with which the chosen one fits. */
    int first = st->size < 0 ? 0 : st->size;
    int room = row.x + row.w - x - 3; /* of "... " before it */
    for (; first >= 0; first--) {
        bool here = first < lab->size_count && lab->sizes[first].set == st->set;
        room -= here ? lab_canvas_columns(c, lab->sizes[first].text) + 2 : 0;
        if (room < 0 && first < st->size)
            break;
    }
    bool more = false;
    for (int i = 0; i <= first; i++)
        more |= lab->sizes[i].set == st->set;
    if (more)
        x += lab_canvas_text(c, row.y, x, 3, LAB_ROLE_DIM, "...");
    for (int i = first + 1; i < lab->size_count; i++) {
        bool here = i == st->size;
        if (lab->sizes[i].set == st->set)
            x += lab_canvas_textf(c, row.y, x, -1,
                                  here ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
                                  here ? "[%s]" : " %s ", lab->sizes[i].text);
    }
    lab_canvas_unclip(c, old);
}

/* ---- words ---- */

enum { CHOSEN = 400 };

/* "" where nothing is chosen. */
static enum lab_role chosen_text(const struct lab_bench_state *st,
                                 char out[CHOSEN])
{
    const struct lab_bench_result *r = bench_chosen(st);
    char predicted[96];
    char off[300];
    out[0] = '\0';
    if (!r)
        return LAB_ROLE_NORMAL;
    lab_prediction_ratio_text(st->lab.unit, &r->predicted, r, off, sizeof(off));
    lab_prediction_text(&st->lab, &r->predicted, predicted, sizeof(predicted));
    if (predicted[0] && !off[0])
        snprintf(off, sizeof(off), "you predicted %s", predicted);
    int n = snprintf(out, CHOSEN, "%s: %s", r->variant,
                     r->reason ? r->reason
                     : off[0]  ? off
                     : r->note ? r->note
                               : r->idea);
    const char *passed = lab_bench_ceiling_passed(st->lab.unit, r->share);
    if (passed && n < CHOSEN)
        snprintf(out + n, CHOSEN - (size_t)n, "; %s", passed);
    return r->reason ? LAB_ROLE_BAD : LAB_ROLE_NORMAL;
}

/* A text longer than its row gets more of them, from what is below: the end
 * of an error has the remedy. */
static void make_room(const struct lab_bench_state *st,
                      const struct lab_canvas *c, struct lab_bench_layout *l)
{
    enum { MOST = 4, KEEP = 4 };
    char text[CHOSEN];
    struct lab_rect *below = l->wide ? &l->bars : &l->lower;
    chosen_text(st, text);
    int more = lab_canvas_paragraph_rows(c, l->words.w, MOST, text) - 1;
    if (more > 0 && below->h >= more + KEEP)
        l->words.h += lab_rect_cut_top(below, more).h;
}

static void draw_chosen(const struct lab_bench_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    const struct lab_bench_result *row = bench_chosen(st);
    char text[CHOSEN];
    enum lab_role role = chosen_text(st, text);
    lab_canvas_paragraph(c, r, role, text);
    if (row && !lab_rect_empty(r))
        lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_TITLE, "%s:", row->variant);
}

/* The fastest, and its prediction; before that, what can be done. */
static void draw_best(const struct lab_bench_state *st, struct lab_canvas *c,
                      struct lab_rect row)
{
    const struct lab_bench_data *lab = &st->lab;
    char text[400];
    char predicted[96];
    char off[300];
    char rate[48];
    if (st->size < 0)
        return;
    const struct lab_prediction *best_predicted = &lab->sizes[st->size].best;
    const struct lab_bench_result *best = lab_bench_best(lab, st->size);
    lab_prediction_text(lab, best_predicted, predicted, sizeof(predicted));
    if (!best) {
        bool idle = lab->running < 0 && lab->sets[st->set].runs;
        snprintf(text, sizeof(text), "%s%s%s",
                 predicted[0] ? "predicted for the fastest: " : "", predicted,
                 !idle          ? ""
                 : predicted[0] ? "; r runs the ladder"
                 : lab->sets[st->set].untimed
                     ? "r runs the ladder, i goes into the chosen variant's "
                       "kernel, t has the text"
                     : "r runs the ladder, p predicts the variant, t has "
                       "the text and its questions");
        lab_canvas_text_cut(c, row.y, row.x, row.w, LAB_ROLE_DIM, text);
        return;
    }
    int n = snprintf(text, sizeof(text), "fastest: %s, %s", best->variant,
                     lab_bench_rate_text(lab, best->rate, rate, sizeof(rate)));
    lab_prediction_ratio_text(lab->unit, best_predicted, best, off,
                              sizeof(off));
    if (off[0])
        snprintf(text + n, sizeof(text) - (size_t)n, ": %s", off);
    lab_canvas_text_cut(c, row.y, row.x, row.w, LAB_ROLE_GOOD, text);
}

static void draw_words(const struct lab_bench_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    struct lab_rect best = lab_rect_cut_bottom(&r, r.h > 1 ? 1 : 0);
    draw_chosen(st, c, r);
    if (best.h > 0)
        draw_best(st, c, best);
}

/* ---- the course's figures ---- */

/* Those of the size that is shown, then the others. */
static enum lab_status write_slides(struct lab_bench_state *st)
{
    const char *size = st->size >= 0 ? st->lab.sizes[st->size].text : "";
    int n = st->lab.slide_count;
    lab_doc_clear(&st->slides);
    for (int k = 0; k < 2 * n; k++) {
        const struct lab_bench_slide *s = &st->lab.slides[k % n];
        char text[LAB_BENCH_SLIDE_TEXT];
        if ((strcmp(s->course->size, size) == 0) != (k < n))
            continue;
        lab_doc_para(&st->slides, 0, 2, true);
        lab_doc_add(&st->slides, LAB_ROLE_DIM, "- ");
        lab_doc_add(&st->slides, LAB_ROLE_NORMAL,
                    lab_bench_slide_text(s, text, sizeof(text)));
    }
    if (n == 0) {
        lab_doc_para(&st->slides, 0, 0, true);
        lab_doc_add(&st->slides, LAB_ROLE_DIM,
                    "The course prints none for this lab.");
    }
    if (strcmp(st->slides_of, size) == 0)
        lab_pager_renew(&st->slide_pager);
    else
        lab_pager_show(&st->slide_pager, &st->slides);
    snprintf(st->slides_of, sizeof(st->slides_of), "%s", size);
    return lab_doc_check(&st->slides);
}

static void draw_slides(struct lab_bench_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    char title[128];
    char place[64];
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_pager_draw(&st->slide_pager, c, r); /* before its place is asked */
    bool all = lab_pager_lines(&st->slide_pager, r.w, c->ascii) <=
               (size_t)(r.h > 0 ? r.h : 0);
    snprintf(title, sizeof(title), "%s%s%s%s", LOWER_TITLES[LAB_LOWER_SLIDE],
             all ? "" : ", lines ",
             all ? "" : lab_pager_place(&st->slide_pager, place, sizeof(place)),
             all || st->scrolling == SLIDES ? "" : "; Tab moves");
    lab_canvas_heading(c, &head, title, st->scrolling == SLIDES);
}

/* ---- recorded rows, in place of those that have not run ---- */

/* The ladder as it was recorded, at its largest size, while no row of what is
 * shown has a result: -1, there is none, or the rows have their own. */
static int64_t recorded_row(const struct lab_bench_state *st)
{
    const struct lab_bench_data *lab = &st->lab;
    int64_t best = -1;
    for (int64_t i = 0; i < lab->row_count; i++) {
        const struct lab_bench_result *r = &lab->rows[i];
        if (r->set == st->set && r->size_index == st->size &&
            (r->state != LAB_BENCH_WAITING ||
             lab_prediction_any(&r->predicted)))
            return -1; /* their own bars, with the mark of what is predicted */
        if (lab->sets[r->set].runs || lab->sets[r->set].untimed ||
            r->set == st->set || r->state != LAB_BENCH_DONE)
            continue;
        if (best < 0 || lab->sizes[r->size_index].x >
                            lab->sizes[lab->rows[best].size_index].x)
            best = i;
    }
    return lab->running >= 0 ? -1 : best;
}

static int rows_of(const struct lab_bench_data *lab, int set, int size)
{
    int n = 0;
    for (int64_t i = 0; i < lab->row_count; i++)
        n += lab->rows[i].set == set && lab->rows[i].size_index == size;
    return n;
}

static void bars_heading(const struct lab_bench_state *st,
                         const struct lab_bench_chart *bars, char *out,
                         size_t cap)
{
    if (bars->set == st->set)
        snprintf(out, cap, "%s", LOWER_TITLES[LAB_LOWER_BARS]);
    else
        snprintf(out, cap, "Variants as recorded on %s, P: all",
                 st->lab.sets[bars->set].device);
}

/* Bars of the set that is shown answer to the mouse; others name no row of it. */
static void draw_bars_pane(struct lab_bench_state *st, struct lab_canvas *c,
                           struct lab_rect r,
                           const struct lab_bench_chart *bars)
{
    char heading[160];
    bars_heading(st, bars, heading, sizeof(heading));
    lab_canvas_heading(c, &r, heading, false);
    if (bars->set == st->set)
        st->bars_at = r;
    lab_bench_bars_draw(c, r, bars);
}

/* ---- all ---- */

static void draw_lower(struct lab_bench_state *st, struct lab_canvas *c,
                       struct lab_rect r, const struct lab_bench_chart *bars,
                       const struct lab_bench_chart *rates)
{
    if (lab_rect_empty(r))
        return;
    switch (st->lower) {
    case LAB_LOWER_KERNEL:
        bench_kernel_draw(st, c, r);
        return;
    case LAB_LOWER_PROFILE:
        bench_profile_draw(st, c, r);
        return;
    case LAB_LOWER_SLIDE:
        draw_slides(st, c, r);
        return;
    case LAB_LOWER_RATES:
        st->rates_at = lab_bench_rates_draw(c, r, rates);
        return;
    default:
        draw_bars_pane(st, c, r, bars);
    }
}

/* Whether there is something to draw rates of. */
static bool has_rates(const struct lab_bench_state *st)
{
    for (int64_t i = 0; i < st->lab.row_count; i++)
        if (st->lab.rows[i].state == LAB_BENCH_DONE)
            return true;
    return st->lab.slide_count > 0;
}

/* The lesson's text, which has the questions and what to look at. */
static void draw_text(struct lab_bench_state *st, struct lab_canvas *c,
                      struct lab_rect r)
{
    if (lab_rect_empty(r))
        return;
    lab_canvas_heading(c, &r, "The text, t: all", false);
    lab_pager_draw(&st->text_pager, c, r);
}

/* Cuts from `r` what is below a pager with so many rows above its text; empty where
 * that is too little for another text. */
static struct lab_rect rows_left(struct lab_pager *p, struct lab_rect *r,
                                 int above, bool ascii)
{
    enum { LEAST = 8 };
    int used = (int)lab_pager_lines(p, r->w, ascii) + above + 1;
    return r->h - used >= LEAST ? lab_rect_cut_bottom(r, r->h - used)
                                : (struct lab_rect){0};
}

/* The text while it is read, in the place of the profile and the source. */
static void draw_text_beside(struct lab_bench_state *st, struct lab_canvas *c,
                             const struct lab_bench_layout *l)
{
    struct lab_rect r = l->profile;
    r.h += l->kernel.h;
    const bool focused = st->scrolling == RIGHT;
    lab_canvas_heading(c, &r,
                       focused
                           ? "The text, t: profile and source, Tab: the others"
                           : "The text, t: profile and source",
                       focused);
    lab_pager_draw(&st->text_pager, c, r);
}

static void draw_wide(struct lab_bench_state *st, struct lab_canvas *c,
                      struct lab_bench_layout *l,
                      const struct lab_bench_chart *bars,
                      const struct lab_bench_chart *rates)
{
    bool texts = has_rates(st);
    draw_bars_pane(st, c, l->bars, bars);
    if (texts) {
        st->rates_at = lab_bench_rates_draw(c, l->rates, rates);
    } else if (st->reading) {
        bench_kernel_draw(st, c, l->rates);
    } else { /* what to predict first */
        draw_text(st, c, l->rates);
    }
    if (l->slide.h > 0)
        draw_slides(st, c, l->slide);
    if (st->reading) {
        draw_text_beside(st, c, l);
        return;
    }
    bench_profile_draw(st, c, l->profile);
    struct lab_rect below = {0};
    if (texts && !st->kernel_problem[0])
        below = rows_left(&st->kernel_pager, &l->kernel, 1, c->ascii);
    bench_kernel_draw(st, c, l->kernel);
    draw_text(st, c, below);
}

/* Bars are held against the ceiling; rates of a CPU and a GPU, or of the first
 * variant and the last, are powers of ten apart. */
static struct lab_bench_chart chart_of(const struct lab_bench_state *st,
                                       bool rates)
{
    return (struct lab_bench_chart){.lab = &st->lab,
                                    .set = st->set,
                                    .size = st->size,
                                    .chosen = bench_chosen_row(st),
                                    .log = st->log !=
                                           (rates || st->lab.far_apart)};
}

/* A lab that is no ladder, with the rows of what it measures. */
static bool has_picture(const struct lab_bench_state *st)
{
    return st->lab.command[0] && st->lab.set_count > 0 && st->size >= 0;
}

/* A narrow terminal has either the picture or the text. Recorded rows arrive while the
 * text is read: they are announced, and a key shows them. */
static bool picture_alone(const struct lab_bench_state *st)
{
    return has_picture(st) && !st->wide && st->drawn;
}

/* Of a command: what it has printed, else the lesson's text. */
static struct lab_pager *words_of(struct lab_bench_state *st)
{
    return st->lab.output.len > 0 ? &st->output_pager : &st->text_pager;
}

/* The machine, the size where there are several pictures, bars, what the chosen one
 * is, and times against the size. */
static void draw_picture(struct lab_bench_state *st, struct lab_canvas *c,
                         struct lab_rect r)
{
    enum { RATES_LEAST = 6 };
    const struct lab_bench_set *set = set_of(st);
    const struct lab_bench_chart bars = chart_of(st, false);
    const struct lab_bench_chart rates = chart_of(st, true);
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    lab_canvas_textf(c, row.y, row.x, row.w, LAB_ROLE_NORMAL, "%s: %s, %s",
                     set->name, set->device, set->note);
    if (!st->lab.by_size)
        draw_sizes(st, c, lab_rect_cut_top(&r, 1));
    struct lab_rect words = lab_rect_cut_bottom(&r, r.h > 4 ? 2 : 0);
    draw_chosen(st, c, words);
    int rows = lab_bench_bars_rows(&bars);
    struct lab_rect at = lab_rect_cut_top(&r, rows < r.h ? rows : r.h);
    lab_bench_bars_draw(c, at, &bars);
    if (!st->lab.by_size || r.h < RATES_LEAST)
        return;
    lab_bench_rates_draw(c, r, &rates);
}

enum { OUTPUT_W = 79 };

/* Of a lab with a picture: what it has printed, else its text, and the picture; beside
 * each other where both fit. */
static void draw_output(struct lab_bench_state *st, struct lab_canvas *c,
                        struct lab_rect body)
{
    bool wide = body.w >= WIDE_W;
    if (!wide && st->drawn) {
        draw_picture(st, c, body);
        return;
    }
    struct lab_rect left = wide ? lab_rect_cut_left(&body, OUTPUT_W) : body;
    if (st->lab.output.len > 0)
        lab_pager_draw(&st->output_pager, c, left);
    else
        draw_text(st, c, left);
    if (!wide)
        return;
    lab_rect_cut_left(&body, 1);
    draw_picture(st, c, body);
}

/* A lab that is no ladder: its command, and below it what that has printed. */
static void draw_command(struct lab_bench_state *st, struct lab_canvas *c,
                         struct lab_rect body)
{
    const struct lab_bench_data *lab = &st->lab;
    struct lab_rect row = body;
    char problem[sizeof(lab->problem) + 32];
    snprintf(problem, sizeof(problem), "%s%s", lab->problem,
             lab->output.len == 0 ? ""
             : picture_alone(st)  ? "; v has what it printed"
                                  : "; below is what it printed");
    row.h = lab_canvas_paragraph_rows(c, row.w, row.h, lab->command);
    lab_canvas_paragraph(c, row, LAB_ROLE_TITLE, lab->command);
    lab_rect_cut_top(&body, row.h);
    row = lab_rect_cut_top(&body, 1);
    lab_canvas_text_cut(
        c, row.y, row.x, row.w, lab->problem[0] ? LAB_ROLE_WARN : LAB_ROLE_DIM,
        lab->running >= 0 ? "it runs; x stops it"
        : lab->problem[0] ? problem
        : lab->output.len == 0
            ? picture_alone(st) ? "r runs it; v has the text"
              : has_picture(st) && !st->wide
                  ? "r runs it; v has the picture of recorded results"
                  : "r runs it; t has the text and its questions"
        : !has_picture(st)  ? "what it has printed; r runs it again"
        : picture_alone(st) ? "its picture; v has what it has printed"
        : st->wide          ? "what it has printed, and its picture"
                            : "what it has printed; v has its picture");
    lab_rect_cut_top(&body, body.h > 8 ? 1 : 0);
    if (has_picture(st)) {
        draw_output(st, c, body);
        return;
    }
    struct lab_rect text = body; /* beside what is printed, or below it */
    if (lab->output.len > 0) {
        if (st->wide) {
            body = lab_rect_cut_left(&text, OUTPUT_W);
            lab_rect_cut_left(&text, 1);
        } else {
            text = rows_left(&st->output_pager, &body, 0, c->ascii);
        }
        lab_pager_draw(&st->output_pager, c, body);
    }
    draw_text(st, c, text);
}

/* The text alone, or the picture beside it. */
static void draw_reading(struct lab_bench_state *st, struct lab_canvas *c,
                         struct lab_rect body)
{
    struct lab_rect left = body;
    if (st->beside) {
        left = lab_rect_cut_left(&body, TEXT_W);
        lab_rect_cut_left(&body, 1);
        draw_picture(st, c, body);
    }
    lab_pager_draw(&st->text_pager, c, left);
}

/* A variant that has not run has two lines: the source gets the others. */
static void fit_profile(const struct lab_bench_state *st, struct lab_canvas *c,
                        struct lab_bench_layout *l)
{
    const struct lab_bench_result *row = bench_chosen(st);
    struct page p = {.c = c, .r = l->profile, .counting = true};
    if (!l->wide || !row || row->state == LAB_BENCH_DONE ||
        row->state == LAB_BENCH_FAILED)
        return;
    profile_lines(&p, &st->lab, row);
    int spare = l->profile.h - p.lines - 2;
    if (spare < 1)
        return;
    l->profile.h -= spare;
    l->kernel.y -= spare;
    l->kernel.h += spare;
}

static void bench_draw(struct lab_screen *s, struct lab_canvas *c,
                       struct lab_rect body)
{
    struct lab_bench_state *st = s->state;
    bool tall = st->lower == LAB_LOWER_RATES || st->lower == LAB_LOWER_SLIDE;
    const int64_t recorded = recorded_row(st);
    struct lab_bench_chart bars = chart_of(st, false);
    const struct lab_bench_chart rates = chart_of(st, true);
    if (recorded >= 0) {
        bars.set = st->lab.rows[recorded].set;
        bars.size = st->lab.rows[recorded].size_index;
        bars.chosen = -1;
    }
    int more = rows_of(&st->lab, bars.set, bars.size) - (int)st->table.count;
    struct lab_bench_layout l =
        lab_bench_layout(body, (int)st->table.count, st->lab.slide_count, tall,
                         lab_bench_lanes_rows(&bars) + (more > 0 ? more : 0));
    fit_profile(st, c, &l);
    const bool command = st->lab.command[0];
    st->wide = command ? body.w >= WIDE_W : l.wide;
    st->beside = st->reading && st->wide &&
                 (command ? has_picture(st) : body.w >= TEXT_BESIDE_W);
    st->bars_at = st->rates_at = (struct lab_rect){0};
    if (st->reading && (command || !st->beside)) {
        draw_reading(st, c, body);
        return;
    }
    if (command) {
        draw_command(st, c, body);
        return;
    }
    if (st->lab.set_count == 0) {
        lab_canvas_text(c, body.y, body.x, body.w, LAB_ROLE_DIM,
                        st->lab.problem[0] ? st->lab.problem
                                           : "looking for what can be run ...");
        if (st->beside)
            draw_text_beside(st, c, &l);
        return;
    }
    make_room(st, c, &l);
    draw_state(st, c, lab_rect_cut_top(&l.facts, 1));
    draw_sizes(st, c, l.facts);
    lab_table_draw(&st->table, c, l.table, st->scrolling == ROWS);
    draw_words(st, c, l.words);
    if (l.wide)
        draw_wide(st, c, &l, &bars, &rates);
    else
        draw_lower(st, c, l.lower, &bars, &rates);
}

/* The screen of a lab: a ladder of kernels, predicted, run, looked at. */

enum { PROMPT_RUN = 1, PROMPT_PREDICT, PROMPT_SIZES };

/* The text while it is read has the keys, then the table. Of a command what is at the
 * left has them, which is the text as well. */
static void read_text(struct lab_bench_state *st, bool reading)
{
    if (reading != st->reading)
        st->scrolling = reading && !st->lab.command[0] ? RIGHT : ROWS;
    st->reading = reading;
}

/* ---- the newest data ---- */

/* The size of another copy that reads the same, else the set's first. */
static int same_size(const struct lab_bench_data *lab, int set,
                     const char *text)
{
    int same = lab_bench_size_find(lab, set, text);
    for (int i = 0; i < lab->size_count && same < 0; i++)
        if (lab->sizes[i].set == set)
            same = i;
    return same;
}

static bool any_row_predicted(const struct lab_bench_state *st)
{
    for (int64_t i = 0; i < st->lab.row_count; i++)
        if (st->lab.rows[i].set == st->set &&
            lab_prediction_any(&st->lab.rows[i].predicted))
            return true;
    return false;
}

static bool anything_predicted(const struct lab_bench_state *st)
{
    for (int i = 0; i < st->lab.size_count; i++)
        if (st->lab.sizes[i].set == st->set &&
            lab_prediction_any(&st->lab.sizes[i].best))
            return true;
    return any_row_predicted(st);
}

static enum lab_status show_rows(struct lab_bench_state *st)
{
    int64_t n = 0;
    int64_t *shown =
        lab_alloc_array((size_t)st->lab.row_count + 1, sizeof(*shown));
    if (!shown)
        return lab_no_memory("the rows of a lab");
    for (int64_t i = 0; i < st->lab.row_count; i++)
        if (st->lab.rows[i].set == st->set &&
            (st->lab.by_size || st->lab.rows[i].size_index == st->size))
            shown[n++] = i;
    lab_free(st->shown);
    st->shown = shown;
    bool untimed = st->set < st->lab.set_count && set_of(st)->untimed;
    show_columns(st, COL_SPREAD, COL_MODEL, !untimed);
    show_columns(st, COL_PREDICTED, COL_RATIO, any_row_predicted(st));
    show_columns(st, COL_COUNTED, COL_COUNTED_LAST, untimed);
    st->columns[COL_MEDIAN].title = untimed ? "checked" : "median";
    enum lab_status status = lab_table_set_count(&st->table, n);
    if (!status)
        status = write_slides(st);
    if (!status)
        bench_kernel_load(st);
    return status;
}

static enum lab_status renew(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    struct lab_bench_data fresh;
    char size[LAB_BENCH_NAME] = "";
    enum lab_status status = st->model->snapshot(st->model->user, &fresh);
    if (status)
        return status;
    if (st->size >= 0)
        snprintf(size, sizeof(size), "%s", st->lab.sizes[st->size].text);
    bool first = st->lab.set_count == 0 && fresh.set_count > 0;
    lab_bench_data_release(&st->lab);
    st->lab = fresh;
    if (st->set >= fresh.set_count)
        st->set = 0;
    st->size = same_size(&st->lab, st->set, size);
    /* Also when the run ended between two looks: a small lab takes no longer. */
    if (st->follow && fresh.at_size >= 0 &&
        fresh.sizes[fresh.at_size].set == st->set)
        st->size = fresh.at_size;
    if (st->lab.command[0]) {
        lab_doc_clear(&st->output);
        lab_doc_para(&st->output, 0, 2, true);
        struct lab_str visible;
        lab_str_init(&visible);
        lab_str_add_visible(&visible, lab_str_text(&st->lab.output),
                            st->lab.output.len, true);
        lab_doc_add(&st->output, LAB_ROLE_NORMAL, lab_str_text(&visible));
        lab_str_release(&visible);
        lab_pager_renew(&st->output_pager);
    }
    first = first || has_picture(st); /* its sets come and go */
    if (first && fresh.sets[st->set].badge[0])
        lab_ui_badge(s->ui, fresh.sets[st->set].badge);
    return show_rows(st);
}

static bool tick(struct lab_screen *s)
{
    const struct lab_bench_state *st = s->state;
    if (st->model->version(st->model->user) == st->lab.version)
        return false;
    if (renew(s))
        lab_ui_error(s->ui);
    return true;
}

/* ---- life ---- */

static void release(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    lab_pager_release(&st->text_pager);
    lab_pager_release(&st->kernel_pager);
    lab_pager_release(&st->output_pager);
    lab_pager_release(&st->slide_pager);
    lab_doc_release(&st->slides);
    lab_doc_release(&st->output);
    lab_doc_release(&st->text);
    lab_doc_release(&st->kernel);
    lab_table_release(&st->table);
    lab_bench_data_release(&st->lab);
    lab_free(st->shown);
}

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct lab_bench_state *st = s->state;
    st->model = args;
    st->size = -1;
    st->follow = true;
    lab_bench_data_init(&st->lab);
    lab_doc_init(&st->text);
    lab_doc_init(&st->kernel);
    lab_doc_init(&st->output);
    lab_pager_init(&st->output_pager, &st->output);
    lab_doc_init(&st->slides);
    lab_pager_init(&st->slide_pager, &st->slides);
    table_init(st);
    st->table.empty = "There is no variant for this machine.";
    lab_pager_init(&st->kernel_pager, &st->kernel);
    enum lab_status status = st->model->write_text(st->model->user, &st->text);
    if (!status)
        status = lab_doc_check(&st->text);
    lab_pager_init(&st->text_pager, &st->text);
    st->text_pager.text_w = TEXT_W;
    if (!status)
        status = renew(s);
    read_text(st, true);
    return status;
}

/* ---- keys ---- */

static enum lab_status start(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    read_text(st, false);
    st->drawn = false;
    st->follow = true;
    enum lab_status status = st->model->run(st->model->user, st->set);
    return status ? status : renew(s);
}

static bool any_runs(const struct lab_bench_state *st)
{
    for (int i = 0; i < st->lab.set_count; i++)
        if (st->lab.sets[i].runs)
            return true;
    return false;
}

static enum lab_status can_run(const struct lab_bench_state *st)
{
    if (st->lab.set_count == 0)
        return lab_fail(LAB_E_STATE, "%s",
                        st->lab.problem[0] ? st->lab.problem
                                           : "wait: nothing can be run yet");
    if (st->lab.running >= 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.lab-runs] it is running: x stops it");
    if (!set_of(st)->runs)
        return lab_fail(
            LAB_E_STATE,
            "[screen.lab-recorded-run] these are recorded results: %s",
            any_runs(st) ? "m goes to this machine"
                         : "no variant of this lab runs on this machine");
    if (st->size < 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-run] there is nothing to run here");
    return LAB_OK;
}

static int64_t variants_at(const struct lab_bench_state *st, int size)
{
    int64_t n = 0;
    for (int64_t i = 0; i < st->lab.row_count; i++)
        n += st->lab.rows[i].size_index == size;
    return n;
}

/* The one that a ladder is about: the largest is last. Behind it may be sizes of the
 * course's figures, of fewer variants. */
static int last_size(const struct lab_bench_state *st)
{
    int last = st->size;
    int64_t most = 0;
    for (int i = 0; i < st->lab.size_count; i++) {
        int64_t n = st->lab.sizes[i].set == st->set ? variants_at(st, i) : 0;
        if (n == 0 || n < most)
            continue;
        most = n;
        last = i;
    }
    return last;
}

static void hint(struct lab_screen *s)
{
    const struct lab_bench_state *st = s->state;
    char text[200];
    const char *rate = st->lab.unit == LAB_UNIT_FLOPS   ? "a rate, 8.2T"
                       : st->lab.unit == LAB_UNIT_BYTES ? "a rate, 800G"
                                                        : "a time, 25ns";
    snprintf(text, sizeof(text),
             "%s%s; memory, compute or latency; an occupancy, 50%%; or "
             "several of them",
             rate, st->lab.unit == LAB_UNIT_TIME ? "" : "; a time, 3.5ms");
    lab_ui_hint(s->ui, text);
}

/* A prediction comes first; an empty one is skipped. A simulation has no times
 * that one could predict. */
static enum lab_status ask_and_run(struct lab_screen *s, const char *text)
{
    struct lab_bench_state *st = s->state;
    char label[96];
    enum lab_status status = can_run(st);
    if (status || set_of(st)->untimed || anything_predicted(st))
        return status ? status : start(s);
    snprintf(label, sizeof(label),
             "fastest, size %.32s, you expect (Enter skips): ",
             st->lab.sizes[last_size(st)].text);
    lab_ui_prompt(s->ui, PROMPT_RUN, label, text);
    hint(s);
    return LAB_OK;
}

static enum lab_status ask_prediction(struct lab_screen *s, const char *text)
{
    struct lab_bench_state *st = s->state;
    const struct lab_bench_result *r = bench_chosen(st);
    char label[96];
    char predicted[96];
    if (!r || st->lab.set_count == 0 || !set_of(st)->runs)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-predict] there is nothing to predict here");
    if (r->state == LAB_BENCH_DONE)
        return lab_fail(LAB_E_STATE,
                        "[screen.predict-late] variant %s, size %s, is "
                        "measured: predictions come before",
                        r->variant, r->size);
    snprintf(label, sizeof(label),
             "variant %.16s, size %.32s, you expect: ", r->variant, r->size);
    lab_prediction_text(&st->lab, &r->predicted, predicted, sizeof(predicted));
    lab_ui_prompt(s->ui, PROMPT_PREDICT, label, text ? text : predicted);
    hint(s);
    return LAB_OK;
}

static enum lab_status predict(struct lab_screen *s)
{
    return ask_prediction(s, NULL);
}

static enum lab_status show_set(struct lab_screen *s, int set)
{
    struct lab_bench_state *st = s->state;
    char size[LAB_BENCH_NAME] = "";
    if (st->size >= 0)
        snprintf(size, sizeof(size), "%s", st->lab.sizes[st->size].text);
    st->set = set;
    st->size = same_size(&st->lab, set, size);
    read_text(st, false);
    st->drawn = true; /* results were asked for */
    lab_ui_badge(s->ui, set_of(st)->badge);
    return show_rows(st);
}

static enum lab_status next_set(struct lab_screen *s, int recorded)
{
    struct lab_bench_state *st = s->state;
    int n = st->lab.set_count;
    /* Behind the text of a narrow terminal the recorded ones may be the first. */
    bool hidden = recorded && has_picture(st) && !st->wide && !st->drawn;
    if (hidden && !set_of(st)->runs)
        return show_set(s, st->set);
    for (int k = 1; k < n; k++) {
        int set = (st->set + k) % n;
        if (!recorded || st->lab.sets[set].runs != set_of(st)->runs)
            return show_set(s, set);
    }
    if (recorded && n > 0)
        return lab_fail(
            LAB_E_STATE,
            set_of(st)->runs
                ? "[screen.no-results] no recorded results of this lab are "
                  "installed"
                : "[screen.no-own] these are the recorded results; this "
                  "machine has none of its own yet: r measures them");
    return lab_fail(LAB_E_STATE,
                    "[screen.no-other] there is no other machine to show");
}

static enum lab_status next_size(struct lab_screen *s, int by)
{
    struct lab_bench_state *st = s->state;
    int to = st->size + by;
    if (st->reading && !st->beside) {
        lab_pager_action(&st->text_pager,
                         by < 0 ? LAB_ACT_LEFT : LAB_ACT_RIGHT);
        return LAB_OK;
    }
    if (has_picture(st) && !st->wide &&
        !st->drawn) { /* the picture is hidden */
        lab_pager_action(words_of(st), by < 0 ? LAB_ACT_LEFT : LAB_ACT_RIGHT);
        return LAB_OK;
    }
    if (to < 0 || to >= st->lab.size_count || st->lab.sizes[to].set != st->set)
        return LAB_OK;
    st->size = to;
    st->follow = false;
    return show_rows(st);
}

static bool still_inside(void *user)
{
    const struct lab_bench_state *st = ((struct lab_screen *)user)->state;
    struct lab_bench_data now;
    bool running = false;
    if (st->model->snapshot(st->model->user, &now) == LAB_OK) {
        running = now.running >= 0;
        lab_bench_data_release(&now);
    }
    return running;
}

/* The screen arms the pause before the launch is asked for. */
static enum lab_status go_inside(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    const struct lab_bench_result *r = bench_chosen(st);
    const struct lab_kernel_args args = {
        .running = still_inside, .user = s, .what = "variant"};
    if (!r)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-into] there is no variant to go into");
    enum lab_status status = can_run(st);
    if (!status && !set_of(st)->untimed)
        status = lab_fail(LAB_E_UNSUPPORTED,
                          "[screen.kernel-walk] the kernels of this machine "
                          "cannot be walked: "
                          "`lapenna-lab LAB --backend sim` simulates them");
    if (!status)
        status = lab_ui_push(s->ui, &lab_view_kernel, &args);
    if (!status && st->model->into(st->model->user, r)) {
        struct lab_kept_error why;
        lab_error_keep(&why);
        lab_ui_pop(s->ui);
        status = lab_error_again(LAB_E_STATE, &why);
    }
    return status;
}

static enum lab_status open_kernel(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    const struct lab_bench_result *r = bench_chosen(st);
    struct lab_source_args args = {.symbol = NULL};
    char name[96];
    if (!r)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-rung] there is no variant to look at");
    enum lab_status status =
        st->model->source(st->model->user, r->source, &args.text, &args.bytes);
    if (status)
        return status;
    args.path = r->source;
    lab_bench_kernel_find(args.text, args.bytes, r->symbol, r->variant, name,
                          sizeof(name));
    args.symbol = name;
    return lab_ui_push(s->ui, &lab_view_source, &args);
}

static enum lab_status run(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    if (!st->lab.command[0])
        return ask_and_run(s, NULL);
    if (st->lab.running >= 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.lab-runs] it is running: x stops it");
    return start(s);
}

static enum lab_status stop(struct lab_screen *s)
{
    const struct lab_bench_state *st = s->state;
    if (st->lab.running < 0)
        return lab_fail(LAB_E_STATE, "[screen.idle] nothing is running");
    st->model->stop(st->model->user);
    return renew(s);
}

static enum lab_status ask_sizes(struct lab_screen *s)
{
    const struct lab_bench_state *st = s->state;
    enum lab_status status = can_run(st);
    if (!status)
        lab_ui_prompt(s->ui, PROMPT_SIZES, "sizes: ", set_of(st)->sizes);
    return status;
}

static enum lab_status turn_text(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    read_text(st, !st->reading);
    return LAB_OK;
}

static enum lab_status turn_picture(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    if (st->wide && !st->reading)
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "both are on the screen already; Tab moves in the text "
                       "or in the picture");
    else if (!st->reading)
        st->drawn = !st->drawn;
    read_text(st, false);
    return LAB_OK;
}

static enum lab_status next_lower(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    if (st->wide && !st->reading)
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "every view is on the screen already; Tab moves in "
                       "the kernel's source and in the course's figures");
    if (!st->wide) {
        st->lower = (enum lab_bench_lower)((st->lower + 1) % LAB_LOWERS);
        st->scrolling = false;
    }
    read_text(st, false);
    return LAB_OK;
}

static enum lab_status turn_log(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    st->log = !st->log;
    return LAB_OK;
}

static enum lab_status close_text_or_lab(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    if (!st->reading)
        lab_ui_pop(s->ui);
    read_text(st, false);
    return LAB_OK;
}

static void panes(struct lab_screen *s, struct lab_panes *out)
{
    struct lab_bench_state *st = s->state;
    struct lab_pager *text = st->reading ? &st->text_pager : words_of(st);
    if (st->reading && !st->beside)
        out->at[0].pager = text;
    else if (picture_alone(st))
        out->at[0].table = &st->table;
    else if (has_picture(st) && st->wide)
        *out =
            (struct lab_panes){.at = {{.pager = text}, {.table = &st->table}},
                               .count = 2,
                               .chosen = &st->scrolling};
    else if (st->lab.command[0])
        out->at[0].pager = text;
    else
        *out = (struct lab_panes){
            .at = {{.table = &st->table},
                   [RIGHT] = {.pager = st->reading ? text : &st->kernel_pager},
                   [SLIDES] = {.pager = &st->slide_pager}},
            .count = st->lab.slide_count > 0 ? SLIDES + 1 : RIGHT + 1,
            .chosen = &st->scrolling};
}

/* A click on a bar, or on a point of the rates, chooses that variant, at the point's
 * size. */
static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct lab_bench_state *st = s->state;
    const struct lab_bench_chart bars = chart_of(st, false);
    const struct lab_bench_chart rates = chart_of(st, true);
    int64_t row = -1;
    if (what != LAB_MOUSE_CLICK)
        return false;
    bool in_bars = lab_rect_has(st->bars_at, y, x);
    if (!in_bars && !lab_rect_has(st->rates_at, y, x))
        return false;
    if (in_bars)
        row = lab_bench_bars_find(st->bars_at, &bars, y);
    else
        row = lab_bench_rates_find(st->rates_at, &rates, lab_ui_is_ascii(s->ui),
                                   y, x);
    if (row < 0)
        return true; /* beside all of them */
    if (st->lab.rows[row].size_index != st->size) {
        st->size = st->lab.rows[row].size_index;
        st->follow = false;
        if (show_rows(st)) {
            lab_ui_error(s->ui);
            return true;
        }
    }
    for (int64_t i = 0; i < st->table.count; i++)
        if (st->shown[i] == row)
            lab_table_select(&st->table, i);
    return true;
}

static void after(struct lab_screen *s)
{
    struct lab_bench_state *st = s->state;
    if (st->scrolling && !st->reading)
        st->lower = st->scrolling == RIGHT ? LAB_LOWER_KERNEL : LAB_LOWER_SLIDE;
    bench_kernel_load(st);
}

/* In the text, or in the course's figures while they are in focus or alone below the
 * table, or in the kernel's source. */
static bool search(struct lab_screen *s, const char *text, int dir)
{
    struct lab_bench_state *st = s->state;
    const bool slides = st->scrolling
                            ? st->scrolling == SLIDES
                            : !st->wide && st->lower == LAB_LOWER_SLIDE;
    struct lab_pager *p = st->reading && !(st->beside && slides)
                              ? &st->text_pager
                          : st->lab.command[0] ? words_of(st)
                          : slides             ? &st->slide_pager
                                               : &st->kernel_pager;
    bool found = lab_pager_search(p, text, dir);
    if (found && text[0] && !st->reading)
        st->lower = slides ? LAB_LOWER_SLIDE : LAB_LOWER_KERNEL;
    return found;
}

/* ---- answers ---- */

/* What was expected, as it was understood; variant "": of the fastest one. */
static void confirm(struct lab_screen *s, const char *variant, int size)
{
    const struct lab_bench_state *st = s->state;
    const struct lab_prediction *what = &st->lab.sizes[size].best;
    char predicted[96];
    for (int64_t i = 0; variant[0] && i < st->lab.row_count; i++)
        if (st->lab.rows[i].set == st->set &&
            st->lab.rows[i].size_index == size &&
            strcmp(st->lab.rows[i].variant, variant) == 0)
            what = &st->lab.rows[i].predicted;
    if (lab_prediction_any(what))
        lab_ui_message(
            s->ui, LAB_ROLE_GOOD, "%s%s, size %s: expected %s",
            variant[0] ? "variant " : "fastest", variant,
            st->lab.sizes[size].text,
            lab_prediction_text(&st->lab, what, predicted, sizeof(predicted)));
    else
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "%s%s, size %s: no prediction",
                       variant[0] ? "variant " : "fastest", variant,
                       st->lab.sizes[size].text);
}

/* The mistake is shown, and the question repeated with what was typed. */
static void take_prediction(struct lab_screen *s, int id, const char *text)
{
    struct lab_bench_state *st = s->state;
    const struct lab_bench_result *r = bench_chosen(st);
    char variant[LAB_BENCH_NAME] = "";
    int size = id == PROMPT_PREDICT && r ? st->size : last_size(st);
    enum lab_status status = LAB_OK;
    if (id == PROMPT_PREDICT && r)
        snprintf(variant, sizeof(variant), "%s", r->variant);
    if (text[0] || id == PROMPT_PREDICT)
        status = st->model->predict(st->model->user, st->set,
                                    variant[0] ? variant : NULL,
                                    st->lab.sizes[size].text, text);
    if (status) {
        char wrong[320];
        snprintf(wrong, sizeof(wrong), "%s", lab_error());
        status =
            id == PROMPT_RUN ? ask_and_run(s, text) : ask_prediction(s, text);
        if (!status)
            lab_ui_hint(s->ui, wrong);
    } else {
        status = id == PROMPT_RUN ? start(s) : renew(s);
        if (!status && (text[0] || id == PROMPT_PREDICT))
            confirm(s, variant, size);
    }
    if (status)
        lab_ui_error(s->ui);
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct lab_bench_state *st = s->state;
    enum lab_status status = LAB_OK;
    if (!text)
        return;
    if (id == PROMPT_SIZES) {
        status = st->model->sizes(st->model->user, st->set, text);
        read_text(st, false);
        if (!status)
            status = renew(s);
    } else if (st->size >= 0) {
        take_prediction(s, id, text);
    }
    if (status)
        lab_ui_error(s->ui);
}

/* Of a lab that is no ladder: its text, and the command that measures it. */
static const struct lab_binding command_bindings[] = {
    {"r F5", true, "run", "run its command, here", LAB_ACT_OWN, run},
    {"x", true, "stop", "end the command", LAB_ACT_OWN, stop},
    {"t", true, "text", "the lesson's text, or the command", LAB_ACT_OWN,
     turn_text},
    {"/ F3", false, "search", "search the text", LAB_ACT_SEARCH},
    {"Esc", false, "back", "close the text, then the lab", LAB_ACT_CANCEL,
     close_text_or_lab},
    {NULL}};

/* The same, of a lab with rows that are drawn. */
static const struct lab_binding picture_bindings[] = {
    {"r F5", true, "run", "run its command, here", LAB_ACT_OWN, run},
    {"x", true, "stop", "end the command", LAB_ACT_OWN, stop},
    {"t", true, "text", "the lesson's text, or the command", LAB_ACT_OWN,
     turn_text},
    {"v", true, "view", "the picture, or the text and what was printed",
     LAB_ACT_OWN, turn_picture},
    {"L", false, "log", "pictures linear or logarithmic", LAB_ACT_OWN,
     turn_log},
    {"m", true, "machine", "this machine's results, or recorded ones",
     LAB_ACT_OWN, NULL, next_set, false},
    {"P", true, "recorded",
     "results that ship with the program, or this machine's", LAB_ACT_OWN, NULL,
     next_set, true},
    {"Left h [", false, "size", "the lesson or size before", LAB_ACT_LEFT, NULL,
     next_size, -1},
    {"Right l ]", false, "size", "the next lesson or size", LAB_ACT_RIGHT, NULL,
     next_size, 1},
    {"Tab", false, "pane", "move in the text or in the picture",
     LAB_ACT_NEXT_PANE},
    {"/ F3", false, "search", "search the text", LAB_ACT_SEARCH},
    {"Esc", false, "back", "close the text, then the lab", LAB_ACT_CANCEL,
     close_text_or_lab},
    {NULL}};

static const struct lab_binding bindings[] = {
    {"r F5", true, "run", "run the ladder", LAB_ACT_OWN, run},
    {"x F6", true, "stop", "stop what is running", LAB_ACT_OWN, stop},
    {"p F7", true, "predict",
     "what you expect of the chosen variant: 8.2T, 3.5 ms, memory, 50%",
     LAB_ACT_OWN, predict},
    {"t", true, "text", "the lesson's text, or the lab", LAB_ACT_OWN,
     turn_text},
    {"v", true, "view", "bars, rates, kernel, profile, the course's figures",
     LAB_ACT_OWN, next_lower},
    {"e", true, "sizes", "other sizes", LAB_ACT_OWN, ask_sizes},
    {"L", false, "log", "pictures linear or logarithmic", LAB_ACT_OWN,
     turn_log},
    {"m", true, "machine", "CPU, GPU, or recorded results", LAB_ACT_OWN, NULL,
     next_set, false},
    {"Left h [", false, "size", "the size before", LAB_ACT_LEFT, NULL,
     next_size, -1},
    {"Right l ]", false, "size", "the next size", LAB_ACT_RIGHT, NULL,
     next_size, 1},
    {"Enter", true, "source",
     "the chosen variant's kernel, on a screen of its own", LAB_ACT_OPEN,
     open_kernel},
    {"P", true, "recorded",
     "results that ship with the program, or this machine's", LAB_ACT_OWN, NULL,
     next_set, true},
    {"i", false, "into", "into the chosen variant's kernel (--backend sim)",
     LAB_ACT_OWN, go_inside},
    {"Tab", false, "pane",
     "move in the table, the kernel's source or the text, or the course's "
     "figures",
     LAB_ACT_NEXT_PANE},
    {"s", false, "sort", "sort by the next column", LAB_ACT_SORT},
    {"S", false, "reverse", "turn the order", LAB_ACT_SORT_TURN},
    {"/ F3", false, "search",
     "search the text, the kernel's source, or the course's figures",
     LAB_ACT_SEARCH},
    {"Esc", false, "back", "close the text, then the lab", LAB_ACT_CANCEL,
     close_text_or_lab},
    {NULL}};

/* Where the text is alone on the screen, its key has the name of what it leads to. */
static const struct lab_binding *bindings_now(const struct lab_screen *s)
{
    static struct lab_binding alone[sizeof(bindings) / sizeof(bindings[0])];
    const struct lab_bench_state *st = s->state;
    const bool command = st->lab.command[0];
    const struct lab_binding *list = has_picture(st) ? picture_bindings
                                     : command       ? command_bindings
                                                     : bindings;
    int n = 0;
    if (!st->reading || st->beside)
        return list;
    do {
        alone[n] = list[n];
        if (list[n].act == turn_text)
            alone[n].name = command ? "command" : "table";
    } while (list[n++].keys);
    return alone;
}

static void title_now(struct lab_screen *s, char *out, size_t cap)
{
    const struct lab_bench_state *st = s->state;
    char place[64];
    if (st->reading)
        snprintf(out, cap, "%s (%s)", st->model->title,
                 lab_pager_place(&st->text_pager, place, sizeof(place)));
    else if (st->lab.command[0] && !picture_alone(st))
        snprintf(out, cap, "%s (%s)", st->model->title,
                 lab_pager_place(st->lab.output.len > 0 ? &st->output_pager
                                                        : &st->text_pager,
                                 place, sizeof(place)));
    else
        snprintf(out, cap, "%s", st->model->title);
}

/* What needs a ladder waits until the labs are opened: a key that comes early is not
 * lost. Esc drops it. */
static bool waits(struct lab_screen *s, int key)
{
    struct lab_bench_state *st = s->state;
    bool opening =
        st->lab.set_count == 0 && !st->lab.problem[0] && !st->lab.command[0];
    if (opening)
        (void)renew(s);
    return opening && st->lab.set_count == 0 && !st->lab.problem[0] &&
           (key == 'r' || key == LAB_KEY_F1 + 4 || key == 'i' || key == 'p' ||
            key == 'e' || key == 'm' || key == 'P');
}

const struct lab_screen_ops lab_view_lab = {
    .name = "lab",
    .title = "Lab",
    .state_bytes = sizeof(struct lab_bench_state),
    .bindings = bindings,
    .sideways = true,
    .bindings_now = bindings_now,
    .init = init,
    .release = release,
    .draw = bench_draw,
    .panes = panes,
    .mouse = mouse,
    .search = search,
    .place = "text",
    .after = after,
    .tick = tick,
    .answer = answer,
    .title_now = title_now,
    .waits = waits,
};
