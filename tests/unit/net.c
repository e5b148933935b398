/* Builds and runs small networks from a few lines of a test; net.h has the form
 * of the lines. */
#include "unit/net.h"

#include "test.h"

#include "base/mem.h"
#include "common/random.h"

enum { WORD = 64 };

static void *must(void *p)
{
    if (!p)
        fail_msg("no memory");
    return p;
}

static const char *keep(struct net *n, const char *text)
{
    return must(lab_arena_text(&n->spec.memory, text, strlen(text)));
}

/* A copy of the list with room for one more. */
static void *grow(struct net *n, const void *list, int count, size_t each)
{
    void *more =
        must(lab_arena_array(&n->spec.memory, (size_t)count + 1, each));
    if (count)
        memcpy(more, list, (size_t)count * each);
    return more;
}

void net_init(struct net *n)
{
    *n = (struct net){0};
    lab_network_spec_init(&n->spec);
    n->spec.file = "net.md";
    n->spec.seed = 7;
    n->spec.data.place = (struct lab_place){9, 3};
}

void net_free(struct net *n)
{
    if (n->walk)
        lab_walk_free(n->walk);
    else
        lab_data_free(n->data);
    lab_plan_free(n->plan);
    lab_network_spec_release(&n->spec);
    *n = (struct net){0};
}

int net_setup(void **state)
{
    static struct net n;
    net_init(&n);
    *state = &n;
    return 0;
}

int net_teardown(void **state)
{
    net_free(*state);
    return 0;
}

/* ---- tensors ---- */

static void parse_tensor(struct net *n, struct lab_tensor_spec *t,
                         const char *text)
{
    char name[WORD];
    int used = 0;
    *t = (struct lab_tensor_spec){.integers = false};
    if (sscanf(text, "%63s%n", name, &used) != 1)
        fail_msg("'%s' is no tensor", text);
    t->name = keep(n, name);
    const char *p = text + used;
    while (*p == ' ' || *p == ',') {
        char *end;
        t->shape.dim[t->shape.rank++] = strtoll(p + 1, &end, 10);
        assert_ptr_not_equal(end, p + 1);
        p = end;
    }
    if (lab_shape_count(&t->shape, &t->count))
        t->count = 0; /* on purpose: the engine is to refuse it */
}

static void set_values(struct net *n, struct lab_tensor_spec *t,
                       const double *values)
{
    if (t->count == 0 || t->count > 1000000)
        return; /* a shape that no test fills */
    t->values = must(
        lab_arena_array(&n->spec.memory, (size_t)t->count, sizeof(double)));
    uint32_t stream = (uint32_t)strlen(t->name) * 31 + (uint32_t)t->name[0];
    for (int64_t i = 0; i < t->count; i++) {
        uint32_t word = lab_random_word(11, stream, 5, (uint64_t)i);
        t->values[i] =
            values ? values[i] : (float)(3.0 * lab_random_unit(word) - 1.5);
    }
}

static struct lab_tensor_spec *add_data(struct net *n, const char *text)
{
    struct lab_data_spec *d = &n->spec.data;
    d->tensors = grow(n, d->tensors, d->n_tensors, sizeof(*d->tensors));
    struct lab_tensor_spec *t = &d->tensors[d->n_tensors];
    parse_tensor(n, t, text);
    t->place = (struct lab_place){10 + d->n_tensors, 3};
    d->n_tensors++;
    return t;
}

void net_tensor(struct net *n, const char *text, const double *values)
{
    set_values(n, add_data(n, text), values);
}

void net_labels(struct net *n, const char *text, int classes)
{
    struct lab_tensor_spec *t = add_data(n, text);
    set_values(n, t, NULL);
    t->integers = true;
    for (int64_t i = 0; i < t->count; i++)
        t->values[i] = (double)((i * 2 + 1) % classes);
}

void net_param(struct net *n, const char *text, const double *values)
{
    struct lab_network_spec *s = &n->spec;
    s->parameters =
        grow(n, s->parameters, s->n_parameters, sizeof(*s->parameters));
    struct lab_tensor_spec *t = &s->parameters[s->n_parameters];
    parse_tensor(n, t, text);
    set_values(n, t, values);
    t->place = (struct lab_place){50 + s->n_parameters, 3};
    s->n_parameters++;
}

/* ---- nodes ---- */

static void set_from(struct net *n, struct lab_node_spec *node, char *list)
{
    for (char *id = strtok(list, ","); id; id = strtok(NULL, ",")) {
        node->from = grow(n, node->from, node->n_from, sizeof(*node->from));
        node->from[node->n_from++] = keep(n, id);
    }
}

static int choice_of(const struct lab_key_def *key, const char *value)
{
    for (int i = 0; key->choices && key->choices[i]; i++) {
        if (strcmp(key->choices[i], value) == 0)
            return i;
    }
    return -1;
}

static void set_key(struct lab_node_spec *node, const char *name,
                    const char *value)
{
    int k = lab_op_key(node->op, name);
    if (k < 0)
        fail_msg("%s has no key '%s'", node->op->name, name);
    struct lab_attr *a = &node->attr[k];
    a->set = true;
    a->f = strtod(value, NULL);
    a->i = strtoll(value, NULL, 10);
    a->b = strcmp(value, "true") == 0;
    a->choice = choice_of(&node->op->keys[k], value);
    char *end = (char *)value; /* "3,2": a list */
    for (a->n = 0; a->n < LAB_KEY_ITEMS && *end; end += *end == ',')
        a->list[a->n++] = strtoll(end, &end, 10);
}

static void set_op(struct net *n, struct lab_node_spec *node, const char *name,
                   enum lab_op_kind kind, char *keys)
{
    char *rest = keys;
    node->op = lab_op_find(name, kind);
    if (!node->op)
        fail_msg("there is no op '%s'", name);
    lab_op_defaults(node->op, node->attr);
    while (*rest) {
        char word[128];
        int used = 0;
        if (sscanf(rest, " %127s%n", word, &used) != 1)
            break;
        rest += used;
        char *equals = strchr(word, '=');
        assert_non_null(equals);
        *equals = '\0';
        if (strcmp(word, "from") == 0)
            set_from(n, node, equals + 1);
        else
            set_key(node, word, equals + 1);
    }
}

void net_node(struct net *n, const char *text)
{
    struct lab_network_spec *s = &n->spec;
    char copy[256];
    char id[WORD];
    char op[WORD];
    int used = 0;
    snprintf(copy, sizeof(copy), "%s", text);
    if (sscanf(copy, "%63s %63s%n", id, op, &used) != 2)
        fail_msg("'%s' is no node", text);
    s->nodes = grow(n, s->nodes, s->n_nodes, sizeof(*s->nodes));
    struct lab_node_spec *node = &s->nodes[s->n_nodes];
    *node = (struct lab_node_spec){.place = {100 + s->n_nodes, 5},
                                   .from_place = {100 + s->n_nodes, 30}};
    s->n_nodes++;
    node->id = keep(n, id);
    set_op(n, node, op, LAB_KIND_LAYER, copy + used);
}

static void set_single(struct net *n, struct lab_node_spec *node,
                       const char *id, int line, enum lab_op_kind kind,
                       const char *text)
{
    char copy[256];
    char op[WORD];
    int used = 0;
    snprintf(copy, sizeof(copy), "%s", text);
    if (sscanf(copy, "%63s%n", op, &used) != 1)
        fail_msg("'%s' is no op", text);
    *node = (struct lab_node_spec){.place = {line, 5}};
    node->id = id;
    set_op(n, node, op, kind, copy + used);
}

void net_loss(struct net *n, const char *text)
{
    set_single(n, &n->spec.loss, "loss", 200, LAB_KIND_LOSS, text);
}

void net_optimizer(struct net *n, const char *text)
{
    set_single(n, &n->spec.optimizer, "optimizer", 201, LAB_KIND_OPTIMIZER,
               text);
}

static void other_choices(struct lab_node_spec *node)
{
    for (int i = 0; i < node->op->n_keys; i++) {
        const struct lab_key_def *key = &node->op->keys[i];
        if (key->type == LAB_KEY_BOOL)
            node->attr[i].b = !node->attr[i].b;
        if (key->type == LAB_KEY_CHOICE && key->choices[1])
            node->attr[i].choice = 1 - node->attr[i].choice;
    }
}

static void add_op(struct net *n, const struct lab_op_def *op, int turn)
{
    char text[128];
    char required[64] = "";
    for (int i = 0; i < op->n_keys; i++) {
        if (op->keys[i].required)
            snprintf(required, sizeof(required), "%s=%s", op->keys[i].name,
                     op->keys[i].type == LAB_KEY_INT ? "3" : "0.25");
    }
    snprintf(text, sizeof(text), "%s%d %s %s", op->name, n->spec.n_nodes,
             op->name, required);
    net_node(n, text);
    if (turn == 1)
        other_choices(&n->spec.nodes[n->spec.n_nodes - 1]);
}

void net_every_op(struct net *n, const char *loss, const char *optimizer)
{
    int n_ops;
    const struct lab_op_def *const *ops = lab_op_table(&n_ops);
    const struct lab_op_def *dense = lab_op_find("dense", LAB_KIND_LAYER);
    net_tensor(n, "x 5,7", NULL);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < n_ops; i++) {
            if (ops[i]->kind != LAB_KIND_LAYER || ops[i]->internal ||
                !ops[i]->forward || ops[i]->check || ops[i]->trials)
                continue;
            if (ops[i]->unary)
                add_op(n, dense, turn);
            add_op(n, ops[i], turn);
        }
    }
    add_op(n, dense, 0);
    net_loss(n, loss);
    net_optimizer(n, optimizer);
    if (n->spec.loss.op->labels)
        net_labels(n, "y 5", 3);
    else
        net_tensor(n, "y 5,3", NULL);
}

/* ---- plan and walk ---- */

enum lab_status net_build(struct net *n)
{
    enum lab_status st = lab_data_open(&n->data, &n->spec, NULL, 0, NULL);
    if (st)
        return st;
    lab_data_get_shapes(n->data, &n->shapes);
    st = lab_plan_build(&n->plan, &n->spec, &n->shapes, LAB_F32);
    if (!st)
        st = lab_data_check_labels(n->data, n->plan);
    return st;
}

void net_walk_on(struct net *n, struct lab_backend *be)
{
    if (net_build(n) || lab_walk_new(&n->walk, n->plan, be, n->data, NULL)) {
        lab_backend_close(be);
        fail_msg("%s", lab_error());
    }
}

void net_walk(struct net *n, const char *backend)
{
    struct lab_backend *be;
    assert_ok(lab_backend_open(&be, backend, 0));
    net_walk_on(n, be);
}

int net_id(const struct net *n, const char *tensor)
{
    int id = lab_plan_tensor(n->plan, tensor);
    if (id < 0)
        fail_msg("the plan has no tensor %s", tensor);
    return id;
}

const struct lab_tensor *net_at(const struct net *n, const char *tensor)
{
    return &n->plan->tensors[net_id(n, tensor)];
}

double *net_read(struct net *n, const char *tensor)
{
    int id = net_id(n, tensor);
    const struct lab_tensor *t = &n->plan->tensors[id];
    void *raw = must(lab_alloc_array((size_t)t->count, sizeof(double)));
    double *out = must(lab_alloc_array((size_t)t->count, sizeof(double)));
    assert_ok(lab_walk_read(n->walk, id, false, raw));
    for (int64_t i = 0; i < t->count; i++)
        out[i] = lab_number_at(raw, t->dtype, i);
    lab_free(raw);
    return out;
}

double net_get(struct net *n, const char *tensor, int64_t i)
{
    double *all = net_read(n, tensor);
    double v = all[i];
    assert_true(i < net_at(n, tensor)->count);
    lab_free(all);
    return v;
}

void net_put(struct net *n, const char *tensor, int64_t i, double value)
{
    int id = net_id(n, tensor);
    const struct lab_tensor *t = &n->plan->tensors[id];
    float *raw = must(lab_alloc_array((size_t)t->count, sizeof(double)));
    assert_int_not_equal(t->dtype, LAB_F64);
    assert_ok(lab_walk_read(n->walk, id, false, raw));
    if (t->dtype == LAB_I32)
        ((int32_t *)(void *)raw)[i] = (int32_t)value;
    else
        raw[i] = (float)value;
    assert_ok(lab_walk_write(n->walk, id, raw));
    lab_free(raw);
}

const struct lab_step *net_step(const struct net *n, const char *name,
                                enum lab_phase phase)
{
    for (int i = 0; i < n->plan->n_steps; i++) {
        if (n->plan->steps[i].phase == phase &&
            strcmp(n->plan->steps[i].name, name) == 0)
            return &n->plan->steps[i];
    }
    fail_msg("the plan has no step %s (%s)", name, lab_phase_name(phase));
    return NULL;
}

void net_steps(struct net *n, int count)
{
    for (int i = 0; i < count; i++) {
        if (lab_walk_step(n->walk))
            fail_msg("step %d: %s", i, lab_error());
    }
}

void net_choose(struct net *n, const char *target, const char *variant)
{
    struct lab_variant_choice c = {target, variant};
    assert_ok(lab_walk_choose(n->walk, &c, target ? 1 : 0));
}

/* ---- moments ---- */

struct net_moment {
    int64_t iteration;
    int position;
    double loss;
    int n_tensors;
    void **bits; /* by tensor; NULL: not written */
};

struct net_moment *net_keep(struct net *n)
{
    const struct lab_plan *plan = n->plan;
    struct net_moment *m = must(lab_alloc(sizeof(*m)));
    m->iteration = lab_walk_iteration(n->walk);
    m->position = lab_walk_position(n->walk);
    m->loss = lab_walk_loss(n->walk);
    m->n_tensors = plan->n_tensors;
    m->bits = must(lab_alloc_array((size_t)plan->n_tensors, sizeof(void *)));
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        if (!lab_walk_written(n->walk, i))
            continue;
        m->bits[i] = must(lab_alloc_array((size_t)t->count, sizeof(double)));
        assert_ok(lab_walk_read(n->walk, i, false, m->bits[i]));
    }
    return m;
}

void net_moment_free(struct net_moment *m)
{
    if (!m)
        return;
    for (int i = 0; i < m->n_tensors; i++)
        lab_free(m->bits[i]);
    lab_free(m->bits);
    lab_free(m);
}

/* The first tensor that differs, -1: none. */
static int first_difference(const struct net *n, const struct net_moment *a,
                            const struct net_moment *b)
{
    for (int i = 0; i < a->n_tensors; i++) {
        const struct lab_tensor *t = &n->plan->tensors[i];
        size_t bytes = (size_t)t->count * lab_dtype_bytes(t->dtype);
        if (!a->bits[i] != !b->bits[i])
            return i;
        if (a->bits[i] && memcmp(a->bits[i], b->bits[i], bytes) != 0)
            return i;
    }
    return -1;
}

static bool same_loss(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

bool net_is_same(const struct net *n, const struct net_moment *want,
                 const struct net_moment *got)
{
    return want->iteration == got->iteration &&
           want->position == got->position &&
           same_loss(want->loss, got->loss) &&
           first_difference(n, want, got) < 0;
}

void net_same(const struct net *n, const char *what,
              const struct net_moment *want, const struct net_moment *got)
{
    if (want->iteration != got->iteration || want->position != got->position)
        fail_msg("%s: at %lld:%d, not at %lld:%d", what,
                 (long long)got->iteration, got->position,
                 (long long)want->iteration, want->position);
    if (!same_loss(want->loss, got->loss))
        fail_msg("%s: the loss is %g, not %g", what, got->loss, want->loss);
    int t = first_difference(n, want, got);
    if (t < 0)
        return;
    const char *how = "has other bits";
    if (!want->bits[t])
        how = "is written already";
    else if (!got->bits[t])
        how = "is not written";
    fail_msg("%s, at %lld:%d: %s %s", what, (long long)want->iteration,
             want->position, n->plan->tensors[t].name, how);
}

void net_still(struct net *n, const char *what, const struct net_moment *want)
{
    struct net_moment *now = net_keep(n);
    net_same(n, what, want, now);
    net_moment_free(now);
}

void net_alike(struct net *n, const char *what, struct net *want)
{
    struct net_moment *m = net_keep(want);
    net_still(n, what, m);
    net_moment_free(m);
}

void net_iterate(struct net *n, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        assert_ok(lab_walk_iterate(n->walk));
}

void net_nodes_of(struct net *n, const char *const *texts)
{
    for (; *texts; texts++)
        net_node(n, *texts);
}

void net_train(struct net *n, const char *loss, const char *optimizer)
{
    net_loss(n, loss);
    net_optimizer(n, optimizer);
}

void net_classes_of(struct net *n, int64_t batch, const char *optimizer,
                    const char *const *nodes)
{
    net_init(n);
    n->spec.data.source = LAB_DATA_DIGITS;
    n->spec.data.batch = batch;
    net_nodes_of(n, nodes);
    net_train(n, "softmax_cross_entropy", optimizer);
}

void net_digits(struct net *n)
{
    net_digits_of(n, 16, "adam lr=0.01 weight_decay=0.01", "fc1 dense units=8",
                  "act relu", "drop dropout p=0.3", "fc2 dense units=10");
    net_walk(n, "cpu");
}

int net_steps_of(const struct net *n)
{
    return lab_walk_schedule(n->walk)->n_steps;
}

void net_back_and_forth(struct net *n)
{
    int steps = net_steps_of(n);
    net_steps(n, steps + steps / 2);
    struct net_moment *want = net_keep(n);
    assert_ok(lab_walk_back(n->walk, steps));
    net_steps(n, steps);
    net_still(n, "after going back", want);
    net_moment_free(want);
}

int net_agree(struct net *a, struct net *b)
{
    int compared = 0;
    for (int t = 0; t < a->plan->n_tensors; t++) {
        const char *name = a->plan->tensors[t].name;
        if (!lab_walk_written(a->walk, t) || !lab_walk_written(b->walk, t))
            continue;
        compared++;
        for (int64_t i = 0; i < a->plan->tensors[t].count; i++)
            assert_float_equal(net_get(a, name, i), net_get(b, name, i), 2e-5);
    }
    return compared;
}

int net_hidden_at(const struct net *n, const char *name, enum lab_phase phase)
{
    const struct lab_schedule *s = lab_walk_schedule(n->walk);
    int at = lab_schedule_find(s, n->plan, name, (int)phase, 0);
    assert_true(at >= 0);
    return s->steps[at].hides_count;
}
