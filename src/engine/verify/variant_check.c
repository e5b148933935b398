/* The networks on which every variant is tried: one that chains all the ops
 * that fit, and those that the others ask for. variant_judge.c tries them. */
#include "variant_check.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/op_trial.h"
#include "test_network.h"

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

/* dense stands before every activation, so that a group takes each in. */
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
            if (ops[i]->activation)
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
                                                  struct lab_str *said)
{
    struct lab_variant_test_network *c = lab_alloc(sizeof(*c));
    if (!c) {
        lab_fail(LAB_E_NOMEM, "no memory to check the variants");
        return NULL;
    }
    c->be = be;
    c->said = said;
    return c;
}

/* Takes the check, described. */
static enum lab_status check_run(struct lab_variant_test_network *c)
{
    enum lab_status st = lab_variant_verify(c);
    lab_free(c);
    return st;
}

/* *done: this op has no network for the turn. */
static enum lab_status check_one(struct lab_backend *be, const char *loss,
                                 const char *optimizer,
                                 const struct lab_op_def *own, int turn,
                                 struct lab_str *said, bool *done)
{
    struct lab_variant_test_network *c = check_new(be, said);
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
                                   struct lab_str *said)
{
    struct lab_variant_test_network *c = check_new(be, said);
    if (!c)
        return LAB_E_NOMEM;
    describe_trial(c, op, &op->trials[turn]);
    return check_run(c);
}

enum lab_status lab_variant_check(struct lab_backend *be, struct lab_str *said)
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
        st = check_one(be, turns[i][0], turns[i][1], NULL, 0, said, &done);
    for (int i = 0; i < n_ops && !st; i++) {
        done = !ops[i]->check;
        for (int turn = 0; !done && !st; turn++)
            st =
                check_one(be, "weighted_sum", "sgd", ops[i], turn, said, &done);
        for (int turn = 0; turn < ops[i]->n_trials && !st; turn++)
            st = check_trial(be, ops[i], turn, said);
    }
    lab_variant_check_end(be->ops, st == LAB_OK);
    return st;
}
