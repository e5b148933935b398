/* A lab's run: variants within sizes, measured and stored: a step record for each repeat, so that lists and
 * comparisons of runs know it, and a row for each rung and size. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/exit.h"
#include "bench/bench.h"
#include "lesson/lesson.h"
#include "debug/recording.h"
#include "store/delete.h"
#include "trace/intern.h"
#include "base/version.h"

/* Before anything is measured: afterwards it would be no prediction. */
static enum lab_status store_predictions(struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < lab->n_predictions && lab->run && !st; i++)
        st = lab_prediction_add(lab->db, lab->run, &lab->predictions[i]);
    return st;
}

static enum lab_status db_path(const struct lab_bench_options *o,
                               struct lab_str *out)
{
    enum lab_status st = LAB_OK;
    if (o->db)
        lab_str_add(out, o->db);
    else
        st = lab_database_default_path(out);
    return st || !out->failed ? st : lab_no_memory("the database's name");
}

static enum lab_status open_db(const struct lab_bench_options *o,
                               struct lab_database **db)
{
    struct lab_str path;
    if (*db)
        return LAB_OK;
    lab_str_init(&path);
    enum lab_status st = db_path(o, &path);
    if (!st)
        st = lab_database_open(db, lab_str_text(&path), NULL);
    lab_str_release(&path);
    return st;
}

enum lab_status lab_bench_open_db(struct lab_bench *lab)
{
    return open_db(lab->options, &lab->db);
}

enum lab_status lab_bench_writer_open(const struct lab_bench_options *o,
                                      struct lab_run_info *info,
                                      const struct lab_device_info *device,
                                      struct lab_writer **writer,
                                      struct lab_database **db, int64_t *run)
{
    bool gpu = strcmp(info->backend, "cuda") == 0;
    struct lab_str path;
    info->kind = "lab";
    info->version = lab_version();
    info->commit = lab_commit()[0] ? lab_commit() : NULL;
    info->seed = o->seed;
    info->rank = 0;
    info->time_source = gpu ? LAB_TIME_CUDA_EVENTS : LAB_TIME_CPU_CLOCK;
    lab_run_device_fill(&info->device, device, gpu);
    lab_str_init(&path);
    enum lab_status st = db_path(o, &path);
    if (!st)
        st = lab_writer_new(writer, lab_str_text(&path), info, NULL);
    lab_str_release(&path);
    if (!st)
        st = open_db(o, db);
    if (!st)
        *run = lab_writer_run(*writer);
    return st;
}

static enum lab_status open_run(struct lab_bench *lab)
{
    struct lab_run_info info;
    char words[64];
    lab_run_info_init(&info);
    info.lesson = lab->lesson ? lab->lesson->id : lab->ladder->name;
    info.lesson_path = lab->lesson ? lab->lesson->path : NULL;
    info.title = lab->title;
    info.backend = lab->backend->ops->name;
    info.precision = lab_bench_precisions(lab, words, sizeof(words));
    info.counters = lab->options->counters;
    return lab_bench_writer_open(lab->options, &info, &lab->machine.info,
                                 &lab->writer, &lab->db, &lab->run);
}

/* A run that cannot be recorded whole is not recorded at all. */
static void abandon(struct lab_bench *lab, enum lab_status st)
{
    if (lab->writer)
        lab->run = lab_writer_run(lab->writer);
    lab_bench_record_end(lab, st);
    lab->run = 0;
}

enum lab_status lab_bench_record_begin(struct lab_bench *lab)
{
    enum lab_status st = open_run(lab);
    if (!st)
        st = store_predictions(lab);
    if (!st)
        return LAB_OK;
    char why[LAB_LADDER_TEXT];
    snprintf(why, sizeof(why), "%s", lab_error());
    abandon(lab, st);
    if (lab->options->db)
        return lab_fail(st, "%s", why);
    lab_warn("the lab is not recorded: %s", why);
    return LAB_OK;
}

/* Repeat i; the moments are laid end to end, for the times are of the device. */
static void push_step(struct lab_bench *lab, const struct lab_ladder_row *row,
                      int i, int64_t *moment)
{
    char node[160];
    struct lab_sink sink = lab_writer_sink(lab->writer);
    struct lab_record record = {.kind = LAB_RECORD_STEP};
    struct lab_step_record *s = &record.u.step;
    snprintf(node, sizeof(node), "%s %s", lab->ladder->name, row->size.text);
    s->exec = ++lab->exec;
    s->iteration = i;
    s->index = (int32_t)lab->place;
    s->phase = 0;
    s->name = lab_intern(node);
    s->node = s->name;
    s->op = lab_intern(lab->ladder->name);
    s->variant = lab_intern(row->rung->name);
    s->backend = lab_intern(lab->backend->ops->name);
    s->time_source =
        lab->backend->host_memory ? LAB_TIME_CPU_CLOCK : LAB_TIME_CUDA_EVENTS;
    s->time_ns = llround(row->ns[i]);
    s->start_ns = *moment;
    s->end_ns = *moment + s->time_ns;
    s->flop = row->flop;
    s->bytes = row->bytes;
    *moment = s->end_ns;
    sink.push(sink.user, &record);
}

static void record(struct lab_bench *lab, const struct lab_ladder_row *row,
                   const struct lab_bench_result *result)
{
    int64_t moment = lab_clock_wall_ns();
    if (!lab->run || !lab->db)
        return;
    /* Measured before now: laid from here on they would overlap the next. */
    for (int i = 0; i < row->repeats && !row->status; i++)
        moment -= llround(row->ns[i]);
    for (int i = 0; i < row->repeats && !row->status; i++)
        push_step(lab, row, i, &moment);
    enum lab_status st = lab_writer_flush(lab->writer); /* then ours: no lock */
    if (!st)
        st = lab_bench_result_add(lab->db, lab->run, result);
    if (!st)
        return;
    lab_warn("recording has stopped: %s", lab_error());
    lab_database_close(lab->db);
    lab->db = NULL;
}

/* One that was stopped, or failed, before its first row says nothing. */
static void forget_empty(struct lab_bench *lab)
{
    struct lab_deleted deleted;
    enum lab_status st = lab_bench_open_db(lab);
    if (!st)
        st = lab_run_delete(lab->db, lab->run, &deleted);
    if (st)
        lab_warn("run %lld stays, though it is empty: %s", (long long)lab->run,
                 lab_error());
    lab_database_close(lab->db);
    lab->db = NULL;
    lab->run = 0;
}

void lab_bench_record_end(struct lab_bench *lab, enum lab_status st)
{
    struct lab_run_summary summary;
    bool nothing = lab->place > 0 && lab->timed == 0;
    lab_run_summary_init(&summary);
    summary.status = st == LAB_E_CANCELLED ? LAB_RUN_CANCELLED
                     : st || nothing       ? LAB_RUN_FAILED
                                           : LAB_RUN_DONE;
    summary.iterations = lab->repeats;
    if (lab->counters_end) {
        summary.counters = lab->counters_end;
        summary.counters_reason = lab->counters_why;
    }
    lab_database_close(lab->db);
    lab->db = NULL;
    if (lab->writer && lab->run && lab_writer_finish(lab->writer, &summary))
        lab_warn("the run was not stored whole: %s", lab_error());
    lab_writer_free(lab->writer);
    lab->writer = NULL;
    if (lab->run && st && lab->place == 0)
        forget_empty(lab);
}

/* ---- the climb ---- */

struct climb {
    struct lab_bench *lab;
    lab_bench_take_fn *see;
    void *user;
};

/* A wrong variant is a failed check, but for one that is meant to be; where
 * nothing at all was timed, the machine lacks what was asked for. */
static void note_worst(const struct lab_ladder_row *row, enum lab_status *worst)
{
    bool on_purpose = row->rung->wrong_on_purpose && row->compared > 0;
    if (!on_purpose && (row->status == LAB_E_CHECK || !*worst))
        *worst = row->status;
}

static enum lab_status take_row(void *user, const struct lab_ladder_row *row)
{
    struct climb *c = user;
    struct lab_bench *lab = c->lab;
    struct lab_bench_result result;
    lab_bench_result_of(lab, row, &result);
    note_worst(row, &lab->worst);
    if (c->see)
        c->see(c->user, &result);
    record(lab, row, &result);
    if (!row->status && lab_bench_trace_later(lab, row))
        return LAB_E_NOMEM;
    lab->place++;
    return lab->observer.result(lab->observer.user, &result);
}

static const struct lab_variant *resolve(void *user,
                                         const struct lab_variant *tuned,
                                         const struct lab_ladder_size *size,
                                         struct lab_variant_note *note)
{
    return lab_bench_resolve_tuned(((struct climb *)user)->lab, tuned, size,
                                   note);
}

static bool stop(void *user)
{
    const struct lab_bench_observer *o = &((struct climb *)user)->lab->observer;
    return o->stop && o->stop(o->user);
}

static void doing(void *user, const struct lab_variant *rung,
                  const struct lab_ladder_size *size)
{
    const struct lab_bench_observer *o = &((struct climb *)user)->lab->observer;
    if (o->doing)
        o->doing(o->user, rung, size);
}

enum lab_status lab_bench_climb(struct lab_bench *lab, int first, int n,
                                lab_bench_take_fn *see, void *user)
{
    struct climb climb = {lab, see, user};
    const struct lab_ladder_run run = {.backend = lab->backend,
                                       .ladder = lab->ladder,
                                       .machine = &lab->machine,
                                       .rungs = lab->rungs,
                                       .n_rungs = lab->n_rungs,
                                       .sizes = lab->sizes + first,
                                       .n_sizes = n,
                                       .repeats = lab->repeats,
                                       .seed = lab->options->seed,
                                       .stands = resolve,
                                       .row = take_row,
                                       .stop = stop,
                                       .doing = doing,
                                       .user = &climb};
    return lab_ladder_run(&run);
}

void lab_bench_measure_ceilings(struct lab_bench *lab)
{
    unsigned precisions = 0;
    for (int i = 0; i < lab->n_rungs; i++)
        precisions |= 1u << lab->rungs[i]->precision;
    lab_ladder_measure(lab->backend, precisions, &lab->machine);
}
