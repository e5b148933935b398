#include "profiler/counters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "profiler/join.h"
#include "profiler_priv.h"
#include "trace/intern.h"

/* One counting: of the metrics that every kernel has, and where the tensor cores
 * worked of what they computed. Pass -1 only runs the steps: a library's call may
 * leave something behind that its next call finds (cuDNN's reserve), and every
 * pass after it has the same. Pass 0 counts launches, to know how many kernels
 * each step has; the others take the counters. */
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
    char why[LAB_GPU_TEXT];
};

/* A list of metrics, counted. */
struct counts {
    struct lab_gpu_counter_info info;
    const char *const *metrics;
    double *values; /* info.n of each kernel, in the order of launches; owned */
};

static enum lab_status failed(struct counting *c, enum lab_status st)
{
    return st ? lab_fail(st, "counters: %s", c->why) : LAB_OK;
}

static enum lab_status begin(struct counting *c)
{
    enum lab_status st = c->ops->begin(c->total, c->why, sizeof(c->why));
    c->begun = st == LAB_OK;
    return failed(c, st);
}

/* A pass without steps; the steps of one come in the order of their exec. */
static enum lab_status pass_begin(void *user)
{
    struct counting *c = user;
    enum lab_status st = LAB_OK;
    if (c->pass < 0)
        return LAB_OK;
    if (c->pass == 0)
        return failed(c, c->ops->listen(true, c->why, sizeof(c->why)));
    if (!c->begun)
        st = begin(c);
    return st ? st : failed(c, c->ops->pass_begin(c->why, sizeof(c->why)));
}

static void step_begin(void *user, int index)
{
    struct counting *c = user;
    (void)index;
    if (c->pass == 0)
        c->before = c->ops->launches();
}

static void step_end(void *user, int index)
{
    struct counting *c = user;
    if (c->pass == 0)
        c->kernels[index] = c->ops->launches() - c->before;
}

static enum lab_status pass_end(void *user, bool *again)
{
    struct counting *c = user;
    *again = true;
    if (c->pass++ < 0)
        return LAB_OK;
    if (c->pass > 1)
        return failed(c, c->ops->pass_end(again, c->why, sizeof(c->why)));
    c->total = c->ops->launches();
    c->launches_known = true;
    return failed(c, c->ops->listen(false, c->why, sizeof(c->why)));
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
        if (!c->p->sink.push(c->p->sink.user, &r))
            c->p->not_stored++;
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
        int64_t exec = c->work->exec(c->work->user, i);
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
                              .step_begin = step_begin,
                              .step_end = step_end,
                              .pass_end = pass_end};
    double *values = NULL;
    int64_t kernels = 0;
    c->pass = c->launches_known ? 1 : -1;
    c->begun = false;
    enum lab_status st = c->work->rerun(c->work->user, &rerun);
    if (!c->begun) {
        char ignored[LAB_GPU_TEXT];
        c->ops->listen(false, ignored, sizeof(ignored));
        return st;
    }
    enum lab_status ended =
        c->ops->end(st ? NULL : &values, &kernels, c->why, sizeof(c->why));
    if (!st)
        st = failed(c, ended);
    if (!st && kernels != c->total)
        st = lab_fail(LAB_E_DEVICE,
                      "counters: %lld kernels were launched and %lld counted: "
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
    enum lab_status st = failed(
        c, c->ops->open(out->metrics, n, &out->info, c->why, sizeof(c->why)));
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

/* Each data type is a pass of its own, and nothing where no tensor core worked. */
static enum lab_status take_tensor(struct counting *c, struct counts *out)
{
    int n = lab_counter_tensor_metrics(&out->metrics);
    enum lab_status st =
        c->ops->open(out->metrics, n, &out->info, c->why, sizeof(c->why));
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
        lab_profiler_trace_again(p);
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
    const struct lab_rerun *of; /* of the counting, whose steps begin at 0 */
    int from;
    int to;
};

static void walked_begin(void *user, int index)
{
    struct walked *w = user;
    w->of->step_begin(w->of->user, index - w->from);
}

static void walked_end(void *user, int index)
{
    struct walked *w = user;
    w->of->step_end(w->of->user, index - w->from);
}

static enum lab_status walked_pass(void *user)
{
    struct walked *w = user;
    return w->of->pass_begin(w->of->user);
}

static enum lab_status walked_pass_end(void *user, bool *again)
{
    struct walked *w = user;
    return w->of->pass_end(w->of->user, again);
}

static enum lab_status rerun_walk(void *user, const struct lab_rerun *r)
{
    struct walked *w = user;
    struct lab_rerun own = {.user = w,
                            .pass_begin = walked_pass,
                            .step_begin = walked_begin,
                            .step_end = walked_end,
                            .pass_end = walked_pass_end};
    w->of = r;
    return lab_walk_rerun(w->walk, w->from, w->to, &own);
}

static int64_t walked_exec(void *user, int step)
{
    struct walked *w = user;
    int64_t exec;
    int64_t ns;
    lab_walk_step_status(w->walk, w->from + step, &exec, &ns);
    return exec;
}

enum lab_status lab_profiler_count(struct lab_profiler *p,
                                   struct lab_walk *walk, int from, int to,
                                   enum lab_counter_set set,
                                   struct lab_counted *out)
{
    struct walked w = {.walk = walk, .from = from, .to = to};
    const struct lab_count_work work = {.user = &w,
                                        .steps = from < 0 ? 0 : to - from,
                                        .rerun = rerun_walk,
                                        .exec = walked_exec};
    return lab_profiler_count_work(p, &work, set, out);
}

enum lab_status lab_profiler_counters_probe(struct lab_profiler *p,
                                            const char **text)
{
    const struct lab_gpu_counter_ops *ops = counter_ops(p);
    *text = p->counters_text;
    if (p->counters_probed)
        return p->counters_status;
    p->counters_probed = true;
    if (!ops) {
        snprintf(p->counters_text, sizeof(p->counters_text),
                 "a GPU has hardware counters, and this run uses none");
        p->counters_status = LAB_E_UNSUPPORTED;
    } else {
        p->counters_status =
            ops->probe(p->counters_text, sizeof(p->counters_text));
    }
    return p->counters_status;
}
