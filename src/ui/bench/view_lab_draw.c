/* What the lab's screen shows, and where. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lesson/lesson.h"
#include "ui/chart.h"
#include "base/format.h"
#include "bench/text.h"
#include "ui/ui.h"
#include "view_lab_priv.h"

enum {
    WIDE_W = 140, /* from here on pictures and source stand beside the table */
    WIDE_H = 30,
    FACTS_H = 2,
    WORDS_H = 2,
    LOWER_H = 8,
    TABLE_H = 4, /* that it keeps on a small screen */
    PROFILE_H = 13
};

static const char *const LOWER_TITLES[LAB_LOWERS] = {
    "Rungs", "Rates", "Kernel", "Profile", "The course's figures"};

struct lab_bench_layout lab_bench_layout(struct lab_rect body, int rungs,
                                         int slides, bool tall)
{
    struct lab_bench_layout l = {.wide = body.w >= WIDE_W && body.h >= WIDE_H};
    int rows = rungs + 1;
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
    int bars = rows + 1 < body.h / 2 ? rows + 1 : body.h / 2;
    l.bars = lab_rect_cut_top(&body, bars);
    l.rates = body;
    return l;
}

const struct lab_bench_result *
lab_bench_chosen(const struct lab_bench_state *st)
{
    int64_t row = lab_bench_chosen_row(st);
    return row < 0 ? NULL : &st->lab.rows[row];
}

int64_t lab_bench_chosen_row(const struct lab_bench_state *st)
{
    int64_t row = lab_table_row(&st->table);
    return row < 0 ? -1 : st->shown[row];
}

/* ---- facts ---- */

static void draw_state(const struct lab_bench_state *st, struct lab_canvas *c,
                       struct lab_rect row)
{
    const struct lab_bench_data *lab = &st->lab;
    const struct lab_bench_set *set = &lab->sets[st->set];
    char text[80];
    int x = row.x;
    x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_TITLE, "%s: ", set->name);
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
    char rate[48];
    int x = row.x;
    if (!isnan(set->ceiling)) {
        char text[120];
        bool beaten = lab_bench_ceiling_beaten(lab, st->set, st->size);
        snprintf(text, sizeof(text), "%s %s (%s)",
                 beaten ? "not a ceiling:" : "ceiling",
                 lab_bench_rate_text(lab, set->ceiling, rate, sizeof(rate)),
                 set->ceiling_name);
        int w = lab_canvas_columns(c, text);
        struct lab_rect right =
            lab_rect_cut_right(&row, w < row.w / 2 ? w : row.w / 2);
        lab_canvas_text_cut(c, right.y, right.x, right.w, LAB_ROLE_DIM, text);
        lab_rect_cut_right(&row, 2);
    }
    struct lab_rect old = lab_canvas_clip(c, row);
    x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM, "size ");
    for (int i = 0; i < lab->size_count; i++) {
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
    const struct lab_bench_result *r = lab_bench_chosen(st);
    char said[96];
    char off[300];
    out[0] = '\0';
    if (!r)
        return LAB_ROLE_NORMAL;
    lab_prediction_ratio_text(st->lab.unit, &r->predicted, r, off, sizeof(off));
    lab_prediction_text(&st->lab, &r->predicted, said, sizeof(said));
    if (said[0] && !off[0])
        snprintf(off, sizeof(off), "you said %s", said);
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

/* A text longer than its row gets more of them, from what stands below: the end
 * of an error says what helps. */
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
    const struct lab_bench_result *row = lab_bench_chosen(st);
    char text[CHOSEN];
    enum lab_role role = chosen_text(st, text);
    lab_canvas_paragraph(c, r, role, text);
    if (row && !lab_rect_empty(r))
        lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_TITLE, "%s:", row->variant);
}

/* The fastest, and what was said of it; before that, what can be done. */
static void draw_best(const struct lab_bench_state *st, struct lab_canvas *c,
                      struct lab_rect row)
{
    const struct lab_bench_data *lab = &st->lab;
    char text[400];
    char said[96];
    char off[300];
    char rate[48];
    if (st->size < 0)
        return;
    const struct lab_prediction *best_said = &lab->sizes[st->size].best;
    const struct lab_bench_result *best = lab_bench_best(lab, st->size);
    lab_prediction_text(lab, best_said, said, sizeof(said));
    if (!best) {
        bool idle = lab->running < 0 && lab->sets[st->set].runs;
        snprintf(text, sizeof(text), "%s%s%s",
                 said[0] ? "you said of the fastest: " : "", said,
                 !idle     ? ""
                 : said[0] ? "; r runs the ladder"
                           : "r runs the ladder, p predicts the chosen rung, "
                             "t has the text and its questions");
        lab_canvas_text_cut(c, row.y, row.x, row.w, LAB_ROLE_DIM, text);
        return;
    }
    int n = snprintf(text, sizeof(text), "fastest: %s, %s", best->variant,
                     lab_bench_rate_text(lab, best->rate, rate, sizeof(rate)));
    lab_prediction_ratio_text(lab->unit, best_said, best, off, sizeof(off));
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

/* In as many rows as it takes: ours stands at its end. Cuts them from `r`, or
 * draws nothing where there are too few and `spare` of them are wanted. */
static bool draw_slide(const struct lab_bench_slide *s, struct lab_canvas *c,
                       struct lab_rect *r, int spare)
{
    char text[LAB_BENCH_SLIDE_TEXT];
    lab_bench_slide_text(s, text, sizeof(text));
    int rows = lab_canvas_paragraph_rows(c, r->w - 2, r->h, text);
    if (spare > 0 && r->h < rows + spare)
        return false;
    struct lab_rect at = lab_rect_cut_top(r, rows);
    struct lab_rect sign = lab_rect_cut_left(&at, 2);
    lab_canvas_text(c, sign.y, sign.x, sign.w, LAB_ROLE_DIM, "-");
    lab_canvas_paragraph(c, at, LAB_ROLE_NORMAL, text);
    return true;
}

/* Those of the size that is shown, then the others. */
static void draw_slides(const struct lab_bench_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    const char *size = st->size >= 0 ? st->lab.sizes[st->size].text : "";
    int left = st->lab.slide_count;
    lab_canvas_heading(c, &r, LOWER_TITLES[LAB_LOWER_SLIDE], false);
    for (int k = 0; k < 2 * st->lab.slide_count && r.h > 0; k++) {
        const struct lab_bench_slide *s =
            &st->lab.slides[k % st->lab.slide_count];
        bool here = strcmp(s->course->size, size) == 0;
        if (here != (k < st->lab.slide_count))
            continue;
        if (!draw_slide(s, c, &r, left > 1 ? 1 : 0)) {
            lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                             "  and %d more: lapenna-lab lab prints all", left);
            return;
        }
        left--;
    }
    if (st->lab.slide_count == 0)
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "The course prints none for this lab.");
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
        lab_bench_kernel_draw(st, c, r);
        return;
    case LAB_LOWER_PROFILE:
        lab_bench_profile_draw(st, c, r);
        return;
    case LAB_LOWER_SLIDE:
        draw_slides(st, c, r);
        return;
    case LAB_LOWER_RATES:
        lab_canvas_heading(c, &r, lab_bench_rates_title(&st->lab), false);
        lab_bench_rates_draw(c, r, rates);
        return;
    default:
        lab_canvas_heading(c, &r, LOWER_TITLES[st->lower], false);
        lab_bench_bars_draw(c, r, bars);
    }
}

static void draw_wide(struct lab_bench_state *st, struct lab_canvas *c,
                      struct lab_bench_layout *l,
                      const struct lab_bench_chart *bars,
                      const struct lab_bench_chart *rates)
{
    lab_canvas_heading(c, &l->bars, LOWER_TITLES[LAB_LOWER_BARS], false);
    lab_bench_bars_draw(c, l->bars, bars);
    lab_canvas_heading(c, &l->rates, lab_bench_rates_title(&st->lab), false);
    lab_bench_rates_draw(c, l->rates, rates);
    if (l->slide.h > 0)
        draw_slides(st, c, l->slide);
    lab_bench_profile_draw(st, c, l->profile);
    lab_bench_kernel_draw(st, c, l->kernel);
}

/* A lab that is no ladder has a table of its own in the shell. */
static void draw_command(const struct lab_bench_data *lab, struct lab_canvas *c,
                         struct lab_rect body)
{
    lab_rect_cut_top(&body, body.h > 8 ? 2 : 0);
    lab_rect_cut_left(&body, 2);
    struct lab_rect row = lab_rect_cut_top(&body, 2);
    lab_canvas_text_cut(c, row.y, row.x, row.w, LAB_ROLE_NORMAL,
                        "This lab is run by a command: leave with q, and type");
    row = body;
    lab_rect_cut_left(&row, 4);
    row.h = lab_canvas_paragraph_rows(c, row.w, row.h, lab->command);
    lab_canvas_paragraph(c, row, LAB_ROLE_TITLE, lab->command);
    lab_rect_cut_top(&body, row.h + 1);
    row = lab_rect_cut_top(&body, 1);
    lab_canvas_text_cut(c, row.y, row.x, row.w, LAB_ROLE_DIM,
                        "t has the text and its questions.");
}

void lab_bench_draw(struct lab_screen *s, struct lab_canvas *c,
                    struct lab_rect body)
{
    struct lab_bench_state *st = s->state;
    bool tall = st->lower == LAB_LOWER_RATES || st->lower == LAB_LOWER_SLIDE;
    struct lab_bench_layout l =
        lab_bench_layout(body, (int)st->table.count, st->lab.slide_count, tall);
    st->wide = l.wide;
    struct lab_bench_chart bars = {.lab = &st->lab,
                                   .set = st->set,
                                   .size = st->size,
                                   .chosen = lab_bench_chosen_row(st),
                                   .log = st->log};
    struct lab_bench_chart rates = bars;
    /* Bars are held against the ceiling; rates of a CPU and a GPU, or of the
     * first rung and the last, are powers of ten apart. */
    rates.log = !st->log;
    if (st->reading) {
        lab_pager_draw(&st->text_pager, c, body);
        return;
    }
    if (st->lab.command[0]) {
        draw_command(&st->lab, c, body);
        return;
    }
    if (st->lab.set_count == 0) {
        lab_canvas_text(c, body.y, body.x, body.w, LAB_ROLE_DIM,
                        st->lab.problem[0] ? st->lab.problem
                                           : "looking for what can be run ...");
        return;
    }
    make_room(st, c, &l);
    draw_state(st, c, lab_rect_cut_top(&l.facts, 1));
    draw_sizes(st, c, l.facts);
    lab_table_draw(&st->table, c, l.table, !st->scrolling);
    draw_words(st, c, l.words);
    if (l.wide)
        draw_wide(st, c, &l, &bars, &rates);
    else
        draw_lower(st, c, l.lower, &bars, &rates);
}
