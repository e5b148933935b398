/* A lab's run: variants within sizes, measured and stored, a step record for
 * each repeat, so that lists and comparisons of runs know it, and a row for
 * each variant and size; and tuning: the fastest candidate of a tuned variant
 * is kept for the device, the size and the precision. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/exit.h"
#include "bench/bench.h"
#include "lesson/lesson.h"
#include "debug/lesson_run.h"
#include "store/delete.h"
#include "trace/intern.h"
#include "base/version.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "report/print.h"
#include "store/tuned.h"

static const struct lab_variant *
bench_resolve_tuned(struct lab_bench *lab, const struct lab_variant *tuned,
                    const struct lab_ladder_size *size,
                    struct lab_variant_note *note);

/* Before anything is measured: afterwards it would be no prediction. */
static enum lab_status store_predictions(struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < lab->n_predictions && lab->run && !st; i++)
        st = lab_prediction_add(lab->db, lab->run, &lab->predictions[i]);
    return st;
}

static enum lab_status db_path(const struct lab_options *o, struct lab_str *out)
{
    enum lab_status st = LAB_OK;
    if (o->db)
        lab_str_add(out, o->db);
    else
        st = lab_database_default_path(out);
    return st || !out->failed ? st : lab_no_memory("the database's name");
}

static enum lab_status open_db(const struct lab_options *o,
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

static enum lab_status bench_open_db(struct lab_bench *lab)
{
    return open_db(lab->options, &lab->db);
}

enum lab_status lab_bench_writer_open(const struct lab_options *o,
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

/* Repeat i; the moments are laid end to end, for the times are of the
 * device. */
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

/* One that was stopped, or failed, before its first row has no summary. */
static void forget_empty(struct lab_bench *lab)
{
    struct lab_deleted deleted;
    enum lab_status st = bench_open_db(lab);
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
    return bench_resolve_tuned(((struct climb *)user)->lab, tuned, size, note);
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
                                       .resolve_tuned = resolve,
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

/* ---- tuning ---- */

enum { CLASS = 32 };

static void device_of(const struct lab_bench *lab,
                      struct lab_ceiling_device *out)
{
    struct lab_device_info info;
    lab_backend_info(lab->backend, &info);
    lab_ceiling_device_here(lab->backend->ops->name, info.name, info.uuid, out);
}

/* What the database knows of a tuned rung at a size, as long as this build
 * still has the candidate; else NULL, and `found` has what is known. */
static const struct lab_variant *kept(struct lab_bench *lab,
                                      const struct lab_variant *tuned,
                                      const struct lab_ladder_size *size,
                                      struct lab_tuned_found *found)
{
    const struct lab_variant *candidates[LAB_BENCH_RUNGS];
    struct lab_ceiling_device device;
    char size_class[CLASS];
    struct lab_tuned_key key = {.device = &device,
                                .lab = lab->ladder->name,
                                .size_class = size_class,
                                .precision =
                                    lab_precision_name(tuned->precision)};
    *found = (struct lab_tuned_found){.candidate = ""};
    device_of(lab, &device);
    lab_ladder_size_class(lab->ladder, size, size_class, sizeof(size_class));
    if (!lab->db || lab_tuned_find(lab->db, &key, found) ||
        !found->candidate[0])
        return NULL;
    int n = lab_ladder_rungs(lab->backend, lab->ladder, tuned, candidates,
                             LAB_BENCH_RUNGS);
    for (int i = 0; i < n; i++) {
        if (strcmp(candidates[i]->name, found->candidate) == 0)
            return candidates[i];
    }
    lab_warn("the winner of %s at %s that is kept, %s, is no candidate of this "
             "program: it is ignored",
             lab->ladder->name, size_class, found->candidate);
    return NULL;
}

/* Half a command would tune for another database, or nothing: a long one is
 * left out. */
static void suggest_tuning(const struct lab_bench *lab,
                           const struct lab_ladder_size *size,
                           struct lab_variant_note *note)
{
    static const char untuned[] = "not tuned here for this size";
    struct lab_str tune = lab_suggest_command_text(
        lab->options->db,
        LAB_WORDS("lab", "tune", lab->ladder->name, "--sizes", size->text));
    bool fits = sizeof(untuned) + 2 + tune.len <= sizeof(note->text);
    snprintf(note->text, sizeof(note->text), "%s%s%s", untuned,
             fits ? ": " : "", fits ? lab_str_text(&tune) : "");
    lab_str_release(&tune);
}

static const struct lab_variant *
bench_resolve_tuned(struct lab_bench *lab, const struct lab_variant *tuned,
                    const struct lab_ladder_size *size,
                    struct lab_variant_note *note)
{
    struct lab_tuned_found found;
    const struct lab_variant *rung = kept(lab, tuned, size, &found);
    if (rung)
        snprintf(note->text, sizeof(note->text),
                 "%s, the fastest of %lld here, measured %s", rung->name,
                 (long long)found.candidates, found.measured);
    else
        suggest_tuning(lab, size, note);
    return rung;
}

/* ---- what is to be measured ---- */

static enum lab_status print_winner(const struct lab_bench *lab,
                                    const struct lab_variant *tuned,
                                    const struct lab_ladder_size *size,
                                    const struct lab_tuned_found *found,
                                    bool measured)
{
    char size_class[CLASS];
    char unit[LAB_BENCH_UNIT];
    lab_ladder_size_class(lab->ladder, size, size_class, sizeof(size_class));
    lab_bench_shown_unit(lab, unit, sizeof(unit));
    if (!lab->options->json) {
        lab_printf(
            stdout, "%s %s %s: %s, %.4g %s, the fastest of %lld%s%s%s\n",
            lab->ladder->name, lab_precision_name(tuned->precision), size_class,
            found->candidate, found->rate / lab_bench_scale(lab), unit,
            (long long)found->candidates, measured ? "" : ", kept since ",
            measured ? "" : found->measured,
            measured ? "" : " (--retune measures again)");
        return ferror(stdout) ? lab_fail(LAB_E_IO, "cannot write") : LAB_OK;
    }
    json_t *line = lab_json_new("lab_tuned");
    lab_json_text(line, "lab", lab->ladder->name);
    lab_json_text(line, "variant", tuned->name);
    lab_json_text(line, "precision", lab_precision_name(tuned->precision));
    lab_json_text(line, "size_class", size_class);
    lab_json_text(line, "size", size->text);
    lab_json_text(line, "candidate", found->candidate);
    lab_json_real(line, "rate", found->rate);
    lab_json_text(line, "unit", lab->unit);
    lab_json_int(line, "candidates", found->candidates);
    lab_json_bool(line, "measured_now", measured);
    lab_json_text(line, "measured", measured ? NULL : found->measured);
    return lab_json_print(line);
}

/* Has an earlier size of the list the same class? */
static bool seen_before(const struct lab_bench *lab, int size)
{
    char mine[CLASS];
    char other[CLASS];
    lab_ladder_size_class(lab->ladder, &lab->sizes[size], mine, sizeof(mine));
    for (int s = 0; s < size; s++) {
        lab_ladder_size_class(lab->ladder, &lab->sizes[s], other,
                              sizeof(other));
        if (strcmp(mine, other) == 0)
            return true;
    }
    return false;
}

static enum lab_status note_job(struct lab_bench *lab, int r, int s)
{
    struct lab_tuned_found found;
    const struct lab_variant *rung = lab->rungs[r];
    bool there = kept(lab, rung, &lab->sizes[s], &found) != NULL;
    if (there && !lab->options->retune)
        return print_winner(lab, rung, &lab->sizes[s], &found, false);
    if (lab->to_tune == LAB_BENCH_JOBS)
        return lab_fail(LAB_E_USAGE, "more than %d sizes and rungs to tune",
                        LAB_BENCH_JOBS);
    lab->tune[lab->to_tune++] = (struct lab_tune_job){rung, s};
    return LAB_OK;
}

enum lab_status lab_bench_tune_kept(struct lab_bench *lab)
{
    enum lab_status st = bench_open_db(lab);
    for (int r = 0; r < lab->n_rungs && !st; r++) {
        for (int s = 0; s < lab->n_sizes && !st; s++) {
            if (!seen_before(lab, s))
                st = note_job(lab, r, s);
        }
    }
    return st;
}

/* ---- measuring ---- */

struct best {
    struct lab_bench_result result;
    int64_t timed;
};

static enum lab_status see(void *user, const struct lab_bench_result *r)
{
    struct best *b = user;
    if (r->state != LAB_BENCH_DONE)
        return LAB_OK;
    b->timed++;
    if (b->timed == 1 || r->median_ns < b->result.median_ns)
        b->result = *r;
    return LAB_OK;
}

static enum lab_status keep(struct lab_bench *lab,
                            const struct lab_tune_job *job,
                            const struct best *b)
{
    struct lab_ceiling_device device;
    char size_class[CLASS];
    const struct lab_ladder_size *size = &lab->sizes[job->size];
    device_of(lab, &device);
    lab_ladder_size_class(lab->ladder, size, size_class, sizeof(size_class));
    const struct lab_tuned_row row = {
        .backend = device.backend,
        .device = device.device,
        .uuid = device.uuid[0] ? device.uuid : NULL,
        .hostname = device.hostname,
        .lab = lab->ladder->name,
        .size_class = size_class,
        .precision = lab_precision_name(job->rung->precision),
        .candidate = b->result.variant,
        .size = size->text,
        .unit = lab->unit,
        .median_ns = b->result.median_ns,
        .rate = b->result.rate,
        .candidates = b->timed,
        .run = lab->run ? lab->run : LAB_UNKNOWN,
        .measured_ns = lab_clock_wall_ns(),
        .driver = lab->machine.info.driver,
        .version = lab_version()};
    enum lab_status st = LAB_OK;
    if (!lab->db)
        return lab_fail(LAB_E_DB, "the winner cannot be kept: no database");
    if (lab->run)
        st = lab_writer_flush(lab->writer);
    return st ? st : lab_tuned_add(lab->db, &row);
}

static enum lab_status measure(struct lab_bench *lab,
                               const struct lab_tune_job *job)
{
    struct best b = {.timed = 0};
    struct lab_tuned_found found = {.candidate = ""};
    lab->n_rungs = lab_ladder_rungs(lab->backend, lab->ladder, job->rung,
                                    lab->rungs, LAB_BENCH_RUNGS);
    enum lab_status st = lab_bench_model_plan(&lab->data, 0, lab);
    if (!st)
        st = lab_bench_climb(lab, job->size, 1, see, &b);
    if (st || b.timed == 0)
        return st; /* the rows say why */
    st = keep(lab, job, &b);
    if (st)
        return st;
    snprintf(found.candidate, sizeof(found.candidate), "%s", b.result.variant);
    found.candidates = b.timed;
    found.rate = b.result.rate;
    return print_winner(lab, job->rung, &lab->sizes[job->size], &found, true);
}

enum lab_status lab_bench_tune(struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < lab->to_tune && !st; i++)
        st = measure(lab, &lab->tune[i]);
    return st;
}
