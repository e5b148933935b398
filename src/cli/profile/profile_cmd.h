/* profile_cmd.h -- the commands of `profile`, one function each. What they are
 * given has been checked: as many words as they take. */
#pragma once
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include "debug/options.h"
#include "store/counted.h"
#include "store/query.h"

/* A number of `list`, last, or baseline:NAME. Errors: LAB_E_USAGE,
 * LAB_E_NOTFOUND. */
enum lab_status lab_profile_find_run(struct lab_database *db, const char *word,
                                     int64_t *run);
/* Whether there is such a run: a number may be of none. Errors:
 * LAB_E_NOTFOUND, LAB_E_DB. */
enum lab_status lab_profile_check_run(struct lab_database *db, int64_t run);
/* Text on stdout, without a byte above 0x7F when `ascii`; releases it. */
enum lab_status lab_profile_put(struct lab_str *text, bool ascii);

enum lab_status lab_profile_delete(const struct lab_options *o,
                                   struct lab_database *db);
enum lab_status lab_profile_vacuum(const struct lab_options *o,
                                   struct lab_database *db);
enum lab_status lab_profile_timeline(const struct lab_options *o,
                                     struct lab_database *db);
/* LAB_E_CHECK: something is slower than --fail-above allows. */
enum lab_status lab_profile_compare(const struct lab_options *o,
                                    struct lab_database *db);
enum lab_status lab_profile_baseline(const struct lab_options *o,
                                     struct lab_database *db);
enum lab_status lab_profile_export(const struct lab_options *o,
                                   struct lab_database *db);
/* `import` and `merge`: the runs of files. */
enum lab_status lab_profile_import(const struct lab_options *o,
                                   struct lab_database *db);
/* Measures the ceilings of a device, and keeps them. */
enum lab_status lab_profile_ceilings(const struct lab_options *o,
                                     struct lab_database *db);
enum lab_status lab_profile_roofline(const struct lab_options *o,
                                     struct lab_database *db);

struct lab_profile_print {
    struct lab_database *db;
    bool json;
    bool ascii; /* tables without a byte above 0x7F */
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

/* Rows of the database as the objects of --json; NULL when memory is short,
 * which lab_json_print() and _write() take. */
json_t *lab_profile_run_object(const struct lab_run_row *r);
/* With what the hardware counted; without counters that is null. */
json_t *lab_profile_step_object(int64_t run, const struct lab_time_sum *r,
                                const struct lab_counted_run *counted);
json_t *lab_profile_loss_object(int64_t run, const struct lab_loss_row *r);
json_t *lab_profile_kernel_object(int64_t run, const struct lab_kernel_row *r,
                                  const struct lab_counted_run *counted);
/* Keys rung, precision and size of what is a lab's; NULL: it is not, and gets
 * none. */
void lab_profile_add_rung(json_t *o, const struct lab_bench_name *rung);
/* What a lab measured: its rungs, what was said before, what it tuned, the
 * places of a sweep; nothing for another run. `to` takes each object over. */
typedef enum lab_status lab_json_line_fn(void *user, json_t *object);
enum lab_status lab_profile_lab_lines(struct lab_database *db, int64_t run,
                                      lab_json_line_fn *to, void *user);
