/* lesson_screen.c -- opens a lesson in the stepper: session, recording, model,
 * and the screens reached from it. */
#include "screens/lesson_screen.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "report/advise.h"
#include "base/format.h"
#include "base/mem.h"
#include "engine/session.h"
#include "report/ceiling_cache.h"
#include "lesson/catalog.h"
#include "screens/lesson_doc.h"
#include "screens/gpu_detect.h"
#include "store/database.h"
#include "store/query.h"
#include "profiler/roofline.h"
#include "debug/progress.h"
#include "base/signals.h"
#include "trace/intern.h"
#include "ui/stepper.h"
#include "ui/views.h"
#include "screens/whatif.h"
#include "debug/lesson_run.h"

struct lab_lesson_screen {
    struct lab_lesson_run run;
    struct lab_stepper_model model;
    pthread_mutex_t wake_lock;
    struct lab_ui *ui; /* NULL: it is gone, and the session is not yet */
    char time_note[96];
    const struct lab_section *at; /* where its whole text is opened */
    const char *db;               /* the command line's; NULL: the usual one */
    struct lab_ceiling_cache roofs;
    bool stays;      /* a training can be left running ... */
    bool background; /* ... and was */
    struct lab_train_left left;
    lab_lesson_progress_fn *seen;
    void *seen_user;
    int64_t best; /* most steps walked so far */
    double loss_first;
};

/* ---- kernels ---- */

static int kernels(void *user, int64_t exec, struct lab_stepper_kernel *rows,
                   int max)
{
    enum { MOST = 64 };
    struct lab_kernel_record found[MOST];
    struct lab_lesson_screen *s = user;
    struct lab_live *live = lab_recording_live(s->run.recording);
    size_t n = lab_live_kernels(live, exec, found, MOST);
    for (size_t i = 0; i < n && i < MOST && (int)i < max; i++) {
        rows[i].record = found[i];
        rows[i].counted =
            lab_live_counters(live, exec, (int64_t)i, &rows[i].counters);
    }
    return (int)n;
}

/* Fills out[] with what applies, the weightiest first; returns how many, at
 * most LAB_ADVICE_COUNT. */
static void advise(void *user, const struct lab_snapshot *snap, int index,
                   int kernel, lab_stepper_advice_fn *each, void *to)
{
    struct lab_lesson_screen *s = user;
    struct lab_advice a[LAB_ADVICE_COUNT];
    int n = lab_advise_kernel(lab_recording_live(s->run.recording), snap, index,
                              kernel, a);
    struct lab_str text;
    lab_str_init(&text);
    for (int i = 0; i < n; i++) {
        lab_str_clear(&text);
        lab_advice_add(&text, &a[i]);
        each(to, lab_str_text(&text));
    }
    lab_str_release(&text);
}

static void roofs(void *user, const struct lab_snapshot *snap,
                  struct lab_stepper_roofs *out)
{
    struct lab_lesson_screen *s = user;
    if (!snap->plan)
        return;
    const char *name = lab_precision_name(snap->plan->precision);
    enum lab_ceiling ceiling = lab_roofline_precision(name);
    const double *per_s =
        lab_ceiling_cache_find(&s->roofs, s->db, snap->backend, &snap->device);
    out->precision = name;
    out->bytes_per_s = per_s[LAB_CEILING_COPY];
    if (ceiling < LAB_CEILING_COUNT)
        out->flop_per_s = per_s[ceiling];
}

/* ---- variants ---- */

static int candidates(void *user, int node, const struct lab_schedule_step *at,
                      struct lab_candidate *out, int max)
{
    struct lab_lesson_screen *s = user;
    return lab_session_candidates(s->run.session, node, at, out, max);
}

/* ---- text ---- */

static void text_for(void *user, const char *step, const char *node,
                     const char *phase, int columns, struct lab_doc *out)
{
    struct lab_lesson_screen *s = user;
    const struct lab_lesson *lesson = s->run.lesson;
    const struct lab_section *section =
        lab_lesson_text_for(lesson, step, node, phase);
    const struct lab_md *text = section ? lab_section_part(section, phase)
                                : lesson->n_sections > 0
                                    ? &lesson->sections[0].doc
                                    : NULL;
    if (text)
        lab_lesson_add(text, columns, s->ui && lab_ui_is_ascii(s->ui), out);
}

static enum lab_status write_lesson(void *user, struct lab_doc *out)
{
    struct lab_lesson_screen *s = user;
    return lab_lesson_doc(s->run.lesson, s->ui && lab_ui_is_ascii(s->ui), s->at,
                          out);
}

static enum lab_status open_lesson_text(void *user, struct lab_ui *ui,
                                        const char *step, const char *node,
                                        const char *phase)
{
    struct lab_lesson_screen *s = user;
    s->at = step ? lab_lesson_text_for(s->run.lesson, step, node, phase) : NULL;
    struct lab_text_args args = {
        .title = "the lesson", .user = s, .write = write_lesson};
    return lab_ui_push(ui, &lab_view_text, &args);
}

/* ---- source ---- */

static enum lab_status open_occupancy(void *user, struct lab_ui *ui,
                                      const struct lab_snapshot *snap,
                                      int index)
{
    struct lab_lesson_screen *s = user;
    return lab_whatif_open(lab_recording_live(s->run.recording), ui, snap,
                           index);
}

static enum lab_status open_source(void *user, struct lab_ui *ui,
                                   const char *file, const char *symbol)
{
    struct lab_str text;
    (void)user;
    lab_str_init(&text);
    enum lab_status st = lab_lesson_source(file, &text);
    if (!st) {
        struct lab_source_args args = {.path = file,
                                       .text = lab_str_text(&text),
                                       .bytes = text.len,
                                       .symbol = symbol};
        st = lab_ui_push(ui, &lab_view_source, &args);
    }
    lab_str_release(&text);
    return st;
}

/* ---- earlier runs ---- */

enum { PAST_POINTS = 1024 };

struct past {
    const char *lesson;
    int64_t now; /* the run that is recorded */
    struct lab_past_run *out;
    int max;
    int n;
};

static bool take_run(void *user, const struct lab_run_row *row)
{
    struct past *p = user;
    bool mine = row->lesson && strcmp(row->lesson, p->lesson) == 0;
    bool ended = row->status &&
                 strcmp(row->status, lab_run_status_text(LAB_RUN_RUNNING)) != 0;
    if (!mine || !ended || lab_run_is_lab(row) || row->id == p->now ||
        row->iterations < 2)
        return true;
    struct lab_past_run *run = &p->out[p->n++];
    *run = (struct lab_past_run){.run = row->id};
    snprintf(run->name, sizeof(run->name), "run %lld", (long long)row->id);
    if (row->learning_rate != row->lesson_learning_rate &&
        !isnan(row->learning_rate))
        snprintf(run->name, sizeof(run->name), "run %lld, lr %g",
                 (long long)row->id, row->learning_rate);
    return p->n < p->max;
}

static bool take_loss(void *user, const struct lab_loss_row *row)
{
    struct past *p = user;
    struct lab_curve *c = &p->out[p->n].losses;
    c->iteration[c->n] = row->iteration;
    c->value[c->n++] = row->loss;
    return c->n < PAST_POINTS;
}

static bool read_curve(struct lab_database *db, struct past *p, int i)
{
    struct lab_past_run *run = &p->out[i];
    run->losses.iteration =
        lab_alloc_array(PAST_POINTS, sizeof(*run->losses.iteration));
    run->losses.value =
        lab_alloc_array(PAST_POINTS, sizeof(*run->losses.value));
    p->n = i;
    bool ok = run->losses.iteration && run->losses.value &&
              lab_query_losses_thinned(db, run->run, PAST_POINTS, take_loss,
                                       p) == LAB_OK &&
              run->losses.n >= 2;
    if (!ok) {
        lab_free(run->losses.iteration);
        lab_free(run->losses.value);
    }
    return ok;
}

static int read_past(struct lab_database *db, struct past *p)
{
    int kept = 0;
    int found = lab_query_runs(db, take_run, p) == LAB_OK ? p->n : 0;
    for (int i = 0; i < found; i++)
        if (read_curve(db, p, i))
            p->out[kept++] = p->out[i];
    return kept;
}

static int past_runs(void *user, struct lab_past_run *out, int max)
{
    const struct lab_database_options options = {.read_only = true,
                                                 .busy_timeout_ms = 200};
    struct lab_lesson_screen *s = user;
    struct past p = {.lesson = s->run.lesson->id, .out = out, .max = max};
    struct lab_recording_state recording;
    struct lab_database *db = NULL;
    struct lab_str usual;
    int n = 0;
    lab_recording_get_state(s->run.recording, &recording);
    p.now = recording.run;
    lab_str_init(&usual);
    bool known = s->db || lab_database_default_path(&usual) == LAB_OK;
    if (known &&
        !lab_database_open(&db, s->db ? s->db : lab_str_text(&usual), &options))
        n = read_past(db, &p);
    lab_database_close(db);
    lab_str_release(&usual);
    return n;
}

/* ---- progress ---- */

static void progress(void *user, int64_t walked, int n_steps)
{
    struct lab_lesson_screen *s = user;
    if (walked <= s->best)
        return;
    s->best = walked;
    if (s->seen)
        s->seen(s->seen_user, s->run.lesson->id, walked, n_steps,
                walked == n_steps);
}

/* A lesson that was trained as long as it asks for is finished as well. */
static void note_trained(struct lab_lesson_screen *s,
                         const struct lab_snapshot *snap)
{
    if (s->seen && lab_seen_trained(&s->run.spec, snap))
        s->seen(s->seen_user, s->run.lesson->id, s->best,
                snap->schedule->n_steps, true);
}

/* ---- life ---- */

/* On the session's thread. */
static void wake(void *user)
{
    struct lab_lesson_screen *s = user;
    pthread_mutex_lock(&s->wake_lock);
    if (s->ui)
        lab_ui_wake(s->ui);
    pthread_mutex_unlock(&s->wake_lock);
}

static void set_ui(struct lab_lesson_screen *s, struct lab_ui *ui)
{
    pthread_mutex_lock(&s->wake_lock);
    s->ui = ui;
    pthread_mutex_unlock(&s->wake_lock);
}

void lab_lesson_screen_detach_ui(struct lab_lesson_screen *s)
{
    if (s)
        set_ui(s, NULL);
}

/* Nothing is drawn of it meanwhile: it wakes no screen. */
static void leave_running(void *user)
{
    struct lab_lesson_screen *s = user;
    s->background = true;
    set_ui(s, NULL);
}

bool lab_lesson_screen_is(const struct lab_lesson_screen *s, const char *lesson)
{
    return s && strcmp(s->run.lesson->id, lesson) == 0;
}

enum lab_background lab_background_of(const char *lesson,
                                      const struct lab_snapshot *snap,
                                      char *text, size_t cap)
{
    if (snap->state == LAB_SESSION_TRAINING) {
        snprintf(text, cap,
                 "%s trains in the background (%s of %s); Enter goes back",
                 lesson, LAB_INT_TEXT(snap->train_done),
                 LAB_INT_TEXT(snap->train_target));
        return LAB_BACKGROUND_RUNS;
    }
    if (snap->train_whole)
        return LAB_BACKGROUND_DONE;
    const char *why = snap->stop_reason[0] ? snap->stop_reason : snap->error;
    snprintf(text, cap, "%s stopped (Enter goes back): %s", lesson,
             why[0] ? why : "before its last iteration");
    return LAB_BACKGROUND_STOPPED;
}

enum lab_background lab_lesson_screen_background(struct lab_lesson_screen *s,
                                                 char *text, size_t cap)
{
    struct lab_snapshot snap;
    if (!s || !s->background)
        return LAB_BACKGROUND_NONE;
    if (lab_session_snapshot(s->run.session, &snap)) {
        /* No memory: it is not known to have ended. */
        snprintf(text, cap, "%s trains in the background; Enter goes back",
                 s->run.lesson->id);
        return LAB_BACKGROUND_RUNS;
    }
    enum lab_background is =
        lab_background_of(s->run.lesson->id, &snap, text, cap);
    lab_snapshot_release(&snap);
    return is;
}

enum lab_status lab_lesson_screen_again(struct lab_lesson_screen *s,
                                        struct lab_ui *ui)
{
    set_ui(s, ui);
    enum lab_status st = lab_ui_push(ui, &lab_view_stepper, &s->model);
    if (st)
        set_ui(s, NULL);
    else
        s->background = false;
    return st;
}

static void fill_model(struct lab_lesson_screen *s, const struct lab_options *o)
{
    s->db = o->db;
    struct lab_gpu_state machine;
    lab_gpu_detect(&machine, o->backend);
    snprintf(s->time_note, sizeof(s->time_note), "%s",
             machine.gpu ? "CUPTI kernel records, else CUDA events"
                         : "the CPU's monotonic clock");
    s->model = (struct lab_stepper_model){
        .user = s,
        .title = s->run.lesson->title,
        .time_note = s->time_note,
        .session = s->run.session,
        .post = lab_session_post,
        .version = lab_session_version,
        .snapshot = lab_session_snapshot,
        .snapshot_release = lab_snapshot_release,
        .pending = lab_session_pending,
        .kernels = kernels,
        .advise = advise,
        .roofs = roofs,
        .candidates = candidates,
        .found = lab_kernel_found,
        .text_for = text_for,
        .open_source = open_source,
        .open_occupancy = open_occupancy,
        .open_lesson = open_lesson_text,
        .progress = progress,
        .left = &s->left,
        .leave_running = s->stays ? leave_running : NULL,
        .past_runs = past_runs,
        .printed = s->run.spec.printed,
        .n_printed = s->run.spec.n_printed,
        .train_iterations = o->iterations};
    s->model.sampling = (struct lab_sample_request){
        .n = o->sample, .temperature = o->temperature, .top_k = o->top_k};
    snprintf(s->model.sampling.prompt, sizeof(s->model.sampling.prompt), "%s",
             o->prompt);
}

enum lab_status lab_lesson_screen_open(struct lab_lesson_screen **out,
                                       struct lab_ui *ui,
                                       const struct lab_options *options,
                                       const char *lesson, bool stays,
                                       lab_lesson_progress_fn *seen, void *user)
{
    struct lab_lesson_screen *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_no_memory("the lesson");
    s->stays = stays;
    s->seen = seen;
    s->seen_user = user;
    s->ui = ui;
    pthread_mutex_init(&s->wake_lock, NULL);
    /* Looking around is no run: the first iteration makes it one. */
    enum lab_status st =
        lab_lesson_run_start(&s->run, options, lesson, true, wake, s);
    if (!st) {
        fill_model(s, options);
        st = lab_ui_push(ui, &lab_view_stepper, &s->model);
    }
    if (st) {
        lab_lesson_screen_close(s, NULL);
        return st;
    }
    *out = s;
    return LAB_OK;
}

/* A training or a walk that is cut short makes the run a cancelled one. Its
 * last figures come when it has stopped. */
static void summarize(struct lab_lesson_screen *s,
                      struct lab_run_summary *summary)
{
    struct lab_snapshot snap;
    bool cut = false;
    if (lab_session_snapshot(s->run.session, &snap) == LAB_OK) {
        cut = snap.state == LAB_SESSION_TRAINING ||
              snap.state == LAB_SESSION_WALKING;
        note_trained(s, &snap);
        lab_snapshot_release(&snap);
    }
    lab_session_end(s->run.session); /* hands out its last records */
    if (lab_session_snapshot(s->run.session, &snap) == LAB_OK) {
        lab_recording_summarize(&snap, summary);
        lab_snapshot_release(&snap);
    }
    if (cut)
        summary->status = LAB_RUN_CANCELLED;
}

void lab_lesson_screen_close(struct lab_lesson_screen *s, struct lab_str *notes)
{
    struct lab_run_summary summary;
    if (!s)
        return;
    lab_run_summary_init(&summary);
    if (s->run.session)
        summarize(s, &summary);
    if (s->run.recording)
        lab_recording_finish(s->run.recording, &summary);
    /* After the end: the last records may have failed. */
    if (s->run.recording && notes)
        lab_recording_note(s->run.recording, notes);
    lab_lesson_run_close(&s->run);
    pthread_mutex_destroy(&s->wake_lock);
    lab_free(s);
}
