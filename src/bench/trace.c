/* The kernels of a lab's rungs: each rung that was timed is launched once more
 * under CUPTI, after all times have been taken, because a trace is not for
 * timing. Its launch is a step of its own in the store, "gemm 4096, traced",
 * and the row of the lab names it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "bench/bench.h"
#include "profiler/counters.h"
#include "profiler/occupancy.h"
#include "report/print.h"
#include "report/text_table.h"
#include "trace/intern.h"

enum { KERNELS = 32 /* of one launch that are shown */ };

struct tracing {
    struct lab_bench *lab;
    struct lab_kernel_watch watch;
    struct lab_observer observer;
    enum lab_counter_set counters;
    const struct lab_timed_row *row;
    int64_t exec;
    struct lab_text_table table; /* of the size at hand */
    int table_size;              /* -1: none is begun */
    /* While a rung is launched again. */
    lab_ladder_again_fn *again;
    void *launch;
};

enum lab_status lab_bench_trace_later(struct lab_bench *lab,
                                      const struct lab_ladder_row *row)
{
    size_t n = (size_t)lab->timed;
    struct lab_timed_row *all =
        lab_realloc_array(lab->to_trace, n + 1, sizeof(*all));
    if (!all)
        return lab_no_memory("a lab's rows");
    lab->to_trace = all;
    all[n] = (struct lab_timed_row){
        .rung = row->rung, .ran = row->ran, .place = lab->place};
    for (int s = 0; s < lab->n_sizes; s++) {
        if (strcmp(lab->sizes[s].text, row->size.text) == 0)
            all[n].size = s;
    }
    lab->timed++;
    return LAB_OK;
}

static bool stopped(const struct lab_bench *lab)
{
    return lab->observer.stop && lab->observer.stop(lab->observer.user);
}

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
        lab_warn("%s: %s", t->row->rung->name, lab_error());
    return LAB_OK;
}

static enum lab_status look(void *user, lab_ladder_again_fn *again,
                            void *launch)
{
    struct tracing *t = user;
    struct lab_bench *lab = t->lab;
    const struct lab_ladder_size *size = &lab->sizes[t->row->size];
    char name[160];
    snprintf(name, sizeof(name), "%s %s, traced", lab->ladder->name,
             size->text);
    struct lab_step step = {
        .name = name,
        .phase = LAB_FORWARD,
        .flop = lab->ladder->flop(size->dim),
        .bytes = lab->ladder->bytes(size->dim, t->row->rung->precision)};
    struct lab_step_event e = {.exec = t->exec,
                               .iteration = lab->repeats,
                               .index = (int)(lab->place + t->row->place),
                               .step = &step,
                               .node = name,
                               .op = lab->ladder->name,
                               .variant = t->row->rung->name,
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

static void add_kernel(struct tracing *t, const struct lab_kernel_record *k,
                       const struct lab_counters *c)
{
    struct lab_text_table *table = &t->table;
    char limit[64];
    lab_text_table_add(table, t->row->rung->name);
    const char *name = lab_intern_text(k->short_name);
    lab_text_table_addf(table, "%.40s", name ? name : LAB_NA);
    lab_text_table_add(table, LAB_DIMS_TEXT(k->launch.grid));
    lab_text_table_add(table, LAB_DIMS_TEXT(k->launch.block));
    lab_text_table_add_int(table, k->launch.registers_per_thread);
    lab_text_table_add_int(table, lab_launch_shared(&k->launch));
    lab_text_table_add_real(table, k->occupancy_pct, 3);
    lab_occupancy_limit_text(limit, sizeof(limit), k->occupancy_limit);
    lab_text_table_add(table, isnan(k->occupancy_pct) ? NULL : limit);
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
    lab_json_text(o, "variant", t->row->rung->name);
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
    return lab_json_print(o);
}

static enum lab_status end_table(struct tracing *t)
{
    if (t->table_size < 0)
        return LAB_OK;
    lab_printf(stdout, "\nkernels of %s %s\n", t->lab->ladder->name,
               t->lab->sizes[t->table_size].text);
    t->table_size = -1;
    return lab_text_table_put(&t->table, "");
}

static enum lab_status begin_table(struct tracing *t)
{
    static const char *const heads[] = {
        "rung",        ">kernel",   ">grid",        ">block",
        ">registers",  ">shared B", ">occupancy %", "limited by",
        ">achieved %", ">DRAM MB",  ">fp32 GFLOP",  ">tensor GFLOP",
        NULL};
    const char *some[9] = {NULL};
    if (t->lab->options->json || t->table_size == t->row->size)
        return LAB_OK;
    enum lab_status st = end_table(t);
    memcpy(some, heads, 8 * sizeof(*some));
    lab_text_table_init(&t->table,
                        t->counters == LAB_COUNTERS_OFF ? some : heads);
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
        lab_warn("%s at %s was not traced: %s", t->row->rung->name,
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
    if (lab->timed == 0)
        return LAB_OK;
    if (open_tracing(&t)) {
        lab_warn("the kernels are not traced: %s", lab_error());
    } else {
        open_counters(&t);
        st = trace_all(&t);
    }
    lab_kernel_watch_close(&t.watch);
    return st;
}
