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

#include "profiler/join.h"
#include "base/clock.h"
#include "base/mem.h"
#include "profiler_priv.h"
#include "trace/intern.h"

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

static bool profiler_records(const struct lab_profiler *p)
{
    return p->tracing && p->records != LAB_GPU_RECORDS_NONE;
}

enum lab_trace_state lab_profiler_trace_state(const struct lab_profiler *p)
{
    static const enum lab_trace_state of[] = {
        [LAB_GPU_RECORDS_ALL] = LAB_TRACE_ON,
        [LAB_GPU_RECORDS_KERNELS] = LAB_TRACE_KERNELS,
        [LAB_GPU_RECORDS_NONE] = LAB_TRACE_OFF};
    if (!p->gpu_run)
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

enum lab_status lab_profiler_trace(struct lab_profiler *p,
                                   enum lab_gpu_records records)
{
    char why[LAB_GPU_TEXT] = "";
    if (!p->gpu_run)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "tracing is a GPU's: steps on the host are timed by "
                        "its clock");
    if (!p->tracing)
        return lab_fail(LAB_E_UNSUPPORTED, "nothing is traced: %s",
                        p->note[0] ? p->note
                                   : "tracing was switched off at the start");
    if (p->records == records)
        return LAB_OK;
    if (profiler_records(p))
        (void)lab_profiler_flush(p);
    enum lab_status st = p->gpu->set_records(records, why, sizeof(why));
    p->records = st ? LAB_GPU_RECORDS_NONE : records;
    p->was |= 1u << p->records;
    p->time_source =
        profiler_records(p) ? LAB_TIME_CUPTI : LAB_TIME_CUDA_EVENTS;
    return st ? lab_fail(LAB_E_DEVICE, "profiler: %s", why) : LAB_OK;
}

/* Counting pauses the trace. Where it did not go on, steps are timed otherwise. */
void lab_profiler_trace_again(struct lab_profiler *p)
{
    enum lab_gpu_records records = p->records;
    if (!p->tracing || !profiler_records(p))
        return;
    p->records = LAB_GPU_RECORDS_NONE;
    (void)lab_profiler_trace(p, records);
}

void lab_profiler_trace_cost(struct lab_profiler *p, struct lab_trace_cost *out)
{
    struct lab_profiler_stats s;
    lab_profiler_get_stats(p, &s);
    *out = (struct lab_trace_cost){.calls_ns = s.observer_ns,
                                   .callbacks_ns = s.gpu.callback_ns,
                                   .records = s.gpu.records,
                                   .kernels = s.kernels};
}

enum { TEXT_BYTES = 64 };

/* Moments are made from the monotonic clock and one offset, so that ranges nest
 * even when somebody sets the wall clock; the offset is taken anew at each
 * iteration, so that they stay near CUPTI's moments. */
static void profiler_moments_anchor(struct lab_profiler *p)
{
    int64_t before = lab_clock_monotonic_ns();
    int64_t wall = lab_clock_wall_ns();
    int64_t after = lab_clock_monotonic_ns();
    p->wall_offset_ns = wall - (before + (after - before) / 2);
}

/* nsys: hardware id, virtual machine, process and thread in one number. */
static int64_t global_tid(void)
{
    static _Thread_local int64_t id;
    static _Thread_local pid_t of;
    pid_t pid = getpid();
    if (of != pid) {
        int64_t tid = (int64_t)syscall(SYS_gettid);
        id = ((int64_t)(pid & 0xFFFFFF) << 24) | (tid & 0xFFFFFF);
        of = pid;
    }
    return id;
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
        .global_tid = global_tid(),
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

static void open_range(struct lab_profiler *p, int level, const char *text,
                       int64_t value, int64_t now)
{
    bool phased = level >= LAB_RANGE_PHASE && level <= LAB_RANGE_STEP;
    close_to(p, level, now);
    struct lab_open_range *open = &p->open[p->n_open++];
    open->level = level;
    /* A name lives as long as the process: none is made for each iteration. */
    bool numbered = level == LAB_RANGE_ITERATION;
    open->text = p->ranges ? lab_intern(numbered ? "iteration" : text) : 0;
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
    for (; p->untold > 0; p->untold--)
        p->gpu->pop();
    if (p->between)
        p->gpu->pop();
    p->pushed = false;
    p->between = false;
    close_to(p, LAB_RANGE_RUN, lab_clock_monotonic_ns());
}

/* What the profiler itself costs: from entry to exit of a call. */
static void count_time(struct lab_profiler *p, int64_t since)
{
    p->observer_ns += lab_clock_monotonic_ns() - since;
}

static void run_begin(void *user, const char *name)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    profiler_close_all(p);
    profiler_moments_anchor(p);
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
    struct lab_profiler *p = user;
    profiler_close_all(p);
}

static void iteration_begin(void *user, int64_t iteration)
{
    struct lab_profiler *p = user;
    char text[TEXT_BYTES];
    int64_t now = lab_clock_monotonic_ns();
    close_to(p, LAB_RANGE_ITERATION, now);
    profiler_moments_anchor(p);
    snprintf(text, sizeof(text), "iteration %lld", (long long)iteration);
    open_range(p, LAB_RANGE_ITERATION, text, iteration, now);
    p->loss_ran = false;
    count_time(p, now);
}

static void loss_record(struct lab_profiler *p, int64_t iteration, double loss,
                        double accuracy, int64_t now)
{
    struct lab_record r = {.kind = LAB_RECORD_LOSS};
    r.u.loss = (struct lab_loss_record){
        .iteration = iteration,
        .loss = loss,
        .accuracy = accuracy,
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
        loss_record(p, iteration, loss, NAN, now);
    count_time(p, now);
}

/* Its steps stay, and it counts as no iteration. */
static void iteration_cut(void *user, int64_t iteration)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    (void)iteration;
    close_to(p, LAB_RANGE_ITERATION, now);
    count_time(p, now);
}

/* Its kernels were launched as one: there is nothing below it. */
static void iteration_done(void *user, int64_t iteration, double loss,
                           int64_t start_ns, int64_t end_ns)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    close_to(p, LAB_RANGE_ITERATION, now);
    profiler_moments_anchor(p);
    struct lab_open_range range = {.level = LAB_RANGE_ITERATION,
                                   .text =
                                       p->ranges ? lab_intern("iteration") : 0,
                                   .number = iteration,
                                   .start_ns = start_ns};
    if (p->ranges)
        range_record(p, &range, end_ns);
    loss_record(p, iteration, loss, NAN, end_ns);
    count_time(p, now);
}

static void evaluation(void *user, int64_t iteration, double loss,
                       double accuracy)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    loss_record(p, iteration, loss, accuracy, now);
    count_time(p, now);
}

/* Innermost of what is open: an iteration may be paused meanwhile. */
static void between_begin(void *user, const char *what)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    open_range(p, LAB_RANGE_BETWEEN, what, LAB_UNKNOWN, now);
    count_time(p, now);
}

static void between_end(void *user)
{
    struct lab_profiler *p = user;
    close_to(p, LAB_RANGE_BETWEEN, lab_clock_monotonic_ns());
}

static void untold_begin(void *user)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    if (!profiler_records(p))
        return;
    p->gpu->push(LAB_EXEC_UNOBSERVED);
    p->untold++;
    count_time(p, now);
}

static void untold_end(void *user)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    if (p->untold == 0)
        return;
    p->gpu->pop();
    p->untold--;
    count_time(p, now);
}

static void phase_begin(void *user, enum lab_phase phase)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    p->phase = phase;
    open_range(p, LAB_RANGE_PHASE, lab_phase_name(phase), LAB_UNKNOWN, now);
    count_time(p, now);
}

static void phase_end(void *user, enum lab_phase phase)
{
    struct lab_profiler *p = user;
    (void)phase;
    close_to(p, LAB_RANGE_PHASE, lab_clock_monotonic_ns());
}

static void node_begin(void *user, const char *node)
{
    struct lab_profiler *p = user;
    int64_t now = lab_clock_monotonic_ns();
    open_range(p, LAB_RANGE_NODE, node, LAB_UNKNOWN, now);
    count_time(p, now);
}

static void node_end(void *user, const char *node)
{
    struct lab_profiler *p = user;
    (void)node;
    close_to(p, LAB_RANGE_NODE, lab_clock_monotonic_ns());
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
    s->start_ns = p->step_start_ns + p->wall_offset_ns;
    s->end_ns = now + p->wall_offset_ns;
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
        .untold_begin = untold_begin,
        .untold_end = untold_end,
    };
}

static bool runs_on_host(const char *backend)
{
    return !backend || strcmp(backend, "cpu") == 0 ||
           strcmp(backend, "null") == 0;
}

static enum lab_status make_join(struct lab_profiler *p,
                                 const struct lab_profiler_config *config)
{
    struct lab_join_config join = {
        .sink = config->sink,
    };
    return lab_join_new(&p->join, &join);
}

/* Tracing that cannot be had leaves a note and CUDA-event times. */
static enum lab_status start_trace(struct lab_profiler *p,
                                   const struct lab_profiler_config *config)
{
    struct lab_gpu_sink sink;
    p->time_source = LAB_TIME_CUDA_EVENTS;
    if (config->no_trace)
        return LAB_OK;
    if (!p->gpu) {
        strcpy(p->note, "the CUDA module has no profiler of this version: "
                        "build program and module together");
        return LAB_OK;
    }
    enum lab_status st = make_join(p, config);
    if (st)
        return st;
    lab_join_gpu_sink(p->join, &sink);
    if (p->gpu->start(&sink, &config->trace, p->note, sizeof(p->note)) ==
        LAB_OK) {
        p->note[0] = '\0';
        p->tracing = true;
        p->records = config->trace.records;
        p->time_source = LAB_TIME_CUPTI;
    } else {
        lab_join_free(p->join);
        p->join = NULL;
    }
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
    p->ranges = !config->no_ranges;
    p->time_source = LAB_TIME_CPU_CLOCK;
    profiler_moments_anchor(p);
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
    char why[LAB_GPU_TEXT] = "";
    enum lab_status st = p->gpu->flush(why, sizeof(why));
    return st ? lab_fail(LAB_E_DEVICE, "profiler: %s", why) : LAB_OK;
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
        struct lab_join_stats join;
        lab_join_get_stats(p->join, &join);
        p->gpu->stats(&s.gpu);
        s.kernels = join.kernels;
        s.kernels_without_step = join.kernels_without_step;
        s.kernels_between = join.kernels_between;
        s.before_run = join.before;
        s.muted = join.muted;
        s.untold = join.untold;
        s.not_stored += join.not_stored;
    }
    *out = s;
}
