/* The session's thread, its queue, and the snapshots. */
#include "engine/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/setup.h"
#include "session_priv.h"

/* ---- snapshots ---- */

static void *copy_array(const void *from, size_t count, size_t each)
{
    void *to = lab_alloc_array(count + 1, each);
    if (to && count)
        memcpy(to, from, count * each);
    return to;
}

static void fill_curve(struct lab_curve *out, const struct lab_curve_buffer *c)
{
    out->iteration =
        copy_array(c->iteration, (size_t)c->n, sizeof(*c->iteration));
    out->value = copy_array(c->value, (size_t)c->n, sizeof(*c->value));
    out->n = out->iteration && out->value ? c->n : 0;
}

/* Coordinates of the plane's element (r, c), as a flat index. */
static int64_t plane_index(const struct lab_shape *shape,
                           const struct lab_show *show, int64_t r, int64_t c)
{
    int64_t at[LAB_MAX_RANK];
    memcpy(at, show->fixed, sizeof(at));
    if (show->row_axis >= 0)
        at[show->row_axis] = show->row_first + r;
    if (show->col_axis >= 0)
        at[show->col_axis] = show->col_first + c;
    return lab_shape_ravel(shape, at, shape->rank);
}

static int64_t extent(const struct lab_shape *shape, int axis, int64_t first,
                      int64_t most)
{
    if (axis < 0)
        return 1;
    int64_t n = shape->dim[axis] - first;
    return n < 0 ? 0 : n > most ? most : n;
}

static void copy_plane(struct lab_session *s, struct lab_plane *p,
                       const void *data)
{
    const struct lab_tensor *t = &s->plan->tensors[s->show.tensor];
    p->cols = extent(&t->shape, s->show.col_axis, s->show.col_first,
                     LAB_PLANE_ELEMENTS);
    p->rows = extent(&t->shape, s->show.row_axis, s->show.row_first,
                     LAB_PLANE_ELEMENTS / (p->cols ? p->cols : 1));
    p->value = lab_alloc_array((size_t)(p->rows * p->cols) + 1, sizeof(double));
    if (!p->value) {
        p->rows = p->cols = 0;
        return;
    }
    for (int64_t r = 0; r < p->rows; r++) {
        for (int64_t c = 0; c < p->cols; c++) {
            int64_t i = plane_index(&t->shape, &s->show, r, c);
            p->value[r * p->cols + c] =
                i < 0 ? NAN : lab_element_value(data, t->dtype, i);
        }
    }
}

static void fill_plane(struct lab_session *s, struct lab_plane *p)
{
    p->tensor = -1;
    if (!s->showing)
        return;
    const struct lab_tensor *t = &s->plan->tensors[s->show.tensor];
    void *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!data)
        return;
    if (lab_walk_read(s->walk, s->show.tensor, false, data) == LAB_OK) {
        p->tensor = s->show.tensor;
        p->show = s->show;
        p->written = lab_walk_written(s->walk, p->tensor);
        p->generation = lab_walk_generation(s->walk, p->tensor);
        lab_stats_compute(&p->stats, data, t->dtype, t->count);
        copy_plane(s, p, data);
    }
    lab_free(data);
}

static void fill_steps(struct lab_session *s, struct lab_snapshot *out)
{
    const struct lab_schedule *schedule = out->schedule;
    out->steps =
        lab_alloc_array((size_t)schedule->n_steps + 1, sizeof(*out->steps));
    for (int i = 0; out->steps && i < schedule->n_steps; i++) {
        struct lab_step_status *st = &out->steps[i];
        lab_walk_step_status(s->walk, i, &st->exec, &st->time_ns);
        st->done = i < out->position;
    }
}

static void fill_walk(struct lab_session *s, struct lab_snapshot *out)
{
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(s->walk), &facts);
    out->plan = s->plan;
    out->schedule = lab_schedule_retain(lab_walk_schedule(s->walk));
    lab_backend_info(lab_walk_backend(s->walk), &out->device);
    out->iteration = lab_walk_iteration(s->walk);
    out->position = lab_walk_position(s->walk);
    out->loss = lab_walk_loss(s->walk);
    out->iterations_per_epoch = facts.batches_per_epoch;
    if (facts.batches_per_epoch > 0)
        out->epoch = out->iteration / facts.batches_per_epoch;
    fill_steps(s, out);
    fill_plane(s, &out->plane);
    if (s->explaining)
        lab_walk_explain(s->walk, s->element.tensor, s->element.index,
                         &out->explanation);
}

static void fill_training(struct lab_session *s, struct lab_snapshot *out)
{
    double seconds =
        (double)(lab_clock_monotonic_ns() - s->train_start_ns) / 1e9;
    int64_t batch = s->plan ? s->plan->batch : 0;
    out->train_target = s->train_target;
    out->train_done = s->train_done;
    out->samples_per_s = out->seconds_left = NAN;
    if (s->train_done > 0 && seconds > 0) {
        double rate = (double)s->train_done / seconds;
        if (s->state == LAB_SESSION_TRAINING) {
            out->samples_per_s = rate * (double)batch;
            out->seconds_left =
                (double)(s->train_target - s->train_done) / rate;
        }
    }
    out->accuracy = s->accuracy;
    out->step_ms_median = lab_session_median_ms(s);
    fill_curve(&out->losses, &s->losses);
    fill_curve(&out->accuracies, &s->accuracies);
}

void lab_session_publish(struct lab_session *s)
{
    struct lab_snapshot next = {.state = s->state,
                                .loss = NAN,
                                .error_code = s->error_code,
                                .n_breaks = s->n_breaks,
                                .n_checks = s->n_checks};
    next.explanation.tensor = next.explanation.step = next.plane.tensor = -1;
    snprintf(next.backend, sizeof(next.backend), "%s", s->backend);
    memcpy(next.stop_reason, s->stop_reason, sizeof(next.stop_reason));
    memcpy(next.error, s->error, sizeof(next.error));
    memcpy(next.notice, s->notice, sizeof(next.notice));
    memcpy(next.breaks, s->breaks, sizeof(next.breaks));
    next.checks =
        copy_array(s->checks, (size_t)s->n_checks, sizeof(*s->checks));
    if (!next.checks)
        next.n_checks = 0;
    if (s->walk)
        fill_walk(s, &next);
    fill_training(s, &next);
    s->last_publish_ns = lab_clock_monotonic_ns();
    pthread_mutex_lock(&s->lock);
    next.version = atomic_load(&s->version) + 1;
    struct lab_snapshot old = s->latest;
    s->latest = next;
    atomic_store(&s->version, next.version);
    pthread_mutex_unlock(&s->lock);
    lab_snapshot_release(&old);
    if (s->wake)
        s->wake(s->wake_user);
}

void lab_snapshot_release(struct lab_snapshot *snap)
{
    lab_schedule_release(snap->schedule);
    lab_free(snap->steps);
    lab_free(snap->plane.value);
    lab_explanation_release(&snap->explanation);
    lab_free(snap->checks);
    lab_free(snap->losses.iteration);
    lab_free(snap->losses.value);
    lab_free(snap->accuracies.iteration);
    lab_free(snap->accuracies.value);
    *snap = (struct lab_snapshot){0};
    snap->plane.tensor = snap->explanation.tensor = -1;
}

static char *copy_text(const char *text)
{
    return text ? lab_strdup(text) : NULL;
}

static void copy_explanation(struct lab_explanation *to,
                             const struct lab_explanation *from)
{
    *to = *from;
    to->name = copy_text(from->name);
    to->symbolic = copy_text(from->symbolic);
    to->numeric = copy_text(from->numeric);
    to->terms = NULL;
    if (from->terms)
        to->terms = copy_array(from->terms, (size_t)from->n_terms,
                               sizeof(*from->terms));
    if (!to->terms)
        to->n_terms = 0;
}

static void copy_curve(struct lab_curve *c)
{
    size_t n = (size_t)c->n;
    c->iteration = copy_array(c->iteration, n, sizeof(*c->iteration));
    c->value = copy_array(c->value, n, sizeof(*c->value));
    if (!c->iteration || !c->value)
        c->n = 0;
}

static void copy_snapshot(struct lab_snapshot *to,
                          const struct lab_snapshot *from)
{
    *to = *from;
    lab_schedule_retain(to->schedule);
    int n = from->schedule ? from->schedule->n_steps : 0;
    if (from->steps)
        to->steps = copy_array(from->steps, (size_t)n, sizeof(*from->steps));
    if (from->plane.value)
        to->plane.value = copy_array(
            from->plane.value, (size_t)(from->plane.rows * from->plane.cols),
            sizeof(double));
    if (!to->plane.value)
        to->plane.rows = to->plane.cols = 0;
    copy_explanation(&to->explanation, &from->explanation);
    to->checks =
        copy_array(from->checks, (size_t)from->n_checks, sizeof(*from->checks));
    if (!to->checks)
        to->n_checks = 0;
    copy_curve(&to->losses);
    copy_curve(&to->accuracies);
}

enum lab_status lab_session_snapshot(struct lab_session *s,
                                     struct lab_snapshot *out)
{
    pthread_mutex_lock(&s->lock);
    copy_snapshot(out, &s->latest);
    pthread_mutex_unlock(&s->lock);
    if (out->schedule && !out->steps) {
        lab_snapshot_release(out);
        return lab_fail(LAB_E_NOMEM, "no memory for a snapshot");
    }
    return LAB_OK;
}

int64_t lab_session_version(struct lab_session *s)
{
    return atomic_load(&s->version);
}

void lab_session_say_error(struct lab_session *s, enum lab_status st)
{
    s->error_code = st;
    snprintf(s->error, sizeof(s->error), "%s", st ? lab_error() : "");
}

/* ---- start ---- */

/* The lesson's choices that hold here go before the caller's. */
static void keep_choices(struct lab_session *s, struct lab_str *notice)
{
    struct lab_variant_choice lesson[LAB_MAX_CHOICES];
    struct lab_owned_choice given[LAB_MAX_CHOICES];
    int n_given = s->n_choices;
    memcpy(given, s->choices, sizeof(given));
    s->n_choices = lab_setup_lesson_choices(s->walk, &s->spec, lesson,
                                            LAB_MAX_CHOICES, notice);
    for (int i = 0; i < s->n_choices; i++) {
        snprintf(s->choices[i].target, LAB_COMMAND_TEXT, "%s",
                 lesson[i].target);
        snprintf(s->choices[i].variant, LAB_COMMAND_TEXT, "%s",
                 lesson[i].variant);
    }
    for (int i = 0; i < n_given && s->n_choices < LAB_MAX_CHOICES; i++)
        s->choices[s->n_choices++] = given[i];
}

static void add_lesson_breaks(struct lab_session *s)
{
    for (int i = 0; i < s->spec.n_breaks; i++) {
        const struct lab_break_spec *b = &s->spec.breaks[i];
        struct lab_break_info info = {
            .kind = b->kind, .phase = b->phase, .value = b->value};
        snprintf(info.step, sizeof(info.step), "%s", b->step ? b->step : "");
        lab_session_add_break(s, &info);
    }
}

static enum lab_status open_walk(struct lab_session *s)
{
    struct lab_str notice;
    struct lab_setup setup = {.spec = &s->spec,
                              .backend = s->backend,
                              .device = s->device,
                              .batch = s->batch,
                              .data = s->data,
                              .prepare = s->hooks.prepare,
                              .user = s->hooks.user};
    lab_str_init(&notice);
    enum lab_status st = lab_setup_open(&setup, &s->walk, &s->plan, &notice);
    if (!st) {
        struct lab_str ignored;
        lab_str_init(&ignored); /* setup has said it already */
        keep_choices(s, &ignored);
        lab_str_release(&ignored);
        st = lab_session_apply_choices(s);
        if (st == LAB_E_NOTFOUND) /* as setup has it */
            st = lab_fail(LAB_E_USAGE, "%s", lab_error());
    }
    snprintf(s->notice, sizeof(s->notice), "%s", lab_str_text(&notice));
    lab_str_release(&notice);
    if (st)
        return st;
    snprintf(s->backend, sizeof(s->backend), "%s",
             lab_walk_backend(s->walk)->ops->name);
    if (s->hooks.opened)
        s->hooks.opened(s->hooks.user, s->walk);
    return LAB_OK;
}

static void start(struct lab_session *s)
{
    enum lab_status st = open_walk(s);
    if (st) {
        lab_session_say_error(s, st);
        s->state = LAB_SESSION_FAILED;
        lab_session_publish(s);
        return;
    }
    add_lesson_breaks(s);
    for (int i = 0; i < s->spec.n_watch; i++) {
        struct lab_break_info info = {.watch = true, .phase = -1};
        snprintf(info.step, sizeof(info.step), "%s", s->spec.watch[i]);
        lab_session_add_break(s, &info);
    }
    lab_walk_run_begin(s->walk, s->spec.title ? s->spec.title : "lesson");
    s->state = LAB_SESSION_IDLE;
    lab_session_publish(s);
}

/* ---- the queue ---- */

static bool take(struct lab_session *s, bool quick_only,
                 struct lab_command *out)
{
    struct lab_queued *before = NULL;
    struct lab_queued *q = s->first;
    while (q && quick_only && !lab_session_is_quick(q->command.kind)) {
        before = q;
        q = q->next;
    }
    if (!q)
        return false;
    if (before)
        before->next = q->next;
    else
        s->first = q->next;
    if (s->last == q)
        s->last = before;
    *out = q->command;
    lab_free(q);
    return true;
}

void lab_session_serve_quick(struct lab_session *s)
{
    struct lab_command c;
    bool any = false;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        bool got = take(s, true, &c);
        pthread_mutex_unlock(&s->lock);
        if (!got)
            break;
        any = true;
        lab_session_do(s, &c);
    }
    if (any)
        lab_session_publish(s);
}

static void *engine_main(void *user)
{
    struct lab_session *s = user;
    start(s);
    pthread_mutex_lock(&s->lock);
    while (!s->quit) {
        struct lab_command c;
        if (!take(s, false, &c)) {
            s->busy = false;
            pthread_cond_broadcast(&s->changed);
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        s->busy = true;
        pthread_mutex_unlock(&s->lock);
        if (s->state != LAB_SESSION_FAILED) {
            lab_session_say_error(s, LAB_OK);
            lab_session_do(s, &c);
            s->state = LAB_SESSION_IDLE;
            lab_session_publish(s);
        }
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    if (s->walk)
        lab_walk_run_end(s->walk);
    if (s->walk && s->hooks.closing)
        s->hooks.closing(s->hooks.user, s->walk);
    return NULL;
}

enum lab_status lab_session_post(struct lab_session *s,
                                 const struct lab_command *command)
{
    if (command->kind == LAB_DO_STOP) { /* what runs looks at the flag */
        atomic_store(&s->cancel, true);
        return LAB_OK;
    }
    struct lab_queued *q = lab_alloc(sizeof(*q));
    if (!q)
        return lab_fail(LAB_E_NOMEM, "no memory for a command");
    q->command = *command;
    pthread_mutex_lock(&s->lock);
    if (s->last)
        s->last->next = q;
    else
        s->first = q;
    s->last = q;
    s->busy = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return LAB_OK;
}

enum lab_status lab_session_wait(struct lab_session *s, int64_t timeout_ns)
{
    struct timespec until;
    int64_t end = lab_clock_wall_ns() + timeout_ns;
    int rc = 0;
    until.tv_sec = (time_t)(end / 1000000000);
    until.tv_nsec = (long)(end % 1000000000);
    pthread_mutex_lock(&s->lock);
    while (s->busy && rc != ETIMEDOUT) {
        if (timeout_ns < 0)
            pthread_cond_wait(&s->changed, &s->lock);
        else
            rc = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    }
    bool busy = s->busy;
    pthread_mutex_unlock(&s->lock);
    return busy ? lab_fail(LAB_E_CANCELLED, "still busy") : LAB_OK;
}

int lab_session_variant_names(struct lab_session *s, int node,
                              const char **names, int max)
{
    pthread_mutex_lock(&s->lock);
    const struct lab_plan *plan = s->latest.plan;
    pthread_mutex_unlock(&s->lock);
    if (!plan || node < 0 || node >= plan->n_nodes)
        return 0;
    /* Tables and plan are fixed once the first snapshot has them. */
    return lab_backend_variant_names(lab_walk_backend(s->walk), plan->real,
                                     plan->nodes[node].op->name, names, max);
}

/* ---- life ---- */

static void configure(struct lab_session *s, const struct lab_session_config *c)
{
    s->spec = *c->spec;
    if (c->seed_given)
        s->spec.seed = c->seed;
    snprintf(s->backend, sizeof(s->backend), "%s", c->backend);
    s->device = c->device;
    s->batch = c->batch;
    s->hooks = c->hooks;
    s->wake = c->wake;
    s->wake_user = c->wake_user;
    s->accuracy = NAN;
    s->next_break = 1;
    for (int i = 0; i < c->n_choices && i < LAB_MAX_CHOICES; i++) {
        struct lab_owned_choice *o = &s->choices[s->n_choices++];
        snprintf(o->target, sizeof(o->target), "%s", c->choices[i].target);
        snprintf(o->variant, sizeof(o->variant), "%s", c->choices[i].variant);
    }
    s->latest.loss = s->latest.accuracy = NAN;
    s->latest.plane.tensor = s->latest.explanation.tensor = -1;
}

static void destroy(struct lab_session *s)
{
    struct lab_command ignored;
    while (take(s, false, &ignored))
        continue;
    lab_walk_free(s->walk);
    lab_snapshot_release(&s->latest);
    lab_plan_free(s->plan);
    lab_free(s->checks);
    lab_free(s->iteration_ms);
    lab_free(s->data);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    lab_free(s);
}

enum lab_status lab_session_new(struct lab_session **out,
                                const struct lab_session_config *config)
{
    struct lab_session *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_fail(LAB_E_NOMEM, "no memory for a session");
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    configure(s, config);
    s->iteration_ms = lab_alloc_array(LAB_TIMES_KEPT, sizeof(double));
    if (config->data)
        s->data = lab_strdup(config->data);
    s->busy = true; /* until it has started */
    bool ready = s->iteration_ms && (s->data || !config->data);
    if (!ready || pthread_create(&s->thread, NULL, engine_main, s)) {
        destroy(s);
        return lab_fail(LAB_E_NOMEM, "cannot start the engine's thread");
    }
    *out = s;
    return LAB_OK;
}

void lab_session_free(struct lab_session *s)
{
    if (!s)
        return;
    atomic_store(&s->cancel, true);
    pthread_mutex_lock(&s->lock);
    s->quit = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    destroy(s);
}
