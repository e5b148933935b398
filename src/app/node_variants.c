#include "node_variants.h"

#include "base/mem.h"

enum lab_status lab_node_variants_collect(struct lab_node_variants *out,
                                          struct lab_walk *walk)
{
    const struct lab_plan *plan = lab_walk_plan(walk);
    struct lab_node_variants v = {.n_nodes = plan->n_nodes};
    v.names = lab_alloc_array((size_t)v.n_nodes, sizeof(*v.names));
    v.counts = lab_alloc_array((size_t)v.n_nodes, sizeof(*v.counts));
    if (!v.names || !v.counts) {
        lab_node_variants_release(&v);
        return lab_fail(LAB_E_NOMEM, "no memory for the list of variants");
    }
    for (int i = 0; i < v.n_nodes; i++) {
        if (plan->nodes[i].op)
            v.counts[i] = lab_backend_variant_names(
                lab_walk_backend(walk), plan->real, plan->nodes[i].op->name,
                v.names[i], LAB_NODE_VARIANTS);
    }
    *out = v;
    return LAB_OK;
}

void lab_node_variants_release(struct lab_node_variants *v)
{
    lab_free(v->names);
    lab_free(v->counts);
    *v = (struct lab_node_variants){0};
}

int lab_node_variants_get(const struct lab_node_variants *v, int node,
                          const char **names, int max)
{
    if (node < 0 || node >= v->n_nodes)
        return 0;
    for (int i = 0; i < v->counts[node] && i < max; i++)
        names[i] = v->names[node][i];
    return v->counts[node];
}
