/* builder.c -- what an op's definition calls to build its part of the plan:
 * tensors, parameters, steps, groups, slices. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/formula.h"
#include "engine/op.h"
#include "plan_priv.h"

static int builder_grad(struct lab_builder *b, int of, const char *suffix);
static void builder_no_memory(struct lab_builder *b);
static int builder_node_tensor(struct lab_builder *b, const char *name,
                               const struct lab_shape *shape,
                               enum lab_dtype dtype, enum lab_tensor_role role);

/* Steps from their definitions: names, formulas, bytes. */

static void find_shapes(struct lab_formula_step *out,
                        const struct lab_plan *plan,
                        const struct lab_step *step)
{
    const struct lab_node *node = &plan->nodes[step->node];
    *out = (struct lab_formula_step){.axes = step->axes};
    for (int i = 0; i < step->n_in; i++)
        out->in[i] = step->in[i] < 0 ? NULL : &plan->tensors[step->in[i]].shape;
    for (int i = 0; i < step->n_out; i++)
        out->out[i] =
            step->out[i] < 0 ? NULL : &plan->tensors[step->out[i]].shape;
    if (step->op == node->op) { /* no optimizer's */
        out->keys = node->op->keys;
        out->n_keys = node->op->n_keys;
        out->attr = node->attr;
    }
}

enum lab_status lab_formula_of(struct lab_formula *f,
                               const struct lab_plan *plan,
                               const struct lab_step *step)
{
    struct lab_formula_step shapes;
    find_shapes(&shapes, plan, step);
    return lab_formula_parse(f, step->source ? step->source : "", &shapes);
}

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
 * slope that needs only one of x and y, leave an input unread. A group's formula
 * is prose: it reads all. */
static bool reads(const char *formula, int slot, bool group)
{
    const char name[] = {'$', 'i', (char)('0' + slot), '\0'};
    return group || slot > 9 || strstr(formula, name);
}

static double bytes_touched(const struct lab_plan *plan,
                            const struct lab_step_def *def, const char *formula,
                            bool group)
{
    double bytes = 0;
    for (int i = 0; i < def->n_in + def->n_out; i++) {
        int id = i < def->n_in ? def->in[i] : def->out[i - def->n_in];
        if (id < 0 || (i < def->n_in && !reads(formula, i, group)))
            continue;
        const struct lab_tensor *t = &plan->tensors[id];
        if (i >= def->n_in && t->alias_of >= 0 && !t->slice)
            continue; /* written already, under its other name */
        double size = (double)t->count * (double)lab_dtype_bytes(t->dtype);
        /* What a step updates in place is read and written. */
        bytes += i >= def->n_in && t->persistent ? 2 * size : size;
    }
    return bytes;
}

static bool grow_steps(struct lab_builder *b)
{
    if (b->plan->n_steps < b->step_room)
        return true;
    int room = b->step_room ? b->step_room * 2 : 64;
    void *p = lab_realloc_array(b->plan->steps, (size_t)room,
                                sizeof(*b->plan->steps));
    if (!p) {
        builder_no_memory(b);
        return false;
    }
    b->plan->steps = p;
    b->step_room = room;
    return true;
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
    find_shapes(&shapes, plan, s);
    char *wanted = lab_formula_display(def->formula, &shapes);
    if (s->source && wanted)
        s->bytes = def->bytes > 0 ? def->bytes
                                  : bytes_touched(plan, def, wanted, group);
    if (def->display) {
        lab_free(wanted);
        wanted = lab_formula_display(def->display, &shapes);
    }
    s->formula = put_names(plan, s, wanted);
    if (!s->source || !s->formula)
        return lab_no_memory("the plan");
    s->flop = before ? before->flop : def->flop;
    if (before)
        return LAB_OK;
    enum lab_status st = lab_formula_parse(&f, s->source, &shapes);
    s->flop = def->flop > 0 || st ? def->flop : lab_formula_flop(&f);
    return st;
}

enum lab_status lab_step_fill(struct lab_step *s, const struct lab_plan *plan,
                              const struct lab_step_def *def,
                              const char *node_id, bool group)
{
    struct lab_str name;
    lab_str_init(&name);
    if (def->phase == LAB_UPDATE) /* named like the parameter */
        lab_str_add(&name, plan->tensors[def->out[0]].name);
    else
        lab_str_addf(&name, "%s.%s", node_id, def->name);
    if (def->numbered)
        lab_str_addf(&name, ".%d", def->number);
    s->kernel = def->name;
    s->phase = def->phase;
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
    if (b->status || !grow_steps(b))
        return;
    struct lab_step s = {.op = b->node_spec->op, .node = b->node};
    b->status =
        lab_step_fill(&s, b->plan, def, b->plan->nodes[b->node].id, false);
    if (b->status)
        return;
    struct lab_names *names = &b->plan->names[LAB_NAME_STEP];
    if (!lab_names_add(names, s.name, b->plan->n_steps)) {
        lab_step_release(&s);
        builder_no_memory(b);
        return;
    }
    count_step(b, &s);
    b->plan->steps[b->plan->n_steps++] = s;
}

/* Nodes that read a tensor twice, or a part of another node instead of its
 * result: the last state of a recurrent layer. */

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
                       "starts from %s, and so does a node before it: one node "
                       "starts from another's state",
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

void lab_build_no_group(struct lab_builder *b, const char *why)
{
    b->plan->nodes[b->node].no_group = why;
}

/* Tensors that are parts of others, as ops/<op>.c declare them. */

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

int lab_build_grad_path(struct lab_builder *b, int tensor, const char *path)
{
    char suffix[160];
    snprintf(suffix, sizeof(suffix), ".%s", path);
    return builder_grad(b, tensor, suffix);
}

int lab_build_grad_slice(struct lab_builder *b, int tensor, const char *path,
                         int of, int64_t first)
{
    int id =
        path ? lab_build_grad_path(b, tensor, path) : lab_build_grad(b, tensor);
    return cut(b, id, of, first) ? id : LAB_NO_TENSOR;
}

/* The functions that ops/<op>.c call to declare tensors; build_step.c has the
 * steps. */

static void fail_v(struct lab_builder *b, struct lab_place place,
                   enum lab_status st, const char *fmt, va_list args)
{
    char text[640];
    if (b->status)
        return;
    vsnprintf(text, sizeof(text), fmt, args);
    b->status =
        lab_network_fail(b->spec, place, st, "%s (%s): %s",
                         b->node_spec ? b->node_spec->id : "network",
                         b->node_spec ? b->node_spec->op->name : "plan", text);
}

void lab_build_fail(struct lab_builder *b, enum lab_status st, const char *fmt,
                    ...)
{
    struct lab_place place = {0};
    va_list args;
    if (b->node_spec)
        place = b->node_spec->place;
    va_start(args, fmt);
    fail_v(b, place, st, fmt, args);
    va_end(args);
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
    fail_v(b, place, st, fmt, args);
    va_end(args);
}

const char *lab_build_name(const struct lab_builder *b, int tensor)
{
    return tensor < 0 ? "?" : b->plan->tensors[tensor].name;
}

/* fails the plan */
static void builder_no_memory(struct lab_builder *b)
{
    lab_build_fail(b, LAB_E_NOMEM, "no memory for the plan");
}

const struct lab_attr *lab_build_attr(const struct lab_builder *b,
                                      const char *key)
{
    static const struct lab_attr none;
    int k = lab_op_key(b->node_spec->op, key);
    return k < 0 ? &none : &b->node_spec->attr[k];
}

const struct lab_op_def *lab_build_op(const struct lab_builder *b)
{
    return b->node_spec->op;
}

const struct lab_attr *lab_build_attrs(const struct lab_builder *b)
{
    return b->node_spec->attr;
}

int lab_build_n_inputs(const struct lab_builder *b)
{
    return b->plan->nodes[b->node].n_in;
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

/* Grows the plan's tensors and the builder's tables beside them together. */
static bool grow_tensors(struct lab_builder *b)
{
    struct lab_plan *plan = b->plan;
    if (plan->n_tensors < b->tensor_room)
        return true;
    int room = b->tensor_room ? b->tensor_room * 2 : 64;
    struct {
        void **list;
        size_t each;
    } table[] = {{(void **)&plan->tensors, sizeof(*plan->tensors)},
                 {(void **)&b->paths, sizeof(*b->paths)},
                 {(void **)&b->wants, sizeof(*b->wants)},
                 {(void **)&b->grad, sizeof(*b->grad)}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        void *p =
            lab_realloc_array(*table[i].list, (size_t)room, table[i].each);
        if (!p) {
            builder_no_memory(b);
            return false;
        }
        *table[i].list = p;
    }
    b->tensor_room = room;
    return true;
}

int lab_builder_tensor(struct lab_builder *b, const char *name,
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
        lab_build_fail(b, LAB_E_PARSE, "two tensors would be named '%s'", name);
        return LAB_NO_TENSOR;
    }
    if (lab_shape_count(shape, &t.count)) {
        char detail[256];
        snprintf(detail, sizeof(detail), "%s", lab_error());
        lab_build_fail(b, LAB_E_SHAPE, "tensor '%s': %s", name, detail);
        return LAB_NO_TENSOR;
    }
    t.persistent = role == LAB_TENSOR_PARAM || role == LAB_TENSOR_STATE;
    t.name = lab_strdup(name);
    if (!t.name) {
        builder_no_memory(b);
        return LAB_NO_TENSOR;
    }
    if (!lab_names_add(&plan->names[LAB_NAME_TENSOR], t.name,
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
    return lab_builder_tensor(b, full, shape, dtype, role, b->node);
}

int lab_build_out(struct lab_builder *b, const struct lab_shape *shape)
{
    const struct lab_node_spec *n = b->node_spec;
    int id = LAB_NO_TENSOR;
    if (!b->status && (n->op->kind == LAB_KIND_LOSS || n->bare_out))
        id = lab_builder_tensor(b, n->id, shape, b->plan->real,
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
    if (plan->n_inits == b->init_room) {
        int room = b->init_room ? b->init_room * 2 : 16;
        void *p =
            lab_realloc_array(plan->inits, (size_t)room, sizeof(*plan->inits));
        if (!p) {
            builder_no_memory(b);
            return LAB_NO_TENSOR;
        }
        plan->inits = p;
        b->init_room = room;
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
    return lab_builder_tensor(b, full, &t.shape, t.dtype, LAB_TENSOR_STATE,
                              t.node);
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
    int id = lab_builder_tensor(b, full, &t.shape, t.dtype, LAB_TENSOR_GRADIENT,
                                t.node);
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

int lab_build_input_grad_alias(struct lab_builder *b, int k, int same_as)
{
    int id = lab_build_input_grad(b, k);
    if (id >= 0)
        b->plan->tensors[id].alias_of = same_as;
    return id;
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
    int id = lab_build_grad(b, tensor);
    if (id >= 0)
        b->plan->tensors[id].alias_of = same_as;
    return id;
}

void lab_builder_close_grad(struct lab_builder *b, int tensor, int node)
{
    const struct lab_op_def *op = lab_op_find_inner("grad_sum");
    if (b->status || b->paths[tensor].n == 0)
        return;
    if (b->paths[tensor].readers == 1) {
        b->grad[tensor] = b->paths[tensor].id[0];
        return;
    }
    struct lab_node_spec sum = *b->node_spec;
    sum.op = op;
    const struct lab_node_spec *outer_spec = b->node_spec;
    int outer = b->node;
    b->node_spec = &sum;
    b->node = node;
    op->update(b, tensor, LAB_NO_TENSOR);
    b->node_spec = outer_spec;
    b->node = outer;
}
