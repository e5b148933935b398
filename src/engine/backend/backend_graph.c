/* The wrappers around a backend's graphs. */
#include "engine/backend_graph.h"

#include "backend_priv.h"

bool lab_backend_graphs(const struct lab_backend *be)
{
    return be->ops->graph != NULL;
}

static enum lab_status judge(struct lab_backend *be, enum lab_status st)
{
    return st ? lab_backend_slot_failed(be->ops, st) : LAB_OK;
}

enum lab_status lab_graph_host_alloc(struct lab_backend *be, size_t bytes,
                                     void **out)
{
    return judge(be, be->ops->graph->host_alloc(be, bytes, out));
}

void lab_graph_host_free(struct lab_backend *be, void *p)
{
    if (p)
        be->ops->graph->host_free(be, p);
}

enum lab_status lab_graph_upload(struct lab_backend *be, void *dst,
                                 const void *src, size_t bytes)
{
    return judge(be, be->ops->graph->upload(be, dst, src, bytes));
}

enum lab_status lab_graph_begin(struct lab_backend *be)
{
    return judge(be, be->ops->graph->begin(be));
}

enum lab_status lab_graph_lane(struct lab_backend *be, int lane)
{
    return judge(be, be->ops->graph->lane(be, lane));
}

enum lab_status lab_graph_count(struct lab_backend *be, int64_t *nodes)
{
    return judge(be, be->ops->graph->count(be, nodes));
}

enum lab_status lab_graph_end(struct lab_backend *be, const void *loss,
                              struct lab_graph **out)
{
    return judge(be, be->ops->graph->end(be, loss, out));
}

void lab_graph_free(struct lab_backend *be, struct lab_graph *g)
{
    if (g)
        be->ops->graph->free(be, g);
}

enum lab_status lab_graph_launch(struct lab_backend *be, struct lab_graph *g,
                                 uint64_t iteration)
{
    return judge(be, be->ops->graph->launch(be, g, iteration));
}

enum lab_status lab_graph_wait(struct lab_backend *be, bool wait,
                               struct lab_graph_report *out, bool *told)
{
    return judge(be, be->ops->graph->report(be, wait, out, told));
}
