/* data_made.c -- data that is made, not read: strings and their reverse, and
 * Fibonacci's numbers. */
#include <string.h>

#include "base/mem.h"
#include "data_priv.h"
#include "common/random.h"

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

enum lab_status lab_fibonacci_make(struct lab_data *d, const char *path)
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

enum lab_status lab_reverse_make(struct lab_data *d, const char *path)
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

int32_t lab_reverse_id(const struct lab_samples *t, const char *name,
                       int64_t row, int64_t k)
{
    const int32_t *s = t->symbols + row * t->length;
    if (strcmp(name, "x") == 0)
        return s[k];
    if (strcmp(name, "decoder") == 0)
        return k == 0 ? (int32_t)t->alphabet : s[t->length - k];
    return s[t->length - 1 - k];
}

const char *lab_reverse_symbol(const struct lab_samples *t, int64_t id)
{
    static const char symbol[MOST_ALPHABET][2] = {
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b",
        "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n",
        "o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z"};
    if (id == t->alphabet)
        return "^";
    return id >= 0 && id < t->alphabet ? symbol[id] : "?";
}
