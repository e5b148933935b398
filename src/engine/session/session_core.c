/* The floor of a session: its curves, its error, and its snapshots, the copies
 * that views see, published by the engine's thread. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session_priv.h"

void lab_session_fail(struct lab_session *s, enum lab_status st)
{
    s->error_code = st;
    snprintf(s->error, sizeof(s->error), "%s", st ? lab_error() : "");
}

void lab_session_begin_run(struct lab_session *s)
{
    lab_walk_run_begin(s->walk, s->spec.title ? s->spec.title : "lesson");
}

/* ---- curves and times ---- */

void lab_curve_add(struct lab_curve_buffer *c, int64_t iteration, double value)
{
    if (c->every == 0)
        c->every = 1;
    c->last_iteration = iteration;
    c->last_value = value;
    if (c->seen++ % c->every != 0)
        return;
    if (c->n == LAB_CURVE_POINTS) { /* keep every other point from now on */
        for (int i = 0; i < LAB_CURVE_POINTS / 2; i++) {
            c->iteration[i] = c->iteration[2 * i];
            c->value[i] = c->value[2 * i];
        }
        c->n /= 2;
        c->every *= 2;
        if ((c->seen - 1) % c->every != 0)
            return;
    }
    c->iteration[c->n] = iteration;
    c->value[c->n++] = value;
}

static double median_ms(const struct lab_session *s)
{
    double sorted[LAB_TIMES_KEPT];
    int64_t n =
        s->n_iteration_ms < LAB_TIMES_KEPT ? s->n_iteration_ms : LAB_TIMES_KEPT;
    memcpy(sorted, s->iteration_ms, (size_t)n * sizeof(*sorted));
    return lab_median(sorted, (size_t)n);
}

/* ---- snapshots ---- */

static void *copy_array(const void *from, size_t count, size_t each)
{
    void *to = lab_alloc_array(count + 1, each);
    if (to && count)
        memcpy(to, from, count * each);
    return to;
}

/* The curve always ends with the newest value: thinning must not make a view
 * show an older one as the last. */
static void fill_curve(struct lab_curve *out, const struct lab_curve_buffer *c)
{
    size_t n = (size_t)c->n;
    bool tail = n > 0 && c->iteration[n - 1] != c->last_iteration;
    out->iteration = lab_alloc_array(n + 1, sizeof(*out->iteration));
    out->value = lab_alloc_array(n + 1, sizeof(*out->value));
    if (!out->iteration || !out->value)
        return;
    memcpy(out->iteration, c->iteration, n * sizeof(*out->iteration));
    memcpy(out->value, c->value, n * sizeof(*out->value));
    out->iteration[n] = c->last_iteration;
    out->value[n] = c->last_value;
    out->n = c->n + tail;
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
                i < 0 ? NAN : lab_number_at(data, t->dtype, i);
        }
    }
}

/* What the memory holds is not the tensor: of another iteration, or nothing's. */
static void forget_values(struct lab_plane *p)
{
    p->stats = (struct lab_stats){.count = p->stats.count,
                                  .min = NAN,
                                  .max = NAN,
                                  .mean = NAN,
                                  .std = NAN};
    for (int64_t i = 0; i < p->rows * p->cols && p->value; i++)
        p->value[i] = NAN;
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
        if (!p->value)
            p->tensor = -1; /* as without memory for `data` */
        if (!p->written)
            forget_values(p);
        if (p->value)
            lab_plane_label(s->walk, p);
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
        st->ran = lab_walk_step_ran(s->walk, i);
        st->done = i < out->position;
    }
}

/* Not while training: the numbers are gone before they are read, and an
 * explanation may have to run the iteration again. */
static void fill_explanation(struct lab_session *s, struct lab_snapshot *out)
{
    if (!s->explaining || s->state == LAB_SESSION_TRAINING)
        return;
    enum lab_status st = lab_walk_explain(s->walk, s->element.tensor,
                                          s->element.index, &out->explanation);
    if (!st || out->error_code) /* the command's own error goes first */
        return;
    out->error_code = st;
    snprintf(out->error, sizeof(out->error), "%s", lab_error());
}

static void fill_walk(struct lab_session *s, struct lab_snapshot *out)
{
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(s->walk), &facts);
    out->plan = s->plan;
    out->lr = lab_plan_lr(s->plan);
    out->words = lab_data_words(lab_walk_data(s->walk));
    out->near = s->near;
    out->schedule = lab_schedule_retain(lab_walk_schedule(s->walk));
    lab_backend_info(lab_walk_backend(s->walk), &out->device);
    out->iteration = lab_walk_iteration(s->walk);
    out->position = lab_walk_position(s->walk);
    out->loss = lab_walk_loss(s->walk);
    out->iterations_per_epoch = facts.batches_per_epoch;
    out->text = facts.text;
    if (facts.batches_per_epoch > 0)
        out->epoch = out->iteration / facts.batches_per_epoch;
    fill_steps(s, out);
    if (atomic_load(&s->quit))
        return; /* they may take many iterations, and the screen has gone */
    fill_plane(s, &out->plane);
    fill_explanation(s, out);
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
    out->bits_per_char = s->bits_per_char;
    out->bits_order3 = s->bits_order3;
    out->exact = s->exact;
    memcpy(out->decoded, s->decoded, sizeof(out->decoded));
    out->step_ms_median = median_ms(s);
    fill_curve(&out->losses, &s->losses);
    fill_curve(&out->accuracies, &s->accuracies);
    fill_curve(&out->bits, &s->bits);
    fill_curve(&out->held, &s->held);
}

static void fill_sample(struct lab_session *s, struct lab_snapshot *out)
{
    out->sampling = s->sampling;
    out->sample_iteration = s->sample_iteration;
    if (s->sample.len)
        out->sample = lab_strdup(lab_str_text(&s->sample));
}

void lab_session_publish(struct lab_session *s)
{
    struct lab_snapshot next = {.state = s->state,
                                .loss = NAN,
                                .error_code = s->error_code,
                                .n_breaks = s->n_breaks,
                                .n_checks = s->n_checks,
                                .check_done = s->check_done,
                                .check_of = s->check_of};
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
    fill_sample(s, &next);
    s->last_publish_ns = lab_clock_monotonic_ns();
    pthread_mutex_lock(&s->lock);
    next.version = atomic_load(&s->version) + 1;
    struct lab_snapshot old = s->latest;
    s->latest = next;
    s->pending -= s->finished;
    s->finished = 0;
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
    lab_free(snap->plane.row_label);
    lab_free(snap->plane.col_label);
    lab_explanation_release(&snap->explanation);
    lab_free(snap->checks);
    lab_free(snap->losses.iteration);
    lab_free(snap->losses.value);
    lab_free(snap->accuracies.iteration);
    lab_free(snap->accuracies.value);
    lab_free(snap->held.iteration);
    lab_free(snap->held.value);
    lab_free(snap->bits.iteration);
    lab_free(snap->bits.value);
    lab_free(snap->sample);
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
    to->where = copy_text(from->where);
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
    if (from->plane.row_label)
        to->plane.row_label =
            copy_array(from->plane.row_label, (size_t)from->plane.rows,
                       sizeof(struct lab_label));
    if (from->plane.col_label)
        to->plane.col_label =
            copy_array(from->plane.col_label, (size_t)from->plane.cols,
                       sizeof(struct lab_label));
    if (!to->plane.value)
        to->plane.rows = to->plane.cols = 0;
    copy_explanation(&to->explanation, &from->explanation);
    to->checks =
        copy_array(from->checks, (size_t)from->n_checks, sizeof(*from->checks));
    if (!to->checks)
        to->n_checks = 0;
    copy_curve(&to->losses);
    copy_curve(&to->accuracies);
    copy_curve(&to->bits);
    copy_curve(&to->held);
    to->sample = copy_text(from->sample);
}

enum lab_status lab_session_snapshot(struct lab_session *s,
                                     struct lab_snapshot *out)
{
    pthread_mutex_lock(&s->lock);
    copy_snapshot(out, &s->latest);
    bool whole = (!out->schedule || out->steps) &&
                 (!s->latest.plane.value || out->plane.value);
    pthread_mutex_unlock(&s->lock);
    if (!whole) {
        lab_snapshot_release(out);
        return lab_no_memory("a snapshot");
    }
    return LAB_OK;
}

int64_t lab_session_version(struct lab_session *s)
{
    return atomic_load(&s->version);
}
