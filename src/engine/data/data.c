/* data.c -- the samples of a lesson: opens its source, checks it, fills a
 * batch. */
#include "engine/data.h"

#include <math.h>
#include <string.h>

#include "data_priv.h"
#include "engine/vocabulary.h"
#include "base/mem.h"
#include "common/random.h"

static const struct lab_tensor_spec *
data_find_inline(const struct lab_network_spec *spec, const char *name);

/* Do labels and ids fit the network that reads them? */

static enum lab_status bad_label(const struct lab_data *d, int64_t row,
                                 double label, int64_t classes)
{
    struct lab_place place = d->spec->data.place;
    const struct lab_tensor_spec *y = data_find_inline(d->spec, "y");
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
        const struct lab_tensor_spec *s = data_find_inline(d->spec, t->name);
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

/* Every symbol of the alphabet must have a class, and an id in what reads
 * it. */
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
    const struct lab_tensor_spec *y = data_find_inline(d->spec, "y");
    enum lab_status st = check_ids(d, plan);
    if (!st)
        st = check_words(d, plan);
    if (st || !d->labels)
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

enum { STREAM_SPLIT = 0x53504C54, STREAM_SHUFFLE = 0x53485546 };

/* Fisher and Yates, from a stream that depends on `round`. */
static void shuffle(int64_t *order, int64_t n, uint64_t seed, uint32_t stream,
                    uint32_t round)
{
    for (int64_t i = n - 1; i > 0; i--) {
        struct lab_random4 r = lab_philox(seed, stream, round, (uint64_t)i);
        uint64_t word = ((uint64_t)r.v[0] << 32) | r.v[1];
        int64_t j = (int64_t)(word % (uint64_t)(i + 1));
        int64_t swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static enum lab_status check_finite(const struct lab_network_spec *spec)
{
    for (int i = 0; i < spec->data.n_tensors; i++) {
        const struct lab_tensor_spec *t = &spec->data.tensors[i];
        for (int64_t k = 0; k < (t->values ? t->count : 1); k++) {
            double v = t->values ? t->values[k] : t->fill;
            if (!isfinite((float)v))
                return lab_network_fail(
                    spec, t->place, LAB_E_RANGE,
                    "%s holds %g: data must hold no NaN and no infinity, in "
                    "single precision",
                    t->name, v);
        }
    }
    return LAB_OK;
}

/* The inline tensor of that name, or NULL. */
static const struct lab_tensor_spec *
data_find_inline(const struct lab_network_spec *spec, const char *name)
{
    for (int i = 0; i < spec->data.n_tensors; i++) {
        if (strcmp(spec->data.tensors[i].name, name) == 0)
            return &spec->data.tensors[i];
    }
    return NULL;
}

static enum lab_status open_inline(struct lab_data *d, const char *path)
{
    const struct lab_network_spec *spec = d->spec;
    int64_t batch = d->facts.batch; /* 0: every row */
    (void)path;
    const struct lab_tensor_spec *x = data_find_inline(spec, "x");
    if (spec->data.n_tensors == 0)
        return lab_network_fail(spec, spec->data.place, LAB_E_PARSE,
                                "data: source inline needs x: (or other "
                                "tensors) and y:");
    if (!x)
        x = &spec->data.tensors[0];
    int64_t rows = x->shape.rank > 0 ? x->shape.dim[0] : 1;
    if (batch == 0 || batch == rows) {
        d->facts.train_rows = d->facts.batch = rows;
        return check_finite(spec);
    }
    for (int i = 0; i < spec->data.n_tensors; i++) {
        const struct lab_tensor_spec *t = &spec->data.tensors[i];
        if (t->shape.rank < 1 || t->shape.dim[0] != rows)
            return lab_network_fail(spec, t->place, LAB_E_SHAPE,
                                    "batch %lld cannot be cut from inline data "
                                    "where %s and %s differ in rows",
                                    (long long)batch, x->name, t->name);
    }
    if (batch > rows)
        return lab_network_fail(spec, spec->data.place, LAB_E_RANGE,
                                "batch %lld is more than the %lld rows",
                                (long long)batch, (long long)rows);
    d->facts.train_rows = rows;
    d->facts.batches_per_epoch = rows / batch;
    return check_finite(spec);
}

static enum lab_status deal(struct lab_data *d)
{
    const struct lab_data_spec *spec = &d->spec->data;
    struct lab_data_facts *f = &d->facts;
    int64_t rows = d->table.rows;
    double share = spec->split > 0 ? spec->split : 0.8;
    d->order = lab_alloc_array((size_t)rows, sizeof(*d->order));
    d->epoch_order = lab_alloc_array((size_t)rows, sizeof(*d->epoch_order));
    if (!d->order || !d->epoch_order)
        return lab_fail(LAB_E_NOMEM, "no memory for %lld rows",
                        (long long)rows);
    for (int64_t i = 0; i < rows; i++)
        d->order[i] = i;
    if (share > 1)
        return lab_network_fail(d->spec, spec->place, LAB_E_RANGE,
                                "split %g: the share that trains is more than "
                                "0 and at most 1",
                                share);
    f->train_rows = d->table.held_from;
    if (f->train_rows == 0) {
        f->train_rows = (int64_t)((double)rows * share);
        if (spec->shuffle)
            shuffle(d->order, rows, d->seed, STREAM_SPLIT, 0);
    }
    f->held_rows = rows - f->train_rows;
    f->decodes = d->table.symbols != NULL;
    f->classes = d->table.label ? d->table.classes : 0;
    if (f->batch > f->train_rows)
        return lab_network_fail(d->spec, spec->place, LAB_E_RANGE,
                                "batch %lld is more than the %lld training "
                                "rows",
                                (long long)f->batch, (long long)f->train_rows);
    f->batches_per_epoch = f->train_rows / f->batch;
    return LAB_OK;
}

void lab_data_reseed(struct lab_data *d, uint64_t seed)
{
    d->seed = seed;
    d->epoch = -1;
    if (!d->order || d->text || d->table.held_from > 0 ||
        !d->spec->data.shuffle)
        return;
    for (int64_t i = 0; i < d->table.rows; i++)
        d->order[i] = i;
    shuffle(d->order, d->table.rows, seed, STREAM_SPLIT, 0);
}

enum { BATCH = 32 }; /* when a lesson gives none */

static const struct {
    enum lab_status (*open)(struct lab_data *d, const char *path);
    bool reads_file;
} sources[LAB_DATA_SOURCE_COUNT] = {
    [LAB_DATA_INLINE] = {open_inline, false},
    [LAB_DATA_DIGITS] = {lab_digits_read, true},
    [LAB_DATA_MNIST] = {lab_mnist_read, true},
    [LAB_DATA_FIBONACCI] = {lab_fibonacci_make, false},
    [LAB_DATA_TEXT] = {lab_text_open, true},
    [LAB_DATA_CSV] = {lab_csv_read, true},
    [LAB_DATA_WORDS] = {lab_vocabulary_read, true},
    [LAB_DATA_REVERSE] = {lab_reverse_make, false},
};

enum lab_status lab_data_open(struct lab_data **out,
                              const struct lab_network_spec *spec,
                              const char *path, int64_t batch,
                              const struct lab_stop *stop)
{
    enum lab_data_source source = spec->data.source;
    /* A file that is never read would be an unnoticed mistake. */
    if (path && !sources[source].reads_file)
        return lab_fail(LAB_E_USAGE,
                        "--data %s: the data of this lesson are %s: it reads "
                        "no file",
                        path, lab_data_source_name(source));
    struct lab_data *d = lab_alloc(sizeof(*d));
    if (!d)
        return lab_no_memory("the data");
    d->spec = spec;
    d->stop = stop;
    d->seed = spec->seed;
    d->epoch = -1;
    d->labels = spec->loss.op && spec->loss.op->labels;
    d->facts.batch = batch ? batch : spec->data.batch;
    if (d->facts.batch == 0 && source != LAB_DATA_INLINE)
        d->facts.batch = BATCH;
    enum lab_status st = sources[source].open(d, path ? path : spec->data.path);
    if (!st && d->table.rows > 0)
        st = deal(d);
    if (st) {
        lab_data_free(d);
        return st;
    }
    d->stop = NULL;
    *out = d;
    return LAB_OK;
}

void lab_data_free(struct lab_data *d)
{
    if (!d)
        return;
    lab_free(d->table.x);
    lab_free(d->table.label);
    lab_free(d->table.target);
    lab_free(d->table.symbols);
    lab_text_free(d->text);
    lab_vocabulary_free(d->words);
    lab_free(d->order);
    lab_free(d->epoch_order);
    lab_free(d);
}

void lab_data_get_facts(const struct lab_data *d, struct lab_data_facts *out)
{
    *out = d->facts;
}

void lab_data_get_shapes(const struct lab_data *d, struct lab_data_shapes *out)
{
    const struct lab_samples *t = &d->table;
    int64_t n = d->facts.batch;
    *out = (struct lab_data_shapes){.batch = n};
    if (d->spec->data.source == LAB_DATA_INLINE) {
        if (d->facts.batches_per_epoch == 0)
            out->batch = 0; /* as the tensors are */
        return;
    }
    if (d->text) {
        out->x = out->y = (struct lab_shape){2, {n, d->text->context}};
        out->y_integers = true;
        return;
    }
    if (t->symbols) {
        out->x = out->y = (struct lab_shape){2, {n, t->length}};
        out->more[0].name = lab_data_source_more(d->spec->data.source);
        out->more[0].shape = out->x;
        out->n_more = 1;
        out->y_integers = true;
        return;
    }
    out->x = (struct lab_shape){2, {n, t->features}};
    if (t->single)
        out->x.rank = 1;
    if (t->steps > 0)
        out->x = (struct lab_shape){3, {n, t->steps, t->features / t->steps}};
    if (t->image.rank == 3) {
        int64_t h = t->image.dim[0];
        int64_t w = t->image.dim[1];
        int64_t c = t->image.dim[2];
        out->x_image = d->spec->layout == LAB_NHWC
                           ? (struct lab_shape){4, {n, h, w, c}}
                           : (struct lab_shape){4, {n, c, h, w}};
    }
    out->y_integers = t->label != NULL;
    if (d->labels)
        out->y = (struct lab_shape){1, {n}};
    else
        out->y = (struct lab_shape){2, {n, t->label ? t->classes : 1}};
}

static enum lab_status fill_inline(const struct lab_data *d,
                                   const struct lab_tensor *t,
                                   int64_t iteration, void *out)
{
    const struct lab_tensor_spec *s = data_find_inline(d->spec, t->name);
    if (!s)
        return lab_fail(LAB_E_INTERNAL, "no inline tensor '%s'", t->name);
    int64_t first = 0;
    if (d->facts.batches_per_epoch > 0)
        first = iteration % d->facts.batches_per_epoch * t->count;
    for (int64_t i = 0; i < t->count; i++)
        lab_number_put(out, t->dtype, i,
                       s->values ? s->values[first + i] : s->fill);
    return LAB_OK;
}

static void put_row(const struct lab_data *d, const struct lab_plan *plan,
                    int tensor, int64_t i, int64_t row, void *out)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    const struct lab_samples *table = &d->table;
    int64_t each = t->count / t->shape.dim[0];
    if (table->symbols) {
        for (int64_t k = 0; k < each; k++)
            lab_number_put(out, t->dtype, i * each + k,
                           lab_reverse_id(table, t->name, row, k));
    } else if (tensor == plan->x) {
        const float *x = table->x + row * table->features;
        for (int64_t k = 0; k < each; k++)
            lab_number_put(out, t->dtype, i * each + k, x[k]);
    } else if (d->labels) {
        lab_number_put(out, t->dtype, i, table->label[row]);
    } else if (table->label) {
        for (int64_t k = 0; k < each; k++)
            lab_number_put(out, t->dtype, i * each + k, table->label[row] == k);
    } else {
        lab_number_put(out, t->dtype, i, table->target[row]);
    }
}

static void deal_epoch(struct lab_data *d, int64_t epoch)
{
    if (d->epoch == epoch)
        return;
    int64_t n = d->facts.train_rows;
    memcpy(d->epoch_order, d->order, (size_t)n * sizeof(*d->order));
    if (d->text)
        lab_text_begin_epoch(d, epoch);
    if (d->spec->data.shuffle)
        shuffle(d->epoch_order, n, d->seed, STREAM_SHUFFLE, (uint32_t)epoch);
    d->epoch = epoch;
}

enum lab_status lab_data_fill(struct lab_data *d, const struct lab_plan *plan,
                              int tensor, int64_t iteration, void *out)
{
    if (d->spec->data.source == LAB_DATA_INLINE)
        return fill_inline(d, &plan->tensors[tensor], iteration, out);
    deal_epoch(d, iteration / d->facts.batches_per_epoch);
    int64_t first = iteration % d->facts.batches_per_epoch * d->facts.batch;
    for (int64_t i = 0; i < d->facts.batch; i++) {
        int64_t row = d->epoch_order[first + i];
        if (d->text)
            lab_text_put(d, plan, tensor, i, row, out);
        else
            put_row(d, plan, tensor, i, row, out);
    }
    return LAB_OK;
}

bool lab_data_same(const struct lab_data *d, int64_t iteration, int64_t other)
{
    int64_t each = d->facts.batches_per_epoch;
    if (iteration == other)
        return true;
    if (d->spec->data.source != LAB_DATA_INLINE || iteration < 0 || other < 0)
        return false;
    return each == 0 || iteration % each == other % each;
}

void lab_data_fill_held(const struct lab_data *d, const struct lab_plan *plan,
                        int tensor, int64_t first, void *out)
{
    const struct lab_data_facts *f = &d->facts;
    for (int64_t i = 0; i < f->batch; i++) {
        int64_t at = first + i < f->held_rows ? first + i : f->held_rows - 1;
        if (d->text)
            lab_text_put_held(d, plan, tensor, i, at, out);
        else
            put_row(d, plan, tensor, i, d->order[f->train_rows + at], out);
    }
}

const struct lab_vocabulary *lab_data_words(const struct lab_data *d)
{
    return d->words ? d->words : d->spec->data.words;
}

const char *lab_data_word_at(const struct lab_data *d,
                             const struct lab_plan *plan, int tensor,
                             int64_t index, double value)
{
    const struct lab_vocabulary *v = lab_data_words(d);
    const struct lab_tensor *t = &plan->tensors[tensor];
    const struct lab_tensor_spec *s = data_find_inline(d->spec, t->name);
    enum lab_tensor_words about = s ? s->words : LAB_NO_WORDS;
    if (!v || t->role != LAB_TENSOR_DATA)
        return NULL;
    if (d->words && t->dtype == LAB_I32)
        about = LAB_WORD_IDS;
    if (about == LAB_WORD_COLUMNS)
        return lab_vocabulary_word(v, index % t->shape.dim[1] + 1);
    return about == LAB_WORD_IDS ? lab_vocabulary_word(v, (int64_t)value)
                                 : NULL;
}

int lab_data_held_label(const struct lab_data *d, int64_t row)
{
    if (!d->table.label || row >= d->facts.held_rows)
        return -1;
    return d->table.label[d->order[d->facts.train_rows + row]];
}

const struct lab_network_spec *lab_data_spec_of(const struct lab_data *d)
{
    return d->spec;
}

int32_t lab_data_begin_id(const struct lab_data *d)
{
    return (int32_t)d->table.alphabet;
}

const char *lab_data_symbol(const struct lab_data *d, int64_t id)
{
    return d->table.symbols ? lab_reverse_symbol(&d->table, id) : NULL;
}
