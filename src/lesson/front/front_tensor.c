/* front_tensor.c -- tensors written in the front matter. */
#include "front.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* Reading nested lists: the shape is that of the first elements, and every
 * other list must have the same length at its depth. */
struct nest {
    struct lab_front *f;
    const char *name;
    struct lab_shape shape;
    double *values;
    int64_t filled;
    int64_t at[LAB_MAX_RANK];
    bool integers;
};

static enum lab_status take_number(struct lab_front *f,
                                   const struct lab_ynode *node, double *out,
                                   bool *integers)
{
    double value = 0;
    bool whole = false;
    enum lab_status st = lab_y_number(f->r, node, &value, &whole);
    if (st)
        return st;
    if (fabs(value) > FLT_MAX)
        return lab_y_fail(f->r, node, LAB_E_RANGE,
                          "%s is Inf in single precision: at most 3.4e38",
                          node->text);
    *integers = *integers && whole;
    *out = value;
    return LAB_OK;
}

static const char *position(const struct nest *n, int depth, char *buf,
                            size_t size)
{
    size_t len =
        (size_t)snprintf(buf, size, "%.*s", LAB_FRONT_NAME_BYTES * 2, n->name);
    for (int i = 0; i < depth && len < size; i++)
        len += (size_t)snprintf(buf + len, size - len, "[%lld]",
                                (long long)n->at[i]);
    return buf;
}

static enum lab_status first_shape(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_shape *shape)
{
    for (; node && node->kind == LAB_Y_LIST; node = node->first) {
        if (node->count == 0)
            return lab_y_fail(f->r, node, LAB_E_SHAPE,
                              "an empty list: a tensor has at least one "
                              "element");
        if (shape->rank == LAB_MAX_RANK)
            return lab_y_fail(f->r, node, LAB_E_SHAPE,
                              "more than %d dimensions", LAB_MAX_RANK);
        shape->dim[shape->rank++] = node->count;
    }
    return LAB_OK;
}

static enum lab_status fill_nest(struct nest *n, const struct lab_ynode *node,
                                 int depth)
{
    char where[320];
    struct lab_reader *r = n->f->r;
    if (depth == n->shape.rank) {
        if (node->kind == LAB_Y_LIST)
            return lab_y_fail(r, node, LAB_E_SHAPE,
                              "ragged: a list at %s, where the first element "
                              "is a number",
                              position(n, depth, where, sizeof(where)));
        return take_number(n->f, node, &n->values[n->filled++], &n->integers);
    }
    if (node->kind != LAB_Y_LIST)
        return lab_y_fail(r, node, LAB_E_SHAPE,
                          "ragged: %s is no list, the first one is a list of "
                          "%lld",
                          position(n, depth, where, sizeof(where)),
                          (long long)n->shape.dim[depth]);
    if (node->count != n->shape.dim[depth])
        return lab_y_fail(r, node, LAB_E_SHAPE,
                          "ragged: %s is %lld long, the first "
                          "one %lld",
                          position(n, depth, where, sizeof(where)),
                          (long long)node->count,
                          (long long)n->shape.dim[depth]);
    n->at[depth] = 0;
    for (const struct lab_ynode *c = node->first; c; c = c->next) {
        enum lab_status st = fill_nest(n, c, depth + 1);
        if (st)
            return st;
        n->at[depth]++;
    }
    return LAB_OK;
}

static enum lab_status take_nested(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_tensor_spec *out)
{
    struct nest n = {.f = f, .name = node->key, .integers = true};
    int64_t count = 0;
    enum lab_status st = first_shape(f, node, &n.shape);
    if (st)
        return st;
    st = lab_shape_count(&n.shape, &count);
    if (st)
        return lab_y_fail(f->r, node, st, "%s", lab_error());
    /* Ragged lists may promise far more than the file holds. */
    if (count > LAB_SOURCE_MAX_BYTES)
        return lab_y_fail(f->r, node, LAB_E_SHAPE,
                          "ragged: the first lists promise %lld elements",
                          (long long)count);
    n.values = lab_alloc_array((size_t)count, sizeof(double));
    if (!n.values)
        return lab_y_nomem(f->r);
    st = fill_nest(&n, node, 0);
    if (st) {
        lab_free(n.values);
        return st;
    }
    out->shape = n.shape;
    out->count = count;
    out->values = n.values;
    out->integers = n.integers;
    return LAB_OK;
}

enum lab_status lab_front_shape(struct lab_front *f,
                                const struct lab_ynode *node, int64_t least,
                                struct lab_shape *out)
{
    struct lab_shape shape = {0};
    enum lab_status st =
        lab_y_want(f->r, node, LAB_Y_LIST, "a list of whole numbers");
    if (st)
        return st;
    if (node->count < 1 || node->count > LAB_MAX_RANK)
        return lab_y_fail(f->r, node, LAB_E_SHAPE,
                          "%lld numbers: a tensor has 1 to %d dimensions",
                          (long long)node->count, LAB_MAX_RANK);
    for (const struct lab_ynode *c = node->first; c; c = c->next) {
        st = lab_y_int(f->r, c, least, INT64_MAX, &shape.dim[shape.rank]);
        if (st)
            return st;
        shape.rank++;
    }
    *out = shape;
    return LAB_OK;
}

/* A tensor that cannot be held is refused before anything is taken for it. */
static enum lab_status check_memory(struct lab_front *f,
                                    const struct lab_ynode *node, int64_t count)
{
    double need = (double)count * sizeof(float);
    double has = (double)lab_host_memory();
    if (has == 0 || need <= has)
        return LAB_OK;
    return lab_y_fail(f->r, node, LAB_E_SHAPE,
                      "%lld elements take %.3g GiB; this machine has %.3g "
                      "GiB: make the tensor smaller",
                      (long long)count, need / 1073741824.0,
                      has / 1073741824.0);
}

static enum lab_status take_values(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_tensor_spec *out)
{
    char text[LAB_SHAPE_TEXT];
    enum lab_status st = lab_y_want(f->r, node, LAB_Y_LIST, "a flat list");
    if (st)
        return st;
    if (node->count != out->count)
        return lab_y_fail(f->r, node, LAB_E_SHAPE,
                          "%lld values for the shape %s, which has %lld "
                          "elements",
                          (long long)node->count,
                          lab_shape_text(&out->shape, text),
                          (long long)out->count);
    double *values = lab_alloc_array((size_t)out->count, sizeof(double));
    if (!values)
        return lab_y_nomem(f->r);
    int64_t i = 0;
    out->integers = true;
    for (const struct lab_ynode *c = node->first; c && !st; c = c->next)
        st = take_number(f, c, &values[i++], &out->integers);
    if (st)
        lab_free(values);
    else
        out->values = values;
    return st;
}

struct shaped {
    const struct lab_ynode *shape;
    const struct lab_ynode *values;
    const struct lab_ynode *fill;
};

static enum lab_status keep_shape(struct lab_reader *r,
                                  const struct lab_ynode *node, void *user)
{
    (void)r;
    ((struct shaped *)user)->shape = node;
    return LAB_OK;
}

static enum lab_status keep_values(struct lab_reader *r,
                                   const struct lab_ynode *node, void *user)
{
    (void)r;
    ((struct shaped *)user)->values = node;
    return LAB_OK;
}

static enum lab_status keep_fill(struct lab_reader *r,
                                 const struct lab_ynode *node, void *user)
{
    (void)r;
    ((struct shaped *)user)->fill = node;
    return LAB_OK;
}

static enum lab_status take_shaped(struct lab_front *f,
                                   const struct lab_ynode *node,
                                   struct lab_tensor_spec *out)
{
    static const struct lab_ykey keys[] = {
        {"shape", keep_shape}, {"values", keep_values}, {"fill", keep_fill}};
    struct shaped part = {0};
    enum lab_status st = lab_y_keys(f->r, node, keys, 3, &part);
    if (st)
        return st;
    if (!part.shape || !part.values == !part.fill)
        return lab_y_fail(f->r, node, LAB_E_PARSE,
                          "a tensor has a shape and either values or fill");
    st = lab_front_shape(f, part.shape, 1, &out->shape);
    if (st)
        return st;
    st = lab_shape_count(&out->shape, &out->count);
    if (st)
        return lab_y_fail(f->r, part.shape, st, "%s", lab_error());
    st = check_memory(f, part.shape, out->count);
    if (st)
        return st;
    if (part.values)
        return take_values(f, part.values, out);
    out->integers = true;
    return take_number(f, part.fill, &out->fill, &out->integers);
}

enum lab_status lab_front_tensor(struct lab_front *f,
                                 const struct lab_ynode *node,
                                 struct lab_tensor_spec *out)
{
    out->place = lab_front_key_place(node);
    out->name = lab_strdup(node->key);
    if (!out->name)
        return lab_y_nomem(f->r);
    if (node->kind == LAB_Y_LIST)
        return take_nested(f, node, out);
    if (node->kind == LAB_Y_MAP)
        return take_shaped(f, node, out);
    return lab_y_want(f->r, node, LAB_Y_LIST,
                      "a tensor (nested lists, or shape with values or fill)");
}
