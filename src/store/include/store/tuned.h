/* store/tuned.h -- the fastest candidate of a family of kernels, kept with the
 * device that it was measured on.
 *
 * profiles/schema_5.sql has the columns. Every tuning is kept, the newest of a
 * device, lab, size class and precision counts. Unknown numbers are NaN or
 * LAB_UNKNOWN. Errors: LAB_E_DB; LAB_E_NOMEM. Threads: that of the connection. */
#pragma once
#include "store/ceilings.h"

struct lab_tuned_row {
    const char *backend;
    const char *device;
    const char *uuid; /* NULL: a processor */
    const char *hostname;
    const char *lab;
    const char *size_class;
    const char *precision;
    const char *candidate;
    const char *size; /* that was measured */
    const char *unit;
    double median_ns;
    double rate;
    int64_t candidates; /* that were compared */
    int64_t run;
    int64_t measured_ns;
    const char *measured; /* UTC; not read by add */
    const char *driver;
    const char *version;
};

/* What is looked for. */
struct lab_tuned_key {
    const struct lab_ceiling_device *device;
    const char *lab;
    const char *size_class;
    const char *precision;
};

enum { LAB_TUNED_TEXT = 96 };
struct lab_tuned_found {
    char candidate[LAB_TUNED_TEXT]; /* "": nothing is known */
    char measured[LAB_TUNED_TEXT];
    int64_t candidates;
    double rate;
};

typedef bool lab_tuned_row_fn(void *user, const struct lab_tuned_row *row);

LAB_C_BEGIN
enum lab_status lab_tuned_add(struct lab_database *db,
                              const struct lab_tuned_row *row);
/* The newest winner on this very device; none is LAB_OK with "". */
enum lab_status lab_tuned_find(struct lab_database *db,
                               const struct lab_tuned_key *key,
                               struct lab_tuned_found *out);
/* What a run tuned. Errors: LAB_E_NOTFOUND too, there is no such run. */
enum lab_status lab_tuned_of_run(struct lab_database *db, int64_t run,
                                 lab_tuned_row_fn *each, void *user);
/* The newest winner of every device, lab, size class and precision. */
enum lab_status lab_tuned_list(struct lab_database *db, lab_tuned_row_fn *each,
                               void *user);
LAB_C_END
