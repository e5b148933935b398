/* lesson_run.c -- a lesson that is opened and recorded: the walk or the session; the
 * sink that opens the writer, the hooks of a walk, the profiler's counters and
 * trace on demand, the run's summary and variants. */
#include "debug/kept.h"
#include "debug/kept_times.h"
#include "debug/lesson_run.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/signals.h"
#include "base/str.h"
#include "base/version.h"
#include "engine/backend.h"
#include "engine/generate.h"
#include "engine/machine_use.h"
#include "engine/plan.h"
#include "engine/setup.h"
#include "engine/sim_backend.h"
#include "engine/tune.h"
#include "lesson/catalog.h"
#include "report/exit.h"
#include "report/suggest.h"
#include "store/database.h"
#include "store/writer.h"
#include "trace/intern.h"
#include "trace/record.h"

/* ---- the variants that ran ----
 * Those of the forward steps, from the records of a run. The run's row names them
 * when the run ends: what was chosen when it was opened may not be what was
 * timed. */

struct ran_variant {
    uint32_t name;
    uint32_t node;
    uint32_t variant;
    int32_t index;
    int pass; /* of the node: 0, and one more after each switch */
};

struct ran_variants {
    struct ran_variant *list; /* each once, in the order of their steps */
    size_t n;
    size_t room;
    bool incomplete; /* no memory for one */
};

static bool is_known(const struct ran_variants *v, size_t i,
                     const struct lab_step_record *s)
{
    return i < v->n && v->list[i].name == s->name &&
           v->list[i].variant == s->variant;
}

static void ran_variants_note(struct ran_variants *v,
                              const struct lab_step_record *s)
{
    struct ran_variant ran = {s->name, s->node, s->variant, s->index, 0};
    if (s->phase != LAB_FORWARD ||
        (s->index >= 0 && is_known(v, (size_t)s->index, s)))
        return; /* the usual place: nothing was switched */
    for (size_t i = 0; i < v->n; i++)
        if (is_known(v, i, s))
            return;
    for (size_t i = 0; i < v->n; i++) {
        const struct ran_variant *old = &v->list[i];
        if (old->node == s->node)
            ran.pass = old->pass + (old->index >= s->index);
    }
    if (lab_grow(&v->list, v->n, &v->room, sizeof(*v->list), "a variant")) {
        v->incomplete = true;
        return;
    }
    v->list[v->n++] = ran;
}

static bool was_switched(const struct ran_variants *v, uint32_t node)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->list[i].node == node && v->list[i].pass > 0)
            return true;
    return false;
}

/* A node's name is its first step's; the others have their own. */
static uint32_t name_of(const struct ran_variants *v,
                        const struct ran_variant *r)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->list[i].node == r->node && v->list[i].index < r->index)
            return r->name;
    return r->node;
}

/* What one pass over the node of step `at` adds, from that step on. */
static void add_pass(const struct ran_variants *v, size_t at,
                     struct lab_str *out)
{
    const struct ran_variant *first = NULL; /* named as the node */
    bool switched = was_switched(v, v->list[at].node);
    for (size_t i = at; i < v->n; i++) {
        const struct ran_variant *r = &v->list[i];
        const char *name = lab_intern_text(r->variant);
        if (r->node != v->list[at].node || r->pass != v->list[at].pass ||
            (first && r->variant == first->variant) ||
            (strcmp(name, "naive") == 0 && (first || !switched)))
            continue;
        uint32_t of = name_of(v, r);
        lab_str_addf(out, "%s%s=%s", out->len ? " " : "", lab_intern_text(of),
                     name);
        if (of == r->node)
            first = r;
    }
}

static bool ran_variants_text(const struct ran_variants *v, struct lab_str *out)
{
    for (size_t i = 0; i < v->n; i++) {
        size_t k = 0;
        while (v->list[k].node != v->list[i].node ||
               v->list[k].pass != v->list[i].pass)
            k++;
        if (k == i)
            add_pass(v, i, out);
    }
    return v->n > 0 && !v->incomplete && !out->failed;
}

static void ran_variants_clear(struct ran_variants *v)
{
    lab_free(v->list);
    *v = (struct ran_variants){0};
}

enum { NOTE_BYTES = 1024 };

struct lab_recording {
    const struct lab_lesson_run *of;
    bool eager; /* the run's row is made at once, not at its first step, or */
    bool whole; /* with the first iteration's end, where its records wait */
    char *db;
    uint64_t seed;
    double lr;                     /* NaN: nothing is updated */
    char rate[LAB_RATE_TEXT];      /* its schedule */
    int64_t start_ns;              /* of the run, monotonic; and */
    int64_t start_cpu_ns;          /* processor time of the process by then */
    double flop;                   /* of an iteration, from the shapes */
    struct lab_machine_watch *use; /* of `eager`: it runs without pauses */
    enum lab_counter_set counters; /* as asked for */
    bool counters_refused;
    char counters_note[NOTE_BYTES]; /* why */
    struct lab_live *live;
    struct lab_sink sink; /* to the profiler: the window, then the writer */
    struct lab_profiler *profiler;
    enum lab_trace_state trace_state; /* of the run, and */
    struct lab_profiler_stats stats;  /* when the profiler has gone */
    struct lab_device_info device;
    char backend[16];
    char variants[LAB_VARIANTS_TEXT]; /* as chosen at the start */
    const char *variants_from;        /* measured, table or chosen */
    struct lab_choices choices;       /* those by time, at the start */
    struct lab_kept_times *times;
    int64_t batch;
    enum lab_time_source time_source;
    enum lab_status status;
    /* The writer comes when a run's first step has run. No thread waits for the
     * disk under the lock: it is opened and ended outside. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct lab_writer *_Atomic writer;
    struct lab_sink to;       /* the writer's */
    atomic_int holders;       /* threads that use the writer: it must not go */
    atomic_bool ending;       /* a restart waits for the holders */
    atomic_bool left;         /* within the first iteration */
    bool begun;               /* the walk is open: records may make it */
    bool opening;             /* a thread is making it */
    struct lab_record *early; /* of an iteration that is not whole yet */
    size_t n_early;
    struct ran_variants ran; /* of this run */
    size_t early_room;
    bool refused;      /* the database is not to be had */
    int64_t ended_run; /* the last that a restart has ended; 0: none */
    char note[NOTE_BYTES];
    char note_id[LAB_ERROR_ID_BYTES]; /* of the error in it */
    char trace_note[NOTE_BYTES];      /* the profiler's, which goes before us */
};

/* The figures of a session, as its run keeps them. */

void lab_recording_summarize(const struct lab_snapshot *snap,
                             struct lab_run_summary *out)
{
    lab_run_summary_init(out);
    out->iterations =
        snap->iteration - snap->first_iteration + (snap->position > 0);
    out->accuracy = snap->accuracy;
    out->loss_last = snap->loss;
    if (snap->losses.n > 0) {
        out->loss_first = snap->losses.value[0];
        if (isnan(snap->loss))
            out->loss_last = snap->losses.value[snap->losses.n - 1];
    }
    if (!isnan(snap->step_ms_median))
        out->iteration_median_ns = (int64_t)(snap->step_ms_median * 1e6);
}

/* ---- the writer, when it is needed ---- */

static int64_t known(int64_t v)
{
    return v > 0 ? v : LAB_UNKNOWN;
}

static const char *known_text(const char *s)
{
    return s[0] ? s : NULL;
}

void lab_run_device_fill(struct lab_run_device *d,
                         const struct lab_device_info *info, bool gpu)
{
    d->name = known_text(info->name);
    d->chip = known_text(info->chip);
    d->driver = known_text(info->driver);
    d->runtime = known_text(info->runtime);
    d->uuid = known_text(info->uuid);
    d->gpu = gpu;
    d->device_id = info->device_id;
    d->compute_major = known(info->compute_major);
    d->compute_minor = d->gpu ? info->compute_minor : LAB_UNKNOWN;
    d->sm_count = known(info->sm_count);
    d->warp_size = known(info->warp_size);
    d->max_warps_per_sm = known(info->max_warps_per_sm);
    d->max_blocks_per_sm = known(info->max_blocks_per_sm);
    d->max_registers_per_sm = known(info->max_registers_per_sm);
    d->max_shared_per_sm_bytes = known(info->max_shared_per_sm_bytes);
    d->max_shared_per_block_optin_bytes =
        known(info->max_shared_per_block_optin_bytes);
    d->memory_bytes = known(info->memory_bytes);
    d->memory_bytes_per_s = known((int64_t)info->peak_dram_bytes_s);
    d->l2_bytes = known(info->l2_bytes);
    d->clock_hz = known(info->clock_hz);
}

static enum lab_status make_writer(struct lab_recording *r,
                                   struct lab_writer **out)
{
    struct lab_run_info info;
    lab_run_info_init(&info);
    info.row.lesson = r->of->lesson->id;
    info.row.lesson_path = r->of->lesson->path;
    info.row.title = r->of->lesson->title;
    info.row.backend = r->backend;
    info.row.precision = lab_precision_name(r->of->spec.precision);
    info.row.variants = known_text(r->variants);
    info.row.variants_from = r->variants_from;
    info.choices = r->choices.list;
    info.n_choices = r->choices.n;
    if (strcmp(r->backend, "cuda") != 0)
        info.row.threads = lab_threads();
    info.row.version = lab_version();
    info.row.commit = known_text(lab_commit());
    info.row.counters = lab_counter_set_name(r->counters);
    if (strcmp(r->backend, "sim") == 0) {
        info.row.counters = "simulated";
        info.row.counters_reason = "each launch is counted as it is simulated";
    } else if (r->counters_refused) {
        info.row.counters = "refused";
        info.row.counters_reason = r->counters_note;
    }
    info.row.seed = r->seed;
    info.row.learning_rate = r->lr;
    if (!isnan(r->lr))
        info.row.lesson_learning_rate = lab_network_lr(&r->of->lesson->spec);
    info.row.batch = r->batch;
    if (!isnan(r->lr)) {
        info.row.optimizer = lab_network_optimizer(&r->of->spec).op->name;
        info.row.rate_schedule = r->rate[0] ? r->rate : "constant";
    }
    info.row.validation = r->of->spec.data.validation;
    info.row.early_stop = r->of->spec.early_stop;
    info.time_source = r->time_source;
    info.trace_state =
        r->profiler ? lab_profiler_trace_state(r->profiler) : LAB_TRACE_UNKNOWN;
    lab_run_device_fill(&info.device, &r->device,
                        strcmp(r->backend, "cpu") != 0);
    return lab_writer_new(out, r->db, &info, NULL);
}

/* What came before the run, in its order. */
static void hand_on(struct lab_recording *r, struct lab_writer *w)
{
    struct lab_sink sink = lab_writer_sink(w);
    pthread_mutex_lock(&r->lock);
    struct lab_record *early = r->early;
    size_t n = r->n_early;
    r->early = NULL;
    r->n_early = r->early_room = 0;
    pthread_mutex_unlock(&r->lock);
    for (size_t i = 0; i < n; i++)
        sink.push(sink.user, &early[i]);
    lab_free(early);
}

/* The last error, which `what` leads to. */
static void note_error(struct lab_recording *r, const char *what)
{
    snprintf(r->note, sizeof(r->note), "%s: %s", what, lab_error());
    snprintf(r->note_id, sizeof(r->note_id), "%s", lab_error_id());
}

/* One thread opens it; the others that record wait for that. What a GPU does
 * while the walk is opened is of no run: one that is refused leaves none. */
static enum lab_status open_writer(struct lab_recording *r)
{
    struct lab_writer *w = NULL;
    enum lab_status st = LAB_OK;
    pthread_mutex_lock(&r->lock);
    while (r->opening || r->ending)
        pthread_cond_wait(&r->changed, &r->lock);
    bool open = r->begun && !r->writer && !r->refused;
    r->opening = open;
    pthread_mutex_unlock(&r->lock);
    if (!open)
        return LAB_OK;
    lab_kept_times_store(r->times); /* where there was no database yet */
    st = make_writer(r, &w);
    if (w)
        hand_on(r, w);
    pthread_mutex_lock(&r->lock);
    r->writer = w;
    if (w)
        r->to = lab_writer_sink(w);
    r->refused = st != LAB_OK;
    if (st)
        note_error(r, "the run is not recorded");
    r->opening = false;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return st;
}

/* The writer, kept from ending until release_writer(); NULL: there is none. */
static struct lab_writer *hold(struct lab_recording *r)
{
    atomic_fetch_add(&r->holders, 1);
    return atomic_load(&r->writer);
}

static void release_writer(struct lab_recording *r)
{
    if (atomic_fetch_sub(&r->holders, 1) > 1 || !atomic_load(&r->ending))
        return;
    pthread_mutex_lock(&r->lock);
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* Keeps a record until there is a run; false: there is room for no more. */
static bool keep_early(struct lab_recording *r, const struct lab_record *record)
{
    enum { MOST = 1 << 16 };
    pthread_mutex_lock(&r->lock);
    bool kept = r->n_early < MOST;
    if (kept && r->begun && !r->refused)
        kept = !lab_grow(&r->early, r->n_early, &r->early_room,
                         sizeof(*r->early), "a record");
    if (kept && r->begun && !r->refused)
        r->early[r->n_early++] = *record;
    pthread_mutex_unlock(&r->lock);
    return kept;
}

/* The first record of a step opens the writer, or the loss that ends the first
 * iteration. */
static int push(void *user, const struct lab_record *record)
{
    struct lab_recording *r = user;
    bool step = record->kind == LAB_RECORD_STEP;
    if (step) {
        pthread_mutex_lock(&r->lock);
        ran_variants_note(&r->ran, &record->u.step);
        pthread_mutex_unlock(&r->lock);
    }
    struct lab_writer *w = hold(r);
    if (!w) {
        release_writer(r); /* opening waits for a restart, and it for holders */
        bool opens = r->whole ? (record->kind == LAB_RECORD_LOSS &&
                                 !atomic_load(&r->left)) ||
                                    !keep_early(r, record)
                              : step || record->kind == LAB_RECORD_KERNEL;
        if (!opens)
            return 1;
        open_writer(r);
        w = hold(r);
    }
    int rc = w ? r->to.push(r->to.user, record) : 1;
    release_writer(r);
    return rc;
}

void lab_recording_leave(struct lab_recording *r)
{
    atomic_store(&r->left, true);
}

/* ---- life ---- */

static void recording_free(struct lab_recording *r)
{
    if (!r)
        return;
    lab_profiler_free(r->profiler);
    lab_writer_free(r->writer);
    lab_live_free(r->live);
    lab_free(r->early);
    lab_kept_times_free(r->times);
    ran_variants_clear(&r->ran);
    lab_free(r->choices.list);
    pthread_mutex_destroy(&r->lock);
    lab_machine_watch_free(r->use);
    pthread_cond_destroy(&r->changed);
    lab_free(r->db);
    lab_free(r);
}

static enum lab_status recording_new(struct lab_recording **out,
                                     const struct lab_lesson_run *of,
                                     bool eager, bool whole)
{
    struct lab_recording *r = lab_alloc(sizeof(*r));
    const struct lab_options *run = of->options;
    struct lab_str path;
    if (!r)
        return lab_fail(LAB_E_NOMEM, "no memory to record");
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->of = of;
    r->eager = eager;
    r->whole = whole;
    r->seed = of->spec.seed;
    if (run->counters)
        r->counters = lab_counter_set_find(run->counters);
    lab_str_init(&path);
    if (run->db)
        lab_str_add(&path, run->db);
    else if (lab_database_default_path(&path)) {
        r->refused = true;
        note_error(r, "the run is not recorded");
    }
    r->db = lab_str_detach(&path);
    r->times =
        lab_kept_times_new(r->refused ? NULL : r->db, of->spec.precision);
    enum lab_status st = lab_live_new(&r->live, NULL);
    if (!st && (!r->db || !r->times))
        st = lab_fail(LAB_E_NOMEM, "no memory to record");
    if (st) {
        recording_free(r);
        return st;
    }
    struct lab_sink own = {r, push};
    r->sink = lab_live_tee(r->live, &own);
    *out = r;
    return LAB_OK;
}

/* ---- hooks ---- */

/* What the trace lacks. A processor has none: a note only where one was asked for. */
static const char *trace_note(const struct lab_recording *r, bool gpu)
{
    if (!gpu && (r->of->options->trace_asked || r->of->options->graph_nodes))
        return r->of->options->graph_nodes
                   ? "--graph-nodes: CUDA graphs are a GPU's, and this run is "
                     "on the CPU: each step is launched by itself"
                   : "--trace: a trace of kernels and copies is a GPU's, "
                     "and this run is on the CPU: what is recorded is each "
                     "step, timed by the host's clock";
    return r->profiler ? lab_profiler_note(r->profiler) : "";
}

static void recording_prepare(void *recording, const char *backend)
{
    struct lab_recording *r = recording;
    const struct lab_cuda_module *module = NULL;
    bool gpu = strcmp(backend, "cuda") == 0;
    bool sim = strcmp(backend, "sim") == 0;
    snprintf(r->backend, sizeof(r->backend), "%s", backend);
    lab_profiler_free(r->profiler);
    r->profiler = NULL;
    if (gpu && lab_cuda_load(&module))
        return; /* the backend will not open either, and reports why */
    struct lab_profiler_config config = {.sink = &r->sink,
                                         .backend = r->backend,
                                         .gpu = gpu   ? module->profiler
                                                : sim ? &lab_gpu_profiler_sim
                                                      : NULL,
                                         .no_trace = r->of->options->no_trace,
                                         .trace.graph_nodes =
                                             r->of->options->graph_nodes};
    if (r->of->options->trace_kernels)
        config.trace.records = LAB_GPU_RECORDS_KERNELS;
    r->status = lab_profiler_new(&r->profiler, &config);
    pthread_mutex_lock(&r->lock);
    snprintf(r->trace_note, sizeof(r->trace_note), "%s", trace_note(r, gpu));
    pthread_mutex_unlock(&r->lock);
}

/* Once, when the backend is open; the answer is stored with the run. */
static void probe_counters(struct lab_recording *r)
{
    const char *text = "hardware counters are a GPU's; this backend has none";
    if (strcmp(r->backend, "sim") == 0) /* counts as it runs */
        r->counters = LAB_COUNTERS_OFF;
    if (r->counters == LAB_COUNTERS_OFF)
        return;
    r->counters_refused =
        strcmp(r->backend, "cuda") != 0 || !r->profiler ||
        lab_profiler_counters_probe(r->profiler, &text) != LAB_OK;
    if (r->counters_refused)
        snprintf(r->counters_note, sizeof(r->counters_note), "%s", text);
}

/* What is known of the run that begins now. */
static void note_run(struct lab_recording *r, struct lab_walk *walk)
{
    const struct lab_plan *plan = lab_walk_plan(walk);
    r->lr = lab_plan_lr(plan);
    lab_rate_text(&plan->rate, r->rate);
    r->start_ns = lab_clock_monotonic_ns();
    r->start_cpu_ns = lab_clock_process_ns();
    r->flop = lab_tune_flop(plan);
    lab_variants_text(walk, r->variants);
    lab_choices_note(&r->choices, walk);
}

/* A walk waits for its learner; energy and a GPU's use are of runs that go on by
 * themselves. A simulated GPU has neither. Without memory for it they stay unknown. */
static void watch_machine(struct lab_recording *r)
{
    if (r->eager && !r->use && strcmp(r->backend, "sim") != 0)
        (void)lab_machine_watch_start(&r->use, &r->device);
}

double lab_recording_energy(struct lab_recording *r)
{
    struct lab_machine_use use;
    lab_machine_watch_read(r->use, &use);
    return use.counted_j;
}

/* On a GPU the process's memory and processor time are not what computes. */
static void note_machine(const struct lab_recording *r,
                         struct lab_run_summary *out)
{
    struct rusage used;
    struct lab_machine_use use;
    double wall = (double)(lab_clock_monotonic_ns() - r->start_ns);
    lab_machine_watch_read(r->use, &use);
    out->energy_j = use.energy_j;
    out->memory_peak_bytes = use.memory_peak_bytes;
    out->utilization_pct = use.utilization_pct;
    out->iteration_flop = r->flop;
    if (strcmp(r->backend, "cpu") != 0)
        return;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        out->memory_peak_bytes = (int64_t)used.ru_maxrss * 1024;
    if (wall > 0)
        out->utilization_pct =
            100 * (double)(lab_clock_process_ns() - r->start_cpu_ns) / wall /
            (double)lab_threads();
}

static void recording_opened(void *recording, struct lab_walk *walk)
{
    struct lab_recording *r = recording;
    struct lab_observer observer;
    struct lab_backend *be = lab_walk_backend(walk);
    lab_backend_info(be, &r->device);
    snprintf(r->backend, sizeof(r->backend), "%s", be->ops->name);
    r->batch = lab_walk_plan(walk)->batch;
    note_run(r, walk);
    lab_kept_times_opened(r->times);
    r->variants_from = lab_variants_from_name(
        lab_variants_from(&r->of->spec, r->of->options, walk));
    if (!r->refused && access(r->db, F_OK) == 0)
        lab_kept_times_store(r->times);
    if (r->profiler) {
        lab_profiler_set_device(r->profiler, &r->device);
        r->time_source = lab_profiler_time_source(r->profiler);
        lab_walk_time_with_events(walk, r->time_source == LAB_TIME_CUDA_EVENTS);
        lab_profiler_observer(r->profiler, &observer);
        if (!r->status)
            lab_walk_observe(walk, &observer);
    }
    probe_counters(r);
    watch_machine(r);
    pthread_mutex_lock(&r->lock);
    r->begun = true;
    pthread_mutex_unlock(&r->lock);
    if (!r->eager || r->status)
        return;
    r->status = open_writer(r);
    if (!r->of->options
             ->db) /* the usual place is a convenience, not a demand */
        r->status = LAB_OK;
}

/* Finishes the run, with the variants that were timed. `noted`: the summary has
 * what the machine used (note_machine). */
static enum lab_status finish(struct lab_recording *r, struct lab_writer *w,
                              const struct lab_run_summary *summary, bool noted)
{
    struct lab_run_summary whole = *summary;
    struct lab_str variants;
    lab_str_init(&variants);
    if (!noted)
        note_machine(r, &whole);
    pthread_mutex_lock(&r->lock);
    if (ran_variants_text(&r->ran, &variants))
        whole.variants = lab_str_text(&variants);
    pthread_mutex_unlock(&r->lock);
    enum lab_status st = lab_writer_finish(w, &whole);
    lab_str_release(&variants);
    return st;
}

/* Ends a writer that no thread holds and no record reaches any more; the restart
 * has noted the machine for it. */
static void end_writer(struct lab_recording *r, struct lab_writer *w,
                       const struct lab_run_summary *summary)
{
    if (finish(r, w, summary, true)) {
        char what[64];
        snprintf(what, sizeof(what), "run %lld was not stored whole",
                 (long long)lab_writer_run(w));
        pthread_mutex_lock(&r->lock);
        note_error(r, what);
        pthread_mutex_unlock(&r->lock);
    }
    lab_writer_free(w);
}

/* It is listed as done while its screen is still open. */
static void trained(void *recording, const struct lab_snapshot *now)
{
    struct lab_recording *r = recording;
    struct lab_run_summary summary;
    struct lab_writer *w = hold(r);
    lab_recording_summarize(now, &summary);
    note_machine(r, &summary);
    if (w)
        (void)lab_writer_settle(w, &summary); /* the end reports what fails */
    release_writer(r);
}

static void restarted(void *recording, struct lab_walk *walk, uint64_t seed,
                      const struct lab_snapshot *before)
{
    struct lab_recording *r = recording;
    struct lab_run_summary summary;
    int steps = before->schedule ? before->schedule->n_steps : 0;
    bool finished = before->iteration > before->first_iteration ||
                    before->position >= steps;
    lab_recording_summarize(before, &summary);
    note_machine(r, &summary);
    if (!finished)
        summary.status = LAB_RUN_CANCELLED;
    pthread_mutex_lock(&r->lock);
    while (r->opening)
        pthread_cond_wait(&r->changed, &r->lock);
    r->ending = true;
    struct lab_writer *w = atomic_exchange(&r->writer, NULL);
    while (atomic_load(&r->holders) > 0)
        pthread_cond_wait(&r->changed, &r->lock);
    r->n_early = 0; /* of the walk that ends here */
    r->seed = seed;
    note_run(r, walk);
    if (w)
        r->ended_run = lab_writer_run(w);
    r->ending = false;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    if (w)
        end_writer(r, w, &summary);
    pthread_mutex_lock(&r->lock);
    ran_variants_clear(&r->ran);
    pthread_mutex_unlock(&r->lock);
}

static void recording_closing(void *recording, struct lab_walk *walk)
{
    struct lab_recording *r = recording;
    (void)walk;
    if (r->profiler) {
        r->trace_state = lab_profiler_trace_state(r->profiler);
        lab_profiler_get_stats(r->profiler, &r->stats);
    }
    lab_profiler_free(r->profiler); /* hands out what it still holds */
    r->profiler = NULL;
}

/* ---- reading ---- */

/* What opening met: LAB_OK, or with `eager` why the database refuses. */
static enum lab_status recording_status(const struct lab_recording *r)
{
    if (r->status && r->note[0])
        return lab_fail_id(r->status, r->note_id, "%s", r->note);
    return r->status;
}

struct lab_live *lab_recording_live(struct lab_recording *r)
{
    return r->live;
}

static void add_writer_notes(struct lab_writer *w, struct lab_str *out)
{
    struct lab_writer_state state;
    lab_writer_get_state(w, &state);
    if (state.failed)
        lab_str_addf(out, "recording has stopped, %llu records lost: %s\n",
                     (unsigned long long)state.lost, state.error);
    if (state.ring.dropped)
        lab_str_addf(out,
                     "%llu records were dropped: the ring was full for longer "
                     "than the producer may wait\n",
                     (unsigned long long)state.ring.dropped);
}

void lab_recording_note(struct lab_recording *r, struct lab_str *out)
{
    struct lab_writer *w = hold(r);
    pthread_mutex_lock(&r->lock);
    if (r->trace_note[0])
        lab_str_addf(out, "%s\n", r->trace_note);
    if (r->counters_refused)
        lab_str_addf(out, "--counters %s: %s\n",
                     lab_counter_set_name(r->counters), r->counters_note);
    lab_kept_times_note(r->times, out);
    if (r->note[0])
        lab_str_addf(out, "%s\n", r->note);
    pthread_mutex_unlock(&r->lock);
    if (w)
        add_writer_notes(w, out);
    release_writer(r);
}

void lab_recording_get_state(struct lab_recording *r,
                             struct lab_recording_state *out)
{
    struct lab_writer_state state = {.run = 0};
    struct lab_writer *w = hold(r);
    bool traced = r->stats.observer_ns > 0 &&
                  r->trace_state != LAB_TRACE_UNKNOWN &&
                  r->trace_state != LAB_TRACE_NEVER;
    *out = (struct lab_recording_state){
        .trace_calls_ms = traced ? (double)r->stats.observer_ns / 1e6 : NAN,
        .trace_callbacks_ms =
            traced ? (double)r->stats.gpu.callback_ns / 1e6 : NAN};
    if (w) {
        lab_writer_get_state(w, &state);
        out->run = lab_writer_run(w);
        out->lost = (int64_t)(state.lost + state.ring.dropped);
        snprintf(out->error, sizeof(out->error), "%s",
                 state.failed ? state.error
                 : out->lost  ? "the ring was full for longer than the "
                                "producer may wait"
                              : "");
        out->whole = !state.failed && out->lost == 0;
        out->empty = !out->whole && state.stored == 0;
    } else {
        pthread_mutex_lock(&r->lock);
        out->run = r->ended_run;
        snprintf(out->error, sizeof(out->error), "%s", r->note);
        out->whole = out->run > 0 && !r->note[0]; /* one that a restart ended */
        pthread_mutex_unlock(&r->lock);
    }
    release_writer(r);
}

int64_t lab_recording_mark(struct lab_recording *r)
{
    struct lab_writer *w = hold(r);
    int64_t mark = w ? lab_writer_mark(w) : LAB_UNKNOWN;
    release_writer(r);
    return mark;
}

bool lab_recording_stored(struct lab_recording *r, int64_t mark)
{
    struct lab_writer *w = hold(r);
    bool stored = !w || lab_writer_stored(w, mark);
    release_writer(r);
    return stored;
}

enum lab_status lab_recording_flush(struct lab_recording *r)
{
    struct lab_writer *w = hold(r);
    enum lab_status st = w ? lab_writer_flush(w) : LAB_OK;
    release_writer(r);
    return st;
}

enum lab_status lab_recording_finish(struct lab_recording *r,
                                     const struct lab_run_summary *summary)
{
    struct lab_writer *w = hold(r);
    struct lab_run_summary whole = *summary;
    whole.trace_state = lab_recording_trace_state(r);
    whole.time_source = r->time_source;
    enum lab_status st = w ? finish(r, w, &whole, false) : LAB_OK;
    release_writer(r);
    return st;
}

/* What a recording's profiler does on demand: counting, and the trace off and
 * on. */

bool lab_recording_counts(const struct lab_recording *r)
{
    return !r->counters_refused && r->counters != LAB_COUNTERS_OFF;
}

enum lab_status lab_recording_count(struct lab_recording *r,
                                    struct lab_walk *walk, int from, int to,
                                    struct lab_counted *out)
{
    enum lab_counter_set set = r->counters ? r->counters : LAB_COUNTERS_BASIC;
    if (r->counters_refused)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[run.counters-refused] counters: %s",
                        r->counters_note);
    if (!r->profiler || strcmp(r->backend, "cuda") != 0)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[run.counters-backend] counters: hardware counters are a "
            "GPU's, and this run is on %s",
            r->backend);
    return lab_profiler_count(r->profiler, walk, from, to, set, out);
}

static enum lab_status count_text(void *recording, struct lab_walk *walk,
                                  int from, int to, char *report, size_t bytes)
{
    struct lab_counted c;
    enum lab_status st = lab_recording_count(recording, walk, from, to, &c);
    if (!st)
        snprintf(report, bytes,
                 "counted %lld kernels: %d counters, %d passes, %s",
                 (long long)c.kernels, c.metrics, c.passes,
                 LAB_NS_TEXT((double)c.wall_ns));
    return st;
}

enum lab_trace_state lab_recording_trace_state(const struct lab_recording *r)
{
    return r->profiler ? lab_profiler_trace_state(r->profiler) : r->trace_state;
}

void lab_recording_trace_cost(const struct lab_recording *r, double seconds,
                              struct lab_str *out)
{
    struct lab_profiler_stats s = r->stats;
    enum lab_trace_state state = lab_recording_trace_state(r);
    if (r->profiler)
        lab_profiler_get_stats(r->profiler, &s);
    bool untimed = strcmp(r->backend, "sim") == 0; /* and nothing to slow */
    if (untimed || (state != LAB_TRACE_ON && state != LAB_TRACE_KERNELS &&
                    state != LAB_TRACE_MIXED))
        return;
    lab_str_addf(
        out,
        "%s in the profiler's own calls, %s on CUPTI's thread, for %llu "
        "kernels",
        LAB_NS_TEXT((double)s.observer_ns),
        LAB_NS_TEXT((double)s.gpu.callback_ns),
        (unsigned long long)s.join.kernels);
    if (seconds > 0)
        lab_str_addf(out, ", beside %s of training",
                     LAB_NS_TEXT(seconds * 1e9));
}

static enum lab_gpu_records records_of(const char *word)
{
    if (strcmp(word, "kernels") == 0)
        return LAB_GPU_RECORDS_KERNELS;
    return strcmp(word, "on") == 0 ? LAB_GPU_RECORDS_ALL : LAB_GPU_RECORDS_NONE;
}

static enum lab_status trace_text(void *recording, struct lab_walk *walk,
                                  const char *what, char *report, size_t bytes)
{
    struct lab_recording *r = recording;
    enum lab_status st = LAB_OK;
    struct lab_str cost;
    if (!r->profiler)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[run.not-recorded] nothing is recorded");
    if (what[0]) {
        st = lab_walk_recapture(walk);
        if (!st)
            st = lab_walk_sync(walk);
        if (!st)
            st = lab_profiler_trace(r->profiler, records_of(what));
        r->time_source = lab_profiler_time_source(r->profiler);
        lab_walk_time_with_events(walk, r->time_source == LAB_TIME_CUDA_EVENTS);
    }
    if (st)
        return st;
    lab_str_init(&cost);
    lab_recording_trace_cost(r, NAN, &cost);
    snprintf(report, bytes, "the run is timed %s%s%s",
             lab_recording_trace_state(r) == LAB_TRACE_UNKNOWN
                 ? "by the host's clock: nothing is traced"
                 : lab_trace_state_text(lab_recording_trace_state(r)),
             cost.len ? "; it cost " : "", lab_str_text(&cost));
    lab_str_release(&cost);
    return LAB_OK;
}

static enum lab_status begin_kept(void *recording, struct lab_walk *walk,
                                  struct lab_str *notice)
{
    const struct lab_lesson_run *w = ((struct lab_recording *)recording)->of;
    return w->kept ? lab_kept_take(w->kept, walk,
                                   w->options->resume ? LAB_KEPT_CONTINUE
                                                      : LAB_KEPT_LOAD,
                                   NULL, notice)
                   : LAB_OK;
}

static enum lab_status save_text(void *recording, struct lab_walk *walk,
                                 const char *path, bool force, char *report,
                                 size_t bytes)
{
    const struct lab_lesson_run *w = ((struct lab_recording *)recording)->of;
    int64_t n = 0;
    if (!force && access(path, F_OK) == 0)
        return lab_fail(
            LAB_E_IO,
            "[kept.exists] %s: there is such a file already; `save %s force` "
            "overwrites it",
            path, path);
    enum lab_status st =
        lab_kept_save(walk, w->lesson->id, path, w->options->db, true, &n);
    if (!st)
        snprintf(report, bytes, "%s has the network after %lld iteration%s",
                 path, (long long)n, n == 1 ? "" : "s");
    return st;
}

static enum lab_status load(void *recording, struct lab_walk *walk,
                            const char *path,
                            const struct lab_walk_ready *ready,
                            struct lab_str *notice)
{
    struct lab_kept *k = NULL;
    (void)recording;
    enum lab_status st = lab_kept_open(&k, path);
    if (!st)
        st = lab_kept_take(k, walk, LAB_KEPT_LOAD, ready, notice);
    lab_kept_free(k);
    return st;
}

static void recording_attach(struct lab_recording *r,
                             struct lab_session_config *config)
{
    config->setup.prepare = recording_prepare;
    config->setup.begin = begin_kept;
    config->setup.user = r;
    config->hooks = (struct lab_session_hooks){.user = r,
                                               .opened = recording_opened,
                                               .restarted = restarted,
                                               .closing = recording_closing,
                                               .trained = trained,
                                               .count = count_text,
                                               .trace = trace_text,
                                               .save = save_text,
                                               .load = load};
}

/* ---- opening and closing ---- */

enum lab_status lab_lesson_run_lesson(const char *name, const char *db,
                                      struct lab_lesson **out)
{
    enum lab_status st = lab_lesson_open(out, name);
    if (st || (*out)->kind == LAB_LESSON_NETWORK)
        return st;
    struct lab_str run = lab_suggest_command_text(db, LAB_WORDS("lab", name));
    st =
        lab_fail(LAB_E_USAGE,
                 "[lesson.is-lab] %s is a lab and has no network to walk: `%s`",
                 name, lab_str_text(&run));
    lab_str_release(&run);
    lab_lesson_free(*out);
    *out = NULL;
    return st;
}

/* --load or --continue: the file, and of a training that goes on its seed and
 * learning rate. */
static enum lab_status read_kept(struct lab_lesson_run *w)
{
    const struct lab_options *o = w->options;
    struct lab_kept_facts facts;
    if (!o->load && !o->resume)
        return LAB_OK;
    if (o->resume && (o->load || o->given.seed))
        return lab_fail(LAB_E_USAGE,
                        "[option.continue] --continue goes on with the seed "
                        "and the parameters of its file: leave %s out",
                        o->load ? "--load" : "--seed");
    enum lab_status st = lab_kept_open(&w->kept, o->load ? o->load : o->resume);
    if (st || !o->resume)
        return st;
    st = lab_kept_facts(w->kept, w->lesson->id, &facts);
    if (st)
        return st;
    w->spec.seed = facts.seed;
    if (!isnan(facts.lr))
        lab_network_set_lr(&w->spec, facts.lr);
    return LAB_OK;
}

/* The lesson with the options' seed, learning rate and precision, and its
 * recording. */
static enum lab_status read_lesson(struct lab_lesson_run *w,
                                   const struct lab_options *o,
                                   const char *name, bool eager, bool whole)
{
    *w = (struct lab_lesson_run){.options = o};
    lab_str_init(&w->notice);
    enum lab_status st = lab_options_check_model(o);
    if (!st)
        st = lab_lesson_run_lesson(name, o->db, &w->lesson);
    if (st)
        return st;
    w->spec = w->lesson->spec;
    st = read_kept(w);
    if (st)
        return st;
    if (o->given.seed)
        w->spec.seed = o->seed;
    if (o->lr > 0)
        lab_network_set_lr(&w->spec, o->lr);
    if (o->early_stop > 0)
        w->spec.early_stop = o->early_stop;
    if (o->precision) {
        w->spec.precision = lab_precision_find(o->precision);
        w->spec.precision_place = (struct lab_place){0};
    }
    return recording_new(&w->recording, w, eager, whole);
}

/* `tells`: on stderr, what is measured. */
static struct lab_setup setup_of(const struct lab_lesson_run *w, bool tells)
{
    const struct lab_options *o = w->options;
    lab_sim_backend_budget(o->given.budget ? o->budget : LAB_SIM_LESSON_BUDGET);
    return (struct lab_setup){
        .spec = &w->spec,
        .backend = o->backend,
        .device = o->device,
        .device_model = o->device_model,
        .batch = o->batch,
        .data = o->data,
        .choices = o->choices,
        .n_choices = o->n_choices,
        .tune = lab_kept_times_keeper(w->recording->times, o, tells, "")};
}

static enum lab_status open_walk(struct lab_lesson_run *w,
                                 lab_lesson_run_check_fn *check)
{
    struct lab_setup setup = setup_of(w, true);
    setup.stop = (struct lab_stop){lab_signals_asked, NULL};
    setup.prepare = recording_prepare;
    setup.begin = begin_kept;
    setup.user = w->recording;
    enum lab_status st = lab_setup_open(&setup, &w->walk, &w->plan, &w->notice);
    lab_kept_times_opened(w->recording->times);
    if (!st && w->options->lr > 0 && isnan(lab_plan_lr(w->plan)))
        st = lab_fail(LAB_E_USAGE,
                      "[option.lr-no-parameter] --lr: %s has no parameter that "
                      "is updated, and no learning rate",
                      w->lesson->id);
    if (!st && check)
        st = check(w);
    if (st)
        return st;
    lab_walk_use_graph(w->walk, !w->options->no_graph);
    lab_backend_info(lab_walk_backend(w->walk), &w->device);
    if (w->options->device > 0 && lab_walk_backend(w->walk)->host_memory)
        lab_warn("--device %d is not used: the lesson runs on the CPU",
                 w->options->device);
    recording_opened(w->recording, w->walk);
    /* Without CUPTI a graph's steps would have no times. */
    lab_walk_graph_nodes(w->walk,
                         w->options->graph_nodes &&
                             w->recording->time_source == LAB_TIME_CUPTI);
    return recording_status(w->recording);
}

enum lab_status lab_lesson_run_open(struct lab_lesson_run *w,
                                    const struct lab_options *options,
                                    const char *lesson,
                                    lab_lesson_run_check_fn *check)
{
    enum lab_status st = read_lesson(w, options, lesson, true, false);
    if (!st)
        st = open_walk(w, check);
    if (st)
        lab_lesson_run_close(w);
    return st;
}

enum lab_status lab_lesson_run_start(struct lab_lesson_run *w,
                                     const struct lab_options *options,
                                     const char *lesson, bool whole,
                                     void (*wake)(void *user), void *user)
{
    enum lab_status st = read_lesson(w, options, lesson, false, whole);
    if (st)
        return st;
    struct lab_session_config config = {.setup = setup_of(w, !wake),
                                        .wake = wake,
                                        .wake_user = user,
                                        .epochs = options->epochs};
    recording_attach(w->recording, &config);
    return lab_session_new(&w->session, &config);
}

void lab_lesson_run_finish(struct lab_lesson_run *w,
                           const struct lab_run_summary *summary,
                           struct lab_recording_state *out)
{
    recording_closing(w->recording, w->walk);
    lab_recording_finish(w->recording, summary);
    lab_recording_get_state(w->recording, out);
    if (out->run == 0 || out->whole)
        return; /* there was a warning at the start */
    if (out->empty)
        lab_warn("recording has stopped: nothing of run %lld is stored: %s",
                 (long long)out->run, out->error);
    else
        lab_warn("recording has stopped: run %lld lacks %lld records: %s",
                 (long long)out->run, (long long)out->lost, out->error);
}

int lab_lesson_run_code(int code, const struct lab_recording_state *kept)
{
    return code == LAB_EXIT_DONE && kept->empty ? LAB_EXIT_INPUT : code;
}

enum lab_status lab_lesson_run_read(struct lab_lesson_run *w, int tensor,
                                    void **data)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!*data)
        return lab_fail(LAB_E_NOMEM, "no memory to read %s", t->name);
    enum lab_status st = lab_walk_read(w->walk, tensor, false, *data);
    if (st) {
        lab_free(*data);
        *data = NULL;
    }
    return st;
}

void lab_lesson_run_close(struct lab_lesson_run *w)
{
    lab_session_free(w->session);
    if (w->recording)
        recording_closing(w->recording, w->walk);
    lab_generator_free(w->generator);
    lab_walk_free(w->walk);
    lab_plan_free(w->plan);
    recording_free(w->recording);
    lab_kept_free(w->kept);
    lab_lesson_free(w->lesson);
    lab_str_release(&w->notice);
    *w = (struct lab_lesson_run){0};
}

void lab_lesson_run_warn(struct lab_lesson_run *w)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_recording_note(w->recording, &text);
    /* Without a GPU `auto` is no reason for a warning on every run. */
    const char *notice = lab_setup_notice_rest(lab_str_text(&w->notice));
    if (notice[0])
        lab_warn("%s", notice);
    lab_warn_lines(lab_str_text(&text));
    lab_str_release(&text);
}
