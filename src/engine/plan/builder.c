/* The functions that ops/<op>.c call to declare tensors; build_step.c has the
 * steps. */
#include "engine/op.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plan_priv.h"

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

void lab_builder_no_memory(struct lab_builder *b)
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

const char *lab_build_node_id(const struct lab_builder *b)
{
    return b->node_spec->id;
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
            lab_builder_no_memory(b);
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
        lab_builder_no_memory(b);
        return LAB_NO_TENSOR;
    }
    if (!lab_names_add(plan->names, LAB_NAME_TENSOR, t.name, plan->n_tensors)) {
        lab_free(t.name);
        lab_builder_no_memory(b);
        return LAB_NO_TENSOR;
    }
    int id = plan->n_tensors++;
    plan->tensors[id] = t;
    b->paths[id] = (struct lab_grad_paths){0};
    b->wants[id] = false;
    b->grad[id] = -1;
    return id;
}

int lab_builder_node_tensor(struct lab_builder *b, const char *name,
                            const struct lab_shape *shape, enum lab_dtype dtype,
                            enum lab_tensor_role role)
{
    char full[256];
    if (b->status)
        return LAB_NO_TENSOR;
    if (strcmp(b->node_spec->id, name) == 0) /* the loss itself */
        snprintf(full, sizeof(full), "%s", name);
    else
        snprintf(full, sizeof(full), "%s.%s", b->node_spec->id, name);
    return lab_builder_tensor(b, full, shape, dtype, role, b->node);
}

int lab_build_out(struct lab_builder *b, const struct lab_shape *shape)
{
    const char *name = b->node_spec->op->kind == LAB_KIND_LOSS ? "loss" : "out";
    if (b->node_spec->bare_out)
        name = b->node_spec->id;
    int id = lab_builder_node_tensor(b, name, shape, b->plan->real,
                                     LAB_TENSOR_ACTIVATION);
    b->plan->nodes[b->node].out = id;
    return id;
}

int lab_build_part(struct lab_builder *b, const char *name,
                   const struct lab_shape *shape, enum lab_dtype dtype)
{
    return lab_builder_node_tensor(b, name, shape, dtype,
                                   LAB_TENSOR_ACTIVATION);
}

/* A tensor that starts with a value; lessons may give it another. */
static int init_tensor(struct lab_builder *b, const char *name,
                       const struct lab_shape *shape, enum lab_tensor_role role,
                       enum lab_init init)
{
    struct lab_plan *plan = b->plan;
    int id = lab_builder_node_tensor(b, name, shape, plan->real, role);
    if (id < 0)
        return id;
    if (plan->n_inits == b->init_room) {
        int room = b->init_room ? b->init_room * 2 : 16;
        void *p =
            lab_realloc_array(plan->inits, (size_t)room, sizeof(*plan->inits));
        if (!p) {
            lab_builder_no_memory(b);
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

int lab_builder_grad(struct lab_builder *b, int of, const char *suffix)
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
    int id = lab_builder_grad(b, of, suffix);
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
    int id = lab_builder_grad(b, tensor, "");
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
    extern const struct lab_op_def lab_op_grad_sum;
    if (b->status || b->paths[tensor].n == 0)
        return;
    if (b->paths[tensor].readers == 1) {
        b->grad[tensor] = b->paths[tensor].id[0];
        return;
    }
    struct lab_node_spec sum = *b->node_spec;
    sum.op = &lab_op_grad_sum;
    const struct lab_node_spec *outer_spec = b->node_spec;
    int outer = b->node;
    b->node_spec = &sum;
    b->node = node;
    lab_op_grad_sum.update(b, tensor, LAB_NO_TENSOR);
    b->node_spec = outer_spec;
    b->node = outer;
}
