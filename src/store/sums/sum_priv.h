/* sum_priv.h -- putting the times of a run together (store/time_sum.h). */
#pragma once
#include "store/time_sum.h"
#include "index/index.h"
#include "db/store_priv.h"

/* Names as ids of StringIds; the phase and the time source as their own. */
struct lab_sum_ids {
    int64_t name;
    int64_t node;
    int64_t op;
    int64_t variant;
    int64_t backend;
    int64_t source;
    int64_t kernel;
    int64_t kernel_short;
};

struct lab_sum_row {
    struct lab_time_sum sum;
    struct lab_sum_ids ids;
    int64_t *values; /* times, as they come */
    size_t n;
    size_t room;
};

enum { LAB_SUM_KEY = 6, LAB_SUM_MOST_TIMES = 1024 };

/* Rows by what their members share. */
struct lab_sum_table {
    struct lab_sum_row *rows;
    int64_t (*keys)[LAB_SUM_KEY];
    size_t count;
    size_t room;
    size_t *place; /* open addressing: row + 1, 0 is free */
    size_t places;
    size_t last; /* the row that was found last: the next is often next */
};

/* The row with `key`, which may be new (its sum.count is 0). NULL: no memory.
 * Valid until the next call. */
struct lab_sum_row *lab_sum_find(struct lab_sum_table *table,
                                 const int64_t key[LAB_SUM_KEY]);
enum lab_status lab_sum_add_time(struct lab_sum_row *row, int64_t time_ns);
void lab_sum_table_release(struct lab_sum_table *table);

/* All rows of a run, from what was recorded, with their statistics, sorted;
 * texts are left out. `index`: gets every step and kernel of a step; NULL: none
 * is made. */
enum lab_status lab_sum_build(struct lab_database *db, int64_t run,
                              struct lab_sum_table *out,
                              struct lab_index *index);
