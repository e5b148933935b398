/* Training: curves that grow while the engine runs on its own thread. Leaving
 * the screen does not stop it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "say_near.h"
#include "train_sample.h"
#include "ui/chart.h"
#include "ui/format.h"
#include "ui/layout.h"
#include "ui/stepper.h"
#include "ui/ui.h"

enum {
    ACT_TRAIN = LAB_ACT_OWN,
    ACT_COUNT,
    ACT_STOP,
    ACT_LOG,
    ACT_WRITE,
    ACT_PROMPT,
    ACT_DARING,
    ASK_ITERATIONS = 1,
    ASK_PROMPT,
    ASK_TEMPERATURE,
    WIDE = 140 /* from here on the two curves stand side by side */
};

struct curve { /* as a chart wants it */
    double *x;
    double *y;
    int64_t n;
    int64_t cap;
};

struct train {
    struct lab_ui *ui;
    struct lab_stepper_model model;
    struct lab_snapshot snap; /* only when `taken` */
    bool taken;
    struct curve loss;
    struct curve accuracy;
    struct curve bits;
    int64_t asked; /* iterations of the last request; 0: the lesson's */
    bool log_scale;
};

static const struct lab_binding keys[] = {
    {{'t', LAB_KEY_ENTER},
     ACT_TRAIN,
     "train on",
     "train again as many iterations, from where it stands",
     true},
    {{'i'}, ACT_COUNT, "iterations", "train this many iterations", true},
    {{LAB_KEY_ESC, 'x'}, ACT_STOP, "stop", "stop the training", true},
    {{'l'}, ACT_LOG, "log scale", "the loss on a logarithmic scale", true},
    {{'w'},
     ACT_WRITE,
     "write",
     "text lessons: the network writes, with the parameters of this moment",
     false},
    {{'p'}, ACT_PROMPT, "prompt", "text lessons: what it goes on from", false},
    {{'d'},
     ACT_DARING,
     "daring",
     "text lessons: the temperature; 0 takes the likeliest character",
     false},
    {{'q', LAB_KEY_F1 + 9},
     LAB_ACT_BACK,
     "stepper",
     "back to the stepper; the training goes on",
     true},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};

static void post(struct train *v, enum lab_command_kind kind, int64_t n)
{
    struct lab_command cmd = {.kind = kind, .n = n, .phase = -1};
    if (v->model.post(v->model.user, &cmd))
        lab_ui_error(v->ui);
}

static void start(struct train *v, int64_t n)
{
    v->asked = n;
    post(v, LAB_DO_TRAIN, n);
}

/* ---- snapshots ---- */

static void keep_curve(struct curve *out, const struct lab_curve *in)
{
    if (in->n > out->cap) {
        int64_t cap = in->n + in->n / 2;
        double *x = lab_realloc_array(out->x, (size_t)cap, sizeof(*x));
        if (x)
            out->x = x;
        double *y = lab_realloc_array(out->y, (size_t)cap, sizeof(*y));
        if (y)
            out->y = y;
        if (!x || !y)
            return; /* the old curve stays */
        out->cap = cap;
    }
    out->n = in->n;
    for (int i = 0; i < in->n; i++) {
        out->x[i] = (double)in->iteration[i];
        out->y[i] = in->value[i];
    }
}

static bool refresh(struct train *v)
{
    struct lab_snapshot next;
    if (v->taken && v->model.version(v->model.user) == v->snap.version)
        return false;
    memset(&next, 0, sizeof(next));
    if (v->model.snapshot(v->model.user, &next)) {
        lab_ui_error(v->ui);
        return true;
    }
    if (next.error[0] && strcmp(next.error, v->snap.error) != 0)
        lab_ui_message(v->ui, LAB_ROLE_BAD, "%s", next.error);
    else if (v->taken && next.near.asked != v->snap.near.asked)
        lab_ui_say_near(v->ui, &next);
    if (v->taken)
        v->model.snapshot_release(v->model.user, &v->snap);
    v->snap = next;
    v->taken = true;
    keep_curve(&v->loss, &next.losses);
    keep_curve(&v->accuracy, &next.accuracies);
    keep_curve(&v->bits, &next.bits);
    return true;
}

/* ---- drawing ---- */

static const char *state_text(const struct train *v)
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

static void draw_facts(const struct train *v, struct lab_canvas *c,
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
                         "   held back %.4f bits", s->bits_per_char);
    else
        lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_NORMAL,
                         isnan(s->accuracy) ? "" : "   held-back right %s",
                         text);
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

static void draw_progress(const struct train *v, struct lab_canvas *c,
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
    snprintf(text, sizeof(text), "%lld of %lld iterations%s%s%s%s",
             (long long)s->train_done, (long long)s->train_target,
             rate[0] ? ", " : "", rate, rate[0] ? " samples/s" : "", left);
    lab_gauge_draw(c, row.y, row.x, row.w, share, LAB_ROLE_SERIES_1, text);
}

static void draw_more(const struct train *v, struct lab_canvas *c,
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
static void draw_bits(const struct train *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct curve *b = &v->bits;
    double order3 = v->snap.bits_order3;
    double ends[2] = {b->x[0], b->x[b->n - 1]};
    double line[2] = {order3, order3};
    struct lab_series series[2] = {
        {b->x, b->y, b->n, "bits a character, held back", LAB_ROLE_SERIES_2},
        {ends, line, b->n > 1 ? 2 : 1, "counting what follows three",
         LAB_ROLE_SERIES_3}};
    struct lab_chart chart = {.x_name = "iteration",
                              .series = series,
                              .count = isnan(order3) ? 1 : 2,
                              .y_min = NAN,
                              .y_max = NAN};
    lab_chart_draw(c, r, &chart);
}

/* The share that came out exactly, and as many of the strings as stand whole
 * beside each other. */
static void draw_decoded(const struct train *v, struct lab_canvas *c,
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

static void draw_curves(const struct train *v, struct lab_canvas *c,
                        struct lab_rect r)
{
    struct lab_series loss = {v->loss.x, v->loss.y, v->loss.n,
                              v->log_scale ? "loss (log scale)" : "loss",
                              LAB_ROLE_SERIES_1};
    struct lab_series right = {v->accuracy.x, v->accuracy.y, v->accuracy.n,
                               "share right, of what was held back",
                               LAB_ROLE_SERIES_2};
    struct lab_chart loss_chart = {.x_name = "iteration",
                                   .series = &loss,
                                   .count = 1,
                                   .y_min = v->log_scale ? NAN : 0,
                                   .y_max = NAN,
                                   .log_y = v->log_scale};
    struct lab_chart right_chart = {.x_name = "iteration",
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
    lab_chart_draw(c, first, &loss_chart);
    if (v->bits.n > 0)
        draw_bits(v, c, r);
    else if (labels)
        lab_chart_draw(c, r, &right_chart);
}

/* Text: rows for what the network writes, when there are some to spare. */
static void draw_below(const struct train *v, struct lab_canvas *c,
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

static void draw(struct lab_screen *s, struct lab_canvas *c,
                 struct lab_rect body)
{
    const struct train *v = s->state;
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

/* ---- the screen ---- */

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct train *v = s->state;
    v->ui = s->ui;
    v->model = *(const struct lab_stepper_model *)args;
    v->asked = v->model.train_iterations;
    refresh(v);
    if (v->snap.state == LAB_SESSION_IDLE && !v->model.train_waits)
        start(v, v->asked);
    refresh(v);
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct train *v = s->state;
    if (v->taken)
        v->model.snapshot_release(v->model.user, &v->snap);
    lab_free(v->loss.x);
    lab_free(v->loss.y);
    lab_free(v->accuracy.x);
    lab_free(v->accuracy.y);
    lab_free(v->bits.x);
    lab_free(v->bits.y);
}

static bool tick(struct lab_screen *s, int64_t now_ns)
{
    (void)now_ns;
    return refresh(s->state);
}

static void train_on(struct train *v)
{
    if (v->snap.state == LAB_SESSION_TRAINING)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "it is training; Esc stops it");
    else
        start(v, v->asked);
}

static void write_text(struct train *v)
{
    struct lab_command cmd = lab_train_sample_command(&v->model.sampling);
    if (!v->snap.text)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "%s", lab_train_sample_not_here);
    else if (v->model.post(v->model.user, &cmd))
        lab_ui_error(v->ui);
}

static bool action(struct lab_screen *s, int act)
{
    struct train *v = s->state;
    switch (act) {
    case ACT_TRAIN:
        train_on(v);
        break;
    case ACT_COUNT:
        lab_ui_prompt(v->ui, ASK_ITERATIONS, "iterations: ", NULL);
        break;
    case ACT_WRITE:
        write_text(v);
        break;
    case ACT_PROMPT:
        lab_ui_prompt(v->ui, ASK_PROMPT,
                      "goes on from: ", v->model.sampling.prompt);
        break;
    case ACT_DARING:
        lab_ui_prompt(v->ui, ASK_TEMPERATURE, "temperature: ", NULL);
        break;
    case ACT_STOP:
        if (v->snap.state == LAB_SESSION_TRAINING || v->snap.sampling)
            post(v, LAB_DO_STOP, 0);
        break;
    case ACT_LOG:
        v->log_scale = !v->log_scale;
        break;
    default:
        return false;
    }
    refresh(v);
    return true;
}

static void take_temperature(struct train *v, const char *text)
{
    char *end;
    double t = strtod(text, &end);
    if (end == text || *end || !(t >= 0 && t <= 100))
        lab_ui_message(v->ui, LAB_ROLE_BAD,
                       "\"%s\" is no temperature from 0 to 100", text);
    else
        v->model.sampling.temperature = t;
}

static void take_prompt(struct train *v, const char *text)
{
    snprintf(v->model.sampling.prompt, sizeof(v->model.sampling.prompt), "%s",
             text);
    write_text(v);
}

static void take_iterations(struct train *v, const char *text)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (errno || end == text || *end || n < 1) {
        lab_ui_message(v->ui, LAB_ROLE_BAD,
                       "\"%s\" is not a number of iterations", text);
        return;
    }
    if (v->snap.state == LAB_SESSION_TRAINING)
        post(v, LAB_DO_STOP, 0);
    start(v, n);
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct train *v = s->state;
    if (!text)
        return;
    if (id == ASK_ITERATIONS)
        take_iterations(v, text);
    else if (id == ASK_TEMPERATURE)
        take_temperature(v, text);
    else if (id == ASK_PROMPT)
        take_prompt(v, text);
    refresh(v);
}

static void ask_near(struct train *v, const char *question)
{
    struct lab_command cmd = {.kind = LAB_DO_NEAR, .phase = -1};
    snprintf(cmd.text, sizeof(cmd.text), "%s", question);
    if (v->model.post(v->model.user, &cmd))
        lab_ui_error(v->ui);
}

static bool command(struct lab_screen *s, const struct lab_ui_command *cmd)
{
    struct train *v = s->state;
    int64_t n = cmd->n == LAB_COMMAND_ALL ? v->model.train_iterations : cmd->n;
    switch (cmd->kind) {
    case LAB_COMMAND_STOP:
        post(v, LAB_DO_STOP, 0);
        break;
    case LAB_COMMAND_TRAIN:
        start(v, n);
        break;
    case LAB_COMMAND_SAMPLE:
        lab_train_sample_take(&v->model.sampling, cmd);
        write_text(v);
        break;
    case LAB_COMMAND_NEAR:
        ask_near(v, cmd->arg);
        break;
    default:
        return false;
    }
    refresh(v);
    return true;
}

const struct lab_screen_ops lab_view_train = {
    .name = "train",
    .title = "training",
    .state_bytes = sizeof(struct train),
    .bindings = keys,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = draw,
    .action = action,
    .tick = tick,
    .command = command,
    .answer = answer,
};
