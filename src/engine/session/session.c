/* The session: its thread, its queue, and the table of what each command does. */
#include "engine/session.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "engine/setup.h"
#include "session_priv.h"

typedef void handler_fn(struct lab_session *s, const struct lab_command *c);

/* What each command does. A quick one also runs in the middle of a slow one, a
 * long one shows in the state and holds no keys up. LAB_DO_STOP waits in no
 * queue. */
static const struct {
    handler_fn *run;
    bool quick;
    bool takes_long;
} handlers[LAB_DO_STOP] = {
    [LAB_DO_STEP] = {lab_session_move},
    [LAB_DO_NEXT] = {lab_session_move},
    [LAB_DO_FINISH] = {lab_session_move},
    [LAB_DO_CONTINUE] = {lab_session_move},
    [LAB_DO_RUN_TO] = {lab_session_move},
    [LAB_DO_BACK] = {lab_session_back},
    [LAB_DO_RESTART] = {lab_session_restart},
    [LAB_DO_TRAIN] = {lab_session_train, .takes_long = true},
    [LAB_DO_BREAK] = {lab_session_break, .quick = true},
    [LAB_DO_DELETE] = {lab_session_delete, .quick = true},
    [LAB_DO_WATCH] = {lab_session_break, .quick = true},
    [LAB_DO_UNWATCH] = {lab_session_delete, .quick = true},
    [LAB_DO_VARIANT] = {lab_session_choose},
    [LAB_DO_SHOW] = {lab_session_show, .quick = true},
    [LAB_DO_EXPLAIN] = {lab_session_explain, .quick = true},
    [LAB_DO_NEAR] = {lab_session_near, .quick = true},
    [LAB_DO_CHECK] = {lab_session_check, .takes_long = true},
    [LAB_DO_SAMPLE] = {lab_session_sample, .quick = true, .takes_long = true},
    [LAB_DO_COUNT] = {lab_session_count, .takes_long = true},
    [LAB_DO_TRACE] = {lab_session_trace},
};

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

static void add_notice(struct lab_session *s, const char *what)
{
    size_t used = strlen(s->notice);
    bool line = used > 0 && s->notice[used - 1] != '\n';
    snprintf(s->notice + used, sizeof(s->notice) - used, "%s%s: %s\n",
             line ? "\n" : "", what, lab_error());
}

static void add_lesson_breaks(struct lab_session *s)
{
    for (int i = 0; i < s->spec.n_breaks; i++) {
        const struct lab_break_spec *b = &s->spec.breaks[i];
        struct lab_break_info info = {.kind = b->kind,
                                      .phase = b->phase,
                                      .value = b->value,
                                      .lesson = true};
        snprintf(info.step, sizeof(info.step), "%s", b->step ? b->step : "");
        if (lab_session_add_break(s, &info))
            add_notice(s, "the lesson's breakpoint is left out");
    }
    for (int i = 0; i < s->spec.n_watch; i++) {
        struct lab_break_info info = {
            .watch = true, .phase = -1, .lesson = true};
        snprintf(info.step, sizeof(info.step), "%s", s->spec.watch[i]);
        if (lab_session_add_break(s, &info))
            add_notice(s, "the lesson's watch is left out");
    }
}

static bool is_stopped(void *user)
{
    struct lab_session *s = user;
    return atomic_load(&s->cancel);
}

static enum lab_status open_walk(struct lab_session *s)
{
    struct lab_str notice;
    lab_str_init(&notice);
    enum lab_status st = lab_setup_open(&s->setup, &s->walk, &s->plan, &notice);
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
        lab_session_fail(s, st);
        s->state = LAB_SESSION_FAILED;
        lab_session_publish(s);
        return;
    }
    add_lesson_breaks(s);
    lab_session_begin_run(s);
    s->state = LAB_SESSION_IDLE;
    lab_session_publish(s);
}

/* ---- the queue ---- */

static bool take(struct lab_session *s, bool quick_only,
                 struct lab_command *out)
{
    struct lab_queued *before = NULL;
    struct lab_queued *q = s->first;
    while (q && quick_only && !handlers[q->command.kind].quick) {
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
    /* Here, under the lock: a stop or the session's end that comes from now on
     * is meant for this command and must not be wiped away by its start. */
    if (!quick_only)
        atomic_store(&s->cancel, q->stopped);
    lab_free(q);
    return true;
}

static void perform(struct lab_session *s, const struct lab_command *c)
{
    if (!handlers[c->kind].quick)
        s->stop_reason[0] = '\0';
    handlers[c->kind].run(s, c);
    s->finished += !handlers[c->kind].takes_long;
}

/* Commands that may run while something else does (looking, breaks); the others
 * stay queued. */
static void serve_quick(struct lab_session *s)
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
        perform(s, &c);
    }
    if (any)
        lab_session_publish(s);
}

static void *engine_main(void *user)
{
    struct lab_session *s = user;
    start(s);
    pthread_mutex_lock(&s->lock);
    while (!atomic_load(&s->quit)) {
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
            lab_session_fail(s, LAB_OK);
            if (!handlers[c.kind].quick)
                s->n_checks = 0; /* they were of the state that it leaves */
            perform(s, &c);
            s->state = LAB_SESSION_IDLE;
            lab_session_publish(s);
        }
        pthread_mutex_lock(&s->lock);
        if (s->state == LAB_SESSION_FAILED)
            s->pending = 0;
    }
    pthread_mutex_unlock(&s->lock);
    if (s->walk)
        lab_walk_run_end(s->walk);
    if (s->walk && s->hooks.closing)
        s->hooks.closing(s->hooks.user, s->walk);
    pthread_mutex_lock(&s->lock);
    s->busy = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* What runs looks at the flag; what waits is told when it is taken. */
static void stop(struct lab_session *s)
{
    pthread_mutex_lock(&s->lock);
    for (struct lab_queued *q = s->first; q; q = q->next)
        q->stopped = true;
    atomic_store(&s->cancel, true);
    pthread_mutex_unlock(&s->lock);
}

enum lab_status lab_session_post(struct lab_session *s,
                                 const struct lab_command *command)
{
    if (command->kind == LAB_DO_STOP) {
        stop(s);
        return LAB_OK;
    }
    struct lab_queued *q = lab_alloc(sizeof(*q));
    if (!q)
        return lab_no_memory("a command");
    q->command = *command;
    pthread_mutex_lock(&s->lock);
    if (atomic_load(&s->quit)) {
        pthread_mutex_unlock(&s->lock);
        lab_free(q);
        return lab_fail(LAB_E_STATE, "the session has ended");
    }
    if (s->last)
        s->last->next = q;
    else
        s->first = q;
    s->last = q;
    s->busy = true;
    s->pending += !handlers[command->kind].takes_long;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return LAB_OK;
}

enum lab_status lab_session_wait(struct lab_session *s, int64_t timeout_ns)
{
    struct timespec until;
    int64_t now = lab_clock_monotonic_ns();
    int64_t end = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
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

bool lab_session_pending(struct lab_session *s)
{
    pthread_mutex_lock(&s->lock);
    bool pending = s->pending > 0;
    pthread_mutex_unlock(&s->lock);
    return pending;
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
    s->spec = *c->setup.spec;
    s->setup = c->setup;
    s->setup.spec = &s->spec;
    s->setup.backend = s->backend;
    s->setup.data = s->data;
    s->setup.stop = (struct lab_stop){is_stopped, s};
    s->setup.choices = NULL; /* they come after the lesson's: open_walk() */
    s->setup.n_choices = 0;
    snprintf(s->backend, sizeof(s->backend), "%s", c->setup.backend);
    s->hooks = c->hooks;
    s->serve_quick = serve_quick;
    s->wake = c->wake;
    s->wake_user = c->wake_user;
    s->accuracy = s->exact = s->bits_per_char = s->bits_order3 = NAN;
    s->next_break = 1;
    for (int i = 0; i < c->setup.n_choices && i < LAB_MAX_CHOICES; i++) {
        struct lab_owned_choice *o = &s->choices[s->n_choices++];
        snprintf(o->target, sizeof(o->target), "%s",
                 c->setup.choices[i].target);
        snprintf(o->variant, sizeof(o->variant), "%s",
                 c->setup.choices[i].variant);
    }
    s->latest.loss = s->latest.accuracy = s->latest.exact = NAN;
    s->latest.bits_per_char = s->latest.bits_order3 = NAN;
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
    lab_str_release(&s->sample);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    lab_free(s);
}

/* It waits on the clock that nobody sets. */
static void init_changed(pthread_cond_t *changed)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &attr);
    pthread_condattr_destroy(&attr);
}

enum lab_status lab_session_new(struct lab_session **out,
                                const struct lab_session_config *config)
{
    if (config->setup.n_choices + config->setup.spec->n_variants >
        LAB_MAX_CHOICES)
        return lab_fail(LAB_E_USAGE, "more than %d variants chosen",
                        LAB_MAX_CHOICES);
    struct lab_session *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_no_memory("a session");
    pthread_mutex_init(&s->lock, NULL);
    init_changed(&s->changed);
    s->iteration_ms = lab_alloc_array(LAB_TIMES_KEPT, sizeof(double));
    if (config->setup.data)
        s->data = lab_strdup(config->setup.data);
    configure(s, config);
    s->busy = true; /* until it has started */
    bool ready = s->iteration_ms && (s->data || !config->setup.data);
    if (!ready || lab_thread_start(&s->thread, engine_main, s)) {
        destroy(s);
        return lab_fail(LAB_E_NOMEM, "cannot start the engine's thread");
    }
    *out = s;
    return LAB_OK;
}

void lab_session_end(struct lab_session *s)
{
    pthread_mutex_lock(&s->lock);
    bool ended = atomic_exchange(&s->quit, true);
    atomic_store(&s->cancel, true);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (!ended)
        pthread_join(s->thread, NULL);
}

void lab_session_free(struct lab_session *s)
{
    if (!s)
        return;
    lab_session_end(s);
    destroy(s);
}
