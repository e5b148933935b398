/* verify.c -- variants and gradients compared with the truth: the same network
 * in double, run by the readable reference.
 *
 * A variant that differs is not offered. A gradient is compared with central
 * differences of the loss. */
#include "backend/variant_disabled.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "common/random.h"
#include "engine/gradcheck.h"
#include "plan/plan_priv.h"

/* A plan in double, on the CPU. */
struct reference_run {
    struct lab_plan *plan; /* f64: the tensors and steps of the f32 plan */
    struct lab_backend *cpu;
    char *arena;
};

static void reference_close(struct reference_run *r)
{
    lab_plan_free(r->plan);
    lab_backend_close(r->cpu);
    lab_free(r->arena);
    *r = (struct reference_run){0};
}

static enum lab_status reference_open(struct reference_run *r,
                                      const struct lab_network_spec *spec,
                                      const struct lab_data_shapes *shapes)
{
    struct reference_run fresh = {0};
    enum lab_status st = lab_plan_build(&fresh.plan, spec, shapes, LAB_F64);
    if (!st)
        st = lab_backend_open(&fresh.cpu, "cpu", 0);
    if (!st) {
        fresh.arena = lab_alloc(fresh.plan->arena_bytes);
        if (!fresh.arena)
            st = lab_no_memory("the network in double");
    }
    if (st) {
        reference_close(&fresh);
        return st;
    }
    *r = fresh;
    return LAB_OK;
}

static void *reference_data(const struct reference_run *r, int tensor)
{
    return r->arena + r->plan->tensors[tensor].offset;
}

/* Runs plan step i as in iteration `iteration`, in training. */
static enum lab_status reference_step(struct reference_run *r, int i,
                                      int64_t iteration)
{
    const struct lab_step *s = &r->plan->steps[i];
    struct lab_step_call c;
    const struct lab_variant *v = lab_backend_variant(
        r->cpu, LAB_F64, s->op->name, s->kernel, s->phase, NULL);
    if (!v)
        return lab_fail(LAB_E_INTERNAL, "no reference for step %s", s->name);
    lab_step_call(&c, r->plan, s, r->arena, r->arena);
    c.call.iteration = (uint64_t)iteration;
    return lab_backend_run(r->cpu, v, &c.call);
}

/* Room for the largest tensor of the plan. */
static void *alloc_largest(const struct lab_plan *plan, size_t each)
{
    int64_t most = 1;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (plan->tensors[i].count > most)
            most = plan->tensors[i].count;
    }
    return lab_alloc_array((size_t)most, each);
}

/* Every variant of every step of one small network against the reference.
 *
 * The network is built twice, in float and in double. The double plan is walked
 * on the CPU; before each step its inputs are handed, rounded, to every variant
 * of that step, and what the variant writes is compared with what the reference
 * then writes. */

enum { UNITS = 3, MOST_NODES = 64 };

struct test_network {
    struct lab_network_spec spec;
    struct lab_node_spec nodes[MOST_NODES];
    char ids[MOST_NODES][32];
    struct lab_tensor_spec data[5];
    const char *from[4];
    struct lab_plan *plan;      /* float */
    struct reference_run truth; /* double: the same tensors and steps */
    struct lab_backend *be;
    uint64_t ops; /* that are judged: bits of lab_op_table() */
    void *arena;  /* of plan, on be */
    char *before; /* truth's persistent part before the step */
    char *first;  /* the same before the phase: groups start there */
    const struct lab_variant
        *group;  /* the kind that is being judged, or NULL */
    float *host; /* room for the largest tensor */
    struct lab_str *report;
};

/* ---- memory ---- */

static enum lab_status take_memory(struct test_network *c)
{
    c->before = lab_alloc(c->truth.plan->persistent_bytes + 1);
    c->first = lab_alloc(c->truth.plan->persistent_bytes + 1);
    c->host = alloc_largest(c->plan, sizeof(*c->host));
    if (!c->before || !c->first || !c->host)
        return lab_fail(LAB_E_NOMEM, "no memory to check the variants");
    enum lab_status st =
        lab_backend_alloc(c->be, c->plan->arena_bytes, &c->arena);
    for (int i = 0; i < c->plan->n_tensors && !st; i++)
        lab_backend_label(c->be, c->arena, c->plan->tensors[i].offset,
                          c->plan->tensors[i].name, true);
    return st;
}

static void release(struct test_network *c)
{
    if (c->plan)
        lab_backend_free(c->be, c->arena);
    lab_plan_free(c->plan);
    reference_close(&c->truth);
    lab_free(c->before);
    lab_free(c->first);
    lab_free(c->host);
}

static void fill_truth(struct test_network *c)
{
    const struct lab_plan *plan = c->truth.plan;
    for (int t = 0; t < plan->n_tensors; t++) {
        const struct lab_tensor *tensor = &plan->tensors[t];
        void *at = reference_data(&c->truth, t);
        if (tensor->persistent)
            lab_plan_init_tensor(plan, t, at, NULL);
        if (tensor->role != LAB_TENSOR_DATA)
            continue;
        for (int64_t i = 0; i < tensor->count; i++) {
            uint32_t word = lab_random_word(9, (uint32_t)t, 1, (uint64_t)i);
            lab_number_put(at, tensor->dtype, i,
                           tensor->dtype == LAB_I32
                               ? word % UNITS
                               : 3.0 * lab_random_unit(word) - 1.5);
        }
    }
}

/* ---- one variant ---- */

static enum lab_status hand_over(struct test_network *c, int tensor,
                                 bool poison)
{
    if (tensor < 0)
        return LAB_OK;
    const struct lab_tensor *t = &c->plan->tensors[tensor];
    const struct lab_tensor *from = &c->truth.plan->tensors[tensor];
    const char *base = c->truth.arena;
    if (poison && t->persistent)
        base = c->group ? c->first : c->before; /* in place: as it was */
    for (int64_t i = 0; i < t->count; i++) {
        double v = lab_number_at(base + from->offset, from->dtype, i);
        if (poison && !t->persistent)
            v = NAN;
        if (t->dtype == LAB_I32 && isnan(v))
            v = INT32_MIN; /* no id */
        lab_number_put(c->host, t->dtype, i, v);
    }
    return lab_backend_upload(c->be, (char *)c->arena + t->offset, c->host,
                              (size_t)t->count * sizeof(float));
}

/* Largest difference from the truth, as a multiple of what is allowed. */
static enum lab_status compare(struct test_network *c, int tensor,
                               double *worst)
{
    const struct lab_tensor *t = &c->plan->tensors[tensor];
    const void *want = reference_data(&c->truth, tensor);
    enum lab_dtype want_type = c->truth.plan->tensors[tensor].dtype;
    enum lab_status st =
        lab_backend_download(c->be, c->host, (char *)c->arena + t->offset,
                             (size_t)t->count * sizeof(float));
    double largest = 0;
    double off = 0;
    for (int64_t i = 0; i < t->count && !st; i++) {
        double a = lab_number_at(want, want_type, i);
        double b = lab_number_at(c->host, t->dtype, i);
        double d = fabs(a - b);
        largest = fmax(largest, fabs(a));
        if (isnan(b) || isnan(d))
            off = INFINITY;
        else if (d > off)
            off = d;
    }
    *worst = fmax(*worst, off / (1e-5 * (1 + largest)));
    return st;
}

/* The outputs with a bit in `wanted`; the others are left out. */
static enum lab_status try_variant(struct test_network *c,
                                   const struct lab_step *s,
                                   const struct lab_variant *v, unsigned wanted,
                                   double *worst)
{
    struct lab_step_call k;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < s->n_in && !st; i++)
        st = hand_over(c, s->in[i], false);
    for (int i = 0; i < s->n_out && !st; i++) {
        if (s->out[i] < 0 || !lab_tensor_is_alias(&c->plan->tensors[s->out[i]]))
            st = hand_over(c, s->out[i], true);
    }
    lab_step_call(&k, c->plan, s, c->arena, c->arena);
    for (int i = 0; i < s->n_out; i++) {
        if (!(wanted >> i & 1))
            k.out[i].data = NULL;
    }
    if (!st)
        st = lab_backend_prepare(c->be, v, &k.call);
    if (!st)
        st = lab_backend_run(c->be, v, &k.call);
    if (!st)
        st = lab_backend_sync(c->be);
    for (int i = 0; i < s->n_out && !st; i++) {
        if (s->out[i] >= 0 && wanted >> i & 1)
            st = compare(c, s->out[i], worst);
    }
    return st;
}

/* How much more than a variant in fp32 may be off: TF32 keeps 11 bits of each
 * factor (docs/measurements.md, "Rows of a lab under a step"). */
enum { TF32_TOLERANCE = 500 };

/* LAB_E_NOMEM: nothing was found out. */
static enum lab_status judge(struct test_network *c, const struct lab_step *s,
                             const struct lab_variant *v)
{
    double worst = 0;
    if (lab_variant_disabled(v))
        return LAB_OK;
    enum lab_status st = try_variant(c, s, v, ~0u, &worst);
    for (int i = 0; v->apart && i < s->n_out && !st && worst <= 1; i++) {
        if (s->out[i] >= 0)
            st = try_variant(c, s, v, 1u << i, &worst);
    }
    if (st == LAB_E_NOMEM)
        return st;
    if (v->precision == LAB_TF32)
        worst /= TF32_TOLERANCE;
    bool refused = st == LAB_E_UNSUPPORTED && v->prepare;
    enum lab_status noted =
        v->prepare ? lab_variant_tally(v, !refused) : LAB_OK;
    if (noted || refused || (!st && worst <= 1))
        return noted; /* choosing it for a shape that it refuses is an error */
    noted = lab_variant_withdraw(v);
    if (noted)
        return noted;
    lab_str_addf(c->report, "%s %s %s, variant %s: ", s->op->name,
                 v->step ? v->step : "(group)", lab_phase_name(v->phase),
                 v->name);
    if (st)
        lab_str_addf(c->report, "failed (%s); withdrawn\n", lab_error());
    else
        lab_str_addf(c->report,
                     "is %.2g times the tolerance off the reference; "
                     "withdrawn\n",
                     worst);
    return LAB_OK;
}

/* The bit of an op in a set of them. */
static uint64_t op_bit(const struct lab_op_def *op)
{
    int n;
    const struct lab_op_def *const *ops = lab_op_table(&n);
    assert(n <= 64);
    for (int i = 0; i < n; i++)
        if (ops[i] == op)
            return UINT64_C(1) << i;
    return 0;
}

static uint64_t ops_of(const struct lab_plan *plan)
{
    uint64_t bits = 0;
    for (int i = 0; i < plan->n_steps; i++)
        bits |= op_bit(plan->steps[i].op);
    for (int i = 0; i < plan->n_nodes; i++) /* of groups */
        bits |= op_bit(plan->nodes[i].op);
    return bits;
}

/* activation: the group is called with one, which some cannot take in. */
static enum lab_status judge_all(struct test_network *c,
                                 const struct lab_step *s, const char *kernel,
                                 bool activation)
{
    enum lab_status st = LAB_OK;
    const struct lab_kernel_set *set;
    if (!(c->ops & op_bit(s->op)))
        return LAB_OK;
    for (int i = 0; (set = lab_backend_set(c->be, LAB_F32, i)); i++) {
        if (strcmp(set->op, s->op->name) != 0)
            continue;
        for (int k = 0; k < set->count; k++) {
            const struct lab_variant *v = &set->variants[k];
            bool same = kernel && v->step ? strcmp(kernel, v->step) == 0
                                          : kernel == v->step;
            const struct lab_node *node = &c->plan->nodes[s->node];
            if (s->group && (lab_node_unserved(node, v) ||
                             v->keeps_parts != c->group->keeps_parts ||
                             v->one_way != c->group->one_way))
                continue;
            if (v->phase == s->phase && same &&
                (v->absorbs_activation || !activation))
                st = judge(c, s, v);
            if (st)
                return st;
        }
    }
    return st;
}

/* ---- groups: judged when the steps that they hide have run ---- */

static enum lab_status judge_group(struct test_network *c,
                                   const struct lab_node *node,
                                   enum lab_phase phase,
                                   const struct lab_node *absorbed)
{
    struct lab_step s;
    const struct lab_variant kinds[] = {
        {.phase = phase},
        {.phase = phase, .keeps_parts = true},
        {.phase = phase, .one_way = true},
        {.phase = phase, .keeps_parts = true, .one_way = true}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        enum lab_status st =
            lab_group_fill(&s, c->plan, node, &kinds[i], absorbed);
        if (st)
            return st;
        c->group = &kinds[i];
        st = judge_all(c, &s, NULL, absorbed != NULL);
        c->group = NULL;
        lab_step_release(&s);
        if (st)
            return st;
    }
    return LAB_OK;
}

/* Only then may the op be asked for the step of its group. A node runs by
 * steps when another reads its parts. */
static bool has_group(struct test_network *c, const struct lab_node *node,
                      enum lab_phase phase)
{
    const struct lab_kernel_set *set;
    if (!node->op->group || node->n_steps[phase] == 0 ||
        !(c->ops & op_bit(node->op)))
        return false;
    for (int i = 0; (set = lab_backend_set(c->be, LAB_F32, i)); i++) {
        for (int k = 0; k < set->count; k++) {
            const struct lab_variant *v = &set->variants[k];
            if (strcmp(set->op, node->op->name) == 0 && !v->step &&
                v->phase == phase && !lab_node_unserved(node, v))
                return true;
        }
    }
    return false;
}

static enum lab_status judge_groups(struct test_network *c,
                                    enum lab_phase phase)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < c->plan->loss_node && !st; i++) {
        const struct lab_node *node = &c->plan->nodes[i];
        const struct lab_node *next = node + 1;
        if (!has_group(c, node, phase))
            continue;
        st = judge_group(c, node, phase, NULL);
        if (!st && phase == LAB_FORWARD && next->may_be_absorbed &&
            next->in[0] == node->out)
            st = judge_group(c, node, phase, next);
    }
    return st;
}

static enum lab_status walk_truth(struct test_network *c)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < c->plan->n_steps && !st; i++) {
        const struct lab_step *s = &c->plan->steps[i];
        if (i == 0 || s->phase != s[-1].phase)
            memcpy(c->first, c->truth.arena, c->truth.plan->persistent_bytes);
        memcpy(c->before, c->truth.arena, c->truth.plan->persistent_bytes);
        st = reference_step(&c->truth, i, 0);
        if (!st)
            st = judge_all(c, s, s->kernel, false);
        /* Before the update changes parameters. */
        bool last = i + 1 == c->plan->n_steps ||
                    c->plan->steps[i + 1].phase != s->phase;
        if (!st && last &&
            (s->phase == LAB_FORWARD || s->phase == LAB_BACKWARD))
            st = judge_groups(c, s->phase);
    }
    return st;
}

/* Takes a trial with spec, be and report set; reports what it has
 * withdrawn. Leaves nothing allocated in it. LAB_OK also when variants were
 * withdrawn. It is left out without any of the ops `reason`. */
static enum lab_status variant_verify(struct test_network *c, uint64_t reason)
{
    enum lab_status st = lab_plan_build(&c->plan, &c->spec, NULL, LAB_F32);
    if (!st && !(ops_of(c->plan) & reason)) {
        release(c);
        return LAB_OK;
    }
    if (!st)
        st = reference_open(&c->truth, &c->spec, NULL);
    if (!st)
        st = take_memory(c);
    if (!st) {
        fill_truth(c);
        st = walk_truth(c);
    }
    release(c);
    return st;
}

/* The networks on which every variant is tried: one that chains all the ops
 * that fit, and those that the others ask for. */

enum { ROWS = 5, COLUMNS = 7 };

/* Keys that a lesson must give get small odd values. */
static void set_required(struct lab_node_spec *n)
{
    lab_op_defaults(n->op, n->attr);
    for (int i = 0; i < n->op->n_keys; i++) {
        if (!n->op->keys[i].required)
            continue;
        n->attr[i].i = UNITS;
        n->attr[i].f = 0.25;
    }
}

static void add_node(struct test_network *c, const struct lab_op_def *op,
                     int turn)
{
    int at = c->spec.n_nodes;
    if (at == MOST_NODES)
        return;
    struct lab_node_spec *n = &c->nodes[at];
    snprintf(c->ids[at], sizeof(c->ids[at]), "n%d", at);
    n->id = c->ids[at];
    n->op = op;
    set_required(n);
    /* The second turn takes the other choice of every yes-or-no key. */
    for (int i = 0; turn == 1 && i < op->n_keys; i++) {
        n->attr[i].b = !n->attr[i].b;
        if (op->keys[i].type == LAB_KEY_CHOICE)
            n->attr[i].choice = op->keys[i].choices[1] ? 1 : 0;
    }
    c->spec.n_nodes++;
}

/* Is it a link of the chain? */
static bool fits(const struct lab_op_def *op)
{
    return op->kind == LAB_KIND_LAYER && !op->internal && op->forward &&
           !op->check && !op->trials;
}

/* dense is before every activation, so that a group takes each in. */
static void add_chain(struct test_network *c)
{
    int n_ops;
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    const struct lab_op_def *dense = lab_op_find("dense", LAB_KIND_LAYER);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n_ops; i++) {
            if (!fits(ops[i]))
                continue;
            if (ops[i]->unary)
                add_node(c, dense, turn);
            add_node(c, ops[i], turn);
        }
    }
}

/* An op that brings its own data: x is every input of it. false: it has no
 * network for this turn. */
static bool add_own(struct test_network *c, const struct lab_op_def *op,
                    int turn)
{
    static const char *from[LAB_STEP_IN] = {"x", "x", "x", "x"};
    add_node(c, op, 0);
    struct lab_op_check own = {.attr = c->nodes[0].attr};
    if (!op->check(turn, &own))
        return false;
    c->nodes[0].from = from;
    c->nodes[0].n_from = op->min_inputs;
    if (own.chained) {
        static const char *both[] = {"x", "n0"};
        add_node(c, op, 0);
        memcpy(c->nodes[1].attr, c->nodes[0].attr, sizeof(c->nodes[1].attr));
        c->nodes[1].from = both;
        c->nodes[1].n_from = 2;
    }
    c->data[0].shape = own.x;
    c->data[1].shape.dim[0] = own.x.dim[0];
    c->spec.layout = own.nhwc ? LAB_NHWC : LAB_NCHW;
    add_node(c, lab_op_find("flatten", LAB_KIND_LAYER), 0);
    return true;
}

/* own NULL: the chain of all the ops that fit between dense layers. */
static bool describe(struct test_network *c, const struct lab_op_def *loss,
                     const struct lab_op_def *optimizer,
                     const struct lab_op_def *own, int turn)
{
    lab_network_spec_init(&c->spec);
    c->spec.nodes = c->nodes;
    c->data[0] = (struct lab_tensor_spec){
        .name = "x", .shape = {2, {ROWS, COLUMNS}}, .integers = true};
    c->data[1] = (struct lab_tensor_spec){
        .name = "y", .shape = {2, {ROWS, UNITS}}, .integers = true};
    if (own && !add_own(c, own, turn))
        return false;
    if (!own)
        add_chain(c);
    /* The last one feeds the loss. */
    add_node(c, lab_op_find("dense", LAB_KIND_LAYER), 0);
    c->spec.seed = 20;
    c->spec.loss = (struct lab_node_spec){.id = "loss", .op = loss};
    lab_op_defaults(loss, c->spec.loss.attr);
    c->spec.optimizer = (struct lab_node_spec){.op = optimizer};
    set_required(&c->spec.optimizer);
    /* With one of them the steps that clip are checked, too. */
    if (strcmp(optimizer->name, "adam") == 0)
        c->spec.optimizer.attr[lab_op_key(optimizer, "clip_norm")].f = 0.125;
    for (int i = 0; i < optimizer->n_keys; i++) {
        if (strcmp(optimizer->keys[i].name, "momentum") == 0 ||
            strcmp(optimizer->keys[i].name, "weight_decay") == 0)
            c->spec.optimizer.attr[i].f = 0.125;
    }
    if (loss->labels)
        c->data[1].shape.rank = 1;
    c->spec.data.tensors = c->data;
    c->spec.data.n_tensors = 2;
    c->spec.data.gradient = true;
    return true;
}

/* The network of one node that an op asks for. */
static void describe_trial(struct test_network *c, const struct lab_op_def *op,
                           const struct lab_op_test_network *own)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    int n = 0;
    lab_network_spec_init(&c->spec);
    c->spec.nodes = c->nodes;
    c->spec.seed = 20;
    add_node(c, op, 0);
    for (; n < 4 && own->in[n].rank > 0; n++) {
        c->from[n] = names[n];
        c->data[n] = (struct lab_tensor_spec){
            .name = names[n], .shape = own->in[n], .integers = true};
    }
    c->data[n] = (struct lab_tensor_spec){.name = "y", .shape = own->out};
    c->nodes[0].from = c->from;
    c->nodes[0].n_from = n;
    for (int i = 0; i < 4 && own->keys[i].key; i++) {
        struct lab_attr *attr =
            &c->nodes[0].attr[lab_op_key(op, own->keys[i].key)];
        attr->f = own->keys[i].value;
        attr->i = (int64_t)attr->f;
        attr->choice = (int)attr->i;
        attr->b = attr->i != 0;
    }
    c->spec.loss = (struct lab_node_spec){
        .id = "loss", .op = lab_op_find("weighted_sum", LAB_KIND_LOSS)};
    lab_op_defaults(c->spec.loss.op, c->spec.loss.attr);
    c->spec.data.tensors = c->data;
    c->spec.data.n_tensors = n + 1;
    c->spec.data.gradient = true;
}

/* The ops for which the network of `own` (NULL: the chain) is walked: its own, and
 * those that are only in the networks of others. */
static uint64_t reason_for(const struct lab_op_def *own)
{
    int n;
    const struct lab_op_def *const *ops = lab_op_table(&n);
    uint64_t bits = own ? op_bit(own) : UINT64_MAX;
    for (int i = 0; i < n; i++)
        if (ops[i]->internal || (fits(ops[i]) && ops[i]->takes_images))
            bits |= op_bit(ops[i]);
    return bits;
}

/* Of `own`, its trial of that number or the network of that turn; own NULL: the
 * chain. *done: there is no network for the turn. */
static enum lab_status check_one(struct lab_backend *be, uint64_t wanted,
                                 const char *loss, const char *optimizer,
                                 const struct lab_op_def *own, int turn,
                                 bool trial, struct lab_str *report, bool *done)
{
    struct test_network *c = lab_alloc(sizeof(*c));
    if (!c)
        return lab_fail(LAB_E_NOMEM, "no memory to check the variants");
    c->be = be;
    c->ops = wanted;
    c->report = report;
    *done = false;
    if (trial)
        describe_trial(c, own, &own->trials[turn]);
    else
        *done =
            !describe(c, lab_op_find(loss, LAB_KIND_LOSS),
                      lab_op_find(optimizer, LAB_KIND_OPTIMIZER), own, turn);
    enum lab_status st =
        *done ? LAB_OK : variant_verify(c, wanted & reason_for(own));
    lab_free(c);
    return st;
}

enum lab_status lab_backend_check(struct lab_backend *be,
                                  const struct lab_plan *plan,
                                  struct lab_str *report)
{
    static const char *const turns[][2] = {{"softmax_cross_entropy", "sgd"},
                                           {"mse", "adam"},
                                           {"weighted_sum", "adamw"}};
    enum lab_status st = LAB_OK;
    bool done;
    int n_ops;
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    uint64_t todo = plan ? ops_of(plan) : UINT64_MAX >> (64 - n_ops);
    /* The simulator checks every access of every launch, and takes its time. */
    if (be->ops == &lab_backend_null || be->ops == &lab_backend_sim ||
        !lab_variant_check_begin(be->ops, &todo))
        return LAB_OK;
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]) && !st; i++)
        st = check_one(be, todo, turns[i][0], turns[i][1], NULL, 0, false,
                       report, &done);
    for (int i = 0; i < n_ops && !st; i++) {
        done = !ops[i]->check;
        for (int turn = 0; !done && !st; turn++)
            st = check_one(be, todo, "weighted_sum", "sgd", ops[i], turn, false,
                           report, &done);
        for (int turn = 0; turn < ops[i]->n_trials && !st; turn++)
            st = check_one(be, todo, "", "", ops[i], turn, true, report, &done);
    }
    lab_variant_check_end(be->ops, st ? 0 : todo);
    return st;
}

/* The gradient check. */

struct checker {
    int64_t most; /* elements of a parameter */
    double loss;  /* where nothing is moved */
    struct lab_walk *w;
    struct reference_run r;
    bool went_back; /* its gradients are there */
    int moved;      /* from this step on, outputs are of an element moved */
    lab_check_cancelled_fn *cancelled;
    void *user;
    int64_t done; /* elements, of all that are asked for */
    int64_t of;
    void *host; /* one tensor of the walk */
    double *gradient;
};

static bool is_cancelled(const struct checker *c)
{
    return c->cancelled && c->cancelled(c->user, c->done, c->of);
}

static enum lab_status copy_tensor(struct checker *c, int tensor, double *out)
{
    const struct lab_tensor *t = &lab_walk_plan(c->w)->tensors[tensor];
    enum lab_status st = lab_walk_read(c->w, tensor, true, c->host);
    for (int64_t i = 0; i < t->count && !st; i++)
        out[i] = lab_number_at(c->host, t->dtype, i);
    return st;
}

/* Data and parameters of the walk's iteration, in double. */
static enum lab_status load(struct checker *c)
{
    const struct lab_plan *plan = c->r.plan;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        void *to = reference_data(&c->r, i);
        if (t->role == LAB_TENSOR_DATA)
            st = lab_data_fill(lab_walk_data(c->w), plan, i,
                               lab_walk_iteration(c->w), to);
        else if (t->persistent)
            st = copy_tensor(c, i, to);
    }
    return st;
}

static enum lab_status run_phases(struct checker *c, int first,
                                  enum lab_phase last)
{
    enum lab_status st = LAB_OK;
    for (int i = first; i < c->r.plan->n_steps && !st; i++) {
        if (c->r.plan->steps[i].phase > last)
            continue;
        st = lab_walk_look_for_stop(c->w);
        if (!st)
            st = reference_step(&c->r, i, lab_walk_iteration(c->w));
    }
    return st;
}

/* The loss, where the steps before `first` do not see what has been moved: each
 * tensor has memory of its own, so that what they wrote is still there. */
static enum lab_status loss_at(struct checker *c, int first, double *loss)
{
    enum lab_status st =
        run_phases(c, first < c->moved ? first : c->moved, LAB_LOSS);
    c->moved = first;
    *loss = *(double *)reference_data(&c->r, c->r.plan->loss);
    return st;
}

/* The first step that reads a parameter or a part of it. */
static int first_reader(const struct lab_plan *plan, int param)
{
    const struct lab_tensor *p = &plan->tensors[param];
    for (int i = 0; i < plan->n_steps; i++) {
        const struct lab_step *s = &plan->steps[i];
        for (int k = 0; k < s->n_in; k++) {
            const struct lab_tensor *t =
                s->in[k] < 0 ? NULL : &plan->tensors[s->in[k]];
            if (t && t->offset < p->offset + lab_tensor_bytes(p) &&
                p->offset < t->offset + lab_tensor_bytes(t))
                return i;
        }
    }
    return plan->n_steps;
}

static int gradient_of(const struct lab_plan *plan, int param)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        if (plan->tensors[i].gradient_of == param)
            return i;
    }
    return -1;
}

/* The gradient to be judged, into c->gradient. Without one the loss should not
 * depend on the parameter: the slope must be 0. */
static enum lab_status analytic(struct checker *c, int param, int grad,
                                struct lab_check_result *result)
{
    const struct lab_tensor *t = &c->r.plan->tensors[param];
    if (grad < 0) {
        memset(c->gradient, 0, (size_t)t->count * sizeof(double));
        return LAB_OK;
    }
    result->from_walk = lab_walk_written(c->w, grad);
    if (result->from_walk)
        return copy_tensor(c, grad, c->gradient);
    enum lab_status st = LAB_OK;
    if (!c->went_back)
        st = run_phases(c, 0, LAB_BACKWARD);
    c->went_back = !st;
    memcpy(c->gradient, reference_data(&c->r, grad),
           (size_t)t->count * sizeof(double));
    return st;
}

/* Of the loss, along one element. */
struct slopes {
    double left;
    double right;
    double both; /* the central difference */
};

static enum lab_status slopes_at(struct checker *c, int first, double *p,
                                 struct slopes *out)
{
    double kept = *p;
    double h = 1e-6 * (1 + fabs(kept));
    double up = 0;
    double down = 0;
    *p = kept + h;
    double after = *p - kept; /* what really lies between, after rounding */
    enum lab_status st = loss_at(c, first, &up);
    *p = kept - h;
    double before = kept - *p;
    if (!st)
        st = loss_at(c, first, &down);
    *p = kept;
    out->left = (c->loss - down) / before;
    out->right = (up - c->loss) / after;
    out->both = (up - down) / (after + before);
    return st;
}

/* How far the gradient is from the slope. At a corner of the loss, as where a
 * relu's input is exactly 0, there are two slopes, and whatever lies between
 * them is a gradient. *corner: it was judged so. */
static double error_of(double gradient, const struct slopes *s, bool *corner)
{
    double error = fabs(gradient - s->both);
    double unit = 1e-5 * (1 + fabs(s->both));
    double low = fmin(s->left, s->right);
    double high = fmax(s->left, s->right);
    *corner = error > 1e-7 * (1 + fabs(s->both)) && high - low > unit &&
              gradient >= low - unit && gradient <= high + unit;
    return *corner ? 0 : error;
}

static int64_t checked_of(const struct checker *c, const struct lab_tensor *t)
{
    return t->count < c->most ? t->count : c->most;
}

static enum lab_status check_parameter(struct checker *c, int param,
                                       struct lab_check_result *result)
{
    const struct lab_tensor *t = &c->r.plan->tensors[param];
    int grad = gradient_of(c->r.plan, param);
    double *p = reference_data(&c->r, param);
    double largest = 0;
    *result = (struct lab_check_result){.of = t->count};
    snprintf(result->parameter, sizeof(result->parameter), "%s", t->name);
    enum lab_status st = analytic(c, param, grad, result);
    int first = first_reader(c->r.plan, param);
    int64_t n = checked_of(c, t);
    for (int64_t k = 0; k < n && !st; k++) {
        int64_t i = k * t->count / n;
        struct slopes slope;
        bool corner = false;
        if (is_cancelled(c))
            return lab_fail(LAB_E_CANCELLED, "the check was cancelled");
        st = slopes_at(c, first, &p[i], &slope);
        double error = error_of(c->gradient[i], &slope, &corner);
        largest = fmax(largest, fabs(slope.both));
        result->elements++;
        result->corners += corner;
        c->done++;
        if (k > 0 && !(error > result->max_error) && !isnan(error))
            continue;
        result->max_error = error;
        result->worst = i;
        result->analytic = c->gradient[i];
        result->numeric = slope.both;
        if (isnan(error))
            break; /* nothing is worse */
    }
    double unit = result->from_walk ? 1e-5 : 1e-7;
    result->tolerance = unit * (1 + largest);
    result->passed = result->max_error <= result->tolerance; /* not for NaN */
    return st;
}

static bool wanted(const struct lab_tensor *t, const char *name)
{
    bool all = !name || !name[0];
    return t->role == LAB_TENSOR_PARAM && (all || strcmp(t->name, name) == 0);
}

static enum lab_status check_all(struct checker *c, const char *name,
                                 struct lab_check_result **out, int *n)
{
    const struct lab_plan *plan = c->r.plan;
    int count = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        if (!wanted(&plan->tensors[i], name))
            continue;
        count++;
        c->of += checked_of(c, &plan->tensors[i]);
    }
    if (count == 0 && (!name || !name[0]))
        return lab_fail(LAB_E_NOTFOUND,
                        "[session.check-none] this network has no parameters: "
                        "there is nothing to check");
    if (count == 0)
        return lab_fail(
            LAB_E_NOTFOUND,
            "[session.check-parameter] '%s' is no parameter of this network",
            name);
    struct lab_check_result *list =
        lab_alloc_array((size_t)count, sizeof(*list));
    if (!list)
        return lab_fail(LAB_E_NOMEM, "no memory to check the gradient");
    enum lab_status st = LAB_OK;
    for (int i = 0, k = 0; i < plan->n_tensors && !st; i++) {
        if (wanted(&plan->tensors[i], name))
            st = check_parameter(c, i, &list[k++]);
    }
    if (st) {
        lab_free(list);
        return st;
    }
    *out = list;
    *n = count;
    return LAB_OK;
}

enum lab_status lab_gradcheck(struct lab_walk *w,
                              const struct lab_network_spec *spec,
                              const char *parameter, int64_t most,
                              lab_check_cancelled_fn *cancelled, void *user,
                              struct lab_check_result **out, int *n)
{
    struct checker c = {
        .w = w, .most = most, .cancelled = cancelled, .user = user};
    struct lab_data_shapes shapes;
    lab_data_get_shapes(lab_walk_data(w), &shapes);
    enum lab_status st = reference_open(&c.r, spec, &shapes);
    if (!st) {
        c.host = alloc_largest(c.r.plan, sizeof(double));
        c.gradient = alloc_largest(c.r.plan, sizeof(double));
        if (!c.host || !c.gradient)
            st = lab_fail(LAB_E_NOMEM, "no memory to check the gradient");
    }
    if (!st)
        st = load(&c);
    if (!st)
        st = loss_at(&c, 0, &c.loss);
    if (!st)
        st = check_all(&c, parameter, out, n);
    reference_close(&c.r);
    lab_free(c.host);
    lab_free(c.gradient);
    return st;
}
