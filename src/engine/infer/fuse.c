/* fuse.c -- which layers of a network become one in inference. Graph only: weights
 * are folded where they are (infer.c). */
#include "engine/fuse.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "conv2d/conv2d.h"

struct fuser {
    const struct lab_plan *plan;
    struct lab_fused *out;
    int *readers; /* of each tensor, by the nodes left */
    bool *taken;  /* of each node: left out or part of a layer */
};

static bool is(const struct lab_node *n, const char *op)
{
    return strcmp(n->op->name, op) == 0;
}

static bool is_product(const struct lab_node *n)
{
    return is(n, "conv2d") || is(n, "dense");
}

bool lab_node_is_layer(const struct lab_node *n)
{
    return n->op && n->op->kind == LAB_KIND_LAYER && n->n_in > 0 &&
           n->out >= 0 && !n->op->internal;
}

static bool is_layer(const struct fuser *f, int i)
{
    return lab_node_is_layer(&f->plan->nodes[i]);
}

static int source_of(const struct fuser *f, int tensor)
{
    while (f->out->source[tensor] != tensor)
        tensor = f->out->source[tensor];
    return tensor;
}

/* ---- elimination ---- */

/* A flatten that changes the order of the numbers has something to do. */
static bool does_nothing(const struct fuser *f, const struct lab_node *n)
{
    bool turns = is(n, "flatten") && n->attr[0].choice == 1 &&
                 f->plan->layout == LAB_NHWC &&
                 f->plan->tensors[n->in[0]].shape.rank == 4;
    return (is(n, "flatten") && !turns) || is(n, "dropout");
}

static void eliminate(struct fuser *f)
{
    for (int i = 0; i < f->plan->n_nodes; i++) {
        const struct lab_node *n = &f->plan->nodes[i];
        if (!is_layer(f, i))
            continue;
        if (does_nothing(f, n)) {
            f->out->source[n->out] = n->in[0];
            f->out->idle++;
        } else if (is(n, "concat")) {
            f->out->joined++;
        } else {
            continue;
        }
        f->taken[i] = true;
    }
}

/* ---- folding and vertical fusion ---- */

static void count_readers(struct fuser *f)
{
    for (int i = 0; i < f->plan->n_nodes; i++) {
        const struct lab_node *n = &f->plan->nodes[i];
        bool skipped = f->taken[i] && !is(n, "concat");
        for (int k = 0; k < n->n_in && !skipped; k++)
            if (n->in[k] >= 0)
                f->readers[source_of(f, n->in[k])]++;
    }
}

/* The node behind a tensor that nothing else reads, or -1. */
static int only_reader(const struct fuser *f, int tensor)
{
    if (f->readers[tensor] != 1)
        return -1;
    for (int i = 0; i < f->plan->n_nodes; i++) {
        const struct lab_node *n = &f->plan->nodes[i];
        for (int k = 0; k < n->n_in && is_layer(f, i) && !f->taken[i]; k++)
            if (n->in[k] >= 0 && source_of(f, n->in[k]) == tensor)
                return i;
    }
    return -1;
}

/* The tensor has been written when node `at` runs. */
static bool is_earlier(const struct fuser *f, int tensor, int at)
{
    for (int i = 0; i < at; i++)
        if (f->plan->nodes[i].out == tensor)
            return true;
    return tensor == f->plan->x;
}

static bool take_in(struct fuser *f, struct lab_fused_layer *l, int node)
{
    const struct lab_node *n = &f->plan->nodes[node];
    if (is(n, "batch_norm") && l->norm < 0 && l->sum < 0 && l->activation < 0) {
        l->norm = node;
        f->out->folded++;
    } else if (is(n, "add") && l->sum < 0 && l->activation < 0) {
        int a = source_of(f, n->in[0]);
        int b = source_of(f, n->in[1]);
        l->other = a == l->out ? b : a;
        if (a == b || !is_earlier(f, l->other, l->node))
            return false;
        l->sum = node;
        f->out->vertical++;
    } else if (n->op->unary && l->activation < 0) {
        l->activation = node;
        f->out->vertical++;
    } else {
        return false;
    }
    f->taken[node] = true;
    l->out = n->out;
    return true;
}

static void fuse_down(struct fuser *f, struct lab_fused_layer *l)
{
    int next = only_reader(f, l->out);
    while (next >= 0 && take_in(f, l, next))
        next = only_reader(f, l->out);
}

/* ---- horizontal fusion ---- */

static const void *params_of(const struct fuser *f, const struct lab_node *n)
{
    return f->plan->steps[n->first_step[LAB_FORWARD]].params;
}

static bool may_join(const struct fuser *f, const struct lab_fused_layer *a,
                     const struct lab_fused_layer *b)
{
    const struct lab_node *x = &f->plan->nodes[a->node];
    const struct lab_node *y = &f->plan->nodes[b->node];
    const struct lab_node *xa =
        a->activation < 0 ? NULL : &f->plan->nodes[a->activation];
    const struct lab_node *ya =
        b->activation < 0 ? NULL : &f->plan->nodes[b->activation];
    if (x->op != y->op || !is_product(x) || a->in != b->in || a->sum >= 0 ||
        b->sum >= 0 || b->member ||
        (xa ? xa->op : NULL) != (ya ? ya->op : NULL))
        return false;
    if (xa && memcmp(xa->attr, ya->attr, sizeof(xa->attr)) != 0)
        return false;
    if (is(x, "dense"))
        return true;
    const struct lab_conv2d_params *p = params_of(f, x);
    const struct lab_conv2d_params *q = params_of(f, y);
    return p->groups <= 1 && memcmp(p, q, sizeof(*p)) == 0;
}

static void fuse_across(struct fuser *f)
{
    struct lab_fused *out = f->out;
    for (int i = 0; i < out->n_layers; i++) {
        int last = i;
        for (int k = i + 1; k < out->n_layers && !out->layers[i].member; k++) {
            if (!may_join(f, &out->layers[i], &out->layers[k]))
                continue;
            out->layers[last].next = k;
            out->layers[k].member = true;
            out->horizontal++;
            last = k;
        }
    }
}

/* ---- all of it ---- */

static void make_layers(struct fuser *f)
{
    struct lab_fused *out = f->out;
    for (int i = 0; i < f->plan->n_nodes; i++) {
        const struct lab_node *n = &f->plan->nodes[i];
        if (!is_layer(f, i) || f->taken[i])
            continue;
        struct lab_fused_layer *l = &out->layers[out->n_layers++];
        *l = (struct lab_fused_layer){.node = i,
                                      .norm = -1,
                                      .sum = -1,
                                      .other = -1,
                                      .activation = -1,
                                      .in = source_of(f, n->in[0]),
                                      .out = n->out,
                                      .next = -1};
        if (is_product(n))
            fuse_down(f, l);
    }
}

enum lab_status lab_fuse(struct lab_fused *out, const struct lab_plan *plan)
{
    struct fuser f = {.plan = plan, .out = out};
    size_t nodes = (size_t)plan->n_nodes;
    size_t tensors = (size_t)plan->n_tensors;
    *out = (struct lab_fused){0};
    out->layers = lab_alloc_array(nodes, sizeof(*out->layers));
    out->source = lab_alloc_array(tensors, sizeof(*out->source));
    f.readers = lab_alloc_array(tensors, sizeof(*f.readers));
    f.taken = lab_alloc_array(nodes, sizeof(*f.taken));
    bool room = out->layers && out->source && f.readers && f.taken;
    for (size_t t = 0; t < tensors && room; t++)
        out->source[t] = (int)t;
    for (int i = 0; i < plan->n_nodes && room; i++) {
        out->nodes += is_layer(&f, i);
        out->norms += is_layer(&f, i) && is(&plan->nodes[i], "batch_norm");
    }
    if (room) {
        out->softmax =
            is(&plan->nodes[plan->loss_node], "softmax_cross_entropy");
        out->nodes += out->softmax;
        eliminate(&f);
        count_readers(&f);
        make_layers(&f);
        fuse_across(&f);
        for (int t = 0; t < plan->n_tensors; t++)
            out->source[t] = source_of(&f, t);
        out->left = out->n_layers - out->horizontal + out->softmax;
    }
    lab_free(f.readers);
    lab_free(f.taken);
    if (room)
        return LAB_OK;
    lab_fused_release(out);
    return lab_no_memory("the fused network");
}

void lab_fused_release(struct lab_fused *f)
{
    lab_free(f->layers);
    lab_free(f->source);
    *f = (struct lab_fused){0};
}

void lab_fused_name(const struct lab_plan *plan, const struct lab_fused *f,
                    int layer, char *out, size_t size)
{
    size_t at = 0;
    out[0] = '\0';
    for (int k = layer; k >= 0; k = f->layers[k].next) {
        const struct lab_fused_layer *l = &f->layers[k];
        const int parts[] = {l->node, l->norm, l->sum, l->activation};
        for (int i = 0; i < 4; i++) {
            if (parts[i] < 0 || at >= size)
                continue;
            int n = snprintf(out + at, size - at, "%s%s",
                             i            ? " + "
                             : k == layer ? ""
                                          : " | ",
                             plan->nodes[parts[i]].id);
            at += n > 0 ? (size_t)n : 0;
        }
    }
}
