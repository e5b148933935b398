/* What the training screen shows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train_sample.h"
#include "ui/chart.h"
#include "report/format.h"
#include "ui/layout.h"
#include "ui/ui.h"
#include "view_train_priv.h"

enum { WIDE = 140 /* from here on the two curves stand side by side */ };

static const char *state_text(const struct lab_train_state *v)
{
    const struct lab_snapshot *s = &v->snap;
    if (s->state == LAB_SESSION_TRAINING)
        return "training";
    if (s->state == LAB_SESSION_FAILED)
        return "failed";
    if (s->train_target > 0 && s->train_done < s->train_target)
        return "stopped";
    return s->train_done > 0 ? "done" : "waiting";
}

static void draw_facts(const struct lab_train_state *v, struct lab_canvas *c,
                       struct lab_rect row)
{
    const struct lab_snapshot *s = &v->snap;
    char loss[LAB_FORMAT_BYTES];
    char text[LAB_FORMAT_BYTES];
    double last = v->loss.n ? v->loss.y[v->loss.n - 1] : s->loss;
    int x = row.x;
    x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_TITLE, "%s", state_text(v));
    x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_NORMAL, "   iteration %lld",
                          (long long)s->iteration);
    if (s->iterations_per_epoch > 0)
        x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_NORMAL, "   epoch %lld",
                              (long long)s->epoch);
    lab_format_value(last, 8, loss, sizeof(loss));
    bool known = v->loss.n > 0 || !isnan(s->loss);
    x += lab_canvas_textf(c, row.y, x, -1,
                          known && !isfinite(last) ? LAB_ROLE_BAD
                                                   : LAB_ROLE_NORMAL,
                          "   loss %s", known ? loss : "not known yet");
    lab_format_share(s->accuracy, text, sizeof(text));
    if (v->bits.n > 0)
        lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_NORMAL,
                         "   validation %.4f bits", s->bits_per_char);
    else if (!isnan(s->accuracy))
        lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_NORMAL,
                         "   validation accuracy %s", text);
}

/* "16 s left", or nothing where it is not known. */
static void left_text(const struct lab_snapshot *s, char *out, size_t cap)
{
    char span[LAB_FORMAT_BYTES];
    out[0] = '\0';
    if (s->state != LAB_SESSION_TRAINING || !isfinite(s->seconds_left) ||
        s->seconds_left < 0 || s->seconds_left > 1e9)
        return;
    lab_format_span((int64_t)(s->seconds_left * 1e9), span, sizeof(span));
    snprintf(out, cap, ", %s left", span);
}

static void draw_progress(const struct lab_train_state *v, struct lab_canvas *c,
                          struct lab_rect row)
{
    const struct lab_snapshot *s = &v->snap;
    char rate[LAB_FORMAT_BYTES] = "";
    char left[64];
    char text[192];
    double share = s->train_target > 0
                       ? (double)s->train_done / (double)s->train_target
                       : NAN;
    left_text(s, left, sizeof(left));
    if (s->samples_per_s > 0)
        lab_format_int((int64_t)s->samples_per_s, rate, sizeof(rate));
    snprintf(text, sizeof(text), "%lld of %lld iteration%s%s%s%s%s",
             (long long)s->train_done, (long long)s->train_target,
             s->train_target == 1 ? "" : "s", rate[0] ? ", " : "", rate,
             rate[0] ? " samples/s" : "", left);
    lab_gauge_draw(c, row.y, row.x, row.w, share, LAB_ROLE_SERIES_1, text);
}

static void draw_more(const struct lab_train_state *v, struct lab_canvas *c,
                      struct lab_rect row)
{
    const struct lab_snapshot *s = &v->snap;
    char time[LAB_FORMAT_BYTES];
    int x = row.x;
    if (s->step_ms_median > 0) {
        lab_format_ns(s->step_ms_median * 1e6, time, sizeof(time));
        x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM,
                              "one iteration %s (median)   ", time);
    }
    if (s->iterations_per_epoch > 0)
        x += lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_DIM, "%lld an epoch   ",
                              (long long)s->iterations_per_epoch);
    if (s->stop_reason[0] && s->state != LAB_SESSION_TRAINING)
        lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_WARN, "%s", s->stop_reason);
}

/* Held-back text, and the line to beat: a model that counts. */
static void draw_bits(const struct lab_train_state *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct lab_train_curve *b = &v->bits;
    double order3 = v->snap.bits_order3;
    double ends[2] = {b->x[0], b->x[b->n - 1]};
    double line[2] = {order3, order3};
    struct lab_series series[2] = {
        {b->x, b->y, b->n, "bits a character, validation", LAB_ROLE_SERIES_2},
        {ends, line, b->n > 1 ? 2 : 1, "counting what follows three",
         LAB_ROLE_SERIES_3}};
    struct lab_chart chart = {.x_name = "iteration",
                              .zero_x = true,
                              .series = series,
                              .count = isnan(order3) ? 1 : 2,
                              .y_min = NAN,
                              .y_max = NAN};
    lab_chart_draw(c, r, &chart);
}

/* The share that came out exactly, and as many of the strings as stand whole
 * beside each other. */
static void draw_decoded(const struct lab_train_state *v, struct lab_canvas *c,
                         struct lab_rect row)
{
    const char *line = v->snap.decoded;
    char text[LAB_SESSION_TEXT];
    lab_format_share(v->snap.exact, text, sizeof(text));
    int used = lab_canvas_textf(c, row.y, row.x, row.w, LAB_ROLE_NORMAL,
                                "exact %s", text);
    lab_rect_cut_left(&row, used + 3);
    while (*line) {
        size_t n = strcspn(line, "\n");
        snprintf(text, sizeof(text), "%.*s", (int)n, line);
        int w = lab_canvas_columns(c, text);
        if (w > row.w)
            return;
        lab_canvas_text(
            c, row.y, row.x, row.w,
            strstr(text, ", not ") ? LAB_ROLE_WARN : LAB_ROLE_NORMAL, text);
        lab_rect_cut_left(&row, w + 3);
        line += n + (line[n] == '\n');
    }
}

bool lab_train_log(const struct lab_train_state *v)
{
    double first = v->loss.n ? v->loss.y[0] : NAN;
    double last = v->loss.n ? v->loss.y[v->loss.n - 1] : NAN;
    return v->log_chosen ? v->log_scale : last > 0 && first / last >= 10;
}

/* The losses of batches are noisy: of many, the mean of neighbours is drawn,
 * between the least and the largest of them. */
enum { BINS = 96, A_BIN = 4 /* points at least, else all are drawn */ };
struct smooth {
    int n;
    double x[BINS];
    double mean[BINS];
    double low[BINS];
    double high[BINS];
};

static bool make_smooth(const struct lab_train_curve *c, struct smooth *out)
{
    out->n = (int)(c->n / A_BIN < BINS ? c->n / A_BIN : BINS);
    if (c->n < 2 * BINS / 3)
        return false;
    for (int b = 0; b < out->n; b++) {
        int64_t from = c->n * b / out->n;
        int64_t end = c->n * (b + 1) / out->n;
        double sum = 0;
        out->x[b] = c->x[b == 0 ? 0 : end - 1];
        out->low[b] = out->high[b] = c->y[from];
        for (int64_t i = from; i < end; i++) {
            sum += c->y[i];
            out->low[b] = c->y[i] < out->low[b] ? c->y[i] : out->low[b];
            out->high[b] = c->y[i] > out->high[b] ? c->y[i] : out->high[b];
        }
        out->mean[b] = sum / (double)(end - from);
        if (!isfinite(sum)) /* a NaN must be seen where it is */
            return false;
    }
    return true;
}

static void draw_loss(const struct lab_train_state *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    bool log_y = lab_train_log(v);
    struct lab_series series[4];
    struct smooth m;
    int n = 0;
    if (make_smooth(&v->loss, &m)) {
        series[n++] =
            (struct lab_series){m.x, m.mean, m.n,
                                log_y ? "loss, mean of neighbours (log scale)"
                                      : "loss, mean of neighbours",
                                LAB_ROLE_SERIES_1};
        series[n++] = (struct lab_series){m.x, m.low, m.n, NULL, LAB_ROLE_DIM};
        series[n++] = (struct lab_series){m.x, m.high, m.n, NULL, LAB_ROLE_DIM};
    } else {
        series[n++] = (struct lab_series){v->loss.x, v->loss.y, v->loss.n,
                                          log_y ? "loss (log scale)" : "loss",
                                          LAB_ROLE_SERIES_1};
    }
    if (v->held.n > 0)
        series[n++] = (struct lab_series){v->held.x, v->held.y, v->held.n,
                                          "validation loss", LAB_ROLE_SERIES_2};
    struct lab_chart chart = {.x_name = "iteration",
                              .zero_x = true,
                              .series = series,
                              .count = n,
                              .y_min = log_y ? NAN : 0,
                              .y_max = NAN,
                              .log_y = log_y};
    lab_chart_draw(c, r, &chart);
}

static void draw_curves(const struct lab_train_state *v, struct lab_canvas *c,
                        struct lab_rect r)
{
    struct lab_series right = {v->accuracy.x, v->accuracy.y, v->accuracy.n,
                               "validation accuracy", LAB_ROLE_SERIES_2};
    struct lab_chart right_chart = {.x_name = "iteration",
                                    .zero_x = true,
                                    .series = &right,
                                    .count = 1,
                                    .y_min = NAN,
                                    .y_max = NAN};
    bool labels = v->accuracy.n > 0;
    struct lab_rect first = r;
    if (labels && r.w >= WIDE)
        first = lab_rect_cut_left(&r, r.w / 2);
    else if (labels)
        first = lab_rect_cut_top(&r, r.h / 2);
    draw_loss(v, c, first);
    if (v->bits.n > 0)
        draw_bits(v, c, r);
    else if (labels)
        lab_chart_draw(c, r, &right_chart);
}

/* Text: rows for what the network writes, when there are some to spare. */
static void draw_below(const struct lab_train_state *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    if (v->snap.text && r.h >= 8) {
        int rows = r.h >= 24 ? r.h / 3 : r.h >= 14 ? 6 : 4;
        lab_train_sample_draw(c, lab_rect_cut_bottom(&r, rows), &v->snap,
                              &v->model.sampling);
    }
    if (v->loss.n == 0)
        lab_canvas_text(c, r.y + r.h / 2, r.x + 2, r.w - 2, LAB_ROLE_DIM,
                        "The curve begins with the first "
                        "iteration.");
    else
        draw_curves(v, c, r);
}

void lab_train_draw(struct lab_screen *s, struct lab_canvas *c,
                    struct lab_rect body)
{
    const struct lab_train_state *v = s->state;
    if (v->snap.state == LAB_SESSION_FAILED) {
        lab_canvas_textf(c, body.y + 1, body.x, body.w, LAB_ROLE_BAD, "%s",
                         v->snap.error);
        return;
    }
    draw_facts(v, c, lab_rect_cut_top(&body, 1));
    draw_progress(v, c, lab_rect_cut_top(&body, 1));
    draw_more(v, c, lab_rect_cut_top(&body, 1));
    if (v->snap.decoded[0])
        draw_decoded(v, c, lab_rect_cut_top(&body, 1));
    draw_below(v, c, body);
}
