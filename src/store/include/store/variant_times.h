/* store/variant_times.h -- how long each variant of a step took, kept by device,
 * threads and precision (profiles/schema_8.sql).
 *
 * Errors: LAB_E_DB; LAB_E_NOMEM. Threads: that of the connection. */
#pragma once
#include "store/database.h"

/* By which rule lab_tune() measures: 6, the means of an iteration, without what other
 * programs had of the cores; turns of iterations, which begin with all threads awake; and
 * a name that ends ends no other one. Raise it with the rule; kept times of others are
 * measured again. */
#define LAB_VARIANT_TIMES_RULE "6"

struct lab_variant_time_of {
    const char *backend;
    const char *device;
    const char *precision;
    int64_t threads; /* 0: a GPU */
    const char *
        precisions; /* all that there are: "fp32,tf32"; NULL: any text is one */
};

struct lab_variant_time {
    const char *step;
    const char *variant;
    double ns; /* NaN: left out */
    bool gone; /* where it is kept: its row goes */
};

/* Rows that are not handed out, and the times of another number of threads. */
struct lab_variant_times_left {
    int64_t damaged; /* no name, or a time that is none */
    int64_t foreign; /* of another version or rule of the program */
    int64_t unknown; /* of no precision, or no number of threads: -5, 'zz' */
    int64_t
        threads; /* one that has times, where this one has none; 0: none has */
};

typedef enum lab_status lab_variant_time_fn(void *user,
                                            const struct lab_variant_time *t);

LAB_C_BEGIN
/* In the order of their steps; a row's texts are valid during the call. Ends with
 * what `each` returns where that is not LAB_OK. */
enum lab_status lab_variant_times_read(struct lab_database *db,
                                       const struct lab_variant_time_of *of,
                                       lab_variant_time_fn *each, void *user,
                                       struct lab_variant_times_left *left);
/* All n of them in one transaction, or none; they replace those that are there, and
 * the rows that are not handed out, or gone, are deleted. A table that is missing, or has
 * not the columns, is made anew. */
enum lab_status lab_variant_times_keep(struct lab_database *db,
                                       const struct lab_variant_time_of *of,
                                       const struct lab_variant_time *times,
                                       size_t n);
/* How many are kept; `precision` NULL: in all of them. */
enum lab_status lab_variant_times_count(struct lab_database *db,
                                        const struct lab_variant_time_of *of,
                                        int64_t *count);
LAB_C_END
