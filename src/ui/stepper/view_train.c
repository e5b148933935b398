/* Training: curves that grow while the engine runs on its own thread. Leaving
 * the screen does not stop it. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "shell/neighbours_text.h"
#include "train_sample.h"
#include "ui/chart.h"
#include "report/format.h"
#include "ui/layout.h"
#include "ui/ui.h"
#include "view_train_priv.h"

enum {
    ACT_TRAIN = LAB_ACT_OWN,
    ACT_COUNT,
    ACT_STOP,
    ACT_LOG,
    ACT_WRITE,
    ACT_PROMPT,
    ACT_TEMPERATURE,
    ASK_ITERATIONS = 1,
    ASK_PROMPT,
    ASK_TEMPERATURE
};

static const struct lab_binding keys[] = {
    {{'t', LAB_KEY_ENTER},
     ACT_TRAIN,
     "train on",
     "train as many iterations again, from here",
     true},
    {{'i'}, ACT_COUNT, "iterations", "train this many iterations", true},
    {{LAB_KEY_ESC, 'x'}, ACT_STOP, "stop", "stop the training", true},
    {{'l'}, ACT_LOG, "log scale", "the loss on a logarithmic scale", true},
    {{'w'},
     ACT_WRITE,
     "write",
     "text lessons: the network writes, with the parameters of this moment",
     false},
    {{'p'},
     ACT_PROMPT,
     "prompt",
     "text lessons: the prompt that the text continues",
     false},
    {{'d'},
     ACT_TEMPERATURE,
     "temp",
     "text lessons: the temperature; 0 takes the likeliest character",
     false},
    {{'q', LAB_KEY_F1 + 9},
     LAB_ACT_BACK,
     "stepper",
     "back to the stepper; the training goes on",
     true},
    {{0}, LAB_ACT_NONE, NULL, NULL, false}};
static_assert(sizeof(keys) / sizeof(keys[0]) == LAB_TRAIN_KEYS + 1,
              "every key has its place in a text lesson's bar");

/* Of a lesson that learns from text: what it writes comes first in the bar. */
static void make_text_keys(struct lab_train_state *v)
{
    static const int order[LAB_TRAIN_KEYS] = {
        ACT_TRAIN, ACT_WRITE,    ACT_PROMPT, ACT_TEMPERATURE,
        ACT_STOP,  LAB_ACT_BACK, ACT_COUNT,  ACT_LOG};
    for (int i = 0; i < LAB_TRAIN_KEYS; i++) {
        for (const struct lab_binding *b = keys; b->action; b++)
            if (b->action == order[i])
                v->text_keys[i] = *b;
        v->text_keys[i].bar = true;
    }
}

static const struct lab_binding *keys_now(const struct lab_screen *s)
{
    const struct lab_train_state *v = s->state;
    return v->snap.text ? v->text_keys : keys;
}

static void post(struct lab_train_state *v, enum lab_command_kind kind,
                 int64_t n)
{
    struct lab_command cmd = {.kind = kind, .n = n, .phase = -1};
    if (v->model.post(v->model.user, &cmd))
        lab_ui_error(v->ui);
}

static void start(struct lab_train_state *v, int64_t n)
{
    v->asked = n;
    post(v, LAB_DO_TRAIN, n);
}

/* ---- snapshots ---- */

static void keep_curve(struct lab_train_curve *out, const struct lab_curve *in)
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

static bool refresh(struct lab_train_state *v)
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
    keep_curve(&v->held, &next.held);
    return true;
}

/* ---- the screen ---- */

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct lab_train_state *v = s->state;
    v->ui = s->ui;
    v->model = *(const struct lab_stepper_model *)args;
    v->asked = v->model.train_iterations;
    make_text_keys(v);
    refresh(v);
    if (v->snap.state == LAB_SESSION_IDLE && !v->model.train_waits)
        start(v, v->asked);
    refresh(v);
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct lab_train_state *v = s->state;
    if (v->taken)
        v->model.snapshot_release(v->model.user, &v->snap);
    lab_free(v->loss.x);
    lab_free(v->loss.y);
    lab_free(v->accuracy.x);
    lab_free(v->accuracy.y);
    lab_free(v->held.x);
    lab_free(v->held.y);
    lab_free(v->bits.x);
    lab_free(v->bits.y);
}

static bool tick(struct lab_screen *s, int64_t now_ns)
{
    (void)now_ns;
    return refresh(s->state);
}

static void train_on(struct lab_train_state *v)
{
    if (v->snap.state == LAB_SESSION_TRAINING)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "it is training; Esc stops it");
    else
        start(v, v->asked);
}

static void write_text(struct lab_train_state *v)
{
    struct lab_command cmd = lab_train_sample_command(&v->model.sampling);
    if (!v->snap.text)
        lab_ui_message(v->ui, LAB_ROLE_DIM, "%s", lab_train_sample_not_here);
    else if (v->model.post(v->model.user, &cmd))
        lab_ui_error(v->ui);
}

static bool action(struct lab_screen *s, int act)
{
    struct lab_train_state *v = s->state;
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
        lab_ui_prompt(v->ui, ASK_PROMPT, "prompt: ", v->model.sampling.prompt);
        break;
    case ACT_TEMPERATURE:
        lab_ui_prompt(v->ui, ASK_TEMPERATURE, "temperature: ", NULL);
        break;
    case ACT_STOP:
        if (v->snap.state == LAB_SESSION_TRAINING || v->snap.sampling)
            post(v, LAB_DO_STOP, 0);
        break;
    case ACT_LOG:
        v->log_scale = !lab_train_log(v);
        v->log_chosen = true;
        break;
    default:
        return false;
    }
    refresh(v);
    return true;
}

static void take_temperature(struct lab_train_state *v, const char *text)
{
    char *end;
    double t = strtod(text, &end);
    if (end == text || *end || !(t >= 0 && t <= 100))
        lab_ui_message(v->ui, LAB_ROLE_BAD,
                       "\"%s\" is no temperature from 0 to 100", text);
    else
        v->model.sampling.temperature = t;
}

static void take_prompt(struct lab_train_state *v, const char *text)
{
    snprintf(v->model.sampling.prompt, sizeof(v->model.sampling.prompt), "%s",
             text);
    write_text(v);
}

static void take_iterations(struct lab_train_state *v, const char *text)
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
    struct lab_train_state *v = s->state;
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

static void ask_near(struct lab_train_state *v, const char *question)
{
    struct lab_command cmd = {.kind = LAB_DO_NEAR, .phase = -1};
    snprintf(cmd.text, sizeof(cmd.text), "%s", question);
    if (v->model.post(v->model.user, &cmd))
        lab_ui_error(v->ui);
}

/* The training begins anew with another rate. */
static void change_lr(struct lab_train_state *v, double lr)
{
    char text[LAB_COMMAND_LR_TEXT];
    struct lab_command cmd = {.kind = LAB_DO_RESTART, .phase = -1, .lr = lr};
    if (isnan(lr) || isnan(v->snap.lr)) {
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s",
                       lab_ui_command_lr_text(v->snap.lr, text));
        return;
    }
    if (v->snap.state == LAB_SESSION_TRAINING)
        post(v, LAB_DO_STOP, 0);
    if (v->model.post(v->model.user, &cmd)) {
        lab_ui_error(v->ui);
        return;
    }
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "iteration 0 again, with learning rate %g", lr);
    start(v, v->asked);
}

static bool command(struct lab_screen *s, const struct lab_ui_command *cmd)
{
    struct lab_train_state *v = s->state;
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
    case LAB_COMMAND_LR:
        change_lr(v, cmd->value);
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
    .state_bytes = sizeof(struct lab_train_state),
    .bindings = keys,
    .bindings_now = keys_now,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = lab_train_draw,
    .action = action,
    .tick = tick,
    .command = command,
    .answer = answer,
};
