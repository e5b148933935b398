#include "recording.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/database.h"
#include "version.h"
#include "trace/intern.h"

enum { NOTE_BYTES = 1024, VARIANTS_BYTES = 512 };

struct lab_recording {
    const struct lab_lesson *lesson;
    char *db;
    bool db_given;
    bool eager;
    uint64_t seed;
    char counters[16];
    struct lab_live *live;
    struct lab_sink sink; /* to the profiler: the window, then the writer */
    struct lab_profiler *profiler;
    struct lab_device_info device;
    char backend[16];
    char variants[VARIANTS_BYTES];
    int64_t batch;
    enum lab_time_source time_source;
    enum lab_status status;
    pthread_mutex_t lock; /* the writer comes when the first step has run */
    struct lab_writer *writer;
    struct lab_sink writer_sink;
    bool refused; /* the database is not to be had */
    char note[NOTE_BYTES];
};

/* ---- the writer, when it is needed ---- */

static int64_t known(int64_t v)
{
    return v > 0 ? v : LAB_UNKNOWN;
}

static const char *known_text(const char *s)
{
    return s[0] ? s : NULL;
}

static void describe_device(const struct lab_recording *r,
                            struct lab_run_device *d)
{
    const struct lab_device_info *info = &r->device;
    d->name = known_text(info->name);
    d->chip = known_text(info->chip);
    d->driver = known_text(info->driver);
    d->runtime = known_text(info->runtime);
    d->uuid = known_text(info->uuid);
    d->gpu = strcmp(r->backend, "cuda") == 0;
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

static enum lab_status open_writer(struct lab_recording *r)
{
    struct lab_run_info info;
    lab_run_info_init(&info);
    info.lesson = r->lesson->id;
    info.lesson_path = r->lesson->path;
    info.title = r->lesson->title;
    info.backend = r->backend;
    info.precision = lab_precision_name(r->lesson->spec.precision);
    info.variants = known_text(r->variants);
    info.version = lab_version();
    info.commit = known_text(lab_commit());
    info.counters = r->counters;
    if (strcmp(r->counters, "off") != 0) {
        info.counters = "refused";
        info.counters_reason = "this version takes no hardware counters";
    }
    info.seed = r->seed;
    info.batch = r->batch;
    info.rank = 0;
    info.time_source = r->time_source;
    describe_device(r, &info.device);
    enum lab_status st = lab_writer_new(&r->writer, r->db, &info, NULL);
    if (st) {
        r->refused = true;
        snprintf(r->note, sizeof(r->note), "the run is not recorded: %s",
                 lab_error());
        return st;
    }
    r->writer_sink = lab_writer_sink(r->writer);
    return LAB_OK;
}

/* The first record of a step opens the writer. */
static int push(void *user, const struct lab_record *record)
{
    struct lab_recording *r = user;
    pthread_mutex_lock(&r->lock);
    bool opens =
        record->kind == LAB_RECORD_STEP || record->kind == LAB_RECORD_KERNEL;
    if (!r->writer && !r->refused && opens)
        open_writer(r);
    bool store = r->writer != NULL;
    pthread_mutex_unlock(&r->lock);
    return store ? r->writer_sink.push(r->writer_sink.user, record) : 1;
}

static uint32_t intern(void *user, const char *text)
{
    (void)user;
    return lab_intern(text);
}

/* ---- life ---- */

enum lab_status lab_recording_new(struct lab_recording **out,
                                  const struct lab_recording_options *options)
{
    struct lab_recording *r = lab_alloc(sizeof(*r));
    struct lab_str path;
    if (!r)
        return lab_fail(LAB_E_NOMEM, "no memory to record");
    pthread_mutex_init(&r->lock, NULL);
    r->lesson = options->lesson;
    r->eager = options->eager;
    r->seed = options->seed;
    r->db_given = options->db != NULL;
    snprintf(r->counters, sizeof(r->counters), "%s",
             options->counters ? options->counters : "off");
    lab_str_init(&path);
    if (options->db)
        lab_str_add(&path, options->db);
    else if (lab_database_default_path(&path)) {
        r->refused = true;
        snprintf(r->note, sizeof(r->note), "the run is not recorded: %s",
                 lab_error());
    }
    r->db = lab_str_detach(&path);
    enum lab_status st = lab_live_new(&r->live, NULL);
    if (!st && !r->db)
        st = lab_fail(LAB_E_NOMEM, "no memory to record");
    if (st) {
        lab_recording_free(r);
        return st;
    }
    struct lab_sink own = {r, push, intern};
    r->sink = lab_live_tee(r->live, &own);
    *out = r;
    return LAB_OK;
}

void lab_recording_free(struct lab_recording *r)
{
    if (!r)
        return;
    lab_profiler_free(r->profiler);
    lab_writer_free(r->writer);
    lab_live_free(r->live);
    pthread_mutex_destroy(&r->lock);
    lab_free(r->db);
    lab_free(r);
}

/* ---- hooks ---- */

void lab_recording_prepare(void *recording, const char *backend)
{
    struct lab_recording *r = recording;
    const struct lab_cuda_module *module = NULL;
    bool gpu = strcmp(backend, "cuda") == 0;
    snprintf(r->backend, sizeof(r->backend), "%s", backend);
    lab_profiler_free(r->profiler);
    r->profiler = NULL;
    if (gpu && lab_cuda_load(&module))
        return; /* the backend will not open either, and says why */
    struct lab_profiler_config config = {.sink = &r->sink,
                                         .backend = r->backend,
                                         .gpu = gpu ? module->profiler : NULL};
    r->status = lab_profiler_new(&r->profiler, &config);
}

static void note_variants(struct lab_recording *r, struct lab_walk *walk)
{
    const struct lab_schedule *s = lab_walk_schedule(walk);
    const struct lab_plan *plan = lab_walk_plan(walk);
    size_t used = 0;
    int last = -1;
    for (int i = 0; i < s->n_steps && used + 1 < sizeof(r->variants); i++) {
        const struct lab_schedule_step *step = &s->steps[i];
        bool plain = strcmp(step->variant->name, "naive") == 0;
        if (plain || step->step->phase != LAB_FORWARD ||
            step->step->node == last)
            continue;
        last = step->step->node;
        int n = snprintf(r->variants + used, sizeof(r->variants) - used,
                         "%s%s=%s", used ? " " : "", plan->nodes[last].id,
                         step->variant->name);
        used += n > 0 ? (size_t)n : 0;
    }
}

void lab_recording_opened(void *recording, struct lab_walk *walk)
{
    struct lab_recording *r = recording;
    struct lab_observer observer;
    struct lab_backend *be = lab_walk_backend(walk);
    lab_backend_info(be, &r->device);
    snprintf(r->backend, sizeof(r->backend), "%s", be->ops->name);
    r->batch = lab_walk_plan(walk)->batch;
    note_variants(r, walk);
    if (r->profiler) {
        lab_profiler_set_device(r->profiler, &r->device);
        r->time_source = lab_profiler_time_source(r->profiler);
        lab_walk_time_with_events(walk, r->time_source == LAB_TIME_CUDA_EVENTS);
        lab_profiler_observer(r->profiler, &observer);
        if (!r->status)
            r->status = lab_walk_observe(walk, &observer);
    }
    if (!r->eager || r->status)
        return;
    pthread_mutex_lock(&r->lock);
    if (!r->writer && !r->refused)
        r->status = open_writer(r);
    if (!r->db_given) /* the usual place is a convenience, not a demand */
        r->status = LAB_OK;
    pthread_mutex_unlock(&r->lock);
}

void lab_recording_closing(void *recording, struct lab_walk *walk)
{
    struct lab_recording *r = recording;
    (void)walk;
    lab_profiler_free(r->profiler); /* hands out what it still holds */
    r->profiler = NULL;
}

/* ---- reading ---- */

enum lab_status lab_recording_status(const struct lab_recording *r)
{
    if (r->status && r->note[0])
        return lab_fail(r->status, "%s", r->note);
    return r->status;
}

struct lab_live *lab_recording_live(struct lab_recording *r)
{
    return r->live;
}

enum lab_time_source lab_recording_time_source(const struct lab_recording *r)
{
    return r->time_source;
}

static struct lab_writer *writer_of(const struct lab_recording *r)
{
    struct lab_recording *open = (struct lab_recording *)r;
    pthread_mutex_lock(&open->lock);
    struct lab_writer *w = open->writer;
    pthread_mutex_unlock(&open->lock);
    return w;
}

int64_t lab_recording_run(const struct lab_recording *r)
{
    struct lab_writer *w = writer_of(r);
    return w ? lab_writer_run(w) : 0;
}

void lab_recording_note(struct lab_recording *r, struct lab_str *out)
{
    struct lab_writer *w = writer_of(r);
    struct lab_writer_state state;
    const char *trace = r->profiler ? lab_profiler_note(r->profiler) : "";
    if (trace[0])
        lab_str_addf(out, "%s\n", trace);
    if (r->note[0])
        lab_str_addf(out, "%s\n", r->note);
    if (!w)
        return;
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

enum lab_status lab_recording_flush(struct lab_recording *r)
{
    struct lab_writer *w = writer_of(r);
    return w ? lab_writer_flush(w) : LAB_OK;
}

enum lab_status lab_recording_finish(struct lab_recording *r,
                                     const struct lab_run_summary *summary)
{
    struct lab_writer *w = writer_of(r);
    return w ? lab_writer_finish(w, summary) : LAB_OK;
}
