/* profile_print.h -- how `profile` shows runs, steps and kernels. */
#pragma once
#include <stdbool.h>
#include "store/query.h"

struct lab_profile_print {
    struct lab_database *db;
    bool json;
    bool ascii; /* tables without a byte above 0x7F */
    enum lab_step_sort step_sort;
    struct lab_kernel_filter kernels; /* its sort and limits */
    int64_t table_rows; /* of kernels, and a word about the others; 0: all */
    bool descending;
};

struct lab_text_table;

/* Of the order of lab_query_runs(), as lines too. */
enum lab_status lab_profile_print_list(const struct lab_profile_print *p);
enum lab_status lab_profile_print_run(const struct lab_profile_print *p,
                                      int64_t run);
enum lab_status lab_profile_print_kernels(const struct lab_profile_print *p,
                                          int64_t run);
/* The table on stdout; releases it. */
enum lab_status lab_profile_put_table(struct lab_text_table *table, bool ascii);
