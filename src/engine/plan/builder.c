/* builder.c -- from a lesson's network to a plan: nodes that represent several
 * are expanded, data tensors, layers, loss and optimizer are built in order;
 * and what an op's definition calls to build its part: tensors, parameters,
 * steps, slices. The first error is kept. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/explain.h"
#include "engine/formula.h"
#include "plan_priv.h"

enum { TENSOR_TABLES = 4 }; /* the plan's tensors, and those beside them */

/* Readers of a tensor, and the gradients that came back so far. */
struct lab_grad_paths {
    int readers; /* live ones */
    int n;
    int id[LAB_STEP_IN];
};

struct lab_builder {
    const struct lab_network_spec *spec;
    struct lab_plan *plan;
    enum lab_status status;
    int node; /* the one being built */
    enum lab_phase phase;
    const struct lab_node_spec *node_spec;
    size_t tensor_room[TENSOR_TABLES];
    size_t step_room;
    size_t init_room;
    struct lab_grad_paths *paths;     /* by tensor */
    bool *wants;                      /* by tensor: is its gradient wanted */
    int *grad;                        /* by tensor: its gradient, or -1 */
    bool *live;                       /* by node: does the loss depend on it */
    bool has_params;                  /* of the node being built */
    int target;                       /* y, while the loss is built */
    int clip_norm;                    /* the norm of all gradients, or -1 */
    struct lab_network_spec expanded; /* the spec, with inner nodes */
    struct lab_node_spec *inner;      /* its nodes; NULL: nothing to expand */
    int n_inner;
    size_t inner_room;
    struct lab_arena texts; /* of the inner nodes */
};

/* ---- errors ---- */

static const struct lab_place no_place;

/* Keeps the first error, with the place in the lesson's file. */
static void refuse(struct lab_builder *b, struct lab_place place,
                   enum lab_status st, const char *fmt, ...) LAB_PRINTF(4, 5);
static void refuse(struct lab_builder *b, struct lab_place place,
                   enum lab_status st, const char *fmt, ...)
{
    va_list args;
    if (b->status)
        return;
    va_start(args, fmt);
    lab_failv(st, fmt, args);
    va_end(args);
    b->status = lab_network_fail_at(b->spec, place, st);
}

static void refuse_node(struct lab_builder *b, struct lab_place place,
                        enum lab_status st, const char *fmt, va_list args)
{
    if (b->status)
        return;
    lab_failv(st, fmt, args);
    lab_fail_context(st, "%s (%s)", b->node_spec ? b->node_spec->id : "network",
                     b->node_spec ? b->node_spec->op->name : "plan");
    b->status = lab_network_fail_at(b->spec, place, st);
}

void lab_build_fail(struct lab_builder *b, enum lab_status st, const char *fmt,
                    ...)
{
    struct lab_place place = {0};
    va_list args;
    if (b->node_spec)
        place = b->node_spec->place;
    va_start(args, fmt);
    refuse_node(b, place, st, fmt, args);
    va_end(args);
}

bool lab_build_same_shape(struct lab_builder *b, struct lab_shape *out,
                          const char *fmt)
{
    struct lab_shape other = lab_build_shape(b, lab_build_input(b, 1));
    char left[LAB_SHAPE_TEXT];
    char right[LAB_SHAPE_TEXT];
    *out = lab_build_shape(b, lab_build_input(b, 0));
    if (lab_shape_equal(out, &other))
        return true;
    lab_build_fail(b, LAB_E_SHAPE, fmt, lab_shape_text(out, left),
                   lab_shape_text(&other, right));
    return false;
}

void lab_build_fail_target(struct lab_builder *b, enum lab_status st,
                           const char *fmt, ...)
{
    const struct lab_data_spec *data = &b->spec->data;
    struct lab_place place = b->node_spec->place;
    va_list args;
    for (int i = 0; i < data->n_tensors; i++) {
        if (strcmp(data->tensors[i].name, "y") == 0)
            place = data->tensors[i].place;
    }
    va_start(args, fmt);
    refuse_node(b, place, st, fmt, args);
    va_end(args);
}

const char *lab_build_name(const struct lab_builder *b, int tensor)
{
    return tensor < 0 ? "?" : b->plan->tensors[tensor].name;
}

static void builder_no_memory(struct lab_builder *b)
{
    lab_build_fail(b, LAB_E_NOMEM, "no memory for the plan");
}

enum { HINT = 160 };

/* "; did you mean 'fc1'?", or "" where none of the names is near. */
static const char *hint(const char *word, const char *const *names, size_t n,
                        char out[HINT])
{
    const char *near = lab_nearest(word, names, n);
    out[0] = '\0';
    if (near)
        snprintf(out, HINT, "; did you mean '%s'?", near);
    return out;
}

/* ---- what ops ask ---- */

const struct lab_attr *lab_build_attr(const struct lab_builder *b,
                                      const char *key)
{
    static const struct lab_attr none;
    int k = lab_op_key(b->node_spec->op, key);
    return k < 0 ? &none : &b->node_spec->attr[k];
}

struct lab_node *lab_build_node(const struct lab_builder *b)
{
    return &b->plan->nodes[b->node];
}

int lab_build_input(const struct lab_builder *b, int k)
{
    return b->plan->nodes[b->node].in[k];
}

int lab_build_target(const struct lab_builder *b)
{
    return b->target;
}

struct lab_shape lab_build_shape(const struct lab_builder *b, int tensor)
{
    struct lab_shape none = {0};
    return tensor < 0 ? none : b->plan->tensors[tensor].shape;
}

enum lab_dtype lab_build_real(const struct lab_builder *b)
{
    return b->plan->real;
}

bool lab_build_nhwc(const struct lab_builder *b)
{
    return b->spec->layout == LAB_NHWC;
}

/* ---- tensors ---- */

/* Room for one more in the plan's tensors and the tables beside them. */
static bool grow_tensors(struct lab_builder *b)
{
    size_t n = (size_t)b->plan->n_tensors;
    const struct {
        void *list;
        size_t each;
    } table[TENSOR_TABLES] = {{&b->plan->tensors, sizeof(*b->plan->tensors)},
                              {&b->paths, sizeof(*b->paths)},
                              {&b->wants, sizeof(*b->wants)},
                              {&b->grad, sizeof(*b->grad)}};
    for (int i = 0; i < TENSOR_TABLES && !b->status; i++) {
        if (lab_grow(table[i].list, n, &b->tensor_room[i], table[i].each,
                     "the plan"))
            builder_no_memory(b);
    }
    return !b->status;
}

static int builder_tensor(struct lab_builder *b, const char *name,
                          const struct lab_shape *shape, enum lab_dtype dtype,
                          enum lab_tensor_role role, int node)
{
    struct lab_plan *plan = b->plan;
    struct lab_tensor t = {.shape = *shape,
                           .dtype = dtype,
                           .role = role,
                           .node = node,
                           .gradient_of = -1,
                           .alias_of = -1};
    if (b->status || !grow_tensors(b))
        return LAB_NO_TENSOR;
    if (lab_plan_tensor(plan, name) >= 0) {
        lab_build_fail(b, LAB_E_PARSE,
                       "[network.tensor-twice] two tensors would be named '%s'",
                       name);
        return LAB_NO_TENSOR;
    }
    if (lab_shape_count(shape, &t.count)) {
        char detail[256];
        snprintf(detail, sizeof(detail), "%s", lab_error());
        lab_build_fail(b, LAB_E_SHAPE, "[network.tensor-shape] tensor '%s': %s",
                       name, detail);
        return LAB_NO_TENSOR;
    }
    t.persistent = role == LAB_TENSOR_PARAM || role == LAB_TENSOR_STATE;
    t.name = lab_strdup(name);
    if (!t.name || !lab_names_add(&plan->names[LAB_NAME_TENSOR], t.name,
                                  plan->n_tensors)) {
        lab_free(t.name);
        builder_no_memory(b);
        return LAB_NO_TENSOR;
    }
    int id = plan->n_tensors++;
    plan->tensors[id] = t;
    b->paths[id] = (struct lab_grad_paths){0};
    b->wants[id] = false;
    b->grad[id] = -1;
    return id;
}

/* "<node>.<name>" of the node being built; "<of>.grad<suffix>". */
static int builder_node_tensor(struct lab_builder *b, const char *name,
                               const struct lab_shape *shape,
                               enum lab_dtype dtype, enum lab_tensor_role role)
{
    char full[256];
    if (b->status)
        return LAB_NO_TENSOR;
    snprintf(full, sizeof(full), "%s.%s", b->node_spec->id, name);
    return builder_tensor(b, full, shape, dtype, role, b->node);
}

int lab_build_out(struct lab_builder *b, const struct lab_shape *shape)
{
    const struct lab_node_spec *n = b->node_spec;
    int id = LAB_NO_TENSOR;
    if (!b->status && (n->op->kind == LAB_KIND_LOSS || n->bare_out))
        id = builder_tensor(b, n->id, shape, b->plan->real,
                            LAB_TENSOR_ACTIVATION, b->node);
    else if (!b->status)
        id = builder_node_tensor(b, "out", shape, b->plan->real,
                                 LAB_TENSOR_ACTIVATION);
    b->plan->nodes[b->node].out = id;
    return id;
}

int lab_build_part(struct lab_builder *b, const char *name,
                   const struct lab_shape *shape, enum lab_dtype dtype)
{
    return builder_node_tensor(b, name, shape, dtype, LAB_TENSOR_ACTIVATION);
}

/* A tensor that starts with a value; lessons may give it another. */
static int init_tensor(struct lab_builder *b, const char *name,
                       const struct lab_shape *shape, enum lab_tensor_role role,
                       enum lab_init init)
{
    struct lab_plan *plan = b->plan;
    int id = builder_node_tensor(b, name, shape, plan->real, role);
    if (id < 0)
        return id;
    if (lab_grow(&plan->inits, (size_t)plan->n_inits, &b->init_room,
                 sizeof(*plan->inits), "the plan")) {
        builder_no_memory(b);
        return LAB_NO_TENSOR;
    }
    plan->inits[plan->n_inits++] =
        (struct lab_param_init){.tensor = id, .init = init};
    return id;
}

int lab_build_param(struct lab_builder *b, const char *name,
                    const struct lab_shape *shape, enum lab_init init)
{
    int id = init_tensor(b, name, shape, LAB_TENSOR_PARAM, init);
    if (id < 0)
        return id;
    b->plan->parameter_count += b->plan->tensors[id].count;
    b->has_params = true;
    return id;
}

int lab_build_node_state(struct lab_builder *b, const char *name,
                         const struct lab_shape *shape, enum lab_init init)
{
    return init_tensor(b, name, shape, LAB_TENSOR_STATE, init);
}

int lab_build_state(struct lab_builder *b, int param, const char *name)
{
    char full[256];
    if (b->status || param < 0)
        return LAB_NO_TENSOR;
    struct lab_tensor t = b->plan->tensors[param];
    snprintf(full, sizeof(full), "%s.%s", t.name, name);
    return builder_tensor(b, full, &t.shape, t.dtype, LAB_TENSOR_STATE, t.node);
}

void lab_build_id_limit(struct lab_builder *b, int k, int64_t limit)
{
    struct lab_tensor *t = &b->plan->tensors[lab_build_input(b, k)];
    if (t->id_limit == 0 || limit < t->id_limit)
        t->id_limit = limit;
}

int lab_build_find(const struct lab_builder *b, const char *name)
{
    char full[256];
    snprintf(full, sizeof(full), "%s.%s", b->node_spec->id, name);
    return lab_plan_tensor(b->plan, full);
}

static int builder_grad(struct lab_builder *b, int of, const char *suffix)
{
    char full[320];
    if (b->status || of < 0)
        return LAB_NO_TENSOR;
    struct lab_tensor t = b->plan->tensors[of];
    snprintf(full, sizeof(full), "%s.grad%s", t.name, suffix);
    int id =
        builder_tensor(b, full, &t.shape, t.dtype, LAB_TENSOR_GRADIENT, t.node);
    if (id >= 0)
        b->plan->tensors[id].gradient_of = of;
    return id;
}

int lab_build_out_grad(const struct lab_builder *b)
{
    int out = b->plan->nodes[b->node].out;
    return out < 0 ? LAB_NO_TENSOR : b->grad[out];
}

int lab_build_input_grad(struct lab_builder *b, int k)
{
    char suffix[160] = "";
    int of = lab_build_input(b, k);
    if (b->status || !b->wants[of])
        return LAB_NO_TENSOR;
    struct lab_grad_paths *paths = &b->paths[of];
    int giver = b->plan->tensors[of].node;
    bool part = giver >= 0 && b->plan->nodes[giver].out != of;
    if (paths->readers > 1 || part) {
        bool again = false; /* one node may read a tensor twice */
        for (int j = 0; j < k; j++)
            again = again || lab_build_input(b, j) == of;
        snprintf(suffix, sizeof(suffix), again ? ".%s.%d" : ".%s",
                 b->node_spec->id, k);
    }
    int id = builder_grad(b, of, suffix);
    paths = &b->paths[of]; /* the table may have moved */
    if (id >= 0)
        paths->id[paths->n++] = id;
    return id;
}

static int same_memory(struct lab_builder *b, int id, int same_as)
{
    if (id >= 0)
        b->plan->tensors[id].alias_of = same_as;
    return id;
}

int lab_build_input_grad_alias(struct lab_builder *b, int k, int same_as)
{
    return same_memory(b, lab_build_input_grad(b, k), same_as);
}

int lab_build_grad(struct lab_builder *b, int tensor)
{
    int id = builder_grad(b, tensor, "");
    if (id >= 0)
        b->grad[tensor] = id;
    return id;
}

int lab_build_grad_alias(struct lab_builder *b, int tensor, int same_as)
{
    return same_memory(b, lab_build_grad(b, tensor), same_as);
}

/* The step of the op grad_sum. */
static void build_sum(struct lab_builder *b, int tensor)
{
    struct lab_grad_paths paths = b->paths[tensor];
    int total = lab_build_grad(b, tensor);
    if (total < 0)
        return;
    char formula[120];
    size_t used = 0;
    struct lab_step_def def = {
        .name = "sum",
        .n_in = paths.n,
        LAB_OUT(total),
        .formula = formula,
        .display = paths.n > 10
                       ? "$o0 = $i0 + $i1 + ...: the sum over every reader"
                       : NULL,
    };
    for (int i = 0; i < paths.n; i++)
        def.in[i] = paths.id[i];
    for (int i = 0; i < paths.n; i++)
        used += (size_t)snprintf(formula + used, sizeof(formula) - used,
                                 "%s$i%d", i ? " + " : "$o0 = ", i);
    lab_build_step(b, &def);
}

/* Any layer of that name, those that are not for lessons too. */
static const struct lab_op_def *find_inner(const char *name)
{
    int n;
    const struct lab_op_def *const *ops = lab_op_table(&n);
    for (int i = 0; i < n; i++) {
        if (ops[i]->kind == LAB_KIND_LAYER && strcmp(ops[i]->name, name) == 0)
            return ops[i];
    }
    return NULL;
}

/* Emits "<of>.sum" when several gradients came back for `tensor`; afterwards
 * b->grad[tensor] is the gradient. */
static void close_grad(struct lab_builder *b, int tensor, int node)
{
    if (b->status || b->paths[tensor].n == 0)
        return;
    if (b->paths[tensor].readers == 1) {
        b->grad[tensor] = b->paths[tensor].id[0];
        return;
    }
    struct lab_node_spec sum = *b->node_spec;
    sum.op = find_inner("grad_sum");
    const struct lab_node_spec *outer_spec = b->node_spec;
    int outer = b->node;
    b->node_spec = &sum;
    b->node = node;
    build_sum(b, tensor);
    b->node_spec = outer_spec;
    b->node = outer;
}

/* ---- steps from their definitions: names, formulas, bytes ---- */

/* "$o0" and "$i1" become tensor names. */
static char *put_names(const struct lab_plan *plan, const struct lab_step *step,
                       char *text)
{
    struct lab_str s;
    lab_str_init(&s);
    for (const char *p = text; p && *p; p++) {
        bool name = p[0] == '$' && (p[1] == 'o' || p[1] == 'i') &&
                    p[2] >= '0' && p[2] <= '9';
        if (!name) {
            size_t n = 1 + strcspn(p + 1, "$");
            lab_str_add_bytes(&s, p, n);
            p += n - 1;
            continue;
        }
        int slot = p[2] - '0';
        int id = p[1] == 'o' ? step->out[slot] : step->in[slot];
        lab_str_add(&s, id >= 0 ? plan->tensors[id].name : "?");
        p += 2;
    }
    lab_free(text);
    return lab_str_detach(&s);
}

/* A step's formula names what it reads: a gradient that is not wanted, and a
 * slope that needs only one of x and y, leave an input unread. A group's
 * formula is prose: it reads all. */
static bool reads(const char *formula, int slot, bool group)
{
    const char name[] = {'$', 'i', (char)('0' + slot), '\0'};
    return group || slot > 9 || strstr(formula, name);
}

double lab_step_tensor_bytes(const struct lab_plan *plan,
                             const struct lab_step *step, int i)
{
    const bool out = i >= step->n_in;
    const int id = out ? step->out[i - step->n_in] : step->in[i];
    if (id < 0 || (!out && !(step->read >> i & 1U)))
        return 0;
    const struct lab_tensor *t = &plan->tensors[id];
    if (out && lab_tensor_is_alias(t))
        return 0; /* written already, under its other name */
    const double size = (double)t->count * (double)lab_dtype_bytes(t->dtype);
    /* What a step updates in place is read and written. */
    return out && t->persistent ? 2 * size : size;
}

static double bytes_touched(const struct lab_plan *plan,
                            const struct lab_step *step)
{
    double bytes = 0;
    for (int i = 0; i < step->n_in + step->n_out; i++)
        bytes += lab_step_tensor_bytes(plan, step, i);
    return bytes;
}

static bool same_shape(const struct lab_plan *plan, int a, int b)
{
    return (a < 0) == (b < 0) &&
           (a < 0 ||
            lab_shape_equal(&plan->tensors[a].shape, &plan->tensors[b].shape));
}

/* The same step of an earlier place in the sequence, which has been parsed and
 * counted; NULL: there is none. */
static const struct lab_step *same_before(const struct lab_plan *plan,
                                          const struct lab_step *s,
                                          const char *source)
{
    enum { STEPS_OF_A_PLACE = 4 };
    int last = plan->n_steps - STEPS_OF_A_PLACE;
    for (int i = plan->n_steps - 1; i >= 0 && i >= last; i--) {
        const struct lab_step *t = &plan->steps[i];
        bool same = t->node == s->node && t->phase == s->phase &&
                    t->n_in == s->n_in && t->n_out == s->n_out &&
                    strcmp(t->source, source) == 0;
        for (int k = 0; same && k < s->n_in; k++)
            same = same_shape(plan, t->in[k], s->in[k]);
        for (int k = 0; same && k < s->n_out; k++)
            same = same_shape(plan, t->out[k], s->out[k]);
        if (same)
            return t;
    }
    return NULL;
}

/* Text, FLOPs and bytes. */
static enum lab_status fill_formula(struct lab_step *s,
                                    const struct lab_plan *plan,
                                    const struct lab_step_def *def, bool group)
{
    struct lab_formula_step shapes;
    struct lab_formula f;
    s->axes = def->axes;
    s->names = def->names;
    const struct lab_step *before =
        def->numbered ? same_before(plan, s, def->formula) : NULL;
    s->shared = before;
    s->source = before ? before->source : lab_strdup(def->formula);
    lab_formula_shapes(&shapes, plan, s);
    char *wanted = lab_formula_display(def->formula, &shapes);
    s->read = 0;
    for (int i = 0; i < s->n_in && wanted; i++)
        s->read |= (unsigned)reads(wanted, i, group) << i;
    if (s->source && wanted)
        s->bytes = def->bytes > 0 ? def->bytes : bytes_touched(plan, s);
    if (def->display) {
        lab_free(wanted);
        wanted = lab_formula_display(def->display, &shapes);
    }
    s->formula = put_names(plan, s, wanted);
    if (!s->source || !s->formula)
        return lab_no_memory("the plan");
    s->flop = def->flop;
    if (def->flop_each > 0)
        s->flop = def->flop_each * (double)plan->tensors[def->in[0]].count;
    if (before)
        s->flop = before->flop;
    if (before)
        return LAB_OK;
    enum lab_status st = lab_formula_of(&f, plan, s);
    if (s->flop == 0 && !st)
        s->flop = lab_formula_flop(&f);
    return st;
}

enum lab_status lab_step_fill(struct lab_step *s, const struct lab_plan *plan,
                              const struct lab_step_def *def,
                              const char *node_id, bool group)
{
    struct lab_str name;
    lab_str_init(&name);
    if (s->phase == LAB_UPDATE) /* named like the parameter */
        lab_str_add(&name, plan->tensors[def->out[0]].name);
    else
        lab_str_addf(&name, "%s.%s", node_id, def->name);
    if (def->numbered)
        lab_str_addf(&name, ".%d", def->number);
    s->kernel = def->name;
    s->n_in = def->n_in;
    s->n_out = def->n_out;
    s->explain = def->explain;
    memcpy(s->in, def->in, sizeof(s->in));
    memcpy(s->out, def->out, sizeof(s->out));
    s->name = lab_str_detach(&name);
    s->params = NULL;
    enum lab_status st = fill_formula(s, plan, def, group);
    if (!st && def->params) {
        s->params = lab_alloc(def->params_bytes);
        if (s->params)
            memcpy(s->params, def->params, def->params_bytes);
        s->params_bytes = def->params_bytes;
    }
    if (!st && s->name && (!def->params || s->params))
        return LAB_OK;
    lab_step_release(s);
    return st ? st : lab_no_memory("the plan");
}

static void count_step(struct lab_builder *b, const struct lab_step *s)
{
    struct lab_node *node = &b->plan->nodes[s->node];
    if (s->op != node->op)
        return; /* a sum of gradients, an optimizer's update */
    if (node->n_steps[s->phase]++ == 0)
        node->first_step[s->phase] = b->plan->n_steps;
}

void lab_build_step(struct lab_builder *b, const struct lab_step_def *def)
{
    struct lab_plan *plan = b->plan;
    bool wanted = false;
    for (int i = 0; i < def->n_out; i++)
        wanted = wanted || def->out[i] >= 0;
    if (b->status || !wanted)
        return;
    if (lab_grow(&plan->steps, (size_t)plan->n_steps, &b->step_room,
                 sizeof(*plan->steps), "the plan")) {
        builder_no_memory(b);
        return;
    }
    struct lab_step s = {
        .op = b->node_spec->op, .node = b->node, .phase = b->phase};
    b->status = lab_step_fill(&s, plan, def, plan->nodes[b->node].id, false);
    if (b->status)
        return;
    if (!lab_names_add(&plan->names[LAB_NAME_STEP], s.name, plan->n_steps)) {
        lab_step_release(&s);
        builder_no_memory(b);
        return;
    }
    count_step(b, &s);
    plan->steps[plan->n_steps++] = s;
}

void lab_group_params(struct lab_group_step *out, const void *params,
                      size_t bytes)
{
    memcpy(out->params.bytes, params, bytes);
    out->def.params = out->params.bytes;
    out->def.params_bytes = bytes;
}

double lab_group_flop(const struct lab_plan *plan, const struct lab_node *node,
                      enum lab_phase phase)
{
    double sum = 0;
    for (int i = 0; i < node->n_steps[phase]; i++)
        sum += plan->steps[node->first_step[phase] + i].flop;
    return sum;
}

/* ---- nodes that read a tensor twice, or a part of another node instead of its
 * result: the last state of a recurrent layer ---- */

static int giver_of(const struct lab_builder *b, int k)
{
    int input = lab_build_input(b, k);
    return input < 0 ? -1 : b->plan->tensors[input].node;
}

const char *lab_build_producer_id(const struct lab_builder *b, int k)
{
    int giver = giver_of(b, k);
    return giver < 0 ? lab_build_name(b, lab_build_input(b, k))
                     : b->plan->nodes[giver].id;
}

const struct lab_op_def *lab_build_producer_op(const struct lab_builder *b,
                                               int k)
{
    int giver = giver_of(b, k);
    return giver < 0 ? NULL : b->plan->nodes[giver].op;
}

int lab_build_producer_find(const struct lab_builder *b, int k,
                            const char *name)
{
    char full[256];
    int giver = giver_of(b, k);
    if (giver < 0)
        return LAB_NO_TENSOR;
    snprintf(full, sizeof(full), "%s.%s", b->plan->nodes[giver].id, name);
    return lab_plan_tensor(b->plan, full);
}

int lab_build_input_use(struct lab_builder *b, int k)
{
    struct lab_node *node = &b->plan->nodes[b->node];
    if (b->status || node->n_in >= LAB_STEP_IN)
        return LAB_NO_TENSOR;
    node->in[node->n_in] = node->in[k];
    return node->n_in++;
}

/* A part has one gradient, which its own node computes: there is room for what
 * one reader sends back. */
void lab_build_read_part(struct lab_builder *b, int k, int part)
{
    struct lab_plan *plan = b->plan;
    struct lab_node *node = &plan->nodes[b->node];
    if (b->status || part < 0 || k >= LAB_STEP_IN)
        return;
    struct lab_node *giver = &plan->nodes[plan->tensors[part].node];
    if (b->wants[part]) {
        lab_build_fail(b, LAB_E_UNSUPPORTED,
                       "[network.state-twice] starts from %s, and so does a "
                       "node before it: one node starts from another's state",
                       giver->id);
        return;
    }
    node->in[k] = part;
    if (k == node->n_in)
        node->n_in++;
    giver->parts_read = true;
    b->wants[part] = true;
}

int lab_build_part_returned(const struct lab_builder *b, int part)
{
    if (b->status || part < 0 || b->paths[part].n == 0)
        return LAB_NO_TENSOR;
    return b->paths[part].id[0];
}

/* ---- tensors that are parts of others ---- */

/* Part of the memory of `of`; false: it has no such part. */
static bool cut(struct lab_builder *b, int id, int of, int64_t first)
{
    if (id < 0 || of < 0)
        return false;
    struct lab_tensor *t = &b->plan->tensors[id];
    const struct lab_tensor *owner = &b->plan->tensors[of];
    if (first < 0 || first > owner->count - t->count || owner->persistent ||
        owner->alias_of >= 0 || owner->dtype != t->dtype) {
        lab_build_fail(b, LAB_E_INTERNAL, "'%s' is no part of '%s'", t->name,
                       owner->name);
        return false;
    }
    t->alias_of = of;
    t->slice = true;
    t->first = first;
    b->plan->tensors[of].sliced = true;
    return true;
}

int lab_build_slice(struct lab_builder *b, const char *name,
                    const struct lab_shape *shape, int of, int64_t first)
{
    if (b->status || of < 0)
        return LAB_NO_TENSOR;
    const struct lab_tensor *owner = &b->plan->tensors[of];
    int id = builder_node_tensor(b, name, shape, owner->dtype, owner->role);
    return cut(b, id, of, first) ? id : LAB_NO_TENSOR;
}

int lab_build_grad_slice(struct lab_builder *b, int tensor, const char *path,
                         int of, int64_t first)
{
    char suffix[160];
    snprintf(suffix, sizeof(suffix), ".%s", path ? path : "");
    int id = path ? builder_grad(b, tensor, suffix) : lab_build_grad(b, tensor);
    return of == LAB_NO_TENSOR || cut(b, id, of, first) ? id : LAB_NO_TENSOR;
}

/* ---- the data tensors of a plan: what the lesson or its source brings, as its
 * readers take it ---- */

static bool reads_data(const struct lab_network_spec *spec, int i,
                       const char *name)
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
        if (spec->nodes[i].op->takes_images && reads_data(spec, i, "x"))
            return true;
    }
    return false;
}

/* The first node that takes the data `name` as ids; NULL: none. */
static const struct lab_node_spec *
reader_of_ids(const struct lab_network_spec *spec, const char *name)
{
    for (int i = 0; i < spec->n_nodes; i++) {
        if (spec->nodes[i].op->takes_ids && reads_data(spec, i, name))
            return &spec->nodes[i];
    }
    return NULL;
}

static int data_tensor(struct lab_builder *b, const char *name,
                       const struct lab_shape *shape, enum lab_dtype dtype)
{
    return builder_tensor(b, name, shape, dtype, LAB_TENSOR_DATA, -1);
}

/* The place of a data tensor is known here, and not where it is made. */
static bool data_fits(struct lab_builder *b, const struct lab_tensor_spec *t,
                      const struct lab_shape *shape)
{
    int64_t count;
    char detail[256];
    if (lab_plan_tensor(b->plan, t->name) >= 0) {
        refuse(b, t->place, LAB_E_PARSE,
               "[network.data-twice] two data tensors are named '%s'", t->name);
    } else if (lab_shape_count(shape, &count)) {
        snprintf(detail, sizeof(detail), "%s", lab_error());
        refuse(b, t->place, LAB_E_SHAPE, "[network.data-shape] tensor '%s': %s",
               t->name, detail);
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
            refuse(b, t->place, LAB_E_PARSE,
                   "[network.fractions] %s holds fractions, but %s takes %s: "
                   "whole numbers from 0",
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
        refuse(b, b->spec->data.place, LAB_E_STATE,
               "[network.no-data] the data is not loaded");
    } else {
        bool image =
            shapes->x_image.rank > 0 && any_reader_takes_images(b->spec);
        data_tensor(b, "x", image ? &shapes->x_image : &shapes->x,
                    reader_of_ids(b->spec, "x") ? LAB_I32 : plan->real);
        if (!shapes->y_integers && b->spec->loss.op->labels)
            refuse(b, b->spec->data.place, LAB_E_PARSE,
                   "[network.class-labels] the loss takes class labels, the "
                   "data has real targets");
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
};

static struct lab_node_spec *next_node(struct lab_builder *b)
{
    if (!b->status)
        b->status = lab_grow(&b->inner, (size_t)b->n_inner, &b->inner_room,
                             sizeof(*b->inner), "the network");
    return b->status ? NULL : &b->inner[b->n_inner++];
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
    char *copy = lab_arena_text(&e->b->texts, id, strlen(id));
    if (!copy && !e->b->status)
        e->b->status = lab_no_memory("the network");
    return copy;
}

void lab_expand_node(struct lab_expansion *e, const char *name, const char *op,
                     const char *first, const char *second)
{
    struct lab_node_spec *n = next_node(e->b);
    if (!n)
        return;
    *n = (struct lab_node_spec){.place = e->node->place,
                                .from_place = e->node->from_place,
                                .op = find_inner(op),
                                .outer = e->node->op};
    n->bare_out = name && name[0] == '=';
    n->id = inner_id(e, n->bare_out ? name + 1 : name);
    lab_op_defaults(n->op, n->attr);
    n->from = lab_arena_array(&e->b->texts, 2, sizeof(*n->from));
    if (!n->from && !e->b->status)
        e->b->status = lab_no_memory("the network");
    if (e->b->status)
        return;
    n->from[n->n_from++] = inner_id(e, first);
    if (second)
        n->from[n->n_from++] = inner_id(e, second);
}

void lab_expand_key(struct lab_expansion *e, const char *key,
                    const char *outer_key)
{
    if (e->b->status)
        return;
    struct lab_node_spec *n = &e->b->inner[e->b->n_inner - 1];
    n->attr[lab_op_key(n->op, key)] =
        e->node->attr[lab_op_key(e->node->op, outer_key)];
}

void lab_expand_int(struct lab_expansion *e, const char *key, int64_t value)
{
    if (e->b->status)
        return;
    struct lab_node_spec *n = &e->b->inner[e->b->n_inner - 1];
    n->attr[lab_op_key(n->op, key)] = (struct lab_attr){
        .i = value, .b = value != 0, .choice = -1, .list = {value}, .n = 1};
}

const struct lab_attr *lab_expand_attr(const struct lab_expansion *e,
                                       const char *key)
{
    return &e->node->attr[lab_op_key(e->node->op, key)];
}

void lab_expand_width(struct lab_expansion *e, const char *of)
{
    if (!e->b->status)
        e->b->inner[e->b->n_inner - 1].width_of = inner_id(e, of);
}

static void expand_node(struct lab_expansion *e, const struct lab_node_spec *n)
{
    struct lab_builder *b = e->b;
    if (strchr(n->id, '.'))
        refuse(b, n->place, LAB_E_PARSE,
               "[network.id-dot-inner] %s (%s): '%s' cannot be a node's id: a "
               "dot parts a node from its tensors",
               n->id, n->op->name, n->id);
    else if (n->n_from > n->op->max_inputs)
        refuse(b, n->from_place, LAB_E_PARSE,
               "[network.inputs-inner] %s (%s): takes %d input, from: gives %d",
               n->id, n->op->name, n->op->max_inputs, n->n_from);
    else
        n->op->expand(e);
}

/* Nodes that stay as they are belong to the lesson. */
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
        if (e.node->op->expand) {
            expand_node(&e, e.node);
        } else {
            struct lab_node_spec *copy = next_node(b);
            if (copy)
                *copy = *e.node;
        }
    }
    b->expanded = *spec;
    b->expanded.nodes = b->inner;
    b->expanded.n_nodes = b->n_inner;
    if (!b->status)
        b->spec = &b->expanded;
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
            refuse(b, n->from_place, LAB_E_PARSE,
                   "[network.from-later] node '%s' reads '%s', which comes "
                   "after it: a node reads data or earlier nodes",
                   n->id, name);
            return -1;
        }
    }
    char near[HINT];
    refuse(b, n->from_place, LAB_E_PARSE,
           "[network.from] node '%s' reads '%s', and there is no such node or "
           "data%s",
           n->id, name, hint(name, names, count, near));
    return -1;
}

/* Whole numbers go where ids are taken, and only there. */
static void check_kind(struct lab_builder *b, const struct lab_node_spec *n,
                       const struct lab_tensor *t)
{
    struct lab_place place = n->n_from ? n->from_place : n->place;
    bool integers = t->dtype == LAB_I32;
    if (integers && !n->op->takes_ids)
        refuse(b, place, LAB_E_PARSE,
               "[network.from-labels] node '%s' reads '%s', which holds class "
               "labels or ids: %s takes real numbers",
               n->id, t->name, n->op->name);
    else if (!integers && n->op->takes_ids)
        refuse(b, place, LAB_E_PARSE,
               "[network.from-real] node '%s' reads '%s', which holds real "
               "numbers: %s takes ids, whole numbers in the data",
               n->id, t->name, n->op->name);
}

static void connect(struct lab_builder *b, struct lab_node *node,
                    const struct lab_node_spec *n)
{
    if (n->n_from > LAB_STEP_IN) {
        refuse(b, n->from_place, LAB_E_PARSE,
               "[network.from-count] a node reads at most 16 others");
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
                           "[network.no-x] there is no x in the data: say what "
                           "this node reads with from:");
    }
    for (int k = 0; k < node->n_in && !b->status; k++)
        check_kind(b, n, &b->plan->tensors[node->in[k]]);
    int most = n->op->max_inputs;
    if (!b->status && (node->n_in < n->op->min_inputs || node->n_in > most))
        lab_build_fail(b, LAB_E_PARSE,
                       "[network.inputs] takes %d input%s, from: gives %d",
                       most, most == 1 ? "" : "s", node->n_in);
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
        lab_build_fail(
            b, LAB_E_NOT_BUILT,
            "[network.op-not-built] this version does not run the op '%s' yet",
            n->op->name);
    else if (strchr(n->id, '.') && !n->outer)
        lab_build_fail(b, LAB_E_PARSE,
                       "[network.id-dot] '%s' cannot be a node's id: a dot "
                       "parts a node from its tensors",
                       n->id);
    else if (n != &b->spec->loss && is_taken(b, n->id))
        lab_build_fail(b, LAB_E_PARSE,
                       "[network.id-name] '%s' cannot be a node's id: it names "
                       "the data, the loss or the optimizer",
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
        lab_build_fail(b, LAB_E_PARSE,
                       "[network.no-y] the loss needs y: give it under data:");
        return;
    }
    b->phase = LAB_LOSS;
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
            lab_build_fail(b, LAB_E_UNSUPPORTED,
                           "[network.readers] more than %d nodes read '%s'",
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
    b->phase = LAB_BACKWARD;
    for (int i = plan->n_nodes - 1; i >= 0 && !b->status; i--) {
        struct lab_node *node = &plan->nodes[i];
        b->node = i;
        b->node_spec = spec_of(b, i);
        if (!b->live[i])
            continue;
        if (i != plan->loss_node) {
            if (!b->wants[node->out])
                continue;
            close_grad(b, node->out, i);
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
        close_grad(b, t, index);
    }
}

int lab_build_clip_norm(const struct lab_builder *b)
{
    return b->clip_norm;
}

/* The step `norm` of the op grad_sum: "<gradient>.norm", and the norm of all of them
 * up to it; b->clip_norm is the last one's. */
static void build_norm(struct lab_builder *b, int grad)
{
    const struct lab_shape scalar = {0};
    struct lab_plan *plan = b->plan;
    const struct lab_tensor *t = &plan->tensors[grad];
    const char *axes = lab_explain_axes(t->shape.rank);
    bool first = b->clip_norm < 0;
    char name[256];
    char formula[120];
    snprintf(formula, sizeof(formula), "$o0 = sqrt(sum_%s $i0[%s]^2); $o1 = %s",
             axes, axes, first ? "$o0" : "sqrt($i1^2 + $o0^2)");
    snprintf(name, sizeof(name), "%s.norm", t->name);
    int norm = builder_tensor(b, name, &scalar, plan->real,
                              LAB_TENSOR_ACTIVATION, b->node);
    snprintf(name, sizeof(name), "%s.norm_to_here", plan->tensors[grad].name);
    int all = builder_tensor(b, name, &scalar, plan->real,
                             LAB_TENSOR_ACTIVATION, b->node);
    struct lab_step_def def = {.name = "norm",
                               .in = {grad, b->clip_norm},
                               .n_in = first ? 1 : 2,
                               LAB_OUT(norm, all),
                               .formula = formula};
    lab_build_step(b, &def);
    b->clip_norm = all;
}

/* Every parameter with a gradient, in their order. */
static void each_updated(struct lab_builder *b, int n,
                         void (*build)(struct lab_builder *b, int param))
{
    struct lab_plan *plan = b->plan;
    for (int t = 0; t < n && !b->status; t++) {
        if (plan->tensors[t].role != LAB_TENSOR_PARAM || b->grad[t] < 0)
            continue;
        b->node = plan->tensors[t].node;
        build(b, t);
    }
}

static void build_param_norm(struct lab_builder *b, int param)
{
    build_norm(b, b->grad[param]);
}

static void build_param_update(struct lab_builder *b, int param)
{
    b->node_spec->op->update(b, param, b->grad[param]);
}

/* Which schedules use a key, and which need it. */
static const struct {
    const char *key;
    unsigned used; /* 1 << kind */
    unsigned needed;
} rate_keys[] = {
    {"every", 1u << LAB_RATE_STEP | 1u << LAB_RATE_EXPONENTIAL,
     1u << LAB_RATE_STEP | 1u << LAB_RATE_EXPONENTIAL},
    {"factor", 1u << LAB_RATE_STEP | 1u << LAB_RATE_EXPONENTIAL, 0},
    {"over", 1u << LAB_RATE_COSINE, 1u << LAB_RATE_COSINE},
    {"lr_end",
     1u << LAB_RATE_STEP | 1u << LAB_RATE_EXPONENTIAL | 1u << LAB_RATE_COSINE,
     0},
};

static bool check_rate_keys(struct lab_builder *b, enum lab_rate_kind kind)
{
    for (size_t i = 0; i < sizeof(rate_keys) / sizeof(rate_keys[0]); i++) {
        bool set = lab_build_attr(b, rate_keys[i].key)->set;
        if (set && !(rate_keys[i].used & 1u << kind))
            lab_build_fail(
                b, LAB_E_PARSE,
                "[network.schedule-key] %s: a %s learning rate has no use "
                "for it; schedule: names another",
                rate_keys[i].key, lab_rate_names[kind]);
        else if (!set && rate_keys[i].needed & 1u << kind)
            lab_build_fail(
                b, LAB_E_PARSE,
                "[network.schedule-key-missing] schedule %s needs %s, a "
                "number of iterations",
                lab_rate_names[kind], rate_keys[i].key);
        else
            continue;
        return false;
    }
    return true;
}

/* The optimizer's keys, in update(); one that the schedule does not use is
 * refused. */
static void read_rate(struct lab_builder *b, struct lab_rate *out)
{
    struct lab_rate r = {
        .kind = (enum lab_rate_kind)lab_build_attr(b, "schedule")->choice,
        .warmup = lab_build_attr(b, "warmup")->i,
        .every = lab_build_attr(b, "every")->i,
        .factor = lab_build_attr(b, "factor")->f,
        .over = lab_build_attr(b, "over")->i,
        .end = lab_build_attr(b, "lr_end")->f,
        .clip = lab_build_attr(b, "clip_norm")->f};
    if (!check_rate_keys(b, r.kind))
        return;
    if (r.end > lab_build_attr(b, "lr")->f)
        lab_build_fail(b, LAB_E_RANGE, "[network.lr-end] lr_end %g is above lr",
                       r.end);
    *out = r;
}

static void build_update(struct lab_builder *b, struct lab_node_spec *optimizer)
{
    int n = b->plan->n_tensors; /* state tensors come after */
    struct lab_node_spec norm = *optimizer;
    norm.op = find_inner("grad_sum");
    b->phase = LAB_UPDATE;
    b->clip_norm = LAB_NO_TENSOR;
    b->node_spec = optimizer;
    read_rate(b, &b->plan->rate);
    b->node_spec = &norm;
    if (b->plan->rate.clip > 0)
        each_updated(b, n, build_param_norm);
    b->node_spec = optimizer;
    each_updated(b, n, build_param_update);
    b->node_spec = NULL; /* the optimizer's is the caller's local */
}

/* ---- names that the lesson uses ---- */

static struct lab_param_init *find_init(struct lab_plan *plan, int tensor)
{
    for (int i = 0; i < plan->n_inits; i++) {
        if (plan->inits[i].tensor == tensor)
            return &plan->inits[i];
    }
    return NULL;
}

/* params_only: the tensor must be a parameter. */
static void no_tensor(struct lab_builder *b, struct lab_place place,
                      const char *what, const char *name, bool params_only)
{
    const char *names[256];
    size_t count = 0;
    for (int i = 0; i < b->plan->n_tensors && count < 256; i++) {
        if (!params_only || find_init(b->plan, i))
            names[count++] = b->plan->tensors[i].name;
    }
    char near[HINT];
    refuse(b, place, LAB_E_NOTFOUND,
           "[network.watch] %s names '%s', and this network has no such %s%s",
           what, name, params_only ? "parameter" : "tensor",
           hint(name, names, count, near));
}

static void apply_parameter(struct lab_builder *b,
                            const struct lab_tensor_spec *p)
{
    int id = lab_plan_tensor(b->plan, p->name);
    struct lab_param_init *init = find_init(b->plan, id);
    if (id < 0 || !init) {
        no_tensor(b, p->place, "parameters:", p->name, true);
        return;
    }
    const struct lab_tensor *t = &b->plan->tensors[id];
    if (!lab_shape_equal(&t->shape, &p->shape)) {
        char want[LAB_SHAPE_TEXT];
        char got[LAB_SHAPE_TEXT];
        refuse(b, p->place, LAB_E_SHAPE,
               "[network.parameter-shape] parameter %s is %s in this network, "
               "the lesson gives %s",
               p->name, lab_shape_text(&t->shape, want),
               lab_shape_text(&p->shape, got));
        return;
    }
    if (!p->values) {
        init->filled = true;
        init->fill = p->fill;
        return;
    }
    lab_free(init->values); /* a lesson that gives it twice: the last one */
    init->values = lab_alloc_array((size_t)t->count, sizeof(double));
    if (!init->values) {
        refuse(b, p->place, LAB_E_NOMEM, "no memory for the parameter");
        return;
    }
    memcpy(init->values, p->values, (size_t)t->count * sizeof(double));
}

static bool step_exists(const struct lab_plan *plan, const char *name)
{
    return lab_plan_step(plan, name) >= 0 || lab_plan_node(plan, name) >= 0;
}

static void check_step_name(struct lab_builder *b, struct lab_place place,
                            const char *name)
{
    const char *names[256];
    size_t count = 0;
    if (step_exists(b->plan, name))
        return;
    for (int i = 0; i < b->plan->n_steps && count < 256; i++)
        names[count++] = b->plan->steps[i].name;
    char near[HINT];
    refuse(b, place, LAB_E_NOTFOUND,
           "[network.break] break: names the step '%s', and this network has "
           "none of that name%s",
           name, hint(name, names, count, near));
}

/* The values stand in a row from `at`, and must not run over the tensor. */
static void check_printed(struct lab_builder *b,
                          const struct lab_course_values_spec *p)
{
    int id = lab_plan_tensor(b->plan, p->tensor);
    if (id < 0) {
        no_tensor(b, p->place, "printed:", p->tensor, false);
        return;
    }
    const struct lab_tensor *t = &b->plan->tensors[id];
    char shape[LAB_SHAPE_TEXT];
    char at[LAB_SHAPE_TEXT];
    int64_t first = 0;
    if (p->at.rank > 0)
        first = lab_shape_ravel(&t->shape, p->at.dim, p->at.rank);
    if (first >= 0 && p->n_values <= t->count - first)
        return;
    refuse(b, p->place, LAB_E_SHAPE,
           "[network.printed] printed: gives %d value%s of %s from %s, and %s "
           "is %s",
           p->n_values, p->n_values == 1 ? "" : "s", p->tensor,
           p->at.rank > 0 ? lab_shape_text(&p->at, at) : "its first element",
           p->tensor, lab_shape_text(&t->shape, shape));
}

/* Names of variants on any backend, this machine's or another's: a lesson may
 * choose one that is not to be had here, but not an unknown one. */
static const char *const known_variants[] = {LAB_VARIANT_DEFAULT,
                                             "naive",
                                             "blas",
                                             "onednn",
                                             "tiled",
                                             "blocked",
                                             "cublas",
                                             "fused",
                                             "warp",
                                             "block",
                                             "tile",
                                             "split",
                                             "vector",
                                             "cudnn",
                                             "cudnn_implicit_gemm",
                                             "cudnn_precomp_gemm",
                                             "cudnn_gemm",
                                             "cudnn_fft",
                                             "cudnn_fft_tiling",
                                             "cudnn_winograd",
                                             "cudnn_winograd_nonfused",
                                             "unstable",
                                             "direct"};
enum { N_KNOWN = sizeof(known_variants) / sizeof(known_variants[0]) };

static bool names_node(const struct lab_plan *plan, const char *target)
{
    size_t n = strlen(target);
    for (int i = 0; i < plan->n_nodes; i++) {
        const char *id = plan->nodes[i].id;
        /* A block's id represents its inner nodes, "block1.attn". */
        if (strncmp(id, target, n) == 0 && (id[n] == '\0' || id[n] == '.'))
            return true;
    }
    return strcmp(target, "*") == 0 || lab_op_find(target, LAB_KIND_LAYER) ||
           lab_op_find(target, LAB_KIND_LOSS) ||
           lab_op_find(target, LAB_KIND_OPTIMIZER);
}

static void check_variant(struct lab_builder *b,
                          const struct lab_variant_spec *v)
{
    for (int i = 0; i < N_KNOWN; i++) {
        if (strcmp(known_variants[i], v->variant) != 0)
            continue;
        if (!names_node(b->plan, v->target))
            refuse(b, v->place, LAB_E_NOTFOUND,
                   "[network.variant-node] variants: '%s' is no node of this "
                   "network and no op",
                   v->target);
        return;
    }
    char near[HINT];
    refuse(b, v->place, LAB_E_NOTFOUND,
           "[network.variant] variants: no backend has a variant '%s'%s",
           v->variant, hint(v->variant, known_variants, N_KNOWN, near));
}

/* What a lesson states about parameters, steps and tensors, compared with the
 * plan. */
static void check_names(struct lab_builder *b)
{
    const struct lab_network_spec *spec = b->spec;
    for (int i = 0; i < spec->n_parameters && !b->status; i++)
        apply_parameter(b, &spec->parameters[i]);
    for (int i = 0; i < spec->n_watch && !b->status; i++) {
        if (lab_plan_tensor(b->plan, spec->watch[i]) < 0)
            no_tensor(b, no_place, "watch:", spec->watch[i], false);
    }
    for (int i = 0; i < spec->n_breaks && !b->status; i++) {
        if (spec->breaks[i].kind == LAB_BREAK_STEP)
            check_step_name(b, spec->breaks[i].place, spec->breaks[i].step);
    }
    for (int i = 0; i < spec->n_variants && !b->status; i++)
        check_variant(b, &spec->variants[i]);
    for (int i = 0; i < spec->n_printed && !b->status; i++)
        check_printed(b, &spec->printed[i]);
}

/* ---- memory ---- */

/* A gap follows, so that an index past the end is in no other tensor. */
static void place_one(struct lab_builder *b, struct lab_tensor *t, size_t *at)
{
    enum { ALIGN = 256, GAP = 16 };
    size_t bytes;
    t->offset = *at;
    if (!lab_mul_size((size_t)t->count, lab_dtype_bytes(t->dtype), &bytes) ||
        !lab_add_size(bytes, GAP + ALIGN - 1, &bytes) ||
        !lab_add_size(*at, bytes & ~(size_t)(ALIGN - 1), at)) {
        refuse(b, no_place, LAB_E_SHAPE,
               "[network.memory] the tensors up to '%s' are larger than any "
               "memory",
               t->name);
    }
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
    optimizer.id = "optimizer";
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
    check_names(b);
    if (!b->status)
        place_memory(b);
}

static enum lab_status check_precision(const struct lab_network_spec *spec)
{
    if (spec->precision == LAB_FP32)
        return LAB_OK;
    return lab_network_fail(spec, spec->precision_place, LAB_E_UNSUPPORTED,
                            "[network.precision] precision %s is not available "
                            "in this version: use fp32",
                            lab_precision_name(spec->precision));
}

static void mark_explained(struct lab_plan *plan,
                           const struct lab_network_spec *spec)
{
    for (int k = 0; k < spec->n_explained; k++) {
        for (int i = 0; i < plan->n_steps; i++) {
            const struct lab_step *s = &plan->steps[i];
            if (strcmp(spec->explained[k], s->name) != 0)
                continue;
            for (int n = 0; n < plan->n_nodes; n++)
                plan->nodes[n].explained[s->phase] |=
                    plan->nodes[n].op == s->op;
        }
    }
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
        return lab_network_fail(
            spec, no_place, LAB_E_PARSE,
            "[network.empty] a lesson needs a network and a loss");
    builder_expand(&b);
    spec = b.spec;
    struct lab_plan *plan = lab_alloc(sizeof(*plan));
    size_t most_nodes =
        (size_t)spec->n_nodes + 1 + (size_t)spec->data.n_tensors + 1;
    b.plan = plan;
    if (plan) {
        plan->nodes = lab_alloc_array(most_nodes, sizeof(*plan->nodes));
        plan->file = spec->file ? lab_strdup(spec->file) : NULL;
        plan->data_place = spec->data.place;
    }
    b.live = lab_alloc_array(most_nodes, sizeof(*b.live));
    if (!b.status &&
        (!plan || !plan->nodes || !b.live || (spec->file && !plan->file)))
        b.status = lab_no_memory("the plan");
    if (!b.status) {
        plan->real = real;
        plan->seed = spec->seed;
        plan->precision = real == LAB_F64 ? LAB_FP64 : spec->precision;
        plan->layout = spec->layout;
        plan->out = plan->loss = plan->loss_sample = -1;
        build_all(&b, shapes);
    }
    if (!b.status)
        mark_explained(plan, spec);
    lab_free(b.paths);
    lab_free(b.wants);
    lab_free(b.grad);
    lab_free(b.live);
    lab_free(b.inner);
    lab_arena_release(&b.texts);
    if (b.status) {
        lab_plan_free(plan);
        return b.status;
    }
    *out = plan;
    return LAB_OK;
}
