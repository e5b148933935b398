/* build_plan.c -- from a lesson's network to a plan: nodes that stand for
 * several are expanded, data tensors, layers, loss and optimizer are built in
 * order. */
#include <stdio.h>
#include <string.h>

#include "plan_priv.h"
#include "base/mem.h"
#include "base/str.h"

/* The data tensors of a plan: what the lesson or its source brings, as those
 * who read it take it. */

static void refuse(struct lab_builder *b, enum lab_status st, const char *text)
{
    if (!b->status)
        b->status =
            lab_network_fail(b->spec, b->spec->data.place, st, "%s", text);
}

static bool reads(const struct lab_network_spec *spec, int i, const char *name)
{
    const struct lab_node_spec *n = &spec->nodes[i];
    bool found = i == 0 && n->n_from == 0 && strcmp(name, "x") == 0;
    for (int k = 0; k < n->n_from; k++)
        found = found || strcmp(n->from[k], name) == 0;
    return found;
}

static bool any_reader_takes_images(const struct lab_network_spec *spec)
{
    for (int i = 0; i < spec->n_nodes; i++) {
        if (spec->nodes[i].op->takes_images && reads(spec, i, "x"))
            return true;
    }
    return false;
}

/* The first node that takes the data `name` as ids; NULL: none. */
static const struct lab_node_spec *
reader_of_ids(const struct lab_network_spec *spec, const char *name)
{
    for (int i = 0; i < spec->n_nodes; i++) {
        if (spec->nodes[i].op->takes_ids && reads(spec, i, name))
            return &spec->nodes[i];
    }
    return NULL;
}

static int data_tensor(struct lab_builder *b, const char *name,
                       const struct lab_shape *shape, enum lab_dtype dtype)
{
    return lab_builder_tensor(b, name, shape, dtype, LAB_TENSOR_DATA, -1);
}

/* The place of a data tensor is known here, and not where it is made. */
static bool data_fits(struct lab_builder *b, const struct lab_tensor_spec *t,
                      const struct lab_shape *shape)
{
    int64_t count;
    char detail[256];
    if (lab_plan_tensor(b->plan, t->name) >= 0) {
        b->status =
            lab_network_fail(b->spec, t->place, LAB_E_PARSE,
                             "two data tensors are named '%s'", t->name);
    } else if (lab_shape_count(shape, &count)) {
        snprintf(detail, sizeof(detail), "%s", lab_error());
        b->status = lab_network_fail(b->spec, t->place, LAB_E_SHAPE,
                                     "tensor '%s': %s", t->name, detail);
    }
    return !b->status;
}

static void build_inline_data(struct lab_builder *b, int64_t batch)
{
    const struct lab_data_spec *d = &b->spec->data;
    for (int i = 0; i < d->n_tensors && !b->status; i++) {
        const struct lab_tensor_spec *t = &d->tensors[i];
        bool is_y = strcmp(t->name, "y") == 0;
        bool labels = is_y && b->spec->loss.op->labels;
        const struct lab_node_spec *ids =
            is_y ? NULL : reader_of_ids(b->spec, t->name);
        enum lab_dtype dtype = labels || ids ? LAB_I32 : b->plan->real;
        if (dtype == LAB_I32 && !t->integers) {
            b->status = lab_network_fail(
                b->spec, t->place, LAB_E_PARSE,
                "%s holds fractions, but %s takes %s: whole numbers from 0",
                t->name, ids ? ids->op->name : b->spec->loss.op->name,
                ids ? "ids" : "class labels");
            return;
        }
        struct lab_shape shape = t->shape;
        if (batch > 0 && shape.rank > 0)
            shape.dim[0] = batch;
        if (!data_fits(b, t, &shape))
            return;
        int id = data_tensor(b, t->name, &shape, dtype);
        if (id >= 0)
            b->wants[id] = d->gradient && dtype != LAB_I32 && !is_y;
    }
}

static void builder_data(struct lab_builder *b,
                         const struct lab_data_shapes *shapes)
{
    struct lab_plan *plan = b->plan;
    if (b->spec->data.source == LAB_DATA_INLINE) {
        build_inline_data(b, shapes ? shapes->batch : 0);
    } else if (!shapes) {
        refuse(b, LAB_E_STATE, "the data is not loaded");
    } else {
        bool image =
            shapes->x_image.rank > 0 && any_reader_takes_images(b->spec);
        data_tensor(b, "x", image ? &shapes->x_image : &shapes->x,
                    reader_of_ids(b->spec, "x") ? LAB_I32 : plan->real);
        if (!shapes->y_integers && b->spec->loss.op->labels)
            refuse(b, LAB_E_PARSE,
                   "the loss takes class labels, the data has real targets");
        data_tensor(b, "y", &shapes->y,
                    b->spec->loss.op->labels ? LAB_I32 : plan->real);
        for (int i = 0; i < shapes->n_more; i++)
            data_tensor(b, shapes->more[i].name, &shapes->more[i].shape,
                        LAB_I32);
    }
    plan->x = lab_plan_tensor(plan, "x");
    plan->y = lab_plan_tensor(plan, "y");
    int first = plan->x >= 0 ? plan->x : 0;
    plan->batch = plan->n_tensors > 0 && plan->tensors[first].shape.rank > 0
                      ? plan->tensors[first].shape.dim[0]
                      : 1;
}

/* Nodes that stand for several: the list of nodes that is really built. */

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

static void builder_expand(struct lab_builder *b)
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

static void builder_release_inner(struct lab_builder *b)
{
    for (int i = 0; i < b->n_inner; i++)
        lab_node_spec_release(&b->inner[i]);
    lab_free(b->inner);
}

/* The key `units` of an inner node, once the width it follows is known. */
static void builder_settle_width(struct lab_builder *b, struct lab_node *node)
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

/* From a network to a plan: resolve names, build forward, loss, backward and
 * update, place the memory. */

static struct lab_place no_place;

static enum lab_status fail_at(struct lab_builder *b, struct lab_place place,
                               enum lab_status st, const char *text)
{
    if (!b->status)
        b->status = lab_network_fail(b->spec, place, st, "%s", text);
    return b->status;
}

/* ---- names ---- */

/* The tensor that `name` represents in `from`: a node's output or data. */
static int resolve(struct lab_builder *b, const struct lab_node_spec *n,
                   const char *name)
{
    struct lab_plan *plan = b->plan;
    const char *names[64];
    size_t count = 0;
    for (int i = 0; i < b->node; i++) {
        if (strcmp(plan->nodes[i].id, name) == 0)
            return plan->nodes[i].out;
        if (count < 64)
            names[count++] = plan->nodes[i].id;
    }
    for (int i = 0; i < plan->n_tensors; i++) {
        if (plan->tensors[i].role != LAB_TENSOR_DATA)
            continue;
        if (strcmp(plan->tensors[i].name, name) == 0)
            return i;
        if (count < 64)
            names[count++] = plan->tensors[i].name;
    }
    for (int i = b->node; i < b->spec->n_nodes; i++) {
        if (strcmp(b->spec->nodes[i].id, name) == 0) {
            b->status = lab_network_fail(
                b->spec, n->from_place, LAB_E_PARSE,
                "node '%s' reads '%s', which comes after it: a node reads data "
                "or earlier nodes",
                n->id, name);
            return -1;
        }
    }
    const char *near = lab_nearest(name, names, count);
    b->status = lab_network_fail(
        b->spec, n->from_place, LAB_E_PARSE,
        "node '%s' reads '%s', and there is no such node or data%s%s%s", n->id,
        name, near ? "; did you mean '" : "", near ? near : "",
        near ? "'?" : "");
    return -1;
}

/* Whole numbers go where ids are taken, and only there. */
static void check_kind(struct lab_builder *b, const struct lab_node_spec *n,
                       const struct lab_tensor *t)
{
    bool integers = t->dtype == LAB_I32;
    if (integers && !n->op->takes_ids)
        b->status = lab_network_fail(
            b->spec, n->n_from ? n->from_place : n->place, LAB_E_PARSE,
            "node '%s' reads '%s', which holds class labels or ids: %s takes "
            "real numbers",
            n->id, t->name, n->op->name);
    else if (!integers && n->op->takes_ids)
        b->status = lab_network_fail(
            b->spec, n->n_from ? n->from_place : n->place, LAB_E_PARSE,
            "node '%s' reads '%s', which holds real numbers: %s takes ids, "
            "whole numbers in the data",
            n->id, t->name, n->op->name);
}

static void connect(struct lab_builder *b, struct lab_node *node,
                    const struct lab_node_spec *n)
{
    if (n->n_from > LAB_STEP_IN) {
        fail_at(b, n->from_place, LAB_E_PARSE,
                "a node reads at most 16 others");
        return;
    }
    node->n_in = n->n_from ? n->n_from : 1;
    for (int k = 0; k < n->n_from && !b->status; k++) {
        node->in[k] = resolve(b, n, n->from[k]);
    }
    if (n->n_from == 0) {
        node->in[0] =
            b->node > 0 ? b->plan->nodes[b->node - 1].out : b->plan->x;
        if (node->in[0] < 0)
            lab_build_fail(b, LAB_E_PARSE,
                           "there is no x in the data: say what this node "
                           "reads with from:");
    }
    for (int k = 0; k < node->n_in && !b->status; k++)
        check_kind(b, n, &b->plan->tensors[node->in[k]]);
    int most = n->op->max_inputs;
    if (!b->status && (node->n_in < n->op->min_inputs || node->n_in > most))
        lab_build_fail(b, LAB_E_PARSE, "takes %d input%s, from: gives %d", most,
                       most == 1 ? "" : "s", node->n_in);
}

/* ---- forward and loss ---- */

static bool is_taken(const struct lab_builder *b, const char *id)
{
    static const char *const reserved[] = {"x", "y", "loss", "optimizer"};
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        if (strcmp(id, reserved[i]) == 0)
            return true;
    }
    int t = lab_plan_tensor(b->plan, id);
    return t >= 0 && b->plan->tensors[t].role == LAB_TENSOR_DATA;
}

static bool start_node(struct lab_builder *b, int index,
                       const struct lab_node_spec *n)
{
    struct lab_node *node = &b->plan->nodes[index];
    b->node = index;
    b->node_spec = n;
    b->has_params = false;
    node->op = n->op;
    node->outer = n->outer;
    memcpy(node->attr, n->attr, sizeof(node->attr));
    node->place = n->place;
    node->out = -1;
    node->id = lab_strdup(n->id);
    b->plan->n_nodes = index + 1;
    if (!node->id ||
        !lab_names_add(&b->plan->names[LAB_NAME_NODE], node->id, index))
        lab_build_fail(b, LAB_E_NOMEM, "no memory for the plan");
    else if (!n->op->forward)
        lab_build_fail(b, LAB_E_NOT_BUILT,
                       "this version does not run the op '%s' yet",
                       n->op->name);
    else if (strchr(n->id, '.') && !n->outer)
        lab_build_fail(b, LAB_E_PARSE,
                       "'%s' cannot be a node's id: a dot parts a node from "
                       "its tensors",
                       n->id);
    else if (n != &b->spec->loss && is_taken(b, n->id))
        lab_build_fail(b, LAB_E_PARSE,
                       "'%s' cannot be a node's id: it names the data, the "
                       "loss or the optimizer",
                       n->id);
    return !b->status;
}

static void build_layer(struct lab_builder *b, int index)
{
    const struct lab_node_spec *n = &b->spec->nodes[index];
    struct lab_node *node = &b->plan->nodes[index];
    if (!start_node(b, index, n))
        return;
    connect(b, node, n);
    builder_settle_width(b, node);
    if (b->status)
        return;
    n->op->forward(b);
    if (b->status || node->out < 0)
        return;
    bool wants = b->has_params;
    for (int k = 0; k < node->n_in; k++)
        wants = wants || b->wants[node->in[k]];
    b->wants[node->out] = wants;
}

static void build_loss(struct lab_builder *b, int index)
{
    struct lab_plan *plan = b->plan;
    struct lab_node *node = &plan->nodes[index];
    if (b->status || !start_node(b, index, &b->spec->loss))
        return;
    plan->loss_node = index;
    plan->out = plan->nodes[index - 1].out;
    node->in[0] = plan->out;
    node->n_in = 1;
    b->target = plan->y;
    if (plan->y < 0) {
        lab_build_fail(b, LAB_E_PARSE, "the loss needs y: give it under data:");
        return;
    }
    b->spec->loss.op->forward(b);
    plan->loss = node->out;
    plan->loss_sample = lab_plan_tensor(plan, "loss.sample");
}

/* ---- gradients ---- */

/* Which nodes the loss depends on; the others get no gradient. */
static void find_live(struct lab_builder *b)
{
    struct lab_plan *plan = b->plan;
    for (int i = plan->n_nodes - 1; i >= 0; i--) {
        struct lab_node *node = &plan->nodes[i];
        if (i == plan->loss_node)
            b->live[i] = true;
        for (int k = 0; b->live[i] && k < node->n_in; k++) {
            int t = node->in[k];
            b->paths[t].readers++;
            int owner = plan->tensors[t].node;
            if (owner >= 0)
                b->live[owner] = true;
        }
    }
}

static void check_readers(struct lab_builder *b)
{
    for (int t = 0; t < b->plan->n_tensors; t++) {
        if (b->paths[t].readers > LAB_STEP_IN && b->wants[t])
            lab_build_fail(b, LAB_E_UNSUPPORTED, "more than %d nodes read '%s'",
                           LAB_STEP_IN, b->plan->tensors[t].name);
    }
}

static const struct lab_node_spec *spec_of(const struct lab_builder *b, int i)
{
    return i == b->plan->loss_node ? &b->spec->loss : &b->spec->nodes[i];
}

static void build_backward(struct lab_builder *b)
{
    struct lab_plan *plan = b->plan;
    for (int i = plan->n_nodes - 1; i >= 0 && !b->status; i--) {
        struct lab_node *node = &plan->nodes[i];
        b->node = i;
        b->node_spec = spec_of(b, i);
        if (!b->live[i])
            continue;
        if (i != plan->loss_node) {
            if (!b->wants[node->out])
                continue;
            lab_builder_close_grad(b, node->out, i);
        }
        if (node->op->backward)
            node->op->backward(b);
    }
}

/* Data that several nodes read gets its sum in a node of its own. */
static void close_data_grads(struct lab_builder *b, int n_data)
{
    struct lab_plan *plan = b->plan;
    for (int t = 0; t < n_data && !b->status; t++) {
        if (!b->wants[t] || b->paths[t].n == 0)
            continue;
        int index = plan->n_nodes;
        if (b->paths[t].readers > 1) {
            struct lab_node *node = &plan->nodes[index];
            node->id = lab_strdup(plan->tensors[t].name);
            node->op = lab_op_find("flatten", LAB_KIND_LAYER);
            node->out = t;
            plan->n_nodes++;
            if (!node->id ||
                !lab_names_add(&plan->names[LAB_NAME_NODE], node->id, index))
                b->status = lab_no_memory("the plan");
        }
        lab_builder_close_grad(b, t, index);
    }
}

static void build_update(struct lab_builder *b, struct lab_node_spec *optimizer)
{
    struct lab_plan *plan = b->plan;
    int n = plan->n_tensors; /* state tensors come after */
    b->node_spec = optimizer;
    for (int t = 0; t < n && !b->status; t++) {
        if (plan->tensors[t].role != LAB_TENSOR_PARAM || b->grad[t] < 0)
            continue;
        b->node = plan->tensors[t].node;
        optimizer->op->update(b, t, b->grad[t]);
    }
    b->node_spec = NULL; /* the optimizer's is the caller's local */
}

/* ---- memory ---- */

static enum lab_status place_one(struct lab_builder *b, struct lab_tensor *t,
                                 size_t *at)
{
    enum { ALIGN = 256 };
    size_t bytes;
    t->offset = *at;
    if (!lab_mul_size((size_t)t->count, lab_dtype_bytes(t->dtype), &bytes) ||
        !lab_add_size(bytes, ALIGN - 1, &bytes) ||
        !lab_add_size(*at, bytes & ~(size_t)(ALIGN - 1), at)) {
        b->status = lab_network_fail(b->spec, no_place, LAB_E_SHAPE,
                                     "the tensors up to '%s' are larger than "
                                     "any memory",
                                     t->name);
    }
    return b->status;
}

static void place_memory(struct lab_builder *b)
{
    struct lab_plan *plan = b->plan;
    size_t at = 0;
    for (int persistent = 1; persistent >= 0; persistent--) {
        for (int i = 0; i < plan->n_tensors && !b->status; i++) {
            struct lab_tensor *t = &plan->tensors[i];
            if (t->persistent == (persistent == 1) && t->alias_of < 0)
                place_one(b, t, &at);
        }
        if (persistent)
            plan->persistent_bytes = at;
    }
    plan->arena_bytes = at;
    for (int i = 0; i < plan->n_tensors; i++) {
        struct lab_tensor *t = &plan->tensors[i];
        if (t->alias_of >= 0)
            t->offset = plan->tensors[t->alias_of].offset +
                        (size_t)t->first * lab_dtype_bytes(t->dtype);
    }
}

/* ---- all of it ---- */

static void build_all(struct lab_builder *b,
                      const struct lab_data_shapes *shapes)
{
    const struct lab_network_spec *spec = b->spec;
    struct lab_node_spec optimizer = lab_network_optimizer(spec);
    optimizer.id = (char *)"optimizer";
    builder_data(b, shapes);
    int n_data = b->plan->n_tensors;
    for (int i = 0; i < spec->n_nodes && !b->status; i++)
        build_layer(b, i);
    build_loss(b, spec->n_nodes);
    if (b->status)
        return;
    find_live(b);
    check_readers(b);
    build_backward(b);
    close_data_grads(b, n_data);
    build_update(b, &optimizer);
    lab_builder_check_names(b);
    if (!b->status)
        place_memory(b);
}

static enum lab_status check_precision(const struct lab_network_spec *spec)
{
    if (spec->precision == LAB_FP32)
        return LAB_OK;
    return lab_network_fail(spec, no_place, LAB_E_UNSUPPORTED,
                            "precision %s is not available in this version: "
                            "use fp32",
                            lab_precision_name(spec->precision));
}

enum lab_status lab_plan_build(struct lab_plan **out,
                               const struct lab_network_spec *spec,
                               const struct lab_data_shapes *shapes,
                               enum lab_dtype real)
{
    struct lab_builder b = {.spec = spec, .target = -1};
    enum lab_status st = check_precision(spec);
    if (st)
        return st;
    if (spec->n_nodes < 1 || !spec->loss.op)
        return lab_network_fail(spec, no_place, LAB_E_PARSE,
                                "a lesson needs a network and a loss");
    builder_expand(&b);
    if (b.status) {
        builder_release_inner(&b);
        return b.status;
    }
    spec = b.spec;
    struct lab_plan *plan = lab_alloc(sizeof(*plan));
    size_t most_nodes =
        (size_t)spec->n_nodes + 1 + (size_t)spec->data.n_tensors + 1;
    b.plan = plan;
    if (plan)
        plan->nodes = lab_alloc_array(most_nodes, sizeof(*plan->nodes));
    b.live = lab_alloc_array(most_nodes, sizeof(*b.live));
    if (!plan || !plan->nodes || !b.live) {
        b.status = lab_no_memory("the plan");
    } else {
        plan->real = real;
        plan->seed = spec->seed;
        plan->precision = real == LAB_F64 ? LAB_FP64 : spec->precision;
        plan->layout = spec->layout;
        plan->out = plan->loss = plan->loss_sample = -1;
        build_all(&b, shapes);
    }
    lab_free(b.paths);
    lab_free(b.wants);
    lab_free(b.grad);
    lab_free(b.live);
    builder_release_inner(&b);
    if (b.status) {
        lab_plan_free(plan);
        return b.status;
    }
    *out = plan;
    return LAB_OK;
}
