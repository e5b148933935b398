/* The windows that a text is dealt out in. */
#include <math.h>

#include "base/mem.h"
#include "data_priv.h"
#include "common/random.h"

enum { STREAM_BEGIN = 0x42454749 };

/* Training windows of an epoch, one behind the other; they may begin up to
 * *slack characters later. */
static int64_t count_windows(const struct lab_text *t, bool shuffle,
                             int64_t *slack)
{
    int64_t places = t->train_count - 1; /* that have a next character */
    int64_t n = places / t->context;
    if (shuffle && n > 1)
        n--; /* so that every epoch may begin elsewhere */
    *slack = places - n * t->context;
    return n;
}

/* The targets of the held-back windows cover the held-back end, each character
 * once. The last window ends with the text, and its first *skip targets belong
 * to the window before it. */
static int64_t held_start(const struct lab_text *t, int64_t row, int64_t *skip)
{
    int64_t start = t->train_count - 1 + row * t->context;
    int64_t last = t->count - 1 - t->context;
    *skip = start > last ? start - last : 0;
    return start - *skip;
}

static enum lab_status too_few_windows(const struct lab_data *d)
{
    return lab_network_fail(d->spec, d->spec->data.place, LAB_E_RANGE,
                            "batch %lld is more than the %lld samples that "
                            "the text has with context %lld",
                            (long long)d->facts.batch,
                            (long long)d->facts.train_rows,
                            (long long)d->text->context);
}

enum lab_status lab_text_open(struct lab_data *d, const char *path,
                              int64_t batch)
{
    struct lab_data_facts *f = &d->facts;
    enum lab_status st = lab_text_read(&d->text, d->spec, path, d->stop);
    if (st)
        return st;
    f->text = true;
    f->train_rows =
        count_windows(d->text, d->spec->data.shuffle, &d->text_slack);
    f->held_rows =
        (d->text->count - d->text->train_count + d->text->context - 1) /
        d->text->context;
    f->classes = d->text->vocab;
    f->batch = batch > 0 ? batch : LAB_DATA_BATCH;
    if (f->batch > f->train_rows)
        return too_few_windows(d);
    f->batches_per_epoch = f->train_rows / f->batch;
    size_t rows = (size_t)f->train_rows;
    d->order = lab_alloc_array(rows, sizeof(*d->order));
    d->epoch_order = lab_alloc_array(rows, sizeof(*d->epoch_order));
    if (!d->order || !d->epoch_order)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu samples", rows);
    for (int64_t i = 0; i < f->train_rows; i++)
        d->order[i] = i;
    return LAB_OK;
}

/* More ids than the text has characters are allowed: another text may then be
 * read with the same network. */
enum lab_status lab_text_check(const struct lab_data *d,
                               const struct lab_plan *plan, int64_t classes)
{
    long long vocab = (long long)d->text->vocab;
    int64_t limit = plan->x >= 0 ? plan->tensors[plan->x].id_limit : 0;
    bool reads = limit > 0 && limit < vocab;
    if (!reads && classes >= vocab)
        return LAB_OK;
    struct lab_place place = d->spec->data.place;
    for (int i = 0; i < plan->n_nodes; i++) {
        const struct lab_node *n = &plan->nodes[i];
        if (reads ? n->n_in > 0 && n->in[0] == plan->x : n->out == plan->out)
            place = n->place;
    }
    if (reads)
        return lab_network_fail(d->spec, place, LAB_E_RANGE,
                                "the text has %lld different characters, but "
                                "the network reads ids below %lld: vocab: %lld",
                                vocab, (long long)limit, vocab);
    return lab_network_fail(d->spec, place, LAB_E_RANGE,
                            "the text has %lld different characters, but the "
                            "network's output has %lld scores: units: %lld",
                            vocab, (long long)classes, vocab);
}

void lab_text_begin_epoch(struct lab_data *d, int64_t epoch)
{
    d->text_begin = 0;
    if (!d->spec->data.shuffle)
        return;
    uint32_t word = lab_random_word(d->seed, STREAM_BEGIN, (uint32_t)epoch, 0);
    d->text_begin = (int64_t)(word % (uint64_t)(d->text_slack + 1));
}

static void put_id(void *out, enum lab_dtype dtype, int64_t i, int32_t id)
{
    if (dtype == LAB_F64)
        ((double *)out)[i] = id;
    else if (dtype == LAB_I32)
        ((int32_t *)out)[i] = id;
    else
        ((float *)out)[i] = (float)id;
}

/* x: the characters of a window; y: those that come next. */
static void put_window(const struct lab_data *d, const struct lab_plan *plan,
                       int tensor, int64_t i, int64_t start, void *out)
{
    const struct lab_text *text = d->text;
    const int32_t *from = text->id + start + (tensor == plan->y);
    for (int64_t k = 0; k < text->context; k++)
        put_id(out, plan->tensors[tensor].dtype, i * text->context + k,
               from[k]);
}

void lab_text_put(const struct lab_data *d, const struct lab_plan *plan,
                  int tensor, int64_t i, int64_t row, void *out)
{
    put_window(d, plan, tensor, i, d->text_begin + row * d->text->context, out);
}

void lab_text_put_held(const struct lab_data *d, const struct lab_plan *plan,
                       int tensor, int64_t i, int64_t row, void *out)
{
    int64_t skip;
    put_window(d, plan, tensor, i, held_start(d->text, row, &skip), out);
}

int lab_data_held_next(const struct lab_data *d, int64_t row, int64_t place)
{
    int64_t skip;
    if (!d->text || row >= d->facts.held_rows)
        return -1;
    return d->text->id[held_start(d->text, row, &skip) + place + 1];
}

int64_t lab_data_held_skip(const struct lab_data *d, int64_t row)
{
    int64_t skip = 0;
    if (d->text && row < d->facts.held_rows)
        held_start(d->text, row, &skip);
    return skip;
}

const struct lab_text *lab_data_text(const struct lab_data *d)
{
    return d->text;
}

double lab_data_bits(const struct lab_data_facts *facts, double loss)
{
    return facts->text ? loss / log(2.0) : NAN;
}
