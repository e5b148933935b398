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
/* Bytes of the file that hold nothing: what deleted runs leave. New rows use
 * them before the file grows. */
enum lab_status lab_database_free_bytes(struct lab_database *db, int64_t *out);
/* Rewrites the file without its free bytes; needs as much room on the disk
 * again meanwhile. Errors: LAB_E_DB, also while another program writes. */
enum lab_status lab_database_vacuum(struct lab_database *db);
LAB_C_END
