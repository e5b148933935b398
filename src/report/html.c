/* html.c -- a run as one HTML page: its tables, its pictures in SVG, the
 * roofline, what a lab measured, and the sentences above them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/time_breakdown.h"
#include "store/bench.h"
#include "store/tuned.h"
#include "base/format.h"
#include "base/mem.h"
#include "report/html.h"
#include "store/ceilings.h"
#include "store/counted.h"
#include "store/query.h"
#include "store/time_sum.h"

struct lab_report {
    FILE *to;
    struct lab_database *db;
    int64_t run;
    struct lab_str text;
    struct lab_str facts; /* of the run, for the end of the page */
    struct lab_time_sums sums;
    struct lab_counted_run counted;
    struct lab_roof roofs[LAB_ROOF_NAMES];     /* finite and above 0, or NaN */
    struct lab_roof published[LAB_ROOF_NAMES]; /* of the data sheet alone */
    char precision[64]; /* of a lab: all of them, "tf32, bf16" */
    double *loss;       /* by place; NaN: not a number */
    int64_t *iteration;
    size_t losses;
    size_t room;
    enum lab_status st;
};

/* ---- what tables and pictures are made of ---- */

enum { LAB_REPORT_WIDTH = 860, LAB_REPORT_BAR = 18, LAB_REPORT_BARS = 60 };

struct lab_report_bar {
    const char *name;
    int64_t phase; /* its colour */
    double end;    /* of report_bar_x() */
    bool stroke;   /* a line on it from (x1, y1) to (x2, y2), y from its top */
    double x1;
    double x2;
    double y1;
    double y2;
    const struct lab_str *label; /* behind it */
};

enum { NAMES = 190, LABELS = 150, BAR = LAB_REPORT_BAR };

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

/* ---- cells ---- */

static void report_word_cell(struct lab_str *s, const char *text)
{
    lab_str_add(s, "<td class=\"w\">");
    add_html(s, text ? text : LAB_NA);
    lab_str_add(s, "</td>");
}

static void report_text_cell(struct lab_str *s, const char *text)
{
    lab_str_addf(s, "<td class=\"n\">%s</td>", text);
}

static void report_ns_cell(struct lab_str *s, double ns)
{
    report_text_cell(s, LAB_NS_TEXT(ns));
}

static void report_number_cell(struct lab_str *s, double v, const char *unit)
{
    if (isnan(v))
        lab_str_add(s, "<td class=\"n\">" LAB_NA "</td>");
    else
        lab_str_addf(s, "<td class=\"n\">%.4g%s</td>", v, unit);
}

static void report_amount_cell(struct lab_str *s, double v, const char *unit)
{
    report_text_cell(s, LAB_AMOUNT_TEXT(v, unit));
}

/* ---- pictures ---- */

static void report_begin(struct lab_str *s, int height, const char *label)
{
    lab_str_addf(s,
                 "<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
                 "aria-label=\"",
                 (int)LAB_REPORT_WIDTH, height);
    add_html(s, label);
    lab_str_add(s, "\">\n");
}

static void report_end(struct lab_str *s)
{
    lab_str_add(s, "</svg></div>\n");
}

static void report_text(struct lab_str *s, double x, double y,
                        const char *anchor, const char *text)
{
    lab_str_addf(s, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
                 anchor);
    add_html(s, text);
    lab_str_add(s, "</text>\n");
}

static void report_clip(char *out, size_t size, const char *text, size_t most)
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

static size_t report_bars_begin(struct lab_str *s, size_t bars,
                                const char *which, const char *label)
{
    size_t shown = bars > LAB_REPORT_BARS ? LAB_REPORT_BARS : bars;
    if (shown < bars)
        lab_str_addf(s,
                     "<p>The %s %zu of %zu, in the order they ran; the table "
                     "has all.</p>\n",
                     which, shown, bars);
    report_begin(s, (int)shown * BAR + 8, label);
    return shown;
}

static double report_bar_x(double value, double most)
{
    return NAMES + value / most * (LAB_REPORT_WIDTH - NAMES - LABELS);
}

static void lab_report_bar(struct lab_str *s, const struct lab_report_bar *bar,
                           double y)
{
    enum { MOST = 30 }; /* what lies left of the picture is not seen */
    char name[4 * MOST + 8];
    double x = report_bar_x(0, 1);
    report_clip(name, sizeof(name), bar->name ? bar->name : LAB_NA, MOST);
    report_text(s, x - 6, y + 13, "end", name);
    lab_str_addf(s,
                 "<rect class=\"p%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                 "height=\"%d\"/>\n",
                 (int)(bar->phase & 3), x, y + 2, bar->end - x, BAR - 4);
    if (bar->stroke)
        lab_str_addf(s,
                     "<line class=\"box\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     bar->x1, bar->x2, y + bar->y1, y + bar->y2);
    x = bar->stroke ? fmax(bar->end, bar->x2) : bar->end;
    report_text(s, x + 6, y + 13, "start", lab_str_text(bar->label));
    s->failed |= bar->label->failed;
}

enum { WIDTH = LAB_REPORT_WIDTH, RIGHT = 20 };

/* ---- loss ---- */

struct span {
    double low;
    double high;
};

static struct span loss_span(const struct lab_report *r)
{
    struct span span = {INFINITY, -INFINITY};
    for (size_t i = 0; i < r->losses; i++) {
        if (!isfinite(r->loss[i]))
            continue;
        span.low = fmin(span.low, r->loss[i]);
        span.high = fmax(span.high, r->loss[i]);
    }
    if (span.low == span.high) {
        span.low -= 1;
        span.high += 1;
    }
    return span;
}

/* A point without neighbours makes no line. */
static bool stands_alone(const struct lab_report *r, size_t i, size_t stride)
{
    return isfinite(r->loss[i]) &&
           (i < stride || !isfinite(r->loss[i - stride])) &&
           (i + stride >= r->losses || !isfinite(r->loss[i + stride]));
}

static double curve_x(const struct lab_report *r, size_t i)
{
    double first = (double)r->iteration[0];
    double range = (double)r->iteration[r->losses - 1] - first;
    return 60 + ((double)r->iteration[i] - first) / (range > 0 ? range : 1) *
                    (WIDTH - 60 - RIGHT);
}

static void add_curve(struct lab_report *r, struct span y, double height)
{
    struct lab_str *s = &r->text;
    double scale = height / (y.high - y.low);
    bool pen = false;
    size_t stride = r->losses / 2000 + 1;
    lab_str_add(s, "<path class=\"curve\" d=\"");
    for (size_t i = 0; i < r->losses; i += stride) {
        if (isfinite(r->loss[i]))
            lab_str_addf(s, "%s%.1f %.1f", pen ? "L" : "M", curve_x(r, i),
                         10 + height - (r->loss[i] - y.low) * scale);
        pen = isfinite(r->loss[i]); /* a gap where the loss was no number */
    }
    lab_str_add(s, "\"/>\n");
    for (size_t i = 0; i < r->losses; i += stride)
        if (stands_alone(r, i, stride))
            lab_str_addf(s,
                         "<circle class=\"p0\" cx=\"%.1f\" cy=\"%.1f\" "
                         "r=\"3\"></circle>\n",
                         curve_x(r, i),
                         10 + height - (r->loss[i] - y.low) * scale);
}

static void report_loss(struct lab_report *r)
{
    enum { HEIGHT = 220 };
    struct lab_str *s = &r->text;
    struct span y = loss_span(r);
    char label[48];
    if (r->losses == 0 || !(y.high > y.low)) {
        lab_str_add(s, "<p>No loss was recorded.</p>\n");
        return;
    }
    report_begin(s, HEIGHT + 40, "loss by iteration");
    for (int i = 0; i <= 4; i++) {
        double at = 10 + HEIGHT * i / 4.0;
        snprintf(label, sizeof(label), "%.3g",
                 y.high - (y.high - y.low) * i / 4);
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"60\" x2=\"%d\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     WIDTH - RIGHT, at, at);
        report_text(s, 54, at + 4, "end", label);
    }
    snprintf(label, sizeof(label), "%lld", (long long)r->iteration[0]);
    report_text(s, 60, HEIGHT + 30, "start", label);
    snprintf(label, sizeof(label), "iteration %lld",
             (long long)r->iteration[r->losses - 1]);
    report_text(s, WIDTH - RIGHT, HEIGHT + 30, "end", label);
    add_curve(r, y, HEIGHT);
    report_end(s);
}

/* ---- bars ---- */

/* Which rows of a level have a bar: the longest, as many as there is room for.
 */
struct choice {
    enum lab_sum_level level;
    size_t bars;  /* rows that have a time */
    double most;  /* what reaches furthest to the right */
    double least; /* shorter ones are left out */
    size_t equal; /* of those as long as that, the first so many are not */
};

static bool has_bar(const struct choice *c, const struct lab_time_sum *sum)
{
    return sum->level == c->level && isfinite(sum->median_ns);
}

/* A file may hold any number. */
static bool has_half(const struct lab_time_sum *sum)
{
    return sum->quarter_ns <= sum->three_quarters_ns &&
           isfinite(sum->quarter_ns) && isfinite(sum->three_quarters_ns);
}

static int by_length(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x < y) - (x > y);
}

static enum lab_status leave_out(struct choice *c,
                                 const struct lab_time_sums *sums)
{
    size_t n = 0;
    double *length = lab_alloc_array(c->bars, sizeof(*length));
    if (!length)
        return lab_no_memory("the bars of a report");
    for (size_t i = 0; i < sums->count; i++)
        if (has_bar(c, &sums->items[i]))
            length[n++] = sums->items[i].median_ns;
    qsort(length, n, sizeof(*length), by_length);
    c->least = length[LAB_REPORT_BARS - 1];
    c->equal = 0;
    for (size_t i = 0; i < LAB_REPORT_BARS; i++)
        c->equal += length[i] == c->least;
    lab_free(length);
    return LAB_OK;
}

static enum lab_status choose(struct choice *c,
                              const struct lab_time_sums *sums)
{
    c->least = -INFINITY;
    for (size_t i = 0; i < sums->count; i++) {
        const struct lab_time_sum *sum = &sums->items[i];
        if (!has_bar(c, sum))
            continue;
        c->bars++;
        c->most = fmax(c->most, sum->median_ns);
        if (has_half(sum))
            c->most = fmax(c->most, sum->three_quarters_ns);
    }
    return c->bars > LAB_REPORT_BARS ? leave_out(c, sums) : LAB_OK;
}

static bool is_chosen(struct choice *c, const struct lab_time_sum *sum)
{
    if (!has_bar(c, sum) || sum->median_ns < c->least)
        return false;
    if (sum->median_ns > c->least)
        return true;
    if (c->equal == 0)
        return false;
    c->equal--;
    return true;
}

static void add_bar(struct lab_str *s, const struct lab_time_sum *sum, double y,
                    double most, const char *name)
{
    struct lab_str label;
    struct lab_report_bar bar = {
        .name = name,
        .phase = sum->phase_id,
        .end = report_bar_x(sum->median_ns, most),
        .stroke = has_half(sum),
        .x1 = report_bar_x(sum->quarter_ns, most),
        .x2 = report_bar_x(sum->three_quarters_ns, most),
        .y1 = BAR / 2.0,
        .y2 = BAR / 2.0,
        .label = &label,
    };
    lab_str_init(&label);
    lab_str_add(&label, LAB_NS_TEXT(sum->median_ns));
    lab_report_bar(s, &bar, y);
    lab_str_release(&label);
}

static void add_bars(struct lab_report *r, enum lab_sum_level level,
                     const char *label)
{
    struct lab_str *s = &r->text;
    struct choice c = {.level = level};
    enum lab_status st = choose(&c, &r->sums);
    double y = 4;
    if (st) {
        r->st = st;
        return;
    }
    if (c.bars == 0 || !(c.most > 0)) {
        lab_str_add(s, "<p>No times were recorded.</p>\n");
        return;
    }
    report_bars_begin(s, c.bars, "longest", label);
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *sum = &r->sums.items[i];
        if (!is_chosen(&c, sum))
            continue;
        add_bar(s, sum, y, c.most,
                level == LAB_SUM_PHASE ? sum->phase : lab_time_sum_step(sum));
        y += BAR;
    }
    report_end(s);
}

static void report_step_bars(struct lab_report *r)
{
    add_bars(r, LAB_SUM_STEP, "median time of each step");
}

static void report_phases(struct lab_report *r)
{
    add_bars(r, LAB_SUM_PHASE, "median time of each phase");
}

/* What the HTML report begins with: where the time of an iteration goes, and
 * the steps and kernels that take most of it. */

enum { LONGEST = 10 };

static double known_total(const struct lab_time_sum *t)
{
    return t->total_ns == LAB_UNKNOWN || t->total_ns < 0 ? (double)NAN
                                                         : (double)t->total_ns;
}

/* The longest first; of equal ones as they ran. */
static int by_total(const void *a, const void *b)
{
    const struct lab_time_sum *x = *(const struct lab_time_sum *const *)a;
    const struct lab_time_sum *y = *(const struct lab_time_sum *const *)b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return (x > y) - (x < y);
}

static void share_cell(struct lab_str *s, double of, double all)
{
    if (isnan(of) || !(all > 0))
        lab_str_add(s, "<td class=\"n\">n/a</td>");
    else
        lab_str_addf(s, "<td class=\"n\">%.3g %%</td>", 100 * of / all);
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

static void put_wall(struct lab_report *r, const struct lab_time_breakdown *w)
{
    struct lab_str *s = &r->text;
    double wall = lab_to_real(w->wall_ns);
    if (!(wall > 0))
        return;
    put_largest(s, w);
    lab_str_addf(s, "<p>Iteration %lld took ", (long long)w->iteration);
    lab_str_add(s, LAB_NS_TEXT(wall));
    lab_str_add(s,
                ". Each moment of it counts once, for the first of these "
                "that went on then:</p>\n<table>\n<tr><th>part</th>"
                "<th class=\"n\">time</th><th class=\"n\">share</th></tr>\n");
    for (int i = 0; i < LAB_WALL_PARTS; i++) {
        double part = lab_to_real(w->part_ns[i]);
        lab_str_add(s, "<tr><td>");
        add_html(s, lab_time_part_name((enum lab_time_part)i));
        if (isnan(part) && w->why[i]) {
            lab_str_add(s, " <span class=\"dim\">(");
            add_html(s, w->why[i]);
            lab_str_add(s, ")</span>");
        }
        lab_str_add(s, "</td>");
        report_ns_cell(s, part);
        share_cell(s, part, wall);
        lab_str_add(s, "</tr>\n");
    }
    lab_str_add(s, "</table>\n");
}

/* ---- what takes most of it ---- */

static void put_row(struct lab_str *s, const struct lab_time_sum *t, double all)
{
    bool kernel = t->level == LAB_SUM_KERNEL;
    const char *short_name = t->kernel_short ? t->kernel_short : t->kernel;
    lab_str_add(s, "<tr>");
    if (kernel)
        report_word_cell(s, short_name);
    report_word_cell(s, lab_time_sum_step(t));
    report_word_cell(s, t->phase);
    if (!kernel)
        report_word_cell(s, t->variant);
    report_number_cell(s, (double)t->timed, "");
    report_ns_cell(s, t->median_ns);
    share_cell(s, known_total(t), all);
    lab_str_add(s, "</tr>\n");
}

static void put_longest(struct lab_report *r, enum lab_sum_level level)
{
    struct lab_str *s = &r->text;
    bool kernel = level == LAB_SUM_KERNEL;
    const struct lab_time_sum **order =
        lab_alloc_array(r->sums.count + 1, sizeof(struct lab_time_sum *));
    size_t n = 0;
    double all = 0;
    if (!order) {
        r->st = lab_no_memory("a report");
        return;
    }
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *t = &r->sums.items[i];
        if (t->level != level || isnan(known_total(t)) || t->timed < 1)
            continue;
        all += known_total(t);
        order[n++] = t;
    }
    if (n)
        qsort(order, n, sizeof(struct lab_time_sum *), by_total);
    if (n) {
        lab_str_addf(
            s,
            "<h3>The longest %s</h3>\n<div class=\"wide\"><table>\n"
            "<tr>%s<th>step</th><th>phase</th>%s"
            "<th class=\"n\">times</th><th class=\"n\">median</th>"
            "<th class=\"n\">share of all %s</th></tr>\n",
            kernel ? "kernels" : "steps", kernel ? "<th>kernel</th>" : "",
            kernel ? "" : "<th>variant</th>", kernel ? "kernels" : "steps");
        for (size_t i = 0; i < n && i < LONGEST; i++)
            put_row(s, order[i], all);
        lab_str_add(s, "</table></div>\n");
    }
    lab_free(order);
}

static void report_answer(struct lab_report *r)
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

/* The roofs of a run's device in the HTML report, and the steps under them. */

enum { COPY = 0, FP32 = 1 };

/* ---- roofs ---- */

/* A file may hold any number: a height without an end is none. */
static void keep_finite(struct lab_roof *roof)
{
    if (!isfinite(roof->per_s) || roof->per_s <= 0)
        *roof = (struct lab_roof){.per_s = NAN};
}

static enum lab_status report_roofs_find(struct lab_report *r)
{
    struct lab_ceiling_device device;
    enum lab_status st = lab_ceiling_device_of_run(r->db, r->run, &device);
    for (int i = 0; i < LAB_ROOF_NAMES && st == LAB_OK; i++) {
        st = lab_roof_of_run(r->db, &device, &r->sums.rungs, lab_roof_names[i],
                             &r->roofs[i]);
        lab_roof_published(device.device, lab_roof_names[i], &r->published[i]);
        keep_finite(&r->roofs[i]);
        keep_finite(&r->published[i]);
    }
    return st;
}

static double report_roof(const struct lab_report *r, const char *name)
{
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        if (strcmp(lab_roof_names[i], name) == 0)
            return r->roofs[i].per_s;
    return NAN;
}

static const char *unit_of(int roof)
{
    return roof == COPY ? "B/s" : "FLOP/s";
}

/* Its name is in our words, its source in the database's. */
static void add_origin(struct lab_str *s, const struct lab_roof *roof)
{
    lab_str_add(s, lab_roof_origin_text(roof->origin));
    if (roof->source[0])
        lab_str_add(s, ", ");
    add_html(s, roof->source);
}

static void add_table(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    lab_str_add(s, "<table>\n<tr><th>roof</th><th class=\"n\">height</th>"
                   "<th>from</th><th class=\"n\">data sheet</th></tr>\n");
    for (int i = 0; i < LAB_ROOF_NAMES; i++) {
        if (isnan(r->roofs[i].per_s))
            continue;
        lab_str_addf(s, "<tr><td>%s</td>", lab_roof_names[i]);
        report_amount_cell(s, r->roofs[i].per_s, unit_of(i));
        lab_str_add(s, "<td>");
        add_origin(s, &r->roofs[i]);
        lab_str_add(s, "</td>");
        report_amount_cell(s, r->published[i].per_s, unit_of(i));
        lab_str_add(s, "</tr>\n");
    }
    lab_str_add(s, "</table>\n");
}

/* ---- what is drawn ---- */

/* "tf32, bf16" has the words of a lab's rungs. */
static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p++)
        if ((p == words || p[-1] == ' ') && (p[n] == '\0' || p[n] == ','))
            return true;
    return false;
}

/* Of the arithmetics fp32, and what the run was in. */
static bool is_drawn(const struct lab_report *r, const struct lab_roof *roofs,
                     int i)
{
    return i != COPY && !isnan(roofs[i].per_s) &&
           (i == FP32 || has_word(r->precision, lab_roof_names[i]));
}

/* Whether the data sheet says something else. */
static bool has_sheet(const struct lab_report *r)
{
    bool other = false;
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        other = other || ((i == COPY || is_drawn(r, r->roofs, i)) &&
                          r->roofs[i].origin != LAB_ROOF_DATASHEET);
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
static void include_roofs(struct extent *e, const struct lab_report *r,
                          const struct lab_roof *roofs)
{
    for (int i = 0; i < LAB_ROOF_NAMES; i++) {
        double ridge = roofs[i].per_s / roofs[COPY].per_s;
        if (!is_drawn(r, roofs, i))
            continue;
        include(e, ridge / 4, roofs[i].per_s);
        include(e, ridge, roofs[i].per_s);
    }
}

static void find_axes(const struct lab_report *r, struct axes *a)
{
    struct extent e = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    include_roofs(&e, r, r->roofs);
    if (has_sheet(r))
        include_roofs(&e, r, r->published);
    double high_y = e.y[1];
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *s = &r->sums.items[i];
        if (is_point(s))
            include(&e, s->flop / s->bytes, s->flop / s->median_ns * 1e9);
    }
    *a = (struct axes){floor(log10(e.x[0])), ceil(log10(e.x[1])) + 1,
                       floor(log10(e.y[0])), ceil(log10(high_y))};
}

/* The slope of the memory up to the highest arithmetic, and a line for each. */
static void add_lines(struct lab_report *r, const struct axes *a,
                      const struct lab_roof *roofs, const char *look)
{
    struct lab_str *s = &r->text;
    double bytes = roofs[COPY].per_s;
    double begin = fmax(pow(10, a->x0), pow(10, a->y0) / bytes);
    double highest = 0;
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        if (is_drawn(r, roofs, i))
            highest = fmax(highest, roofs[i].per_s);
    lab_str_addf(s, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f", look,
                 place_x(a, begin), place_y(a, begin * bytes),
                 place_x(a, highest / bytes), place_y(a, highest));
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        if (is_drawn(r, roofs, i))
            lab_str_addf(s, "M%.1f %.1fL%.1f %.1f",
                         place_x(a, roofs[i].per_s / bytes),
                         place_y(a, roofs[i].per_s), place_x(a, pow(10, a->x1)),
                         place_y(a, roofs[i].per_s));
    lab_str_add(s, "\"/>\n");
}

static void add_label(struct lab_report *r, int roof, double x, double y,
                      const char *anchor)
{
    const struct lab_roof *of = &r->roofs[roof];
    const char *from = of->origin == LAB_ROOF_DATASHEET
                           ? of->source
                           : lab_roof_origin_text(of->origin);
    struct lab_str label;
    lab_str_init(&label);
    lab_str_add(&label, LAB_AMOUNT_TEXT(of->per_s, unit_of(roof)));
    lab_str_addf(&label, " %s (%s)", lab_roof_names[roof], from);
    report_text(&r->text, x, y, anchor, lab_str_text(&label));
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
            i = -1; /* it may lie on another one now */
        }
    }
    return y;
}

/* Names stand below their lines. */
static void add_labels(struct lab_report *r, const struct axes *a)
{
    double bytes = r->roofs[COPY].per_s;
    double begin = fmax(pow(10, a->x0), pow(10, a->y0) / bytes);
    double used[LAB_ROOF_NAMES];
    int n = 0;
    add_label(r, COPY, place_x(a, begin) + 48, place_y(a, begin * bytes) + 4,
              "start");
    for (int i = 0; i < LAB_ROOF_NAMES; i++) {
        if (!is_drawn(r, r->roofs, i))
            continue;
        used[n] = find_free(place_y(a, r->roofs[i].per_s) + 15, used, n);
        add_label(r, i, WIDTH - RIGHT, used[n++], "end");
    }
}

static void add_sheet_words(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    lab_str_add(s, "<p class=\"dim\">Dashed, what the data sheet says: ");
    lab_str_add(s, LAB_AMOUNT_TEXT(r->published[COPY].per_s, unit_of(COPY)));
    lab_str_add(s, " copy");
    for (int i = 0; i < LAB_ROOF_NAMES; i++) {
        if (!is_drawn(r, r->published, i))
            continue;
        lab_str_add(s, ", ");
        lab_str_add(s, LAB_AMOUNT_TEXT(r->published[i].per_s, unit_of(i)));
        lab_str_addf(s, " %s", lab_roof_names[i]);
    }
    lab_str_add(s, " (");
    add_html(s, r->published[FP32].source);
    lab_str_add(s, ").</p>\n");
}

static void add_axes(struct lab_report *r, const struct axes *a)
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
        report_text(s, at, TOP + HEIGHT + 16, "middle", label);
    }
    for (double y = a->y0; y <= a->y1; y++) {
        double at = place_y(a, pow(10, y));
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     (int)FROM, WIDTH - RIGHT, at, at);
        snprintf(label, sizeof(label), "1e%d", (int)y);
        report_text(s, FROM - 6, at + 4, "end", label);
    }
    report_text(s, WIDTH / 2.0, TOP + HEIGHT + 34, "middle",
                "FLOP per byte (analytic); upwards FLOP/s");
}

static void add_points(struct lab_report *r, const struct axes *a)
{
    struct lab_str *s = &r->text;
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *p = &r->sums.items[i];
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

static void report_roofline(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    struct axes a;
    if (isnan(r->roofs[FP32].per_s) || isnan(r->roofs[COPY].per_s)) {
        lab_str_add(s,
                    "<p>No roofline: the peaks of this device are not known; "
                    "`lapenna-lab profile ceilings` on it measures "
                    "them.</p>\n");
        return;
    }
    add_table(r);
    find_axes(r, &a);
    report_begin(s, TOP + HEIGHT + 44, "roofline");
    add_axes(r, &a);
    if (has_sheet(r))
        add_lines(r, &a, r->published, "sheet");
    add_lines(r, &a, r->roofs, "roof");
    add_labels(r, &a);
    add_points(r, &a);
    report_end(s);
    if (has_sheet(r))
        add_sheet_words(r);
}

/* The part of the HTML report that a lab has: its ladder with bars under the
 * peak, what was said before, the winners of its tuning, and a sweep. */

enum { RUNG = 24, PRECISION = 8 }; /* characters of a bar's name */

struct bar {
    char name[4 * (RUNG + PRECISION) + 12]; /* the rung, and its precision */
    double rate;
    double peak; /* NaN: not known */
};

/* The rungs of one size, or the places of a sweep. */
struct part {
    struct lab_report *r;
    char head[160]; /* the lab and its size */
    char unit[48];
    struct bar bars[LAB_REPORT_BARS]; /* the first */
    size_t n;                         /* of all */
    bool open;                        /* a table */
    bool ladder;                      /* its head is there */
};

/* ---- cells ---- */

static void cell(struct lab_str *s, const char *text)
{
    lab_str_add(s, "<td>");
    add_html(s, text);
    lab_str_add(s, "</td>");
}

/* Seconds an item are told in nanoseconds. */
static void add_rate(struct lab_str *s, double rate, const char *unit)
{
    if (strncmp(unit, "s/", 2) == 0 && !isnan(rate))
        lab_str_addf(s, "%.4g n%s", rate * 1e9, unit);
    else
        lab_str_add(s, LAB_AMOUNT_TEXT(rate, unit));
}

static void rate_cell(struct lab_str *s, double rate, const char *unit)
{
    struct lab_str text;
    lab_str_init(&text);
    add_rate(&text, rate, unit);
    lab_str_add(s, "<td class=\"n\">");
    add_html(s, lab_str_text(&text));
    lab_str_add(s, "</td>");
    s->failed |= text.failed;
    lab_str_release(&text);
}

/* ---- bars ---- */

static double longest(const struct part *p, size_t shown)
{
    double most = 0;
    for (size_t i = 0; i < shown; i++) {
        most = fmax(most, p->bars[i].rate);
        most = fmax(most, p->bars[i].peak);
    }
    return most;
}

static void add_rung_bar(struct part *p, const struct bar *b, double y,
                         double most)
{
    struct lab_str label;
    struct lab_report_bar bar = {
        .name = b->name,
        .end = report_bar_x(b->rate, most),
        .stroke = b->peak > 0,
        .x1 = report_bar_x(b->peak, most),
        .x2 = report_bar_x(b->peak, most),
        .y1 = 1,
        .y2 = LAB_REPORT_BAR - 1,
        .label = &label,
    };
    lab_str_init(&label);
    add_rate(&label, b->rate, p->unit);
    if (b->peak > 0)
        lab_str_addf(&label, ", %.3g %%", 100 * b->rate / b->peak);
    lab_report_bar(&p->r->text, &bar, y);
    lab_str_release(&label);
}

static void add_rung_bars(struct part *p)
{
    struct lab_str *s = &p->r->text;
    if (p->n == 0)
        return;
    size_t shown = report_bars_begin(s, p->n, "first", p->head);
    double most = longest(p, shown);
    for (size_t i = 0; i < shown; i++)
        add_rung_bar(p, &p->bars[i], 4 + (double)i * LAB_REPORT_BAR, most);
    report_end(s);
}

/* A rate that has no length has no bar. */
static void note_bar(struct part *p, const char *name, const char *of,
                     double rate, double peak)
{
    char rung[4 * RUNG + 4];
    char precision[4 * PRECISION + 4];
    if (!(rate > 0) || !isfinite(rate) || p->n++ >= LAB_REPORT_BARS)
        return;
    struct bar *bar = &p->bars[p->n - 1];
    report_clip(rung, sizeof(rung), name ? name : "", RUNG);
    report_clip(precision, sizeof(precision), of ? of : "", PRECISION);
    snprintf(bar->name, sizeof(bar->name), "%s%s%s", rung, of ? " " : "",
             precision);
    bar->rate = rate;
    bar->peak = peak;
}

/* ---- tables ---- */

static void end_table(struct part *p)
{
    if (p->open)
        lab_str_add(&p->r->text, "</table></div>\n");
    p->open = false;
    add_rung_bars(p);
    p->n = 0;
}

/* Another size begins another table. */
static void begin_table(struct part *p, const char *head, const char *columns)
{
    struct lab_str *s = &p->r->text;
    if (p->open && strcmp(p->head, head) == 0)
        return;
    end_table(p);
    p->open = true;
    snprintf(p->head, sizeof(p->head), "%s", head);
    lab_str_add(s, "<h3>");
    add_html(s, head);
    lab_str_addf(s, "</h3>\n<div class=\"wide\"><table>\n%s\n", columns);
}

/* The roof that the rung's rate is held against; NaN: unknown. */
static double find_peak(const struct part *p, const struct lab_bench_result *r)
{
    if (strcmp(p->unit, "B/s") == 0)
        return report_roof(p->r, "copy");
    if (strcmp(p->unit, "FLOP/s") == 0 && r->precision)
        return report_roof(p->r, r->precision);
    return NAN;
}

static bool put_rung(void *user, const struct lab_bench_result *r)
{
    struct part *p = user;
    struct lab_str *s = &p->r->text;
    char head[sizeof(p->head)];
    if (!p->ladder)
        lab_str_add(s, "<h2>Ladder</h2>\n<p>A bar is the rate at the median, "
                       "the line the roof of the device in that precision "
                       "(below: Roofline).</p>\n");
    p->ladder = true;
    snprintf(head, sizeof(head), "%.60s, %.60s", r->lab ? r->lab : "?",
             r->size ? r->size : "?");
    begin_table(p, head,
                "<tr><th>rung</th><th>in</th><th>status</th>"
                "<th class=\"n\">median</th><th class=\"n\">rate</th>"
                "<th class=\"n\">of the roof</th><th class=\"n\">gain</th>"
                "<th class=\"n\">promised</th><th>note</th></tr>");
    snprintf(p->unit, sizeof(p->unit), "%s", r->unit ? r->unit : "");
    double peak = find_peak(p, r);
    lab_str_add(s, "<tr>");
    report_word_cell(s, r->variant);
    report_word_cell(s, r->precision);
    report_word_cell(s, r->status);
    report_ns_cell(s, r->median_ns);
    rate_cell(s, r->rate, p->unit);
    report_number_cell(s, peak > 0 ? 100 * r->rate / peak : (double)NAN, " %");
    report_number_cell(s, r->gain, " x");
    report_number_cell(s, r->gain_model, " x");
    cell(s, r->note ? r->note : r->reason);
    lab_str_add(s, "</tr>\n");
    note_bar(p, r->variant, r->precision, r->rate, peak);
    return p->r->st == LAB_OK;
}

static bool put_said(void *user, const struct lab_prediction *r)
{
    struct part *p = user;
    struct lab_str *s = &p->r->text;
    begin_table(p, "Expected before",
                "<tr><th>rung</th><th>in</th><th>size</th>"
                "<th class=\"n\">rate</th><th class=\"n\">time</th>"
                "<th>bound by</th><th class=\"n\">occupancy</th></tr>");
    lab_str_add(s, "<tr>");
    report_word_cell(s, r->variant);
    report_word_cell(s, r->precision ? r->precision : "any");
    cell(s, r->size ? r->size : "any");
    rate_cell(s, r->rate, p->unit);
    report_ns_cell(s, r->time_ns);
    cell(s, r->bound ? r->bound : LAB_NA);
    report_number_cell(s, r->occupancy_pct, " %");
    lab_str_add(s, "</tr>\n");
    return true;
}

static bool put_tuned(void *user, const struct lab_tuned_row *r)
{
    struct part *p = user;
    struct lab_str *s = &p->r->text;
    begin_table(p, "Tuned",
                "<tr><th>lab</th><th>sizes</th><th>in</th><th>fastest</th>"
                "<th class=\"n\">of</th><th>measured at</th>"
                "<th class=\"n\">median</th><th class=\"n\">rate</th></tr>");
    lab_str_add(s, "<tr>");
    cell(s, r->lab);
    cell(s, r->size_class);
    report_word_cell(s, r->precision);
    cell(s, r->candidate);
    report_number_cell(s, lab_to_real(r->candidates), "");
    cell(s, r->size);
    report_ns_cell(s, r->median_ns);
    rate_cell(s, r->rate, r->unit ? r->unit : "");
    lab_str_add(s, "</tr>\n");
    return true;
}

static bool put_sweep(void *user, const struct lab_sweep_row *r)
{
    struct part *p = user;
    struct lab_str *s = &p->r->text;
    char name[48];
    char head[sizeof(p->head)];
    snprintf(head, sizeof(head), "%.60s of %.60s", r->sweep ? r->sweep : "?",
             r->lesson ? r->lesson : "?");
    snprintf(name, sizeof(name), "%.10g", r->x);
    begin_table(p, head,
                "<tr><th>on</th><th class=\"n\">size</th><th>part</th>"
                "<th>status</th><th class=\"n\">median</th>"
                "<th class=\"n\">samples/s</th><th class=\"n\">memory, B</th>"
                "<th class=\"n\">parameters</th><th class=\"n\">share</th>"
                "<th class=\"n\">loss (samples)</th>"
                "<th class=\"n\">loss (iterations)</th></tr>");
    lab_str_add(s, "<tr>");
    report_word_cell(s, r->backend);
    report_number_cell(s, r->x, "");
    cell(s, r->name ? r->name : "");
    report_word_cell(s, r->status);
    report_ns_cell(s, r->median_ns);
    report_number_cell(s, r->samples_per_s, "");
    report_number_cell(s, lab_to_real(r->memory_bytes), "");
    report_number_cell(s, lab_to_real(r->parameters), "");
    report_number_cell(s, 100 * r->share, " %");
    report_number_cell(s, r->loss, "");
    report_number_cell(s, r->loss_iterations, "");
    lab_str_add(s, "</tr>\n");
    snprintf(p->unit, sizeof(p->unit), "samples/s");
    note_bar(p, r->name ? r->name : name, r->backend, r->samples_per_s, NAN);
    return true;
}

static void report_lab(struct lab_report *r)
{
    struct part p = {.r = r};
    enum lab_status st = lab_bench_results_read(r->db, r->run, put_rung, &p);
    end_table(&p);
    if (st == LAB_OK)
        st = lab_predictions_read(r->db, r->run, put_said, &p);
    end_table(&p);
    if (st == LAB_OK)
        st = lab_tuned_of_run(r->db, r->run, put_tuned, &p);
    end_table(&p);
    if (st == LAB_OK)
        st = lab_sweep_rows_read(r->db, r->run, put_sweep, &p);
    end_table(&p);
    r->st = r->st ? r->st : st;
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

static void fact(struct lab_str *s, const char *name, const char *value)
{
    if (!value)
        return;
    lab_str_addf(s, "<tr><th>%s</th><td>", name);
    add_html(s, value);
    lab_str_add(s, "</td></tr>\n");
}

static void number_fact(struct lab_str *s, const char *name, double v,
                        const char *unit)
{
    if (!isnan(v))
        lab_str_addf(s, "<tr><th>%s</th><td>%.6g%s</td></tr>\n", name, v, unit);
}

/* What a median of so few iterations, and a rate made of it, has in it. */
static void add_few(struct lab_str *s, const struct lab_run_row *run)
{
    enum { FEW = 5 };
    bool gpu = run->backend && strcmp(run->backend, "cuda") == 0;
    if (run->iterations < 1 || run->iterations >= FEW)
        return;
    lab_str_addf(s, " <span class=\"dim\">(of %lld iteration%s",
                 (long long)run->iterations, run->iterations == 1 ? "" : "s");
    lab_str_add(s, run->iterations == 1 ? ", the first"
                                        : ", the first among them");
    if (gpu)
        lab_str_addf(s, ": loading kernels and libraries is in %s",
                     run->iterations == 1 ? "it" : "that one");
    lab_str_add(s, ")</span>");
}

static void put_speed(struct lab_str *s, const struct lab_run_row *run)
{
    if (run->iteration_median_ns != LAB_UNKNOWN) {
        lab_str_add(s, "<tr><th>iteration (median wall time)</th><td>");
        lab_str_add(s, LAB_NS_TEXT((double)run->iteration_median_ns));
        add_few(s, run);
        lab_str_add(s, "</td></tr>\n");
    }
    if (!isnan(run->samples_per_s)) {
        lab_str_addf(s, "<tr><th>samples a second (mean)</th><td>%.6g",
                     run->samples_per_s);
        add_few(s, run);
        lab_str_add(s, "</td></tr>\n");
    }
}

/* Why there are no columns of them, where there are none. */
static void put_counters(struct lab_str *s, const struct lab_run_row *run)
{
    const char *reason = run->counters_reason;
    lab_str_add(s, "<tr><th>hardware counters</th><td>");
    add_html(s, run->counters ? run->counters : LAB_NA);
    lab_str_add(s, reason ? ": " : "");
    add_html(s, reason);
    lab_str_add(s, "</td></tr>\n");
}

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

static void put_facts(struct lab_str *s, const struct lab_run_row *run)
{
    char rate[LAB_RUN_LR_TEXT];
    lab_str_add(s, "<table>\n");
    fact(s, "lesson", run->lesson);
    fact(s, "backend", run->backend);
    fact(s, "driver", run->driver);
    fact(s, "learning rate", *lab_run_lr_text(run, rate) ? rate : NULL);
    number_fact(s, "batch", lab_to_real(run->batch), "");
    number_fact(s, "iterations", lab_to_real(run->iterations), "");
    fact(s, "status", run->status);
    fact(s, "started", run->started);
    fact(s, "times from", run->time_source);
    put_counters(s, run);
    fact(s, "machine", run->hostname);
    fact(s, "user", run->user);
    fact(s, "label", run->label);
    fact(s, "imported", run->imported);
    fact(s, "version", run->version);
    fact(s, "commit", run->commit);
    fact(s, "uuid", run->uuid);
    lab_str_add(s, "</table>\n");
}

static bool put_run(void *user, const struct lab_run_row *run)
{
    struct lab_report *r = user;
    struct lab_str *s = &r->text;
    lab_str_add(s, "<title>");
    add_html(s, run->title ? run->title : run->lesson);
    lab_str_addf(s, " (run %lld)</title>\n", (long long)run->id);
    lab_str_add(s, style);
    lab_str_add(s, "</head>\n<body>\n<h1>");
    add_html(s, run->title ? run->title : run->lesson);
    lab_str_addf(s, "</h1>\n<p class=\"dim\">Run %lld", (long long)run->id);
    put_origin(s, run);
    lab_str_add(s, ".</p>\n<table>\n");
    fact(s, "device", run->device);
    fact(s, "precision", run->precision);
    fact(s, "variants", run->variants);
    put_speed(s, run);
    number_fact(s, "first loss", run->loss_first, "");
    number_fact(s, "last loss", run->loss_last, "");
    number_fact(s, "accuracy, held back", 100 * run->accuracy, " %");
    lab_str_add(s, "</table>\n");
    put_facts(&r->facts, run);
    snprintf(r->precision, sizeof(r->precision), "%s",
             run->precision ? run->precision : "");
    return true;
}

static bool take_loss(void *user, const struct lab_loss_row *row)
{
    struct lab_report *r = user;
    if (r->losses == r->room) {
        size_t room = r->room ? r->room * 2 : 1024;
        double *loss = lab_realloc_array(r->loss, room, sizeof(*loss));
        r->loss = loss ? loss : r->loss;
        int64_t *iteration =
            loss ? lab_realloc_array(r->iteration, room, sizeof(*iteration))
                 : NULL;
        if (!iteration) {
            r->st = lab_no_memory("a loss curve");
            return false;
        }
        r->iteration = iteration;
        r->room = room;
    }
    r->loss[r->losses] = row->loss;
    r->iteration[r->losses++] = row->iteration;
    return true;
}

/* ---- tables ---- */

/* Names are as long as a template makes them: they break, and scroll. */
static void name_cell(struct lab_str *s, const char *text)
{
    lab_str_add(s, "<td class=\"k\"><div>");
    add_html(s, text ? text : LAB_NA);
    lab_str_add(s, "</div></td>");
}

static const char counted_head[] =
    "<th class=\"n\">achieved %</th><th class=\"n\">DRAM read</th>"
    "<th class=\"n\">DRAM written</th><th class=\"n\">fp32 FLOP, "
    "counted</th><th class=\"n\">tensor FLOP, counted</th>"
    "<th class=\"n\">IPC</th>";

static const char counted_step[] =
    "<p class=\"dim\">Achieved occupancy, DRAM, the counted FLOP and IPC are "
    "the hardware counters of one execution.</p>\n";
static const char counted_kernel[] =
    "<p class=\"dim\">The hardware counters are those of one launch.</p>\n";

/* Where the run was counted at all. */
static void put_counted(struct lab_report *r, const struct lab_counters *c)
{
    struct lab_str *s = &r->text;
    if (r->counted.count == 0)
        return;
    report_number_cell(s, c->achieved_occupancy_pct, "");
    report_text_cell(s, LAB_BYTES_TEXT(c->dram_read_bytes));
    report_text_cell(s, LAB_BYTES_TEXT(c->dram_write_bytes));
    report_amount_cell(s, c->fp32_flop, "FLOP");
    report_amount_cell(s, c->tensor_flop, "FLOP");
    report_number_cell(s, c->ipc, "");
}

static void put_step_row(struct lab_report *r, const struct lab_time_sum *t)
{
    struct lab_str *s = &r->text;
    const struct lab_counted_item *item =
        lab_counted_step(&r->counted, t->step_index, t->variant);
    struct lab_counters none;
    lab_counters_init(&none);
    lab_str_add(s, "<tr>");
    report_number_cell(s, lab_to_real(t->step_index), "");
    report_word_cell(s, t->phase);
    name_cell(s, lab_time_sum_step(t));
    report_word_cell(s, t->variant);
    report_number_cell(s, (double)t->timed, "");
    report_ns_cell(s, t->median_ns);
    report_ns_cell(s, t->mad_ns);
    report_number_cell(s, t->flop, "");
    report_number_cell(s, t->flop / t->median_ns, "");
    report_number_cell(s, t->bytes / t->median_ns, "");
    put_counted(r, item ? &item->counters : &none);
    lab_str_add(s, "</tr>\n");
}

static void put_kernel_row(struct lab_report *r, const struct lab_time_sum *t)
{
    struct lab_str *s = &r->text;
    struct lab_counters counted;
    lab_counted_launch(&r->counted, t->step_index, t->variant, t->kernel,
                       &counted);
    lab_str_add(s, "<tr>");
    name_cell(s, t->kernel ? t->kernel : t->kernel_short);
    name_cell(s, lab_time_sum_step(t));
    report_word_cell(s, t->phase);
    report_number_cell(s, (double)t->count, "");
    report_ns_cell(s, t->median_ns);
    report_ns_cell(s, t->mad_ns);
    report_text_cell(s, LAB_DIMS_TEXT(t->launch.grid));
    report_text_cell(s, LAB_DIMS_TEXT(t->launch.block));
    report_number_cell(s, lab_to_real(t->launch.registers_per_thread), "");
    report_number_cell(s, t->occupancy_pct, "");
    put_counted(r, &counted);
    lab_str_add(s, "</tr>\n");
}

static void put_table(struct lab_report *r, enum lab_sum_level level,
                      const char *head, const char *none)
{
    size_t rows = 0;
    for (size_t i = 0; i < r->sums.count; i++)
        rows += r->sums.items[i].level == level;
    if (rows == 0) {
        lab_str_addf(&r->text, "<p>%s</p>\n", none);
        return;
    }
    if (r->counted.count > 0)
        lab_str_add(&r->text,
                    level == LAB_SUM_STEP ? counted_step : counted_kernel);
    lab_str_addf(&r->text, "<div class=\"wide\"><table>\n<tr>%s%s</tr>\n", head,
                 r->counted.count > 0 ? counted_head : "");
    for (size_t i = 0; i < r->sums.count; i++) {
        if (r->sums.items[i].level != level)
            continue;
        if (level == LAB_SUM_STEP)
            put_step_row(r, &r->sums.items[i]);
        else
            put_kernel_row(r, &r->sums.items[i]);
    }
    lab_str_add(&r->text, "</table></div>\n");
}

static void put_body(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    report_lab(r);
    if (r->sums.rungs.count == 0) { /* a lab has none of these */
        report_answer(r);
        lab_str_add(s, "<h2>Phases of an iteration</h2>\n");
        report_phases(r);
        lab_str_add(s, "<h2>Loss</h2>\n");
        report_loss(r);
    }
    lab_str_add(s, "<h2>Steps</h2>\n");
    lab_str_add(s, key);
    report_step_bars(r);
    put_table(r, LAB_SUM_STEP,
              "<th class=\"n\">#</th><th>phase</th><th>step</th>"
              "<th>variant</th><th class=\"n\">times</th>"
              "<th class=\"n\">median</th><th class=\"n\">MAD</th>"
              "<th class=\"n\">FLOP</th><th class=\"n\">GFLOP/s</th>"
              "<th class=\"n\">GB/s</th>",
              "No step was recorded.");
    lab_str_add(s, "<h2>Kernels</h2>\n");
    put_table(r, LAB_SUM_KERNEL,
              "<th>kernel</th><th>step</th><th>phase</th>"
              "<th class=\"n\">launches</th><th class=\"n\">median</th>"
              "<th class=\"n\">MAD</th><th class=\"n\">grid</th>"
              "<th class=\"n\">block</th><th class=\"n\">registers</th>"
              "<th class=\"n\">occupancy %</th>",
              "No kernel was recorded: the run was on the CPU, or without a "
              "kernel trace.");
    lab_str_add(s, "<h2>Roofline</h2>\n");
    report_roofline(r);
    lab_str_add(s, "<h2>The run</h2>\n");
    lab_str_add(s, lab_str_text(&r->facts));
    s->failed |= r->facts.failed;
    lab_str_add(s, "</body>\n</html>\n");
}

static enum lab_status write_page(FILE *to, const struct lab_str *text)
{
    if (text->failed)
        return lab_no_memory("a report");
    if (fwrite(text->data, 1, text->len, to) != text->len)
        return lab_fail(LAB_E_IO, "cannot write the report: %s",
                        strerror(errno));
    return LAB_OK;
}

enum lab_status lab_report_html(FILE *to, struct lab_database *db, int64_t run)
{
    struct lab_report r = {.to = to, .db = db, .run = run};
    lab_str_init(&r.text);
    lab_str_init(&r.facts);
    lab_str_add(&r.text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                         "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                         "content=\"width=device-width\">\n");
    enum lab_status st = lab_query_run(db, run, put_run, &r);
    if (st == LAB_OK)
        st = lab_query_losses(db, run, take_loss, &r);
    if (st == LAB_OK)
        st = r.st;
    if (st == LAB_OK)
        st = lab_time_sums_load(&r.sums, db, run, ~0u);
    if (st == LAB_OK)
        st = lab_counted_load(&r.counted, db, run);
    if (st == LAB_OK)
        st = report_roofs_find(&r);
    if (st == LAB_OK) {
        put_body(&r);
        st = r.st ? r.st : write_page(to, &r.text);
    }
    lab_counted_release(&r.counted);
    lab_time_sums_release(&r.sums);
    lab_free(r.loss);
    lab_free(r.iteration);
    lab_str_release(&r.facts);
    lab_str_release(&r.text);
    return st;
}
