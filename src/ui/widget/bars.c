/* bars.c -- histograms, sparklines and gauges in a row of cells. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/chart.h"
#include "ui/layout.h"

static const char *const EIGHTHS_UP[9] = {" ", "▁", "▂", "▃", "▄",
                                          "▅", "▆", "▇", "█"};
static const char *const EIGHTHS_UP_ASCII[9] = {" ", "_", "_", ".", "-",
                                                "=", "+", "*", "#"};
static const char *const EIGHTHS_RIGHT[9] = {" ", "▏", "▎", "▍", "▌",
                                             "▋", "▊", "▉", "█"};

static const char *eighth_up(const struct lab_canvas *c, int n)
{
    n = n < 0 ? 0 : n > 8 ? 8 : n;
    return c->ascii ? EIGHTHS_UP_ASCII[n] : EIGHTHS_UP[n];
}

/* Sum of the finite values of bar k when n values share w bars. */
static double bar_value(const double *values, int64_t n, int w, int k)
{
    int64_t from = n * k / w;
    int64_t to = n * (k + 1) / w;
    double sum = 0;
    for (int64_t i = from; i < to; i++)
        sum += isfinite(values[i]) && values[i] > 0 ? values[i] : 0;
    return sum;
}

void lab_histogram_draw(struct lab_canvas *c, struct lab_rect r,
                        const double *values, int64_t n, enum lab_role role)
{
    int bars = n < r.w ? (int)n : r.w;
    double most = 0;
    if (lab_rect_empty(r) || n < 1)
        return;
    for (int k = 0; k < bars; k++)
        most = fmax(most, bar_value(values, n, bars, k));
    for (int k = 0; k < bars && most > 0; k++) {
        double v = bar_value(values, n, bars, k);
        int eighths = (int)lround(v / most * r.h * 8);
        if (v > 0 && eighths == 0)
            eighths = 1; /* few is not none */
        int from = (int)((int64_t)r.w * k / bars);
        int to = (int)((int64_t)r.w * (k + 1) / bars);
        for (int y = 0; y < r.h; y++)
            lab_canvas_fill(
                c,
                (struct lab_rect){r.y + r.h - 1 - y, r.x + from, 1, to - from},
                eighth_up(c, eighths - 8 * y), role);
    }
}

void lab_spark_draw(struct lab_canvas *c, int y, int x, int w,
                    const double *values, int64_t n, enum lab_role role)
{
    double low = NAN;
    double high = NAN;
    if (n > w) {
        values += n - w;
        n = w;
    }
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        low = isnan(low) || values[i] < low ? values[i] : low;
        high = isnan(high) || values[i] > high ? values[i] : high;
    }
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) {
            lab_canvas_text(c, y, x + (int)i, 1, LAB_ROLE_BAD, "!");
            continue;
        }
        double share = high > low ? (values[i] - low) / (high - low) : 0.5;
        lab_canvas_text(c, y, x + (int)i, 1, role,
                        eighth_up(c, 1 + (int)lround(share * 7)));
    }
}

void lab_gauge_draw(struct lab_canvas *c, int y, int x, int w, double share,
                    enum lab_role role, const char *text)
{
    if (w < 1)
        return;
    share = isnan(share) || share < 0 ? 0 : share > 1 ? 1 : share;
    int eighths = (int)(share * w * 8);
    struct lab_rect row = {y, x, 1, w};
    lab_canvas_fill(c, row, c->ascii ? "." : "░", LAB_ROLE_DIM);
    struct lab_rect full = lab_rect_cut_left(&row, eighths / 8);
    lab_canvas_fill(c, full, c->ascii ? "#" : "█", role);
    if (eighths % 8 && !c->ascii)
        lab_canvas_text(c, y, row.x, 1, role, EIGHTHS_RIGHT[eighths % 8]);
    if (text && text[0]) {
        int columns = lab_canvas_columns(c, text);
        int at = columns + 2 < w ? x + (w - columns - 2) / 2 : x;
        lab_canvas_textf(c, y, at, x + w - at, LAB_ROLE_NORMAL, " %s ", text);
    }
}
