/* Do labels and ids fit the network that reads them? */
#include <math.h>
#include <string.h>

#include "data_priv.h"
#include "engine/vocabulary.h"

static enum lab_status bad_label(const struct lab_data *d, int64_t row,
                                 double label, int64_t classes)
{
    struct lab_place place = d->spec->data.place;
    const struct lab_tensor_spec *y = lab_data_find_inline(d->spec, "y");
    if (y && y->place.line)
        place = y->place;
    return lab_network_fail(d->spec, place, LAB_E_RANGE,
                            "y[%lld] is %g, but the network's output has "
                            "%lld classes: labels run from 0 to %lld",
                            (long long)row, label, (long long)classes,
                            (long long)classes - 1);
}

/* The id of a node that looks the tensor's ids up. */
static const char *reader_of(const struct lab_plan *plan, int tensor)
{
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct lab_node *n = &plan->nodes[i];
        for (int k = 0; k < n->n_in && n->op->takes_ids; k++) {
            if (n->in[k] == tensor)
                return n->id;
        }
    }
    return "the network";
}

static enum lab_status bad_id(const struct lab_data *d,
                              const struct lab_tensor_spec *s,
                              const struct lab_plan *plan, int tensor,
                              int64_t i, double v)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    char at[LAB_SHAPE_TEXT];
    struct lab_shape place = {.rank = s->shape.rank};
    lab_shape_unravel(&s->shape, i, place.dim);
    return lab_network_fail(d->spec, s->place, LAB_E_RANGE,
                            "%s%s is %.10g, but ids run from 0 to %lld: the "
                            "vocabulary of %s has %lld",
                            s->name, lab_shape_text(&place, at), v,
                            (long long)t->id_limit - 1, reader_of(plan, tensor),
                            (long long)t->id_limit);
}

/* A source that numbers words makes ids of all of them. */
static enum lab_status check_words(const struct lab_data *d,
                                   const struct lab_plan *plan)
{
    int64_t limit = plan->x >= 0 ? plan->tensors[plan->x].id_limit : 0;
    if (!d->words || limit == 0 || d->words->n <= limit)
        return LAB_OK;
    return lab_network_fail(d->spec, d->spec->data.place, LAB_E_RANGE,
                            "the text has %lld words with padding and <OOV>, "
                            "but what reads them has a vocabulary of %lld: "
                            "make that larger, or give the data vocab: %lld",
                            (long long)d->words->n, (long long)limit,
                            (long long)(limit > 3 ? limit - 2 : 1));
}

/* Inline ids; a source of its own makes no others than it has. */
static enum lab_status check_ids(const struct lab_data *d,
                                 const struct lab_plan *plan)
{
    for (int k = 0; k < plan->n_tensors; k++) {
        const struct lab_tensor *t = &plan->tensors[k];
        const struct lab_tensor_spec *s =
            lab_data_find_inline(d->spec, t->name);
        if (t->id_limit == 0 || !s)
            continue;
        for (int64_t i = 0; i < s->count; i++) {
            double v = s->values ? s->values[i] : s->fill;
            if (v < 0 || v >= (double)t->id_limit || v != floor(v))
                return bad_id(d, s, plan, k, i, v);
        }
    }
    return LAB_OK;
}

/* Every symbol of the alphabet must have a class, and an id in what reads it. */
static enum lab_status check_symbols(const struct lab_data *d,
                                     const struct lab_plan *plan,
                                     int64_t classes)
{
    const struct lab_samples *table = &d->table;
    struct lab_place place = d->spec->data.place;
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        bool begins = strcmp(t->name, "decoder") == 0;
        int64_t need = table->alphabet + (begins ? 1 : 0);
        if (t->role == LAB_TENSOR_DATA && t->id_limit > 0 && t->id_limit < need)
            return lab_network_fail(
                d->spec, place, LAB_E_RANGE,
                "%s has ids from 0 to %lld%s, but the vocabulary of what reads "
                "it has %lld",
                t->name, (long long)need - 1,
                begins ? ", the last one to begin with" : "",
                (long long)t->id_limit);
    }
    if (table->alphabet > classes)
        return lab_network_fail(d->spec, place, LAB_E_RANGE,
                                "an alphabet of %lld symbols, but the "
                                "network's output has %lld classes",
                                (long long)table->alphabet, (long long)classes);
    return LAB_OK;
}

enum lab_status lab_data_check_labels(const struct lab_data *d,
                                      const struct lab_plan *plan)
{
    const struct lab_shape *out = &plan->tensors[plan->out].shape;
    int64_t classes = out->rank > 0 ? out->dim[out->rank - 1] : 1;
    const struct lab_tensor_spec *y = lab_data_find_inline(d->spec, "y");
    enum lab_status st = check_ids(d, plan);
    if (!st)
        st = check_words(d, plan);
    if (st || d->one_hot)
        return st;
    if (d->text)
        return lab_text_check(d, plan, classes);
    if (d->table.symbols)
        return check_symbols(d, plan, classes);
    if (d->spec->data.source != LAB_DATA_INLINE) {
        for (int64_t i = 0; i < d->table.rows; i++) {
            if (d->table.label[i] >= classes)
                return bad_label(d, i, d->table.label[i], classes);
        }
        return LAB_OK;
    }
    for (int64_t i = 0; y && i < y->count; i++) {
        double v = y->values ? y->values[i] : y->fill;
        if (v < 0 || v >= (double)classes || v != floor(v))
            return bad_label(d, i, v, classes);
    }
    return LAB_OK;
}
