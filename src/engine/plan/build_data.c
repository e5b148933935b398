/* The data tensors of a plan: what the lesson or its source brings, as those
 * who read it take it. */
#include <stdio.h>
#include <string.h>

#include "plan_priv.h"

static void refuse(struct lab_builder *b, enum lab_status st, const char *text)
{
    if (!b->status)
        b->status =
            lab_network_fail(b->spec, b->spec->data.place, st, "%s", text);
}

static bool reads(const struct lab_network_spec *spec, int i, const char *name)
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
        if (spec->nodes[i].op->takes_images && reads(spec, i, "x"))
            return true;
    }
    return false;
}

/* The first node that takes the data `name` as ids; NULL: none. */
static const struct lab_node_spec *
reader_of_ids(const struct lab_network_spec *spec, const char *name)
{
    for (int i = 0; i < spec->n_nodes; i++) {
        if (spec->nodes[i].op->takes_ids && reads(spec, i, name))
            return &spec->nodes[i];
    }
    return NULL;
}

static int data_tensor(struct lab_builder *b, const char *name,
                       const struct lab_shape *shape, enum lab_dtype dtype)
{
    return lab_builder_tensor(b, name, shape, dtype, LAB_TENSOR_DATA, -1);
}

/* The place of a data tensor is known here, and not where it is made. */
static bool data_fits(struct lab_builder *b, const struct lab_tensor_spec *t,
                      const struct lab_shape *shape)
{
    int64_t count;
    char detail[256];
    if (lab_plan_tensor(b->plan, t->name) >= 0) {
        b->status =
            lab_network_fail(b->spec, t->place, LAB_E_PARSE,
                             "two data tensors are named '%s'", t->name);
    } else if (lab_shape_count(shape, &count)) {
        snprintf(detail, sizeof(detail), "%s", lab_error());
        b->status = lab_network_fail(b->spec, t->place, LAB_E_SHAPE,
                                     "tensor '%s': %s", t->name, detail);
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
            b->status = lab_network_fail(
                b->spec, t->place, LAB_E_PARSE,
                "%s holds fractions, but %s takes %s: whole numbers from 0",
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

void lab_builder_data(struct lab_builder *b,
                      const struct lab_data_shapes *shapes)
{
    struct lab_plan *plan = b->plan;
    if (b->spec->data.source == LAB_DATA_INLINE) {
        build_inline_data(b, shapes ? shapes->batch : 0);
    } else if (!shapes) {
        refuse(b, LAB_E_STATE, "the data is not loaded");
    } else {
        bool image =
            shapes->x_image.rank > 0 && any_reader_takes_images(b->spec);
        data_tensor(b, "x", image ? &shapes->x_image : &shapes->x,
                    reader_of_ids(b->spec, "x") ? LAB_I32 : plan->real);
        if (!shapes->y_integers && b->spec->loss.op->labels)
            refuse(b, LAB_E_PARSE,
                   "the loss takes class labels, the data has real targets");
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
