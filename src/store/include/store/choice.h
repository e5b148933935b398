/* store/choice.h -- by which times a run's variants were chosen: a row for each step
 * whose variant was chosen by measuring (profiles/schema_11.sql).
 *
 * Errors: LAB_E_DB; LAB_E_NOMEM; LAB_E_NOTFOUND, there is no such run. Threads: that of
 * the connection. */
#pragma once
#include "store/row_fields.h"

struct lab_choice_row {
    int64_t place;
    const char *step; /* "fc1.matmul"; of a group its node, "fc1" */
    const char *node;
    const char *phase;
    const char *variant;
    int64_t steps;    /* of the network, that the variant does in one */
    double time_ns;   /* of all of them */
    const char *next; /* the fastest other variant; NULL: none has a time */
    double next_ns;
};

typedef bool lab_choice_row_fn(void *user, const struct lab_choice_row *row);

LAB_C_BEGIN
/* In the order of an iteration, until `each` returns false; a row's texts are valid
 * during the call. */
enum lab_status lab_choice_rows_read(struct lab_database *db, int64_t run,
                                     lab_choice_row_fn *each, void *user);
LAB_C_END
