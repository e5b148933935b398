/* store/delete.h -- removing runs. Reads every table once.
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND where there is no such run.
 * Threads: that of the connection. */
#pragma once
#include <stdint.h>
#include "store/database.h"

struct lab_deleted {
    int64_t steps;
    int64_t kernels;
    int64_t rows; /* of all tables, names left out */
};

LAB_C_BEGIN
/* All or nothing. Errors: LAB_E_STATE, a living process still records it. */
enum lab_status lab_run_delete(struct lab_database *db, int64_t run,
                               struct lab_deleted *out);
LAB_C_END
