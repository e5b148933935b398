/* store/import.h -- runs from another file into this database.
 *
 * A file is another database of recorded runs (any version of the schema up to
 * this program's), or an SQLite export of Nsight Systems, which becomes one
 * run. It comes from another user: it is opened for reading, and before a row
 * is copied its structure (every page), its tables (no views, no virtual
 * tables, no computed columns), the types, ranges and sizes of all values are
 * checked. No trigger, view or function of its schema runs. All of a file is
 * copied in one transaction, or nothing.
 *
 * Runs keep their uuid, machine and user. A run is here already when its uuid
 * is, or a run of the same process on the same machine that began at the same
 * nanosecond; it is skipped. A run that is still recorded is skipped too.
 * Ceilings and the winners of tuning belong to devices: those that are not here
 * yet come along whatever becomes of their run. The names of baselines stay
 * where they were given.
 *
 * Errors: LAB_E_NOTFOUND, there is no such file; LAB_E_DB, what is wrong with
 * it, or with this database; LAB_E_NOMEM. Threads: that of the connection. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "store/database.h"

struct lab_import_options {
    const char *label; /* the owner of the runs; NULL: as the file has it */
    bool dry_run;      /* everything is done, and undone */
};

/* What became of one run; texts are valid during the call only. */
struct lab_imported {
    int64_t run; /* in the file; LAB_UNKNOWN: the file has no numbers */
    int64_t as;  /* here; of a skipped one: the run that is here, if any */
    bool skipped;
    const char *reason; /* of a skipped one */
    const char *uuid;
    const char *lesson;
    const char *hostname;
    const char *user;
    int64_t steps;
    int64_t kernels;
};
typedef void lab_imported_fn(void *user, const struct lab_imported *run);

LAB_C_BEGIN
/* `each` is called for every run once the transaction has ended and the rows
 * are there to stay (or, of a dry run, gone): never for a file that fails. */
enum lab_status lab_import_file(struct lab_database *db, const char *path,
                                const struct lab_import_options *options,
                                lab_imported_fn *each, void *user);
LAB_C_END
