/* A lab in pictures: bars of one size, rates against the size; of a simulation, which
 * has no rates, the instructions of warps. */
#include "ui/lab_chart.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "lesson/lesson.h"
#include "ui/chart.h"

enum { NAME_W = 12, NAME_MOST = 44, VALUE_W = 24, BARS_LEAST = 8 };
enum {
    RATES_H = 16,
    POINTS = 64,
    LINES = LAB_CHART_SERIES,
    COLOURS = LAB_ROLE_SERIES_6 - LAB_ROLE_SERIES_1 + 1,
    /* From here on there is room for every variant; and for what is not the
     * ladder's: other machines and the course's. */
    ALL_H = 14,
    ALL_W = 100,
    OTHERS_H = 14,
};

/* ---- bars ---- */

/* From nothing (linear) or from a power of ten (log) to the highest. */
struct span {
    double low;
    double high;
    bool log;
};

static bool shown(const struct lab_bench_chart *chart,
                  const struct lab_bench_result *r)
{
    return r->set == chart->set &&
           (chart->lab->by_size || r->size_index == chart->size);
}

/* One colour for a variant, in the bars and in the rates: by its place in the ladder. */
static enum lab_role role_of(const struct lab_bench_data *lab,
                             const struct lab_bench_result *of)
{
    int k = 0;
    for (const struct lab_bench_result *r = lab->rows; r < of; r++)
        k += r->set == of->set && r->size_index == of->size_index;
    return (enum lab_role)(LAB_ROLE_SERIES_1 + k % COLOURS);
}

static bool is_counted(const struct lab_bench_data *lab, int set)
{
    return lab->sets[set].untimed;
}

/* What a bar or a point shows: a rate, or what was counted. */
static double value_of(const struct lab_bench_data *lab,
                       const struct lab_bench_result *r)
{
    return is_counted(lab, r->set) ? r->counted.warp_inst : r->rate;
}

static void widen(struct span *s, double v)
{
    if (!isfinite(v) || v <= 0)
        return;
    s->low = isnan(s->low) || v < s->low ? v : s->low;
    s->high = isnan(s->high) || v > s->high ? v : s->high;
}

static struct span find_span(const struct lab_bench_chart *chart)
{
    struct span s = {NAN, NAN, chart->log};
    const struct lab_bench_data *lab = chart->lab;
    widen(&s, lab->sets[chart->set].ceiling);
    for (int64_t i = 0; i < lab->row_count; i++)
        if (shown(chart, &lab->rows[i]))
            widen(&s, value_of(lab, &lab->rows[i]));
    if (s.log && !isnan(s.low))
        s.low = pow(10, floor(log10(s.low) - 1e-9));
    return s;
}

static double share_of(const struct span *s, double v)
{
    if (!isfinite(v) || v <= 0)
        return NAN;
    return s->log ? log10(v / s->low) / log10(s->high / s->low) : v / s->high;
}

static void mark(struct lab_canvas *c, struct lab_rect bar,
                 const struct span *s, double v, const char *glyph,
                 enum lab_role role)
{
    double share = share_of(s, v);
    if (isnan(share) || share < 0 || share > 1 || bar.w < 1)
        return;
    int x = (int)lround(share * (bar.w - 1));
    lab_canvas_text(c, bar.y, bar.x + x, 1, role, glyph);
}

static void bar_words(const struct lab_bench_data *lab,
                      const struct lab_bench_result *r, char *out, size_t cap)
{
    char share[32] = "";
    char rate[48];
    if (r->state != LAB_BENCH_DONE) {
        snprintf(out, cap, "%s", lab_bench_state_text(r->state));
        return;
    }
    if (is_counted(lab, r->set)) {
        snprintf(out, cap, "%14s", LAB_INT_TEXT((int64_t)r->counted.warp_inst));
        return;
    }
    if (!isnan(r->share) &&
        !lab_bench_ceiling_beaten(lab, r->set, r->size_index,
                                  lab_bench_row_ceiling(r)))
        snprintf(share, sizeof(share), "%.1f %%", 100 * r->share);
    snprintf(out, cap, "%-14s %7s",
             lab_bench_rate_text(lab, r->rate, rate, sizeof(rate)), share);
}

static const char *bar_name(const struct lab_bench_data *lab,
                            const struct lab_bench_result *r)
{
    return lab->by_size ? r->size : r->variant;
}

/* A ladder's names are cut to NAME_W; those of calls are long, and get what the
 * width has beside bars as wide as the values. */
static int name_width(const struct lab_canvas *c,
                      const struct lab_bench_chart *chart, int w)
{
    int most = chart->lab->command[0] ? w - 2 * VALUE_W : NAME_W;
    int longest = NAME_W;
    most = most > NAME_MOST ? NAME_MOST : most;
    for (int64_t i = 0; i < chart->lab->row_count; i++) {
        const struct lab_bench_result *r = &chart->lab->rows[i];
        int n = shown(chart, r)
                    ? lab_canvas_columns(c, bar_name(chart->lab, r)) + 2
                    : 0;
        longest = n > longest ? n : longest;
    }
    return longest < most ? longest : most > NAME_W ? most : NAME_W;
}

static void draw_bar(struct lab_canvas *c, struct lab_rect row,
                     const struct lab_bench_chart *chart, const struct span *s,
                     int64_t i)
{
    const struct lab_bench_result *r = &chart->lab->rows[i];
    char words[64];
    enum lab_role role = role_of(chart->lab, r);
    struct lab_rect name = lab_rect_cut_left(&row, name_width(c, chart, row.w));
    struct lab_rect value = lab_rect_cut_right(&row, VALUE_W);
    lab_canvas_textf(c, name.y, name.x, 1,
                     i == chart->chosen ? LAB_ROLE_CURSOR : LAB_ROLE_NORMAL,
                     "%s", i == chart->chosen ? ">" : " ");
    lab_canvas_text_cut(c, name.y, name.x + 1, name.w - 2, LAB_ROLE_NORMAL,
                        bar_name(chart->lab, r));
    lab_rect_cut_right(&row, 1);
    if (r->state == LAB_BENCH_DONE)
        lab_gauge_draw(c, row.y, row.x, row.w,
                       share_of(s, value_of(chart->lab, r)), role, "");
    mark(c, row, s, r->rate_model, "|", LAB_ROLE_WARN);
    mark(c, row, s, r->predicted.rate, "?", LAB_ROLE_KEY);
    bar_words(chart->lab, r, words, sizeof(words));
    lab_canvas_text(c, value.y, value.x, value.w,
                    r->state == LAB_BENCH_FAILED ? LAB_ROLE_BAD
                    : r->state == LAB_BENCH_DONE ? LAB_ROLE_NORMAL
                                                 : LAB_ROLE_DIM,
                    words);
}

static const char *size_word(const struct lab_bench_data *lab)
{
    return lab->size_name ? lab->size_name : "size";
}

/* The value of the whole width. */
static void bars_title(const struct lab_bench_chart *chart,
                       const struct span *s, char *out, size_t cap)
{
    const struct lab_bench_data *lab = chart->lab;
    const struct lab_bench_set *set = &lab->sets[chart->set];
    char most[48];
    char least[48];
    char of[LAB_BENCH_NAME + 32];
    bool ceiling = !isnan(set->ceiling) && set->ceiling >= s->high;
    snprintf(of, sizeof(of), "%s %s", lab->by_size ? "by" : size_word(lab),
             lab->by_size ? size_word(lab) : lab->sizes[chart->size].text);
    if (isnan(s->high)) {
        snprintf(out, cap, "%s", of);
        return;
    }
    if (is_counted(lab, chart->set)) {
        snprintf(out, cap, "%s, %s%s to %s instructions of warps", of,
                 s->log ? "log from " : "",
                 LAB_INT_TEXT(s->log ? (int64_t)s->low : 0),
                 LAB_INT_TEXT((int64_t)s->high));
        return;
    }
    lab_bench_rate_text(lab, s->high, most, sizeof(most));
    lab_bench_rate_text(lab, s->low, least, sizeof(least));
    bool time = lab->unit == LAB_UNIT_TIME;
    int n = snprintf(out, cap, "%s%s, %s%s to %s", of,
                     time ? ", less is better" : "", s->log ? "log from " : "",
                     s->log ? least : "0", most);
    if (n >= 0 && (size_t)n < cap && (ceiling || !time))
        snprintf(out + n, cap - (size_t)n, " (%s)",
                 ceiling ? set->ceiling_name : "the fastest");
}

int lab_bench_bars_rows(const struct lab_bench_chart *chart)
{
    int n = 1;
    for (int64_t i = 0; i < chart->lab->row_count; i++)
        n += shown(chart, &chart->lab->rows[i]);
    return n;
}

/* The first row that is shown, so that the chosen one is in sight. */
static int first_bar(const struct lab_bench_chart *chart, int h)
{
    int n = 0;
    int at = 0;
    for (int64_t i = 0; i < chart->lab->row_count; i++) {
        if (!shown(chart, &chart->lab->rows[i]))
            continue;
        if (i == chart->chosen)
            at = n;
        n++;
    }
    if (n <= h || at < h / 2)
        return 0;
    return at + (h + 1) / 2 > n ? n - h : at - h / 2;
}

static void draw_bars(struct lab_canvas *c, struct lab_rect r,
                      const struct lab_bench_chart *chart)
{
    char title[200];
    struct span s = find_span(chart);
    bars_title(chart, &s, title, sizeof(title));
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_canvas_text_cut(c, head.y, head.x, head.w, LAB_ROLE_DIM, title);
    if (r.w < NAME_W + VALUE_W + BARS_LEAST)
        return;
    int skip = first_bar(chart, r.h);
    for (int64_t i = 0; i < chart->lab->row_count && r.h > 0; i++) {
        if (!shown(chart, &chart->lab->rows[i]) || skip-- > 0)
            continue;
        draw_bar(c, lab_rect_cut_top(&r, 1), chart, &s, i);
    }
}

/* ---- lanes: what runs beside what ---- */

enum { LANES_H = LAB_LANES + 1, LANE_NAME_W = 10, LANE_LEAST = 16 };

/* The row that lanes are drawn of: the chosen one, else the fastest. */
static const struct lab_bench_result *
lanes_row(const struct lab_bench_chart *chart, struct lab_bench_lanes *out)
{
    const struct lab_bench_result *row =
        chart->chosen >= 0 ? &chart->lab->rows[chart->chosen]
                           : lab_bench_best(chart->lab, chart->size);
    return row && shown(chart, row) && lab_bench_lanes(row, out) ? row : NULL;
}

/* The part that has most of [from, to); -1: none runs then. A short one keeps its
 * cell. */
static int part_between(const struct lab_bench_lanes *l, int lane, double from,
                        double to)
{
    int best = -1;
    double most = (to - from) * 1e-6; /* less is where two cells meet */
    for (int part = 0; part < l->parts; part++) {
        double has = fmin(l->end_ms[lane][part], to) -
                     fmax(l->begin_ms[lane][part], from);
        if (has > most) {
            most = has;
            best = part;
        }
    }
    return best;
}

/* A part is written by its digit; a point: the lane waits. */
static void draw_lane(struct lab_canvas *c, struct lab_rect row,
                      const struct lab_bench_lanes *l, int lane)
{
    static const char *const names[LAB_LANES] = {"copy in", "kernel",
                                                 "copy out"};
    struct lab_rect name = lab_rect_cut_left(&row, LANE_NAME_W);
    lab_canvas_text(c, name.y, name.x + 1, name.w - 1, LAB_ROLE_NORMAL,
                    names[lane]);
    for (int x = 0; x < row.w; x++) {
        double cell = l->ms / row.w;
        int part = part_between(l, lane, x * cell, (x + 1) * cell);
        if (part < 0)
            lab_canvas_text(c, row.y, row.x + x, 1, LAB_ROLE_DIM, ".");
        else
            lab_canvas_textf(
                c, row.y, row.x + x, 1,
                (enum lab_role)(LAB_ROLE_SERIES_1 + part % COLOURS), "%d",
                part + 1);
    }
}

static void draw_lanes(struct lab_canvas *c, struct lab_rect r,
                       const struct lab_bench_result *row,
                       const struct lab_bench_lanes *l)
{
    for (int lane = 0; lane < LAB_LANES; lane++)
        draw_lane(c, lab_rect_cut_top(&r, 1), l, lane);
    if (r.h < 1)
        return;
    lab_canvas_textf(c, r.y, r.x + 1, r.w - 1, LAB_ROLE_DIM,
                     "%s, %d part%s: 0 to %s by each lane alone; measured %s",
                     row->variant, l->parts, l->parts == 1 ? "" : "s",
                     LAB_NS_TEXT(l->ms * 1e6), LAB_NS_TEXT(row->median_ns));
}

int lab_bench_lanes_rows(const struct lab_bench_chart *chart)
{
    struct lab_bench_lanes l;
    return chart->size >= 0 && chart->size < chart->lab->size_count &&
                   lanes_row(chart, &l)
               ? LANES_H + 1
               : 0;
}

/* Takes the rows of the lanes off the bars' rectangle. false: no lanes, or no room
 * for them below all bars. */
static bool cut_lanes(struct lab_rect *r, const struct lab_bench_chart *chart)
{
    struct lab_bench_lanes l;
    int bars = lab_bench_bars_rows(chart);
    if (r->h < bars + LAB_LANES || r->w < LANE_NAME_W + LANE_LEAST ||
        !lanes_row(chart, &l))
        return false;
    r->h = r->h > bars + LANES_H ? bars + 1 : bars;
    return true;
}

void lab_bench_bars_draw(struct lab_canvas *c, struct lab_rect r,
                         const struct lab_bench_chart *chart)
{
    struct lab_bench_lanes l;
    if (lab_rect_empty(r) || chart->size < 0 ||
        chart->size >= chart->lab->size_count)
        return;
    struct lab_rect below = r;
    if (cut_lanes(&r, chart)) {
        lab_rect_cut_top(&below, r.h);
        draw_lanes(c, below, lanes_row(chart, &l), &l);
    }
    draw_bars(c, r, chart);
}

int64_t lab_bench_bars_find(struct lab_rect r,
                            const struct lab_bench_chart *chart, int y)
{
    if (chart->size >= 0 && chart->size < chart->lab->size_count)
        (void)cut_lanes(&r, chart);
    int at = y - r.y - 1; /* below the heading */
    if (at < 0 || y >= r.y + r.h || r.w < NAME_W + VALUE_W + BARS_LEAST)
        return -1;
    at += first_bar(chart, r.h - 1);
    for (int64_t i = 0; i < chart->lab->row_count; i++)
        if (shown(chart, &chart->lab->rows[i]) && at-- == 0)
            return i;
    return -1;
}

/* ---- rates against sizes ---- */

struct line {
    enum lab_role role;
    char name[120];
    double x[POINTS];
    double y[POINTS];
    int n;
};

struct picture {
    struct line lines[LINES];
    int count;
    int most; /* lines now */
    double x0;
    double x1;
};

/* In the unit that the axis is labelled with: G a second, or nanoseconds. What is
 * counted is a number. */
static double axis_value(const struct lab_bench_data *lab, double rate)
{
    return lab->unit == LAB_UNIT_TIME ? rate * 1e9 : rate / 1e9;
}

static void add_point(struct picture *p, struct line *l, double x, double y)
{
    int at = l->n;
    if (l->n == POINTS || !isfinite(y) || !(x > 0))
        return;
    while (at > 0 && l->x[at - 1] > x) {
        l->x[at] = l->x[at - 1];
        l->y[at] = l->y[at - 1];
        at--;
    }
    l->x[at] = x;
    l->y[at] = y;
    l->n++;
    p->x0 = isnan(p->x0) || x < p->x0 ? x : p->x0;
    p->x1 = isnan(p->x1) || x > p->x1 ? x : p->x1;
}

/* Have two sizes of the set the same first side, as products that are transposed or
 * not? */
static bool repeats(const struct lab_bench_data *lab, int set)
{
    for (int i = 0; i < lab->size_count; i++)
        for (int k = 0; k < i; k++)
            if (lab->sizes[i].set == set && lab->sizes[k].set == set &&
                lab->sizes[i].x == lab->sizes[k].x)
                return true;
    return false;
}

/* Then the axis is the order of the sizes. */
static bool in_order(const struct lab_bench_chart *chart)
{
    return repeats(chart->lab, chart->set);
}

/* Along the axis: the first side, or 1, 2 ...; 0: it has no place there. */
static double place_of(const struct lab_bench_chart *chart, int size)
{
    const struct lab_bench_data *lab = chart->lab;
    int at = 0;
    if (!in_order(chart))
        return lab->sizes[size].x;
    for (int i = 0; i < lab->size_count; i++) {
        if (lab->sizes[i].set != chart->set)
            continue;
        at++;
        if (strcmp(lab->sizes[i].text, lab->sizes[size].text) == 0)
            return at;
    }
    return 0;
}

/* The colour that the fewest lines have: a line that is no variant's has that of a bar only
 * where there are more lines than colours. */
static enum lab_role rarest_role(const struct picture *p)
{
    enum lab_role best = LAB_ROLE_SERIES_1;
    int fewest = INT_MAX;
    for (int i = 0; i < COLOURS; i++) {
        const enum lab_role role = (enum lab_role)(LAB_ROLE_SERIES_1 + i);
        int uses = 0;
        for (int k = 0; k < p->count; k++)
            uses += p->lines[k].role == role;
        if (uses < fewest) {
            fewest = uses;
            best = role;
        }
    }
    return best;
}

static struct line *add_line(struct picture *p, const char *name)
{
    if (p->count == p->most)
        return NULL;
    struct line *l = &p->lines[p->count];
    l->n = 0;
    l->role = rarest_role(p);
    snprintf(l->name, sizeof(l->name), "%s", name);
    return l;
}

static bool is_variant(const struct lab_bench_result *r,
                       const struct lab_bench_result *of)
{
    return r->set == of->set && strcmp(r->variant, of->variant) == 0 &&
           strcmp(r->precision, of->precision) == 0;
}

static bool has_precisions(const struct lab_bench_chart *chart)
{
    const struct lab_bench_data *lab = chart->lab;
    const struct lab_bench_result *first = NULL;
    for (int64_t i = 0; i < lab->row_count; i++) {
        const struct lab_bench_result *r = &lab->rows[i];
        if (!shown(chart, r))
            continue;
        if (first && strcmp(first->precision, r->precision) != 0)
            return true;
        first = r;
    }
    return false;
}

static void variant_name(const struct lab_bench_chart *chart,
                         const struct lab_bench_result *of, char *out,
                         size_t cap)
{
    bool precision = has_precisions(chart);
    snprintf(out, cap, "%s%s%s", of->variant, precision ? " " : "",
             precision ? of->precision : "");
}

static bool has_point(const struct line *l, double x)
{
    for (int i = 0; i < l->n; i++)
        if (l->x[i] >= x && l->x[i] <= x)
            return true;
    return false;
}

/* What other recorded runs of that set's device have at sizes of the course's figures
 * that the set's run has not; `of`: of that variant alone, or NULL. */
static void add_recorded(struct picture *p, struct line *l,
                         const struct lab_bench_data *lab, int set,
                         const struct lab_bench_result *of)
{
    if (lab->sets[set].runs)
        return;
    for (int i = 0; i < lab->slide_count; i++) {
        const struct lab_bench_slide *s = &lab->slides[i];
        const struct lab_bench_result *r = &s->recorded;
        if (r->state == LAB_BENCH_DONE && !has_point(l, s->x) &&
            strcmp(s->recorded_device, lab->sets[set].device) == 0 &&
            (!of || (strcmp(r->variant, of->variant) == 0 &&
                     strcmp(r->precision, of->precision) == 0)))
            add_point(p, l, s->x, axis_value(lab, r->rate));
    }
}

static void add_variant(struct picture *p, const struct lab_bench_chart *chart,
                        const struct lab_bench_result *of)
{
    const struct lab_bench_data *lab = chart->lab;
    char name[96];
    variant_name(chart, of, name, sizeof(name));
    for (int k = 0; k < p->count; k++)
        if (strcmp(p->lines[k].name, name) == 0)
            return;
    struct line *l = add_line(p, name);
    for (int64_t i = 0; l && i < lab->row_count; i++) {
        const struct lab_bench_result *r = &lab->rows[i];
        if (is_variant(r, of) && r->state == LAB_BENCH_DONE)
            add_point(p, l, place_of(chart, r->size_index),
                      is_counted(lab, r->set) ? value_of(lab, r)
                                              : axis_value(lab, r->rate));
    }
    if (l && !in_order(chart))
        add_recorded(p, l, lab, of->set, of);
    if (l)
        l->role = role_of(lab, of);
    p->count += l && l->n > 0;
}

/* The fastest of the library's variants, or of the others; NULL: there is none. */
static const struct lab_bench_result *
fastest(const struct lab_bench_chart *chart, bool library)
{
    const struct lab_bench_result *best = NULL;
    for (int64_t i = 0; i < chart->lab->row_count; i++) {
        const struct lab_bench_result *r = &chart->lab->rows[i];
        if (shown(chart, r) && r->library == library &&
            r->state == LAB_BENCH_DONE &&
            (!best || r->median_ns < best->median_ns))
            best = r;
    }
    return best;
}

/* In the order of the table. Lines above each other tell nothing: a small
 * picture has the chosen variant, the fastest and the library's; a large one as
 * many others as there is room for. */
static void add_own(struct picture *p, const struct lab_bench_chart *chart,
                    bool all)
{
    const struct lab_bench_data *lab = chart->lab;
    const struct lab_bench_result *must[] = {
        chart->chosen >= 0 && chart->chosen < lab->row_count
            ? &lab->rows[chart->chosen]
            : NULL,
        fastest(chart, false), fastest(chart, true)};
    for (int64_t i = 0; i < lab->row_count; i++) {
        const struct lab_bench_result *r = &lab->rows[i];
        int kept = 0; /* lines that rows further down must have */
        for (int k = 0; k < 3; k++)
            kept += must[k] && must[k] > r;
        bool one = r == must[0] || r == must[1] || r == must[2];
        if (one || (all && shown(chart, r) && p->count + kept < p->most))
            add_variant(p, chart, r);
    }
}

/* The best of every size that another set has. */
static void add_set(struct picture *p, const struct lab_bench_chart *chart,
                    int set)
{
    const struct lab_bench_data *lab = chart->lab;
    char name[96];
    snprintf(name, sizeof(name), "best of %s", lab->sets[set].name);
    struct line *l = add_line(p, name);
    for (int s = 0; l && s < lab->size_count; s++) {
        const struct lab_bench_result *best = lab_bench_best(lab, s);
        if (lab->sizes[s].set == set && best)
            add_point(p, l, place_of(chart, s), axis_value(lab, best->rate));
    }
    if (l && !in_order(chart))
        add_recorded(p, l, lab, set, NULL);
    p->count += l && l->n > 0;
}

static bool same_line(const struct lab_lesson_slide *a,
                      const struct lab_lesson_slide *b)
{
    return strcmp(a->machine, b->machine) == 0 &&
           strcmp(a->variant ? a->variant : "", b->variant ? b->variant : "") ==
               0;
}

/* The course's figures, a line for each machine of theirs; where it ran several
 * programs, for each of these. */
static void add_slides(struct picture *p, const struct lab_bench_data *lab)
{
    for (int i = 0; i < lab->slide_count; i++) {
        const struct lab_lesson_slide *first = lab->slides[i].course;
        char name[120];
        bool had = false;
        bool several = false;
        for (int k = 0; k < lab->slide_count; k++) {
            const struct lab_lesson_slide *other = lab->slides[k].course;
            had = had || (k < i && same_line(other, first));
            several = several || (strcmp(other->machine, first->machine) == 0 &&
                                  !same_line(other, first));
        }
        snprintf(name, sizeof(name), "slide, %s%s%s",
                 several ? first->label : "", several ? ", " : "",
                 first->machine);
        struct line *l = had ? NULL : add_line(p, name);
        for (int k = i; l && k < lab->slide_count; k++) {
            const struct lab_bench_slide *s = &lab->slides[k];
            if (!isnan(s->rate) && same_line(s->course, first))
                add_point(p, l, s->x, axis_value(lab, s->rate));
        }
        p->count += l && l->n > 0;
    }
}

/* Over the width that the other lines have. */
static void add_ceiling(struct picture *p, const struct lab_bench_chart *chart)
{
    const struct lab_bench_set *set = &chart->lab->sets[chart->set];
    char name[96];
    snprintf(name, sizeof(name), "%sceiling: %s",
             lab_bench_ceiling_beaten(chart->lab, chart->set, -1, set->ceiling)
                 ? "not a "
                 : "",
             set->ceiling_name);
    if (isnan(set->ceiling) || isnan(p->x0))
        return;
    struct line *l = add_line(p, name);
    double x0 = p->x0;
    double x1 = p->x1;
    if (!l)
        return;
    add_point(p, l, x0, axis_value(chart->lab, set->ceiling));
    add_point(p, l, x1, axis_value(chart->lab, set->ceiling));
    p->count++;
}

static void fill_picture(struct picture *p, const struct lab_bench_chart *chart,
                         struct lab_rect r)
{
    bool others = (r.h >= OTHERS_H || chart->lab->by_size) &&
                  !is_counted(chart->lab, chart->set);
    p->count = 0;
    p->most =
        LINES - LAB_BENCH_SETS; /* the rest is for what is not a variant */
    p->x0 = NAN;
    p->x1 = NAN;
    add_own(p, chart, r.h >= ALL_H && r.w >= ALL_W);
    p->most = LINES - 1; /* the last is the ceiling's */
    for (int s = 0; others && s < chart->lab->set_count; s++)
        if (s != chart->set && p->count < LINES - 2 &&
            (in_order(chart) || !repeats(chart->lab, s)))
            add_set(p, chart, s); /* else it has several rates at one place */
    if (others && !in_order(chart))
        add_slides(p, chart->lab);
    p->most = LINES;
    add_ceiling(p, chart);
}

/* "1 tile  2 cublas ...", wrapped. Returns the rows that it takes. */
static int draw_names(struct lab_canvas *c, struct lab_rect r,
                      const struct picture *p, const enum lab_role *roles,
                      bool draw)
{
    int x = 0;
    int y = 0;
    for (int k = 0; k < p->count; k++) {
        char name[104];
        snprintf(name, sizeof(name), "%c %s", lab_chart_sign(k),
                 p->lines[k].name);
        int w = lab_canvas_columns(c, name);
        if (x > 0 && x + w > r.w) {
            x = 0;
            y++;
        }
        if (draw && y < r.h)
            lab_canvas_text(c, r.y + y, r.x + x, r.w - x, roles[k], name);
        x += w + 2;
    }
    return y + 1;
}

enum { RATES_TITLE = 96 };

/* "Rates: GFLOP/s against the size", or against what the lab's sizes are. Returns
 * out. */
static const char *rates_title(const struct lab_bench_data *lab, int set,
                               char *out, size_t cap)
{
    snprintf(out, cap, "%s against the %s",
             is_counted(lab, set)          ? "Instructions of warps"
             : lab->unit == LAB_UNIT_FLOPS ? "Rates: GFLOP/s"
             : lab->unit == LAB_UNIT_BYTES ? "Rates: GB/s"
                                           : "Times: ns",
             size_word(lab));
    return out;
}

struct rates { /* 30 KiB */
    struct picture picture;
    struct lab_series series[LINES];
    enum lab_role roles[LINES];
    struct lab_chart chart;
    char x_name[48];
    struct lab_rect lines;
    struct lab_rect names;
};

static void make_rates(struct rates *t, struct lab_canvas *c, struct lab_rect r,
                       const struct lab_bench_chart *chart)
{
    struct picture *p = &t->picture;
    fill_picture(p, chart, r);
    for (int k = 0; k < p->count; k++) {
        t->roles[k] = p->lines[k].role;
        t->series[k] =
            (struct lab_series){p->lines[k].x, p->lines[k].y, p->lines[k].n,
                                p->lines[k].name, t->roles[k]};
    }
    int rows = draw_names(c, r, p, t->roles, false);
    int most = r.h > 3 ? r.h / 2 : 1; /* a name left out is a line unknown */
    t->names = lab_rect_cut_bottom(&r, rows < most ? rows : most);
    t->lines = r;
    bool order = in_order(chart);
    snprintf(t->x_name, sizeof(t->x_name), "%s%s", size_word(chart->lab),
             order        ? ", in their order"
             : chart->log ? ", log"
                          : "");
    t->chart = (struct lab_chart){.x_name = t->x_name,
                                  .series = t->series,
                                  .count = p->count,
                                  .y_min = chart->log ? (double)NAN : 0,
                                  .y_max = NAN,
                                  .log_y = chart->log,
                                  .log_x = chart->log && !order,
                                  .unlisted = true};
}

static void draw_rates(struct lab_canvas *c, struct lab_rect r,
                       const struct lab_bench_chart *chart)
{
    struct rates t;
    if (lab_rect_empty(r))
        return;
    make_rates(&t, c, r, chart);
    lab_chart_draw(c, t.lines, &t.chart);
    if (t.picture.count > 0)
        draw_names(c, t.names, &t.picture, t.roles, true);
}

struct lab_rect lab_bench_rates_draw(struct lab_canvas *c, struct lab_rect r,
                                     const struct lab_bench_chart *chart)
{
    char title[RATES_TITLE];
    lab_canvas_heading(
        c, &r, rates_title(chart->lab, chart->set, title, sizeof(title)),
        false);
    draw_rates(c, r, chart);
    return r;
}

int64_t lab_bench_rates_find(struct lab_rect r,
                             const struct lab_bench_chart *chart, bool ascii,
                             int y, int x)
{
    struct lab_canvas measure = {.ascii = ascii};
    const struct lab_bench_data *lab = chart->lab;
    struct rates t;
    int k;
    int64_t point;
    if (lab_rect_empty(r))
        return -1;
    make_rates(&t, &measure, r, chart);
    if (!lab_chart_find(t.lines, &t.chart, y, x, &k, &point))
        return -1;
    const struct line *l = &t.picture.lines[k];
    for (int64_t i = 0; i < lab->row_count; i++) {
        const struct lab_bench_result *row = &lab->rows[i];
        char name[96];
        variant_name(chart, row, name, sizeof(name));
        if (row->set == chart->set && row->state == LAB_BENCH_DONE &&
            place_of(chart, row->size_index) == l->x[point] &&
            strcmp(name, l->name) == 0)
            return i;
    }
    return -1; /* not a variant's */
}

/* ---- for a pipe or a terminal ---- */

static int last_size(const struct lab_bench_data *lab, int set, int *count)
{
    int last = -1;
    *count = 0;
    for (int s = 0; s < lab->size_count; s++) {
        if (lab->sizes[s].set != set)
            continue;
        last = s;
        (*count)++;
    }
    return last;
}

enum lab_status lab_bench_chart_text(const struct lab_bench_data *lab, int set,
                                     int columns, bool ascii,
                                     struct lab_str *out)
{
    struct lab_canvas c;
    int count;
    struct lab_bench_chart chart = {.lab = lab, .set = set, .chosen = -1};
    chart.size = last_size(lab, set, &count);
    if (chart.size < 0)
        return LAB_OK;
    int bars = lab_bench_bars_rows(&chart) + lab_bench_lanes_rows(&chart);
    int h = bars + (count > 1 ? RATES_H + 1 : 0);
    enum lab_status st = lab_canvas_init(&c, h, columns, ascii);
    if (st)
        return st;
    struct lab_rect r = {0, 0, h, columns};
    lab_bench_bars_draw(&c, lab_rect_cut_top(&r, bars), &chart);
    lab_rect_cut_top(&r, 1);
    chart.log = true;
    char words[RATES_TITLE];
    struct lab_rect title = lab_rect_cut_top(&r, 1);
    lab_canvas_text(&c, title.y, title.x, title.w, LAB_ROLE_HEADING,
                    count > 1 ? rates_title(lab, set, words, sizeof(words))
                              : "");
    if (count > 1)
        draw_rates(&c, r, &chart);
    char *text = lab_canvas_dump(&c);
    if (text)
        lab_str_add(out, text);
    lab_free(text);
    lab_canvas_release(&c);
    return text && !out->failed ? LAB_OK : lab_no_memory("a chart");
}
