/* A CPU backend that queues graphs and runs them at the next wait, as a GPU
 * would; late_backend.h has what it finds. */
#include "unit/late_backend.h"

#include "test.h"

#include "base/mem.h"
#include "engine/plan.h"
#include "optimizer/optimizer.h"

enum { MOST_CALLS = 512, MOST_JOBS = 64 };

struct late_counts late_counts;
int late_failures;
int64_t (*late_call_ns)(const struct lab_variant *v);

struct kept_call {
    const struct lab_variant *variant;
    struct lab_call call;
    bool updates; /* its rate is that of the launch, as on the GPU */
    union {
        double lr;
        struct lab_adam_params largest;
    } params;
    struct lab_view in[LAB_STEP_IN];
    struct lab_view out[LAB_STEP_OUT];
};

/* The side stream runs as late as it may: when it is joined. */
struct lab_graph {
    struct kept_call calls[MOST_CALLS];
    int n;
    struct kept_call beside[MOST_CALLS];
    int n_beside;
    bool is_beside;
    const float *loss;
};

/* An upload, or a launch. */
struct job {
    void *dst;
    const void *src;
    size_t bytes;
    struct lab_graph *graph;
    uint64_t iteration;
    double rate;
};

struct late {
    struct lab_backend base;
    struct lab_backend *cpu;
    struct lab_graph *capturing;
    struct job jobs[MOST_JOBS];
    int first;
    int end;
    struct lab_graph_report done[LAB_GRAPH_AHEAD];
    int64_t launched;
    int64_t finished;
    int64_t reported;
};

static struct late *of(struct lab_backend *be)
{
    return (struct late *)be;
}

/* Memory for what is left out of the outputs: kernels here write all. */
static void *left_out(const struct kept_call *k, int out)
{
    static double scratch[LAB_STEP_OUT][1 << 17];
    const struct lab_view *v = &k->out[out];
    if (v->data || v->count == 0)
        return v->data;
    assert_true(k->variant->apart);
    assert_true((size_t)v->count <=
                sizeof(scratch[0]) / lab_dtype_bytes(v->dtype));
    return scratch[out];
}

static void do_job(struct late *late)
{
    struct job j = late->jobs[late->first++ % MOST_JOBS];
    if (!j.graph) {
        memcpy(j.dst, j.src, j.bytes);
        return;
    }
    int64_t ns = late_call_ns ? 0 : 9;
    for (int i = 0; i < j.graph->n; i++) {
        struct kept_call *k = &j.graph->calls[i];
        ns += late_call_ns ? late_call_ns(k->variant) : 0;
        struct lab_view out[LAB_STEP_OUT];
        memcpy(out, k->out, sizeof(out));
        for (int o = 0; o < k->call.n_out; o++)
            out[o].data = left_out(k, o);
        k->call.in = k->in;
        k->call.out = out;
        k->call.iteration = j.iteration;
        if (k->updates) {
            k->params.lr = j.rate;
            k->call.params = &k->params;
        }
        assert_ok(k->variant->run(&k->call));
    }
    late->done[late->finished % LAB_GRAPH_AHEAD] = (struct lab_graph_report){
        .iteration = j.iteration,
        .loss = *j.graph->loss,
        .start_ns = 10 * late->finished,
        .end_ns = 10 * late->finished + ns,
    };
    late->finished++;
}

static void flush(struct late *late)
{
    assert_null(late->capturing); /* nothing waits during a capture */
    while (late->first < late->end)
        do_job(late);
}

static struct job *add_job(struct late *late)
{
    assert_true(late->end - late->first < MOST_JOBS);
    return &late->jobs[late->end++ % MOST_JOBS];
}

static void late_close(struct lab_backend *be)
{
    flush(of(be));
    lab_backend_close(of(be)->cpu);
    lab_free(be);
}

static enum lab_status late_alloc(struct lab_backend *be, size_t bytes,
                                  void **out)
{
    return lab_backend_alloc(of(be)->cpu, bytes, out);
}

static void late_free(struct lab_backend *be, void *p)
{
    flush(of(be));
    lab_backend_free(of(be)->cpu, p);
}

static enum lab_status late_move(struct lab_backend *be, void *dst,
                                 const void *src, size_t bytes)
{
    flush(of(be));
    return lab_backend_copy(of(be)->cpu, dst, src, bytes);
}

static enum lab_status late_run(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call)
{
    struct lab_graph *g = of(be)->capturing;
    if (!g) {
        flush(of(be));
        return lab_backend_run(of(be)->cpu, v, call);
    }
    assert_true(g->n + g->n_beside < MOST_CALLS);
    struct kept_call *k =
        g->is_beside ? &g->beside[g->n_beside++] : &g->calls[g->n++];
    k->variant = v;
    k->call = *call;
    k->updates = strcmp(v->step ? v->step : "", "update") == 0;
    if (k->updates) /* what the walk passes has room for the largest */
        memcpy(&k->params, call->params, sizeof(k->params));
    memcpy(k->in, call->in, (size_t)call->n_in * sizeof(*k->in));
    memcpy(k->out, call->out, (size_t)call->n_out * sizeof(*k->out));
    return LAB_OK;
}

static enum lab_status late_sync(struct lab_backend *be)
{
    flush(of(be));
    return LAB_OK;
}

/* Those of the CPU, whose backward rows can leave outputs out here. */
static const struct lab_kernel_set *const *
late_sets(struct lab_backend *be, enum lab_dtype real, int *count)
{
    enum { MOST_SETS = 512, MOST_ROWS = 2048 };
    static struct lab_kernel_set sets[MOST_SETS];
    static const struct lab_kernel_set *list[MOST_SETS];
    static struct lab_variant rows[MOST_ROWS];
    const struct lab_kernel_set *const *cpu =
        of(be)->cpu->ops->sets(of(be)->cpu, real, count);
    int used = 0;
    assert_true(*count <= MOST_SETS);
    for (int i = 0; i < *count; i++) {
        sets[i] = *cpu[i];
        sets[i].variants = &rows[used];
        list[i] = &sets[i];
        for (int r = 0; r < cpu[i]->count; r++) {
            assert_true(used < MOST_ROWS);
            rows[used] = cpu[i]->variants[r];
            rows[used].apart = rows[used].phase == LAB_BACKWARD;
            used++;
        }
    }
    return list;
}

static void late_info(struct lab_backend *be, struct lab_device_info *out)
{
    lab_backend_info(of(be)->cpu, out);
}

/* ---- graphs ---- */

static enum lab_status host_alloc(struct lab_backend *be, size_t bytes,
                                  void **out)
{
    (void)be;
    *out = lab_alloc(bytes);
    return *out ? LAB_OK : lab_fail(LAB_E_NOMEM, "no memory");
}

static void host_free(struct lab_backend *be, void *p)
{
    flush(of(be));
    lab_free(p);
}

static enum lab_status upload(struct lab_backend *be, void *dst,
                              const void *src, size_t bytes)
{
    *add_job(of(be)) = (struct job){.dst = dst, .src = src, .bytes = bytes};
    return LAB_OK;
}

static enum lab_status begin(struct lab_backend *be)
{
    struct late *late = of(be);
    assert_null(late->capturing);
    late->capturing = lab_alloc(sizeof(*late->capturing));
    return late->capturing ? LAB_OK : lab_fail(LAB_E_NOMEM, "no memory");
}

static enum lab_status lane(struct lab_backend *be, int number)
{
    assert_non_null(of(be)->capturing);
    assert_true(number >= -1 && number < LAB_GRAPH_LANES);
    return LAB_OK; /* one after the other is right, too */
}

static enum lab_status beside(struct lab_backend *be, bool on)
{
    assert_non_null(of(be)->capturing);
    of(be)->capturing->is_beside = on;
    return LAB_OK;
}

static enum lab_status join(struct lab_backend *be)
{
    struct lab_graph *g = of(be)->capturing;
    assert_false(g->is_beside);
    late_counts.beside += g->n_beside;
    for (int i = 0; i < g->n_beside; i++)
        g->calls[g->n++] = g->beside[i];
    g->n_beside = 0;
    return LAB_OK;
}

/* As CUDA would have it: one node before the first step, one for each call. */
static enum lab_status count(struct lab_backend *be, int64_t *nodes)
{
    assert_non_null(of(be)->capturing);
    *nodes = 1 + of(be)->capturing->n + of(be)->capturing->n_beside;
    return LAB_OK;
}

static enum lab_status end(struct lab_backend *be, const void *loss,
                           struct lab_graph **out)
{
    struct lab_graph *g = of(be)->capturing;
    assert_true(!out || !g || g->n_beside == 0); /* CUDA refuses that */
    of(be)->capturing = NULL;
    if (!out || !g || late_failures > 0) {
        late_failures--;
        lab_free(g);
        return out ? lab_fail(LAB_E_DEVICE, "no capture, on purpose") : LAB_OK;
    }
    g->loss = loss;
    late_counts.captures++;
    *out = g;
    return LAB_OK;
}

static void graph_free(struct lab_backend *be, struct lab_graph *g)
{
    flush(of(be));
    lab_free(g);
}

static enum lab_status launch(struct lab_backend *be, struct lab_graph *g,
                              uint64_t iteration, double rate)
{
    struct late *late = of(be);
    *add_job(late) =
        (struct job){.graph = g, .iteration = iteration, .rate = rate};
    late->launched++;
    late_counts.launches++;
    int waiting = (int)(late->launched - late->reported);
    if (waiting > late_counts.most_waiting)
        late_counts.most_waiting = waiting;
    assert_true(waiting <= LAB_GRAPH_AHEAD);
    return LAB_OK;
}

static enum lab_status report(struct lab_backend *be, bool wait,
                              struct lab_graph_report *out, bool *reported)
{
    struct late *late = of(be);
    while (wait && late->finished == late->reported && late->first < late->end)
        do_job(late);
    *reported = late->reported < late->finished;
    if (*reported)
        *out = late->done[late->reported++ % LAB_GRAPH_AHEAD];
    return LAB_OK;
}

static const struct lab_graph_ops graph_ops = {
    .host_alloc = host_alloc,
    .host_free = host_free,
    .upload = upload,
    .begin = begin,
    .lane = lane,
    .beside = beside,
    .join = join,
    .count = count,
    .end = end,
    .free = graph_free,
    .launch = launch,
    .report = report,
};

static const struct lab_backend_ops ops = {
    .name = "late",
    .open = NULL, /* by late_backend_open() */
    .close = late_close,
    .alloc = late_alloc,
    .free = late_free,
    .upload = late_move,
    .download = late_move,
    .copy = late_move,
    .run = late_run,
    .sync = late_sync,
    .sets = late_sets,
    .info = late_info,
    .error = lab_error,
    .graph = &graph_ops,
};

enum lab_status late_backend_open(struct lab_backend **out)
{
    struct late *late = lab_alloc(sizeof(*late));
    enum lab_status st = lab_backend_open(&late->cpu, "cpu", 0);
    assert_ok(st);
    late->base.ops = &ops;
    *out = &late->base;
    return LAB_OK;
}
