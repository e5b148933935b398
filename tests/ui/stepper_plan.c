/* The hand-made plans of the stepper's fixture. */
#include "stepper_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 40, STEPS = 40 };

static const struct lab_part_axis places[] = {{"probs", 2, 0}, {"probs", 1, 0}};
static const struct lab_op_def ops[] = {
    {.name = "dense"},
    {.name = "relu"},
    {.name = "scaled_dot_attention", .axes = places, .n_axes = 2},
    {.name = "sgd"},
    {.name = "softmax_cross_entropy"}};

static const struct lab_variant variants[] = {
    {.name = "naive",
     .source = "kernels/dense/dense_ref.c",
     .symbol = "dense_matmul_fwd"},
    {.name = "tiled", .source = "kernels/dense/dense.cu", .symbol = "tiled"},
    {.name = "fused", .source = "kernels/dense/dense.cu", .symbol = "fused"}};

const struct lab_variant *plan_variant(int k)
{
    return &variants[k];
}

static char *copy(const char *s)
{
    return strcpy(malloc(strlen(s) + 1), s);
}

int plan_add_tensor(struct lab_plan *p, const char *name, int role, int rank,
                    const int64_t *dim)
{
    struct lab_tensor *t = &p->tensors[p->n_tensors];
    memset(t, 0, sizeof(*t));
    t->name = copy(name);
    t->shape = lab_shape_make(rank, dim);
    t->count = 1;
    for (int i = 0; i < rank; i++)
        t->count *= dim[i];
    t->role = (enum lab_tensor_role)role;
    t->gradient_of = -1;
    t->alias_of = -1;
    lab_names_add(&p->names[LAB_NAME_TENSOR], t->name, p->n_tensors);
    return p->n_tensors++;
}

int plan_add_node(struct lab_plan *p, const char *id, int op)
{
    p->nodes[p->n_nodes] = (struct lab_node){.id = copy(id), .op = &ops[op]};
    lab_names_add(&p->names[LAB_NAME_NODE], p->nodes[p->n_nodes].id,
                  p->n_nodes);
    return p->n_nodes++;
}

static int find(const struct lab_plan *p, const char *name, size_t n)
{
    for (int i = 0; i < p->n_tensors; i++)
        if (strlen(p->tensors[i].name) == n &&
            strncmp(p->tensors[i].name, name, n) == 0)
            return i;
    fprintf(stderr, "fixture: no tensor %.*s\n", (int)n, name);
    abort();
}

/* "x fc1.W" to ids. */
static int ids(const struct lab_plan *p, const char *names, int *out)
{
    int n = 0;
    while (*names) {
        size_t len = strcspn(names, " ");
        out[n++] = find(p, names, len);
        names += len;
        names += *names == ' ';
    }
    return n;
}

void plan_add_step(struct lab_plan *p, const char *name, int node,
                   enum lab_phase phase, const char *in, const char *out,
                   const char *formula, double flop)
{
    struct lab_step *s = &p->steps[p->n_steps++];
    memset(s, 0, sizeof(*s));
    s->name = copy(name);
    s->node = node;
    s->op = p->nodes[node].op;
    s->phase = phase;
    s->n_in = ids(p, in, s->in);
    s->n_out = ids(p, out, s->out);
    s->formula = copy(formula);
    s->flop = flop;
    s->read = (1U << s->n_in) - 1;
    s->bytes = 0;
    for (int i = 0; i < s->n_in + s->n_out; i++)
        s->bytes += lab_step_tensor_bytes(p, s, i);
}

static struct lab_plan *plan_empty(int tensors, int steps, int nodes)
{
    struct lab_plan *p = calloc(1, sizeof(*p));
    p->tensors = calloc((size_t)tensors, sizeof(*p->tensors));
    p->steps = calloc((size_t)steps, sizeof(*p->steps));
    p->nodes = calloc((size_t)nodes, sizeof(*p->nodes));
    return p;
}

static int64_t D(int64_t *dim, int64_t a, int64_t b)
{
    dim[0] = a;
    dim[1] = b;
    return 0;
}

static void small_tensors(struct lab_plan *p)
{
    int64_t d[4] = {2, 3, 4, 4};
    static const struct {
        const char *name;
        enum lab_tensor_role role;
        int rank;
        int64_t rows;
        int64_t cols;
    } rows[] = {
        {"x", LAB_TENSOR_DATA, 2, 4, 64},
        {"y", LAB_TENSOR_DATA, 1, 4, 0},
        {"fc1.W", LAB_TENSOR_PARAM, 2, 64, 16},
        {"fc1.b", LAB_TENSOR_PARAM, 1, 16, 0},
        {"fc1.xW", LAB_TENSOR_ACTIVATION, 2, 4, 16},
        {"fc1.out", LAB_TENSOR_ACTIVATION, 2, 4, 16},
        {"relu1.out", LAB_TENSOR_ACTIVATION, 2, 4, 16},
        {"fc2.W", LAB_TENSOR_PARAM, 2, 16, 3},
        {"fc2.b", LAB_TENSOR_PARAM, 1, 3, 0},
        {"fc2.xW", LAB_TENSOR_ACTIVATION, 2, 4, 3},
        {"fc2.out", LAB_TENSOR_ACTIVATION, 2, 4, 3},
        {"loss.probs", LAB_TENSOR_ACTIVATION, 2, 4, 3},
        {"loss", LAB_TENSOR_ACTIVATION, 0, 0, 0},
        {"fc2.out.grad", LAB_TENSOR_GRADIENT, 2, 4, 3},
        {"fc2.W.grad", LAB_TENSOR_GRADIENT, 2, 16, 3},
        {"fc2.b.grad", LAB_TENSOR_GRADIENT, 1, 3, 0},
        {"fc1.out.grad", LAB_TENSOR_GRADIENT, 2, 4, 16},
        {"fc1.W.grad", LAB_TENSOR_GRADIENT, 2, 64, 16},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        D(d, rows[i].rows, rows[i].cols);
        plan_add_tensor(p, rows[i].name, (int)rows[i].role, rows[i].rank, d);
    }
    D(d, 2, 3);
    plan_add_tensor(p, "block1.attn.probs", LAB_TENSOR_ACTIVATION, 4, d);
    p->tensors[find(p, "fc2.W.grad", 10)].gradient_of = find(p, "fc2.W", 5);
    p->tensors[find(p, "fc1.W.grad", 10)].gradient_of = find(p, "fc1.W", 5);
}

/* A node's inputs and output are those of its forward steps. */
static void join_nodes(struct lab_plan *p)
{
    for (int i = 0; i < p->n_tensors; i++)
        if (p->tensors[i].role == LAB_TENSOR_DATA)
            p->tensors[i].node = -1;
    for (int i = 0; i < p->n_steps && p->steps[i].phase <= LAB_LOSS; i++) {
        struct lab_node *n = &p->nodes[p->steps[i].node];
        if (n->n_in == 0)
            n->in[n->n_in++] = p->steps[i].in[0];
        n->out = p->steps[i].out[0];
        p->tensors[n->out].node = p->steps[i].node;
    }
}

struct lab_plan *plan_small(void)
{
    struct lab_plan *p = plan_empty(TENSORS, STEPS, 8);
    small_tensors(p);
    int fc1 = plan_add_node(p, "fc1", 0);
    int relu = plan_add_node(p, "relu1", 1);
    int attn = plan_add_node(p, "block1.attn", 2);
    int fc2 = plan_add_node(p, "fc2", 0);
    int loss = plan_add_node(p, "loss", 4);
    p->loss_node = loss;
    p->tensors[find(p, "block1.attn.probs", 17)].node = attn;
    plan_add_step(p, "fc1.matmul", fc1, LAB_FORWARD, "x fc1.W", "fc1.xW",
                  "fc1.xW[n,m] = sum_k x[n,k] * fc1.W[k,m]", 8192);
    p->steps[0].source = copy("$o0[n,m] = sum_k $i0[n,k] * $i1[k,m]");
    plan_add_step(p, "fc1.bias", fc1, LAB_FORWARD, "fc1.xW fc1.b", "fc1.out",
                  "fc1.out[n,m] = fc1.xW[n,m] + fc1.b[m]", 64);
    plan_add_step(p, "relu1.relu", relu, LAB_FORWARD, "fc1.out", "relu1.out",
                  "relu1.out = max(0, fc1.out)", 64);
    plan_add_step(p, "block1.attn.softmax", attn, LAB_FORWARD, "relu1.out",
                  "block1.attn.probs", "probs = softmax(scores)", 480);
    plan_add_step(p, "block1.attn.context", attn, LAB_FORWARD,
                  "block1.attn.probs", "relu1.out", "ctx = probs v", 96);
    plan_add_step(p, "fc2.matmul", fc2, LAB_FORWARD, "relu1.out fc2.W",
                  "fc2.xW", "fc2.xW[n,m] = sum_k relu1.out[n,k] * fc2.W[k,m]",
                  384);
    plan_add_step(p, "fc2.bias", fc2, LAB_FORWARD, "fc2.xW fc2.b", "fc2.out",
                  "fc2.out[n,m] = fc2.xW[n,m] + fc2.b[m]", 12);
    plan_add_step(p, "loss.sample", loss, LAB_LOSS, "fc2.out y", "loss.probs",
                  "loss.sample[n] = -log softmax(fc2.out)[n,y[n]]", 60);
    plan_add_step(p, "loss.mean", loss, LAB_LOSS, "loss.probs", "loss",
                  "loss = mean_n loss.sample[n]", 4);
    plan_add_step(p, "loss.sample", loss, LAB_BACKWARD, "fc2.out y",
                  "fc2.out.grad", "fc2.out.grad = (probs - [c = y]) / N", 24);
    plan_add_step(p, "fc2.bias", fc2, LAB_BACKWARD, "fc2.out.grad",
                  "fc2.b.grad", "fc2.b.grad[m] = sum_n fc2.out.grad[n,m]", 12);
    plan_add_step(p, "fc2.matmul", fc2, LAB_BACKWARD,
                  "fc2.out.grad relu1.out fc2.W", "fc2.W.grad fc1.out.grad",
                  "fc2.W.grad[k,m] = sum_n relu1.out[n,k] * "
                  "fc2.out.grad[n,m]",
                  768);
    plan_add_step(p, "fc1.matmul", fc1, LAB_BACKWARD, "fc1.out.grad x",
                  "fc1.W.grad",
                  "fc1.W.grad[k,m] = sum_n x[n,k] * fc1.out.grad[n,m]", 8192);
    plan_add_step(p, "fc1.W", fc1, LAB_UPDATE, "fc1.W.grad", "fc1.W",
                  "fc1.W = fc1.W - lr * fc1.W.grad", 2048);
    plan_add_step(p, "fc2.W", fc2, LAB_UPDATE, "fc2.W.grad", "fc2.W",
                  "fc2.W = fc2.W - lr * fc2.W.grad", 96);
    join_nodes(p);
    return p;
}

struct lab_plan *plan_large(int steps)
{
    char name[64];
    char out[64];
    char in[64] = "x";
    int64_t d[2] = {2, 2};
    struct lab_plan *p = plan_empty(steps + 2, steps, steps / 2 + 2);
    plan_add_tensor(p, "x", LAB_TENSOR_DATA, 2, d);
    for (int i = 0; i < steps; i++) {
        if (i % 2 == 0) {
            snprintf(name, sizeof(name), "block%d.n%d", i / 100, i / 2);
            plan_add_node(p, name, 0);
        }
        snprintf(out, sizeof(out), "t%d", i);
        plan_add_tensor(p, out, LAB_TENSOR_ACTIVATION, 2, d);
        snprintf(name, sizeof(name), "%s.%s", p->nodes[i / 2].id,
                 i % 2 ? "bias" : "matmul");
        plan_add_step(p, name, i / 2,
                      i < steps / 2 ? LAB_FORWARD : LAB_BACKWARD, in, out,
                      "t = t", 1);
        snprintf(in, sizeof(in), "%s", out);
    }
    return p;
}

struct lab_plan *plan_huge(void)
{
    int64_t d[2] = {3000, 700};
    struct lab_plan *p = plan_empty(4, 2, 2);
    plan_add_tensor(p, "big", LAB_TENSOR_DATA, 2, d);
    d[0] = 2097153;
    plan_add_tensor(p, "long", LAB_TENSOR_DATA, 1, d);
    int node = plan_add_node(p, "fc1", 0);
    plan_add_step(p, "fc1.matmul", node, LAB_FORWARD, "big", "long", "l = b",
                  1);
    return p;
}

void plan_release(struct lab_plan *p)
{
    for (int i = 0; i < p->n_tensors; i++)
        free(p->tensors[i].name);
    for (int i = 0; i < p->n_steps; i++) {
        free(p->steps[i].name);
        free(p->steps[i].formula);
        free(p->steps[i].source);
    }
    for (int i = 0; i < p->n_nodes; i++)
        free(p->nodes[i].id);
    lab_names_release(&p->names[LAB_NAME_TENSOR]);
    lab_names_release(&p->names[LAB_NAME_NODE]);
    free(p->tensors);
    free(p->steps);
    free(p->nodes);
    free(p);
}

struct lab_schedule *plan_schedule(const struct lab_plan *p, bool fused)
{
    struct lab_schedule *s = calloc(1, sizeof(*s));
    s->steps = calloc((size_t)p->n_steps, sizeof(*s->steps));
    for (int i = 0; i < p->n_steps; i++) {
        bool group = fused && i == 0;
        s->steps[s->n_steps++] = (struct lab_schedule_step){
            .step = group ? &p->steps[1] : &p->steps[i],
            .variant = &variants[group ? 2 : 0],
            .depth_node = p->steps[i].node,
            .hides_from = i,
            .hides_count = group ? 2 : 1};
        i += group;
    }
    int at = 0;
    for (int phase = 0; phase <= LAB_PHASE_COUNT; phase++) {
        while (at < s->n_steps && (int)s->steps[at].step->phase < phase)
            at++;
        s->phase_first[phase] = at;
    }
    return s;
}
