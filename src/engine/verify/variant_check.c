/* variant_check.c -- runs a variant and the reference on the same inputs and
 * compares the results; a variant that fails is not offered. */
#include "backend/variant_disabled.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference_run.h"
#include "base/mem.h"
#include "engine/stats.h"
#include "plan/plan_priv.h"
#include "common/random.h"
#include "test_network.h"
#include "engine/op_trial.h"

enum lab_status lab_reference_run_open(struct lab_reference_run *r,
                                       const struct lab_network_spec *spec,
                                       const struct lab_data_shapes *shapes)
{
    struct lab_reference_run fresh = {0};
    enum lab_status st = lab_plan_build(&fresh.plan, spec, shapes, LAB_F64);
    if (!st)
        st = lab_backend_open(&fresh.cpu, "cpu", 0);
    if (!st) {
        fresh.arena = lab_alloc(fresh.plan->arena_bytes);
        if (!fresh.arena)
            st = lab_no_memory("the network in double");
    }
    if (st) {
        lab_reference_run_close(&fresh);
        return st;
    }
    *r = fresh;
    return LAB_OK;
}

void lab_reference_run_close(struct lab_reference_run *r)
{
    lab_plan_free(r->plan);
    lab_backend_close(r->cpu);
    lab_free(r->arena);
    *r = (struct lab_reference_run){0};
}

void *lab_reference_run_data(const struct lab_reference_run *r, int tensor)
{
    return r->arena + r->plan->tensors[tensor].offset;
}

enum lab_status lab_reference_run_step(struct lab_reference_run *r, int i,
                                       int64_t iteration)
{
    const struct lab_step *s = &r->plan->steps[i];
    struct lab_view in[LAB_STEP_IN];
    struct lab_view out[LAB_STEP_OUT];
    const struct lab_variant *v = lab_backend_variant(
        r->cpu, LAB_F64, s->op->name, s->kernel, s->phase, NULL);
    if (!v)
        return lab_fail(LAB_E_INTERNAL, "no reference for step %s", s->name);
    for (int k = 0; k < s->n_in; k++)
        in[k] = lab_plan_view(r->plan, s->in[k], r->arena);
    for (int k = 0; k < s->n_out; k++)
        out[k] = lab_plan_view(r->plan, s->out[k], r->arena);
    struct lab_call call = {.in = in,
                            .n_in = s->n_in,
                            .out = out,
                            .n_out = s->n_out,
                            .params = s->params,
                            .training = true,
                            .seed = r->plan->seed,
                            .iteration = (uint64_t)iteration,
                            .node = (uint32_t)s->node};
    return lab_backend_run(r->cpu, v, &call);
}

/* Every variant of every step of one small network against the reference.
 *
 * The network is built twice, in float and in double. The double plan is walked
 * on the CPU; before each step its inputs are handed, rounded, to every variant
 * of that step, and what the variant writes is compared with what the reference
 * then writes. */

/* ---- memory ---- */

static enum lab_status take_memory(struct lab_variant_test_network *c)
{
    int64_t most = 1;
    for (int i = 0; i < c->plan->n_tensors; i++) {
        if (c->plan->tensors[i].count > most)
            most = c->plan->tensors[i].count;
    }
    c->before = lab_alloc(c->truth.plan->persistent_bytes + 1);
    c->first = lab_alloc(c->truth.plan->persistent_bytes + 1);
    c->host = lab_alloc_array((size_t)most, sizeof(*c->host));
    if (!c->before || !c->first || !c->host)
        return lab_fail(LAB_E_NOMEM, "no memory to check the variants");
    return lab_backend_alloc(c->be, c->plan->arena_bytes, &c->arena);
}

static void release(struct lab_variant_test_network *c)
{
    if (c->plan)
        lab_backend_free(c->be, c->arena);
    lab_plan_free(c->plan);
    lab_reference_run_close(&c->truth);
    lab_free(c->before);
    lab_free(c->first);
    lab_free(c->host);
}

static void fill_truth(struct lab_variant_test_network *c)
{
    const struct lab_plan *plan = c->truth.plan;
    for (int t = 0; t < plan->n_tensors; t++) {
        const struct lab_tensor *tensor = &plan->tensors[t];
        void *at = lab_reference_run_data(&c->truth, t);
        if (tensor->persistent)
            lab_plan_init_tensor(plan, t, at);
        if (tensor->role != LAB_TENSOR_DATA)
            continue;
        for (int64_t i = 0; i < tensor->count; i++) {
            uint32_t word = lab_random_word(9, (uint32_t)t, 1, (uint64_t)i);
            if (tensor->dtype == LAB_I32)
                ((int32_t *)at)[i] = (int32_t)(word % LAB_TRIAL_UNITS);
            else
                ((double *)at)[i] = 3.0 * lab_random_unit(word) - 1.5;
        }
    }
}

static enum lab_status run_truth(struct lab_variant_test_network *c, int i)
{
    memcpy(c->before, c->truth.arena, c->truth.plan->persistent_bytes);
    return lab_reference_run_step(&c->truth, i, 0);
}

/* ---- one variant ---- */

static enum lab_status hand_over(struct lab_variant_test_network *c, int tensor,
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
        if (t->dtype == LAB_I32)
            ((int32_t *)(void *)c->host)[i] =
                isnan(v) ? INT32_MIN : (int32_t)v; /* no id */
        else
            c->host[i] = (float)v;
    }
    return lab_backend_upload(c->be, (char *)c->arena + t->offset, c->host,
                              (size_t)t->count * sizeof(float));
}

/* Largest difference from the truth, as a multiple of what is allowed. */
static enum lab_status compare(struct lab_variant_test_network *c, int tensor,
                               double *worst)
{
    const struct lab_tensor *t = &c->plan->tensors[tensor];
    const void *want = lab_reference_run_data(&c->truth, tensor);
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

static enum lab_status try_variant(struct lab_variant_test_network *c,
                                   const struct lab_step *s,
                                   const struct lab_variant *v, double *worst)
{
    struct lab_view in[LAB_STEP_IN];
    struct lab_view out[LAB_STEP_OUT];
    enum lab_status st = LAB_OK;
    for (int i = 0; i < s->n_in && !st; i++) {
        in[i] = lab_plan_view(c->plan, s->in[i], c->arena);
        st = hand_over(c, s->in[i], false);
    }
    for (int i = 0; i < s->n_out && !st; i++) {
        bool alias = s->out[i] >= 0 &&
                     c->plan->tensors[s->out[i]].alias_of >= 0 &&
                     !c->plan->tensors[s->out[i]].slice;
        out[i] = lab_plan_view(c->plan, s->out[i], c->arena);
        if (!alias)
            st = hand_over(c, s->out[i], true);
    }
    struct lab_call call = {.in = in,
                            .n_in = s->n_in,
                            .out = out,
                            .n_out = s->n_out,
                            .params = s->params,
                            .training = true,
                            .seed = c->plan->seed,
                            .node = (uint32_t)s->node};
    if (!st)
        st = lab_backend_prepare(c->be, v, &call);
    if (!st)
        st = lab_backend_run(c->be, v, &call);
    if (!st)
        st = lab_backend_sync(c->be);
    for (int i = 0; i < s->n_out && !st; i++) {
        if (s->out[i] >= 0)
            st = compare(c, s->out[i], worst);
    }
    return st;
}

/* How much more than a variant in fp32 may be off: TF32 keeps 11 bits of each
 * factor (docs/measurements.md, "Rows of a lab under a step"). */
enum { TF32_TOLERANCE = 500 };

static void judge(struct lab_variant_test_network *c, const struct lab_step *s,
                  const struct lab_variant *v)
{
    double worst = 0;
    if (lab_variant_disabled(v))
        return;
    enum lab_status st = try_variant(c, s, v, &worst);
    if (v->precision == LAB_TF32)
        worst /= TF32_TOLERANCE;
    bool refused = st == LAB_E_UNSUPPORTED && v->prepare;
    if (v->prepare)
        lab_variant_tally(v, !refused);
    if (refused || (!st && worst <= 1))
        return; /* choosing it for a shape that it refuses is an error then */
    lab_variant_withdraw(v);
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
}

/* activation: the group is called with one, which some cannot take in. */
static void judge_all(struct lab_variant_test_network *c,
                      const struct lab_step *s, const char *kernel,
                      bool activation)
{
    const struct lab_kernel_set *set;
    for (int i = 0; (set = lab_backend_set(c->be, LAB_F32, i)); i++) {
        if (strcmp(set->op, s->op->name) != 0)
            continue;
        for (int k = 0; k < set->count; k++) {
            const struct lab_variant *v = &set->variants[k];
            bool same = kernel && v->step ? strcmp(kernel, v->step) == 0
                                          : kernel == v->step;
            const struct lab_node *node = &c->plan->nodes[s->node];
            if (s->group && lab_node_unserved(node, v))
                continue;
            if (v->phase == s->phase && same &&
                (v->absorbs_activation || !activation))
                judge(c, s, v);
        }
    }
}

/* ---- groups: judged when the steps that they hide have run ---- */

static enum lab_status judge_group(struct lab_variant_test_network *c,
                                   const struct lab_node *node,
                                   enum lab_phase phase,
                                   const struct lab_node *absorbed)
{
    struct lab_group_step g = {.def = {.name = node->op->name}};
    struct lab_step s = {
        .op = node->op, .node = (int)(node - c->plan->nodes), .group = true};
    node->op->group(c->plan, node, phase, absorbed, &g);
    g.def.phase = phase;
    enum lab_status st = lab_step_fill(&s, c->plan, &g.def, node->id, true);
    if (st)
        return st;
    c->group = true;
    judge_all(c, &s, NULL, absorbed != NULL);
    c->group = false;
    lab_step_release(&s);
    return LAB_OK;
}

/* Only then may the op be asked for the step of its group. A node whose parts
 * another reads runs by steps. */
static bool has_group(struct lab_variant_test_network *c,
                      const struct lab_node *node, enum lab_phase phase)
{
    const struct lab_kernel_set *set;
    if (!node->op->group || node->n_steps[phase] == 0)
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

static enum lab_status judge_groups(struct lab_variant_test_network *c,
                                    enum lab_phase phase)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < c->plan->loss_node && !st; i++) {
        const struct lab_node *node = &c->plan->nodes[i];
        const struct lab_node *next = node + 1;
        if (!has_group(c, node, phase))
            continue;
        st = judge_group(c, node, phase, NULL);
        if (!st && phase == LAB_FORWARD && next->op->unary &&
            next->in[0] == node->out)
            st = judge_group(c, node, phase, next);
    }
    return st;
}

static enum lab_status walk_truth(struct lab_variant_test_network *c)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < c->plan->n_steps && !st; i++) {
        const struct lab_step *s = &c->plan->steps[i];
        if (i == 0 || s->phase != s[-1].phase)
            memcpy(c->first, c->truth.arena, c->truth.plan->persistent_bytes);
        st = run_truth(c, i);
        if (!st)
            judge_all(c, s, s->kernel, false);
        /* Before the update changes parameters. */
        bool last = i + 1 == c->plan->n_steps ||
                    c->plan->steps[i + 1].phase != s->phase;
        if (!st && last &&
            (s->phase == LAB_FORWARD || s->phase == LAB_BACKWARD))
            st = judge_groups(c, s->phase);
    }
    return st;
}

/* Takes a trial whose spec, be and report are set; reports what it has
 * withdrawn. Leaves nothing allocated in it. LAB_OK also when variants were
 * withdrawn. */
static enum lab_status variant_verify(struct lab_variant_test_network *c)
{
    enum lab_status st = lab_plan_build(&c->plan, &c->spec, NULL, LAB_F32);
    if (!st)
        st = lab_reference_run_open(&c->truth, &c->spec, NULL);
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
 * that fit, and those that the others ask for. variant_judge.c tries them. */

enum { ROWS = 5, COLUMNS = 7, UNITS = LAB_TRIAL_UNITS };

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

static void add_node(struct lab_variant_test_network *c,
                     const struct lab_op_def *op, int turn)
{
    int at = c->spec.n_nodes;
    if (at == LAB_TRIAL_NODES)
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

/* dense is before every activation, so that a group takes each in. */
static void add_chain(struct lab_variant_test_network *c)
{
    int n_ops;
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    const struct lab_op_def *dense = lab_op_find("dense", LAB_KIND_LAYER);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n_ops; i++) {
            if (ops[i]->kind != LAB_KIND_LAYER || ops[i]->internal ||
                !ops[i]->forward || ops[i]->check || ops[i]->trials)
                continue;
            if (ops[i]->unary)
                add_node(c, dense, turn);
            add_node(c, ops[i], turn);
        }
    }
}

/* An op that brings its own data: x is every input of it. false: it has no
 * network for this turn. */
static bool add_own(struct lab_variant_test_network *c,
                    const struct lab_op_def *op, int turn)
{
    static char *const from[LAB_STEP_IN] = {(char *)"x", (char *)"x",
                                            (char *)"x", (char *)"x"};
    add_node(c, op, 0);
    struct lab_op_check own = {.attr = c->nodes[0].attr};
    if (!op->check(turn, &own))
        return false;
    c->nodes[0].from = (char **)from;
    c->nodes[0].n_from = op->min_inputs;
    if (own.chained) {
        static char *const both[] = {(char *)"x", (char *)"n0"};
        add_node(c, op, 0);
        memcpy(c->nodes[1].attr, c->nodes[0].attr, sizeof(c->nodes[1].attr));
        c->nodes[1].from = (char **)both;
        c->nodes[1].n_from = 2;
    }
    c->data[0].shape = own.x;
    c->data[1].shape.dim[0] = own.x.dim[0];
    c->spec.layout = own.nhwc ? LAB_NHWC : LAB_NCHW;
    add_node(c, lab_op_find("flatten", LAB_KIND_LAYER), 0);
    return true;
}

/* own NULL: the chain of all the ops that fit between dense layers. */
static bool describe(struct lab_variant_test_network *c,
                     const struct lab_op_def *loss,
                     const struct lab_op_def *optimizer,
                     const struct lab_op_def *own, int turn)
{
    lab_network_spec_init(&c->spec);
    c->spec.nodes = c->nodes;
    c->data[0] = (struct lab_tensor_spec){
        .name = (char *)"x", .shape = {2, {ROWS, COLUMNS}}, .integers = true};
    c->data[1] = (struct lab_tensor_spec){
        .name = (char *)"y", .shape = {2, {ROWS, UNITS}}, .integers = true};
    if (own && !add_own(c, own, turn))
        return false;
    if (!own)
        add_chain(c);
    /* The last one feeds the loss. */
    add_node(c, lab_op_find("dense", LAB_KIND_LAYER), 0);
    c->spec.seed = 20;
    c->spec.loss = (struct lab_node_spec){.id = (char *)"loss", .op = loss};
    lab_op_defaults(loss, c->spec.loss.attr);
    c->spec.optimizer = (struct lab_node_spec){.op = optimizer};
    set_required(&c->spec.optimizer);
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
static void describe_trial(struct lab_variant_test_network *c,
                           const struct lab_op_def *op,
                           const struct lab_op_test_network *own)
{
    static char *const names[] = {(char *)"a", (char *)"b", (char *)"c",
                                  (char *)"d"};
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
    c->data[n] =
        (struct lab_tensor_spec){.name = (char *)"y", .shape = own->out};
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
        .id = (char *)"loss", .op = lab_op_find("weighted_sum", LAB_KIND_LOSS)};
    lab_op_defaults(c->spec.loss.op, c->spec.loss.attr);
    c->spec.data.tensors = c->data;
    c->spec.data.n_tensors = n + 1;
    c->spec.data.gradient = true;
}

static struct lab_variant_test_network *check_new(struct lab_backend *be,
                                                  struct lab_str *report)
{
    struct lab_variant_test_network *c = lab_alloc(sizeof(*c));
    if (!c) {
        lab_fail(LAB_E_NOMEM, "no memory to check the variants");
        return NULL;
    }
    c->be = be;
    c->report = report;
    return c;
}

/* Takes the check, described. */
static enum lab_status check_run(struct lab_variant_test_network *c)
{
    enum lab_status st = variant_verify(c);
    lab_free(c);
    return st;
}

/* *done: this op has no network for the turn. */
static enum lab_status check_one(struct lab_backend *be, const char *loss,
                                 const char *optimizer,
                                 const struct lab_op_def *own, int turn,
                                 struct lab_str *report, bool *done)
{
    struct lab_variant_test_network *c = check_new(be, report);
    if (!c)
        return LAB_E_NOMEM;
    *done = !describe(c, lab_op_find(loss, LAB_KIND_LOSS),
                      lab_op_find(optimizer, LAB_KIND_OPTIMIZER), own, turn);
    if (!*done)
        return check_run(c);
    lab_free(c);
    return LAB_OK;
}

static enum lab_status check_trial(struct lab_backend *be,
                                   const struct lab_op_def *op, int turn,
                                   struct lab_str *report)
{
    struct lab_variant_test_network *c = check_new(be, report);
    if (!c)
        return LAB_E_NOMEM;
    describe_trial(c, op, &op->trials[turn]);
    return check_run(c);
}

enum lab_status lab_backend_check(struct lab_backend *be,
                                  struct lab_str *report)
{
    static const char *const turns[][2] = {{"softmax_cross_entropy", "sgd"},
                                           {"mse", "adam"},
                                           {"weighted_sum", "adamw"}};
    enum lab_status st = LAB_OK;
    bool done;
    int n_ops;
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    if (be->ops == &lab_backend_null || !lab_variant_check_begin(be->ops))
        return LAB_OK;
    for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]) && !st; i++)
        st = check_one(be, turns[i][0], turns[i][1], NULL, 0, report, &done);
    for (int i = 0; i < n_ops && !st; i++) {
        done = !ops[i]->check;
        for (int turn = 0; !done && !st; turn++)
            st = check_one(be, "weighted_sum", "sgd", ops[i], turn, report,
                           &done);
        for (int turn = 0; turn < ops[i]->n_trials && !st; turn++)
            st = check_trial(be, ops[i], turn, report);
    }
    lab_variant_check_end(be->ops, st == LAB_OK);
    return st;
}
