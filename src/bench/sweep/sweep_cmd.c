/* lapenna-lab lab batch-size|network-size|products|backward: a lesson measured
 * at several sizes, as a table, a chart and JSON Lines, and as a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "report/exit.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "report/json_sweep.h"
#include "lesson/catalog.h"
#include "debug/run_device.h"
#include "report/print.h"
#include "store/query.h"
#include "base/signals.h"
#include "sweep_priv.h"
#include "base/version.h"
#include "debug/lesson_run.h"

const char *lab_sweep_name(enum lab_sweep_kind kind)
{
    return lab_measure_name((enum lab_measure)(LAB_MEASURE_BATCH + (int)kind));
}

enum lab_sweep_kind lab_sweep_find(const char *word)
{
    int k = 0;
    while (k < LAB_SWEEP_KINDS &&
           strcmp(lab_sweep_name((enum lab_sweep_kind)k), word) != 0)
        k++;
    return (enum lab_sweep_kind)k;
}

/* ---- recording ---- */

static enum lab_status open_run(struct lab_sweep *s,
                                const struct lab_device_info *device)
{
    struct lab_run_info info;
    struct lab_str path;
    bool gpu = strcmp(s->backends[0], "cuda") == 0;
    lab_run_info_init(&info);
    info.kind = "lab";
    info.lesson = s->lesson_id ? s->lesson_id : lab_sweep_name(s->kind);
    info.title = lab_sweep_name(s->kind);
    info.backend = s->backends[0];
    info.precision = "fp32";
    info.version = lab_version();
    info.commit = lab_commit()[0] ? lab_commit() : NULL;
    info.counters = "off";
    info.seed = s->options->seed;
    info.rank = 0;
    info.time_source = gpu ? LAB_TIME_CUDA_EVENTS : LAB_TIME_CPU_CLOCK;
    lab_run_device_fill(&info.device, device, gpu);
    lab_str_init(&path);
    enum lab_status st = LAB_OK;
    if (s->options->db)
        lab_str_add(&path, s->options->db);
    else
        st = lab_database_default_path(&path);
    if (!st)
        st = lab_writer_new(&s->writer, lab_str_text(&path), &info, NULL);
    if (!st)
        st = lab_database_open(&s->db, lab_str_text(&path), NULL);
    if (!st)
        s->run = lab_writer_run(s->writer);
    lab_str_release(&path);
    return st;
}

/* The usual place is a convenience, --db a demand. */
static enum lab_status record(struct lab_sweep *s,
                              const struct lab_device_info *device,
                              const struct lab_sweep_row *row)
{
    enum lab_status st = LAB_OK;
    if (!s->tried_to_record) {
        s->tried_to_record = true;
        st = open_run(s, device);
    }
    if (!st && s->run)
        st = lab_sweep_row_add(s->db, s->run, row);
    if (!st || s->options->db)
        return st;
    lab_warn("the sweep is not recorded: %s", lab_error());
    s->run = 0;
    return LAB_OK;
}

static void end_run(struct lab_sweep *s, enum lab_status st)
{
    struct lab_run_summary summary;
    lab_run_summary_init(&summary);
    summary.status = lab_signals_caught() ? LAB_RUN_CANCELLED
                     : st                 ? LAB_RUN_FAILED
                                          : LAB_RUN_DONE;
    lab_database_close(s->db);
    if (s->writer && lab_writer_finish(s->writer, &summary))
        lab_warn("the run was not stored whole: %s", lab_error());
    lab_writer_free(s->writer);
}

/* ---- rows ---- */

enum lab_status lab_sweep_take(struct lab_sweep *s, struct lab_sweep_row *row,
                               const struct lab_sweep_result *r)
{
    row->place = s->n_rows;
    row->sweep = lab_sweep_name(s->kind);
    row->status = lab_status_text(r->status);
    row->reason = r->reason[0] ? r->reason : NULL;
    if (s->n_rows == LAB_SWEEP_ROWS)
        return lab_fail(LAB_E_RANGE, "a sweep has at most %d rows",
                        LAB_SWEEP_ROWS);
    enum lab_status st = record(s, &r->device, row);
    if (!st && s->options->json)
        st = lab_json_print(lab_json_sweep(row));
    struct lab_sweep_kept *kept = &s->rows[s->n_rows++];
    kept->row = *row;
    kept->result = *r;
    if (row->reason)
        kept->row.reason = kept->result.reason;
    s->measured += !r->status;
    return st;
}

struct lab_sweep_row lab_sweep_row_of(const char *lesson, const char *backend,
                                      const struct lab_sweep_result *r)
{
    return (struct lab_sweep_row){
        .lesson = lesson,
        .backend = backend,
        .iterations = r->iterations,
        .samples = r->batch,
        .memory_bytes = r->memory_bytes,
        .parameters = r->parameters,
        .x = NAN,
        .median_ns = r->median_ns,
        .quarter_ns = r->quarter_ns,
        .three_quarters_ns = r->three_quarters_ns,
        .samples_per_s = r->samples_per_s,
        .flop = r->flop,
        .loss = r->loss_samples,
        .loss_iterations = r->loss_iterations,
        .share = NAN,
    };
}

/* ---- recorded elsewhere ---- */

struct recorded {
    struct lab_sweep *s;
    const char *lesson; /* NULL: all */
};

static bool take_recorded(void *user, const struct lab_sweep_row *row)
{
    struct recorded *t = user;
    struct lab_sweep *s = t->s;
    bool wanted =
        !t->lesson || (row->lesson && !strcmp(row->lesson, t->lesson));
    if (!wanted || s->n_rows == LAB_SWEEP_ROWS)
        return true;
    struct lab_sweep_kept *kept = &s->rows[s->n_rows++];
    struct lab_sweep_result *r = &kept->result;
    kept->row = *row;
    snprintf(kept->lesson, sizeof(kept->lesson), "%s",
             row->lesson ? row->lesson : "");
    snprintf(kept->name, sizeof(kept->name), "%s", row->name ? row->name : "");
    snprintf(r->reason, sizeof(r->reason), "%s",
             row->reason ? row->reason : "");
    r->status = row->reason ? LAB_E_STATE : LAB_OK;
    kept->row.lesson = kept->lesson;
    kept->row.name = row->name ? kept->name : NULL;
    kept->row.reason = row->reason ? r->reason : NULL;
    kept->row.backend =
        row->backend && !strcmp(row->backend, "cpu") ? "cpu" : "cuda";
    return true;
}

static bool take_device(void *user, const struct lab_run_row *run)
{
    struct lab_sweep_result *r = &((struct lab_sweep *)user)->rows[0].result;
    snprintf(r->device.name, sizeof(r->device.name), "%s",
             run->device ? run->device : "another machine");
    return false;
}

/* Shares of FLOP are of a lesson's rows together. */
static void add_up_flop(struct lab_sweep *s)
{
    for (int i = 0; i < s->n_rows; i++)
        for (int k = 0; k < s->n_rows; k++)
            if (strcmp(s->rows[i].lesson, s->rows[k].lesson) == 0)
                s->rows[i].result.flop += s->rows[k].row.flop;
}

static enum lab_status read_recorded(struct lab_sweep *s, const char *lesson)
{
    struct lab_database_options options = {.read_only = true,
                                           .busy_timeout_ms = 500};
    struct recorded t = {.s = s, .lesson = lesson};
    struct lab_database *db = NULL;
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_data_path(LAB_RECORDED_RUNS, &path);
    if (!st)
        st = lab_database_open(&db, lab_str_text(&path), &options);
    if (!st)
        st = lab_sweep_run_newest(db, lab_sweep_name(s->kind), lesson, &s->run);
    if (!st)
        st = lab_sweep_rows_read(db, s->run, take_recorded, &t);
    if (!st)
        st = lab_query_run(db, s->run, take_device, s);
    add_up_flop(s);
    lab_database_close(db);
    lab_str_release(&path);
    return st;
}

/* Without a GPU: what was recorded on one. It need not be there. */
static enum lab_status print_recorded(const struct lab_sweep *here)
{
    bool gpu = strcmp(here->backends[0], "cuda") == 0;
    if (gpu || here->options->json)
        return LAB_OK;
    struct lab_sweep *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_fail(LAB_E_NOMEM, "no memory for a recorded sweep");
    s->options = here->options;
    s->kind = here->kind;
    s->recorded = true;
    enum lab_status st = read_recorded(s, here->lesson_id);
    if (!st)
        st = lab_sweep_print(s);
    else {
        if (st != LAB_E_NOTFOUND)
            lab_warn("the recorded sweep cannot be read: %s", lab_error());
        st = LAB_OK;
    }
    lab_free(s);
    return st;
}

/* ---- which ---- */

/* auto: what there is; network-size compares both. */
static enum lab_status find_backends(struct lab_sweep *s)
{
    const char *asked = s->options->backend;
    struct lab_backend *be = NULL;
    bool any = strcmp(asked, "auto") == 0;
    if (!any) {
        s->backends[s->n_backends++] = asked;
        enum lab_status st = lab_backend_open(&be, asked, s->options->device);
        lab_backend_close(be);
        return st;
    }
    bool gpu = !lab_backend_open(&be, "cuda", s->options->device);
    lab_backend_close(be);
    if (gpu)
        s->backends[s->n_backends++] = "cuda";
    if (!gpu || s->kind == LAB_SWEEP_NETWORK)
        s->backends[s->n_backends++] = "cpu";
    return LAB_OK;
}

static enum lab_status read_sizes(struct lab_sweep *s)
{
    bool gpu = strcmp(s->backends[0], "cuda") == 0;
    const char *at = s->options->sizes;
    if (!at)
        at = gpu ? s->options->lesson_sizes : s->options->lesson_cpu_sizes;
    if (!at && s->kind == LAB_SWEEP_BATCH)
        at = gpu ? "1,4,16,64,256,1024,4096" : "1,4,16,64,256";
    else if (!at)
        at = gpu ? "1,2,4,8,16,32" : "1,2,4,8";
    const char *whole = at;
    while (at) {
        char *end = NULL;
        long long v = strtoll(at, &end, 10);
        bool number = end != at && at[0] >= '0' && at[0] <= '9' &&
                      (*end == '\0' || *end == ',');
        if (!number || v < 1 || v > LAB_COUNT_MAX ||
            s->n_sizes == LAB_BENCH_SIZES)
            return lab_fail(LAB_E_USAGE,
                            "--sizes %s: at most %d whole numbers from 1 to "
                            "%d, separated by commas",
                            whole, LAB_BENCH_SIZES, LAB_COUNT_MAX);
        s->sizes[s->n_sizes++] = v;
        at = *end ? end + 1 : NULL;
    }
    return LAB_OK;
}

static enum lab_status one_lesson(struct lab_sweep *s)
{
    struct lab_lesson *lesson = NULL;
    enum lab_status st =
        lab_lesson_run_lesson(s->options->name, s->options->db, &lesson);
    if (st)
        return st;
    if (s->options->seed_given)
        lesson->spec.seed = s->options->seed;
    s->lesson_id = lesson->id;
    st = lab_sweep_lesson(s, lesson);
    if (!st && !s->options->json)
        st = lab_sweep_print(s);
    if (!st)
        st = print_recorded(s);
    end_run(s, st);
    lab_lesson_free(lesson);
    return st;
}

/* Every lesson with a network that can be read. */
static enum lab_status all_lessons(struct lab_sweep *s)
{
    struct lab_catalog *c = NULL;
    enum lab_status st = lab_catalog_load(&c, NULL);
    for (size_t i = 0; !st && i < c->count && !lab_signals_caught(); i++) {
        const struct lab_lesson *l = c->items[i].lesson;
        if (l && l->kind == LAB_LESSON_NETWORK && l->spec.n_nodes > 0)
            st = lab_sweep_lesson(s, l);
    }
    if (!st && !s->options->json)
        st = lab_sweep_print(s);
    if (!st)
        st = print_recorded(s);
    end_run(s, st);
    lab_catalog_free(c);
    return st;
}

static enum lab_status sweep(struct lab_sweep *s)
{
    bool all = strcmp(s->options->name, "all") == 0;
    enum lab_status st = find_backends(s);
    if (!st)
        st = read_sizes(s);
    if (!st && all && s->kind <= LAB_SWEEP_NETWORK)
        st = lab_fail(LAB_E_USAGE, "%s takes one lesson",
                      lab_sweep_name(s->kind));
    if (!st)
        st = all ? all_lessons(s) : one_lesson(s);
    if (!st && s->measured == 0)
        st = s->n_rows ? lab_fail(s->rows[0].result.status, "%s",
                                  s->rows[0].result.reason)
                       : lab_fail(LAB_E_NOTFOUND, "nothing was measured");
    return st;
}

int lab_sweep_run(const struct lab_bench_options *o, enum lab_sweep_kind kind)
{
    struct lab_sweep *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_exit_error(lab_fail(LAB_E_NOMEM, "no memory for a sweep"));
    s->options = o;
    s->kind = kind;
    enum lab_status st = sweep(s);
    if (!st && !o->json && s->run) {
        lab_printf(stdout, "\n");
        lab_print_recorded(o->db, s->run, true);
    }
    lab_free(s);
    return lab_signals_caught() ? LAB_EXIT_SIGNAL + lab_signals_caught()
                                : lab_exit_error(st);
}
