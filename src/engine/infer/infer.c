/* infer.c -- a trained network for inference. First which of its layers become one,
 * from the graph alone; then single rows through them: a layer gathers what lies
 * under a window once, and each filter is a product with it: of floats, of 8-bit
 * numbers, or of the two in four that pruning has kept. */
#include "engine/infer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "conv2d/conv2d.h"
#include "ops/unary.h"
#include "pool/pool.h"

static bool is(const struct lab_node *n, const char *op)
{
    return strcmp(n->op->name, op) == 0;
}

static const void *params_of(const struct lab_plan *plan,
                             const struct lab_node *n)
{
    return plan->steps[n->first_step[LAB_FORWARD]].params;
}

static bool is_product(const struct lab_node *n)
{
    return is(n, "conv2d") || is(n, "dense");
}

/* ==== fewer layers ==== */

struct fuser {
    const struct lab_plan *plan;
    struct lab_fused *out;
    int *readers; /* of each tensor, by the nodes left */
    bool *taken;  /* of each node: left out or part of a layer */
};

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
    const struct lab_conv2d_params *p = params_of(f->plan, x);
    const struct lab_conv2d_params *q = params_of(f->plan, y);
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

/* ==== rows through them ==== */

/* Weights that pruning sees together; a multiple of four. */
enum { BLOCK = 256 };

/* Weights of a convolution or dense layer, a row a filter. */
struct product {
    int64_t M;
    int64_t K;      /* numbers that a filter sums */
    float *W;       /* (M, K) */
    float *bias;    /* (M) */
    int8_t *q;      /* (M, K) */
    float *scale;   /* (M), of q */
    float *offset;  /* (M): bias of INT8, with what `zero` adds to the sum */
    float *pair;    /* (M, K / 4, 2): kept of each four; then the rest */
    uint8_t *place; /* beside it: 0..3 */
    /* Found by calibration; what the layer reads is step * (q - zero). */
    float low,
        high; /* the least and the largest number that it read, 0 included */
    float step;
    int zero;
    /* (K, BLOCK): of each number of a window, the sums of its products with itself
     * and with the others of its block. */
    double *moment;
    struct lab_conv2d conv; /* sizes; KH 0: dense */
};

struct lab_infer {
    const struct lab_plan *plan;
    struct lab_fused fused;
    struct product *products; /* of each layer; M 0: it has none */
    float **value;            /* of each tensor, one row; NULL: not needed */
    int64_t *count;           /* numbers of a row */
    float *window;
    int8_t *window_q;
    double window_step; /* of window_q; NaN: the window holds one */
    int64_t widest;
    bool calibrated;
    lab_infer_int8_fn *int8; /* NULL: the products are made here */
    void *int8_user;
};

/* As fmax, but the first NaN wins. */
static double larger(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

static const struct lab_node *node_of(const struct lab_infer *f, int i)
{
    return &f->plan->nodes[i];
}

/* ---- what a filter sums, in the order of the window ---- */

/* Strides of W: of a filter, and of the numbers that it sums. nchw keeps a filter's
 * numbers together, nhwc and dense its filters. */
static void weight_strides(bool rows, int64_t M, int64_t K, int64_t *m,
                           int64_t *k)
{
    *m = rows ? K : 1;
    *k = rows ? 1 : M;
}

static bool product_shape(const struct lab_plan *plan, int tensor, int64_t *M,
                          int64_t *K, bool *rows)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    const char *dot = strrchr(t->name, '.');
    if (t->role != LAB_TENSOR_PARAM || !dot || strcmp(dot, ".W") != 0)
        return false;
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct lab_node *n = &plan->nodes[i];
        size_t len = strlen(n->id);
        if (!n->op || !is_product(n) || len != (size_t)(dot - t->name) ||
            strncmp(n->id, t->name, len) != 0)
            continue;
        *rows = is(n, "conv2d") && plan->layout != LAB_NHWC;
        *M = t->shape.dim[*rows ? 0 : t->shape.rank - 1];
        *K = t->count / *M;
        return true;
    }
    return false;
}

/* The two of four to keep: bits of a mask. */
static unsigned keep_two(const float *w, int64_t step)
{
    int first = 0;
    int second = -1;
    for (int i = 1; i < 4; i++)
        if (fabsf(w[i * step]) > fabsf(w[first * step]))
            first = i;
    for (int i = 0; i < 4; i++)
        if (i != first &&
            (second < 0 || fabsf(w[i * step]) > fabsf(w[second * step])))
            second = i;
    return 1u << first | 1u << second;
}

int64_t lab_infer_depth(const struct lab_plan *plan, int tensor)
{
    int64_t M;
    int64_t K;
    bool rows;
    return product_shape(plan, tensor, &M, &K, &rows) ? K : 0;
}

/* ---- the weights ---- */

static float *read_named(struct lab_walk *w, const char *node, const char *part,
                         enum lab_status *st)
{
    const struct lab_plan *plan = lab_walk_plan(w);
    char name[256];
    snprintf(name, sizeof(name), "%s.%s", node, part);
    int t = lab_plan_tensor(plan, name);
    if (*st || t < 0)
        return NULL;
    float *out = lab_alloc_array((size_t)plan->tensors[t].count, sizeof(*out));
    *st = out ? lab_walk_read(w, t, false, out)
              : lab_no_memory("a network for inference");
    return out;
}

static bool take_room(struct product *p)
{
    size_t M = (size_t)p->M;
    size_t K = (size_t)p->K;
    p->W = lab_alloc_array(M * K, sizeof(*p->W));
    p->bias = lab_alloc_array(M, sizeof(*p->bias));
    p->q = lab_alloc_array(M * K, sizeof(*p->q));
    p->scale = lab_alloc_array(M, sizeof(*p->scale));
    p->offset = lab_alloc_array(M, sizeof(*p->offset));
    p->moment = lab_alloc_array(K * BLOCK, sizeof(*p->moment));
    p->pair = lab_alloc_array(M * (K / 4 * 2 + K % 4), sizeof(*p->pair));
    p->place = lab_alloc_array(M * (K / 4 * 2) + 1, sizeof(*p->place));
    return p->W && p->bias && p->q && p->scale && p->offset && p->moment &&
           p->pair && p->place;
}

/* Batch norm on its running statistics: y = gamma (x - mean)/sqrt(var + eps) + beta,
 * which is a factor and an offset of a filter. */
static enum lab_status fold(struct lab_walk *w, const struct lab_node *norm,
                            struct product *p)
{
    enum lab_status st = LAB_OK;
    float *gamma = read_named(w, norm->id, "gamma", &st);
    float *beta = read_named(w, norm->id, "beta", &st);
    float *mean = read_named(w, norm->id, "running_mean", &st);
    float *var = read_named(w, norm->id, "running_var", &st);
    double eps = norm->attr[lab_op_key(norm->op, "eps")].f;
    for (int64_t m = 0; m < p->M && !st; m++) {
        double factor = gamma[m] / sqrt(var[m] + eps);
        for (int64_t k = 0; k < p->K; k++)
            p->W[m * p->K + k] = (float)(p->W[m * p->K + k] * factor);
        p->bias[m] = (float)((p->bias[m] - mean[m]) * factor + beta[m]);
    }
    lab_free(gamma);
    lab_free(beta);
    lab_free(mean);
    lab_free(var);
    return st;
}

static void compress(struct product *p)
{
    int64_t rest = p->K % 4;
    for (int64_t m = 0; m < p->M; m++) {
        const float *row = p->W + m * p->K;
        float *pair = p->pair + m * (p->K / 4 * 2 + rest);
        uint8_t *place = p->place + m * (p->K / 4 * 2);
        for (int64_t k = 0; k + 4 <= p->K; k += 4) {
            unsigned keep = keep_two(row + k, 1);
            for (int i = 0; i < 4; i++) {
                if (keep >> i & 1) {
                    *pair++ = row[k + i];
                    *place++ = (uint8_t)i;
                }
            }
        }
        for (int64_t k = p->K - rest; k < p->K; k++)
            *pair++ = row[k];
    }
}

static enum lab_status make_product(struct lab_infer *f, struct lab_walk *w,
                                    int layer)
{
    const struct lab_fused_layer *l = &f->fused.layers[layer];
    const struct lab_node *n = node_of(f, l->node);
    struct product *p = &f->products[layer];
    bool rows = is(n, "conv2d") && f->plan->layout != LAB_NHWC;
    enum lab_status st = LAB_OK;
    int64_t step_m;
    int64_t step_k;
    char name[256];
    snprintf(name, sizeof(name), "%s.W", n->id);
    int W = lab_plan_tensor(f->plan, name);
    if (!product_shape(f->plan, W, &p->M, &p->K, &rows) || !take_room(p))
        return lab_no_memory("a network for inference");
    if (is(n, "conv2d")) {
        struct lab_view x = {.rank = 4};
        struct lab_view y = {.rank = 4};
        const struct lab_call call = {.params = params_of(f->plan, n)};
        memcpy(x.dim, f->plan->tensors[n->in[0]].shape.dim, 4 * sizeof(*x.dim));
        memcpy(y.dim, f->plan->tensors[n->out].shape.dim, 4 * sizeof(*y.dim));
        p->conv = lab_conv2d_of(&call, &x, &y);
    }
    if (is(n, "dense") &&
        f->plan->tensors[n->in[0]].count / f->plan->batch != p->K)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[network.inference-rows] %s (dense): inference serves "
                        "dense layers over one "
                        "row of numbers a sample",
                        n->id);
    float *weights = read_named(w, n->id, "W", &st);
    float *bias = read_named(w, n->id, "b", &st);
    weight_strides(rows, p->M, p->K, &step_m, &step_k);
    for (int64_t m = 0; m < p->M && !st; m++) {
        p->bias[m] = bias ? bias[m] : 0;
        for (int64_t k = 0; k < p->K; k++)
            p->W[m * p->K + k] = weights[m * step_m + k * step_k];
    }
    lab_free(weights);
    lab_free(bias);
    if (!st && l->norm >= 0)
        st = fold(w, node_of(f, l->norm), p);
    if (!st) {
        compress(p);
        f->widest = p->K > f->widest ? p->K : f->widest;
    }
    return st;
}

/* ---- layers ---- */

static bool serves(const struct lab_node *n)
{
    return n->op->unary || is_product(n) || is(n, "add") || is(n, "multiply") ||
           is(n, "max_pool2d") || is(n, "avg_pool2d") || is(n, "flatten");
}

static enum lab_status refuse(const struct lab_node *n)
{
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[network.inference-op] %s (%s): inference serves "
                    "convolutions, dense layers, "
                    "poolings, elementwise functions and sums",
                    n->id, n->op->name);
}

static enum lab_status take_layers(struct lab_infer *f, struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    /* Eliminated by lab_fuse(): no layer of its own. */
    for (int i = 0; i < f->plan->n_nodes; i++)
        if (lab_node_is_layer(node_of(f, i)) && is(node_of(f, i), "concat"))
            return refuse(node_of(f, i));
    for (int i = 0; i < f->fused.n_layers && !st; i++) {
        const struct lab_node *n = node_of(f, f->fused.layers[i].node);
        if (!serves(n))
            return refuse(n);
        if (is_product(n))
            st = make_product(f, w, i);
    }
    return st;
}

static enum lab_status take_values(struct lab_infer *f)
{
    const struct lab_plan *plan = f->plan;
    bool room = true;
    f->count[plan->x] = plan->tensors[plan->x].count / plan->batch;
    f->value[plan->x] =
        lab_alloc_array((size_t)f->count[plan->x], sizeof(float));
    room = f->value[plan->x] != NULL;
    for (int i = 0; i < f->fused.n_layers && room; i++) {
        const struct lab_node *n = node_of(f, f->fused.layers[i].node);
        int t = f->fused.layers[i].out;
        for (int k = 0; k < n->n_in; k++)
            if (!f->value[f->fused.source[n->in[k]]])
                return lab_fail(LAB_E_UNSUPPORTED,
                                "[network.inference-inputs] %s (%s): inference "
                                "takes a network that reads "
                                "x alone",
                                n->id, n->op->name);
        f->count[t] = plan->tensors[t].count / plan->batch;
        f->value[t] = lab_alloc_array((size_t)f->count[t], sizeof(float));
        room = f->value[t] != NULL;
    }
    f->window = lab_alloc_array((size_t)f->widest + 1, sizeof(*f->window));
    f->window_q = lab_alloc_array((size_t)f->widest + 1, sizeof(*f->window_q));
    return room && f->window && f->window_q
               ? LAB_OK
               : lab_no_memory("a network for inference");
}

enum lab_status lab_infer_new(struct lab_infer **out, struct lab_walk *w)
{
    const struct lab_plan *plan = lab_walk_plan(w);
    size_t tensors = (size_t)plan->n_tensors;
    struct lab_infer *f = lab_alloc(sizeof(*f));
    if (!f)
        return lab_no_memory("a network for inference");
    *f = (struct lab_infer){.plan = plan};
    enum lab_status st =
        plan->x < 0 || plan->tensors[plan->x].dtype != LAB_F32
            ? lab_fail(LAB_E_UNSUPPORTED,
                       "[network.inference-numbers] inference takes a network "
                       "that reads numbers as x")
            : lab_fuse(&f->fused, plan);
    if (!st) {
        f->products = lab_alloc_array((size_t)f->fused.n_layers + 1,
                                      sizeof(*f->products));
        f->value = lab_alloc_array(tensors, sizeof(*f->value));
        f->count = lab_alloc_array(tensors, sizeof(*f->count));
        if (!f->products || !f->value || !f->count)
            st = lab_no_memory("a network for inference");
    }
    if (!st)
        st = take_layers(f, w);
    if (!st)
        st = take_values(f);
    if (st)
        lab_infer_free(f);
    else
        *out = f;
    return st;
}

void lab_infer_free(struct lab_infer *f)
{
    if (!f)
        return;
    for (int i = 0; i < f->fused.n_layers && f->products; i++) {
        struct product *p = &f->products[i];
        void *const parts[] = {p->W,      p->bias,   p->q,    p->scale,
                               p->offset, p->moment, p->pair, p->place};
        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
            lab_free(parts[k]);
    }
    for (int t = 0; t < f->plan->n_tensors && f->value; t++)
        lab_free(f->value[t]);
    lab_free(f->products);
    lab_free(f->value);
    lab_free(f->count);
    lab_free(f->window);
    lab_free(f->window_q);
    lab_fused_release(&f->fused);
    lab_free(f);
}

void lab_infer_get_facts(const struct lab_infer *f, struct lab_infer_facts *out)
{
    *out = (struct lab_infer_facts){.fused = f->fused};
    for (int i = 0; i < f->fused.n_layers; i++) {
        const struct product *p = &f->products[i];
        int64_t all = p->M * p->K;
        int64_t pairs = p->M * (p->K / 4 * 2);
        int64_t biases = p->M * (int64_t)sizeof(float);
        int64_t kept = pairs + p->M * (p->K % 4);
        out->weights += all;
        out->kept += kept;
        out->bytes[LAB_INFER_FP32] += 4 * all + biases;
        /* a weight is a byte, and a filter has a scale */
        out->bytes[LAB_INFER_INT8] += all + 2 * biases;
        /* two bits for the place of each */
        out->bytes[LAB_INFER_SPARSE] += 4 * kept + (2 * pairs + 7) / 8 + biases;
    }
}

/* ---- running ---- */

/* What the window at `place` of the output reads, in the order of W's rows. */
static void gather(const struct lab_conv2d *s, const float *x, int64_t place,
                   int64_t group, float *out)
{
    const int64_t parts = s->KH * s->KW;
    for (int64_t k = 0; k < parts; k++) {
        int64_t h = place / s->y.W * s->win.stride[0] - s->win.pad[0] +
                    k / s->KW * s->dilation[0];
        int64_t w = place % s->y.W * s->win.stride[1] - s->win.pad[1] +
                    k % s->KW * s->dilation[1];
        bool inside = h >= 0 && h < s->x.H && w >= 0 && w < s->x.W;
        int64_t from = group * s->C * s->x.sc + h * s->x.sh + w * s->x.sw;
        for (int64_t c = 0; c < s->C; c++)
            out[s->win.nhwc ? k * s->C + c : c * parts + k] =
                inside ? x[from + c * s->x.sc] : 0;
    }
}

static double dot(const struct product *p, int64_t m, const float *x)
{
    const float *row = p->W + m * p->K;
    float sum[8] = {0};
    int64_t k = 0;
    for (; k + 8 <= p->K; k += 8)
        for (int i = 0; i < 8; i++)
            sum[i] += row[k + i] * x[k + i];
    for (; k < p->K; k++)
        sum[0] += row[k] * x[k];
    return (double)sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] +
           sum[6] + sum[7];
}

/* Of `step` and p->scale; 32 bits hold 133,144 products of 127 and 127. */
static double dot_int8(const struct product *p, int64_t m, const int8_t *x,
                       double step)
{
    enum { PART = 65536 };
    const int8_t *row = p->q + m * p->K;
    int64_t sum = 0;
    for (int64_t from = 0; from < p->K; from += PART) {
        int64_t end = p->K - from < PART ? p->K : from + PART;
        int32_t part = 0;
        for (int64_t k = from; k < end; k++)
            part += row[k] * x[k];
        sum += part;
    }
    return (double)sum * p->scale[m] * step;
}

/* Half of the products; each kept weight finds its number by two bits. */
static double dot_sparse(const struct product *p, int64_t m, const float *x)
{
    int64_t pairs = p->K / 4 * 2;
    const float *pair = p->pair + m * (pairs + p->K % 4);
    const uint8_t *place = p->place + m * pairs;
    float sum[2] = {0, 0};
    for (int64_t k = 0; k < pairs; k += 2) {
        sum[0] += pair[k] * x[2 * k + place[k]];
        sum[1] += pair[k + 1] * x[2 * k + place[k + 1]];
    }
    for (int64_t k = 0; k < p->K % 4; k++)
        sum[0] += pair[pairs + k] * x[2 * pairs + k];
    return (double)sum[0] + sum[1];
}

static int8_t to_byte(float x, float step, int zero)
{
    const float whole =
        3 << 22; /* a sum with it has no fraction: rounded to even */
    const float v = x / step + (float)zero;
    const float most = v < 127 ? v : 127; /* of NaN as well */
    return (int8_t)((most > -127 ? most : -127) + whole - whole);
}

static void to_int8(struct lab_infer *f, const struct product *p,
                    const float *x)
{
    f->window_step = p->step;
    for (int64_t k = 0; k < p->K; k++) {
        if (isnan(x[k]))
            f->window_step = NAN;
        f->window_q[k] = to_byte(x[k], p->step, p->zero);
    }
}

/* Activation and sum behind a layer, in place. */
static float finish(const struct lab_infer *f, const struct lab_fused_layer *l,
                    int64_t at, double v)
{
    if (l->sum >= 0)
        v += f->value[l->other][at];
    if (l->activation >= 0) {
        const struct lab_node *n = node_of(f, l->activation);
        const struct lab_unary *u = &n->op->unary[0];
        const struct lab_key_def *key = n->op->keys;
        if (key && key->type == LAB_KEY_CHOICE)
            u = &n->op->unary[n->attr[0].choice];
        v = u->value(v, params_of(f->plan, n));
    }
    return (float)v;
}

/* All filters of a layer, and of those that were fused with it, at one place. */
static void products_at(struct lab_infer *f, enum lab_infer_form form,
                        int layer, int64_t place)
{
    const float *x = f->value[f->fused.layers[layer].in];
    int64_t group = -1;
    for (int k = layer; k >= 0; k = f->fused.layers[k].next) {
        const struct lab_fused_layer *l = &f->fused.layers[k];
        struct product *p = &f->products[k];
        const struct lab_conv2d *s = &p->conv;
        float *y = f->value[l->out];
        const float *window = s->KH ? f->window : x;
        for (int64_t m = 0; m < p->M; m++) {
            if (s->KH && m / s->M != group) {
                group = m / s->M;
                gather(s, x, place, group, f->window);
            }
            if (form == LAB_INFER_INT8 && (m == 0 || (s->KH && m % s->M == 0)))
                to_int8(f, p, window);
            double v = form == LAB_INFER_INT8
                           ? dot_int8(p, m, f->window_q, f->window_step)
                       : form == LAB_INFER_SPARSE ? dot_sparse(p, m, window)
                                                  : dot(p, m, window);
            int64_t at = s->KH ? m * s->y.sc + place / s->y.W * s->y.sh +
                                     place % s->y.W * s->y.sw
                               : m;
            y[at] = finish(
                f, l, at,
                v + (form == LAB_INFER_INT8 ? p->offset[m] : p->bias[m]));
        }
        if (s->KH && s->groups > 1)
            group = -1;
    }
}

/* ---- products of 8 bits elsewhere ---- */

/* A layer's filters of one group as a product: rows of A are the windows of all
 * places. */
struct elsewhere {
    int64_t places;
    int64_t words;
    int64_t filters;
    int32_t *a;
    int32_t *w;
    float *scale;
    float *c;
    bool *broken; /* of each place: its window has a NaN */
};

static bool take_elsewhere(struct elsewhere *e)
{
    size_t places = (size_t)e->places;
    size_t words = (size_t)e->words;
    size_t filters = (size_t)e->filters;
    e->a = lab_alloc_array(places * words, sizeof(*e->a));
    e->w = lab_alloc_array(filters * words, sizeof(*e->w));
    e->scale = lab_alloc_array(filters, sizeof(*e->scale));
    e->c = lab_alloc_array(places * filters, sizeof(*e->c));
    e->broken = lab_alloc_array(places, sizeof(*e->broken));
    return e->a && e->w && e->scale && e->c && e->broken;
}

static void drop_elsewhere(struct elsewhere *e)
{
    lab_free(e->a);
    lab_free(e->w);
    lab_free(e->scale);
    lab_free(e->c);
    lab_free(e->broken);
}

/* lab_alloc_array() gives zeros: what is behind K. */
static enum lab_status group_elsewhere(struct lab_infer *f, struct elsewhere *e,
                                       int layer, int64_t group)
{
    const struct lab_fused_layer *l = &f->fused.layers[layer];
    const struct product *p = &f->products[layer];
    const struct lab_conv2d *s = &p->conv;
    const float *x = f->value[l->in];
    for (int64_t place = 0; place < e->places; place++) {
        if (s->KH)
            gather(s, x, place, group, f->window);
        to_int8(f, p, s->KH ? f->window : x);
        e->broken[place] = isnan(f->window_step);
        memcpy(e->a + place * e->words, f->window_q, (size_t)p->K);
    }
    for (int64_t m = 0; m < e->filters; m++) {
        int64_t filter = group * e->filters + m;
        memcpy(e->w + m * e->words, p->q + filter * p->K, (size_t)p->K);
        e->scale[m] = (float)((double)p->scale[filter] * p->step);
    }
    const struct lab_gemm_int8 g = {.a = e->a,
                                    .w = e->w,
                                    .scale = e->scale,
                                    .c = e->c,
                                    .M = e->places,
                                    .N = e->filters,
                                    .words = e->words};
    enum lab_status st = f->int8(f->int8_user, &g);
    for (int64_t i = 0; i < e->places * e->filters && !st; i++) {
        int64_t place = i / e->filters;
        int64_t m = group * e->filters + i % e->filters;
        int64_t at = s->KH ? m * s->y.sc + place / s->y.W * s->y.sh +
                                 place % s->y.W * s->y.sw
                           : m;
        double v = e->broken[place] ? (double)NAN : e->c[i];
        f->value[l->out][at] = finish(f, l, at, v + p->offset[m]);
    }
    return st;
}

static enum lab_status products_elsewhere(struct lab_infer *f, int layer)
{
    enum lab_status st = LAB_OK;
    for (int k = layer; k >= 0 && !st; k = f->fused.layers[k].next) {
        const struct product *p = &f->products[k];
        const struct lab_conv2d *s = &p->conv;
        struct elsewhere e = {.places = s->KH ? s->y.H * s->y.W : 1,
                              .words = (p->K + 3) / 4,
                              .filters = s->KH ? s->M : p->M};
        if (p->K > LAB_GEMM_INT8_DEPTH)
            return lab_fail(LAB_E_RANGE,
                            "[network.int8-depth] %s: a filter sums %lld "
                            "products of 8 bits, 32 bits hold %d",
                            node_of(f, f->fused.layers[k].node)->id,
                            (long long)p->K, LAB_GEMM_INT8_DEPTH);
        st = take_elsewhere(&e) ? LAB_OK : lab_no_memory("products of 8 bits");
        for (int64_t g = 0; g < p->M / e.filters && !st; g++)
            st = group_elsewhere(f, &e, k, g);
        drop_elsewhere(&e);
    }
    return st;
}

void lab_infer_int8_by(struct lab_infer *f, lab_infer_int8_fn *run, void *user)
{
    f->int8 = run;
    f->int8_user = user;
}

static void pool(const struct lab_infer *f, const struct lab_fused_layer *l)
{
    const struct lab_node *n = node_of(f, l->node);
    const struct lab_pool_params *p = params_of(f->plan, n);
    const struct lab_window *win = &p->window;
    struct lab_image x =
        lab_image_of(f->plan->tensors[n->in[0]].shape.dim, win->nhwc);
    struct lab_image y =
        lab_image_of(f->plan->tensors[n->out].shape.dim, win->nhwc);
    bool largest = is(n, "max_pool2d");
    for (int64_t i = 0; i < f->count[l->out]; i++) {
        int64_t c = i / y.sc % y.C;
        double best = -INFINITY;
        double sum = 0;
        int64_t inside = 0;
        for (int64_t k = 0; k < win->size[0] * win->size[1]; k++) {
            int64_t h = i / y.sh % y.H * win->stride[0] - win->pad[0] +
                        k / win->size[1];
            int64_t w = i / y.sw % y.W * win->stride[1] - win->pad[1] +
                        k % win->size[1];
            if (h < 0 || h >= x.H || w < 0 || w >= x.W)
                continue;
            double v = f->value[l->in][c * x.sc + h * x.sh + w * x.sw];
            best = larger(best, v);
            sum += v;
            inside++;
        }
        f->value[l->out][i] = (float)(largest ? best : sum / (double)inside);
    }
}

/* Everything that is no product and no pooling: element by element. */
static void elementwise(const struct lab_infer *f,
                        const struct lab_fused_layer *l)
{
    const struct lab_node *n = node_of(f, l->node);
    const float *a = f->value[l->in];
    float *y = f->value[l->out];
    if (is(n, "flatten")) { /* nhwc, channel by channel */
        struct lab_image x =
            lab_image_of(f->plan->tensors[n->in[0]].shape.dim, true);
        for (int64_t i = 0; i < f->count[l->out]; i++)
            y[i] = a[i % (x.H * x.W) * x.C + i / (x.H * x.W)];
        return;
    }
    struct lab_fused_layer one = {.sum = -1, .activation = l->node};
    const float *b = n->n_in > 1 ? f->value[f->fused.source[n->in[1]]] : NULL;
    for (int64_t i = 0; i < f->count[l->out]; i++)
        y[i] = !b                  ? finish(f, &one, i, a[i])
               : is(n, "multiply") ? a[i] * b[i]
                                   : a[i] + b[i];
}

enum lab_status lab_infer_row(struct lab_infer *f, enum lab_infer_form form,
                              const float *x, const float **scores,
                              int64_t *classes)
{
    int last = f->fused.source[f->plan->out];
    enum lab_status st = LAB_OK;
    if (form == LAB_INFER_INT8 && !f->calibrated)
        return lab_fail(LAB_E_STATE,
                        "[network.calibration-missing] INT8 needs calibration");
    memcpy(f->value[f->plan->x], x, (size_t)f->count[f->plan->x] * sizeof(*x));
    for (int i = 0; i < f->fused.n_layers && !st; i++) {
        const struct lab_fused_layer *l = &f->fused.layers[i];
        const struct lab_node *n = node_of(f, l->node);
        const struct lab_conv2d *s = &f->products[i].conv;
        if (l->member)
            continue;
        if (f->products[i].M > 0 && form == LAB_INFER_INT8 && f->int8) {
            st = products_elsewhere(f, i);
        } else if (f->products[i].M > 0) {
            int64_t places = s->KH ? s->y.H * s->y.W : 1;
            for (int64_t place = 0; place < places; place++)
                products_at(f, form, i, place);
        } else if (is(n, "max_pool2d") || is(n, "avg_pool2d")) {
            pool(f, l);
        } else {
            elementwise(f, l);
        }
    }
    *scores = f->value[last];
    *classes = f->count[last];
    return st;
}

/* ---- calibration ---- */

/* Of a range so many steps are tried: the first ones take a little more of it, as
 * some grid may hold all numbers exactly (those of pixels), the others leave its few
 * largest numbers out for a finer step. */
enum { EXACT_TRIES = 32, TRIES = 48 };

static float step_of(float range, int whole, int i)
{
    return i < EXACT_TRIES ? range / (float)(whole - i)
                           : range / (float)whole *
                                 (1 - .02F * (float)(i - EXACT_TRIES + 1));
}

/* Of what a layer reads. -127 is the least number, and 0 a whole number of -127..127:
 * padding holds it. A step too fine for both leaves the least numbers out. */
static void grid_of(const struct product *p, int i, float *step, int *zero)
{
    float range = p->high - p->low;
    *step = 1;
    *zero = 0;
    if (!isfinite(range)) {
        *step = NAN;
    } else if (range > 0) {
        *step = step_of(range, p->low < 0 ? 253 : 254, i);
        *zero = (int)lrintf(fminf(127, -127 - p->low / *step));
    }
}

static double square_error(float x, float step, int zero)
{
    double off = (double)(to_byte(x, step, zero) - zero) * step - x;
    return off * off;
}

/* The scale of a filter is that of the least error of its sums: of each weight's, times
 * the square of what it is multiplied by. */
static float best_scale(const struct product *p, int64_t m)
{
    const float *row = p->W + m * p->K;
    float most = 0;
    float best = 1;
    double least = INFINITY;
    for (int64_t k = 0; k < p->K; k++)
        most = (float)larger(most, fabsf(row[k]));
    if (!isfinite(most))
        return NAN;
    for (int i = 0; i < TRIES && most > 0; i++) {
        float scale = step_of(most, 127, i);
        double off = 0;
        for (int64_t k = 0; k < p->K; k++)
            off += square_error(row[k], scale, 0) *
                   p->moment[k * BLOCK + k % BLOCK];
        if (i == 0 || off < least) {
            least = off;
            best = scale;
        }
    }
    return best;
}

static void quantize(struct product *p)
{
    for (int64_t m = 0; m < p->M; m++) {
        const float *row = p->W + m * p->K;
        int64_t sum = 0;
        p->scale[m] = best_scale(p, m);
        for (int64_t k = 0; k < p->K; k++) {
            int8_t q = isnan(p->scale[m]) ? 0 : to_byte(row[k], p->scale[m], 0);
            p->q[m * p->K + k] = q;
            sum += q;
        }
        p->offset[m] =
            (float)(p->bias[m] - (double)sum * p->zero * p->scale[m] * p->step);
    }
}

static void see_window(struct product *p, const float *window)
{
    for (int64_t k = 0; k < p->K; k++) {
        double *row = p->moment + k * BLOCK;
        const float *block = window + k / BLOCK * BLOCK;
        const double v = window[k];
        for (int64_t i = 0; v != 0 && i <= k % BLOCK; i++)
            row[i] += v * block[i];
    }
}

/* The range of what a layer reads, and the products of what a window holds. */
static void see_range(struct lab_infer *f, int layer)
{
    struct product *p = &f->products[layer];
    const float *x = f->value[f->fused.layers[layer].in];
    const struct lab_conv2d *s = &p->conv;
    int64_t places = s->KH ? s->y.H * s->y.W : 1;
    int64_t groups = s->KH ? p->M / s->M : 1;
    for (int64_t k = 0; k < f->count[f->fused.layers[layer].in]; k++) {
        p->low = (float)-larger(-p->low, -x[k]);
        p->high = (float)larger(p->high, x[k]);
    }
    for (int64_t i = 0; i < places * groups; i++) {
        if (s->KH)
            gather(s, x, i / groups, i % groups, f->window);
        const float *window = s->KH ? f->window : x;
        see_window(p, window);
    }
}

static void see_errors(const struct lab_infer *f, int layer, double *off)
{
    const float *x = f->value[f->fused.layers[layer].in];
    int64_t n = f->count[f->fused.layers[layer].in];
    for (int i = 0; i < TRIES; i++) {
        float step;
        int zero;
        grid_of(&f->products[layer], i, &step, &zero);
        for (int64_t k = 0; k < n; k++)
            off[i] += square_error(x[k], step, zero);
    }
}

/* The rows once for the ranges, once for the errors of each step. */
static void see_rows(struct lab_infer *f, const float *x, int64_t rows,
                     double *off)
{
    const float *scores;
    int64_t classes;
    for (int64_t r = 0; r < rows; r++) {
        lab_infer_row(f, LAB_INFER_FP32, x + r * f->count[f->plan->x], &scores,
                      &classes);
        for (int i = 0; i < f->fused.n_layers; i++) {
            if (f->products[i].M > 0 && off)
                see_errors(f, i, off + (int64_t)i * TRIES);
            else if (f->products[i].M > 0)
                see_range(f, i);
        }
    }
}

enum lab_status lab_infer_calibrate(struct lab_infer *f, const float *x,
                                    int64_t rows)
{
    if (rows < 1)
        return lab_fail(
            LAB_E_USAGE,
            "[network.calibration] calibration needs rows; there are none");
    double *off =
        lab_alloc_array((size_t)f->fused.n_layers * TRIES + 1, sizeof(*off));
    if (!off)
        return lab_no_memory("calibration");
    for (int i = 0; i < f->fused.n_layers; i++) {
        struct product *p = &f->products[i];
        p->low = p->high = 0;
        for (int64_t k = 0; k < p->K; k++)
            memset(p->moment + k * BLOCK, 0, BLOCK * sizeof(*p->moment));
    }
    see_rows(f, x, rows, NULL);
    see_rows(f, x, rows, off);
    for (int i = 0; i < f->fused.n_layers; i++) {
        struct product *p = &f->products[i];
        const double *of_layer = off + (int64_t)i * TRIES;
        int best = 0;
        for (int k = 1; k < TRIES && p->M > 0; k++)
            best = of_layer[k] < of_layer[best] ? k : best;
        grid_of(p, best, &p->step, &p->zero);
        quantize(p);
    }
    lab_free(off);
    f->calibrated = true;
    return LAB_OK;
}

/* ---- pruning ---- */

/* The inverse, in place, of a symmetric positive definite matrix (n, n). */
static void invert(double *a, int64_t n)
{
    for (int64_t p = 0; p < n; p++) {
        double *row = a + p * n;
        double pivot = 1 / row[p];
        row[p] = 1;
        for (int64_t k = 0; k < n; k++)
            row[k] *= pivot;
        for (int64_t i = 0; i < n; i++) {
            double *other = a + i * n;
            double factor = i == p ? 0 : other[p];
            if (factor == 0)
                continue;
            other[p] = 0;
            for (int64_t k = 0; k < n; k++)
                other[k] -= factor * row[k];
        }
    }
}

/* Of the weights left, the one that costs least: w^2 / inverse[k][k]. */
static int64_t cheapest(const double *w, const double *inverse, int64_t n,
                        const unsigned char *kept, const unsigned char *gone)
{
    int64_t best = -1;
    double least = NAN;
    for (int64_t k = 0; k < n / 4 * 4; k++) {
        double cost = w[k] * w[k] / inverse[k * n + k];
        if (kept[k] && gone[k / 4] < 2 && (best < 0 || cost <= least)) {
            best = k;
            least = cost;
        }
    }
    return best;
}

/* One filter's weights of one block; `kept` has room for BLOCK. When a weight becomes 0,
 * the others change so that the sums, over all windows that were seen, change least: by
 * the inverse of the moments of what is left, from which the weight's row and column are
 * taken. */
static void prune_block(double *w, unsigned char *kept, double *inverse,
                        int64_t n)
{
    unsigned char gone[BLOCK / 4] = {0};
    memset(kept, 1, BLOCK);
    for (int64_t left = n / 4 * 2; left > 0; left--) {
        int64_t at = cheapest(w, inverse, n, kept, gone);
        const double *row = inverse + at * n;
        double by = w[at] / row[at];
        for (int64_t k = 0; k < n; k++)
            w[k] -= kept[k] ? by * row[k] : 0;
        for (int64_t i = 0; i < n; i++) {
            double factor = inverse[i * n + at] / row[at];
            if (i == at || !kept[i] || factor == 0)
                continue;
            for (int64_t k = 0; k < n; k++)
                inverse[i * n + k] -= factor * row[k];
        }
        kept[at] = 0;
        w[at] = 0;
        gone[at / 4]++;
    }
}

/* Moments of a block, both triangles, and on the diagonal DAMPING times their mean: the
 * windows that were seen are a sample, and weights that are the best for them alone
 * grow large (docs/measurements.md has what other values give). Without windows, or where
 * they overflow, all weights are by themselves: the two of smallest magnitude go. */
enum { DAMPING = 5 };

static void moments_of(const struct product *p, int64_t from, int64_t n,
                       double *out)
{
    double mean = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k <= i; k++)
            out[i * n + k] = out[k * n + i] = p->moment[(from + i) * BLOCK + k];
        mean += out[i * n + i] / (double)n;
    }
    bool seen = mean > 0 && isfinite(mean);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < n && !seen; k++)
            out[i * n + k] = 0;
        out[i * n + i] += seen ? DAMPING * mean : 1;
    }
}

static int layer_of(const struct lab_infer *f, int tensor)
{
    const char *name = f->plan->tensors[tensor].name;
    for (int i = 0; i < f->fused.n_layers; i++) {
        const char *id = node_of(f, f->fused.layers[i].node)->id;
        size_t len = strlen(id);
        if (f->products[i].M > 0 && strncmp(name, id, len) == 0 &&
            strcmp(name + len, ".W") == 0)
            return i;
    }
    return -1;
}

enum lab_status lab_infer_prune(const struct lab_infer *f, int tensor,
                                float *values, unsigned char *mask)
{
    int64_t M;
    int64_t K;
    int64_t step_m;
    int64_t step_k;
    bool rows;
    int layer = layer_of(f, tensor);
    if (layer < 0 || !product_shape(f->plan, tensor, &M, &K, &rows) || K < 4)
        return lab_fail(LAB_E_RANGE,
                        "[network.not-pruned] %s is no weight of sums of four "
                        "numbers or more",
                        f->plan->tensors[tensor].name);
    double *inverse = lab_alloc_array(BLOCK * BLOCK, sizeof(*inverse));
    double *own = lab_alloc_array(BLOCK * BLOCK, sizeof(*own));
    weight_strides(rows, M, K, &step_m, &step_k);
    for (int64_t from = 0; from < K && inverse && own; from += BLOCK) {
        int64_t n = K - from < BLOCK ? K - from : BLOCK;
        moments_of(&f->products[layer], from, n, inverse);
        invert(inverse, n);
        for (int64_t m = 0; m < M; m++) {
            double w[BLOCK];
            unsigned char kept[BLOCK];
            int64_t at = m * step_m + from * step_k;
            memcpy(own, inverse, (size_t)(n * n) * sizeof(*own));
            for (int64_t k = 0; k < n; k++)
                w[k] = values[at + k * step_k];
            prune_block(w, kept, own, n);
            for (int64_t k = 0; k < n; k++) {
                values[at + k * step_k] = (float)w[k];
                mask[at + k * step_k] = kept[k];
            }
        }
    }
    bool room = inverse && own;
    lab_free(own);
    lab_free(inverse);
    return room ? LAB_OK : lab_no_memory("pruned weights");
}

double lab_infer_difference(const float *a, const float *b, int64_t n)
{
    double most = 0;
    double off = 0;
    for (int64_t i = 0; i < n; i++) {
        most = larger(most, fabs(a[i]));
        off = larger(off, fabs((double)a[i] - b[i]));
    }
    return most > 0 || isnan(most) ? off / most : off;
}
