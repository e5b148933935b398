/* top_rows.h -- the first rows of a sort, kept while rows come in any order.
 *
 * A heap of the best `most` so far. Of equal keys the earlier row goes first,
 * whichever way the sort goes; rows without a key come last. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

/* A page that begins later, or is longer, is left to SQL, which sorts on disk
 * what has no room: this heap takes 10 MB at most. Of 500,000 kernels, 20,000
 * to 200,000 rows down, it found a page about as soon as SQL by time, grid and
 * name, and several times sooner by columns that grow or have few values. */
enum { LAB_TOP_MOST = 200000 };

struct lab_top_row {
    int64_t key;
    int64_t row;
    bool unknown; /* it has no key */
};

struct lab_top {
    struct lab_top_row *heap; /* of `most`; the worst on top */
    size_t n;
    size_t most;
    bool descending;
};

/* Whether a page of so many rows after so many others is found this way. */
bool lab_top_fits(int64_t limit, int64_t offset);
/* For such a page; top->descending is the caller's. LAB_E_NOMEM. */
enum lab_status lab_top_begin(struct lab_top *top, int64_t limit,
                              int64_t offset);
void lab_top_release(struct lab_top *top);

/* Below 0: a goes before b. */
int lab_top_order(const struct lab_top *top, const struct lab_top_row *a,
                  const struct lab_top_row *b);
void lab_top_offer(struct lab_top *top, struct lab_top_row row);
bool lab_top_is_full(const struct lab_top *top);
/* Whether `row`, though it be offered, would not stay. */
bool lab_top_is_beyond(const struct lab_top *top,
                       const struct lab_top_row *row);
/* The rows from place `offset` on, the best first, and how many they are. The
 * heap is a sorted list afterwards. */
int64_t lab_top_page(struct lab_top *top, int64_t offset, int64_t *rows);
