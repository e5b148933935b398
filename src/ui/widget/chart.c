/* chart.c -- line charts with axes, histograms and gauges in character cells.
 *
 * A widget: the caller has the values and a rectangle of the canvas. Dots are
 * those of dots.c. Loss curves, labs and `profile losses` draw with it. */
#include "ui/chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "term/dots.h"
#include "base/format.h"

enum { AXIS_W = 9 };

/* From and to as they are drawn: log10 of the values on a log axis. */
struct axis {
    double from;
    double to;
    bool log;
    int most;       /* marks, about */
    double decades; /* on a log axis: at least this many to the next mark */
};

struct scale {
    struct axis x;
    struct axis y;
    double
        only_x; /* the one x that all points have, in the middle; NaN: many */
};

/* The value as it is drawn, or NaN for a gap. */
static double drawn(const struct axis *a, double v)
{
    if (!isfinite(v) || (a->log && v <= 0))
        return NAN;
    return a->log ? log10(v) : v;
}

static double x_of(const struct scale *sc, const struct lab_series *s,
                   int64_t i)
{
    return drawn(&sc->x, s->x ? s->x[i] : (double)(s->at ? s->at[i] : i));
}

static void widen(struct axis *a, double v)
{
    a->from = isnan(a->from) || v < a->from ? v : a->from;
    a->to = isnan(a->to) || v > a->to ? v : a->to;
}

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double nice_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double digit = least / power;
    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static bool find_scale(const struct lab_chart *chart, struct scale *sc)
{
    *sc = (struct scale){{NAN, NAN, chart->log_x}, {NAN, NAN, chart->log_y}};
    for (int k = 0; k < chart->count; k++) {
        const struct lab_series *s = &chart->series[k];
        for (int64_t i = 0; i < s->n; i++) {
            double x = x_of(sc, s, i);
            double y = drawn(&sc->y, s->y[i]);
            if (!isnan(x))
                widen(&sc->x, x);
            if (!isnan(y))
                widen(&sc->y, y);
        }
    }
    if (isnan(sc->x.from) || isnan(sc->y.from))
        return false;
    if (chart->zero_x && !chart->log_x && sc->x.from > 0)
        sc->x.from = 0;
    if (chart->grows_x && !chart->log_x && sc->x.to > 0) {
        enum { LEFT = 16 }; /* a part of the axis has no points, about */
        const double step = nice_step(sc->x.to / LEFT);
        sc->x.to = ceil(sc->x.to / step) * step;
    }
    double low = drawn(&sc->y, chart->y_min);
    double high = drawn(&sc->y, chart->y_max);
    sc->y.from = isnan(low) ? sc->y.from : low;
    sc->y.to = isnan(high) ? sc->y.to : high;
    if (!(sc->y.to > sc->y.from)) {
        double pad = sc->y.from == 0 ? 1 : fabs(sc->y.from) * 0.1;
        sc->y.from -= pad;
        sc->y.to = sc->y.from + 2 * pad;
    }
    sc->only_x = NAN;
    if (!(sc->x.to > sc->x.from)) {
        double pad = sc->x.log ? 0.05 : 0.5;
        sc->only_x = chart->zero_x ? NAN : sc->x.from;
        sc->x.from -= chart->zero_x ? 0 : pad;
        sc->x.to = sc->x.from + 2 * pad;
    }
    return isfinite(sc->y.to - sc->y.from) && isfinite(sc->x.to - sc->x.from);
}

/* Outside: cut by lab_dots_set(). */
static double place_of(const struct axis *a, double v, int count)
{
    double at = (v - a->from) / (a->to - a->from) * (count - 1);
    return at < -1 ? -1 : at > count ? count : at;
}

static int dot_of(const struct axis *a, double v, int count)
{
    return (int)lround(place_of(a, v, count));
}

/* Upwards. */
static int dot_row(const struct lab_dots *g, const struct axis *y, double v)
{
    return g->h - 1 - dot_of(y, v, g->h);
}

static void draw_series(struct lab_dots *g, const struct scale *sc,
                        const struct lab_series *s, int owner)
{
    bool joined = false;
    double px = 0;
    double py = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double x = x_of(sc, s, i);
        double y = drawn(&sc->y, s->y[i]);
        if (isnan(x) || isnan(y)) {
            joined = false;
            continue;
        }
        double dx = place_of(&sc->x, x, g->w);
        double dy = g->h - 1 - place_of(&sc->y, y, g->h);
        if (joined)
            lab_dots_line(g, px, py, dx, dy, owner);
        else
            lab_dots_set(g, (int)lround(dx), dot_row(g, &sc->y, y), owner);
        joined = !s->points;
        px = dx;
        py = dy;
    }
}

char lab_chart_sign(int k)
{
    return (char)(k < 9 ? '1' + k : 'a' + k - 9);
}

/* Where the last point of a series is, in cells; false: it has none here. */
static bool find_end(const struct lab_dots *g, const struct scale *sc,
                     const struct lab_series *s, struct lab_rect *cell)
{
    int64_t i = s->n - 1;
    while (i >= 0 && (isnan(drawn(&sc->y, s->y[i])) || isnan(x_of(sc, s, i))))
        i--;
    if (i < 0)
        return false;
    int dy = dot_row(g, &sc->y, drawn(&sc->y, s->y[i]));
    *cell = (struct lab_rect){
        dy / g->sy, dot_of(&sc->x, x_of(sc, s, i), g->w) / g->sx, 1, 1};
    return dy >= 0 && dy < g->h;
}

/* Series below k that have a name: one without is no number of the legend. */
static int named(const struct lab_chart *chart, int k)
{
    int n = 0;
    for (int i = 0; i < k; i++)
        n += chart->series[i].name != NULL;
    return n;
}

/* Its sign is on the last point of each series, or before it where another
 * one's does. */
static void mark_ends(struct lab_canvas *c, const struct lab_dots *g,
                      const struct scale *sc, const struct lab_chart *chart)
{
    struct lab_rect taken[LAB_CHART_SERIES];
    int n = 0;
    for (int k = 0; k < chart->count && chart->count > 1; k++) {
        struct lab_rect *cell = &taken[n];
        if (!chart->series[k].name || !find_end(g, sc, &chart->series[k], cell))
            continue;
        for (int i = 0; i < n; i++) {
            if (taken[i].y == cell->y && taken[i].x == cell->x &&
                cell->x >= 2) {
                cell->x -= 2;
                i = -1; /* that one may be another's */
            }
        }
        lab_canvas_textf(c, g->plot.y + cell->y, g->plot.x + cell->x, 1,
                         chart->series[k].role, "%c",
                         lab_chart_sign(named(chart, k)));
        n++;
    }
}

static void draw_legend(struct lab_canvas *c, struct lab_rect row,
                        const struct lab_chart *chart)
{
    struct lab_rect old = lab_canvas_clip(c, row);
    if (chart->title) {
        lab_canvas_add(c, &row, LAB_ROLE_HEADING, "%s", chart->title);
        lab_rect_cut_left(&row, 2);
    }
    for (int k = 0; k < chart->count && !chart->unlisted; k++) {
        const struct lab_series *s = &chart->series[k];
        int64_t gaps = 0;
        if (!s->name)
            continue;
        for (int64_t i = 0; i < s->n; i++)
            gaps += !isfinite(s->y[i]);
        if (chart->count > 1)
            lab_canvas_add(c, &row, s->role, "%c ",
                           lab_chart_sign(named(chart, k)));
        lab_canvas_add(c, &row, s->role, "%s %s", s->name,
                       s->n > 0 ? LAB_VALUE_TEXT(s->y[s->n - 1], 9) : LAB_NA);
        if (gaps)
            lab_canvas_add(c, &row, LAB_ROLE_BAD, " (%lld not finite)",
                           (long long)gaps);
        lab_rect_cut_left(&row, 2);
    }
    lab_canvas_unclip(c, old);
}

/* ---- axes ---- */

/* Whole decades between the marks of a log axis, one mark at least. */
static double decades_of(const struct axis *a)
{
    double step = ceil(a->decades - 1e-9);
    while (step > 1 && floor(a->to / step) * step < a->from)
        step--;
    return step < 1 ? 1 : step;
}

/* What a log axis has marks at, in each decade: these first. */
static const double DIGITS[] = {1, 5, 2, 3, 1.5, 7, 4};
enum { ROUNDS = sizeof(DIGITS) / sizeof(DIGITS[0]), SPARSE = 3 };

/* Mark i of a round, where it is drawn; false: there is none. */
static bool find_mark(const struct axis *a, int round, int i, double *at)
{
    double low = a->log ? pow(10, a->from) : a->from;
    double high = a->log ? pow(10, a->to) : a->to;
    double step = nice_step((high - low) / a->most);
    if (a->log && a->to - a->from >= 0.3) {
        step = decades_of(a);
        *at = (floor(a->from / step) + i) * step + log10(DIGITS[round]);
        return *at <= a->to + 1e-9 && (round == 0 || step <= 1);
    }
    double v = (ceil(low / step) + i) * step;
    v = fabs(v) < step * 1e-9 ? 0 : v;
    *at = a->log ? log10(v) : v;
    return v <= high + step * 1e-9 && round == 0;
}

static const char *mark_text(const struct axis *a, double at, int width,
                             char out[LAB_FORMAT_BYTES])
{
    return lab_format_value(a->log ? pow(10, at) : at, width, out,
                            LAB_FORMAT_BYTES);
}

/* Whether `gap` places on both sides of one are free, which it then takes. */
static bool take(bool *taken, int count, int place, int gap)
{
    if (place < 0 || place >= count)
        return false;
    for (int i = place - gap; i <= place + gap; i++)
        if (i >= 0 && i < count && taken[i])
            return false;
    taken[place] = true;
    return true;
}

static void draw_y_axis(struct lab_canvas *c, const struct lab_dots *g,
                        const struct scale *sc)
{
    enum { MOST = 512 };
    const int rows = g->plot.h < MOST ? g->plot.h : MOST;
    /* The powers are as far apart as their values are, or are not there: a
     * mark takes its row and leaves one free. */
    const double span = sc->y.to - sc->y.from;
    const struct axis a = {sc->y.from, sc->y.to, sc->y.log, g->plot.h / 3 + 1,
                           2 * g->sy * span / (g->h - 1)};
    bool taken[MOST] = {false};
    char text[LAB_FORMAT_BYTES];
    double v;
    for (int y = 0; y < g->plot.h; y++)
        lab_canvas_text(c, g->plot.y + y, g->plot.x - 1, 1, LAB_ROLE_BORDER,
                        "│");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; find_mark(&a, round, i, &v); i++) {
            int row = dot_row(g, &a, v) / g->sy;
            if (v < a.from - 1e-9 * span ||
                !take(taken, rows, row, round < SPARSE ? 1 : 2))
                continue;
            lab_canvas_textf(c, g->plot.y + row, g->plot.x - AXIS_W, AXIS_W - 1,
                             LAB_ROLE_DIM, "%*s", AXIS_W - 1,
                             mark_text(&a, v, AXIS_W - 2, text));
            lab_canvas_text(c, g->plot.y + row, g->plot.x - 1, 1,
                            LAB_ROLE_BORDER, "┤");
        }
    }
}

/* The row below the plot: what is written leaves no room for marks. */
struct below {
    struct lab_canvas *c;
    int y;
    int x;
    int w;
    bool taken[512];
};

/* " text " at a column, with a blank column free on both sides of it. */
static bool put_below(struct below *b, int at, const char *text)
{
    int w = lab_canvas_columns(b->c, text) + 2;
    for (int i = at - 1; i <= at + w; i++)
        if (i >= 0 && i < (int)sizeof(b->taken) && b->taken[i])
            return false;
    lab_canvas_textf(b->c, b->y, b->x + at, b->w - at, LAB_ROLE_DIM, " %s ",
                     text);
    for (int i = at < 0 ? 0 : at; i < at + w && i < (int)sizeof(b->taken); i++)
        b->taken[i] = true;
    return true;
}

static bool is_free(const struct below *b, int from, int end)
{
    bool is = from >= 0 && end <= b->w && end <= (int)sizeof(b->taken);
    for (int i = from; is && i < end; i++)
        is = !b->taken[i];
    return is;
}

/* What happened there: a sign, and the word at the side where it has room. */
static void put_mark(struct below *b, int at, const char *text)
{
    const int w = lab_canvas_columns(b->c, text);
    const bool right = is_free(b, at, at + w + 2);
    const bool left = !right && is_free(b, at - w - 1, at + 1);
    const int from = left ? at - w : at;
    const int end = right ? at + w + 1 : at + 1;
    if (!is_free(b, at, at + 1))
        return;
    lab_canvas_text(b->c, b->y, b->x + at, 1, LAB_ROLE_UPDATE, "▲");
    if (right || left)
        lab_canvas_text(b->c, b->y, b->x + (left ? from : at + 1), w,
                        LAB_ROLE_UPDATE, text);
    for (int i = from; i < end && i < (int)sizeof(b->taken); i++)
        b->taken[i] = true;
}

static void put_marks(struct below *b, const struct axis *a,
                      const struct lab_chart *chart)
{
    for (int i = chart->n_marks - 1; i >= 0; i--)
        if (chart->marks[i].x >= a->from && chart->marks[i].x <= a->to)
            put_mark(b, dot_of(a, chart->marks[i].x, b->w),
                     chart->marks[i].text);
}

static void draw_x_marks(struct below *b, const struct axis *a)
{
    char text[LAB_FORMAT_BYTES];
    int left = a->most;
    double v;
    for (int round = 0; round < SPARSE && left > 0; round++) {
        for (int i = 0; left > 0 && find_mark(a, round, i, &v); i++) {
            int at = dot_of(a, v, b->w);
            mark_text(a, v, 8, text);
            if (v < a->from || at + (int)strlen(text) + 3 > b->w ||
                !is_free(b, at, at + 1) || !put_below(b, at + 1, text))
                continue;
            lab_canvas_text(b->c, b->y, b->x + at, 1, LAB_ROLE_BORDER, "┴");
            left--;
        }
    }
}

static void draw_x_axis(struct lab_canvas *c, const struct lab_dots *g,
                        const struct scale *sc, const struct lab_chart *chart)
{
    const char *x_name = chart->x_name;
    const int most = g->plot.w / 16;
    const struct axis a = {sc->x.from, sc->x.to, sc->x.log, most,
                           most ? floor((sc->x.to - sc->x.from) / most) : 1};
    struct below b = {
        .c = c, .y = g->plot.y + g->plot.h, .x = g->plot.x, .w = g->plot.w};
    char text[LAB_FORMAT_BYTES];
    lab_canvas_fill(c, (struct lab_rect){b.y, b.x, 1, b.w}, "─",
                    LAB_ROLE_BORDER);
    lab_canvas_text(c, b.y, b.x - 1, 1, LAB_ROLE_BORDER, "└");
    if (!isnan(sc->only_x)) { /* nothing is at other places of the axis */
        mark_text(&a, sc->only_x, 8, text);
        put_below(&b, dot_of(&a, sc->only_x, b.w) - (int)strlen(text) / 2 - 1,
                  text);
        if (x_name)
            put_below(&b, b.w - lab_canvas_columns(c, x_name) - 2, x_name);
        return;
    }
    put_marks(&b, &a, chart);
    put_below(&b, 1, mark_text(&a, a.from, 8, text));
    mark_text(&a, a.to, 8, text);
    put_below(&b, b.w - (int)strlen(text) - 2, text);
    if (x_name)
        put_below(&b, (b.w - lab_canvas_columns(c, x_name) - 2) / 2, x_name);
    if (a.most > 1)
        draw_x_marks(&b, &a);
}

static bool has_legend(const struct lab_chart *chart)
{
    return chart->title || !chart->unlisted;
}

/* Without legend and axes. */
static struct lab_rect plot_of(struct lab_rect r, const struct lab_chart *chart)
{
    lab_rect_cut_top(&r, has_legend(chart) ? 1 : 0);
    lab_rect_cut_left(&r, AXIS_W);
    lab_rect_cut_bottom(&r, 1);
    return r;
}

bool lab_chart_find(struct lab_rect r, const struct lab_chart *chart, int y,
                    int x, int *series, int64_t *point)
{
    struct scale sc;
    double least = 4.5; /* a row counts as two columns */
    bool found = false;
    r = plot_of(r, chart);
    if (r.h < 2 || r.w < 8 || !lab_rect_has(r, y, x) || !find_scale(chart, &sc))
        return false;
    for (int k = 0; k < chart->count; k++) {
        const struct lab_series *s = &chart->series[k];
        for (int64_t i = 0; s->name && i < s->n; i++) {
            double dx = r.x + place_of(&sc.x, x_of(&sc, s, i), r.w) - x;
            double dy =
                r.y + r.h - 1 - place_of(&sc.y, drawn(&sc.y, s->y[i]), r.h) - y;
            double far = dx * dx + 4 * dy * dy;
            if (!(far < least)) /* NaN: it is not drawn */
                continue;
            least = far;
            found = true;
            *series = k;
            *point = i;
        }
    }
    return found;
}

void lab_chart_draw(struct lab_canvas *c, struct lab_rect r,
                    const struct lab_chart *chart)
{
    struct scale sc;
    struct lab_dots g;
    enum lab_role roles[LAB_CHART_SERIES];
    if (lab_rect_empty(r) || chart->count > LAB_CHART_SERIES)
        return;
    if (has_legend(chart))
        draw_legend(c, (struct lab_rect){r.y, r.x, 1, r.w}, chart);
    r = plot_of(r, chart);
    if (r.h < 2 || r.w < 8)
        return;
    if (!find_scale(chart, &sc)) {
        lab_canvas_text(c, r.y + r.h / 2, r.x, r.w, LAB_ROLE_DIM,
                        "no values yet");
        return;
    }
    if (!lab_dots_init(&g, c, r)) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_BAD, "(out of memory)");
        return;
    }
    for (int k = 0; k < chart->count; k++) {
        draw_series(&g, &sc, &chart->series[k], k);
        roles[k] = chart->series[k].role;
    }
    lab_dots_show(&g, c, roles);
    draw_y_axis(c, &g, &sc);
    draw_x_axis(c, &g, &sc, chart);
    mark_ends(c, &g, &sc, chart);
    lab_dots_release(&g);
}

/* ---- histograms and gauges ---- */

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

void lab_column_draw(struct lab_canvas *c, int y, int x, int eighths,
                     enum lab_role role)
{
    /* A blank has no role: it would show as a line where that underlines. */
    lab_canvas_text(c, y, x, 1, eighths > 0 ? role : LAB_ROLE_NORMAL,
                    eighth_up(c, eighths));
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

/* The top of a bar that is cut: its columns, and its value at the side with more room, as
 * much of it as has room. */
static void name_cut(struct lab_canvas *c, struct lab_rect top, int from,
                     int to, double v, enum lab_role role)
{
    char text[48];
    snprintf(text, sizeof(text), "%.15g, cut", v);
    const int w = lab_canvas_columns(c, text);
    const bool right = top.w - to >= from;
    const int room = right ? top.w - to - 1 : from - 1; /* without a blank */
    const int x = right ? to + 1 : room > w ? room - w : 0;
    lab_canvas_fill(c, (struct lab_rect){top.y, top.x + from, 1, to - from},
                    c->ascii ? "^" : "▲", role);
    if (room > 0)
        lab_canvas_text_cut(c, top.y, top.x + x, room, LAB_ROLE_DIM, text);
}

void lab_histogram_draw(struct lab_canvas *c, struct lab_rect r,
                        const double *values, int64_t n, enum lab_role role)
{
    enum { CUT_H = 3 };
    int bars = n < r.w ? (int)n : r.w;
    double most = 0;
    double next = 0; /* the largest but one */
    int at = 0;
    if (lab_rect_empty(r) || n < 1)
        return;
    for (int k = 0; k < bars; k++) {
        const double v = bar_value(values, n, bars, k);
        next = fmax(next, fmin(v, most));
        at = v > most ? k : at;
        most = fmax(most, v);
    }
    if (next > 0 && most > next * r.h && r.h >= CUT_H) {
        const struct lab_rect top = lab_rect_cut_top(&r, 1);
        name_cut(c, top, (int)((int64_t)r.w * at / bars),
                 (int)((int64_t)r.w * (at + 1) / bars), most, role);
        most = next;
    }
    for (int k = 0; k < bars && most > 0; k++) {
        double v = fmin(bar_value(values, n, bars, k), most);
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

/* `eighths` of a cell to the right from x on. */
static void bar_right(struct lab_canvas *c, int y, int x, int eighths,
                      enum lab_role role)
{
    struct lab_rect full = {y, x, 1, eighths / 8};
    lab_canvas_fill(c, full, c->ascii ? "#" : "█", role);
    if (eighths % 8)
        lab_canvas_text(c, y, x + full.w, 1, role,
                        !c->ascii          ? EIGHTHS_RIGHT[eighths % 8]
                        : eighths % 8 >= 4 ? "+"
                                           : "-");
}

/* To the left, up to before x. */
static void bar_left(struct lab_canvas *c, int y, int x, int eighths,
                     enum lab_role role)
{
    int full = eighths / 8;
    lab_canvas_fill(c, (struct lab_rect){y, x - full, 1, full},
                    c->ascii ? "#" : "█", role);
    if (eighths % 8)
        lab_canvas_text(c, y, x - full - 1, 1, role,
                        c->ascii           ? "-"
                        : eighths % 8 >= 4 ? "▐"
                                           : "▕");
}

void lab_bar_draw(struct lab_canvas *c, int y, int x, int w, double value,
                  double least, double most, enum lab_role role)
{
    enum { LEAST_W = 3 };
    const double range = most - least;
    int left = 0;
    if (least < 0) {
        if (w-- < LEAST_W)
            return;
        left = (int)fmax(1, floor(w * (-least / range)));
        if (left == w && most > 0)
            left--;
        lab_canvas_text(c, y, x + left, 1, LAB_ROLE_BORDER, "│");
        x += left;
        w -= left;
    }
    const double side = value < 0 ? -least : most;
    const int room = value < 0 ? left : w;
    if (isnan(value) || value == 0 || !(side > 0) || room < 1)
        return;
    /* One scale at both sides: the one that has fewer columns than its share. */
    double unit = most > 0 ? w / most : left / -least;
    if (left > 0)
        unit = fmin(unit, left / -least);
    /* The scale of what is next to nothing is infinite. */
    const int eighths =
        (int)fmin(8 * room, fmax(1, round(fmin(fabs(value), side) * unit * 8)));
    if (value > 0)
        bar_right(c, y, x + (least < 0 ? 1 : 0), eighths, role);
    else
        bar_left(c, y, x, eighths, role);
}

void lab_bar_widen(double value, double *least, double *most)
{
    if (!isfinite(value))
        return;
    *least = fmin(*least, value);
    *most = fmax(*most, value);
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
