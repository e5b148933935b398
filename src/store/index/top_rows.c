#include <stdlib.h>

#include "base/mem.h"
#include "top_rows.h"

bool lab_top_fits(int64_t limit, int64_t offset)
{
    return limit > 0 && limit <= LAB_TOP_MOST && offset >= 0 &&
           offset <= LAB_TOP_MOST;
}

enum lab_status lab_top_begin(struct lab_top *t, int64_t limit, int64_t offset)
{
    t->n = 0;
    t->most = (size_t)(limit + offset);
    t->heap = lab_alloc_array(t->most, sizeof(*t->heap));
    return t->heap ? LAB_OK
                   : lab_fail(LAB_E_NOMEM, "no memory for a page of kernels");
}

void lab_top_release(struct lab_top *t)
{
    lab_free(t->heap);
    t->heap = NULL;
}

static int order(const struct lab_top_row *a, const struct lab_top_row *b,
                 bool descending)
{
    int by = a->unknown - b->unknown;
    if (by)
        return by;
    by = a->unknown ? 0 : (a->key > b->key) - (a->key < b->key);
    if (by)
        return descending ? -by : by;
    return (a->row > b->row) - (a->row < b->row);
}

int lab_top_order(const struct lab_top *top, const struct lab_top_row *a,
                  const struct lab_top_row *b)
{
    return order(a, b, top->descending);
}

static bool is_worse(const struct lab_top *t, size_t a, size_t b)
{
    return order(&t->heap[a], &t->heap[b], t->descending) > 0;
}

static void swap(struct lab_top *t, size_t a, size_t b)
{
    struct lab_top_row kept = t->heap[a];
    t->heap[a] = t->heap[b];
    t->heap[b] = kept;
}

static void sink(struct lab_top *t, size_t at)
{
    for (;;) {
        size_t worst = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < t->n && is_worse(t, child, worst))
                worst = child;
        if (worst == at)
            return;
        swap(t, at, worst);
        at = worst;
    }
}

void lab_top_offer(struct lab_top *t, struct lab_top_row row)
{
    if (t->n < t->most) {
        size_t at = t->n++;
        t->heap[at] = row;
        for (; at > 0 && is_worse(t, at, (at - 1) / 2); at = (at - 1) / 2)
            swap(t, at, (at - 1) / 2);
    } else if (t->n > 0 && order(&row, &t->heap[0], t->descending) < 0) {
        t->heap[0] = row;
        sink(t, 0);
    }
}

static int by_order(const void *a, const void *b, void *user)
{
    return order(a, b, *(const bool *)user);
}

bool lab_top_is_full(const struct lab_top *t)
{
    return t->n == t->most;
}

bool lab_top_is_beyond(const struct lab_top *t, const struct lab_top_row *row)
{
    return lab_top_is_full(t) && order(row, &t->heap[0], t->descending) > 0;
}

int64_t lab_top_page(struct lab_top *t, int64_t offset, int64_t *rows)
{
    int64_t n = 0;
    if (t->n)
        qsort_r(t->heap, t->n, sizeof(*t->heap), by_order, &t->descending);
    for (size_t i = (size_t)offset; i < t->n; i++)
        rows[n++] = t->heap[i].row;
    return n;
}
