/* A lab's run: variants within sizes, measured and stored, a step record for
 * each repeat, so that lists and comparisons of runs know it, and a row for
 * each variant and size; the kernels of each, traced once more; and tuning: the
 * fastest candidate of a tuned variant is kept for the device, the size and the
 * precision. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/version.h"
#include "debug/lesson_run.h"
#include "debug/sim_findings.h"
#include "engine/sim_backend.h"
#include "lesson/lesson.h"
#include "profiler/counters.h"
#include "profiler/occupancy.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/suggest.h"
#include "report/text_table.h"
#include "store/counted.h"
#include "store/delete.h"
#include "store/tuned.h"
#include "trace/intern.h"

/* Before anything is measured: afterwards it would be no prediction. */
static enum lab_status store_predictions(struct lab_bench *lab)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < lab->n_predictions && lab->run && !st; i++)
        st = lab_prediction_add(lab->db, lab->run, &lab->predictions[i]);
    return st;
}

static enum lab_status open_db(const struct lab_options *o,
                               struct lab_database **db)
{
    struct lab_str path;
    if (*db)
        return LAB_OK;
    lab_str_init(&path);
    enum lab_status st = lab_bench_db_path(o, &path);
    if (!st)
        st = lab_database_open(db, lab_str_text(&path), NULL);
    lab_str_release(&path);
    return st;
}

enum lab_status lab_bench_writer_open(const struct lab_options *o,
                                      struct lab_run_info *info,
                                      const struct lab_device_info *device,
                                      struct lab_writer **writer,
                                      struct lab_database **db, int64_t *run)
{
    bool gpu = strcmp(info->row.backend, "cuda") == 0;
    struct lab_str path;
    info->row.kind = "lab";
    info->row.version = lab_version();
    info->row.commit = lab_commit()[0] ? lab_commit() : NULL;
    info->row.seed = o->seed;
    bool simulated = strcmp(info->row.backend, "sim") == 0;
    info->time_source = simulated ? LAB_TIME_NONE
                        : gpu     ? LAB_TIME_CUDA_EVENTS
                                  : LAB_TIME_CPU_CLOCK;
    if (!gpu)
        info->row.threads = lab_threads();
    lab_run_device_fill(&info->device, device, gpu || simulated);
    lab_str_init(&path);
    enum lab_status st = lab_bench_db_path(o, &path);
    if (!st)
        st = lab_writer_new(writer, lab_str_text(&path), info, NULL);
    lab_str_release(&path);
    if (!st)
        st = open_db(o, db);
    if (!st)
        *run = lab_writer_run(*writer);
    return st;
}

void lab_bench_writer_close(struct lab_writer *writer, struct lab_database *db,
                            const struct lab_run_summary *summary)
{
    lab_database_close(db);
    if (writer && summary && lab_writer_finish(writer, summary))
        lab_warn("the run was not stored whole: %s", lab_error());
    lab_writer_free(writer);
}

static enum lab_status open_run(struct lab_bench *lab)
{
    struct lab_run_info info;
    char words[64];
    lab_run_info_init(&info);
    info.row.lesson = lab->lesson ? lab->lesson->id : lab->ladder->name;
    info.row.lesson_path = lab->lesson ? lab->lesson->path : NULL;
    info.row.title = lab->title;
    info.row.backend = lab->backend->ops->name;
    info.row.precision = lab_bench_precisions(lab, words, sizeof(words));
    info.row.counters =
        lab->backend->untimed ? "simulated" : lab->options->counters;
    return lab_bench_writer_open(lab->options, &info, &lab->machine.info,
                                 &lab->writer, &lab->db, &lab->run);
}

/* One that was stopped, or failed, before its first row has no summary. */
static void forget_empty(struct lab_bench *lab)
{
    struct lab_deleted deleted;
    enum lab_status st = open_db(lab->options, &lab->db);
    if (!st)
        st = lab_run_delete(lab->db, lab->run, &deleted);
    if (st)
        lab_warn("run %lld stays, though it is empty: %s", (long long)lab->run,
                 lab_error());
    lab_database_close(lab->db);
    lab->db = NULL;
    lab->run = 0;
}

static void record_end(struct lab_bench *lab, enum lab_status st)
{
    struct lab_run_summary summary;
    bool nothing = lab->place > 0 && lab->timed == 0;
    lab_run_summary_init(&summary);
    summary.status = !st && nothing ? LAB_RUN_FAILED : lab_run_ended(st);
    summary.iterations = lab->backend->untimed ? LAB_UNKNOWN : lab->repeats;
    if (lab->counters_end) {
        summary.counters = lab->counters_end;
        summary.counters_reason = lab->counters_why;
    }
    lab_bench_writer_close(lab->writer, lab->db, lab->run ? &summary : NULL);
    lab->db = NULL;
    lab->writer = NULL;
    if (lab->run && st && lab->place == 0)
        forget_empty(lab);
}

/* A run that cannot be recorded whole is not recorded at all. */
static void abandon(struct lab_bench *lab, enum lab_status st)
{
    if (lab->writer)
        lab->run = lab_writer_run(lab->writer);
    record_end(lab, st);
    lab->run = 0;
}

static enum lab_status record_begin(struct lab_bench *lab)
{
    enum lab_status st = open_run(lab);
    if (!st)
        st = store_predictions(lab);
    if (!st)
        return LAB_OK;
    struct lab_kept_error why;
    lab_error_keep(&why);
    abandon(lab, st);
    if (lab->options->db)
        return lab_error_again(st, &why);
    lab_warn("the lab is not recorded: %s", why.text);
    return LAB_OK;
}

enum lab_status lab_bench_recorded(struct lab_bench *lab,
                                   enum lab_status (*work)(struct lab_bench *))
{
    struct lab_kept_error why;
    enum lab_status st = record_begin(lab);
    if (st)
        return st;
    st = work(lab);
    lab_error_keep(&why);
    record_end(lab, st);
    return lab_error_again(st, &why);
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
    s->variant = lab_intern(row->variant->name);
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

/* ---- what a tuning has kept ---- */

enum { CLASS = 32 };

static const char *class_of(const struct lab_bench *lab,
                            const struct lab_ladder_size *size, char out[CLASS])
{
    lab_ladder_size_class(lab->ladder, size, out, CLASS);
    return out;
}

static void device_of(const struct lab_bench *lab,
                      struct lab_ceiling_device *out)
{
    struct lab_device_info info;
    lab_backend_info(lab->backend, &info);
    lab_ceiling_device_here(lab->backend->ops->name, info.name, info.uuid, out);
}

/* What the database knows of a tuned variant at a size, as long as this build
 * still has the candidate; else NULL, and `found` has what is known. */
static const struct lab_variant *kept(struct lab_bench *lab,
                                      const struct lab_variant *tuned,
                                      const struct lab_ladder_size *size,
                                      struct lab_tuned_found *found)
{
    const struct lab_variant *candidates[LAB_BENCH_VARIANTS];
    struct lab_ceiling_device device;
    char size_class[CLASS];
    struct lab_tuned_key key = {.device = &device,
                                .lab = lab->ladder->name,
                                .size_class = class_of(lab, size, size_class),
                                .precision =
                                    lab_precision_name(tuned->precision)};
    *found = (struct lab_tuned_found){.candidate = ""};
    device_of(lab, &device);
    if (!lab->db || lab_tuned_find(lab->db, &key, found) ||
        !found->candidate[0])
        return NULL;
    int n = lab_ladder_variants(lab->backend, lab->ladder, tuned, candidates,
                                LAB_BENCH_VARIANTS);
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

static const struct lab_variant *resolve(void *user,
                                         const struct lab_variant *tuned,
                                         const struct lab_ladder_size *size,
                                         struct lab_variant_note *note)
{
    struct lab_bench *lab = user;
    struct lab_tuned_found found;
    const struct lab_variant *variant = kept(lab, tuned, size, &found);
    if (variant)
        snprintf(note->text, sizeof(note->text),
                 "%s, the fastest of %lld here, measured %s", variant->name,
                 (long long)found.candidates, found.measured);
    else
        suggest_tuning(lab, size, note);
    return variant;
}

static bool stopped(void *user)
{
    const struct lab_bench_observer *o = &((struct lab_bench *)user)->observer;
    return o->stop && o->stop(o->user);
}

void lab_bench_measure_ceilings(struct lab_bench *lab)
{
    unsigned precisions = 0;
    for (int i = 0; i < lab->n_variants; i++)
        precisions |= 1u << lab->variants[i]->precision;
    lab_ladder_measure(lab->backend, lab->ladder, precisions, &lab->machine);
}

/* ---- the kernels ----
 *
 * Each variant that was timed is launched once more under CUPTI, after all
 * times have been taken, because a trace is not for timing. Its launch is a
 * step of its own in the store, "gemm 4096, traced", and the row of the lab
 * names it. A simulation is watched in the one run that it has. */

enum { KERNELS = 32 /* of one launch that are shown */ };

struct tracing {
    struct lab_bench *lab;
    struct lab_kernel_watch watch;
    struct lab_observer observer;
    enum lab_counter_set counters;
    const struct lab_timed_row *row;
    struct lab_timed_row at; /* a simulation's */
    int64_t exec;
    struct lab_text_table table; /* of the size at hand */
    int table_size;              /* -1: none is begun */
    /* While a variant is launched again. */
    lab_ladder_again_fn *again;
    void *launch;
};

/* ---- one launch ---- */

static enum lab_status rerun(void *user, const struct lab_rerun *r)
{
    struct tracing *t = user;
    enum lab_status st = LAB_OK;
    bool again = true;
    while (again && !st) {
        if (stopped(t->lab))
            return LAB_E_CANCELLED;
        st = r->pass_begin(r->user);
        if (!st) {
            r->step_begin(r->user, 0);
            st = t->again(t->launch);
            r->step_end(r->user, 0);
        }
        if (!st)
            st = lab_backend_sync(t->lab->backend);
        if (!st)
            st = r->pass_end(r->user, &again);
    }
    return st;
}

static int64_t exec_of(void *user, int step)
{
    (void)step;
    return ((struct tracing *)user)->exec;
}

static enum lab_status count(struct tracing *t)
{
    struct lab_counted counted;
    const struct lab_count_work work = {
        .user = t, .steps = 1, .rerun = rerun, .exec = exec_of};
    if (t->counters == LAB_COUNTERS_OFF)
        return LAB_OK;
    enum lab_status st = lab_profiler_count_work(t->watch.profiler, &work,
                                                 t->counters, &counted);
    if (st == LAB_E_CANCELLED)
        return st;
    if (st)
        lab_warn("%s: %s", t->row->variant->name, lab_error());
    return LAB_OK;
}

static enum lab_status look(void *user, lab_ladder_again_fn *again,
                            void *launch)
{
    struct tracing *t = user;
    struct lab_bench *lab = t->lab;
    const struct lab_ladder_size *size = &lab->sizes[t->row->size];
    char name[160];
    snprintf(name, sizeof(name), "%s %s%s", lab->ladder->name, size->text,
             lab->simulating ? "" : ", traced");
    struct lab_step step = {
        .name = name,
        .phase = LAB_FORWARD,
        .flop = lab->ladder->flop(size->dim),
        .bytes = lab->ladder->bytes(size->dim, t->row->variant->precision)};
    struct lab_step_event e = {
        .exec = t->exec,
        .iteration = lab->repeats,
        .index = (int)(t->row->place + (lab->simulating ? 0 : lab->place)),
        .step = &step,
        .node = name,
        .op = lab->ladder->name,
        .variant = t->row->variant->name,
        .backend = lab->backend->ops->name,
        .device_ns = LAB_EVENT_NO_TIME};
    t->again = again;
    t->launch = launch;
    t->observer.step_begin(t->observer.user, &e);
    enum lab_status st = again(launch);
    t->observer.step_end(t->observer.user, &e);
    if (!st)
        st = lab_backend_sync(lab->backend);
    t->observer.synced(t->observer.user);
    return st ? st : count(t);
}

/* ---- printing ---- */

static const struct lab_field *simulated_column(int i)
{
    return lab_field_at(&lab_counted_fields, LAB_COUNTED_SIMULATED + i);
}

static void add_simulated(struct lab_text_table *table,
                          const struct lab_counters *c)
{
    const struct lab_counted_row row = {.counters = *c, .formula = NAN};
    for (int i = 0; simulated_column(i); i++)
        lab_text_table_add_field(table, simulated_column(i), &row);
}

static void add_kernel(struct tracing *t, const struct lab_kernel_record *k,
                       const struct lab_counters *c)
{
    struct lab_text_table *table = &t->table;
    char limit[64];
    lab_text_table_add(table, t->row->variant->name);
    if (lab_bench_has_precisions(t->lab))
        lab_text_table_add(
            table,
            lab_ladder_precision(t->lab->ladder, t->row->variant->precision));
    const char *name = lab_intern_text(k->short_name);
    lab_text_table_addf(table, "%.40s", name ? name : LAB_NA);
    lab_text_table_add(table, LAB_DIMS_TEXT(k->launch.grid));
    lab_text_table_add(table, LAB_DIMS_TEXT(k->launch.block));
    lab_text_table_add_int(table, k->launch.registers_per_thread);
    lab_text_table_add_int(table, lab_launch_shared(&k->launch));
    lab_text_table_add_real(table, k->occupancy_pct, 3);
    lab_occupancy_limit_text(limit, sizeof(limit), k->occupancy_limit);
    lab_text_table_add(table, isnan(k->occupancy_pct) ? NULL : limit);
    if (t->lab->backend->untimed)
        add_simulated(table, c);
    if (t->counters == LAB_COUNTERS_OFF)
        return;
    lab_text_table_add_real(table, c->achieved_occupancy_pct, 3);
    lab_text_table_add_real(
        table, (c->dram_read_bytes + c->dram_write_bytes) / 1e6, 4);
    lab_text_table_add_real(table, c->fp32_flop / 1e9, 4);
    lab_text_table_add_real(table, c->tensor_flop / 1e9, 4);
}

static enum lab_status json_kernel(const struct tracing *t,
                                   const struct lab_kernel_record *k,
                                   const struct lab_counters *c)
{
    char limit[64];
    lab_occupancy_limit_text(limit, sizeof(limit), k->occupancy_limit);
    json_t *o = lab_json_new("lab_kernel");
    lab_json_text(o, "lab", t->lab->ladder->name);
    lab_json_text(o, "size", t->lab->sizes[t->row->size].text);
    lab_json_text(o, "variant", t->row->variant->name);
    lab_json_int(o, "place", t->row->place);
    lab_json_text(o, "kernel", lab_intern_text(k->demangled_name));
    lab_json_text(o, "name", lab_intern_text(k->short_name));
    for (int i = 0; i < 3; i++) {
        static const char *const grid[] = {"grid_x", "grid_y", "grid_z"};
        static const char *const block[] = {"block_x", "block_y", "block_z"};
        lab_json_int(o, grid[i], k->launch.grid[i]);
        lab_json_int(o, block[i], k->launch.block[i]);
    }
    lab_json_int(o, "registers_per_thread", k->launch.registers_per_thread);
    lab_json_int(o, "shared_bytes", lab_launch_shared(&k->launch));
    lab_json_real(o, "occupancy_pct", k->occupancy_pct);
    lab_json_text(o, "occupancy_limit", isnan(k->occupancy_pct) ? NULL : limit);
    lab_json_real(o, "achieved_occupancy_pct", c->achieved_occupancy_pct);
    lab_json_real(o, "dram_read_bytes", c->dram_read_bytes);
    lab_json_real(o, "dram_write_bytes", c->dram_write_bytes);
    lab_json_real(o, "fp32_flop", c->fp32_flop);
    lab_json_real(o, "tensor_flop", c->tensor_flop);
    if (t->lab->backend->untimed)
        lab_bench_json_counted(o, c);
    return lab_json_print(o);
}

static enum lab_status end_table(struct tracing *t)
{
    if (t->table_size < 0)
        return LAB_OK;
    lab_printf(stdout, "\nkernels of %s %s\n", t->lab->ladder->name,
               t->lab->sizes[t->table_size].text);
    t->table_size = -1;
    enum lab_status st = lab_text_table_put(&t->table, "");
    const char *missing =
        t->lab->backend->untimed ? lab_sim_backend_registers_missing() : NULL;
    if (missing && !st)
        lab_printf(stdout, "registers and occupancy n/a: %s\n", missing);
    return st;
}

static enum lab_status begin_table(struct tracing *t)
{
    static const char *const launched[] = {
        ">kernel",   ">grid",        ">block",     ">registers",
        ">shared B", ">occupancy %", "limited by", NULL};
    static const char *const measured[] = {
        ">achieved %", ">DRAM MB", ">fp32 GFLOP", ">tensor GFLOP", NULL};
    const char *heads[LAB_TEXT_TABLE_COLUMNS + 1] = {"variant"};
    int n = 1;
    if (t->lab->options->json || t->table_size == t->row->size)
        return LAB_OK;
    enum lab_status st = end_table(t);
    if (lab_bench_has_precisions(t->lab))
        heads[n++] = "in";
    for (int i = 0; launched[i]; i++)
        heads[n++] = launched[i];
    for (int i = 0; t->lab->backend->untimed && simulated_column(i); i++)
        heads[n++] = simulated_column(i)->title;
    for (int i = 0; t->counters != LAB_COUNTERS_OFF && measured[i]; i++)
        heads[n++] = measured[i];
    lab_text_table_init(&t->table, heads);
    t->table_size = t->row->size;
    return st;
}

static enum lab_status print_kernels(struct tracing *t)
{
    struct lab_kernel_record kernels[KERNELS];
    const struct lab_bench_observer *to = &t->lab->observer;
    size_t n = lab_live_kernels(t->watch.live, t->exec, kernels, KERNELS);
    enum lab_status st = to->traced ? LAB_OK : begin_table(t);
    for (size_t i = 0; i < n && i < KERNELS && !st; i++) {
        struct lab_counters c;
        lab_counters_init(&c);
        if (!lab_live_counters(t->watch.live, t->exec, (int64_t)i, &c))
            lab_counters_init(&c);
        if (to->traced) {
            to->traced(to->user, t->row, &kernels[i], &c);
            continue;
        }
        lab_bench_model_kernel(&t->lab->data, 0, t->lab, t->row, &kernels[i],
                               &c);
        if (t->lab->options->json)
            st = json_kernel(t, &kernels[i], &c);
        else
            add_kernel(t, &kernels[i], &c);
    }
    return st;
}

/* ---- all of them ---- */

static void store_row(const struct tracing *t)
{
    struct lab_bench *lab = t->lab;
    if (!lab->run || !lab->db)
        return;
    enum lab_status st = lab_writer_flush(lab->writer);
    if (!st)
        st = lab_bench_result_traced(lab->db, lab->run, t->row->place, t->exec);
    if (st)
        lab_warn("the kernels' row is not stored: %s", lab_error());
}

/* One that is stopped while its passes are counted has its kernels already. */
static enum lab_status trace_row(struct tracing *t)
{
    struct lab_bench *lab = t->lab;
    t->exec = ++lab->exec;
    enum lab_status st = lab_ladder_launch(
        lab->backend, lab->ladder, t->row->ran, &lab->sizes[t->row->size],
        lab->options->seed, look, t);
    if (st && st != LAB_E_CANCELLED) {
        lab_warn("%s at %s was not traced: %s", t->row->variant->name,
                 lab->sizes[t->row->size].text, lab_error());
        return LAB_OK;
    }
    store_row(t);
    enum lab_status printed = print_kernels(t);
    return printed ? printed : st;
}

static enum lab_status open_tracing(struct tracing *t)
{
    struct lab_bench *lab = t->lab;
    struct lab_sink store;
    bool stored = lab->run && lab->db;
    if (stored)
        store = lab_writer_sink(lab->writer);
    enum lab_status st = lab_kernel_watch_open(
        &t->watch, lab->backend->ops->name, stored ? &store : NULL);
    if (st)
        return st;
    lab_profiler_set_device(t->watch.profiler, &lab->machine.info);
    lab_profiler_observer(t->watch.profiler, &t->observer);
    return LAB_OK;
}

/* Counters that cannot be had leave their columns empty, and a word. */
static void open_counters(struct tracing *t)
{
    struct lab_bench *lab = t->lab;
    const char *text;
    t->counters = lab_counter_set_find(lab->options->counters);
    if (t->counters == LAB_COUNTERS_OFF ||
        !lab_profiler_counters_probe(t->watch.profiler, &text))
        return;
    snprintf(lab->counters_why, sizeof(lab->counters_why), "%s", text);
    lab->counters_end = "refused";
    lab_warn("counters: %s", text);
    t->counters = LAB_COUNTERS_OFF;
}

static enum lab_status trace_all(struct tracing *t)
{
    enum lab_status st = LAB_OK;
    t->observer.run_begin(t->observer.user, t->lab->title);
    for (int64_t i = 0; i < t->lab->timed && !st; i++) {
        t->row = &t->lab->to_trace[i];
        st = stopped(t->lab) ? LAB_E_CANCELLED : trace_row(t);
    }
    t->observer.run_end(t->observer.user);
    enum lab_status ended = end_table(t);
    if (st == LAB_E_CANCELLED)
        return lab_fail(st, "stopped while the kernels were looked at");
    return st ? st : ended;
}

enum lab_status lab_bench_trace(struct lab_bench *lab)
{
    struct tracing t = {.lab = lab, .table_size = -1};
    enum lab_status st = LAB_OK;
    bool wanted = strcmp(lab->options->counters, "off") != 0;
    if (lab->backend->host_memory) {
        if (wanted) {
            snprintf(lab->counters_why, sizeof(lab->counters_why),
                     "hardware counters are a GPU's; this backend has none");
            lab->counters_end = "refused";
            lab_warn("counters: %s", lab->counters_why);
        }
        return LAB_OK;
    }
    if (lab->timed == 0 || lab->backend->untimed)
        return LAB_OK; /* watched already */
    if (open_tracing(&t)) {
        lab_warn("the kernels are not traced: %s", lab_error());
    } else {
        open_counters(&t);
        st = trace_all(&t);
    }
    lab_kernel_watch_close(&t.watch);
    return st;
}

/* ---- the climb ---- */

/* A wrong variant is a failed check, but for one that is meant to be, by its values
 * or by what a simulation finds in it; where nothing at all was timed, the machine
 * lacks what was asked for. */
static void note_worst(const struct lab_ladder_row *row, bool simulated,
                       enum lab_status *worst)
{
    bool shown = row->compared > 0 || (simulated && row->status == LAB_E_CHECK);
    bool on_purpose = row->variant->wrong_on_purpose && shown;
    if (!on_purpose && (row->status == LAB_E_CHECK || !*worst))
        *worst = row->status;
}

static int size_of(const struct lab_bench *lab,
                   const struct lab_ladder_size *size)
{
    int s = lab->n_sizes - 1;
    while (s > 0 && strcmp(lab->sizes[s].text, size->text) != 0)
        s--;
    return s;
}

/* Remembers a result that was timed. */
static enum lab_status trace_later(struct lab_bench *lab,
                                   const struct lab_ladder_row *row)
{
    size_t n = (size_t)lab->timed;
    struct lab_timed_row *all =
        lab_realloc_array(lab->to_trace, n + 1, sizeof(*all));
    if (!all)
        return lab_no_memory("a lab's rows");
    lab->to_trace = all;
    all[n] = (struct lab_timed_row){.variant = row->variant,
                                    .ran = row->ran,
                                    .place = lab->place,
                                    .size = size_of(lab, &row->size)};
    lab->timed++;
    return LAB_OK;
}

/* Of the course's variants, for the sizes that come. */
static void note_speed(struct lab_bench *lab, const struct lab_ladder_row *row)
{
    for (int i = 0; i < lab->n_variants && lab->course_from < lab->n_sizes; i++)
        if (lab->variants[i] == row->variant &&
            lab_bench_measures(lab, i, lab->course_from))
            lab->last_speed = row->median_ns * 1e-9 /
                              lab_ladder_work(lab->ladder, &row->size);
}

static enum lab_status take_row(void *user, const struct lab_ladder_row *row)
{
    struct lab_bench *lab = user;
    struct lab_bench_result result;
    lab_bench_result_of(lab, row, &result);
    note_worst(row, lab->backend->untimed, &lab->worst);
    struct tracing *t = row->status ? NULL : lab->simulating;
    if (t)
        lab_live_counters(t->watch.live, t->exec, LAB_UNKNOWN, &result.counted);
    record(lab, row, &result);
    if (!row->status && trace_later(lab, row))
        return LAB_E_NOMEM;
    if (!row->status)
        note_speed(lab, row);
    lab->place++;
    enum lab_status st = lab->observer.result(lab->observer.user, &result);
    if (!t || st)
        return st;
    store_row(t);
    return print_kernels(t);
}

static void doing(void *user, const struct lab_variant *variant,
                  const struct lab_ladder_size *size)
{
    struct lab_bench *lab = user;
    const struct lab_bench_observer *o = &lab->observer;
    if (lab->simulating && size)
        lab->simulating->at =
            (struct lab_timed_row){.variant = variant,
                                   .place = lab->place,
                                   .size = size_of(lab, size)};
    if (o->doing)
        o->doing(o->user, variant, size);
}

/* The one run of a variant at a size on the simulator. */
static enum lab_status watch(void *user, lab_ladder_again_fn *again,
                             void *launch)
{
    struct lab_bench *lab = user;
    if (!lab->simulating)
        return again(launch);
    lab->simulating->exec = ++lab->exec;
    return look(lab->simulating, again, launch);
}

/* What a simulation found in it, before the next launch forgets it. */
static void failed(void *user, const struct lab_variant *variant,
                   enum lab_status status)
{
    struct lab_bench *lab = user;
    if (status == LAB_E_CHECK && lab->options->json && !lab->observer.traced)
        lab_sim_findings_print(lab->backend, variant->wrong_on_purpose);
}

/* Without it a simulation has values and no counts. */
static void begin_watching(struct lab_bench *lab, struct tracing *t)
{
    if (open_tracing(t)) {
        lab_kernel_watch_close(&t->watch);
        lab_warn("the kernels are not counted: %s", lab_error());
        return;
    }
    t->counters = LAB_COUNTERS_OFF; /* counts as it runs */
    t->observer.run_begin(t->observer.user, lab->title);
    lab->simulating = t;
}

static enum lab_status end_watching(struct tracing *t)
{
    t->observer.run_end(t->observer.user);
    enum lab_status st = end_table(t);
    t->lab->simulating = NULL;
    lab_kernel_watch_close(&t->watch);
    return st;
}

/* Which variants, and how often. */
struct effort {
    const struct lab_variant *variants[LAB_BENCH_VARIANTS];
    int n_variants;
    int repeats;
    bool once;
};

static enum lab_status climb_sizes(struct lab_bench *lab, int first, int n,
                                   const struct effort *effort)
{
    const struct lab_ladder_run run = {.backend = lab->backend,
                                       .ladder = lab->ladder,
                                       .machine = &lab->machine,
                                       .variants = effort->variants,
                                       .n_variants = effort->n_variants,
                                       .sizes = lab->sizes + first,
                                       .n_sizes = n,
                                       .repeats = effort->repeats,
                                       .once = effort->once,
                                       .seed = lab->options->seed,
                                       .resolve_tuned = resolve,
                                       .row = take_row,
                                       .stop = stopped,
                                       .doing = doing,
                                       .look = watch,
                                       .failed = failed,
                                       .user = lab};
    struct tracing t = {.lab = lab, .table_size = -1, .row = &t.at};
    lab->n_climbing = effort->n_variants;
    if (lab->backend->untimed)
        begin_watching(lab, &t);
    struct lab_kept_error why;
    enum lab_status st = lab_ladder_run(&run);
    lab_error_keep(&why);
    enum lab_status ended = lab->simulating ? end_watching(&t) : LAB_OK;
    return st ? lab_error_again(st, &why) : ended;
}

/* ---- the course's sizes on a CPU ---- */

static void choose_variants(const struct lab_bench *lab, int size,
                            struct effort *effort)
{
    effort->n_variants = 0;
    for (int i = 0; i < lab->n_variants; i++)
        if (lab_bench_measures(lab, i, size))
            effort->variants[effort->n_variants++] = lab->variants[i];
}

/* A size is measured if, by the rate at the one before it, it ends within the minute, or
 * all are wanted, however long they take. What takes a second is run once. */
static enum lab_status climb_course(struct lab_bench *lab, int first, int n)
{
    enum { MINUTE = 60, EACH = 4, WARM_UP = 3 };
    const double start = (double)lab_clock_monotonic_ns() * 1e-9;
    struct effort effort;
    enum lab_status st = LAB_OK;
    for (int i = first; i < first + n && !st; i++) {
        double spent = (double)lab_clock_monotonic_ns() * 1e-9 - start;
        double run =
            lab->last_speed * lab_ladder_work(lab->ladder, &lab->sizes[i]);
        double most = EACH / fmax(run, 1e-9) - WARM_UP;
        effort.once = most < 1;
        effort.repeats = effort.once ? 1 : (int)fmin(lab->repeats, most);
        choose_variants(lab, i, &effort);
        if (lab->however_long || spent + run * effort.n_variants < MINUTE)
            st = climb_sizes(lab, i, 1, &effort);
    }
    return st;
}

int64_t lab_bench_total(const struct lab_bench *lab)
{
    int64_t n = 0;
    for (int s = 0; s < lab->n_sizes; s++)
        for (int r = 0; r < lab->n_variants; r++)
            n += lab_bench_measures(lab, r, s);
    return n;
}

enum lab_status lab_bench_climb(struct lab_bench *lab, int first, int n)
{
    struct effort all = {.repeats = lab->repeats};
    const int end = first + n;
    const int own = end < lab->course_from ? end : lab->course_from;
    enum lab_status st = LAB_OK;
    choose_variants(lab, first, &all);
    lab->last_speed = 0;
    if (first < own)
        st = climb_sizes(lab, first, own - first, &all);
    first = own > first ? own : first;
    return st || first == end ? st : climb_course(lab, first, end - first);
}

static enum lab_status look_no_more(void *user, lab_ladder_again_fn *again,
                                    void *launch)
{
    (void)user;
    (void)again;
    (void)launch;
    return LAB_OK;
}

enum lab_status lab_bench_launch(struct lab_bench *lab,
                                 const struct lab_variant *variant, int size)
{
    return lab_ladder_launch(lab->backend, lab->ladder, variant,
                             &lab->sizes[size], lab->options->seed,
                             look_no_more, NULL);
}

/* ---- what is to be measured ---- */

/* `beside`: candidates with a middle half of times that overlaps the winner's, where it
 * was `measured` now. */
static enum lab_status print_winner(const struct lab_bench *lab,
                                    const struct lab_variant *tuned,
                                    const struct lab_ladder_size *size,
                                    const struct lab_tuned_found *found,
                                    bool measured, int64_t beside)
{
    char size_class[CLASS];
    char unit[LAB_BENCH_UNIT];
    char near[96] = "";
    class_of(lab, size, size_class);
    lab_bench_shown_unit(lab, unit, sizeof(unit));
    if (measured && beside > 0)
        snprintf(near, sizeof(near),
                 "; the times of %lld other%s overlap with its own",
                 (long long)beside, beside == 1 ? "" : "s");
    if (!lab->options->json) {
        lab_printf(
            stdout, "%s %s %s: %s, %.4g %s, the fastest of %lld%s%s%s%s\n",
            lab->ladder->name, lab_precision_name(tuned->precision), size_class,
            found->candidate, found->rate / lab_bench_scale(lab), unit,
            (long long)found->candidates, near, measured ? "" : ", kept since ",
            measured ? "" : found->measured,
            measured ? "" : " (--retune measures again)");
        return lab_print_check();
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
    lab_json_int(line, "overlapping", measured ? beside : LAB_UNKNOWN);
    lab_json_text(line, "measured", measured ? NULL : found->measured);
    return lab_json_print(line);
}

/* Has an earlier size of the list the same class? */
static bool seen_before(const struct lab_bench *lab, int size)
{
    char mine[CLASS];
    char other[CLASS];
    class_of(lab, &lab->sizes[size], mine);
    for (int s = 0; s < size; s++)
        if (strcmp(mine, class_of(lab, &lab->sizes[s], other)) == 0)
            return true;
    return false;
}

static enum lab_status note_job(struct lab_bench *lab, int r, int s)
{
    struct lab_tuned_found found;
    const struct lab_variant *variant = lab->variants[r];
    bool there = kept(lab, variant, &lab->sizes[s], &found) != NULL;
    if (there && !lab->options->retune)
        return print_winner(lab, variant, &lab->sizes[s], &found, false, 0);
    if (lab->to_tune == LAB_BENCH_JOBS)
        return lab_fail(
            LAB_E_USAGE,
            "[lab.tune-count] more than %d sizes and variants to tune",
            LAB_BENCH_JOBS);
    lab->tune[lab->to_tune++] = (struct lab_tune_job){variant, s};
    return LAB_OK;
}

enum lab_status lab_bench_tune_kept(struct lab_bench *lab)
{
    enum lab_status st = open_db(lab->options, &lab->db);
    for (int r = 0; r < lab->n_variants && !st; r++) {
        for (int s = 0; s < lab->n_sizes && !st; s++) {
            if (!seen_before(lab, s))
                st = note_job(lab, r, s);
        }
    }
    return st;
}

/* ---- measuring ---- */

/* `timed` candidates were, `best` is the fastest. */
static enum lab_status keep(struct lab_bench *lab,
                            const struct lab_tune_job *job,
                            const struct lab_bench_result *best, int64_t timed)
{
    struct lab_ceiling_device device;
    char size_class[CLASS];
    const struct lab_ladder_size *size = &lab->sizes[job->size];
    device_of(lab, &device);
    const struct lab_tuned_row row = {
        .backend = device.backend,
        .device = device.device,
        .uuid = device.uuid[0] ? device.uuid : NULL,
        .hostname = device.hostname,
        .lab = lab->ladder->name,
        .size_class = class_of(lab, size, size_class),
        .precision = lab_precision_name(job->variant->precision),
        .candidate = best->variant,
        .size = size->text,
        .unit = lab->unit,
        .median_ns = best->median_ns,
        .rate = best->rate,
        .candidates = timed,
        .run = lab->run ? lab->run : LAB_UNKNOWN,
        .measured_ns = lab_clock_wall_ns(),
        .driver = lab->machine.info.driver,
        .version = lab_version()};
    enum lab_status st = LAB_OK;
    if (!lab->db)
        return lab_fail(
            LAB_E_DB,
            "[lab.tune-database] the winner cannot be kept: no database");
    if (lab->run)
        st = lab_writer_flush(lab->writer);
    return st ? st : lab_tuned_add(lab->db, &row);
}

/* ---- the map: candidates against sizes ---- */

/* What was measured of one tuned variant. */
struct tuning_map {
    const struct lab_variant *variant; /* NULL: nothing yet */
    char candidate[LAB_BENCH_VARIANTS][LAB_BENCH_NAME];
    int candidates;
    char size[LAB_TEXT_TABLE_COLUMNS - 1][CLASS];
    int sizes;
    double rate[LAB_BENCH_VARIANTS][LAB_TEXT_TABLE_COLUMNS - 1]; /* NaN: none */
};

/* The row of that name; a new one has no rates yet. -1: there is no room. */
static int map_row(struct tuning_map *m, const char *name)
{
    int at = 0;
    while (at < m->candidates && strcmp(m->candidate[at], name) != 0)
        at++;
    if (at < m->candidates)
        return at;
    if (at == LAB_BENCH_VARIANTS)
        return -1;
    snprintf(m->candidate[at], sizeof(m->candidate[at]), "%s", name);
    for (int s = 0; s < LAB_TEXT_TABLE_COLUMNS - 1; s++)
        m->rate[at][s] = NAN;
    return m->candidates++;
}

static void map_size(struct tuning_map *m, const struct lab_bench *lab,
                     const struct lab_tune_job *job)
{
    if (m->sizes == LAB_TEXT_TABLE_COLUMNS - 1)
        return;
    m->variant = job->variant;
    class_of(lab, &lab->sizes[job->size], m->size[m->sizes]);
    for (int64_t i = 0; i < lab->data.row_count; i++) {
        const struct lab_bench_result *r = &lab->data.rows[i];
        int at = r->state == LAB_BENCH_DONE ? map_row(m, r->variant) : -1;
        if (at >= 0)
            m->rate[at][m->sizes] = r->rate;
    }
    m->sizes++;
}

/* A bar, and the percent of the size's fastest; more is better, of times less. */
static void add_map_cell(struct lab_text_table *t, const struct tuning_map *m,
                         int row, int size, bool less)
{
    enum { BAR = 5 };
    char text[64] = "";
    int first = 0; /* of those that are equally fast, the one that is kept */
    for (int i = 1; i < m->candidates; i++) {
        double rate = m->rate[i][size];
        double most = m->rate[first][size];
        if (isnan(most) || (less ? rate < most : rate > most))
            first = i;
    }
    double best = m->rate[first][size];
    double share = less ? best / m->rate[row][size] : m->rate[row][size] / best;
    if (isnan(share)) {
        lab_text_table_add(t, NULL);
        return;
    }
    for (int i = 0; i < BAR; i++)
        strcat(text, i >= lround(share * BAR) ? " "
                     : lab_print_is_ascii()   ? "#"
                                              : "\u2588");
    lab_text_table_addf(t, "%s %3.0f%s", text, 100 * share,
                        row == first ? " *" : "");
}

/* `where`: "" for this machine. */
static enum lab_status print_map(const struct lab_bench *lab,
                                 const struct tuning_map *m, const char *where)
{
    const char *heads[LAB_TEXT_TABLE_COLUMNS + 1] = {"candidate"};
    struct lab_text_table t;
    if (lab->options->json || m->candidates < 2)
        return LAB_OK;
    for (int s = 0; s < m->sizes; s++)
        heads[s + 1] = m->size[s];
    lab_text_table_init(&t, heads);
    for (int i = 0; i < m->candidates; i++) {
        lab_text_table_add(&t, m->candidate[i]);
        for (int s = 0; s < m->sizes; s++)
            add_map_cell(&t, m, i, s, lab->ladder->unit == LAB_UNIT_TIME);
    }
    lab_printf(stdout,
               "\nthe tuning map of %s%s%s: %% of the fastest at a size (*)\n",
               lab->ladder->name, m->variant ? " " : "",
               m->variant ? lab_precision_name(m->variant->precision) : "");
    if (where[0])
        lab_printf(stdout, "%s\n", where);
    return lab_text_table_put(&t, "");
}

/* Of the newest run that ships. */
static enum lab_status print_recorded_map(const struct lab_bench *lab,
                                          struct tuning_map *m,
                                          struct lab_bench_data *recorded)
{
    char where[2 * LAB_BENCH_TEXT];
    if (lab_bench_model_recorded(recorded, lab) || recorded->set_count == 0)
        return LAB_OK; /* it need not be there */
    for (int s = 0; s < recorded->size_count; s++) {
        if (m->sizes == LAB_TEXT_TABLE_COLUMNS - 1)
            break;
        snprintf(m->size[m->sizes], sizeof(m->size[0]), "%s",
                 recorded->sizes[s].text);
        for (int64_t i = 0; i < recorded->row_count; i++) {
            const struct lab_bench_result *r = &recorded->rows[i];
            bool here = r->size_index == s && r->state == LAB_BENCH_DONE;
            int at = here ? map_row(m, r->variant) : -1;
            if (at >= 0)
                m->rate[at][m->sizes] = r->rate;
        }
        m->sizes++;
    }
    snprintf(where, sizeof(where), "recorded on %s, %s",
             recorded->sets[0].device, recorded->sets[0].note);
    return print_map(lab, m, where);
}

enum lab_status lab_bench_tune_recorded(const struct lab_bench *lab)
{
    struct tuning_map *map = lab_alloc(sizeof(*map));
    struct lab_bench_data *recorded = lab_alloc(sizeof(*recorded));
    enum lab_status st = map && recorded ? LAB_OK : lab_no_memory("a map");
    /* A ladder's run has variants, no candidates. */
    bool tunes = lab->lesson && lab->lesson->lab.measures == LAB_MEASURE_TUNE;
    if (!st && tunes && !lab->options->json &&
        strcmp(lab->backend->ops->name, "cuda") != 0) {
        lab_bench_data_init(recorded);
        st = print_recorded_map(lab, map, recorded);
        if (!st && lab->to_tune)
            lab_printf(stdout, "\n");
        lab_bench_data_release(recorded);
    }
    lab_free(map);
    lab_free(recorded);
    return st;
}

static enum lab_status measure(struct lab_bench *lab,
                               const struct lab_tune_job *job,
                               struct tuning_map *map)
{
    struct lab_tuned_found found = {.candidate = ""};
    int64_t timed = 0;
    int64_t beside = 0;
    lab->n_variants =
        lab_ladder_variants(lab->backend, lab->ladder, job->variant,
                            lab->variants, LAB_BENCH_VARIANTS);
    enum lab_status st = lab_bench_model_plan(&lab->data, 0, lab);
    if (!st)
        st = lab_bench_climb(lab, job->size, 1);
    for (int64_t i = 0; i < lab->data.row_count; i++)
        timed += lab->data.rows[i].state == LAB_BENCH_DONE;
    if (st || timed == 0)
        return st; /* the rows have the reasons */
    map_size(map, lab, job);
    const struct lab_bench_result *best = lab_bench_best(&lab->data, job->size);
    st = keep(lab, job, best, timed);
    if (st)
        return st;
    snprintf(found.candidate, sizeof(found.candidate), "%s", best->variant);
    found.candidates = timed;
    found.rate = best->rate;
    for (int64_t i = 0; i < lab->data.row_count; i++) {
        const struct lab_bench_result *r = &lab->data.rows[i];
        beside += r != best && r->state == LAB_BENCH_DONE &&
                  r->quarter_ns <= best->three_quarters_ns;
    }
    return print_winner(lab, job->variant, &lab->sizes[job->size], &found, true,
                        beside);
}

enum lab_status lab_bench_tune(struct lab_bench *lab)
{
    struct tuning_map *map = lab_alloc(sizeof(*map));
    enum lab_status st =
        map ? LAB_OK : lab_fail(LAB_E_NOMEM, "no memory for a tuning's map");
    for (int i = 0; i < lab->to_tune && !st; i++) {
        if (map->variant && map->variant != lab->tune[i].variant) {
            st = print_map(lab, map, "");
            *map = (struct tuning_map){.variant = NULL};
        }
        if (!st)
            st = measure(lab, &lab->tune[i], map);
    }
    if (!st)
        st = print_map(lab, map, "");
    lab_free(map);
    return st;
}
