/* html.c -- a run as one HTML page: its tables, its pictures in SVG, the
 * roofline, what a lab measured, and the sentences above them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/time_breakdown.h"
#include "store/bench.h"
#include "base/format.h"
#include "base/mem.h"
#include "engine/ceiling.h"
#include "report/html.h"
#include "report/print.h"
#include "report/roofline.h"
#include "report/run_facts.h"
#include "report/text_table.h"
#include "store/query.h"

struct page {
    struct lab_database *db;
    int64_t run;
    struct lab_str text;
    struct lab_text_table facts; /* of the run, for the end of the page */
    /* Roofs are finite and above 0, or NaN. */
    struct lab_roofline line;
    struct lab_roof published[LAB_CEILING_ROOFS]; /* of the data sheet alone */
    struct lab_loss_row *losses;
    size_t n_losses;
    size_t room;
    enum lab_status st;
};

enum { WIDTH = 860, RIGHT = 20 };

/* Text from outside, made visible and escaped. */
static void add_html(struct lab_str *out, const char *text)
{
    struct lab_str visible;
    lab_str_init(&visible);
    if (text)
        lab_str_add_visible(&visible, text, strlen(text), false);
    for (const char *p = lab_str_text(&visible); *p; p++) {
        const char *escaped = *p == '&'    ? "&amp;"
                              : *p == '<'  ? "&lt;"
                              : *p == '>'  ? "&gt;"
                              : *p == '"'  ? "&quot;"
                              : *p == '\'' ? "&#39;"
                                           : NULL;
        if (escaped)
            lab_str_add(out, escaped);
        else
            lab_str_add_char(out, *p);
    }
    out->failed |= visible.failed;
    lab_str_release(&visible);
}

/* ---- tables ---- */

/* Names are as long as a template makes them: such a column breaks, and
 * scrolls. */
static bool breaks(const struct lab_text_table *t, size_t column)
{
    enum { ONE_LINE = 40 };
    for (size_t i = column; i < t->count; i += (size_t)t->columns)
        if (strlen(t->cells[i]) > ONE_LINE)
            return !t->right[column];
    return false;
}

/* Adds the table, and releases it. */
static void put_table(struct lab_str *s, struct lab_text_table *t)
{
    size_t columns = (size_t)t->columns;
    const char *begin[LAB_TEXT_TABLE_COLUMNS];
    const char *end[LAB_TEXT_TABLE_COLUMNS];
    for (size_t c = 0; c < columns; c++) {
        bool wide = breaks(t, c);
        begin[c] = t->right[c] ? "<td class=\"n\">"
                   : wide      ? "<td class=\"k\"><div>"
                               : "<td class=\"w\">";
        end[c] = wide ? "</div></td>" : "</td>";
    }
    lab_str_add(s, "<div class=\"wide\"><table>\n<tr>");
    for (size_t c = 0; c < columns && c < t->count; c++) {
        lab_str_add(s, t->right[c] ? "<th class=\"n\">" : "<th>");
        add_html(s, t->cells[c]);
        lab_str_add(s, "</th>");
    }
    for (size_t i = columns; i < t->count; i++) {
        if (i % columns == 0)
            lab_str_add(s, "</tr>\n<tr>");
        lab_str_add(s, begin[i % columns]);
        add_html(s, t->cells[i]);
        lab_str_add(s, end[i % columns]);
    }
    lab_str_add(s, "</tr>\n</table></div>\n");
    s->failed |= t->failed;
    lab_text_table_release(t);
}

/* The same of a table of facts, which has no head: a name and its value. */
static void put_facts(struct lab_str *s, struct lab_text_table *t)
{
    lab_str_add(s, "<table>\n");
    for (size_t i = 2; i + 1 < t->count; i += 2) {
        lab_str_addf(s, "<tr><th>%s</th><td>", t->cells[i]);
        add_html(s, t->cells[i + 1]);
        lab_str_add(s, "</td></tr>\n");
    }
    lab_str_add(s, "</table>\n");
    s->failed |= t->failed;
    lab_text_table_release(t);
}

/* ---- pictures ---- */

static void begin_picture(struct lab_str *s, int height, const char *label)
{
    lab_str_addf(s,
                 "<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
                 "aria-label=\"",
                 (int)WIDTH, height);
    add_html(s, label);
    lab_str_add(s, "\">\n");
}

static void end_picture(struct lab_str *s)
{
    lab_str_add(s, "</svg></div>\n");
}

static void put_text(struct lab_str *s, double x, double y, const char *anchor,
                     const char *text)
{
    lab_str_addf(s, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
                 anchor);
    add_html(s, text);
    lab_str_add(s, "</text>\n");
}

static void clip(char *out, size_t size, const char *text, size_t most)
{
    size_t n = strlen(text);
    size_t used = 0;
    unsigned code;
    for (size_t i = 0; i < most && used < n; i++) {
        size_t bytes = lab_utf8_next(text + used, n - used, &code);
        used += bytes ? bytes : 1;
    }
    snprintf(out, size, "%.*s%s", (int)used, text,
             used < n ? "\xE2\x80\xA6" : "");
}

/* ---- bars ---- */

enum { MOST_BARS = 60, BAR = 18, NAMES = 190, LABELS = 150 };

struct bar {
    char name[128];
    char label[96]; /* behind it */
    int64_t phase;  /* its colour */
    double value;
    double low; /* a stroke on it to `high`, upright where they are the same; */
    double high; /* NaN: none */
};

struct bars {
    struct bar list[MOST_BARS];
    size_t n; /* there may be more than are listed */
};

static double bar_x(double value, double most)
{
    return NAMES + value / most * (WIDTH - NAMES - LABELS);
}

static void put_bar(struct lab_str *s, const struct bar *bar, double most,
                    double y)
{
    double x = bar_x(0, most);
    double end = bar_x(bar->value, most);
    double half = bar->low == bar->high ? BAR / 2.0 - 1 : 0;
    put_text(s, x - 6, y + 13, "end", bar->name);
    lab_str_addf(s,
                 "<rect class=\"p%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                 "height=\"%d\"/>\n",
                 (int)(bar->phase & 3), x, y + 2, end - x, BAR - 4);
    if (!isnan(bar->low))
        lab_str_addf(s,
                     "<line class=\"box\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     bar_x(bar->low, most), bar_x(bar->high, most),
                     y + BAR / 2.0 - half, y + BAR / 2.0 + half);
    if (!isnan(bar->low))
        end = fmax(end, bar_x(bar->high, most));
    put_text(s, end + 6, y + 13, "start", bar->label);
}

static void put_bars(struct lab_str *s, const struct bars *bars,
                     const char *which, const char *label)
{
    size_t shown = bars->n > MOST_BARS ? MOST_BARS : bars->n;
    double most = 0;
    for (size_t i = 0; i < shown; i++)
        most = fmax(most, fmax(bars->list[i].value, bars->list[i].high));
    if (shown < bars->n)
        lab_str_addf(s,
                     "<p>The %s %zu of %zu, in the order they ran; the table "
                     "has all.</p>\n",
                     which, shown, bars->n);
    begin_picture(s, (int)shown * BAR + 8, label);
    for (size_t i = 0; i < shown; i++)
        put_bar(s, &bars->list[i], most, 4 + (double)i * BAR);
    end_picture(s);
}

/* ---- loss ---- */

struct span {
    double low;
    double high;
};

static struct span loss_span(const struct page *r)
{
    struct span span = {INFINITY, -INFINITY};
    for (size_t i = 0; i < r->n_losses; i++) {
        if (!isfinite(r->losses[i].loss))
            continue;
        span.low = fmin(span.low, r->losses[i].loss);
        span.high = fmax(span.high, r->losses[i].loss);
    }
    if (span.low == span.high) {
        span.low -= 1;
        span.high += 1;
    }
    return span;
}

/* A point without neighbours makes no line. */
static bool stands_alone(const struct page *r, size_t i, size_t stride)
{
    return isfinite(r->losses[i].loss) &&
           (i < stride || !isfinite(r->losses[i - stride].loss)) &&
           (i + stride >= r->n_losses || !isfinite(r->losses[i + stride].loss));
}

static double curve_x(const struct page *r, size_t i)
{
    double first = (double)r->losses[0].iteration;
    double range = (double)r->losses[r->n_losses - 1].iteration - first;
    return 60 + ((double)r->losses[i].iteration - first) /
                    (range > 0 ? range : 1) * (WIDTH - 60 - RIGHT);
}

static void add_curve(struct page *r, struct span y, double height)
{
    struct lab_str *s = &r->text;
    double scale = height / (y.high - y.low);
    bool pen = false;
    size_t stride = r->n_losses / 2000 + 1;
    lab_str_add(s, "<path class=\"curve\" d=\"");
    for (size_t i = 0; i < r->n_losses; i += stride) {
        if (isfinite(r->losses[i].loss))
            lab_str_addf(s, "%s%.1f %.1f", pen ? "L" : "M", curve_x(r, i),
                         10 + height - (r->losses[i].loss - y.low) * scale);
        pen = isfinite(
            r->losses[i].loss); /* a gap where the loss was no number */
    }
    lab_str_add(s, "\"/>\n");
    for (size_t i = 0; i < r->n_losses; i += stride)
        if (stands_alone(r, i, stride))
            lab_str_addf(s,
                         "<circle class=\"p0\" cx=\"%.1f\" cy=\"%.1f\" "
                         "r=\"3\"></circle>\n",
                         curve_x(r, i),
                         10 + height - (r->losses[i].loss - y.low) * scale);
}

static void put_losses(struct page *r)
{
    enum { HEIGHT = 220 };
    struct lab_str *s = &r->text;
    struct span y = loss_span(r);
    char label[48];
    if (r->n_losses == 0 || !(y.high > y.low)) {
        lab_str_add(s, "<p>No loss was recorded.</p>\n");
        return;
    }
    begin_picture(s, HEIGHT + 40, "loss by iteration");
    for (int i = 0; i <= 4; i++) {
        double at = 10 + HEIGHT * i / 4.0;
        snprintf(label, sizeof(label), "%.3g",
                 y.high - (y.high - y.low) * i / 4);
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"60\" x2=\"%d\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     WIDTH - RIGHT, at, at);
        put_text(s, 54, at + 4, "end", label);
    }
    snprintf(label, sizeof(label), "%lld", (long long)r->losses[0].iteration);
    put_text(s, 60, HEIGHT + 30, "start", label);
    snprintf(label, sizeof(label), "iteration %lld",
             (long long)r->losses[r->n_losses - 1].iteration);
    put_text(s, WIDTH - RIGHT, HEIGHT + 30, "end", label);
    add_curve(r, y, HEIGHT);
    end_picture(s);
}

/* ---- the rows that are longest ---- */

static double median_of(const struct lab_time_sum *t)
{
    return isfinite(t->median_ns) ? t->median_ns : (double)NAN;
}

static double total_of(const struct lab_time_sum *t)
{
    return t->total_ns == LAB_UNKNOWN || t->total_ns < 0 || t->timed < 1
               ? (double)NAN
               : (double)t->total_ns;
}

typedef double time_fn(const struct lab_time_sum *t);

static int as_they_ran(const void *a, const void *b)
{
    const struct lab_time_sum *x = *(const struct lab_time_sum *const *)a;
    const struct lab_time_sum *y = *(const struct lab_time_sum *const *)b;
    return (x > y) - (x < y);
}

static int longest_first(const void *a, const void *b, void *user)
{
    time_fn *time = *(time_fn **)user;
    double x = time(*(const struct lab_time_sum *const *)a);
    double y = time(*(const struct lab_time_sum *const *)b);
    return x != y ? (x < y) - (x > y) : as_they_ran(a, b);
}

/* The rows of a level that have a time, to be freed; NULL: no memory. */
static const struct lab_time_sum **
find_longest(struct page *r, enum lab_sum_level level, time_fn *time, size_t *n)
{
    const struct lab_time_sums *sums = &r->line.sums;
    const struct lab_time_sum **rows =
        lab_alloc_array(sums->count + 1, sizeof(*rows));
    *n = 0;
    if (!rows)
        r->st = lab_no_memory("a report");
    for (size_t i = 0; rows && i < sums->count; i++)
        if (sums->items[i].level == level && !isnan(time(&sums->items[i])))
            rows[(*n)++] = &sums->items[i];
    if (rows)
        qsort_r(rows, *n, sizeof(*rows), longest_first, &time);
    return rows;
}

/* A file may hold any number. */
static bool has_half(const struct lab_time_sum *sum)
{
    return sum->quarter_ns <= sum->three_quarters_ns &&
           isfinite(sum->quarter_ns) && isfinite(sum->three_quarters_ns);
}

static void put_time_bars(struct page *r, enum lab_sum_level level,
                          const char *label)
{
    enum { NAME = 30 }; /* the rest is left of the picture */
    struct bars bars = {.n = 0};
    const struct lab_time_sum **rows =
        find_longest(r, level, median_of, &bars.n);
    size_t shown = bars.n > MOST_BARS ? MOST_BARS : bars.n;
    if (!rows)
        return;
    qsort(rows, shown, sizeof(*rows), as_they_ran);
    for (size_t i = 0; i < shown; i++) {
        const struct lab_time_sum *t = rows[i];
        struct bar *bar = &bars.list[i];
        const char *name =
            level == LAB_SUM_PHASE ? t->phase : lab_time_sum_step(t);
        clip(bar->name, sizeof(bar->name), name ? name : LAB_NA, NAME);
        lab_format_ns(t->median_ns, bar->label, sizeof(bar->label));
        bar->phase = t->phase_id;
        bar->value = t->median_ns;
        bar->low = has_half(t) ? t->quarter_ns : (double)NAN;
        bar->high = has_half(t) ? t->three_quarters_ns : (double)NAN;
    }
    if (bars.n > 0)
        put_bars(&r->text, &bars, "longest", label);
    else
        lab_str_add(&r->text, "<p>No times were recorded.</p>\n");
    lab_free(rows);
}

static void put_longest(struct page *r, enum lab_sum_level level)
{
    enum { LONGEST = 10 };
    bool kernel = level == LAB_SUM_KERNEL;
    const char *const heads[] = {kernel ? "kernel" : "step",
                                 kernel ? "step" : "variant",
                                 "phase",
                                 ">times",
                                 ">median",
                                 kernel ? ">share of all kernels"
                                        : ">share of all steps",
                                 NULL};
    struct lab_text_table table;
    double all = 0;
    size_t n;
    const struct lab_time_sum **rows = find_longest(r, level, total_of, &n);
    for (size_t i = 0; i < n; i++)
        all += total_of(rows[i]);
    lab_text_table_init(&table, heads);
    for (size_t i = 0; i < n && i < LONGEST; i++) {
        const struct lab_time_sum *t = rows[i];
        const char *step = lab_time_sum_step(t);
        const char *name = t->kernel_short ? t->kernel_short : t->kernel;
        lab_text_table_add(&table, kernel ? name : step);
        lab_text_table_add(&table, kernel ? step : t->variant);
        lab_text_table_add(&table, t->phase);
        lab_text_table_add_int(&table, t->timed);
        lab_text_table_add_real_ns(&table, t->median_ns);
        lab_text_table_add_share(&table, total_of(t) / (all > 0 ? all : NAN));
    }
    if (n)
        lab_str_addf(&r->text, "<h3>The longest %s</h3>\n",
                     kernel ? "kernels" : "steps");
    if (n)
        put_table(&r->text, &table);
    else
        lab_text_table_release(&table);
    lab_free(rows);
}

/* ---- the parts of an iteration ---- */

/* What a large part means. */
static const char *const meaning[LAB_WALL_PARTS] = {
    [LAB_WALL_KERNELS] = "the steps and kernels below are where to begin.",
    [LAB_WALL_COPIES] =
        "less to copy, or copies while kernels run, make it shorter.",
    [LAB_WALL_LAUNCH] =
        "fewer and larger kernels, or the iteration as one graph, make fewer "
        "launches.",
    [LAB_WALL_STEPS] = "the host works in the steps: it computes them, or "
                       "prepares the launches of a GPU that idles meanwhile.",
    [LAB_WALL_BETWEEN] = "the host's own work between two steps.",
    [LAB_WALL_OUTSIDE] =
        "the batch is fetched and records are collected; a first iteration "
        "also loads kernels and libraries. A run of more iterations is without "
        "most of it.",
};

static void put_largest(struct lab_str *s, const struct lab_time_breakdown *w)
{
    int largest = 0;
    for (int i = 1; i < LAB_WALL_PARTS; i++)
        if (w->part_ns[i] > w->part_ns[largest]) /* unknown is the least */
            largest = i;
    if (w->part_ns[largest] <= 0)
        return;
    lab_str_addf(s, "<p>The largest part is <b>%s</b>, %.3g %%: %s</p>\n",
                 lab_time_part_name((enum lab_time_part)largest),
                 100 * (double)w->part_ns[largest] / (double)w->wall_ns,
                 meaning[largest]);
}

static void put_wall(struct page *r, const struct lab_time_breakdown *w)
{
    static const char *const heads[] = {"part", ">time", ">share", NULL};
    struct lab_str *s = &r->text;
    struct lab_text_table t;
    double wall = lab_to_real(w->wall_ns);
    if (!(wall > 0))
        return;
    put_largest(s, w);
    lab_str_addf(s,
                 "<p>Iteration %lld took %s. Each moment of it counts once, "
                 "for the first of these that went on then:</p>\n",
                 (long long)w->iteration, LAB_NS_TEXT(wall));
    lab_text_table_init(&t, heads);
    for (int i = 0; i < LAB_WALL_PARTS; i++) {
        const char *name = lab_time_part_name((enum lab_time_part)i);
        double part = lab_to_real(w->part_ns[i]);
        if (isnan(part) && w->why[i])
            lab_text_table_addf(&t, "%s (%s)", name, w->why[i]);
        else
            lab_text_table_add(&t, name);
        lab_text_table_add_real_ns(&t, part);
        lab_text_table_add_share(&t, part / wall);
    }
    put_table(s, &t);
}

static void put_answer(struct page *r)
{
    struct lab_time_breakdown wall;
    lab_str_add(&r->text, "<h2>Where the time goes</h2>\n");
    enum lab_status st = lab_time_breakdown_load(&wall, r->db, r->run);
    if (st) {
        r->st = st;
        return;
    }
    put_wall(r, &wall);
    put_longest(r, LAB_SUM_STEP);
    put_longest(r, LAB_SUM_KERNEL);
}

/* ---- the roofs of the run's device, and the steps under them ---- */

enum { COPY = LAB_CEILING_COPY, FP32 = LAB_CEILING_FP32 };

/* A file may hold any number: a height without an end is none. */
static void keep_finite(struct lab_roof *roof)
{
    if (!isfinite(roof->per_s) || roof->per_s <= 0)
        *roof = (struct lab_roof){.per_s = NAN};
}

static const char *name_of(int roof)
{
    return lab_ceiling_name((enum lab_ceiling)roof);
}

static const char *unit_of(int roof)
{
    return lab_ceiling_unit((enum lab_ceiling)roof);
}

static void find_roofs(struct page *r)
{
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        lab_roof_published(r->line.device.device, name_of(i), &r->published[i]);
        keep_finite(&r->line.roofs[i]);
        keep_finite(&r->published[i]);
    }
}

static void put_roofs(struct page *r)
{
    static const char *const heads[] = {"roof", ">height", "from",
                                        ">data sheet", NULL};
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        const struct lab_roof *roof = &r->line.roofs[i];
        if (isnan(roof->per_s))
            continue;
        lab_text_table_add(&t, name_of(i));
        lab_text_table_add(&t, LAB_AMOUNT_TEXT(roof->per_s, unit_of(i)));
        lab_text_table_addf(&t, "%s%s%s", lab_roof_origin_text(roof->origin),
                            roof->source[0] ? ", " : "", roof->source);
        lab_text_table_add(&t,
                           LAB_AMOUNT_TEXT(r->published[i].per_s, unit_of(i)));
    }
    put_table(&r->text, &t);
}

/* ---- what is drawn ---- */

/* "tf32, bf16" has the words of a lab's variants. */
static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p++)
        if ((p == words || p[-1] == ' ') && (p[n] == '\0' || p[n] == ','))
            return true;
    return false;
}

/* Of the arithmetics fp32, and what the run was in. */
static bool is_drawn(const struct page *r, const struct lab_roof *roofs, int i)
{
    return i != COPY && !isnan(roofs[i].per_s) &&
           (i == FP32 || has_word(r->line.precision, name_of(i)));
}

/* Whether the data sheet has another value. */
static bool has_sheet(const struct page *r)
{
    bool other = false;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        other = other || ((i == COPY || is_drawn(r, r->line.roofs, i)) &&
                          r->line.roofs[i].origin != LAB_ROOF_DATASHEET);
    return other && !isnan(r->published[COPY].per_s) &&
           !isnan(r->published[FP32].per_s);
}

/* Both axes are powers of ten. */
struct axes {
    double x0; /* log10 of FLOP per byte */
    double x1;
    double y0; /* log10 of FLOP/s */
    double y1;
};

enum { TOP = 10, HEIGHT = 320, FROM = 70 };

static double place_x(const struct axes *a, double x)
{
    return FROM + (log10(x) - a->x0) / (a->x1 - a->x0) * (WIDTH - FROM - RIGHT);
}

static double place_y(const struct axes *a, double y)
{
    return TOP + (a->y1 - log10(y)) / (a->y1 - a->y0) * HEIGHT;
}

/* A file may hold any number: what has no place on the axes is no point. */
static bool is_point(const struct lab_time_sum *s)
{
    double per_byte = s->flop / s->bytes;
    double per_s = s->flop / s->median_ns * 1e9;
    return s->level == LAB_SUM_STEP && per_byte > 0 && isfinite(per_byte) &&
           per_s > 0 && isfinite(per_s) && s->flop > 0 && s->median_ns > 0;
}

/* What has to be in the picture. */
struct extent {
    double x[2];
    double y[2];
};

static void include(struct extent *e, double x, double y)
{
    e->x[0] = fmin(e->x[0], x);
    e->x[1] = fmax(e->x[1], x);
    e->y[0] = fmin(e->y[0], y);
    e->y[1] = fmax(e->y[1], y);
}

/* With a part of the slope before the first ridge. */
static void include_roofs(struct extent *e, const struct page *r,
                          const struct lab_roof *roofs)
{
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        double ridge = roofs[i].per_s / roofs[COPY].per_s;
        if (!is_drawn(r, roofs, i))
            continue;
        include(e, ridge / 4, roofs[i].per_s);
        include(e, ridge, roofs[i].per_s);
    }
}

static void find_axes(const struct page *r, struct axes *a)
{
    struct extent e = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    include_roofs(&e, r, r->line.roofs);
    if (has_sheet(r))
        include_roofs(&e, r, r->published);
    double high_y = e.y[1];
    for (size_t i = 0; i < r->line.sums.count; i++) {
        const struct lab_time_sum *s = &r->line.sums.items[i];
        if (is_point(s))
            include(&e, s->flop / s->bytes, s->flop / s->median_ns * 1e9);
    }
    *a = (struct axes){floor(log10(e.x[0])), ceil(log10(e.x[1])) + 1,
                       floor(log10(e.y[0])), ceil(log10(high_y))};
}

/* The slope of the memory up to the highest arithmetic, and a line for each. */
static void add_lines(struct page *r, const struct axes *a,
                      const struct lab_roof *roofs, const char *look)
{
    struct lab_str *s = &r->text;
    double bytes = roofs[COPY].per_s;
    double begin = fmax(pow(10, a->x0), pow(10, a->y0) / bytes);
    double highest = 0;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        if (is_drawn(r, roofs, i))
            highest = fmax(highest, roofs[i].per_s);
    lab_str_addf(s, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f", look,
                 place_x(a, begin), place_y(a, begin * bytes),
                 place_x(a, highest / bytes), place_y(a, highest));
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        if (is_drawn(r, roofs, i))
            lab_str_addf(s, "M%.1f %.1fL%.1f %.1f",
                         place_x(a, roofs[i].per_s / bytes),
                         place_y(a, roofs[i].per_s), place_x(a, pow(10, a->x1)),
                         place_y(a, roofs[i].per_s));
    lab_str_add(s, "\"/>\n");
}

static void add_label(struct page *r, int roof, double x, double y,
                      const char *anchor)
{
    const struct lab_roof *of = &r->line.roofs[roof];
    const char *from = of->origin == LAB_ROOF_DATASHEET
                           ? of->source
                           : lab_roof_origin_text(of->origin);
    struct lab_str label;
    lab_str_init(&label);
    lab_str_add(&label, LAB_AMOUNT_TEXT(of->per_s, unit_of(roof)));
    lab_str_addf(&label, " %s (%s)", name_of(roof), from);
    put_text(&r->text, x, y, anchor, lab_str_text(&label));
    r->text.failed |= label.failed;
    lab_str_release(&label);
}

/* Below those that would be written over it. */
static double find_free(double y, const double *used, int n)
{
    enum { LINE = 13 };
    for (int i = 0; i < n; i++) {
        if (y > used[i] - LINE && y < used[i] + LINE) {
            y = used[i] + LINE;
            i = -1; /* it may be on another one now */
        }
    }
    return y;
}

/* Names are below their lines. */
static void add_labels(struct page *r, const struct axes *a)
{
    double bytes = r->line.roofs[COPY].per_s;
    double begin = fmax(pow(10, a->x0), pow(10, a->y0) / bytes);
    double used[LAB_CEILING_ROOFS];
    int n = 0;
    add_label(r, COPY, place_x(a, begin) + 48, place_y(a, begin * bytes) + 4,
              "start");
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        if (!is_drawn(r, r->line.roofs, i))
            continue;
        used[n] = find_free(place_y(a, r->line.roofs[i].per_s) + 15, used, n);
        add_label(r, i, WIDTH - RIGHT, used[n++], "end");
    }
}

static void add_sheet_words(struct page *r)
{
    struct lab_str *s = &r->text;
    lab_str_add(s, "<p class=\"dim\">Dashed, the data sheet's: ");
    lab_str_add(s, LAB_AMOUNT_TEXT(r->published[COPY].per_s, unit_of(COPY)));
    lab_str_add(s, " copy");
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        if (!is_drawn(r, r->published, i))
            continue;
        lab_str_add(s, ", ");
        lab_str_add(s, LAB_AMOUNT_TEXT(r->published[i].per_s, unit_of(i)));
        lab_str_addf(s, " %s", name_of(i));
    }
    lab_str_add(s, " (");
    add_html(s, r->published[FP32].source);
    lab_str_add(s, ").</p>\n");
}

static void add_axes(struct page *r, const struct axes *a)
{
    struct lab_str *s = &r->text;
    char label[48];
    for (double x = a->x0; x <= a->x1; x++) {
        double at = place_x(a, pow(10, x));
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" "
                     "y2=\"%d\"/>\n",
                     at, at, (int)TOP, TOP + HEIGHT);
        snprintf(label, sizeof(label), "%g", pow(10, x));
        put_text(s, at, TOP + HEIGHT + 16, "middle", label);
    }
    for (double y = a->y0; y <= a->y1; y++) {
        double at = place_y(a, pow(10, y));
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     (int)FROM, WIDTH - RIGHT, at, at);
        snprintf(label, sizeof(label), "1e%d", (int)y);
        put_text(s, FROM - 6, at + 4, "end", label);
    }
    put_text(s, WIDTH / 2.0, TOP + HEIGHT + 34, "middle",
             "FLOP per byte (analytic); upwards FLOP/s");
}

static void add_points(struct page *r, const struct axes *a)
{
    struct lab_str *s = &r->text;
    for (size_t i = 0; i < r->line.sums.count; i++) {
        const struct lab_time_sum *p = &r->line.sums.items[i];
        if (!is_point(p))
            continue;
        lab_str_addf(s,
                     "<circle class=\"p%d\" cx=\"%.1f\" cy=\"%.1f\" "
                     "r=\"4\"><title>",
                     (int)(p->phase_id & 3), place_x(a, p->flop / p->bytes),
                     place_y(a, p->flop / p->median_ns * 1e9));
        add_html(s, p->phase);
        lab_str_add_char(s, ' ');
        add_html(s, lab_time_sum_step(p));
        lab_str_add(s, "</title></circle>\n");
    }
}

static void put_roofline(struct page *r)
{
    struct lab_str *s = &r->text;
    struct axes a;
    if (isnan(r->line.roofs[FP32].per_s) || isnan(r->line.roofs[COPY].per_s)) {
        lab_str_add(s,
                    "<p>No roofline: the peaks of this device are not known; "
                    "`lapenna-lab profile ceilings` on it measures "
                    "them.</p>\n");
        return;
    }
    put_roofs(r);
    find_axes(r, &a);
    begin_picture(s, TOP + HEIGHT + 44, "roofline");
    add_axes(r, &a);
    if (has_sheet(r))
        add_lines(r, &a, r->published, "sheet");
    add_lines(r, &a, r->line.roofs, "roof");
    add_labels(r, &a);
    add_points(r, &a);
    end_picture(s);
    if (has_sheet(r))
        add_sheet_words(r);
}

/* ---- what a lab measured ----
 * Its ladder with bars under the peak, what was predicted, the winners of its
 * tuning, and a sweep. */

/* The rows of one size, or the places of a sweep. */
struct part {
    struct page *r;
    const struct lab_fields *fields;
    struct lab_text_table table;
    struct lab_rate_unit scale; /* predictions have that of the results */
    char head[160];             /* the lab and its size; "": no table */
    char unit[48];              /* of the bars */
    struct bars bars;
    bool ladder; /* its head is there */
};

static void end_part(struct part *p)
{
    if (!p->head[0])
        return;
    lab_text_table_drop_empty(&p->table);
    put_table(&p->r->text, &p->table);
    if (p->bars.n > 0)
        put_bars(&p->r->text, &p->bars, "first", p->head);
    p->bars.n = 0;
    p->head[0] = '\0';
}

static const char *rate_text(double rate, const char *unit, char *out,
                             size_t cap)
{
    if (strncmp(unit, "s/", 2) != 0 || isnan(rate))
        return lab_format_amount(rate, unit, out, cap);
    snprintf(out, cap, "%s%s", LAB_NS_TEXT(rate * 1e9), unit + 1);
    return out;
}

/* A rate that has no length has no bar. */
static void note_bar(struct part *p, const char *name, const char *of,
                     double rate, double peak)
{
    enum { VARIANT = 24, PRECISION = 8 }; /* characters of a bar's name */
    char variant[4 * VARIANT + 4];
    char precision[4 * PRECISION + 4];
    char text[80];
    char share[32] = "";
    if (!(rate > 0) || !isfinite(rate) || p->bars.n++ >= MOST_BARS)
        return;
    struct bar *bar = &p->bars.list[p->bars.n - 1];
    clip(variant, sizeof(variant), name ? name : "", VARIANT);
    clip(precision, sizeof(precision), of ? of : "", PRECISION);
    if (peak > 0)
        snprintf(share, sizeof(share), ", %.3g %%", 100 * rate / peak);
    *bar = (struct bar){.value = rate,
                        .low = peak > 0 ? peak : (double)NAN,
                        .high = peak > 0 ? peak : (double)NAN};
    snprintf(bar->name, sizeof(bar->name), "%s%s%s", variant, of ? " " : "",
             precision);
    snprintf(bar->label, sizeof(bar->label), "%.60s%s",
             rate_text(rate, p->unit, text, sizeof(text)), share);
}

/* The roof that the variant's rate is held against; NaN: unknown. */
static double find_peak(const struct part *p, const struct lab_bench_result *r)
{
    int roof = LAB_CEILING_COUNT;
    if (strcmp(p->unit, "B/s") == 0)
        roof = COPY;
    else if (strcmp(p->unit, "FLOP/s") == 0 && r->precision)
        roof = (int)lab_roofline_precision(r->precision);
    return roof < LAB_CEILING_ROOFS ? p->r->line.roofs[roof].per_s
                                    : (double)NAN;
}

static void add_variant(struct part *p, const struct lab_bench_result *r)
{
    struct lab_text_table *t = &p->table;
    char text[80];
    snprintf(p->unit, sizeof(p->unit), "%s", r->unit ? r->unit : "");
    double peak = find_peak(p, r);
    lab_text_table_add(t, r->variant);
    lab_text_table_add(t, r->precision);
    lab_text_table_add(t, r->status);
    lab_text_table_add_real_ns(t, r->median_ns);
    lab_text_table_add(t, rate_text(r->rate, p->unit, text, sizeof(text)));
    lab_text_table_add_share(t, r->rate / (peak > 0 ? peak : NAN));
    lab_text_table_add_times(t, r->gain);
    lab_text_table_add_times(t, r->gain_model);
    lab_text_table_add(t, r->note ? r->note : r->reason ? r->reason : "");
    lab_text_table_add(t, r->idea ? r->idea : "");
    note_bar(p, r->variant, r->precision, r->rate, peak);
}

static void add_place(struct part *p, const struct lab_sweep_row *r)
{
    char size[48];
    snprintf(size, sizeof(size), "%.10g", r->x);
    snprintf(p->unit, sizeof(p->unit), "samples/s");
    lab_text_table_add_row(&p->table, p->fields, r);
    note_bar(p, r->name ? r->name : size, r->backend, r->samples_per_s, NAN);
}

static void name_part(const struct part *p, const void *row, char *out,
                      size_t cap)
{
    const struct lab_bench_result *r = row;
    const struct lab_sweep_row *s = row;
    if (p->fields == &lab_bench_result_fields)
        snprintf(out, cap, "%.60s, %.60s", r->lab ? r->lab : "?",
                 r->size ? r->size : "?");
    else if (p->fields == &lab_sweep_row_fields)
        snprintf(out, cap, "%.60s of %.60s", s->sweep ? s->sweep : "?",
                 s->lesson ? s->lesson : "?");
    else
        snprintf(out, cap, "%s",
                 p->fields == &lab_prediction_fields   ? "Expected before"
                 : p->fields == &lab_choice_row_fields ? "Chosen by measuring"
                                                       : "Tuned");
}

/* Another size begins another table. */
static void begin_part(struct part *p, const char *head, const void *row)
{
    static const char *const variants[] = {
        "variant", "in",        "status", ">median",  ">rate", ">of roof",
        ">gain",   ">promised", "note",   "its idea", NULL};
    bool ladder = p->fields == &lab_bench_result_fields;
    if (ladder && !p->ladder)
        lab_str_add(&p->r->text,
                    "<h2>Ladder</h2>\n<p>A bar is the rate at the median, the "
                    "line the roof of the device in that precision (below: "
                    "Roofline).</p>\n");
    p->ladder = p->ladder || ladder;
    snprintf(p->head, sizeof(p->head), "%s", head);
    lab_str_add(&p->r->text, "<h3>");
    add_html(&p->r->text, head);
    lab_str_add(&p->r->text, "</h3>\n");
    lab_text_table_begin(&p->table, p->fields, row, &p->scale);
    if (ladder) {
        lab_text_table_release(&p->table);
        lab_text_table_init(&p->table, variants);
    }
}

static bool put_record(void *user, const void *row)
{
    struct part *p = user;
    char head[sizeof(p->head)];
    name_part(p, row, head, sizeof(head));
    if (strcmp(head, p->head) != 0) {
        end_part(p);
        begin_part(p, head, row);
    }
    if (p->fields == &lab_bench_result_fields)
        add_variant(p, row);
    else if (p->fields == &lab_sweep_row_fields)
        add_place(p, row);
    else
        lab_text_table_add_row(&p->table, p->fields, row);
    return true;
}

static void put_records(struct page *r, struct part *p,
                        const struct lab_fields *fields)
{
    p->fields = fields;
    if (!r->st)
        r->st = lab_fields_read(r->db, r->run, fields, put_record, p);
    end_part(p);
}

/* Why each step ran its variant. */
static void put_choices(struct page *r)
{
    struct part p = {.r = r, .scale = {">rate", 1}};
    put_records(r, &p, &lab_choice_row_fields);
}

static void put_lab(struct page *r)
{
    static const struct lab_fields *const records[] = {
        &lab_bench_result_fields, &lab_prediction_fields, &lab_tuned_row_fields,
        &lab_sweep_row_fields};
    struct part p = {.r = r, .scale = {">rate", 1}};
    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
        put_records(r, &p, records[i]);
}

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--fg:#1a1a1a;--bg:#fff;--dim:#666;"
    "--line:#ddd;--p0:#2b6cb0;--p1:#b7791f;--p2:#9b2c2c;--p3:#2f855a}\n"
    "@media(prefers-color-scheme:dark){:root{--fg:#e6e6e6;--bg:#151515;"
    "--dim:#999;--line:#333;--p0:#63b3ed;--p1:#ecc94b;--p2:#fc8181;"
    "--p3:#68d391}}\n"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:1040px;margin:2em auto;"
    "padding:0 1em;color:var(--fg);background:var(--bg)}\n"
    "table{border-collapse:collapse;width:100%;margin:1em 0;font-size:13px}\n"
    "th,td{padding:3px 8px;border-bottom:1px solid var(--line);"
    "text-align:left;vertical-align:top}\n"
    "td{overflow-wrap:anywhere}td.k{min-width:8em}td.k:first-child{min-width:"
    "16em}\n"
    "td.k div{max-height:5.8em;overflow-y:auto}\n"
    "td.n,th.n{text-align:right}td.n,th.n,td.w{white-space:nowrap}\n"
    ".wide{overflow-x:auto}.wide svg{min-width:640px}\n"
    "svg{width:100%;height:auto;margin:.5em 0}\n"
    "svg text{font:11px system-ui,sans-serif;fill:var(--fg)}\n"
    ".grid{stroke:var(--line)}.box{stroke:var(--fg);stroke-width:2}\n"
    ".curve,.roof,.sheet{fill:none;stroke:var(--p0);stroke-width:1.5}\n"
    ".roof{stroke:var(--fg)}.sheet{stroke:var(--dim);stroke-dasharray:5 4}\n"
    ".p0{fill:var(--p0)}.p1{fill:var(--p1)}.p2{fill:var(--p2)}"
    ".p3{fill:var(--p3)}\n"
    ".key span{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em}"
    "\n.dim{color:var(--dim)}\n"
    "</style>\n";

static const char key[] =
    "<p class=\"key\"><span style=\"background:var(--p0)\"></span>forward"
    "<span style=\"background:var(--p1)\"></span>loss"
    "<span style=\"background:var(--p2)\"></span>backward"
    "<span style=\"background:var(--p3)\"></span>update; a bar is the median, "
    "the stroke on it holds half of the times.</p>\n";

/* A run of no kind is another tool's, and was imported. */
static void put_origin(struct lab_str *s, const struct lab_run_row *run)
{
    if (run->kind || !run->imported_from)
        lab_str_add(s, ", recorded by lapenna-lab");
    if (run->imported_from) {
        lab_str_add(s, ", imported from ");
        add_html(s, run->imported_from);
    }
}

static bool put_run(void *user, const struct lab_run_row *run)
{
    static const char *const heads[] = {"", "", NULL};
    struct page *r = user;
    struct lab_str *s = &r->text;
    struct lab_text_table figures;
    lab_str_add(s, "<title>");
    add_html(s, run->title ? run->title : run->lesson);
    lab_str_addf(s, " (run %lld)</title>\n", (long long)run->id);
    lab_str_add(s, style);
    lab_str_add(s, "</head>\n<body>\n<h1>");
    add_html(s, run->title ? run->title : run->lesson);
    lab_str_addf(s, "</h1>\n<p class=\"dim\">Run %lld", (long long)run->id);
    put_origin(s, run);
    lab_str_add(s, ".</p>\n");
    lab_text_table_init(&figures, heads);
    lab_text_table_add(&figures, "device");
    lab_text_table_add(&figures, run->device);
    lab_run_figures(&figures, run);
    put_facts(s, &figures);
    lab_text_table_init(&r->facts, heads);
    lab_run_origin(&r->facts, run);
    lab_run_recording(&r->facts, run);
    return true;
}

static bool take_loss(void *user, const struct lab_loss_row *row)
{
    struct page *r = user;
    r->st = lab_grow(&r->losses, r->n_losses, &r->room, sizeof(*r->losses),
                     "a loss curve");
    if (r->st)
        return false;
    r->losses[r->n_losses++] = *row;
    return true;
}

/* ---- steps and kernels ---- */

static const struct lab_field *simulated_column(int number)
{
    return lab_field_at(&lab_counted_fields, LAB_COUNTED_SIMULATED + number);
}

static void add_counted(struct page *r, struct lab_text_table *t,
                        const struct lab_counters *c)
{
    const struct lab_field *f;
    const struct lab_counted_row row = {.counters = *c, .formula = NAN};
    if (r->line.counted.count == 0)
        return;
    for (int i = 0;
         r->line.counted.simulated && (f = simulated_column(i)) != NULL; i++)
        lab_text_table_add_field(t, f, &row);
    if (r->line.counted.simulated)
        return;
    lab_text_table_add_real(t, c->achieved_occupancy_pct, 4);
    lab_text_table_add(t, LAB_BYTES_TEXT(c->dram_read_bytes));
    lab_text_table_add(t, LAB_BYTES_TEXT(c->dram_write_bytes));
    lab_text_table_add(t, LAB_AMOUNT_TEXT(c->fp32_flop, "FLOP"));
    lab_text_table_add(t, LAB_AMOUNT_TEXT(c->tensor_flop, "FLOP"));
    lab_text_table_add_real(t, c->ipc, 4);
}

static void add_step(struct page *r, struct lab_text_table *table,
                     const struct lab_time_sum *t)
{
    const struct lab_counted_item *item =
        lab_counted_step(&r->line.counted, t->step_index, t->variant);
    struct lab_counters none;
    lab_counters_init(&none);
    lab_text_table_add_int(table, t->step_index);
    lab_text_table_add(table, t->phase);
    lab_text_table_add(table, lab_time_sum_step(t));
    lab_text_table_add(table, t->variant);
    lab_text_table_add_int(table, t->timed);
    lab_text_table_add_real_ns(table, t->median_ns);
    lab_text_table_add_real_ns(table, t->mad_ns);
    lab_text_table_add_real(table, t->flop, 4);
    lab_text_table_add_real(table, t->flop / t->median_ns, 4);
    lab_text_table_add_real(table, t->bytes / t->median_ns, 4);
    add_counted(r, table, item ? &item->counters : &none);
}

static void add_kernel(struct page *r, struct lab_text_table *table,
                       const struct lab_time_sum *t)
{
    struct lab_counters counted;
    lab_counted_launch(&r->line.counted, t->step_index, t->variant, t->kernel,
                       &counted);
    lab_text_table_add(table, t->kernel ? t->kernel : t->kernel_short);
    lab_text_table_add(table, lab_time_sum_step(t));
    lab_text_table_add(table, t->phase);
    lab_text_table_add_int(table, t->count);
    lab_text_table_add_real_ns(table, t->median_ns);
    lab_text_table_add_real_ns(table, t->mad_ns);
    lab_text_table_add(table, LAB_DIMS_TEXT(t->launch.grid));
    lab_text_table_add(table, LAB_DIMS_TEXT(t->launch.block));
    lab_text_table_add_int(table, t->launch.registers_per_thread);
    lab_text_table_add_real(table, t->occupancy_pct, 4);
    add_counted(r, table, &counted);
}

struct level {
    enum lab_sum_level level;
    void (*add)(struct page *r, struct lab_text_table *table,
                const struct lab_time_sum *t);
    const char *none;
    const char *counted; /* what the last columns are, where there are any */
    const char *heads[LAB_TEXT_TABLE_COLUMNS + 1];
};

static const struct level steps = {
    .level = LAB_SUM_STEP,
    .add = add_step,
    .none = "No step was recorded.",
    .counted = "Achieved occupancy, DRAM, the counted FLOP and IPC are the "
               "hardware counters of one execution.",
    .heads = {">#", "phase", "step", "variant", ">times", ">median", ">MAD",
              ">FLOP", ">GFLOP/s", ">GB/s"}};

static const struct level kernels = {
    .level = LAB_SUM_KERNEL,
    .add = add_kernel,
    .none = "No kernel was recorded: the run was on the CPU, or without a "
            "kernel trace.",
    .counted = "The hardware counters are those of one launch.",
    .heads = {"kernel", "step", "phase", ">launches", ">median", ">MAD",
              ">grid", ">block", ">registers", ">occupancy %"}};

static void put_level(struct page *r, const struct level *l)
{
    static const char *const counted[] = {
        ">achieved %",           ">DRAM read",
        ">DRAM written",         ">fp32 FLOP, counted",
        ">tensor FLOP, counted", ">IPC"};
    struct level with = *l;
    struct lab_text_table t;
    int n = 0;
    while (with.heads[n])
        n++;
    const bool simulated = r->line.counted.simulated;
    for (int i = 0; simulated && simulated_column(i); i++)
        with.heads[n + i] = simulated_column(i)->title;
    if (r->line.counted.count > 0 && !simulated)
        memcpy(with.heads + n, counted, sizeof(counted));
    lab_text_table_init(&t, with.heads);
    for (size_t i = 0; i < r->line.sums.count; i++)
        if (r->line.sums.items[i].level == l->level)
            l->add(r, &t, &r->line.sums.items[i]);
    bool any = t.count > (size_t)t.columns;
    if (!any)
        lab_str_addf(&r->text, "<p>%s</p>\n", l->none);
    else if (r->line.counted.count > 0)
        lab_str_addf(&r->text, "<p class=\"dim\">%s</p>\n",
                     simulated ? LAB_COUNTED_BY_SIMULATION : l->counted);
    if (any)
        put_table(&r->text, &t);
    else
        lab_text_table_release(&t);
}

static void put_body(struct page *r)
{
    struct lab_str *s = &r->text;
    put_lab(r);
    if (r->line.sums.bench_names.count == 0) { /* a lab has none of these */
        put_answer(r);
        lab_str_add(s, "<h2>Phases of an iteration</h2>\n");
        put_time_bars(r, LAB_SUM_PHASE, "median time of each phase");
        lab_str_add(s, "<h2>Loss</h2>\n");
        put_losses(r);
    }
    lab_str_add(s, "<h2>Steps</h2>\n");
    lab_str_add(s, key);
    put_time_bars(r, LAB_SUM_STEP, "median time of each step");
    put_level(r, &steps);
    put_choices(r);
    lab_str_add(s, "<h2>Kernels</h2>\n");
    put_level(r, &kernels);
    lab_str_add(s, "<h2>Roofline</h2>\n");
    put_roofline(r);
    lab_str_add(s, "<h2>The run</h2>\n");
    put_facts(s, &r->facts);
    lab_str_add(s, "</body>\n</html>\n");
}

/* Characters beyond ASCII as HTML has them in text and in attributes. */
static void spell_ascii(struct lab_str *page)
{
    struct lab_str ascii;
    size_t n;
    lab_str_init(&ascii);
    for (size_t i = 0; i < page->len; i += n) {
        unsigned code = 0;
        n = lab_utf8_next(page->data + i, page->len - i, &code);
        if (n > 1)
            lab_str_addf(&ascii, "&#%u;", code);
        else
            lab_str_add_char(&ascii, n ? page->data[i] : '?');
        n += n == 0;
    }
    ascii.failed |= page->failed;
    lab_str_release(page);
    *page = ascii;
}

static enum lab_status write_page(FILE *to, const struct lab_str *text)
{
    if (text->failed)
        return lab_no_memory("a report");
    if (fwrite(text->data, 1, text->len, to) != text->len)
        return lab_fail(LAB_E_IO, "[export.html] cannot write the report: %s",
                        strerror(errno));
    return LAB_OK;
}

enum lab_status lab_report_html(FILE *to, struct lab_database *db, int64_t run)
{
    struct page r = {.db = db, .run = run};
    lab_str_init(&r.text);
    lab_str_add(&r.text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                         "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                         "content=\"width=device-width\">\n");
    enum lab_status st = lab_query_run(db, run, put_run, &r);
    if (st == LAB_OK)
        st = lab_query_losses(db, run, take_loss, &r);
    if (st == LAB_OK)
        st = r.st;
    if (st == LAB_OK)
        st = lab_roofline_load(&r.line, db, run);
    if (st == LAB_OK) {
        find_roofs(&r);
        put_body(&r);
        if (lab_print_is_ascii())
            spell_ascii(&r.text);
        st = r.st ? r.st : write_page(to, &r.text);
    }
    lab_roofline_release(&r.line);
    lab_text_table_release(&r.facts);
    lab_free(r.losses);
    lab_str_release(&r.text);
    return st;
}
