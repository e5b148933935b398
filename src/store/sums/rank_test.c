/* rank_test.c -- durations as a distribution, and the rank test of Mann and
 * Whitney. */
#include "store/rank_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/varint.h"

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum lab_status lab_times_from(struct lab_times *out, int64_t *values, size_t n)
{
    struct lab_times t = {.value = values};
    t.count = lab_alloc_array(n ? n : 1, sizeof(*t.count));
    if (!t.count)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu times", n);
    if (n)
        qsort(values, n, sizeof(*values), compare_values);
    for (size_t i = 0; i < n; i++) {
        if (t.n == 0 || values[t.n - 1] != values[i]) {
            values[t.n] = values[i];
            t.n++;
        }
        t.count[t.n - 1]++;
    }
    t.total = (int64_t)n;
    *out = t;
    return LAB_OK;
}

void lab_times_release(struct lab_times *t)
{
    lab_free(t->value);
    lab_free(t->count);
    *t = (struct lab_times){0};
}

/* The middle of the values that share `bits` leading bits with v. */
static int64_t rounded(int64_t v, int bits)
{
    uint64_t u = v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
    int length = 0;
    for (uint64_t x = u; x; x >>= 1)
        length++;
    int drop = length - bits;
    if (drop <= 0)
        return v;
    u = (u >> drop << drop) + ((uint64_t)1 << (drop - 1));
    return v < 0 ? -(int64_t)u : (int64_t)u;
}

static void keep_bits(struct lab_times *t, int bits)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        int64_t v = rounded(t->value[i], bits);
        if (n > 0 && t->value[n - 1] == v) {
            t->count[n - 1] += t->count[i];
            continue;
        }
        t->value[n] = v;
        t->count[n++] = t->count[i];
    }
    t->n = n;
    t->bits = bits;
}

void lab_times_coarsen(struct lab_times *t, size_t most)
{
    for (int bits = 12; t->n > most && bits > 0; bits--)
        keep_bits(t, bits);
}

/* The value at a place of the sorted list, counted from 0. */
static int64_t value_at(const struct lab_times *t, int64_t place)
{
    size_t i = 0;
    for (int64_t before = 0; i + 1 < t->n; i++) {
        before += t->count[i];
        if (before > place)
            break;
    }
    return t->value[i];
}

double lab_times_quantile(const struct lab_times *t, double q)
{
    if (t->n == 0)
        return NAN;
    double place = q * (double)(t->total - 1);
    double low = floor(place);
    int64_t first = (int64_t)low;
    double a = (double)value_at(t, first);
    if (place == low || first + 1 >= t->total)
        return a;
    return a + (place - low) * ((double)value_at(t, first + 1) - a);
}

/* Walks outwards from the median: the next nearest value is always at one of
 * two ends. */
double lab_times_mad(const struct lab_times *t)
{
    double middle = lab_times_quantile(t, 0.5);
    size_t right = 0;
    int64_t seen = 0;
    double last[2] = {NAN, NAN};
    if (t->total < 2)
        return NAN;
    while (right < t->n && (double)t->value[right] < middle)
        right++;
    size_t left = right; /* values below lie before it */
    int64_t want = (t->total - 1) / 2;
    bool even = t->total % 2 == 0;
    for (int found = 0; found < (even ? 2 : 1);) {
        double down = left > 0 ? middle - (double)t->value[left - 1] : INFINITY;
        double up = right < t->n ? (double)t->value[right] - middle : INFINITY;
        bool take_up = up <= down;
        seen += take_up ? t->count[right++] : t->count[--left];
        while (found < 2 && seen > want + found)
            last[found++] = take_up ? up : down;
    }
    return even ? (last[0] + last[1]) / 2 : last[0];
}

/* ---- as bytes: a version, the bits, then pairs of (difference to the value
 * before, count) as varint.h writes them ---- */

enum { PACK_VERSION = 1, PACK_HEAD = 2 };

enum lab_status lab_times_pack(const struct lab_times *t, void **bytes,
                               size_t *size)
{
    unsigned char *p =
        lab_alloc_array(t->n + 1, (size_t)(PACK_HEAD + 2 * LAB_VARINT_MOST));
    if (!p)
        return lab_no_memory("times");
    size_t n = 0;
    uint64_t before = 0;
    p[n++] = PACK_VERSION;
    p[n++] = (unsigned char)t->bits;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t v = (uint64_t)t->value[i];
        n += lab_varint_put(p + n, v - before);
        n += lab_varint_put(p + n, (uint64_t)t->count[i]);
        before = v;
    }
    *bytes = p;
    *size = n;
    return LAB_OK;
}

static bool unpack_pairs(struct lab_times *t, const unsigned char *p,
                         const unsigned char *end)
{
    uint64_t value = 0;
    while (p < end) {
        uint64_t step;
        uint64_t count;
        if (!lab_varint_get(&p, end, &step) || !lab_varint_get(&p, end, &count))
            return false;
        value += step;
        int64_t v = (int64_t)value;
        bool ascending = t->n == 0 || v > t->value[t->n - 1];
        if (!ascending || count == 0 ||
            count > (uint64_t)(INT64_MAX / 4 - t->total))
            return false;
        t->value[t->n] = v;
        t->count[t->n++] = (int64_t)count;
        t->total += (int64_t)count;
    }
    return true;
}

enum lab_status lab_times_unpack(struct lab_times *out, const void *bytes,
                                 size_t size)
{
    const unsigned char *p = bytes;
    if (size < PACK_HEAD || p[0] != PACK_VERSION || p[1] > 63)
        return lab_fail(
            LAB_E_PARSE,
            "[db.times-unreadable] times that this program cannot read");
    struct lab_times t = {.bits = p[1]};
    size_t most = size / 2; /* a pair has two bytes at least */
    t.value = lab_alloc_array(most, sizeof(*t.value));
    t.count = lab_alloc_array(most, sizeof(*t.count));
    enum lab_status st = LAB_OK;
    if (!t.value || !t.count)
        st = lab_no_memory("times");
    else if (!unpack_pairs(&t, p + PACK_HEAD, p + size))
        st = lab_fail(LAB_E_PARSE, "[db.times-damaged] times that are damaged");
    if (st)
        lab_times_release(&t);
    else
        *out = t;
    return st;
}

/* ---- the test ---- */

static enum lab_status copy_times(struct lab_times *out,
                                  const struct lab_times *from)
{
    struct lab_times t = *from;
    t.value = lab_alloc_array(from->n + 1, sizeof(*t.value));
    t.count = lab_alloc_array(from->n + 1, sizeof(*t.count));
    if (!t.value || !t.count) {
        lab_times_release(&t);
        return lab_no_memory("times");
    }
    if (from->n) {
        memcpy(t.value, from->value, from->n * sizeof(*t.value));
        memcpy(t.count, from->count, from->n * sizeof(*t.count));
    }
    *out = t;
    return LAB_OK;
}

static double p_of(double u, double n1, double n2, double ties)
{
    double n = n1 + n2;
    double variance = n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1)));
    double far = fabs(u - n1 * n2 / 2) - 0.5;
    if (!(variance > 0) || far <= 0)
        return 1; /* all times are the same, or none is nearer to the middle */
    return erfc(far / sqrt(variance) / sqrt(2));
}

static void rank(struct lab_rank_result *out, const struct lab_times *a,
                 const struct lab_times *b)
{
    double u = 0;
    double ties = 0;
    double below = 0; /* of a */
    size_t i = 0;
    for (size_t j = 0; i < a->n || j < b->n;) {
        bool both = i < a->n && j < b->n;
        int64_t v = !both ? (i < a->n ? a->value[i] : b->value[j])
                    : a->value[i] < b->value[j] ? a->value[i]
                                                : b->value[j];
        double ca = i < a->n && a->value[i] == v ? (double)a->count[i++] : 0;
        double cb = j < b->n && b->value[j] == v ? (double)b->count[j++] : 0;
        double t = ca + cb;
        u += cb * (below + ca / 2);
        ties += t * t * t - t;
        below += ca;
    }
    out->u = u;
    out->p = p_of(u, (double)a->total, (double)b->total, ties);
}

enum lab_status lab_rank_test(struct lab_rank_result *out,
                              const struct lab_times *a,
                              const struct lab_times *b)
{
    struct lab_times coarse = {0};
    if (a->total == 0 || b->total == 0) {
        *out = (struct lab_rank_result){NAN, NAN};
        return LAB_OK;
    }
    if (a->bits == b->bits) {
        rank(out, a, b);
        return LAB_OK;
    }
    bool second = b->bits == 0 || (a->bits != 0 && b->bits > a->bits);
    enum lab_status st = copy_times(&coarse, second ? b : a);
    if (st)
        return st;
    keep_bits(&coarse, second ? a->bits : b->bits);
    rank(out, second ? a : &coarse, second ? &coarse : b);
    lab_times_release(&coarse);
    return LAB_OK;
}

double lab_rank_best(int64_t n1, int64_t n2)
{
    return n1 < 1 || n2 < 1 ? 1 : p_of(0, (double)n1, (double)n2, 0);
}

int64_t lab_rank_least(double alpha)
{
    int64_t n = 2;
    while (n < 1000 && lab_rank_best(n, n) > alpha)
        n++;
    return n;
}

static int compare_p(const void *a, const void *b, void *user)
{
    const double *p = user;
    double x = p[*(const size_t *)a];
    double y = p[*(const size_t *)b];
    return (x > y) - (x < y);
}

enum lab_status lab_rank_holm(double *p, size_t n)
{
    size_t *order = lab_alloc_array(n + 1, sizeof(*order));
    size_t m = 0;
    double least = 0;
    if (!order)
        return lab_fail(LAB_E_NOMEM, "no memory for %zu tests", n);
    for (size_t i = 0; i < n; i++)
        if (!isnan(p[i]))
            order[m++] = i;
    qsort_r(order, m, sizeof(*order), compare_p, p);
    for (size_t k = 0; k < m; k++) {
        double adjusted = p[order[k]] * (double)(m - k);
        if (adjusted > least)
            least = adjusted > 1 ? 1 : adjusted;
        p[order[k]] = least;
    }
    lab_free(order);
    return LAB_OK;
}
