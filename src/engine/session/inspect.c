/* inspect.c -- looks into a training: norms of gradients and updates, dead units,
 * and which class each validation row came out as. */
#include "engine/inspect.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"

struct lab_inspector {
    struct lab_walk *walk;
    struct lab_arena memory; /* owns the arrays */
    struct lab_node_figures *figures;
    int n_figures;
    int64_t iteration; /* of the figures; -1: none */
    char *before;      /* all parameters one after another */
    bool has_before;
    void *tensor; /* room for the largest */
    void *other;
    bool *dead;       /* by unit, of the largest relu */
    int64_t elements; /* that a look reads */
    int64_t cost_ns;
    int64_t last_ns;
    struct lab_looks looks;   /* rows of LAB_LOOKS */
    int64_t apart;            /* iterations from look to look, 1, 2, 4 ... */
    struct lab_result result; /* rows as many as there is room for */
    struct lab_confusion confusion;
};

/* ---- which nodes ---- */

static const struct lab_tensor *tensor_at(const struct lab_inspector *i, int id)
{
    return &lab_walk_plan(i->walk)->tensors[id];
}

static bool is_relu(const struct lab_node *node)
{
    return strcmp(node->op->name, "relu") == 0;
}

/* The axis that counts a relu's units: the channels of images, else the last. */
static int unit_axis(const struct lab_plan *plan, const struct lab_tensor *t)
{
    return t->shape.rank == 4 && plan->layout == LAB_NCHW ? 1
                                                          : t->shape.rank - 1;
}

static int64_t parameters_of(const struct lab_plan *plan, int node)
{
    int64_t n = 0;
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        if (t->role == LAB_TENSOR_PARAM && t->node == node)
            n += t->count;
    }
    return n;
}

static void list_nodes(struct lab_inspector *i)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    for (int k = 0; k < plan->n_nodes; k++) {
        int64_t n = parameters_of(plan, k);
        bool units = is_relu(&plan->nodes[k]) &&
                     plan->tensors[plan->nodes[k].out].shape.rank >= 2;
        if (n > 0 || units)
            i->figures[i->n_figures++] = (struct lab_node_figures){
                .node = k, .parameters = n, .units = 0};
    }
}

/* Parameters and their gradients, relus' outputs, the data, what comes of it. */
static bool is_read(const struct lab_plan *plan, int i)
{
    const struct lab_tensor *t = &plan->tensors[i];
    return t->role == LAB_TENSOR_PARAM || i == plan->x || i == plan->y ||
           i == plan->out ||
           (t->gradient_of >= 0 &&
            plan->tensors[t->gradient_of].role == LAB_TENSOR_PARAM) ||
           (t->node >= 0 && is_relu(&plan->nodes[t->node]) &&
            plan->nodes[t->node].out == i);
}

static void largest(const struct lab_plan *plan, size_t *bytes, size_t *all,
                    size_t *units, int64_t *elements)
{
    for (int i = 0; i < plan->n_tensors; i++) {
        size_t n = lab_tensor_bytes(&plan->tensors[i]);
        *bytes = is_read(plan, i) && n > *bytes ? n : *bytes;
        *elements += is_read(plan, i) ? plan->tensors[i].count : 0;
        *all += plan->tensors[i].role == LAB_TENSOR_PARAM ? n : 0;
    }
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct lab_tensor *t = &plan->tensors[plan->nodes[i].out];
        if (!is_relu(&plan->nodes[i]) || t->shape.rank < 2)
            continue;
        size_t n = (size_t)t->shape.dim[unit_axis(plan, t)];
        *units = n > *units ? n : *units;
    }
}

static enum lab_status alloc_confusion(struct lab_inspector *i)
{
    struct lab_confusion *c = &i->confusion;
    struct lab_data_facts facts;
    struct lab_data_shapes shapes;
    const struct lab_data *data = lab_walk_data(i->walk);
    lab_data_get_facts(data, &facts);
    lab_data_get_shapes(data, &shapes);
    c->after = -1;
    if (facts.classes < 2 || facts.classes > LAB_CONFUSION_CLASSES ||
        facts.decodes || facts.held_rows == 0)
        return LAB_OK;
    c->classes = (int)facts.classes;
    size_t n = (size_t)(facts.classes * facts.classes);
    c->count = lab_arena_array(&i->memory, n, sizeof(*c->count));
    c->misread =
        lab_arena_array(&i->memory, LAB_MISREAD_ROWS + 1, sizeof(*c->misread));
    if (!c->count || !c->misread)
        return lab_no_memory("the matrix of classes");
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    if (facts.text || plan->x < 0)
        return LAB_OK;
    int64_t each = plan->tensors[plan->x].count / plan->batch;
    int64_t side = (int64_t)llround(sqrt((double)each));
    const struct lab_shape *image = &shapes.x_image;
    if (image->rank == 4 && image->dim[1] == 1) {
        c->rows = image->dim[2];
        c->cols = image->dim[3];
    } else if (side * side == each && each >= 16) {
        c->rows = c->cols = side;
    } else {
        c->rows = 1;
        c->cols = each;
    }
    if (c->rows * c->cols != each || each > 1 << 14) {
        c->rows = c->cols = 0;
        return LAB_OK;
    }
    for (int k = 0; k <= LAB_MISREAD_ROWS; k++) {
        c->misread[k].value =
            lab_arena_array(&i->memory, (size_t)each, sizeof(double));
        if (!c->misread[k].value)
            return lab_no_memory("rows that come out wrong");
    }
    return LAB_OK;
}

static enum lab_status alloc_looks(struct lab_inspector *i)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    struct lab_looks *l = &i->looks;
    size_t all = (size_t)i->n_figures * LAB_LOOKS;
    if (plan->parameter_count <= LAB_LOOK_PARAMETERS)
        l->n_parameters = (int)plan->parameter_count;
    l->iteration =
        lab_arena_array(&i->memory, LAB_LOOKS, sizeof(*l->iteration));
    l->gradient = lab_arena_array(&i->memory, all, sizeof(*l->gradient));
    l->ratio = lab_arena_array(&i->memory, all, sizeof(*l->ratio));
    l->parameter = lab_arena_array(
        &i->memory, (size_t)l->n_parameters * LAB_LOOKS, sizeof(*l->parameter));
    return l->iteration && l->gradient && l->ratio && l->parameter
               ? LAB_OK
               : lab_no_memory("the norms of a training");
}

static bool has_labels(const struct lab_plan *plan)
{
    return plan->nodes[plan->loss_node].op->labels;
}

/* Which of the tensors of the network's result, the target and the data can stand
 * beside each other. */
static enum lab_status alloc_result(struct lab_inspector *i)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    struct lab_result *r = &i->result;
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(i->walk), &facts);
    r->iteration = -1;
    if (i->confusion.classes > 0 || facts.text || plan->out < 0)
        return LAB_OK;
    const struct lab_tensor *out = tensor_at(i, plan->out);
    int64_t y = plan->y < 0 ? 0 : tensor_at(i, plan->y)->count;
    int64_t x = plan->x < 0 ? 0 : tensor_at(i, plan->x)->count;
    int rank = out->shape.rank;
    /* Values without classes are one after another. */
    int64_t cols = has_labels(plan) && rank > 0 ? out->shape.dim[rank - 1] : 1;
    int64_t rows = out->count / cols;
    if (cols > LAB_RESULT_ELEMENTS || (has_labels(plan) && y != rows))
        return LAB_OK;
    if (rows * cols > LAB_RESULT_ELEMENTS)
        rows = LAB_RESULT_ELEMENTS / cols;
    size_t n = (size_t)(rows * cols);
    bool ok = (r->out = lab_arena_array(&i->memory, n, sizeof(*r->out)));
    if (has_labels(plan))
        ok &= !!(r->label = lab_arena_array(&i->memory, (size_t)rows,
                                            sizeof(*r->label)));
    else if (y == out->count &&
             strcmp(plan->nodes[plan->loss_node].op->name, "weighted_sum") != 0)
        ok &=
            !!(r->target = lab_arena_array(&i->memory, n, sizeof(*r->target)));
    if (!has_labels(plan) && x == out->count)
        ok &= !!(r->in = lab_arena_array(&i->memory, n, sizeof(*r->in)));
    /* As a picture: the last axis, of images with the one before it. */
    if (!r->label && !r->target && !r->in && rows == out->count) {
        for (int k = rank - 1; k > 0 && k >= rank - 2; k--)
            cols *= out->shape.dim[k];
        rows /= cols;
    }
    if (!ok)
        return lab_no_memory("what a batch comes out as");
    r->rows = rows;
    r->cols = cols;
    return LAB_OK;
}

enum lab_status lab_inspector_new(struct lab_inspector **out,
                                  struct lab_walk *walk)
{
    const struct lab_plan *plan = lab_walk_plan(walk);
    size_t bytes = 1;
    size_t all = 1;
    size_t units = 1;
    struct lab_inspector *i = lab_alloc(sizeof(*i));
    if (!i)
        return lab_no_memory("a look into the training");
    i->walk = walk;
    i->iteration = -1;
    i->apart = 1;
    largest(plan, &bytes, &all, &units, &i->elements);
    i->figures =
        lab_arena_array(&i->memory, (size_t)plan->n_nodes, sizeof(*i->figures));
    i->before = lab_arena_take(&i->memory, all);
    i->tensor = lab_arena_take(&i->memory, bytes);
    i->other = lab_arena_take(&i->memory, bytes);
    i->dead = lab_arena_array(&i->memory, units, sizeof(*i->dead));
    enum lab_status st =
        i->figures && i->before && i->tensor && i->other && i->dead
            ? alloc_confusion(i)
            : lab_no_memory("a look into the training");
    if (!st) {
        list_nodes(i);
        st = alloc_looks(i);
    }
    if (!st)
        st = alloc_result(i);
    if (st) {
        lab_inspector_free(i);
        return st;
    }
    *out = i;
    return LAB_OK;
}

void lab_inspector_free(struct lab_inspector *i)
{
    if (!i)
        return;
    lab_arena_release(&i->memory);
    lab_free(i);
}

void lab_inspector_reset(struct lab_inspector *i)
{
    i->iteration = -1;
    i->has_before = false;
    i->looks.n = 0;
    i->apart = 1;
    i->result.iteration = -1;
    i->confusion.after = -1;
    i->confusion.n_misread = 0;
}

bool lab_inspector_due(const struct lab_inspector *i, int64_t now_ns)
{
    enum { LEAST_NS = 200 * 1000 * 1000 };
    int64_t next = lab_walk_iteration(i->walk) + lab_walk_at_end(i->walk);
    if (i->elements <= LAB_LOOK_ELEMENTS && next % i->apart == 0)
        return true;
    int64_t pause = 10 * i->cost_ns > LEAST_NS ? 10 * i->cost_ns : LEAST_NS;
    return i->last_ns == 0 || now_ns - i->last_ns >= pause;
}

/* ---- norms ---- */

static double squares(const void *data, const void *less, enum lab_dtype dtype,
                      int64_t n)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        double v = lab_number_at(data, dtype, k);
        if (less)
            v -= lab_number_at(less, dtype, k);
        sum += v * v;
    }
    return sum;
}

enum lab_status lab_inspector_before(struct lab_inspector *i)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    int64_t start = lab_clock_monotonic_ns();
    char *to = i->before;
    enum lab_status st = LAB_OK;
    for (int k = 0; k < plan->n_tensors && !st; k++) {
        if (plan->tensors[k].role != LAB_TENSOR_PARAM)
            continue;
        st = lab_walk_read(i->walk, k, false, to);
        to += lab_tensor_bytes(&plan->tensors[k]);
    }
    i->has_before = !st;
    i->cost_ns = lab_clock_monotonic_ns() - start;
    return st;
}

static int gradient_of(const struct lab_plan *plan, int tensor)
{
    for (int k = 0; k < plan->n_tensors; k++)
        if (plan->tensors[k].gradient_of == tensor)
            return k;
    return -1;
}

/* Adds one parameter's squares to its node's. */
static enum lab_status add_parameter(struct lab_inspector *i, int tensor,
                                     const char *before,
                                     struct lab_node_figures *f)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    const struct lab_tensor *t = tensor_at(i, tensor);
    int gradient = gradient_of(plan, tensor);
    enum lab_status st = lab_walk_read(i->walk, tensor, false, i->tensor);
    if (st)
        return st;
    f->parameter += squares(i->tensor, NULL, t->dtype, t->count);
    const void *old = before;
    if (!old && lab_walk_read(i->walk, tensor, true, i->other) == LAB_OK)
        old = i->other;
    f->update += old ? squares(i->tensor, old, t->dtype, t->count) : NAN;
    if (gradient < 0 || !lab_walk_written(i->walk, gradient)) {
        f->gradient = NAN;
        return LAB_OK;
    }
    st = lab_walk_read(i->walk, gradient, false, i->other);
    if (!st)
        f->gradient += squares(i->other, NULL, tensor_at(i, gradient)->dtype,
                               tensor_at(i, gradient)->count);
    return st;
}

static enum lab_status find_norms(struct lab_inspector *i)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    const char *before = i->has_before ? i->before : NULL;
    enum lab_status st = LAB_OK;
    for (int k = 0; k < plan->n_tensors && !st; k++) {
        const struct lab_tensor *t = &plan->tensors[k];
        if (t->role != LAB_TENSOR_PARAM)
            continue;
        for (int n = 0; n < i->n_figures && !st; n++)
            if (i->figures[n].node == t->node)
                st = add_parameter(i, k, before, &i->figures[n]);
        if (before)
            before += lab_tensor_bytes(t);
    }
    for (int n = 0; n < i->n_figures; n++) {
        struct lab_node_figures *f = &i->figures[n];
        bool any = f->parameters > 0;
        f->gradient = any ? sqrt(f->gradient) : NAN;
        f->parameter = any ? sqrt(f->parameter) : NAN;
        f->update = any ? sqrt(f->update) : NAN;
    }
    return st;
}

/* ---- dead units ---- */

static enum lab_status find_dead(struct lab_inspector *i,
                                 struct lab_node_figures *f)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    int out = plan->nodes[f->node].out;
    const struct lab_tensor *t = tensor_at(i, out);
    f->units = f->dead = 0;
    if (!is_relu(&plan->nodes[f->node]) || t->shape.rank < 2 ||
        !lab_walk_written(i->walk, out))
        return LAB_OK;
    enum lab_status st = lab_walk_read(i->walk, out, false, i->tensor);
    if (st)
        return st;
    int axis = unit_axis(plan, t);
    int64_t units = t->shape.dim[axis];
    int64_t inside = 1; /* elements of a unit that lie together */
    for (int k = axis + 1; k < t->shape.rank; k++)
        inside *= t->shape.dim[k];
    for (int64_t u = 0; u < units; u++)
        i->dead[u] = true;
    for (int64_t k = 0; k < t->count; k++)
        if (lab_number_at(i->tensor, t->dtype, k) != 0)
            i->dead[k / inside % units] = false;
    f->units = units;
    for (int64_t u = 0; u < units; u++)
        f->dead += i->dead[u];
    return LAB_OK;
}

/* ---- over the iterations ---- */

/* Every second look: moves what stays to the front of a row. */
static void thin(double *row)
{
    for (int k = 0; k < LAB_LOOKS / 2; k++)
        row[k] = row[2 * k];
}

static void make_room(struct lab_inspector *i, int64_t iteration)
{
    struct lab_looks *l = &i->looks;
    while (l->n > 0 && l->iteration[l->n - 1] >= iteration) /* it went back */
        l->n--;
    /* The newest stays only as far from the one before it as all are. */
    if (l->n > 1 && l->iteration[l->n - 1] - l->iteration[l->n - 2] < i->apart)
        l->n--;
    if (l->n < LAB_LOOKS)
        return;
    for (int k = 0; k < LAB_LOOKS / 2; k++)
        l->iteration[k] = l->iteration[2 * k];
    for (int n = 0; n < i->n_figures; n++) {
        thin(&l->gradient[n * LAB_LOOKS]);
        thin(&l->ratio[n * LAB_LOOKS]);
    }
    for (int p = 0; p < l->n_parameters; p++)
        thin(&l->parameter[p * LAB_LOOKS]);
    l->n = LAB_LOOKS / 2;
    i->apart *= 2;
}

static enum lab_status keep_look(struct lab_inspector *i)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    struct lab_looks *l = &i->looks;
    enum lab_status st = LAB_OK;
    make_room(i, lab_walk_iteration(i->walk));
    for (int n = 0; n < i->n_figures; n++) {
        const struct lab_node_figures *f = &i->figures[n];
        l->gradient[n * LAB_LOOKS + l->n] = f->gradient;
        l->ratio[n * LAB_LOOKS + l->n] = f->update / f->parameter;
    }
    for (int k = 0, p = 0; k < plan->n_tensors && p < l->n_parameters && !st;
         k++) {
        const struct lab_tensor *t = &plan->tensors[k];
        if (t->role != LAB_TENSOR_PARAM)
            continue;
        st = lab_walk_read(i->walk, k, false, i->tensor);
        for (int64_t e = 0; e < t->count && p < l->n_parameters; e++, p++)
            l->parameter[p * LAB_LOOKS + l->n] =
                lab_number_at(i->tensor, t->dtype, e);
    }
    if (st)
        return st;
    l->iteration[l->n++] = lab_walk_iteration(i->walk);
    return LAB_OK;
}

/* ---- the batch ---- */

static void to_probabilities(double *row, int64_t n)
{
    double most = row[0];
    double sum = 0;
    for (int64_t k = 1; k < n; k++)
        most = row[k] > most ? row[k] : most;
    for (int64_t k = 0; k < n; k++)
        sum += row[k] = exp(row[k] - most);
    for (int64_t k = 0; k < n; k++)
        row[k] /= sum;
}

/* The first n elements of a tensor, where there is a place for them. */
static enum lab_status copy_numbers(struct lab_inspector *i, int tensor,
                                    int64_t n, double *to)
{
    enum lab_status st =
        to ? lab_walk_read(i->walk, tensor, false, i->tensor) : LAB_OK;
    for (int64_t k = 0; to && !st && k < n; k++)
        to[k] = lab_number_at(i->tensor, tensor_at(i, tensor)->dtype, k);
    return st;
}

static enum lab_status find_result(struct lab_inspector *i)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    struct lab_result *r = &i->result;
    int64_t n = r->rows * r->cols;
    r->iteration = -1;
    if (n == 0 || !lab_walk_written(i->walk, plan->out))
        return LAB_OK;
    enum lab_status st = copy_numbers(i, plan->out, n, r->out);
    if (!st)
        st = copy_numbers(i, plan->y, n, r->target);
    if (!st)
        st = copy_numbers(i, plan->x, n, r->in);
    if (!st && r->label)
        st = lab_walk_read(i->walk, plan->y, false, i->tensor);
    for (int64_t k = 0; r->label && !st && k < r->rows; k++) {
        r->label[k] =
            (int)lab_number_at(i->tensor, tensor_at(i, plan->y)->dtype, k);
        to_probabilities(&r->out[k * r->cols], r->cols);
    }
    if (!st)
        r->iteration = lab_walk_iteration(i->walk);
    return st;
}

enum lab_status lab_inspector_after(struct lab_inspector *i)
{
    int64_t start = lab_clock_monotonic_ns();
    enum lab_status st = LAB_OK;
    for (int n = 0; n < i->n_figures; n++) {
        struct lab_node_figures *f = &i->figures[n];
        f->gradient = f->parameter = f->update = 0;
    }
    st = find_norms(i);
    for (int n = 0; n < i->n_figures && !st; n++)
        st = find_dead(i, &i->figures[n]);
    if (!st)
        st = keep_look(i);
    if (!st)
        st = find_result(i);
    i->iteration = st ? -1 : lab_walk_iteration(i->walk);
    i->has_before = false;
    i->last_ns = lab_clock_monotonic_ns();
    i->cost_ns += i->last_ns - start;
    return st;
}

/* ---- classes ---- */

/* Keeps the rows with the largest loss, in order. */
static void keep_misread(struct lab_confusion *c, const struct lab_misread *m)
{
    int at = c->n_misread;
    while (at > 0 && !(c->misread[at - 1].loss >= m->loss))
        at--;
    if (at == LAB_MISREAD_ROWS)
        return;
    /* The memory of pictures goes round: the row behind the last one has some. */
    double *room = c->misread[LAB_MISREAD_ROWS].value;
    memmove(&c->misread[at + 1], &c->misread[at],
            (size_t)(LAB_MISREAD_ROWS - at) * sizeof(*m));
    c->misread[at] = *m;
    c->misread[at].value = room;
    c->n_misread += c->n_misread < LAB_MISREAD_ROWS;
}

static void take_row(void *user, int64_t row, int label, int answer,
                     double loss)
{
    struct lab_inspector *i = user;
    struct lab_confusion *c = &i->confusion;
    struct lab_misread m = {
        .row = row, .label = label, .answer = answer, .loss = loss};
    if (label < 0 || label >= c->classes)
        return;
    c->total++;
    c->right += label == answer;
    if (answer < 0 || answer >= c->classes) /* the scores are NaN */
        return;
    c->count[label * c->classes + answer]++;
    if (label != answer && c->rows > 0)
        keep_misread(c, &m);
}

static enum lab_status fill_pictures(struct lab_inspector *i)
{
    const struct lab_plan *plan = lab_walk_plan(i->walk);
    const struct lab_data *data = lab_walk_data(i->walk);
    struct lab_confusion *c = &i->confusion;
    if (c->n_misread == 0)
        return LAB_OK;
    const struct lab_tensor *x = tensor_at(i, plan->x);
    for (int k = 0; k < c->n_misread; k++) {
        lab_data_fill_held(data, plan, plan->x, c->misread[k].row, i->tensor);
        for (int64_t e = 0; e < c->rows * c->cols; e++)
            c->misread[k].value[e] = lab_number_at(i->tensor, x->dtype, e);
    }
    return LAB_OK;
}

enum lab_status lab_inspector_evaluate(struct lab_inspector *i,
                                       double *accuracy, double *loss)
{
    struct lab_confusion *c = &i->confusion;
    const struct lab_row_watch watch = {i, take_row};
    if (c->classes == 0)
        return lab_walk_evaluate(i->walk, accuracy, loss);
    memset(c->count, 0, (size_t)(c->classes * c->classes) * sizeof(*c->count));
    c->total = c->right = 0;
    c->n_misread = 0;
    c->after = -1;
    lab_walk_watch_rows(i->walk, &watch);
    enum lab_status st = lab_walk_evaluate(i->walk, accuracy, loss);
    lab_walk_watch_rows(i->walk, NULL);
    if (!st && c->total > 0) {
        c->after = lab_walk_iteration(i->walk) + lab_walk_at_end(i->walk);
        st = fill_pictures(i);
    }
    return st;
}

/* ---- copies ---- */

void lab_inspector_figures(const struct lab_inspector *i,
                           struct lab_arena *memory,
                           struct lab_node_figures **out, int *n,
                           int64_t *iteration)
{
    size_t count = (size_t)i->n_figures;
    *n = 0;
    *iteration = -1;
    *out =
        i->iteration < 0 ? NULL : lab_arena_array(memory, count, sizeof(**out));
    if (!*out)
        return;
    memcpy(*out, i->figures, count * sizeof(**out));
    *n = i->n_figures;
    *iteration = i->iteration;
}

/* Rows of n numbers of rows of LAB_LOOKS. */
static double *copy_rows(struct lab_arena *memory, const double *from, int rows,
                         int n)
{
    double *to = lab_arena_array(memory, (size_t)rows * (size_t)n, sizeof(*to));
    for (int k = 0; to && k < rows; k++)
        memcpy(&to[k * n], &from[k * LAB_LOOKS], (size_t)n * sizeof(*to));
    return to;
}

void lab_inspector_looks(const struct lab_inspector *i,
                         struct lab_arena *memory, struct lab_looks *out)
{
    const struct lab_looks *l = &i->looks;
    struct lab_looks copy = *l;
    size_t bytes = (size_t)l->n * sizeof(*l->iteration);
    *out = (struct lab_looks){0};
    if (l->n == 0)
        return;
    copy.iteration = lab_arena_take(memory, bytes);
    copy.gradient = copy_rows(memory, l->gradient, i->n_figures, l->n);
    copy.ratio = copy_rows(memory, l->ratio, i->n_figures, l->n);
    copy.parameter = copy_rows(memory, l->parameter, l->n_parameters, l->n);
    if (!copy.iteration || !copy.gradient || !copy.ratio || !copy.parameter)
        return;
    memcpy(copy.iteration, l->iteration, bytes);
    *out = copy;
}

/* *to, which is a copy of a row of numbers, becomes one of its own. */
static bool own(struct lab_arena *memory, double **to, int64_t n)
{
    const double *from = *to;
    if (!from)
        return true;
    *to = lab_arena_array(memory, (size_t)n, sizeof(**to));
    if (*to)
        memcpy(*to, from, (size_t)n * sizeof(**to));
    return *to;
}

void lab_inspector_result(const struct lab_inspector *i,
                          struct lab_arena *memory, struct lab_result *out)
{
    const struct lab_result *r = &i->result;
    struct lab_result copy = *r;
    int64_t n = r->rows * r->cols;
    *out = (struct lab_result){.iteration = -1};
    if (r->iteration < 0)
        return;
    if (r->label)
        copy.label = lab_arena_array(memory, (size_t)r->rows, sizeof(int));
    if (!own(memory, &copy.out, n) || !own(memory, &copy.target, n) ||
        !own(memory, &copy.in, n) || (r->label && !copy.label))
        return;
    if (r->label)
        memcpy(copy.label, r->label, (size_t)r->rows * sizeof(int));
    *out = copy;
}

void lab_inspector_confusion(const struct lab_inspector *i,
                             struct lab_arena *memory,
                             struct lab_confusion *out)
{
    const struct lab_confusion *c = &i->confusion;
    size_t classes = (size_t)c->classes;
    size_t each = (size_t)(c->rows * c->cols);
    *out = (struct lab_confusion){.after = -1, .classes = c->classes};
    if (c->after < 0)
        return;
    int64_t *count = lab_arena_array(memory, classes * classes, sizeof(*count));
    struct lab_misread *misread =
        lab_arena_array(memory, (size_t)c->n_misread, sizeof(*misread));
    if (!count || !misread)
        return;
    memcpy(count, c->count, classes * classes * sizeof(*count));
    *out = *c;
    out->count = count;
    out->misread = misread;
    for (int k = 0; k < c->n_misread; k++) {
        misread[k] = c->misread[k];
        misread[k].value = lab_arena_array(memory, each, sizeof(double));
        if (misread[k].value)
            memcpy(misread[k].value, c->misread[k].value,
                   each * sizeof(double));
    }
}
