#include "lab_screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/thread.h"
#include "cmd.h"
#include "lab_screen_priv.h"
#include "lesson/catalog.h"
#include "lesson_doc.h"
#include "base/signals.h"
#include "ui/ui.h"
#include "ui/views.h"

/* Under the lock. */
void lab_bench_screen_changed(struct lab_bench_screen *s)
{
    s->ui.version++;
    if (s->screen)
        lab_ui_wake(s->screen);
}

/* ---- the screen's side ---- */

/* "0.1.0" */
static int64_t version(void *user)
{
    struct lab_bench_screen *s = user;
    pthread_mutex_lock(&s->lock);
    int64_t v = s->ui.version;
    pthread_mutex_unlock(&s->lock);
    return v;
}

static enum lab_status snapshot(void *user, struct lab_ui_lab *out)
{
    struct lab_bench_screen *s = user;
    pthread_mutex_lock(&s->lock);
    enum lab_status st = lab_ui_lab_copy(out, &s->ui);
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* The lab of a set, when the UI's thread may touch it. Under the lock. */
static enum lab_status take_lab(struct lab_bench_screen *s, int set,
                                struct lab_bench **out)
{
    if (s->ui.running >= 0)
        return lab_fail(LAB_E_STATE, "it is running: x stops it");
    if (set < 0 || set >= s->ui.set_count || !s->ui.sets[set].runs)
        return lab_fail(LAB_E_STATE, "these are recorded results");
    *out = s->labs[set];
    return LAB_OK;
}

static enum lab_status run(void *user, int set)
{
    struct lab_bench_screen *s = user;
    struct lab_bench *lab = NULL;
    pthread_mutex_lock(&s->lock);
    enum lab_status st = take_lab(s, set, &lab);
    if (!st)
        st = lab_bench_model_plan(&s->ui, set, lab);
    if (!st) {
        s->ui.running = set;
        s->ui.at_size = -1;
        s->ui.done = 0;
        s->timed = 0;
        s->ui.elapsed_ns = 0;
        s->ui.total = (int64_t)lab->n_rungs * lab->n_sizes;
        s->ui.problem[0] = '\0';
        s->want = set;
        atomic_store(&s->stop, false);
        lab_bench_screen_changed(s);
        pthread_cond_signal(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void stop(void *user)
{
    struct lab_bench_screen *s = user;
    atomic_store(&s->stop, true);
    pthread_mutex_lock(&s->lock);
    if (s->ui.running >= 0)
        snprintf(s->ui.doing, sizeof(s->ui.doing), "stopping after this call");
    lab_bench_screen_changed(s);
    pthread_mutex_unlock(&s->lock);
}

static enum lab_status sizes(void *user, int set, const char *list)
{
    struct lab_bench_screen *s = user;
    struct lab_bench *lab = NULL;
    pthread_mutex_lock(&s->lock);
    enum lab_status st = take_lab(s, set, &lab);
    if (!st)
        st = lab_bench_take_sizes(lab, list);
    if (!st)
        st = lab_bench_model_plan(&s->ui, set, lab);
    if (!st) {
        snprintf(s->ui.sets[set].sizes, sizeof(s->ui.sets[set].sizes), "%s",
                 list);
        lab_bench_model_beside(&s->ui, lab->ladder);
        lab_bench_screen_changed(s);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static enum lab_status predict(void *user, int set, const char *rung,
                               const char *size, const char *text)
{
    struct lab_bench_screen *s = user;
    struct lab_bench *lab = NULL;
    struct lab_prediction said = {.rung = "best"};
    pthread_mutex_lock(&s->lock);
    enum lab_status st = take_lab(s, set, &lab);
    if (!st)
        st = lab_prediction_parse(s->ui.unit, text, &said.what);
    if (rung)
        snprintf(said.rung, sizeof(said.rung), "%s", rung);
    snprintf(said.size, sizeof(said.size), "%s", size);
    if (!st)
        st = lab_bench_add_prediction(lab, &said);
    if (!st) {
        lab_bench_model_prediction(&s->ui, set, lab->said, lab->n_said);
        lab_bench_screen_changed(s);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static enum lab_status source(void *user, const char *file, const char **text,
                              size_t *bytes)
{
    struct lab_bench_screen *s = user;
    if (!file[0])
        return lab_fail(LAB_E_NOTFOUND,
                        "the source of this rung is not known here: the CUDA "
                        "module has its table");
    lab_str_release(&s->source);
    lab_str_init(&s->source);
    enum lab_status st = lab_lesson_source(file, &s->source);
    if (st)
        return st;
    *text = lab_str_text(&s->source);
    *bytes = s->source.len;
    return LAB_OK;
}

static enum lab_status write_text(void *user, struct lab_doc *out)
{
    struct lab_bench_screen *s = user;
    return lab_lesson_doc(s->lesson, s->screen && lab_ui_is_ascii(s->screen),
                          NULL, out);
}

/* ---- life ---- */

bool lab_bench_screen_is(const char *name)
{
    struct lab_lesson *lesson = NULL;
    if (lab_lesson_open(&lesson, name))
        return false;
    bool is = lesson->kind == LAB_LESSON_LAB;
    lab_lesson_free(lesson);
    return is;
}

static void fill_model(struct lab_bench_screen *s)
{
    s->model = (struct lab_bench_model){.user = s,
                                        .title = s->lesson->title,
                                        .version = version,
                                        .snapshot = snapshot,
                                        .run = run,
                                        .stop = stop,
                                        .sizes = sizes,
                                        .predict = predict,
                                        .source = source,
                                        .write_text = write_text};
}

static enum lab_status start(struct lab_bench_screen *s,
                             const struct lab_options *o)
{
    for (int i = 0; i < LAB_SCREEN_LABS; i++)
        s->options[i] = (struct lab_bench_options){.name = s->lesson->path,
                                                   .backend = o->backend,
                                                   .db = o->db,
                                                   .device = o->device,
                                                   .seed = 1,
                                                   .counters = o->counters,
                                                   .ascii = o->ascii};
    for (int i = 0; i < LAB_SCREEN_LABS && o->seed_given; i++)
        s->options[i].seed = o->seed;
    if (lab_thread_start(&s->thread, lab_bench_worker, s))
        return lab_fail(LAB_E_NOMEM, "no thread for the lab");
    s->started = true;
    return LAB_OK;
}

void lab_bench_screen_count(struct lab_bench_screen *s)
{
    if (s->timed == 0 || (s->ui.done <= s->most && s->rows > 0))
        return;
    s->most = s->ui.done;
    s->rows = s->ui.total;
}

bool lab_bench_screen_leave(struct lab_bench_screen *s,
                            struct lab_bench_screen **leaving)
{
    if (!s)
        return false;
    pthread_mutex_lock(&s->lock);
    bool running = s->ui.running >= 0;
    if (running)
        lab_bench_screen_count(s);
    int64_t most = s->most;
    int64_t rows = s->rows;
    s->screen = NULL;
    s->quit = true;
    atomic_store(&s->stop, true);
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->seen && most > 0)
        s->seen(s->seen_user, s->lesson->id, most, rows, most == rows);
    s->next = *leaving;
    *leaving = s;
    return running;
}

static bool has_ended(struct lab_bench_screen *s)
{
    pthread_mutex_lock(&s->lock);
    bool ended = s->ended || !s->started;
    pthread_mutex_unlock(&s->lock);
    return ended;
}

/* A kernel that runs cannot be ended, only waited for: the wait is said, and a
 * signal ends it. */
static void say_wait(struct lab_bench_screen *leaving)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    lab_signals_end_now();
    for (int i = 0; i < 20 && leaving; i++) { /* most calls are short */
        while (leaving && has_ended(leaving))
            leaving = leaving->next;
        if (leaving)
            nanosleep(&moment, NULL);
    }
    if (leaving)
        lab_warn("waiting for the call that runs; Ctrl-C ends now");
}

static void end(struct lab_bench_screen *s)
{
    if (s->started)
        pthread_join(s->thread, NULL);
    lab_ui_lab_release(&s->ui);
    lab_str_release(&s->source);
    lab_lesson_free(s->lesson);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    lab_free(s);
}

void lab_bench_screen_reap(struct lab_bench_screen **leaving, bool wait)
{
    if (wait && *leaving)
        say_wait(*leaving);
    while (*leaving) {
        struct lab_bench_screen *s = *leaving;
        if (!wait && !has_ended(s)) {
            leaving = &s->next;
            continue;
        }
        *leaving = s->next;
        end(s);
    }
}

enum lab_status lab_bench_screen_open(struct lab_bench_screen **out,
                                      struct lab_ui *ui,
                                      const struct lab_options *options,
                                      const char *lesson,
                                      lab_lesson_progress_fn *seen, void *user)
{
    struct lab_bench_screen *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_fail(LAB_E_NOMEM, "no memory for the lab");
    s->seen = seen;
    s->seen_user = user;
    s->want = -1;
    s->screen = ui;
    lab_ui_lab_init(&s->ui);
    lab_str_init(&s->source);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    enum lab_status st = lab_lesson_open(&s->lesson, lesson);
    if (!st)
        st = start(s, options);
    if (!st) {
        fill_model(s);
        st = lab_ui_push(ui, &lab_view_lab, &s->model);
    }
    if (st) {
        struct lab_bench_screen *failed = NULL;
        lab_bench_screen_leave(s, &failed);
        end(failed);
        return st;
    }
    *out = s;
    return LAB_OK;
}
