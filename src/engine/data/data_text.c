/* data_text.c -- text as data: reading and checking a file, its vocabulary of characters,
 * and the windows that an epoch deals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "data_priv.h"
#include "common/random.h"

/* Text: a UTF-8 file, read whole and dealt out in windows. */

enum { DEFAULT_CONTEXT = 64 };
#define DEFAULT_SPLIT 0.9

void lab_text_free(struct lab_text *t)
{
    if (!t)
        return;
    lab_free(t->id);
    lab_free(t->code);
    lab_free(t);
}

/* ---- characters ---- */

static enum lab_status bad_byte(const char *path, const char *text, size_t at,
                                const char *what)
{
    long long line = 1;
    for (size_t i = 0; i < at; i++)
        line += text[i] == '\n';
    return lab_fail(LAB_E_PARSE, "%s:%lld: the byte at offset %zu (0x%02X) %s",
                    path, line, at, (unsigned)(unsigned char)text[at], what);
}

/* Code points into t->id; a mark of the byte order is left out, and the line
 * ends of Windows are one character. */
static enum lab_status decode(struct lab_text *t, const char *path,
                              const struct lab_str *s,
                              const struct lab_stop *stop)
{
    enum { LOOK_EVERY = 1 << 20 };
    const char *text = lab_str_text(s);
    for (size_t i = 0; i < s->len;) {
        unsigned code = 0;
        if (t->count % LOOK_EVERY == 0 && lab_stop_asked(stop))
            return lab_fail(LAB_E_CANCELLED, "%s: reading was stopped", path);
        size_t n = lab_utf8_next(text + i, s->len - i, &code);
        if (n == 0)
            return bad_byte(path, text, i,
                            "is not UTF-8: save the text as "
                            "UTF-8");
        if (code == 0)
            return bad_byte(path, text, i, "is a NUL: this is not a text file");
        bool mark = i == 0 && code == 0xFEFF;
        bool line_end = code == '\r' && i + 1 < s->len && text[i + 1] == '\n';
        if (!mark && !line_end)
            t->id[t->count++] = (int32_t)code;
        i += n;
    }
    if (t->count == 0)
        return lab_fail(LAB_E_PARSE, "%s: the text is empty", path);
    return LAB_OK;
}

enum { CODE_POINTS = 0x110000 };

/* Turns code points into ids. */
static enum lab_status number(struct lab_text *t, const char *path)
{
    int32_t *id_of = lab_alloc_array(CODE_POINTS, sizeof(*id_of));
    if (id_of) {
        for (int64_t i = 0; i < t->count; i++)
            id_of[t->id[i]] = 1;
        for (int c = 0; c < CODE_POINTS; c++)
            t->vocab += id_of[c];
        t->code = lab_alloc_array((size_t)t->vocab, sizeof(*t->code));
    }
    if (!t->code) {
        lab_free(id_of);
        return lab_fail(LAB_E_NOMEM, "%s: no memory for its characters", path);
    }
    int32_t next = 0;
    for (int c = 0; c < CODE_POINTS; c++) {
        if (!id_of[c])
            continue;
        t->code[next] = (uint32_t)c;
        id_of[c] = next++;
    }
    for (int64_t i = 0; i < t->count; i++)
        t->id[i] = id_of[t->id[i]];
    lab_free(id_of);
    return LAB_OK;
}

static int compare_code(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int32_t lab_text_find(const struct lab_text *t, uint32_t code)
{
    const uint32_t *at = bsearch(&code, t->code, (size_t)t->vocab,
                                 sizeof(*t->code), compare_code);
    return at ? (int32_t)(at - t->code) : -1;
}

void lab_text_add(const struct lab_text *t, int32_t id, struct lab_str *out)
{
    uint32_t c = t->code[id];
    char bytes[4];
    size_t n = 0;
    if (c < 0x80) {
        bytes[n++] = (char)c;
    } else {
        int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        unsigned lead = 0xFF00u >> (more + 1); /* 110, 1110, 11110 */
        bytes[n++] = (char)((lead & 0xFF) | (c >> (6 * more)));
        while (more-- > 0)
            bytes[n++] = (char)(0x80 | ((c >> (6 * more)) & 0x3F));
    }
    lab_str_add_bytes(out, bytes, n);
}

/* ---- windows ---- */

static enum lab_status
cut(struct lab_text *t, const struct lab_network_spec *spec, const char *path)
{
    const struct lab_data_spec *d = &spec->data;
    double share = d->split > 0 ? d->split : DEFAULT_SPLIT;
    long long need = (long long)t->context + 1;
    if (share > 1)
        return lab_network_fail(spec, d->place, LAB_E_RANGE,
                                "split %g: the share that trains is more than "
                                "0 and at most 1",
                                share);
    t->train_count = (int64_t)((double)t->count * share);
    if (t->count < need)
        return lab_network_fail(
            spec, d->place, LAB_E_RANGE,
            "%s: has %lld characters; with context %lld a sample takes %lld",
            path, (long long)t->count, (long long)t->context, need);
    if (t->train_count < need)
        return lab_network_fail(
            spec, d->place, LAB_E_RANGE,
            "%s: of its %lld characters %lld train (split %g); with context "
            "%lld a sample takes %lld",
            path, (long long)t->count, (long long)t->train_count, share,
            (long long)t->context, need);
    return LAB_OK;
}

static enum lab_status make(struct lab_text *t,
                            const struct lab_network_spec *spec,
                            const char *path, const struct lab_stop *stop)
{
    struct lab_str bytes;
    lab_str_init(&bytes);
    enum lab_status st = lab_data_file_text(path, stop, &bytes);
    t->context = spec->data.context ? spec->data.context : DEFAULT_CONTEXT;
    if (!st) {
        t->id = lab_alloc_array(bytes.len + 1, sizeof(*t->id));
        st = t->id ? decode(t, path, &bytes, stop)
                   : lab_fail(LAB_E_NOMEM, "%s: no memory for its characters",
                              path);
    }
    lab_str_release(&bytes);
    if (!st)
        st = number(t, path);
    return st ? st : cut(t, spec, path);
}

static enum lab_status text_read(struct lab_text **out,
                                 const struct lab_network_spec *spec,
                                 const char *path, const struct lab_stop *stop)
{
    struct lab_str found;
    enum lab_status st = LAB_OK;
    if (!spec->loss.op || !spec->loss.op->labels)
        return lab_network_fail(spec, spec->data.place, LAB_E_PARSE,
                                "source text asks which character comes next: "
                                "its loss is softmax_cross_entropy");
    struct lab_text *t = lab_alloc(sizeof(*t));
    lab_str_init(&found);
    if (!t)
        st = lab_no_memory("the text");
    else if (path)
        lab_str_add(&found, path);
    else
        st = lab_data_path("lessons/data/course.txt", &found);
    if (!st && found.failed)
        st = lab_no_memory("the text's path");
    if (!st)
        st = make(t, spec, lab_str_text(&found), stop);
    lab_str_release(&found);
    if (st)
        lab_text_free(t);
    else
        *out = t;
    return st;
}

/* The windows that a text is dealt out in. */

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

enum lab_status lab_text_open(struct lab_data *d, const char *path)
{
    struct lab_data_facts *f = &d->facts;
    enum lab_status st = text_read(&d->text, d->spec, path, d->stop);
    if (st)
        return st;
    f->text = true;
    f->train_rows =
        count_windows(d->text, d->spec->data.shuffle, &d->text_slack);
    f->held_rows =
        (d->text->count - d->text->train_count + d->text->context - 1) /
        d->text->context;
    f->classes = d->text->vocab;
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

/* x: the characters of a window; y: those that come next. */
static void put_window(const struct lab_data *d, const struct lab_plan *plan,
                       int tensor, int64_t i, int64_t start, void *out)
{
    const struct lab_text *text = d->text;
    const int32_t *from = text->id + start + (tensor == plan->y);
    for (int64_t k = 0; k < text->context; k++)
        lab_number_put(out, plan->tensors[tensor].dtype, i * text->context + k,
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
