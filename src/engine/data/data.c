/* data.c -- the samples of a lesson: opens its source, checks it, fills a
 * batch.
 *
 * * First text and its windows, and the data that are made, not read: strings
 * and their reverse, and Fibonacci's numbers. Tables in files are
 * data_table.c's. */
#include "engine/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "common/random.h"
#include "data_priv.h"
#include "engine/vocabulary.h"

/* Text: a UTF-8 file, read whole and dealt out in windows. */

enum { DEFAULT_CONTEXT = 64 };
#define DEFAULT_SPLIT 0.9

static void text_free(struct lab_text *t)
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
        text_free(t);
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

static enum lab_status text_open(struct lab_data *d, const char *path)
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
static enum lab_status text_check(const struct lab_data *d,
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

static void text_begin_epoch(struct lab_data *d, int64_t epoch)
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
    enum lab_dtype dtype = plan->tensors[tensor].dtype;
    if (dtype == LAB_I32)
        memcpy((int32_t *)out + i * text->context, from,
               (size_t)text->context * sizeof(*from));
    for (int64_t k = 0; k < text->context && dtype != LAB_I32; k++)
        lab_number_put(out, dtype, i * text->context + k, from[k]);
}

static void text_put(const struct lab_data *d, const struct lab_plan *plan,
                     int tensor, int64_t i, int64_t row, void *out)
{
    put_window(d, plan, tensor, i, d->text_begin + row * d->text->context, out);
}

static void text_put_held(const struct lab_data *d, const struct lab_plan *plan,
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

/* Sequences that follow Fibonacci's rule: each term is the sum of the two
 * before it. The first sample is his own, 1, 1, 2, 3, 5 ...; the others begin
 * with two random numbers. All are divided by the largest that could come next,
 * so that numbers lie between 0 and 1. */

enum { ROWS = 512, LEAST = 2, MOST = 64, DEFAULT_TERMS = 8 };

/* Not of the lesson's seed: every run learns from the same samples. */
static double start(int64_t row, int64_t which)
{
    const uint32_t stream = 0x4649424Fu; /* "FIBO" */
    uint32_t word =
        lab_random_word(1202, stream, 0, (uint64_t)(row * 2 + which));
    return row == 0 ? 1 : (double)lab_random_unit(word);
}

static void fill_row(struct lab_samples *t, int64_t row)
{
    double one = start(row, 0);
    double two = start(row, 1);
    double largest_one = 1;
    double largest_two = 1;
    for (int64_t i = 2; i <= t->features; i++) {
        double next = largest_one + largest_two;
        largest_one = largest_two;
        largest_two = next;
    }
    for (int64_t i = 0; i < t->features; i++) {
        double next = one + two;
        t->x[row * t->features + i] = (float)(one / largest_two);
        one = two;
        two = next;
    }
    t->target[row] = (float)(one / largest_two);
}

static enum lab_status fibonacci_make(struct lab_data *d, const char *path)
{
    const struct lab_network_spec *spec = d->spec;
    struct lab_samples *t = &d->table;
    (void)path;
    int64_t terms = spec->data.context ? spec->data.context : DEFAULT_TERMS;
    if (terms < LEAST || terms > MOST)
        return lab_network_fail(spec, spec->data.place, LAB_E_RANGE,
                                "context %lld: a sample of source fibonacci "
                                "shows %d to %d terms",
                                (long long)terms, LEAST, MOST);
    t->rows = ROWS;
    t->features = t->steps = terms;
    enum lab_status st = lab_samples_alloc(t, false, "fibonacci");
    for (int64_t row = 0; row < ROWS && !st; row++)
        fill_row(t, row);
    return st;
}

/* Strings of symbols, and the same strings backwards: the smallest task that
 * needs the whole input before the first answer. All strings differ, so that
 * one that is held back has never been seen in training. */

enum {
    DEFAULT_LENGTH = 8,
    DEFAULT_ALPHABET = 10,
    DEFAULT_ROWS = 4096,
    MOST_LENGTH = 256,
    MOST_ALPHABET = 36,
    MOST_ROWS = 1 << 20
};

/* How many different strings there are; many: enough for any table. */
static int64_t different(int64_t alphabet, int64_t length)
{
    int64_t n = 1;
    for (int64_t i = 0; i < length && n <= MOST_ROWS; i++)
        n *= alphabet;
    return n;
}

static enum lab_status check_sizes(const struct lab_network_spec *spec,
                                   const struct lab_samples *t)
{
    struct lab_place place = spec->data.place;
    int64_t most = different(t->alphabet, t->length);
    if (!spec->loss.op || !spec->loss.op->labels)
        return lab_network_fail(spec, place, LAB_E_PARSE,
                                "source reverse gives symbols as class labels: "
                                "use the loss softmax_cross_entropy");
    if (t->length < 1 || t->length > MOST_LENGTH)
        return lab_network_fail(spec, place, LAB_E_RANGE,
                                "length %lld: a string has 1 to %d symbols",
                                (long long)t->length, MOST_LENGTH);
    if (t->alphabet < 2 || t->alphabet > MOST_ALPHABET)
        return lab_network_fail(spec, place, LAB_E_RANGE,
                                "alphabet %lld: there are 2 to %d symbols",
                                (long long)t->alphabet, MOST_ALPHABET);
    if (t->rows < 2 || t->rows > MOST_ROWS)
        return lab_network_fail(spec, place, LAB_E_RANGE,
                                "rows %lld: there are 2 to %d strings",
                                (long long)t->rows, MOST_ROWS);
    if (t->rows > most)
        return lab_network_fail(spec, place, LAB_E_RANGE,
                                "rows %lld: there are only %lld different "
                                "strings of length %lld over %lld symbols",
                                (long long)t->rows, (long long)most,
                                (long long)t->length, (long long)t->alphabet);
    return LAB_OK;
}

static uint64_t hash_of(const int32_t *s, int64_t n)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a, 64 bits */
    for (int64_t i = 0; i < n; i++)
        h = (h ^ (uint64_t)(uint32_t)s[i]) * 1099511628211u;
    return h ^ (h >> 29);
}

/* Is the string of `row` that of an earlier one? If not, it is noted. */
static bool seen(const struct lab_samples *t, int32_t *slot, size_t n_slots,
                 int64_t row)
{
    const int32_t *own = t->symbols + row * t->length;
    size_t at = (size_t)hash_of(own, t->length) & (n_slots - 1);
    for (; slot[at] != 0; at = (at + 1) & (n_slots - 1)) {
        const int32_t *other = t->symbols + (slot[at] - 1) * t->length;
        if (memcmp(own, other, (size_t)t->length * sizeof(*own)) == 0)
            return true;
    }
    slot[at] = (int32_t)row + 1;
    return false;
}

/* Not of the lesson's seed: every run has the same strings; the seed states
 * which of them are held back. */
static void draw(struct lab_samples *t, int64_t row, uint32_t attempt)
{
    const uint32_t stream = 0x52455645u; /* "REVE" */
    for (int64_t k = 0; k < t->length; k++) {
        uint32_t word = lab_random_word(1014, stream, attempt,
                                        (uint64_t)(row * t->length + k));
        t->symbols[row * t->length + k] =
            (int32_t)(((uint64_t)word * (uint64_t)t->alphabet) >> 32);
    }
}

static enum lab_status reverse_make(struct lab_data *d, const char *path)
{
    const struct lab_data_spec *data = &d->spec->data;
    struct lab_samples *t = &d->table;
    (void)path;
    t->length = data->length ? data->length : DEFAULT_LENGTH;
    t->alphabet = data->alphabet ? data->alphabet : DEFAULT_ALPHABET;
    t->rows = data->rows ? data->rows : DEFAULT_ROWS;
    enum lab_status st = check_sizes(d->spec, t);
    if (st)
        return st;
    size_t n_slots = 16;
    while (n_slots < 2 * (size_t)t->rows)
        n_slots *= 2;
    int32_t *slot = lab_alloc_array(n_slots, sizeof(*slot));
    t->symbols =
        lab_alloc_array((size_t)(t->rows * t->length), sizeof(*t->symbols));
    if (!slot || !t->symbols)
        st = lab_fail(LAB_E_NOMEM, "no memory for %lld strings",
                      (long long)t->rows);
    for (int64_t row = 0; row < t->rows && !st; row++) {
        uint32_t attempt = 0;
        do
            draw(t, row, attempt++);
        while (seen(t, slot, n_slots, row));
    }
    lab_free(slot);
    return st;
}

static int32_t reverse_id(const struct lab_samples *t, const char *name,
                          int64_t row, int64_t k)
{
    const int32_t *s = t->symbols + row * t->length;
    if (strcmp(name, "x") == 0)
        return s[k];
    if (strcmp(name, "decoder") == 0)
        return k == 0 ? (int32_t)t->alphabet : s[t->length - k];
    return s[t->length - 1 - k];
}

static const char *reverse_symbol(const struct lab_samples *t, int64_t id)
{
    static const char symbol[MOST_ALPHABET][2] = {
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b",
        "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n",
        "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};
    if (id == t->alphabet)
        return "^";
    return id >= 0 && id < t->alphabet ? symbol[id] : "?";
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
        return text_check(d, plan, classes);
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
    [LAB_DATA_FIBONACCI] = {fibonacci_make, false},
    [LAB_DATA_TEXT] = {text_open, true},
    [LAB_DATA_CSV] = {lab_csv_read, true},
    [LAB_DATA_WORDS] = {lab_vocabulary_read, true},
    [LAB_DATA_REVERSE] = {reverse_make, false},
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
    text_free(d->text);
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
    if (s->values && t->dtype == LAB_F32) /* large ones are */
        for (int64_t i = 0; i < t->count; i++)
            ((float *)out)[i] = (float)s->values[first + i];
    else
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
                           reverse_id(table, t->name, row, k));
    } else if (tensor == plan->x) {
        const float *x = table->x + row * table->features;
        if (t->dtype == LAB_F32)
            memcpy((float *)out + i * each, x, (size_t)each * sizeof(*x));
        for (int64_t k = 0; k < each && t->dtype != LAB_F32; k++)
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
        text_begin_epoch(d, epoch);
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
            text_put(d, plan, tensor, i, row, out);
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
            text_put_held(d, plan, tensor, i, at, out);
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
    return d->table.symbols ? reverse_symbol(&d->table, id) : NULL;
}
