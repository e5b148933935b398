#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export_html_priv.h"

enum { WIDTH = LAB_REPORT_WIDTH, RIGHT = 20, BAR = LAB_REPORT_BAR };

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

void lab_report_loss(struct lab_report *r)
{
    enum { HEIGHT = 220 };
    struct lab_str *s = &r->text;
    struct span y = loss_span(r);
    char label[48];
    if (r->losses == 0 || !(y.high > y.low)) {
        lab_str_add(s, "<p>No loss was recorded.</p>\n");
        return;
    }
    lab_report_begin(s, HEIGHT + 40, "loss by iteration");
    for (int i = 0; i <= 4; i++) {
        double at = 10 + HEIGHT * i / 4.0;
        snprintf(label, sizeof(label), "%.3g",
                 y.high - (y.high - y.low) * i / 4);
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"60\" x2=\"%d\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     WIDTH - RIGHT, at, at);
        lab_report_text(s, 54, at + 4, "end", label);
    }
    snprintf(label, sizeof(label), "%lld", (long long)r->iteration[0]);
    lab_report_text(s, 60, HEIGHT + 30, "start", label);
    snprintf(label, sizeof(label), "iteration %lld",
             (long long)r->iteration[r->losses - 1]);
    lab_report_text(s, WIDTH - RIGHT, HEIGHT + 30, "end", label);
    add_curve(r, y, HEIGHT);
    lab_report_end(s);
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
        .end = lab_report_bar_x(sum->median_ns, most),
        .stroke = has_half(sum),
        .x1 = lab_report_bar_x(sum->quarter_ns, most),
        .x2 = lab_report_bar_x(sum->three_quarters_ns, most),
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
    lab_report_bars_begin(s, c.bars, "longest", label);
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *sum = &r->sums.items[i];
        if (!is_chosen(&c, sum))
            continue;
        add_bar(s, sum, y, c.most,
                level == LAB_SUM_PHASE ? sum->phase : lab_time_sum_step(sum));
        y += BAR;
    }
    lab_report_end(s);
}

void lab_report_step_bars(struct lab_report *r)
{
    add_bars(r, LAB_SUM_STEP, "median time of each step");
}

void lab_report_phases(struct lab_report *r)
{
    add_bars(r, LAB_SUM_PHASE, "median time of each phase");
}
