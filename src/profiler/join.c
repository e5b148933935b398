/* join.c -- joins what CUPTI reports with the steps that launched it, and finds
 * the names of kernels. */
#include "profiler/join.h"

#include <math.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/kernel_name.h"
#include "base/mem.h"
#include "trace/intern.h"
#include "profiler/occupancy.h"
#include "trace/record.h"

/* What is kept of a kernel for all its launches. */
struct lab_known_kernel {
    uint32_t mangled;
    uint32_t demangled;
    uint32_t short_name;
};

/* CUPTI hands the same pointer in for each launch of a kernel. */
struct lab_kernel_pointer {
    const char *at;
    char *text; /* owned: what it pointed to; NULL: empty */
    struct lab_known_kernel name;
};

enum { LAB_KERNEL_POINTERS = 256 };

/* A tree by the id of the mangled name (tsearch()), and in front of it, to save
 * the look at every letter, the pointers of late. Zeroed: empty. */
struct lab_kernel_names {
    struct lab_kernel_pointer recent[LAB_KERNEL_POINTERS];
    void *tree; /* of struct lab_known_kernel, owned */
};

struct lab_join_span {
    int64_t start_ns;
    int64_t end_ns;
};

/* The graph that was launched last (lab_join_graph()). Zeroed: none. */
struct lab_join_nodes {
    int64_t exec; /* of the launch, and of its first step */
    int n;
    int64_t first;
    int64_t *end; /* n of them, ascending */
    struct lab_join_span *span;
};

_Static_assert(LAB_KERNEL_POINTERS == 1 << 8, "the top 8 bits of a hash");

enum { SHORT_BYTES = 256 };

static int by_mangled(const void *a, const void *b)
{
    uint32_t x = ((const struct lab_known_kernel *)a)->mangled;
    uint32_t y = ((const struct lab_known_kernel *)b)->mangled;
    return (x > y) - (x < y);
}

static struct lab_known_kernel make_name(uint32_t id, const char *mangled)
{
    char bare[SHORT_BYTES];
    char *text = lab_kernel_demangle(mangled);
    lab_kernel_short_name(bare, sizeof(bare), text ? text : mangled);
    struct lab_known_kernel name = {
        .mangled = id,
        .demangled = text ? lab_intern(text) : id,
        .short_name = lab_intern(bare),
    };
    lab_free(text);
    return name;
}

/* Without memory a name is made again for the next launch. */
static struct lab_known_kernel look_up(struct lab_kernel_names *names,
                                       const char *mangled)
{
    struct lab_known_kernel name = {.mangled = lab_intern(mangled)};
    struct lab_known_kernel *const *known =
        tfind(&name, &names->tree, by_mangled);
    if (name.mangled == 0 || known)
        return known ? **known : name;
    name = make_name(name.mangled, mangled);
    struct lab_known_kernel *kept = lab_alloc(sizeof(*kept));
    if (kept) {
        *kept = name;
        if (!tsearch(kept, &names->tree, by_mangled))
            lab_free(kept);
    }
    return name;
}

static struct lab_kernel_pointer *recent(struct lab_kernel_names *names,
                                         const char *mangled)
{
    uint64_t hash = (uint64_t)(uintptr_t)mangled * UINT64_C(0x9E3779B97F4A7C15);
    return &names->recent[hash >> 56];
}

static void kernel_names_fill(struct lab_kernel_names *names,
                              const char *mangled, struct lab_kernel_record *k)
{
    struct lab_known_kernel name = {0};
    struct lab_kernel_pointer *r = recent(names, mangled);
    /* What a pointer points to may be another kernel's name one day. */
    if (mangled && r->at == mangled && r->text && !strcmp(r->text, mangled)) {
        name = r->name;
    } else if (mangled) {
        name = look_up(names, mangled);
        lab_free(r->text);
        *r = (struct lab_kernel_pointer){mangled, lab_strdup(mangled), name};
    }
    k->mangled_name = name.mangled;
    k->demangled_name = name.demangled;
    k->short_name = name.short_name;
}

static void kernel_names_release(struct lab_kernel_names *names)
{
    for (int i = 0; i < LAB_KERNEL_POINTERS; i++)
        lab_free(names->recent[i].text);
    tdestroy(names->tree, lab_free);
}

/* ---- which step a node of a launched graph belongs to ---- */

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
    atomic_uint_fast64_t unreported;
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

enum lab_status lab_join_new(struct lab_join **out, const struct lab_sink *sink)
{
    if (!sink || !sink->push)
        return lab_fail(LAB_E_ARG, "join: no sink");
    struct lab_join *j = lab_alloc(sizeof(*j));
    if (!j || pthread_mutex_init(&j->lock, NULL) != 0) {
        lab_free(j);
        return lab_fail(LAB_E_NOMEM, "join: out of memory");
    }
    j->sink = *sink;
    j->begin_ns = LAB_UNKNOWN;
    *out = j;
    return LAB_OK;
}

void lab_join_free(struct lab_join *j)
{
    if (!j)
        return;
    pthread_mutex_destroy(&j->lock);
    kernel_names_release(&j->names);
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

/* Its execution and its end; both LAB_UNKNOWN for a kind that has none. */
static void look_at(const struct lab_record *r, int64_t *exec, int64_t *end)
{
    *exec = LAB_UNKNOWN;
    *end = LAB_UNKNOWN;
    switch (r->kind) {
    case LAB_RECORD_KERNEL:
        *exec = r->u.kernel.exec;
        *end = r->u.kernel.end_ns;
        break;
    case LAB_RECORD_MEMCPY:
    case LAB_RECORD_MEMSET:
        *exec = r->u.memcpy_.exec;
        *end = r->u.memcpy_.end_ns;
        break;
    case LAB_RECORD_API:
    case LAB_RECORD_SYNC:
        *exec = r->u.api.exec;
        *end = r->u.api.end_ns;
        break;
    case LAB_RECORD_OVERHEAD:
        *end = r->u.overhead.end_ns;
        break;
    case LAB_RECORD_METRIC:
        *exec = r->u.metric.exec;
        break;
    default:
        break;
    }
}

/* true: the record is not of the run. Counts it. */
static bool leave_out(struct lab_join *j, const struct lab_record *r)
{
    int64_t exec;
    int64_t end;
    look_at(r, &exec, &end);
    bool dropped = exec == LAB_EXEC_DROPPED;
    bool before =
        exec == LAB_UNKNOWN && end != LAB_UNKNOWN && end < j->begin_ns;
    if (j->muted)
        j->stats.muted++;
    else if (dropped)
        j->stats.unreported++;
    else if (before)
        j->stats.before++;
    return j->muted || dropped || before;
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

static void fill_occupancy(const struct lab_join *j,
                           struct lab_kernel_record *k,
                           const struct lab_gpu_launch *launch)
{
    k->occupancy_pct = NAN;
    k->occupancy_limit = LAB_LIMIT_NONE;
    k->active_blocks_per_sm = 0;
    if (!j->has_device || k->device_id != j->device_id)
        return;
    int carveout = launch->carveout_pct;
    struct lab_occupancy_launch l = {
        .launch = k->launch,
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
    kernel_names_fill(&j->names, launch->mangled, &r.u.kernel);
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
        .unreported = j->stats.unreported,
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
