/* profiler.c -- the engine's observer: times each step on the host, opens and
 * closes CUPTI's trace around it, and hands the records on. */
#include "profiler/profiler.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trace/intern.h"
#include "profiler/counters.h"

struct lab_open_range {
    int level;
    uint32_t text;
    int64_t number;
    int64_t start_ns; /* monotonic */
};

struct lab_profiler {
    struct lab_sink sink;
    const struct lab_gpu_profiler_ops *gpu; /* NULL: none */
    struct lab_join *join;                  /* while tracing */
    bool gpu_run;                 /* its backend is none of the host's */
    bool tracing;                 /* CUPTI is attached */
    enum lab_gpu_records records; /* what it records now, and */
    unsigned was;                 /* in this run, a bit each */
    bool ranges;
    enum lab_time_source time_source;
    char note[LAB_GPU_TEXT];
    bool counters_probed;
    enum lab_status counters_status;
    char counters_text[LAB_GPU_TEXT]; /* the chip, or why not */

    int64_t wall_offset_ns; /* moment = monotonic + this, */
    int64_t anchored_ns;    /* as it was then; 0: never */
    struct lab_open_range open[LAB_RANGE_LEVEL_COUNT];
    int n_open;
    enum lab_phase phase;
    int64_t step_start_ns;   /* monotonic */
    bool loss_ran;           /* in this iteration */
    double rate;             /* learning rate of the iteration that ends */
    uint64_t run;            /* its number in this process, from 1 */
    uint32_t iteration_text; /* "iteration"; 0: not interned yet */
    bool pushed;             /* a step's exec is pushed in the GPU's profiler */
    bool graph;              /* the exec of a graph that is being launched */
    bool between;            /* under it, LAB_EXEC_BETWEEN */
    int unreported;          /* times that LAB_EXEC_DROPPED is pushed */

    atomic_uint_fast64_t steps;
    atomic_uint_fast64_t not_stored;
    atomic_uint_fast64_t failed_flushes;
    atomic_int_fast64_t observer_ns;
};

/* Taking the trace off and on, and what it was while times were taken. */

static const struct {
    const char *name;
    const char *text;
} states[LAB_TRACE_STATE_COUNT] = {
    [LAB_TRACE_NEVER] = {"never", "without tracing"},
    [LAB_TRACE_ON] = {"on", "with tracing on"},
    [LAB_TRACE_OFF] = {"off", "with tracing attached and taken off"},
    [LAB_TRACE_MIXED] = {"mixed", "with tracing changed in between"},
    [LAB_TRACE_KERNELS] = {"kernels", "with kernels traced and no calls"},
};

const char *lab_trace_state_name(enum lab_trace_state state)
{
    return (unsigned)state < LAB_TRACE_STATE_COUNT ? states[state].name : NULL;
}

const char *lab_trace_state_text(enum lab_trace_state state)
{
    bool known = (unsigned)state < LAB_TRACE_STATE_COUNT && states[state].text;
    return known ? states[state].text : "";
}

enum lab_trace_state lab_trace_state_find(const char *name)
{
    for (int i = 0; name && i < LAB_TRACE_STATE_COUNT; i++) {
        if (states[i].name && strcmp(states[i].name, name) == 0)
            return (enum lab_trace_state)i;
    }
    return LAB_TRACE_UNKNOWN;
}

/* The module's last failure becomes the program's. */
static enum lab_status module_failed(const struct lab_profiler *p,
                                     enum lab_status st, const char *what)
{
    return lab_fail(st, "%s: %s", what, p->gpu->error());
}

static bool profiler_records(const struct lab_profiler *p)
{
    return p->tracing && p->records != LAB_GPU_RECORDS_NONE;
}

/* What the host takes for it is no time of the work. */
static bool is_simulated(const struct lab_profiler *p)
{
    return p->gpu == &lab_gpu_profiler_sim;
}

enum lab_trace_state lab_profiler_trace_state(const struct lab_profiler *p)
{
    static const enum lab_trace_state of[] = {
        [LAB_GPU_RECORDS_ALL] = LAB_TRACE_ON,
        [LAB_GPU_RECORDS_KERNELS] = LAB_TRACE_KERNELS,
        [LAB_GPU_RECORDS_NONE] = LAB_TRACE_OFF};
    if (!p->gpu_run || is_simulated(p))
        return LAB_TRACE_UNKNOWN;
    if (!p->tracing)
        return LAB_TRACE_NEVER;
    if (p->was & (p->was - 1)) /* more than one */
        return LAB_TRACE_MIXED;
    for (int i = 0; i <= LAB_GPU_RECORDS_NONE; i++) {
        if (p->was == 1u << i)
            return of[i];
    }
    return of[p->records];
}

static enum lab_time_source source_of_records(const struct lab_profiler *p)
{
    return is_simulated(p) ? LAB_TIME_NONE : LAB_TIME_CUPTI;
}

enum lab_status lab_profiler_trace(struct lab_profiler *p,
                                   enum lab_gpu_records records)
{
    if (!p->gpu_run)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[trace.cpu] tracing is a GPU's: steps on the host are timed by "
            "its clock");
    if (!p->tracing)
        return lab_fail(LAB_E_UNSUPPORTED, "[trace.off] nothing is traced: %s",
                        p->note[0] ? p->note
                                   : "tracing was switched off at the start");
    if (p->records == records)
        return LAB_OK;
    if (profiler_records(p))
        (void)lab_profiler_flush(p);
    enum lab_status st = p->gpu->set_records(records);
    p->records = st ? LAB_GPU_RECORDS_NONE : records;
    p->was |= 1u << p->records;
    p->time_source = profiler_records(p) || is_simulated(p)
                         ? source_of_records(p)
                         : LAB_TIME_CUDA_EVENTS;
    return st ? module_failed(p, LAB_E_DEVICE, "profiler") : LAB_OK;
}

/* Counting pauses the trace. Where it did not go on, steps are timed
 * otherwise. */
static void profiler_trace_again(struct lab_profiler *p)
{
    enum lab_gpu_records records = p->records;
    if (!p->tracing || !profiler_records(p))
        return;
    p->records = LAB_GPU_RECORDS_NONE;
    (void)lab_profiler_trace(p, records);
}

enum { TEXT_BYTES = 64 };

/* Moments are made from the monotonic clock and one offset, so that ranges nest
 * even when the wall clock is set; the offset is taken anew at the iteration that
 * begins a millisecond later, so that they stay near CUPTI's moments. */
static void profiler_moments_anchor(struct lab_profiler *p, int64_t before)
{
    const int64_t holds_ns = 1000000; /* the clocks' difference */
    if (p->anchored_ns > 0 && before - p->anchored_ns < holds_ns)
        return;
    p->anchored_ns = before = lab_clock_monotonic_ns();
    int64_t wall = lab_clock_wall_ns();
    int64_t after = lab_clock_monotonic_ns();
    p->wall_offset_ns = wall - (before + (after - before) / 2);
}

/* nsys: hardware id, virtual machine, process and thread in one number. Asked of the
 * system once a thread and run. */
static int64_t global_tid(const struct lab_profiler *p)
{
    static _Thread_local int64_t id;
    static _Thread_local uint64_t of;
    if (of != p->run) {
        int64_t tid = (int64_t)syscall(SYS_gettid);
        id = ((int64_t)(getpid() & 0xFFFFFF) << 24) | (tid & 0xFFFFFF);
        of = p->run;
    }
    return id;
}

static void count_run(struct lab_profiler *p)
{
    static atomic_uint_fast64_t runs;
    p->run = atomic_fetch_add(&runs, 1) + 1;
}

static void push_record(struct lab_profiler *p, const struct lab_record *r)
{
    if (!p->sink.push(p->sink.user, r))
        p->not_stored++;
}

static void range_record(struct lab_profiler *p,
                         const struct lab_open_range *open, int64_t now)
{
    struct lab_record r = {.kind = LAB_RECORD_RANGE};
    r.u.range = (struct lab_range_record){
        .start_ns = open->start_ns + p->wall_offset_ns,
        .end_ns = now + p->wall_offset_ns,
        .text = open->text,
        .level = open->level,
        .global_tid = global_tid(p),
        .number =
            open->level == LAB_RANGE_ITERATION ? open->number : LAB_UNKNOWN,
    };
    push_record(p, &r);
}

/* Ends the open ranges from `level` inwards: a run that was cancelled in the
 * middle leaves some without an end of their own. */
static void close_to(struct lab_profiler *p, int level, int64_t now)
{
    while (p->n_open > 0 && p->open[p->n_open - 1].level >= level) {
        const struct lab_open_range *open = &p->open[--p->n_open];
        if (p->gpu)
            p->gpu->range_pop();
        if (p->ranges)
            range_record(p, open, now);
    }
}

/* A name lives as long as the process: none is made for each iteration. */
static uint32_t iteration_text(struct lab_profiler *p)
{
    if (p->ranges && !p->iteration_text)
        p->iteration_text = lab_intern("iteration");
    return p->iteration_text;
}

static void open_range(struct lab_profiler *p, int level, const char *text,
                       int64_t value, int64_t now)
{
    bool phased = level >= LAB_RANGE_PHASE && level <= LAB_RANGE_STEP;
    close_to(p, level, now);
    struct lab_open_range *open = &p->open[p->n_open++];
    open->level = level;
    open->text = level == LAB_RANGE_ITERATION ? iteration_text(p)
                 : p->ranges                  ? lab_intern(text)
                                              : 0;
    open->number = value;
    open->start_ns = now;
    if (p->gpu) {
        struct lab_gpu_range range = {
            .text = text ? text : "",
            .level = level,
            .phase = phased ? (int)p->phase : -1,
            .value = value,
        };
        p->gpu->range_push(&range);
    }
}

static void profiler_close_all(struct lab_profiler *p)
{
    if (p->pushed)
        p->gpu->pop();
    for (; p->unreported > 0; p->unreported--)
        p->gpu->pop();
    if (p->between)
        p->gpu->pop();
    p->pushed = false;
    p->between = false;
    close_to(p, LAB_RANGE_RUN, lab_clock_monotonic_ns());
}

/* What tracing costs here: from entry to exit of a call. Where nothing is traced, the
 * readings of the clock would be most of it. */
static void count_time(struct lab_profiler *p, int64_t since)
{
    if (p->tracing)
        p->observer_ns += lab_clock_monotonic_ns() - since;
}

static void begin_range(struct lab_profiler *p, int level, const char *text)
{
    int64_t now = lab_clock_monotonic_ns();
    open_range(p, level, text, LAB_UNKNOWN, now);
    count_time(p, now);
}

static void end_range(struct lab_profiler *p, int level)
{
    close_to(p, level, lab_clock_monotonic_ns());
}

static void run_begin(void *user, const char *name)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    profiler_close_all(p);
    count_run(p);
    profiler_moments_anchor(p, now);
    open_range(p, LAB_RANGE_RUN, name, LAB_UNKNOWN, now);
    p->was = p->tracing ? 1u << p->records : 0;
    p->between = p->tracing;
    if (p->between) {
        lab_join_begin(p->join, now + p->wall_offset_ns);
        p->gpu->push(LAB_EXEC_BETWEEN);
    }
    count_time(p, now);
}

static void run_end(void *user)
{
    profiler_close_all(user);
}

static void iteration_begin(void *user, int64_t iteration, int64_t start_ns)
{
    struct lab_profiler *p = user;
    char text[TEXT_BYTES];
    int64_t now = lab_clock_monotonic_ns();
    close_to(p, LAB_RANGE_ITERATION, now);
    profiler_moments_anchor(p, now);
    text[0] = '\0';
    if (p->gpu)
        snprintf(text, sizeof(text), "iteration %lld", (long long)iteration);
    open_range(p, LAB_RANGE_ITERATION, text, iteration, start_ns);
    p->loss_ran = false;
    count_time(p, now);
}

static void loss_record(struct lab_profiler *p, int64_t iteration, double loss,
                        int64_t now)
{
    struct lab_record r = {.kind = LAB_RECORD_LOSS};
    r.u.loss = (struct lab_loss_record){
        .iteration = iteration,
        .loss = loss,
        .accuracy = NAN,
        .held_loss = NAN,
        .rate = p->rate,
        .moment_ns = now + p->wall_offset_ns,
    };
    push_record(p, &r);
}

static void iteration_end(void *user, int64_t iteration, double loss)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    close_to(p, LAB_RANGE_ITERATION, now);
    /* An iteration that was left before its loss has none; a loss that came
     * out as NaN is one. */
    if (p->loss_ran || !isnan(loss))
        loss_record(p, iteration, loss, now);
    count_time(p, now);
}

static void rate(void *user, double learning_rate)
{
    struct lab_profiler *p = user;
    p->rate = learning_rate;
}

/* Its steps stay, and it counts as no iteration. */
static void iteration_cut(void *user, int64_t iteration)
{
    (void)iteration;
    end_range(user, LAB_RANGE_ITERATION);
}

/* Its kernels were launched as one: there is nothing below it. */
static void iteration_done(void *user, int64_t iteration, double loss,
                           int64_t start_ns, int64_t end_ns)
{
    struct lab_profiler *p = user;
    int64_t now = p->tracing ? lab_clock_monotonic_ns() : end_ns;
    close_to(p, LAB_RANGE_ITERATION, now);
    profiler_moments_anchor(p, now);
    struct lab_open_range range = {.level = LAB_RANGE_ITERATION,
                                   .text = iteration_text(p),
                                   .number = iteration,
                                   .start_ns = start_ns};
    if (p->ranges)
        range_record(p, &range, end_ns);
    loss_record(p, iteration, loss, end_ns);
    count_time(p, now);
}

/* Of the rows that are held back. Its accuracy may be NaN: without classes. */
static void evaluation(void *user, int64_t iteration, double loss,
                       double accuracy)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    struct lab_record r = {.kind = LAB_RECORD_LOSS};
    r.u.loss = (struct lab_loss_record){
        .iteration = iteration,
        .loss = NAN,
        .accuracy = accuracy,
        .held_loss = loss,
        .rate = NAN,
        .moment_ns = now + p->wall_offset_ns,
    };
    push_record(p, &r);
    count_time(p, now);
}

/* Innermost of what is open: an iteration may be paused meanwhile. */
static void between_begin(void *user, const char *what)
{
    begin_range(user, LAB_RANGE_BETWEEN, what);
}

static void between_end(void *user)
{
    end_range(user, LAB_RANGE_BETWEEN);
}

static void unreported_begin(void *user)
{
    struct lab_profiler *p = user;
    if (!profiler_records(p))
        return;
    int64_t now = lab_clock_monotonic_ns();
    p->gpu->push(LAB_EXEC_DROPPED);
    p->unreported++;
    count_time(p, now);
}

static void unreported_end(void *user)
{
    struct lab_profiler *p = user;
    if (p->unreported == 0)
        return;
    int64_t now = lab_clock_monotonic_ns();
    p->gpu->pop();
    p->unreported--;
    count_time(p, now);
}

static void phase_begin(void *user, enum lab_phase phase)
{
    struct lab_profiler *p = user;
    p->phase = phase;
    begin_range(p, LAB_RANGE_PHASE, lab_phase_name(phase));
}

static void phase_end(void *user, enum lab_phase phase)
{
    (void)phase;
    end_range(user, LAB_RANGE_PHASE);
}

static void node_begin(void *user, const char *node)
{
    begin_range(user, LAB_RANGE_NODE, node);
}

static void node_end(void *user, const char *node)
{
    (void)node;
    end_range(user, LAB_RANGE_NODE);
}

/* The step's clock is read last of all, and first of all in step_end: what the
 * profiler does is not the step's time. */
static void step_begin(void *user, const struct lab_step_event *e)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    p->phase = e->step->phase;
    if (p->pushed)
        p->gpu->pop();
    open_range(p, LAB_RANGE_STEP, e->step->name, e->exec, now);
    p->pushed = profiler_records(p);
    if (p->pushed)
        p->gpu->push(e->exec);
    p->step_start_ns = lab_clock_monotonic_ns();
    if (p->tracing)
        p->observer_ns += p->step_start_ns - now;
}

static void step_time(const struct lab_profiler *p,
                      const struct lab_step_event *e, int64_t now,
                      struct lab_step_record *s)
{
    bool host = p->time_source == LAB_TIME_CPU_CLOCK ||
                (e->backend && strcmp(e->backend, "cpu") == 0);
    s->time_source = (int32_t)p->time_source;
    s->time_ns = LAB_UNKNOWN;
    if (host) {
        s->time_source = LAB_TIME_CPU_CLOCK;
        s->time_ns = now - p->step_start_ns;
    } else if (p->time_source == LAB_TIME_CUDA_EVENTS) {
        if (e->device_ns == LAB_EVENT_NO_TIME)
            s->time_source = LAB_TIME_NONE;
        else
            s->time_ns = e->device_ns;
    }
}

static void describe_step(const struct lab_step_event *e,
                          struct lab_step_record *s)
{
    s->exec = e->exec;
    s->iteration = e->iteration;
    s->index = e->index;
    s->phase = (int32_t)e->step->phase;
    s->name = lab_intern(e->step->name);
    s->node = lab_intern(e->node);
    s->op = lab_intern(e->op);
    s->variant = lab_intern(e->variant);
    s->backend = lab_intern(e->backend);
    s->flop = e->step->flop;
    s->bytes = e->step->bytes;
}

static void step_end(void *user, const struct lab_step_event *e)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    if (p->pushed)
        p->gpu->pop();
    p->pushed = false;
    close_to(p, LAB_RANGE_STEP, now);
    struct lab_record r = {.kind = LAB_RECORD_STEP};
    struct lab_step_record *s = &r.u.step;
    describe_step(e, s);
    step_time(p, e, now, s);
    bool simulated = is_simulated(p);
    s->start_ns =
        simulated ? LAB_UNKNOWN : p->step_start_ns + p->wall_offset_ns;
    s->end_ns = simulated ? LAB_UNKNOWN : now + p->wall_offset_ns;
    push_record(p, &r);
    p->steps++;
    p->loss_ran = p->loss_ran || e->step->phase == LAB_LOSS;
    count_time(p, now);
}

static void graph_begin(void *user, const struct lab_graph_event *e)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    if (!profiler_records(p) || lab_join_graph(p->join, e->exec, e->n_steps,
                                               e->first_node, e->node_end))
        return;
    p->gpu->push(e->exec);
    p->graph = true;
    count_time(p, now);
}

static void graph_end(void *user, const struct lab_graph_event *e)
{
    struct lab_profiler *p = user;
    (void)e;
    if (p->graph)
        p->gpu->pop();
    p->graph = false;
}

/* Its place on the clock is that of its nodes: the host launched them all at
 * once. */
static void step_done(void *user, const struct lab_step_event *e)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    struct lab_record r = {.kind = LAB_RECORD_STEP};
    if (!profiler_records(p))
        return;
    describe_step(e, &r.u.step);
    r.u.step.time_source = LAB_TIME_CUPTI;
    r.u.step.time_ns = LAB_UNKNOWN;
    lab_join_graph_span(p->join, e->exec, &r.u.step.start_ns, &r.u.step.end_ns);
    push_record(p, &r);
    p->steps++;
    count_time(p, now);
}

static void synced(void *user)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    if (lab_profiler_flush(p))
        p->failed_flushes++;
    count_time(p, now);
}

void lab_profiler_observer(struct lab_profiler *p, struct lab_observer *out)
{
    *out = (struct lab_observer){
        .user = p,
        .run_begin = run_begin,
        .run_end = run_end,
        .iteration_begin = iteration_begin,
        .rate = rate,
        .iteration_end = iteration_end,
        .iteration_cut = iteration_cut,
        .iteration_done = iteration_done,
        .phase_begin = phase_begin,
        .phase_end = phase_end,
        .node_begin = node_begin,
        .node_end = node_end,
        .step_begin = step_begin,
        .step_end = step_end,
        .graph_begin = graph_begin,
        .graph_end = graph_end,
        .step_done = step_done,
        .synced = synced,
        .evaluation = evaluation,
        .between_begin = between_begin,
        .between_end = between_end,
        .unreported_begin = unreported_begin,
        .unreported_end = unreported_end,
    };
}

static bool runs_on_host(const char *backend)
{
    return !backend || strcmp(backend, "cpu") == 0 ||
           strcmp(backend, "null") == 0;
}

/* Tracing that cannot be had leaves a note and CUDA-event times. */
static enum lab_status start_trace(struct lab_profiler *p,
                                   const struct lab_profiler_config *config)
{
    struct lab_gpu_sink sink;
    p->time_source =
        is_simulated(p) ? source_of_records(p) : LAB_TIME_CUDA_EVENTS;
    if (config->no_trace)
        return LAB_OK;
    if (!p->gpu) {
        strcpy(p->note, "the CUDA module has no profiler of this version: "
                        "build program and module together");
        return LAB_OK;
    }
    enum lab_status st = lab_join_new(&p->join, config->sink);
    if (st)
        return st;
    lab_join_gpu_sink(p->join, &sink);
    if (p->gpu->start(&sink, &config->trace)) {
        snprintf(p->note, sizeof(p->note), "%s", p->gpu->error());
        lab_join_free(p->join);
        p->join = NULL;
        return LAB_OK;
    }
    p->tracing = true;
    p->records = config->trace.records;
    p->time_source = source_of_records(p);
    return LAB_OK;
}

enum lab_status lab_profiler_new(struct lab_profiler **out,
                                 const struct lab_profiler_config *config)
{
    if (!config->sink || !config->sink->push)
        return lab_fail(LAB_E_ARG, "profiler: no sink");
    struct lab_profiler *p = lab_alloc(sizeof(*p));
    if (!p)
        return lab_fail(LAB_E_NOMEM, "profiler: out of memory");
    p->sink = *config->sink;
    if (config->gpu && config->gpu->abi == LAB_GPU_PROFILER_ABI)
        p->gpu = config->gpu;
    p->ranges = !config->no_ranges && !is_simulated(p);
    p->time_source = LAB_TIME_CPU_CLOCK;
    count_run(p);
    profiler_moments_anchor(p, 0);
    p->gpu_run = !runs_on_host(config->backend);
    if (p->gpu_run) {
        enum lab_status st = start_trace(p, config);
        if (st) {
            lab_free(p);
            return st;
        }
    }
    *out = p;
    return LAB_OK;
}

void lab_profiler_free(struct lab_profiler *p)
{
    if (!p)
        return;
    profiler_close_all(p);
    if (p->counters_probed && p->gpu && p->gpu->counters &&
        p->counters_status == LAB_OK)
        p->gpu->counters->close();
    if (p->tracing)
        p->gpu->stop();
    lab_join_free(p->join);
    lab_free(p);
}

void lab_profiler_set_device(struct lab_profiler *p,
                             const struct lab_device_info *device)
{
    if (p->join)
        lab_join_set_device(p->join, device);
}

enum lab_status lab_profiler_flush(struct lab_profiler *p)
{
    if (!p->tracing)
        return LAB_OK;
    return p->gpu->flush() ? module_failed(p, LAB_E_DEVICE, "profiler")
                           : LAB_OK;
}

enum lab_time_source lab_profiler_time_source(const struct lab_profiler *p)
{
    return p->time_source;
}

const char *lab_profiler_note(const struct lab_profiler *p)
{
    return p->note;
}

void lab_profiler_get_stats(struct lab_profiler *p,
                            struct lab_profiler_stats *out)
{
    struct lab_profiler_stats s = {
        .steps = p->steps,
        .not_stored = p->not_stored,
        .failed_flushes = p->failed_flushes,
        .observer_ns = p->observer_ns,
    };
    if (p->tracing) {
        lab_join_get_stats(p->join, &s.join);
        p->gpu->stats(&s.gpu);
    }
    *out = s;
}

/* One counting: of the metrics that every kernel has, and where the tensor
 * cores worked of what they computed. Pass -1 only runs the steps: a library's
 * call may leave something behind that its next call finds (cuDNN's reserve),
 * and every pass after it has the same. Pass 0 counts launches, to know how
 * many kernels each step has; the others take the counters. */
struct counting {
    struct lab_profiler *p;
    const struct lab_gpu_counter_ops *ops;
    const struct lab_count_work *work;
    int pass;
    bool launches_known; /* of every step: passes -1 and 0 have been */
    bool begun;
    int64_t *kernels; /* by step */
    int64_t before;   /* launches before the step */
    int64_t total;
};

/* A list of metrics, counted. */
struct counts {
    struct lab_gpu_counter_info info;
    const char *const *metrics;
    double *values; /* info.n of each kernel, in the order of launches; owned */
};

static enum lab_status failed(const struct counting *c, enum lab_status st)
{
    return st ? module_failed(c->p, st, "counters") : LAB_OK;
}

/* A pass without steps; the steps of one come in the order of their exec. */
static enum lab_status pass_begin(void *user)
{
    struct counting *c = user;
    enum lab_status st = LAB_OK;
    if (c->pass < 0)
        return LAB_OK;
    if (c->pass == 0)
        return failed(c, c->ops->listen(true));
    if (!c->begun)
        st = failed(c, c->ops->begin(c->total));
    c->begun = !st;
    return st ? st : failed(c, c->ops->pass_begin());
}

static void counters_step_begin(void *user, int index)
{
    struct counting *c = user;
    (void)index;
    if (c->pass == 0)
        c->before = c->ops->launches();
}

static void counters_step_end(void *user, int index)
{
    struct counting *c = user;
    if (c->pass == 0)
        c->kernels[index - c->work->first] = c->ops->launches() - c->before;
}

static enum lab_status pass_end(void *user, bool *again)
{
    struct counting *c = user;
    *again = true;
    if (c->pass++ < 0)
        return LAB_OK;
    if (c->pass > 1)
        return failed(c, c->ops->pass_end(again));
    c->total = c->ops->launches();
    c->launches_known = true;
    return failed(c, c->ops->listen(false));
}

/* ---- the values ---- */

static void push_kernel(struct counting *c, const uint32_t *names, int n,
                        int64_t exec, int64_t ordinal, int passes,
                        const double *values)
{
    for (int m = 0; m < n; m++) {
        struct lab_record r = {.kind = LAB_RECORD_METRIC};
        if (!isfinite(values[m])) /* unknown: no row */
            continue;
        r.u.metric = (struct lab_metric_record){.exec = exec,
                                                .kernel_ordinal = ordinal,
                                                .metric = names[m],
                                                .passes = passes,
                                                .value = values[m]};
        push_record(c->p, &r);
    }
}

static void push_values(struct counting *c, const struct counts *of)
{
    uint32_t names[LAB_MAX_METRICS];
    const struct lab_gpu_counter_info *info = &of->info;
    const double *values = of->values;
    for (int m = 0; m < info->n; m++)
        names[m] = lab_intern(of->metrics[info->metric[m]]);
    for (int i = 0; i < c->work->steps && values; i++) {
        int64_t exec = c->work->exec(c->work->user, c->work->first + i);
        for (int64_t k = 0; k < c->kernels[i]; k++) {
            if (exec > 0)
                push_kernel(c, names, info->n, exec, k, info->passes, values);
            values += info->n;
        }
    }
}

/* The work, once for every pass of what is open. */
static enum lab_status take(struct counting *c, struct counts *out)
{
    struct lab_rerun rerun = {.user = c,
                              .pass_begin = pass_begin,
                              .step_begin = counters_step_begin,
                              .step_end = counters_step_end,
                              .pass_end = pass_end};
    double *values = NULL;
    int64_t kernels = 0;
    c->pass = c->launches_known ? 1 : -1;
    c->begun = false;
    enum lab_status st = c->work->rerun(c->work->user, &rerun);
    if (!c->begun) {
        c->ops->listen(false);
        return st;
    }
    enum lab_status ended = c->ops->end(st ? NULL : &values, &kernels);
    if (!st)
        st = failed(c, ended);
    if (!st && kernels != c->total)
        st = lab_fail(LAB_E_DEVICE,
                      "[counters.mismatch] counters: %lld kernels were "
                      "launched and %lld counted: "
                      "which is which is not known",
                      (long long)c->total, (long long)kernels);
    if (st)
        lab_free(values);
    else
        out->values = values;
    return st;
}

static enum lab_status take_set(struct counting *c, enum lab_counter_set set,
                                struct counts *out)
{
    int n = lab_counter_metrics(set, &out->metrics);
    enum lab_status st = failed(c, c->ops->open(out->metrics, n, &out->info));
    return st ? st : take(c, out);
}

/* Where a chip cannot tell it is left open. */
static bool tensor_cores_worked(const struct counting *c,
                                const struct counts *of)
{
    const char *names[LAB_MAX_METRICS];
    struct lab_counters kernel;
    int n = of->info.n;
    for (int m = 0; m < n; m++)
        names[m] = of->metrics[of->info.metric[m]];
    for (int64_t k = 0; k < c->total; k++) {
        lab_counters_compute(&kernel, names, n, of->values + k * n, n, 1);
        if (!(kernel.tensor_inst == 0)) /* NaN: not known */
            return true;
    }
    return false;
}

/* Each data type is a pass of its own, and nothing where no tensor core
 * worked. */
static enum lab_status take_tensor(struct counting *c, struct counts *out)
{
    int n = lab_counter_tensor_metrics(&out->metrics);
    enum lab_status st = c->ops->open(out->metrics, n, &out->info);
    if (st == LAB_E_UNSUPPORTED) { /* the chip knows none of them */
        out->info = (struct lab_gpu_counter_info){.n = 0};
        return LAB_OK;
    }
    st = failed(c, st);
    return st ? st : take(c, out);
}

/* Nothing of the passes is recorded. */
static void mute(struct lab_profiler *p, bool on)
{
    if (!p->tracing)
        return;
    if (lab_profiler_flush(p) != LAB_OK)
        p->failed_flushes++;
    lab_join_mute(p->join, on);
}

static const struct lab_gpu_counter_ops *counter_ops(struct lab_profiler *p)
{
    return p->gpu ? p->gpu->counters : NULL;
}

enum lab_status lab_profiler_count_work(struct lab_profiler *p,
                                        const struct lab_count_work *work,
                                        enum lab_counter_set set,
                                        struct lab_counted *out)
{
    struct counting c = {.p = p, .work = work};
    struct counts all = {.values = NULL};
    struct counts tensor = {.values = NULL};
    const char *reason;
    int64_t start = lab_clock_monotonic_ns();
    if (set == LAB_COUNTERS_OFF || work->steps <= 0)
        return lab_fail(LAB_E_ARG, "counters: there is nothing to count");
    enum lab_status st = lab_profiler_counters_probe(p, &reason);
    if (st)
        return lab_fail(st, "counters: %s", reason);
    c.ops = counter_ops(p);
    c.kernels = lab_alloc_array((size_t)work->steps, sizeof(*c.kernels));
    if (!c.kernels)
        return lab_fail(LAB_E_NOMEM, "no memory to count");
    mute(p, true);
    st = take_set(&c, set, &all);
    if (!st && tensor_cores_worked(&c, &all))
        st = take_tensor(&c, &tensor);
    if (!st) {
        push_values(&c, &all);
        push_values(&c, &tensor);
    }
    mute(p, false);
    if (st)
        profiler_trace_again(p);
    *out = (struct lab_counted){.passes = all.info.passes + tensor.info.passes,
                                .kernels = c.total,
                                .metrics = all.info.n + tensor.info.n,
                                .wall_ns = lab_clock_monotonic_ns() - start};
    memcpy(out->chip, all.info.chip, sizeof(out->chip));
    lab_free(c.kernels);
    lab_free(all.values);
    lab_free(tensor.values);
    return st;
}

/* ---- steps of a walk ---- */

struct walked {
    struct lab_walk *walk;
    int from;
    int to;
};

static enum lab_status rerun_walk(void *user, const struct lab_rerun *r)
{
    const struct walked *w = user;
    return lab_walk_rerun(w->walk, w->from, w->to, r);
}

static int64_t walked_exec(void *user, int step)
{
    const struct walked *w = user;
    int64_t exec;
    int64_t ns;
    lab_walk_step_status(w->walk, step, &exec, &ns);
    return exec;
}

enum lab_status lab_profiler_count(struct lab_profiler *p,
                                   struct lab_walk *walk, int from, int to,
                                   enum lab_counter_set set,
                                   struct lab_counted *out)
{
    struct walked w = {walk, from, to};
    const struct lab_count_work work = {.user = &w,
                                        .first = from,
                                        .steps = from < 0 ? 0 : to - from,
                                        .rerun = rerun_walk,
                                        .exec = walked_exec};
    return lab_profiler_count_work(p, &work, set, out);
}

enum lab_status lab_profiler_counters_probe(struct lab_profiler *p,
                                            const char **text)
{
    const struct lab_gpu_counter_ops *ops = counter_ops(p);
    char *to = p->counters_text;
    *text = to;
    if (p->counters_probed)
        return p->counters_status;
    p->counters_probed = true;
    p->counters_status = ops ? ops->probe(to, LAB_GPU_TEXT) : LAB_E_UNSUPPORTED;
    if (p->counters_status)
        snprintf(to, LAB_GPU_TEXT, "%s",
                 ops ? p->gpu->error()
                     : "a GPU has hardware counters, and this run uses none");
    return p->counters_status;
}
