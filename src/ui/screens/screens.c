/* screens.c -- the program on a terminal: the home screen, what is opened from it,
 * and the data that the screens read: one lesson in the stepper with its session and
 * its recording; runs, steps, kernels, comparisons and rooflines of the database; the
 * tables of facts. A lab's screen has a thread of its own (lab_screen.c). */
#include "ui/models.h"
#include "ui/screens.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"
#include "report/exit.h"
#include "ui/doctor.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "screens/lab_screen.h"
#include "debug/progress.h"
#include "base/signals.h"
#include "trace/record.h"
#include "ui/view_text.h"
#include "ui/views.h"
#include "debug/walkthrough.h"
#include "base/mem.h"
#include "report/fact_machine.h"
#include "store/database.h"
#include "report/advise.h"
#include "base/format.h"
#include "engine/session.h"
#include "report/ceiling_cache.h"
#include "screens/lesson_doc.h"
#include "store/query.h"
#include "profiler/roofline.h"
#include "ui/stepper.h"
#include "ui/run_preview.h"
#include "screens/whatif.h"
#include "debug/lesson_run.h"
#include "report/compare_label.h"
#include "report/suggest.h"
#include "report/missing.h"
#include "store/launch.h"
#include "base/datadir.h"
#include "store/row_fields.h"
#include "store/delete.h"
#include "base/unknown.h"
#include "store/compare.h"
#include "report/roofline.h"
#include "store/timeline.h"
#include "store/counted.h"
#include "store/time_sum.h"
#include "engine/backend.h"

/* ==== what this machine has, without opening a device: the badge ==== */

struct gpu_state {
    bool gpu;       /* the CUDA module loads and the driver lists a GPU */
    char badge[64]; /* "NVIDIA H200" or "CPU" */
    char line[256]; /* one line for the home screen */
};

#define GPU_DIR "/proc/driver/nvidia/gpus"

/* The driver's own list; asking CUDA would make a context first. */
static int read_gpus(char *model, size_t size)
{
    DIR *dir = opendir(GPU_DIR);
    struct dirent *entry;
    int count = 0;
    while (dir && (entry = readdir(dir))) {
        char path[sizeof(GPU_DIR) + 280];
        char line[256];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), GPU_DIR "/%s/information", entry->d_name);
        FILE *f = fopen(path, "r");
        while (f && fgets(line, sizeof(line), f)) {
            if (strncmp(line, "Model:", 6) == 0 && count == 0) {
                line[strcspn(line, "\n")] = '\0';
                snprintf(model, size, "%s", line + 6 + strspn(line + 6, " \t"));
            }
        }
        if (f)
            fclose(f);
        count++;
    }
    if (dir)
        closedir(dir);
    return count;
}

/* Whole on a screen of 80 columns, which begins the line with a blank. */
enum { LINE_MOST = 79 };
static const char as_asked[] = "Steps run on the CPU, as --backend cpu asks; P "
                               "has runs recorded on GPUs.";
static const char no_module[] = "No GPU: steps run on the CPU; d shows why. P "
                                "has runs recorded on GPUs.";
static const char not_found[] = "No GPU was found: steps run on the CPU; d "
                                "shows more. P has recorded runs.";
_Static_assert(sizeof(as_asked) - 1 <= LINE_MOST, "it is cut");
_Static_assert(sizeof(no_module) - 1 <= LINE_MOST, "it is cut");
_Static_assert(sizeof(not_found) - 1 <= LINE_MOST, "it is cut");

static void detect_gpu(struct gpu_state *m, const char *backend)
{
    const struct lab_cuda_module *module;
    char model[64] = "GPU";
    const char *cpu = NULL;
    int count = 0;
    if (strcmp(backend, "cpu") == 0)
        cpu = as_asked;
    else if (lab_cuda_load(&module))
        cpu = no_module;
    else if ((count = read_gpus(model, sizeof(model))) == 0)
        cpu = not_found;
    *m = (struct gpu_state){.badge = "CPU", .gpu = cpu == NULL};
    if (cpu) {
        snprintf(m->line, sizeof(m->line), "%s", cpu);
        return;
    }
    snprintf(m->badge, sizeof(m->badge), "%s", model);
    snprintf(m->line, sizeof(m->line), "%d GPU%s: %s.", count,
             count == 1 ? "" : "s", model);
}

/* ==== a lesson in the stepper ==== */

struct lesson_screen {
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
    struct lesson_screen *s = user;
    struct lab_live *live = lab_recording_live(s->run.recording);
    size_t n = lab_live_kernels(live, exec, found, MOST);
    for (size_t i = 0; i < n && i < MOST && (int)i < max; i++) {
        rows[i].record = found[i];
        rows[i].counted =
            lab_live_counters(live, exec, (int64_t)i, &rows[i].counters);
    }
    return (int)n;
}

static void advise(void *user, const struct lab_snapshot *snap, int index,
                   int kernel, lab_stepper_advice_fn *each, void *to)
{
    struct lesson_screen *s = user;
    lab_advise_kernel(lab_recording_live(s->run.recording), snap, index, kernel,
                      each, to);
}

static void roofs(void *user, const struct lab_snapshot *snap,
                  struct lab_stepper_roofs *out)
{
    struct lesson_screen *s = user;
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
    struct lesson_screen *s = user;
    return lab_session_candidates(s->run.session, node, at, out, max);
}

/* ---- text ---- */

static void text_for(void *user, const char *step, const char *node,
                     const char *phase, int columns, struct lab_doc *out)
{
    struct lesson_screen *s = user;
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
    struct lesson_screen *s = user;
    return lab_lesson_doc(s->run.lesson, s->ui && lab_ui_is_ascii(s->ui), s->at,
                          out);
}

static enum lab_status open_lesson_text(void *user, struct lab_ui *ui,
                                        const char *step, const char *node,
                                        const char *phase)
{
    struct lesson_screen *s = user;
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
    struct lesson_screen *s = user;
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

static void source_for(void *user, const char *file, const char *symbol,
                       struct lab_doc *out)
{
    enum { SYMBOLS = 256 };
    struct lab_source_symbol *of = lab_alloc_array(SYMBOLS, sizeof(*of));
    struct lab_str text;
    (void)user;
    lab_str_init(&text);
    if (of && !lab_lesson_source(file, &text)) {
        lab_source_write(out, lab_str_text(&text), text.len, false);
        size_t n =
            lab_source_symbols(lab_str_text(&text), text.len, of, SYMBOLS);
        for (size_t i = 0; symbol && i < n && i < SYMBOLS; i++)
            if (strcmp(of[i].name, symbol) == 0)
                out->first = (size_t)of[i].line - 1;
    }
    lab_str_release(&text);
    lab_free(of);
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

static bool take_past(void *user, const struct lab_run_row *row)
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
    int found = lab_query_runs(db, take_past, p) == LAB_OK ? p->n : 0;
    for (int i = 0; i < found; i++)
        if (read_curve(db, p, i))
            p->out[kept++] = p->out[i];
    return kept;
}

static int past_runs(void *user, struct lab_past_run *out, int max)
{
    const struct lab_database_options options = {.read_only = true,
                                                 .busy_timeout_ms = 200};
    struct lesson_screen *s = user;
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
    struct lesson_screen *s = user;
    if (walked <= s->best)
        return;
    s->best = walked;
    if (s->seen)
        s->seen(s->seen_user, s->run.lesson->id, walked, n_steps,
                walked == n_steps);
}

/* A lesson that was trained as long as it asks for is finished as well. */
static void note_trained(struct lesson_screen *s,
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
    struct lesson_screen *s = user;
    pthread_mutex_lock(&s->wake_lock);
    if (s->ui)
        lab_ui_wake(s->ui);
    pthread_mutex_unlock(&s->wake_lock);
}

static void set_ui(struct lesson_screen *s, struct lab_ui *ui)
{
    pthread_mutex_lock(&s->wake_lock);
    s->ui = ui;
    pthread_mutex_unlock(&s->wake_lock);
}

/* The session wakes `ui` no more: before `ui` is freed. NULL ok. */
static void lesson_detach_ui(struct lesson_screen *s)
{
    if (s)
        set_ui(s, NULL);
}

/* Nothing is drawn of it meanwhile: it wakes no screen. */
static void leave_running(void *user)
{
    struct lesson_screen *s = user;
    s->background = true;
    set_ui(s, NULL);
}

/* Is it this lesson (id)? NULL ok. */
static bool lesson_is(const struct lesson_screen *s, const char *lesson)
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

/* `text` gets a line about one that runs or has stopped. NULL ok. */
static enum lab_background lesson_background(struct lesson_screen *s,
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

/* Pushes its stepper again. */
static enum lab_status lesson_again(struct lesson_screen *s, struct lab_ui *ui)
{
    set_ui(s, ui);
    enum lab_status st = lab_ui_push(ui, &lab_view_stepper, &s->model);
    if (st)
        set_ui(s, NULL);
    else
        s->background = false;
    return st;
}

static void fill_model(struct lesson_screen *s, const struct lab_options *o)
{
    s->db = o->db;
    struct gpu_state machine;
    detect_gpu(&machine, o->backend);
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
        .busy_ns = lab_session_busy_ns,
        .running = lab_kernel_running,
        .kernels = kernels,
        .advise = advise,
        .roofs = roofs,
        .candidates = candidates,
        .found = lab_kernel_found,
        .text_for = text_for,
        .open_source = open_source,
        .source_for = source_for,
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

/* A training or a walk that is cut short makes the run a cancelled one. Its
 * last figures come when it has stopped. */
static void summarize(struct lesson_screen *s, struct lab_run_summary *summary)
{
    struct lab_snapshot snap;
    bool cut = false;
    if (lab_session_snapshot(s->run.session, &snap) == LAB_OK) {
        cut = snap.state == LAB_SESSION_TRAINING ||
              snap.state == LAB_SESSION_WALKING;
        note_trained(s, &snap);
        if (s->run.recording && snap.schedule &&
            snap.iteration == snap.first_iteration &&
            snap.position < snap.schedule->n_steps)
            lab_recording_leave(s->run.recording);
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

/* Ends the session and the recording: the run was cancelled when something ran.
 * The screen must be closed. `notes` (or NULL)
 * gets lines for standard error. s may be NULL. */
static void lesson_close(struct lesson_screen *s, struct lab_str *notes)
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

/* Reads the lesson (id or path), starts its session and pushes the stepper. With
 * `stays` a training can be left running in the background. Errors: the
 * lesson's own. */
static enum lab_status lesson_open(struct lesson_screen **out,
                                   struct lab_ui *ui,
                                   const struct lab_options *options,
                                   const char *lesson, bool stays,
                                   lab_lesson_progress_fn *seen, void *user)
{
    struct lesson_screen *s = lab_alloc(sizeof(*s));
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
        lesson_close(s, NULL);
        return st;
    }
    *out = s;
    return LAB_OK;
}

/* ==== runs of the database ==== */

/* Rows of one kind, with the texts that they point to. */
struct rows {
    void *items;
    int64_t n;
    size_t room;
    char **texts;
    int64_t n_texts;
    size_t text_room;
    bool failed;
};

struct runs_source {
    struct lab_runs_model model;
    char *path;
    char *db;      /* as it was named; NULL: the usual place */
    bool recorded; /* the runs that ship with the program */
    struct rows runs;
    struct rows last;
    struct lab_time_sums steps;
    struct rows kernels;
    struct lab_comparison compared;
    struct lab_roofline roofline;
    struct rows passes;
    struct lab_timeline *whole; /* of a pass, while parts are looked at */
    struct lab_timeline *part;
    struct lab_time_sums sums; /* of the kernels */
    struct lab_time_sums work;
    struct lab_roofline bounds; /* of the run of which there are steps */
};

/* *db NULL: there is none yet. */
static enum lab_status runs_source_open(struct runs_source *s, bool write,
                                        struct lab_database **db)
{
    struct lab_database_options options = {.read_only = !write,
                                           .busy_timeout_ms = 500,
                                           .traced_first = s->recorded};
    *db = NULL;
    if (access(s->path, F_OK))
        return LAB_OK; /* nothing has been recorded yet */
    enum lab_status st = lab_database_open(db, s->path, &options);
    if (st != LAB_E_STATE || write)
        return st;
    options.read_only = false; /* an older schema is brought up to date */
    return lab_database_open(db, s->path, &options);
}

static void name_fact(struct lab_doc *doc, const char *name)
{
    lab_doc_para(doc, 0, 14, true);
    lab_doc_addf(doc, LAB_ROLE_DIM, "%-14s", name);
}

/* ---- rows ---- */

static void rows_clear(struct rows *r)
{
    for (int64_t i = 0; i < r->n_texts; i++)
        lab_free(r->texts[i]);
    lab_free(r->texts);
    lab_free(r->items);
    *r = (struct rows){0};
}

static void *add_row(struct rows *r, size_t each)
{
    r->failed = r->failed ||
                lab_grow(&r->items, (size_t)r->n, &r->room, each, "the list");
    if (r->failed)
        return NULL;
    char *row = (char *)r->items + (size_t)r->n * each;
    memset(row, 0, each);
    r->n++;
    return row;
}

static const char *keep_text(struct rows *r, const char *text)
{
    char *copy = text ? lab_strdup(text) : NULL;
    if (!text)
        return NULL;
    if (!copy || lab_grow(&r->texts, (size_t)r->n_texts, &r->text_room,
                          sizeof(*r->texts), "the list")) {
        lab_free(copy);
        r->failed = true;
        return NULL;
    }
    r->texts[r->n_texts++] = copy;
    return copy;
}

static enum lab_status check(const struct rows *r)
{
    return r->failed ? lab_no_memory("the list") : LAB_OK;
}

/* ---- a comparison ---- */

static void write_fact(struct lab_doc *doc, const char *name, const char *a,
                       const char *b)
{
    name_fact(doc, name);
    lab_doc_add(doc, LAB_ROLE_NORMAL, a ? a : LAB_NA);
    lab_doc_add(doc, LAB_ROLE_DIM, " -> ");
    lab_doc_add(doc, LAB_ROLE_NORMAL, b ? b : LAB_NA);
}

static void write_run_fact(struct lab_doc *doc,
                           const struct lab_compared_run run[LAB_SIDES],
                           enum lab_run_fact i)
{
    char words[LAB_SIDES][LAB_VARIANT_WORDS];
    const char *fact[LAB_SIDES] = {run[0].fact[i], run[1].fact[i]};
    if (i == LAB_FACT_VARIANTS)
        lab_variant_words_beside(fact, words);
    write_fact(doc, lab_run_fact_name(i), fact[0], fact[1]);
}

/* Of which iterations the parts are, and what keeps some from being known. */
static void write_wall(struct lab_doc *doc, const struct lab_comparison *c)
{
    struct lab_str notes;
    if (c->wall[LAB_SIDE_A].wall_ns == LAB_UNKNOWN &&
        c->wall[LAB_SIDE_B].wall_ns == LAB_UNKNOWN)
        return;
    lab_str_init(&notes);
    lab_compare_wall_notes(c, &notes);
    const char *at = lab_str_text(&notes);
    for (const char *name = "its parts"; *at; name = "") {
        int n = (int)strcspn(at, "\n");
        name_fact(doc, name);
        lab_doc_addf(doc, LAB_ROLE_NORMAL, "%.*s", n, at);
        at += n + (at[n] == '\n');
    }
    lab_str_release(&notes);
}

static void compare_facts(struct lab_doc *doc, const struct lab_comparison *c)
{
    const struct lab_compared_run *run = c->run;
    char wall[LAB_SIDES][LAB_FORMAT_BYTES + 24];
    for (int i = 0; i < LAB_SIDES; i++) {
        double ns = lab_to_real(run[i].iteration_median_ns);
        bool first = !isnan(ns) && run[i].iterations == 1;
        snprintf(wall[i], sizeof(wall[i]), "%s%s", LAB_NS_TEXT(ns),
                 first ? " (warm-up iteration)" : "");
    }
    write_fact(doc, "wall time", wall[0], wall[1]);
    for (int i = 0; i < LAB_FACT_COUNT; i++)
        if (lab_comparison_differs(c, (enum lab_run_fact)i))
            write_run_fact(doc, run, (enum lab_run_fact)i);
    write_wall(doc, c);
    name_fact(doc, "verdict");
    lab_doc_addf(doc, LAB_ROLE_NORMAL,
                 "Mann-Whitney U, two-sided, adjusted after Holm: p below "
                 "%.2f, and medians %.0f %% and %s apart",
                 LAB_RANK_ALPHA, 100 * LAB_COMPARE_LEAST_SHARE,
                 LAB_NS_TEXT(LAB_COMPARE_LEAST_NS));
}

/* ---- a roofline ---- */

static void write_note(const struct lab_roofline *line, const char *option,
                       struct lab_str *out)
{
    bool some = false;
    if (lab_roofline_measured(line))
        return;
    if (strcmp(line->device.backend, "sim") == 0) {
        lab_str_add(out, "A simulated GPU has no times, and no roofs.");
        return;
    }
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        some = some || line->per_s[i] > 0;
    lab_str_add(out, some ? "The roofs are a data sheet's. `"
                          : "No roof is known: `");
    lab_suggest_command(out, option, LAB_WORDS("profile", "ceilings"));
    lab_str_add(out, some ? "`, on that device, measures what it reaches."
                          : "`, on that device, measures them.");
}

static enum lab_status load_roofline(void *user, int64_t run,
                                     const struct lab_roofline **out,
                                     struct lab_str *note)
{
    struct runs_source *s = user;
    struct lab_database *db;
    lab_roofline_release(&s->roofline);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_roofline_load(&s->roofline, db, run);
    else if (!st)
        st = lab_fail(LAB_E_NOTFOUND,
                      "[screen.no-runs] nothing has been recorded");
    lab_database_close(db);
    if (st)
        return st;
    write_note(&s->roofline, s->db, note);
    *out = &s->roofline;
    return LAB_OK;
}

/* ---- a timeline ---- */

static void timelines_clear(struct runs_source *s)
{
    rows_clear(&s->passes);
    lab_timeline_free(s->whole);
    lab_timeline_free(s->part);
    s->whole = s->part = NULL;
}

static bool add_pass(void *user, const struct lab_iteration_row *row)
{
    struct lab_iteration_row *out = add_row(user, sizeof(*out));
    if (out)
        *out = *row;
    return out != NULL;
}

static enum lab_status
timeline_load_passes(void *user, int64_t run,
                     const struct lab_iteration_row **rows, int64_t *count)
{
    struct runs_source *s = user;
    struct lab_database *db;
    timelines_clear(s);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_iterations(db, run, add_pass, &s->passes);
    if (!st)
        st = check(&s->passes);
    if (!st && db && s->passes.n == 0)
        st = lab_fail_missing(db, run, LAB_HAS_KERNELS);
    lab_database_close(db);
    *rows = s->passes.items;
    *count = s->passes.n;
    return st;
}

static bool is_of(const struct lab_timeline *t, int64_t run,
                  const struct lab_iteration_row *of)
{
    return t && t->run == run && t->of.exec_first == of->exec_first;
}

static enum lab_status
timeline_load_pass(void *user, int64_t run, const struct lab_iteration_row *of,
                   const struct lab_timeline_filter *filter,
                   const struct lab_timeline **out)
{
    struct runs_source *s = user;
    struct lab_timeline **place = filter ? &s->part : &s->whole;
    struct lab_timeline *fresh = NULL;
    struct lab_database *db;
    if (!filter && is_of(s->whole, run, of)) {
        *out = s->whole;
        return LAB_OK;
    }
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && !db)
        st = lab_fail(LAB_E_NOTFOUND, "[screen.database-gone] %s is gone",
                      s->path);
    if (!st)
        st = lab_timeline_load(&fresh, db, run, of, filter);
    lab_database_close(db);
    if (!st)
        st = lab_timeline_close_pauses(fresh);
    if (st) {
        lab_timeline_free(fresh);
        return st;
    }
    lab_timeline_free(*place);
    *place = fresh;
    *out = fresh;
    return LAB_OK;
}

/* A value of a launch is known of a sum where all of its launches agree. */
static bool launches_differ(const struct lab_time_sum *sum)
{
    return sum->count > 1 &&
           (lab_launch_size(sum->launch.grid) == LAB_UNKNOWN ||
            lab_launch_size(sum->launch.block) == LAB_UNKNOWN ||
            sum->launch.registers_per_thread == LAB_UNKNOWN ||
            sum->shared_bytes == LAB_UNKNOWN);
}

static enum lab_status load_newest(struct lab_database *db, int64_t run,
                                   const struct lab_time_sum *sum,
                                   struct lab_occupancy_args *out)
{
    char count[LAB_FORMAT_BYTES];
    int64_t row;
    enum lab_status st = lab_launch_last(db, run, sum->step_index, sum->variant,
                                         sum->kernel, &row);
    if (!st)
        st = lab_whatif_stored(db, run, row,
                               sum->counters.achieved_occupancy_pct, out);
    if (st || !launches_differ(sum))
        return st;
    snprintf(out->note, sizeof(out->note),
             "the newest of %s launches, which differ",
             lab_format_int(sum->count, count, sizeof(count)));
    return LAB_OK;
}

static enum lab_status whatif_load(void *user, int64_t run,
                                   const struct lab_time_sum *kernel,
                                   int64_t row, struct lab_occupancy_args *out)
{
    struct runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = runs_source_open(s, false, &db);
    if (st)
        return st;
    if (!db)
        return lab_fail(LAB_E_NOTFOUND, "[screen.database-gone] %s is gone",
                        s->path);
    if (kernel)
        st = load_newest(db, run, kernel, out);
    else if (row != LAB_UNKNOWN)
        st = lab_whatif_stored(db, run, row, (double)NAN, out);
    else
        st = lab_fail_missing(db, run, LAB_HAS_KERNELS);
    lab_database_close(db);
    return st;
}

/* ---- runs ---- */

/* The newest `most` of them; 0: all. */
struct taking {
    struct rows *rows;
    int most;
};

static bool take_run(void *user, const struct lab_run_row *row)
{
    const struct taking *t = user;
    struct rows *r = t->rows;
    struct lab_run_row *out = add_row(r, sizeof(*out));
    if (!out)
        return false;
    *out = *row;
    for (int i = 0; i < lab_run_fields.count; i++) {
        const struct lab_field *f = &lab_run_fields.list[i];
        const char **text = (const char **)(void *)((char *)out + f->at);
        if (f->column && f->kind == LAB_FIELD_TEXT)
            *text = keep_text(r, *text);
    }
    return !r->failed && r->n != t->most;
}

static enum lab_status read_runs(struct runs_source *s, struct taking t,
                                 const struct lab_run_row **rows,
                                 int64_t *count)
{
    struct lab_database *db;
    rows_clear(t.rows);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_runs(db, take_run, &t);
    lab_database_close(db);
    *rows = t.rows->items;
    *count = t.rows->n;
    return st ? st : check(t.rows);
}

static enum lab_status load_runs(void *user, const struct lab_run_row **rows,
                                 int64_t *count)
{
    struct runs_source *s = user;
    return read_runs(s, (struct taking){&s->runs, 0}, rows, count);
}

/* The newest few, until the next call. */
static enum lab_status runs_source_last(struct runs_source *s, int most,
                                        const struct lab_run_row **rows,
                                        int64_t *count)
{
    return read_runs(s, (struct taking){&s->last, most}, rows, count);
}

static enum lab_status load_preview(void *user, const struct lab_run_row *run,
                                    struct lab_run_preview *out)
{
    struct runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_run_preview_load(out, db, run);
    lab_database_close(db);
    return st;
}

/* ---- steps and kernels ---- */

/* The sums of some levels, a bit each, with what was counted. */
static enum lab_status load_sums(struct runs_source *s, int64_t run,
                                 unsigned levels, struct lab_time_sums *sums)
{
    struct lab_database *db;
    struct lab_counted_run counted = {0};
    lab_time_sums_release(sums);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_time_sums_load(sums, db, run, levels);
    if (!st && db)
        st = lab_counted_load(&counted, db, run);
    lab_counted_fill(&counted, sums);
    lab_counted_release(&counted);
    bool kept = sums->stored || st || !db;
    lab_database_close(db);
    if (!kept)
        lab_time_sums_keep_later(s->path, run);
    return st;
}

/* What holds back each row: without it a list has one column less. */
static void load_bounds(struct runs_source *s, int64_t run)
{
    struct lab_database *db;
    lab_roofline_release(&s->bounds);
    if (!runs_source_open(s, false, &db) && db &&
        lab_roofline_load(&s->bounds, db, run))
        s->bounds = (struct lab_roofline){0};
    lab_database_close(db);
}

static enum lab_status load_steps(void *user, int64_t run,
                                  const struct lab_time_sum **rows,
                                  int64_t *count)
{
    struct runs_source *s = user;
    enum lab_status st = load_sums(s, run, 1u << LAB_SUM_STEP, &s->steps);
    if (!st)
        st = lab_time_sums_share(s->steps.items, s->steps.count);
    load_bounds(s, run);
    lab_roofline_bounds(&s->bounds, s->steps.items, s->steps.count);
    *rows = s->steps.items;
    *count = (int64_t)s->steps.count;
    return st;
}

static enum lab_status load_work(void *user, int64_t run,
                                 const struct lab_time_sum **rows,
                                 int64_t *count)
{
    struct runs_source *s = user;
    enum lab_status st =
        load_sums(s, run, 1u << LAB_SUM_STEP | 1u << LAB_SUM_KERNEL, &s->work);
    if (s->bounds.run != run)
        load_bounds(s, run);
    lab_roofline_bounds(&s->bounds, s->work.items, s->work.count);
    *rows = s->work.items;
    *count = (int64_t)s->work.count;
    return st;
}

/* The steps of a lab are distinguished by their index alone. */
static bool of_step(const struct lab_time_sum *sum,
                    const struct lab_time_sum *step)
{
    if (sum->bench_name)
        return sum->step_index == step->step_index;
    return sum->name && sum->phase && step->name && step->phase &&
           strcmp(sum->name, step->name) == 0 &&
           strcmp(sum->phase, step->phase) == 0;
}

/* A row for all launches of a kernel in a step: a run may have millions. */
static enum lab_status load_kernels(void *user, int64_t run,
                                    const struct lab_time_sum *step,
                                    const struct lab_time_sum **rows,
                                    int64_t *count)
{
    struct runs_source *s = user;
    struct lab_time_sums *sums = &s->sums;
    rows_clear(&s->kernels);
    enum lab_status st = load_sums(s, run, 1u << LAB_SUM_KERNEL, sums);
    for (size_t i = 0; i < sums->count; i++) {
        struct lab_time_sum *out = NULL;
        if (!step || of_step(&sums->items[i], step))
            out = add_row(&s->kernels, sizeof(*out));
        if (out)
            *out = sums->items[i];
    }
    if (!st)
        st = check(&s->kernels);
    if (!st)
        st = lab_time_sums_share(s->kernels.items, (size_t)s->kernels.n);
    if (!st && s->bounds.run == run)
        lab_roofline_bounds(&s->bounds, s->kernels.items, (size_t)s->kernels.n);
    *rows = s->kernels.items;
    *count = s->kernels.n;
    return st;
}

static void add_line(void *to, const char *text)
{
    struct lab_str *out = to;
    lab_str_addf(out, "%s\n", text);
}

static void add_advice(void *user, int64_t run, const struct lab_time_sum *step,
                       const struct lab_time_sum *kernel, struct lab_str *out)
{
    struct runs_source *s = user;
    if (s->bounds.run == run)
        lab_advise_sum(&s->bounds, step, kernel, add_line, out);
}

/* ---- facts, delete ---- */

static void fact(struct lab_doc *doc, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    name_fact(doc, name);
    lab_doc_add(doc, LAB_ROLE_NORMAL, value);
}

/* A lab has no batch and no iterations. */
static void run_fact(struct lab_doc *doc, const struct lab_run_row *row)
{
    struct lab_str text;
    char rate[LAB_RUN_LR_TEXT];
    lab_str_init(&text);
    lab_str_addf(&text, "seed %llu", (unsigned long long)row->seed);
    if (row->batch != LAB_UNKNOWN)
        lab_str_addf(&text, ", batch %lld", (long long)row->batch);
    if (row->iterations != LAB_UNKNOWN)
        lab_str_addf(&text, ", %lld iteration%s", (long long)row->iterations,
                     row->iterations == 1 ? "" : "s");
    if (row->precision)
        lab_str_addf(&text, ", %s", row->precision);
    if (*lab_run_lr_text(row, rate))
        lab_str_addf(&text, ", lr %s", rate);
    fact(doc, "run", lab_str_text(&text));
    lab_str_release(&text);
}

/* What a reader asks first comes first: a small screen has room for two. */
static bool each_fact(void *user, const struct lab_run_row *row)
{
    struct lab_doc *doc = user;
    char text[160];
    fact(doc, lab_run_is_lab(row) ? "lab" : "lesson",
         row->title ? row->title : row->lesson);
    snprintf(text, sizeof(text), "%s on %s", row->backend ? row->backend : "?",
             row->device ? row->device : "an unknown device");
    fact(doc, "machine", text);
    fact(doc, "trouble", row->write_error);
    fact(doc, "variants", row->variants);
    run_fact(doc, row);
    fact(doc, "times from", row->time_source);
    fact(doc, "counters",
         row->counters_reason ? row->counters_reason : row->counters);
    snprintf(text, sizeof(text), "%s to %s (%s)",
             row->started ? row->started : "?", row->ended ? row->ended : "?",
             row->status ? row->status : "?");
    fact(doc, "time", text);
    fact(doc, "owner", row->label ? row->label : row->user);
    fact(doc, "imported from", row->imported_from);
    fact(doc, "host", row->hostname);
    fact(doc, "driver", row->driver);
    fact(doc, "program", row->version);
    return true;
}

static enum lab_status write_facts(void *user, int64_t run, struct lab_doc *out)
{
    struct runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_run(db, run, each_fact, out);
    lab_database_close(db);
    return st ? st : lab_doc_check(out);
}

static enum lab_status delete_run(void *user, int64_t run)
{
    struct runs_source *s = user;
    struct lab_database *db;
    struct lab_deleted deleted;
    enum lab_status st = runs_source_open(s, true, &db);
    if (!st && db)
        st = lab_run_delete(db, run, &deleted);
    lab_database_close(db);
    return st;
}

static enum lab_status load_compare(void *user, const int64_t run[2],
                                    const struct lab_compare_row **rows,
                                    int64_t *count, struct lab_doc *facts)
{
    struct runs_source *s = user;
    struct lab_database *db;
    struct lab_comparison fresh = {0};
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_comparison_load(&fresh, db, run[0], run[1]);
    lab_database_close(db);
    if (!st) {
        lab_comparison_release(&s->compared);
        s->compared = fresh;
        compare_facts(facts, &fresh);
    }
    *rows = s->compared.rows;
    *count = (int64_t)(s->compared.count + s->compared.walls);
    return st;
}

/* The runs that ship are no database that a command may write to. */
static void hint(void *user, const char *const *words, struct lab_str *out)
{
    const struct runs_source *s = user;
    lab_suggest_command(out, s->db, words);
    if (s->recorded)
        lab_str_add(out, " --recorded");
}

/* ---- life ---- */

static void runs_source_free(struct runs_source *s)
{
    if (!s)
        return;
    rows_clear(&s->runs);
    rows_clear(&s->last);
    lab_time_sums_release(&s->steps);
    rows_clear(&s->kernels);
    lab_comparison_release(&s->compared);
    lab_roofline_release(&s->roofline);
    timelines_clear(s);
    lab_time_sums_release(&s->sums);
    lab_roofline_release(&s->bounds);
    lab_time_sums_release(&s->work);
    lab_free(s->path);
    lab_free(s->db);
    lab_free(s);
}

/* path NULL: the usual place. The database is opened when a screen asks; one
 * that is missing has no runs. */
static enum lab_status runs_source_new(struct runs_source **out,
                                       const char *path)
{
    struct runs_source *s = lab_alloc(sizeof(*s));
    struct lab_str text;
    enum lab_status st = LAB_OK;
    if (!s)
        return lab_no_memory("the list of runs");
    lab_str_init(&text);
    s->db = path ? lab_strdup(path) : NULL;
    if (path)
        lab_str_add(&text, path);
    else
        st = lab_database_default_path(&text);
    s->path = lab_str_detach(&text);
    if (!st && (!s->path || (path && !s->db)))
        st = lab_no_memory("the list of runs");
    if (st) {
        runs_source_free(s);
        return st;
    }
    s->model = (struct lab_runs_model){.user = s,
                                       .hint = hint,
                                       .load_runs = load_runs,
                                       .load_preview = load_preview,
                                       .load_steps = load_steps,
                                       .load_kernels = load_kernels,
                                       .add_advice = add_advice,
                                       .load_work = load_work,
                                       .write_facts = write_facts,
                                       .delete_run = delete_run,
                                       .load_compare = load_compare,
                                       .load_roofline = load_roofline,
                                       .load_passes = timeline_load_passes,
                                       .load_timeline = timeline_load_pass,
                                       .load_occupancy = whatif_load};
    *out = s;
    return LAB_OK;
}

/* The runs that ship with the program (profiles/recorded), which are only read.
 * LAB_E_NOTFOUND: none do. */
static enum lab_status runs_source_recorded(struct runs_source **out)
{
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_data_path(LAB_RECORDED_RUNS, &path);
    if (!st)
        st = runs_source_new(out, lab_str_text(&path));
    lab_str_release(&path);
    if (st)
        return st;
    lab_free((*out)->db);
    (*out)->db = NULL;
    (*out)->recorded = true;
    (*out)->model.delete_run = NULL;
    (*out)->model.title = "Recorded runs";
    (*out)->model.sorted = "lesson"; /* hundreds: those to compare together */
    (*out)->model.badge = "recorded on " LAB_RECORDED_DEVICE;
    return LAB_OK;
}

static const struct lab_runs_model *runs_source_model(struct runs_source *s)
{
    return &s->model;
}

/* ==== the program ==== */

/* ---- the tables of facts, read once and kept in the database ---- */

struct tables_source {
    struct lab_tables_model model;
    const char *db; /* NULL: the usual one; must outlive this */
    struct lab_fact_table **tables;
    int count;
    char problem[LAB_ERROR_BYTES]; /* "": every file is a table */
};

/* One more table into the list, which owns it then. */
static enum lab_status take(void *user, struct lab_fact_table **t)
{
    struct tables_source *s = user;
    struct lab_str note;
    size_t room = (size_t)s->count;
    lab_str_init(&note);
    enum lab_status st = lab_grow(&s->tables, (size_t)s->count, &room,
                                  sizeof(*s->tables), "the tables");
    if (!st)
        st = lab_fact_add_machine(*t, s->db, &note);
    lab_str_release(&note);
    if (!st) {
        s->tables[s->count++] = *t;
        *t = NULL;
    }
    return st;
}

/* They are shown where there is no database to keep them in, too. */
static void keep(const struct tables_source *s)
{
    struct lab_str usual;
    struct lab_database *db = NULL;
    lab_str_init(&usual);
    enum lab_status st = s->db ? LAB_OK : lab_database_default_path(&usual);
    if (!st)
        st = lab_database_open(&db, s->db ? s->db : lab_str_text(&usual), NULL);
    for (int i = 0; !st && i < s->count; i++)
        st = lab_fact_store(db, s->tables[i]);
    lab_database_close(db);
    lab_str_release(&usual);
}

static void tables_release(struct tables_source *s)
{
    for (int i = 0; i < s->count; i++)
        lab_fact_free(s->tables[i]);
    lab_free(s->tables);
    s->tables = NULL;
    s->count = 0;
}

static enum lab_status
tables_load(void *user, struct lab_fact_table *const **tables, int *count)
{
    struct tables_source *s = user;
    if (!s->tables) {
        enum lab_status st = lab_fact_all(take, s);
        /* The others are shown where a file is wrong. */
        if (st && (st != LAB_E_PARSE || s->count == 0)) {
            tables_release(s);
            return st;
        }
        if (st)
            snprintf(s->problem, sizeof(s->problem), "%s", lab_error());
        else
            keep(s);
    }
    *tables = s->tables;
    *count = s->count;
    return LAB_OK;
}

static enum lab_status tables_open(void *user, const char *name,
                                   struct lab_fact_table **out,
                                   struct lab_str *note)
{
    const struct tables_source *s = user;
    struct lab_fact_table *t = NULL;
    enum lab_status st = lab_fact_find(&t, name);
    if (!st)
        st = lab_fact_add_machine(t, s->db, note);
    if (st) {
        lab_fact_free(t);
        return st;
    }
    *out = t;
    return LAB_OK;
}

static const char *tables_problem(void *user)
{
    const struct tables_source *s = user;
    return s->problem[0] ? s->problem : NULL;
}

static void tables_init(struct tables_source *s, const char *db)
{
    *s = (struct tables_source){.db = db};
    s->model =
        (struct lab_tables_model){s, tables_load, tables_open, tables_problem};
}

enum { LAST_RUNS = 8 };

struct screens {
    const struct lab_options *options;
    struct gpu_state machine;
    struct lab_catalog *catalog;
    struct lab_home_model home;
    struct runs_source *runs;
    struct runs_source *recorded; /* NULL: none ship */
    struct tables_source tables;
    struct lab_progress progress;
    char busy[LAB_SESSION_TEXT + 80]; /* what is in the background */
    enum lab_background background;   /* as last seen */
    struct lesson_screen *open;       /* the lesson that is on the screen ... */
    struct lab_bench_screen *lab;     /* ... or the lab */
    struct lab_bench_screen
        *leaving; /* labs that were left, and are stopping */
    struct lab_ui *ui;
    int signal;           /* that ended the program, 0: none */
    struct lab_str notes; /* for standard error, afterwards */
};

/* ---- progress ---- */

static void seen(void *user, const char *lesson, int64_t steps_seen,
                 int64_t steps_total, bool finished)
{
    struct screens *s = user;
    (void)lab_seen_note(&s->progress, lesson, steps_seen, steps_total,
                        finished);
}

static void load_progress(struct screens *s)
{
    char path[LAB_PROGRESS_PATH_BYTES];
    if (lab_progress_path(path, sizeof(path)) ||
        lab_progress_load(&s->progress, path))
        lab_str_addf(&s->notes, "progress is not kept: %s\n", lab_error());
}

static void save_progress(struct screens *s)
{
    if (s->progress.path[0] && lab_progress_save(&s->progress))
        lab_str_addf(&s->notes, "progress is not kept: %s\n", lab_error());
}

/* ---- home ---- */

/* Not what trains in the background, or has stopped there at something to look
 * at, unless the program `ends`. */
static void close_lesson(struct screens *s, bool ends)
{
    lab_bench_screen_reap(&s->leaving, false);
    s->background = lesson_background(s->open, s->busy, sizeof(s->busy));
    if (!ends && (s->background == LAB_BACKGROUND_RUNS ||
                  s->background == LAB_BACKGROUND_STOPPED))
        return;
    if (!s->open && !s->lab)
        return;
    lesson_close(s->open, &s->notes);
    if (lab_bench_screen_leave(s->lab, &s->leaving) && s->ui)
        lab_ui_message(s->ui, LAB_ROLE_DIM,
                       "the lab stops as soon as the call that runs has ended");
    s->open = NULL;
    s->lab = NULL;
    save_progress(s);
}

static enum lab_status refresh(void *user, struct lab_home_model *home)
{
    struct screens *s = user;
    bool had_stopped = home->stopped;
    close_lesson(s, false);
    home->waiting = s->leaving || s->open;
    home->busy = s->open ? s->busy : NULL;
    home->stopped = s->background == LAB_BACKGROUND_STOPPED;
    if (s->background == LAB_BACKGROUND_DONE)
        lab_ui_message(s->ui, LAB_ROLE_GOOD,
                       "the training in the background is done");
    else if (home->stopped && !had_stopped)
        lab_ui_message(s->ui, LAB_ROLE_WARN, "%s", s->busy);
    lab_ui_badge(s->ui, s->machine.badge);
    home->runs_unread = runs_source_last(s->runs, LAST_RUNS, &home->runs,
                                         &home->run_count) != LAB_OK;
    if (home->runs_unread) {
        home->run_count = 0; /* the lessons work without the runs */
        lab_ui_error(s->ui);
    }
    return LAB_OK;
}

/* Whether a lesson (id or path) is a lab. One that cannot be read is none. */
static bool is_lab(const char *name)
{
    struct lab_lesson *lesson = NULL;
    if (lab_lesson_open(&lesson, name))
        return false;
    bool is = lesson->kind == LAB_LESSON_LAB;
    lab_lesson_free(lesson);
    return is;
}

static enum lab_status open_by_kind(struct screens *s, const char *name,
                                    bool home)
{
    if (is_lab(name))
        return lab_bench_screen_open(&s->lab, s->ui, s->options, name, seen, s);
    return lesson_open(&s->open, s->ui, s->options, name, home, seen, s);
}

static enum lab_status open_lesson(void *user, struct lab_ui *ui,
                                   const char *id)
{
    struct screens *s = user;
    (void)ui;
    close_lesson(s, false);
    if (s->open && lesson_is(s->open, id))
        return lesson_again(s->open, s->ui);
    if (s->background == LAB_BACKGROUND_STOPPED)
        return lab_fail(LAB_E_STATE, "[screen.training-stopped] a training "
                                     "stopped in the background: go back to it "
                                     "and leave it first");
    if (s->open)
        return lab_fail(LAB_E_STATE, "[screen.training-runs] a training runs "
                                     "in the background: go back to it and "
                                     "stop it, or wait until it is done");
    return open_by_kind(s, id, true);
}

static void write_line(void *user, const struct lab_finding_line *f)
{
    struct lab_doc *out = user;
    static const enum lab_role roles[] = {LAB_ROLE_GOOD, LAB_ROLE_BAD,
                                          LAB_ROLE_WARN};
    enum { STATE_X = 19, DETAIL_X = 28 };
    lab_doc_para(out, 0, DETAIL_X, true);
    lab_doc_addf(out, LAB_ROLE_HEADING, "%-*s", STATE_X, f->name);
    lab_doc_addf(out, roles[f->state], "%-*s", DETAIL_X - STATE_X,
                 lab_doctor_state_text[f->state]);
    lab_doc_add(out, LAB_ROLE_NORMAL, f->detail);
    if (!f->remedy || f->elsewhere)
        return;
    lab_doc_para(out, DETAIL_X, DETAIL_X, true);
    lab_doc_addf(out, LAB_ROLE_NORMAL, "remedy: %s", f->remedy);
}

static enum lab_status write_doctor(void *user, struct lab_doc *out)
{
    const struct screens *s = user;
    struct lab_doctor doctor = {
        .line = write_line, .user = out, .screen_open = true};
    lab_doctor_examine(&doctor, s->options->db);
    lab_doc_blank(out);
    out->beside = out->para_count;
    lab_doctor_write_variants(out, s->options->db);
    return LAB_OK;
}

static enum lab_status write_beginning(void *user,
                                       const struct lab_lesson *lesson,
                                       int columns, int most,
                                       struct lab_doc *out)
{
    const struct screens *s = user;
    return lab_lesson_begin(lesson, columns, most, lab_ui_is_ascii(s->ui), out);
}

static enum lab_status start_home(struct screens *s)
{
    enum lab_status st = lab_catalog_load(&s->catalog, NULL);
    if (st)
        return st;
    s->home = (struct lab_home_model){.user = s,
                                      .machine = s->machine.line,
                                      .note = s->progress.note,
                                      .catalog = s->catalog,
                                      .progress = &s->progress,
                                      .start = LAB_DEFAULT_LESSON,
                                      .refresh = refresh,
                                      .open_lesson = open_lesson,
                                      .write_doctor = write_doctor,
                                      .write_lesson = write_beginning,
                                      .all_runs = runs_source_model(s->runs)};
    tables_init(&s->tables, s->options->db);
    s->home.tables = &s->tables.model;
    if (runs_source_recorded(&s->recorded) == LAB_OK)
        s->home.recorded = runs_source_model(s->recorded);
    return lab_ui_push(s->ui, &lab_view_home, &s->home);
}

/* ---- all ---- */

static enum lab_status open_ui(struct screens *s)
{
    const struct lab_options *o = s->options;
    struct lab_ui_settings settings;
    enum lab_status st =
        lab_options_check_config(lab_ui_setting_known, lab_ui_setting_name);
    if (!st)
        st = lab_ui_settings_read(&settings);
    if (st)
        return st;
    for (int role = 0; role < LAB_ROLE_COUNT; role++)
        if (settings.colors[role] >= 0)
            lab_palette_set(role, settings.colors[role]);
    struct lab_ui_options options = {
        .settings = &settings,
        .terminal = {.color = o->color,
                     .theme = o->theme ? o->theme : "auto",
                     .ascii = o->ascii,
                     .mouse = !o->no_mouse,
                     .graphics = o->graphics ? o->graphics : "auto"},
        .script = getenv("LAPENNA_LAB_SCRIPT"),
        .replay = o->replay,
        .record = o->record,
        .cast = o->cast,
        .picture = o->picture,
        .badge = s->machine.badge};
    return lab_ui_new(&s->ui, &options);
}

static enum lab_status start(struct screens *s)
{
    /* Before the terminal's own and after them, while all is closed. */
    lab_signals_catch();
    enum lab_status st = runs_source_new(&s->runs, s->options->db);
    if (!st)
        st = open_ui(s);
    if (!st && s->options->lesson)
        st = open_by_kind(s, s->options->lesson, false);
    else if (!st)
        st = start_home(s);
    return st;
}

static void finish(struct screens *s)
{
    lesson_detach_ui(s->open);
    bool lab = s->lab != NULL;
    lab_bench_screen_leave(s->lab, &s->leaving);
    s->lab = NULL;
    lab_ui_free(s->ui); /* the terminal is the shell's again */
    s->ui = NULL;
    if (s->signal)
        lab_signals_end_now(s->signal);
    close_lesson(s, true);
    if (lab)
        save_progress(s);
    lab_bench_screen_reap(&s->leaving, true);
    runs_source_free(s->runs);
    runs_source_free(s->recorded);
    tables_release(&s->tables);
    lab_catalog_free(s->catalog);
    lab_progress_release(&s->progress);
    if (s->notes.len)
        lab_warn_lines(lab_str_text(&s->notes));
    lab_str_release(&s->notes);
}

enum { DOCTOR_END_MS = 100 };

int lab_open_screens(const struct lab_options *o)
{
    struct screens s = {.options = o};
    lab_str_init(&s.notes);
    detect_gpu(&s.machine, o->backend);
    load_progress(&s);
    enum lab_status st = start(&s);
    if (!st && !lab_signals_caught()) {
        st = lab_ui_run(s.ui);
        s.signal = lab_ui_signal(s.ui);
    }
    /* The error's text must outlive the clean-up. */
    struct lab_kept_error why;
    lab_error_keep(&why);
    finish(&s);
    if (!s.signal)
        s.signal = lab_signals_caught();
    if (st && !s.signal)
        lab_error_again(st, &why);
    int code = s.signal ? LAB_EXIT_SIGNAL + s.signal : lab_exit_error(st);
    /* All is saved and closed. Who still looks at the machine may be inside of a
     * driver, which exit() would take down under it. */
    if (!lab_text_end(DOCTOR_END_MS)) {
        fflush(stdout);
        _exit(code);
    }
    return code;
}
