/* A lab as a run in the store: a step record for each repeat, so that lists and
 * comparisons of runs know it, and a row for each rung and size. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "report/exit.h"
#include "bench/lab.h"
#include "lesson/lesson.h"
#include "debug/run_device.h"
#include "store/delete.h"
#include "store/lab_rows.h"
#include "store/predictions.h"
#include "trace/intern.h"
#include "base/version.h"

/* Before anything is measured: nobody can say it afterwards. */
static enum lab_status store_said(struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < lab->n_said && lab->run && !st; i++) {
        const struct lab_prediction *s = &lab->said[i];
        struct lab_prediction_row row = {
            .place = i,
            .rung = s->rung,
            .precision = s->precision[0] ? s->precision : NULL,
            .size = s->size[0] ? s->size : NULL,
            .bound = s->what.bound[0] ? s->what.bound : NULL,
            .rate = s->what.rate,
            .time_ns = s->what.time_ns,
            .occupancy_pct = s->what.occupancy_pct};
        st = lab_prediction_row_add(lab->db, lab->run, &row);
    }
    return st;
}

static enum lab_status db_path(const struct lab_bench *lab, struct lab_str *out)
{
    enum lab_status st = LAB_OK;
    if (lab->options->db)
        lab_str_add(out, lab->options->db);
    else
        st = lab_database_default_path(out);
    return st || !out->failed
               ? st
               : lab_fail(LAB_E_NOMEM, "no memory for the database's name");
}

enum lab_status lab_bench_open_db(struct lab_bench *lab)
{
    struct lab_str path;
    if (lab->db)
        return LAB_OK;
    lab_str_init(&path);
    enum lab_status st = db_path(lab, &path);
    if (!st)
        st = lab_database_open(&lab->db, lab_str_text(&path), NULL);
    lab_str_release(&path);
    return st;
}

static enum lab_status open_writer(struct lab_bench *lab)
{
    struct lab_run_info info;
    struct lab_str path;
    char words[64];
    lab_run_info_init(&info);
    info.kind = "lab";
    info.lesson = lab->lesson ? lab->lesson->id : lab->ladder->name;
    info.lesson_path = lab->lesson ? lab->lesson->path : NULL;
    info.title = lab->title;
    info.backend = lab->backend->ops->name;
    info.precision = lab_bench_precisions(lab, words, sizeof(words));
    info.version = lab_version();
    info.commit = lab_commit()[0] ? lab_commit() : NULL;
    info.counters = lab->options->counters;
    info.seed = lab->options->seed;
    info.rank = 0;
    info.time_source =
        lab->backend->host_memory ? LAB_TIME_CPU_CLOCK : LAB_TIME_CUDA_EVENTS;
    lab_run_device_fill(&info.device, &lab->machine.info,
                        !lab->backend->host_memory);
    lab_str_init(&path);
    enum lab_status st = db_path(lab, &path);
    if (!st)
        st = lab_writer_new(&lab->writer, lab_str_text(&path), &info, NULL);
    lab_str_release(&path);
    return st;
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
    enum lab_status st = open_writer(lab);
    if (!st)
        st = lab_bench_open_db(lab);
    if (!st)
        lab->run = lab_writer_run(lab->writer);
    if (!st)
        st = store_said(lab);
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

void lab_bench_row_of(const struct lab_bench *lab,
                      const struct lab_ladder_row *row,
                      struct lab_bench_row *out)
{
    *out = (struct lab_bench_row){
        .place = lab->place,
        .lab = lab->ladder->name,
        .size = row->size.text,
        .rung = row->rung->name,
        .precision = lab_precision_name(row->rung->precision),
        .status = lab_status_text(row->status),
        .reason = row->reason[0] ? row->reason : NULL,
        .unit = lab->unit,
        .repeats = row->repeats,
        .flush_bytes = lab_bench_flushed(lab),
        .check_error = row->check_error,
        .sample_error = row->sample_error,
        .min_ns = row->min_ns,
        .quarter_ns = row->quarter_ns,
        .median_ns = row->median_ns,
        .three_quarters_ns = row->three_quarters_ns,
        .max_ns = row->max_ns,
        .flop = row->flop,
        .bytes = row->bytes,
        .traffic_bytes = row->traffic,
        .rate = row->rate,
        .rate_model = row->rate_model,
        .rate_predicted = lab_bench_prediction(lab, row),
        .gain = row->gain,
        .gain_model = row->gain_model,
        .ceiling_copy = lab->machine.copy_bytes_s,
        .ceiling_fp32 = lab->machine.flops[LAB_FP32],
        .sm_clock_before_hz = row->before.sm_clock_hz,
        .sm_clock_after_hz = row->after.sm_clock_hz,
        .memory_clock_hz = row->after.memory_clock_hz,
        .temperature_c = row->after.temperature_c,
        .power_w = row->after.power_w,
        .note = row->note.text[0] ? row->note.text : NULL,
        .workspace_bytes = row->note.workspace_bytes < 0
                               ? LAB_UNKNOWN
                               : row->note.workspace_bytes,
        .traced_exec = LAB_UNKNOWN,
    };
}

void lab_bench_record_row(struct lab_bench *lab,
                          const struct lab_ladder_row *row)
{
    struct lab_bench_row stored;
    int64_t moment = lab_clock_wall_ns();
    if (!lab->run || !lab->db)
        return;
    /* Measured before now: laid from here on they would lie on the next row. */
    for (int i = 0; i < row->repeats && !row->status; i++)
        moment -= llround(row->ns[i]);
    for (int i = 0; i < row->repeats && !row->status; i++)
        push_step(lab, row, i, &moment);
    enum lab_status st = lab_writer_flush(lab->writer); /* then ours: no lock */
    lab_bench_row_of(lab, row, &stored);
    if (!st)
        st = lab_bench_row_add(lab->db, lab->run, &stored);
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
