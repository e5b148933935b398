/* What stands at the rows and columns of a plane: the symbols of the sequence
 * whose places an axis counts. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/text.h"
#include "session_priv.h"

enum { MOST_LABELS = 4096 };

/* The axis of a part of a node that the op declares; -1: it counts no places.
 * Else the tensor whose places they are. */
static int declared(const struct lab_plan *plan, const struct lab_tensor *t,
                    int axis)
{
    const struct lab_node *node = &plan->nodes[t->node];
    size_t n = strlen(node->id);
    if (strncmp(t->name, node->id, n) != 0 || t->name[n] != '.')
        return -1;
    for (int i = 0; i < node->op->n_axes; i++) {
        const struct lab_part_axis *a = &node->op->axes[i];
        if (a->from_last == t->shape.rank - axis &&
            strcmp(a->part, t->name + n + 1) == 0)
            return node->in[a->input];
    }
    return -1;
}

/* The ids that a sequence was made of: back along the first inputs, as long as
 * they have as many places. -1: there are none. */
static int ids_of(const struct lab_plan *plan, int tensor, int64_t places)
{
    for (int i = 0; tensor >= 0 && i <= plan->n_nodes; i++) {
        const struct lab_tensor *t = &plan->tensors[tensor];
        const struct lab_shape *s = &t->shape;
        if (t->role == LAB_TENSOR_DATA)
            return t->dtype == LAB_I32 && s->rank == 2 && s->dim[1] == places
                       ? tensor
                       : -1;
        if (s->rank != 3 || s->dim[1] != places || t->node < 0)
            return -1;
        const struct lab_node *node = &plan->nodes[t->node];
        tensor = node->n_in > 0 ? node->in[0] : -1;
    }
    return -1;
}

static void number(struct lab_label *out, int64_t n)
{
    snprintf(out->text, sizeof(out->text), "%lld", (long long)n);
}

/* A character of a text. What is no ink is named, so that it can be seen. */
static void name_character(const struct lab_text *text, int32_t id,
                           struct lab_label *out)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_text_add(text, id, &s);
    const char *c = lab_str_text(&s);
    if (strcmp(c, " ") == 0)
        snprintf(out->text, sizeof(out->text), "' '");
    else if (strcmp(c, "\n") == 0)
        snprintf(out->text, sizeof(out->text), "\\n");
    else if (strcmp(c, "\t") == 0)
        snprintf(out->text, sizeof(out->text), "\\t");
    else
        snprintf(out->text, sizeof(out->text), "%s", c);
    lab_str_release(&s);
}

static void name_id(const struct lab_plan *plan, const struct lab_data *d,
                    int data, int64_t place, int32_t id, struct lab_label *out)
{
    const struct lab_text *text = lab_data_text(d);
    const char *symbol = lab_data_symbol(d, id);
    out->symbol = true;
    if (!symbol)
        symbol = lab_data_word_at(d, plan, data, place, id);
    if (symbol)
        snprintf(out->text, sizeof(out->text), "%s", symbol);
    else if (text && id >= 0 && id < text->vocab)
        name_character(text, id, out);
    else
        number(out, id);
}

static void name_ids(struct lab_walk *walk, int data, int64_t sample,
                     int64_t first, int64_t n, struct lab_label *out)
{
    const struct lab_tensor *t = &lab_walk_plan(walk)->tensors[data];
    int32_t *id = lab_alloc_array((size_t)t->count, sizeof(*id));
    if (id && lab_walk_read(walk, data, false, id) == LAB_OK) {
        for (int64_t i = 0; i < n; i++) {
            int64_t place = sample * t->shape.dim[1] + first + i;
            name_id(lab_walk_plan(walk), lab_walk_data(walk), data, place,
                    id[place], &out[i]);
        }
    }
    lab_free(id);
}

/* Labels of `axis`, from place `first` on; NULL: it has none. Which sample's
 * symbols they are must be clear: the axis of samples is fixed. */
static struct lab_label *label_axis(struct lab_walk *walk,
                                    const struct lab_show *show, int axis,
                                    int64_t first, int64_t n)
{
    const struct lab_plan *plan = lab_walk_plan(walk);
    const struct lab_tensor *t = &plan->tensors[show->tensor];
    while (t->gradient_of >= 0)
        t = &plan->tensors[t->gradient_of];
    if (axis < 0 || t->node < 0 || n < 1 || n > MOST_LABELS)
        return NULL;
    int64_t places = t->shape.dim[axis];
    int from = declared(plan, t, axis);
    bool own = from < 0 && t->shape.rank == 3 && axis == 1 &&
               plan->nodes[t->node].out == t - plan->tensors;
    int data = ids_of(plan, own ? (int)(t - plan->tensors) : from, places);
    if (from < 0 && data < 0)
        return NULL;
    struct lab_label *out = lab_alloc_array((size_t)n, sizeof(*out));
    bool fixed = t->shape.rank > 1 && show->row_axis != 0 &&
                 show->col_axis != 0 && data >= 0 &&
                 plan->tensors[data].shape.dim[0] == t->shape.dim[0];
    for (int64_t i = 0; out && i < n; i++)
        number(&out[i], first + i);
    if (out && fixed)
        name_ids(walk, data, show->fixed[0], first, n, out);
    return out;
}

void lab_plane_label(struct lab_walk *walk, struct lab_plane *p)
{
    p->row_label = label_axis(walk, &p->show, p->show.row_axis,
                              p->show.row_first, p->rows);
    p->col_label = label_axis(walk, &p->show, p->show.col_axis,
                              p->show.col_first, p->cols);
}
