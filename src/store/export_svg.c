#include <math.h>
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

static double longest(const struct lab_time_sums *sums,
                      enum lab_sum_level level)
{
    double most = 0;
    for (size_t i = 0; i < sums->count; i++)
        if (sums->items[i].level == level && sums->items[i].median_ns > most)
            most = sums->items[i].three_quarters_ns;
    return most;
}

static void add_bar(struct lab_str *s, const struct lab_time_sum *sum, double y,
                    double most, const char *name)
{
    struct lab_str label;
    struct lab_report_bar bar = {
        .name = name,
        .phase = sum->phase_id,
        .end = lab_report_bar_x(sum->median_ns, most),
        .stroke = sum->quarter_ns <= sum->three_quarters_ns, /* half of them */
        .x1 = lab_report_bar_x(sum->quarter_ns, most),
        .x2 = lab_report_bar_x(sum->three_quarters_ns, most),
        .y1 = BAR / 2.0,
        .y2 = BAR / 2.0,
        .label = &label,
    };
    lab_str_init(&label);
    lab_report_ns(&label, sum->median_ns);
    lab_report_bar(s, &bar, y);
    lab_str_release(&label);
}

static void add_bars(struct lab_report *r, enum lab_sum_level level,
                     const char *label)
{
    struct lab_str *s = &r->text;
    size_t bars = 0;
    double most = longest(&r->sums, level);
    for (size_t i = 0; i < r->sums.count; i++)
        bars += r->sums.items[i].level == level;
    if (bars == 0 || !(most > 0)) {
        lab_str_add(s, "<p>No times were recorded.</p>\n");
        return;
    }
    bars = lab_report_bars_begin(s, bars, label);
    double y = 4;
    for (size_t i = 0; i < r->sums.count && bars > 0; i++) {
        const struct lab_time_sum *sum = &r->sums.items[i];
        if (sum->level != level)
            continue;
        bars--;
        if (!isnan(sum->median_ns))
            add_bar(s, sum, y, most,
                    level == LAB_SUM_PHASE ? sum->phase
                                           : lab_time_sum_step(sum));
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

/* ---- roofline ---- */

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

static void find_axes(const struct lab_report *r, struct axes *a)
{
    double ridge = r->peaks.fp32_flop_per_s / r->peaks.dram_bytes_per_s;
    double low_x = ridge;
    double high_x = ridge;
    double low_y = r->peaks.fp32_flop_per_s;
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *s = &r->sums.items[i];
        if (!is_point(s))
            continue;
        low_x = fmin(low_x, s->flop / s->bytes);
        high_x = fmax(high_x, s->flop / s->bytes);
        low_y = fmin(low_y, s->flop / s->median_ns * 1e9);
    }
    *a = (struct axes){floor(log10(low_x)), ceil(log10(high_x)) + 1,
                       floor(log10(low_y)),
                       ceil(log10(r->peaks.fp32_flop_per_s))};
}

static void add_roof(struct lab_report *r, const struct axes *a)
{
    struct lab_str *s = &r->text;
    double flop = r->peaks.fp32_flop_per_s;
    double bytes = r->peaks.dram_bytes_per_s;
    double left = pow(10, a->x0);
    double low = pow(10, a->y0);
    double begin_x = fmax(left, low / bytes); /* inside the picture */
    char label[160];
    lab_str_addf(
        s, "<path class=\"roof\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1f\"/>\n",
        place_x(a, begin_x), place_y(a, begin_x * bytes),
        place_x(a, flop / bytes), place_y(a, flop), place_x(a, pow(10, a->x1)),
        place_y(a, flop));
    snprintf(label, sizeof(label), "%.3g TFLOP/s fp32 (%s)", flop * 1e-12,
             r->peaks.fp32_source);
    lab_report_text(s, WIDTH - RIGHT, place_y(a, flop) + 15, "end", label);
    snprintf(label, sizeof(label), "%.4g GB/s (%s)", bytes * 1e-9,
             r->peaks.dram_source);
    lab_report_text(s, place_x(a, begin_x) + 48,
                    place_y(a, begin_x * bytes) + 4, "start", label);
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
        lab_report_text(s, at, TOP + HEIGHT + 16, "middle", label);
    }
    for (double y = a->y0; y <= a->y1; y++) {
        double at = place_y(a, pow(10, y));
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     (int)FROM, WIDTH - RIGHT, at, at);
        snprintf(label, sizeof(label), "1e%d", (int)y);
        lab_report_text(s, FROM - 6, at + 4, "end", label);
    }
    lab_report_text(s, WIDTH / 2.0, TOP + HEIGHT + 34, "middle",
                    "FLOP per byte (analytic); upwards FLOP/s");
}

void lab_report_roofline(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    struct axes a;
    if (!(r->peaks.fp32_flop_per_s > 0) || !(r->peaks.dram_bytes_per_s > 0)) {
        lab_str_add(s, "<p>No roofline: the peaks of this device are not "
                       "known.</p>\n");
        return;
    }
    find_axes(r, &a);
    lab_report_begin(s, TOP + HEIGHT + 44, "roofline");
    add_axes(r, &a);
    add_roof(r, &a);
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *p = &r->sums.items[i];
        if (!is_point(p))
            continue;
        double x = place_x(&a, p->flop / p->bytes);
        double y = place_y(&a, p->flop / p->median_ns * 1e9);
        lab_str_addf(s,
                     "<circle class=\"p%d\" cx=\"%.1f\" cy=\"%.1f\" "
                     "r=\"4\"><title>",
                     (int)(p->phase_id & 3), x, y);
        lab_export_text(s, p->phase, LAB_ESCAPE_HTML);
        lab_str_add_char(s, ' ');
        lab_export_text(s, lab_time_sum_step(p), LAB_ESCAPE_HTML);
        lab_str_add(s, "</title></circle>\n");
    }
    lab_report_end(s);
}
