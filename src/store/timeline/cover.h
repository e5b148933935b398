/* cover.h -- how much of a stretch of time intervals of several kinds cover.
 * Pure. Threads: any. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "store/timeline.h"

/* Some time of a kind. */
struct lab_interval {
    int64_t start_ns;
    int64_t end_ns;
    enum lab_cover of;
};

/* out[i]: how much of [from, to) intervals of kind i cover and those of the
 * kinds before it do not; the last: what is left. Sorts the list. */
void lab_cover_sum(struct lab_interval *list, size_t n, int64_t from,
                   int64_t to, int64_t out[LAB_COVER_COUNT]);
