/* Nodes that stand for several: the list of nodes that is really built. */
#include "engine/expand.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plan_priv.h"

struct lab_expansion {
    struct lab_builder *b;
    const struct lab_node_spec *node; /* the one that is taken apart */
    const char *input;                /* what it reads: an id */
    struct lab_node_spec *list;
    int n;
    int room;
};

static void no_memory(struct lab_expansion *e)
{
    if (!e->b->status)
        e->b->status = lab_no_memory("the network");
}

static struct lab_node_spec *next_node(struct lab_expansion *e)
{
    if (e->b->status)
        return NULL;
    if (e->n == e->room) {
        int room = e->room ? 2 * e->room : 16;
        void *p = lab_realloc_array(e->list, (size_t)room, sizeof(*e->list));
        if (!p) {
            no_memory(e);
            return NULL;
        }
        e->list = p;
        e->room = room;
    }
    struct lab_node_spec *n = &e->list[e->n++];
    *n = (struct lab_node_spec){.place = e->node->place,
                                .from_place = e->node->from_place};
    return n;
}

/* "<outer>.ln1", "<outer>" for NULL, what the outer node reads for "". */
static char *inner_id(struct lab_expansion *e, const char *name)
{
    char id[256];
    if (name && !name[0])
        snprintf(id, sizeof(id), "%s", e->input);
    else
        snprintf(id, sizeof(id), "%s%s%s", e->node->id, name ? "." : "",
                 name ? name + (name[0] == '.') : "");
    char *copy = lab_strdup(id);
    if (!copy)
        no_memory(e);
    return copy;
}

static void set_inputs(struct lab_expansion *e, struct lab_node_spec *n,
                       const char *first, const char *second)
{
    n->from = lab_alloc_array(2, sizeof(*n->from));
    if (!n->from) {
        no_memory(e);
        return;
    }
    n->from[n->n_from++] = inner_id(e, first);
    if (second)
        n->from[n->n_from++] = inner_id(e, second);
}

void lab_expand_node(struct lab_expansion *e, const char *name, const char *op,
                     const char *first, const char *second)
{
    struct lab_node_spec *n = next_node(e);
    if (!n)
        return;
    n->bare_out = name && name[0] == '=';
    n->id = inner_id(e, n->bare_out ? name + 1 : name);
    n->op = lab_op_find_inner(op);
    n->outer = e->node->op;
    lab_op_defaults(n->op, n->attr);
    set_inputs(e, n, first, second);
}

void lab_expand_key(struct lab_expansion *e, const char *key,
                    const char *outer_key)
{
    if (e->b->status)
        return;
    struct lab_node_spec *n = &e->list[e->n - 1];
    n->attr[lab_op_key(n->op, key)] =
        e->node->attr[lab_op_key(e->node->op, outer_key)];
}

void lab_expand_width(struct lab_expansion *e, const char *of)
{
    if (!e->b->status)
        e->list[e->n - 1].width_of = inner_id(e, of);
}

/* A node that stays as it is: the copy borrows everything but the list. */
static void keep_node(struct lab_expansion *e, const struct lab_node_spec *n)
{
    struct lab_node_spec *copy = next_node(e);
    if (!copy)
        return;
    *copy = *n;
    copy->id = lab_strdup(n->id);
    copy->from = NULL;
    copy->n_from = 0;
    if (!copy->id)
        no_memory(e);
    if (n->n_from == 0)
        return;
    copy->from = lab_alloc_array((size_t)n->n_from, sizeof(*copy->from));
    for (int k = 0; copy->from && k < n->n_from; k++) {
        copy->from[k] = lab_strdup(n->from[k]);
        copy->n_from++;
        if (!copy->from[k])
            no_memory(e);
    }
    if (!copy->from)
        no_memory(e);
}

/* An inner node "<id>.<name>"; name NULL: the last one, under the node's own
 * id. Its inputs are ".ln1", an inner node of that name, or "", what the outer
 * node reads; second NULL: it has one. A name that begins with '=' ("=r") calls
 * the result <id>.r instead of <id>.r.out. */
static void expand_node(struct lab_expansion *e, const struct lab_node_spec *n)
{
    struct lab_builder *b = e->b;
    if (strchr(n->id, '.'))
        b->status = lab_network_fail(b->spec, n->place, LAB_E_PARSE,
                                     "%s (%s): '%s' cannot be a node's id: a "
                                     "dot parts a node from its tensors",
                                     n->id, n->op->name, n->id);
    else if (n->n_from > n->op->max_inputs)
        b->status =
            lab_network_fail(b->spec, n->from_place, LAB_E_PARSE,
                             "%s (%s): takes %d input, from: gives %d", n->id,
                             n->op->name, n->op->max_inputs, n->n_from);
    else
        n->op->expand(e);
}

void lab_builder_expand(struct lab_builder *b)
{
    const struct lab_network_spec *spec = b->spec;
    struct lab_expansion e = {.b = b};
    bool any = false;
    for (int i = 0; i < spec->n_nodes; i++)
        any = any || spec->nodes[i].op->expand;
    if (!any)
        return;
    for (int i = 0; i < spec->n_nodes && !b->status; i++) {
        e.node = &spec->nodes[i];
        e.input = i > 0 ? spec->nodes[i - 1].id : "x";
        if (e.node->n_from > 0)
            e.input = e.node->from[0];
        if (e.node->op->expand)
            expand_node(&e, e.node);
        else
            keep_node(&e, e.node);
    }
    b->inner = e.list;
    b->n_inner = e.n;
    b->expanded = *spec;
    b->expanded.nodes = e.list;
    b->expanded.n_nodes = e.n;
    if (!b->status)
        b->spec = &b->expanded;
}

void lab_builder_release_inner(struct lab_builder *b)
{
    for (int i = 0; i < b->n_inner; i++)
        lab_node_spec_release(&b->inner[i]);
    lab_free(b->inner);
}

/* The key `units` of an inner node, once the width it follows is known. */
void lab_builder_settle_width(struct lab_builder *b, struct lab_node *node)
{
    const struct lab_node_spec *n = b->node_spec;
    int of = -1;
    if (b->status || !n->width_of)
        return;
    for (int i = 0; i < b->node; i++) {
        if (strcmp(b->plan->nodes[i].id, n->width_of) == 0)
            of = b->plan->nodes[i].out;
    }
    struct lab_shape shape = lab_build_shape(b, of);
    if (shape.rank < 1) {
        lab_build_fail(b, LAB_E_INTERNAL, "no width of '%s'", n->width_of);
        return;
    }
    int key = lab_op_key(n->op, "units");
    struct lab_attr *attr = b->inner[n - b->inner].attr;
    attr[key].i = node->attr[key].i = shape.dim[shape.rank - 1];
}
