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

enum lab_status lab_profile_list(const struct lab_options *o,
                                 struct lab_database *db);
enum lab_status lab_profile_show(const struct lab_options *o,
                                 struct lab_database *db);
enum lab_status lab_profile_kernels(const struct lab_options *o,
                                    struct lab_database *db);
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

/* Everything of a run as JSON Lines, `all`: also outside of its iterations. */
enum lab_status lab_profile_print_lines(FILE *to, struct lab_database *db,
                                        int64_t run, bool all);
/* Keys rung, precision and size of what is a lab's; NULL: it is not, and gets
 * none. */
void lab_profile_add_rung(json_t *o, const struct lab_bench_name *rung);
