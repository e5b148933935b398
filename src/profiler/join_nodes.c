/* Which step a node of a launched graph belongs to. */
#include "base/mem.h"
#include "join_priv.h"
#include "profiler/join.h"

void lab_join_nodes_release(struct lab_join_nodes *nodes)
{
    lab_free(nodes->end);
    lab_free(nodes->span);
    *nodes = (struct lab_join_nodes){0};
}

enum lab_status lab_join_nodes_set(struct lab_join_nodes *nodes, int64_t exec,
                                   int n, int64_t first, const int64_t *end)
{
    lab_join_nodes_release(nodes);
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

void lab_join_nodes_place(struct lab_join_nodes *nodes, struct lab_record *r)
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

void lab_join_nodes_span(const struct lab_join_nodes *nodes, int64_t exec,
                         int64_t *start_ns, int64_t *end_ns)
{
    bool known = exec >= nodes->exec && exec < nodes->exec + nodes->n;
    *start_ns = known ? nodes->span[exec - nodes->exec].start_ns : LAB_UNKNOWN;
    *end_ns = known ? nodes->span[exec - nodes->exec].end_ns : LAB_UNKNOWN;
}
