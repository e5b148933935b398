/* join.c -- joins what CUPTI reports with the steps that launched it. */
#include "profiler/join.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "join_priv.h"
#include "profiler/occupancy.h"
#include "trace/intern.h"

/* Which step a node of a launched graph belongs to. */

static void join_nodes_release(struct lab_join_nodes *nodes)
{
    lab_free(nodes->end);
    lab_free(nodes->span);
    *nodes = (struct lab_join_nodes){0};
}

static enum lab_status join_nodes_set(struct lab_join_nodes *nodes,
                                      int64_t exec, int n, int64_t first,
                                      const int64_t *end)
{
    join_nodes_release(nodes);
    if (n <= 0)
        return LAB_OK;
    int64_t *ends = lab_alloc_array((size_t)n, sizeof(*ends));
    struct lab_join_span *span = lab_alloc_array((size_t)n, sizeof(*span));
    if (!ends || !span) {
        lab_free(ends);
        lab_free(span);
        return lab_fail(LAB_E_NOMEM, "join: no memory for %d steps", n);
    }
    for (int i = 0; i < n; i++) {
        ends[i] = end[i];
        span[i] = (struct lab_join_span){LAB_UNKNOWN, LAB_UNKNOWN};
    }
    *nodes = (struct lab_join_nodes){
        .exec = exec, .n = n, .first = first, .end = ends, .span = span};
    return LAB_OK;
}

/* -1: of no step. */
static int step_of(const struct lab_join_nodes *nodes, int64_t graph_node)
{
    int64_t node = graph_node & UINT32_MAX;
    int low = 0;
    int high = nodes->n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (nodes->end[middle] <= node)
            low = middle + 1;
        else
            high = middle;
    }
    return node < nodes->first || low == nodes->n ? -1 : low;
}

static void widen(struct lab_join_span *s, int64_t start, int64_t end)
{
    if (start == LAB_UNKNOWN || end == LAB_UNKNOWN)
        return;
    if (s->start_ns == LAB_UNKNOWN || start < s->start_ns)
        s->start_ns = start;
    if (s->end_ns == LAB_UNKNOWN || end > s->end_ns)
        s->end_ns = end;
}

static int64_t place(struct lab_join_nodes *nodes, int64_t graph_node,
                     int64_t start, int64_t end)
{
    int step = step_of(nodes, graph_node);
    if (step < 0)
        return LAB_EXEC_BETWEEN;
    widen(&nodes->span[step], start, end);
    return nodes->exec + step;
}

/* A record of the launch becomes one of its node's step. */
static void join_nodes_place(struct lab_join_nodes *nodes, struct lab_record *r)
{
    struct lab_kernel_record *k = &r->u.kernel;
    struct lab_memcpy_record *m = &r->u.memcpy_;
    if (nodes->n == 0)
        return;
    /* What is launched beside the graph sets it up, and is of no step. */
    if (r->kind == LAB_RECORD_KERNEL && k->exec == nodes->exec)
        k->exec = k->graph_node_id > 0
                      ? place(nodes, k->graph_node_id, k->start_ns, k->end_ns)
                      : LAB_EXEC_BETWEEN;
    bool memory = r->kind == LAB_RECORD_MEMCPY || r->kind == LAB_RECORD_MEMSET;
    if (memory && m->graph_node_id > 0 && m->exec == nodes->exec)
        m->exec = place(nodes, m->graph_node_id, m->start_ns, m->end_ns);
}

static void join_nodes_span(const struct lab_join_nodes *nodes, int64_t exec,
                            int64_t *start_ns, int64_t *end_ns)
{
    bool known = exec >= nodes->exec && exec < nodes->exec + nodes->n;
    *start_ns = known ? nodes->span[exec - nodes->exec].start_ns : LAB_UNKNOWN;
    *end_ns = known ? nodes->span[exec - nodes->exec].end_ns : LAB_UNKNOWN;
}

/* Atomic, so that a reader never waits for a sink that waits. */
struct counters {
    atomic_uint_fast64_t kernels;
    atomic_uint_fast64_t kernels_without_step;
    atomic_uint_fast64_t kernels_between;
    atomic_uint_fast64_t before;
    atomic_uint_fast64_t muted;
    atomic_uint_fast64_t untold;
    atomic_uint_fast64_t not_stored;
};

struct lab_join {
    pthread_mutex_t lock;
    struct lab_sink sink;
    bool muted;
    int64_t begin_ns; /* of the run; LAB_UNKNOWN: not begun */
    bool has_device;
    int device_id;
    struct lab_occupancy_device device;
    struct lab_kernel_names names;
    struct counters stats;
    struct lab_join_nodes nodes; /* of the graph that was launched last */
};

enum lab_status lab_join_new(struct lab_join **out,
                             const struct lab_join_config *config)
{
    if (!config->sink || !config->sink->push)
        return lab_fail(LAB_E_ARG, "join: no sink");
    struct lab_join *j = lab_alloc(sizeof(*j));
    if (!j || pthread_mutex_init(&j->lock, NULL) != 0) {
        lab_free(j);
        return lab_fail(LAB_E_NOMEM, "join: out of memory");
    }
    j->sink = *config->sink;
    j->begin_ns = LAB_UNKNOWN;
    *out = j;
    return LAB_OK;
}

void lab_join_free(struct lab_join *j)
{
    if (!j)
        return;
    pthread_mutex_destroy(&j->lock);
    lab_kernel_names_release(&j->names);
    join_nodes_release(&j->nodes);
    lab_free(j);
}

void lab_join_set_device(struct lab_join *j,
                         const struct lab_device_info *device)
{
    struct lab_occupancy_device limits;
    bool ok = device && lab_occupancy_device_init(&limits, device) == LAB_OK;
    pthread_mutex_lock(&j->lock);
    j->has_device = ok;
    if (ok) {
        j->device = limits;
        j->device_id = device->device_id;
    }
    pthread_mutex_unlock(&j->lock);
}

static int64_t exec_of(const struct lab_record *r)
{
    switch (r->kind) {
    case LAB_RECORD_KERNEL:
        return r->u.kernel.exec;
    case LAB_RECORD_MEMCPY:
    case LAB_RECORD_MEMSET:
        return r->u.memcpy_.exec;
    case LAB_RECORD_API:
    case LAB_RECORD_SYNC:
        return r->u.api.exec;
    default:
        return LAB_UNKNOWN;
    }
}

static int64_t end_of(const struct lab_record *r)
{
    switch (r->kind) {
    case LAB_RECORD_KERNEL:
        return r->u.kernel.end_ns;
    case LAB_RECORD_MEMCPY:
    case LAB_RECORD_MEMSET:
        return r->u.memcpy_.end_ns;
    case LAB_RECORD_API:
    case LAB_RECORD_SYNC:
        return r->u.api.end_ns;
    case LAB_RECORD_OVERHEAD:
        return r->u.overhead.end_ns;
    default:
        return LAB_UNKNOWN;
    }
}

/* true: the record is not of the run. Counts it. */
static bool leave_out(struct lab_join *j, const struct lab_record *r)
{
    int64_t end = end_of(r);
    if (j->muted) {
        j->stats.muted++;
        return true;
    }
    if (exec_of(r) == LAB_EXEC_UNOBSERVED) {
        j->stats.untold++;
        return true;
    }
    if (exec_of(r) != LAB_UNKNOWN || end == LAB_UNKNOWN || end >= j->begin_ns)
        return false;
    j->stats.before++;
    return true;
}

static void emit(struct lab_join *j, struct lab_record *r)
{
    join_nodes_place(&j->nodes, r);
    if (leave_out(j, r))
        return;
    if (r->kind == LAB_RECORD_KERNEL) {
        j->stats.kernels++;
        j->stats.kernels_without_step += r->u.kernel.exec == LAB_UNKNOWN;
        j->stats.kernels_between += r->u.kernel.exec == LAB_EXEC_BETWEEN;
    }
    if (!j->sink.push(j->sink.user, r))
        j->stats.not_stored++;
}

void lab_join_begin(struct lab_join *j, int64_t moment_ns)
{
    pthread_mutex_lock(&j->lock);
    j->begin_ns = moment_ns;
    pthread_mutex_unlock(&j->lock);
}

void lab_join_record(struct lab_join *j, const struct lab_record *record)
{
    struct lab_record r = *record;
    pthread_mutex_lock(&j->lock);
    emit(j, &r);
    pthread_mutex_unlock(&j->lock);
}

static int64_t product(const int32_t v[3])
{
    return (int64_t)v[0] * v[1] * v[2];
}

static void fill_occupancy(const struct lab_join *j,
                           struct lab_kernel_record *k,
                           const struct lab_gpu_launch *launch)
{
    k->occupancy_pct = NAN;
    k->occupancy_limit = LAB_LIMIT_NONE;
    k->active_blocks_per_sm = 0;
    int64_t threads = product(k->block);
    if (!j->has_device || k->device_id != j->device_id || threads <= 0 ||
        threads > INT32_MAX)
        return;
    int carveout = launch->carveout_pct;
    struct lab_occupancy_launch l = {
        .threads_per_block = (int)threads,
        .registers_per_thread = k->registers_per_thread,
        .static_shared_bytes = k->static_shared_bytes,
        .dynamic_shared_bytes = k->dynamic_shared_bytes,
        .grid_blocks = product(k->grid),
        .cluster_blocks = (int)product(k->cluster),
        .carveout_pct = carveout < 0    ? 0
                        : carveout == 0 ? LAB_CARVEOUT_MAX_L1
                                        : carveout,
        .no_shared_optin = !launch->shared_optin,
    };
    struct lab_occupancy o;
    if (lab_occupancy_compute(&o, &j->device, &l) != LAB_OK)
        return;
    /* The kernel ran: an answer of no blocks is a limit that is not known
     * here, not an occupancy of 0. */
    if (o.active_blocks_per_sm == 0)
        return;
    k->occupancy_pct = o.occupancy_pct;
    k->occupancy_limit = o.limit;
    k->active_blocks_per_sm = o.active_blocks_per_sm;
}

void lab_join_kernel(struct lab_join *j, const struct lab_kernel_record *k,
                     const struct lab_gpu_launch *launch)
{
    struct lab_record r = {.kind = LAB_RECORD_KERNEL};
    r.u.kernel = *k;
    pthread_mutex_lock(&j->lock);
    lab_kernel_names_fill(&j->names, launch->mangled, &r.u.kernel);
    fill_occupancy(j, &r.u.kernel, launch);
    emit(j, &r);
    pthread_mutex_unlock(&j->lock);
}

void lab_join_mute(struct lab_join *j, bool on)
{
    pthread_mutex_lock(&j->lock);
    j->muted = on;
    pthread_mutex_unlock(&j->lock);
}

void lab_join_get_stats(struct lab_join *j, struct lab_join_stats *out)
{
    *out = (struct lab_join_stats){
        .kernels = j->stats.kernels,
        .kernels_without_step = j->stats.kernels_without_step,
        .kernels_between = j->stats.kernels_between,
        .before = j->stats.before,
        .muted = j->stats.muted,
        .untold = j->stats.untold,
        .not_stored = j->stats.not_stored,
    };
}

static void on_kernel(void *user, const struct lab_kernel_record *k,
                      const struct lab_gpu_launch *launch)
{
    lab_join_kernel(user, k, launch);
}

static void on_record(void *user, const struct lab_record *record)
{
    lab_join_record(user, record);
}

static uint32_t on_intern(void *user, const char *text)
{
    (void)user;
    return lab_intern(text);
}

void lab_join_gpu_sink(struct lab_join *j, struct lab_gpu_sink *out)
{
    *out = (struct lab_gpu_sink){
        .user = j,
        .kernel = on_kernel,
        .record = on_record,
        .intern = on_intern,
    };
}

enum lab_status lab_join_graph(struct lab_join *j, int64_t exec, int n_steps,
                               int64_t first_node, const int64_t *node_end)
{
    pthread_mutex_lock(&j->lock);
    enum lab_status st =
        join_nodes_set(&j->nodes, exec, n_steps, first_node, node_end);
    pthread_mutex_unlock(&j->lock);
    return st;
}

void lab_join_graph_span(struct lab_join *j, int64_t exec, int64_t *start_ns,
                         int64_t *end_ns)
{
    pthread_mutex_lock(&j->lock);
    join_nodes_span(&j->nodes, exec, start_ns, end_ns);
    pthread_mutex_unlock(&j->lock);
}
