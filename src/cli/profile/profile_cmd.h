/* profile_cmd.h -- the commands of `profile`, one function each. What they are
 * given has been checked: as many words as they take. */
#pragma once
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include "debug/options.h"
#include "store/query.h"

/* A number of `list`, last, or baseline:NAME. Errors: LAB_E_USAGE,
 * LAB_E_NOTFOUND. */
enum lab_status lab_profile_find_run(struct lab_database *db, const char *word,
                                     int64_t *run);
/* Whether there is such a run: a number may be of none. Errors:
 * LAB_E_NOTFOUND, LAB_E_DB. */
enum lab_status lab_profile_check_run(struct lab_database *db, int64_t run);

enum lab_status lab_profile_timeline(const struct lab_options *o,
                                     struct lab_database *db);
/* LAB_E_CHECK: something is slower than --fail-above allows. */
enum lab_status lab_profile_compare(const struct lab_options *o,
                                    struct lab_database *db);
enum lab_status lab_profile_export(const struct lab_options *o,
                                   struct lab_database *db);
/* Measures the ceilings of a device, and keeps them. */
enum lab_status lab_profile_ceilings(const struct lab_options *o,
                                     struct lab_database *db);
enum lab_status lab_profile_roofline(const struct lab_options *o,
                                     struct lab_database *db);

struct lab_profile_print {
    struct lab_database *db;
    bool json;
    enum lab_step_sort step_sort;
    struct lab_kernel_filter kernels; /* its sort and limits */
    int64_t table_rows; /* of kernels, and a word about the others; 0: all */
    bool descending;
};

/* Of the order of lab_query_runs(), as lines too. */
enum lab_status lab_profile_print_list(const struct lab_profile_print *p);
enum lab_status lab_profile_print_run(const struct lab_profile_print *p,
                                      int64_t run);
enum lab_status lab_profile_print_kernels(const struct lab_profile_print *p,
                                          int64_t run);

/* Everything of a run as JSON Lines, `all`: also outside of its iterations. */
enum lab_status lab_profile_print_lines(FILE *to, struct lab_database *db,
                                        int64_t run, bool all);
/* Keys rung, precision and size of what is a lab's; NULL: it is not, and gets
 * none. */
void lab_profile_add_rung(json_t *o, const struct lab_bench_name *rung);
