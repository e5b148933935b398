/* top_rows.h -- the first rows of a sort, kept while rows come in any order.
 *
 * A heap of the best `most` so far. Of equal keys the earlier row goes first,
 * whichever way the sort goes; rows without a key come last. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_top_row {
    int64_t key;
    int64_t row;
    bool unknown; /* it has no key */
};

struct lab_top {
    struct lab_top_row *heap; /* of `most`, the caller's; the worst on top */
    size_t n;
    size_t most;
    bool descending;
};

/* Below 0: a goes before b. */
int lab_top_order(const struct lab_top *top, const struct lab_top_row *a,
                  const struct lab_top_row *b);
void lab_top_offer(struct lab_top *top, struct lab_top_row row);
/* The heap becomes the list, the best first. */
void lab_top_sort(struct lab_top *top);
