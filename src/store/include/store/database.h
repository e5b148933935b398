/* store/database.h -- one file of recorded runs.
 *
 * SQLite in WAL mode: any number of readers and one writer at a time, on one
 * host. A connection belongs to one thread at a time. Every error of this
 * module is LAB_E_DB unless stated otherwise, and its text is "FILE: what went
 * wrong; what can be done". */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"

struct lab_database;

struct lab_database_options {
    bool read_only;
    int busy_timeout_ms; /* 0: five seconds; how long a lock is waited for */
    /* Of runs that ship with the program: one without a trace, which has times alone,
     * comes behind the others in lists, and is the last run of none. */
    bool traced_first;
};

LAB_C_BEGIN
/* $XDG_STATE_HOME/lapenna-lab/profiles.db; ~/.local/state where the variable
 * is unset or not absolute. Errors: LAB_E_STATE, there is no home either. */
enum lab_status lab_database_default_path(struct lab_str *out);

/* Opens `path` for writing: makes its directories and the file, brings an
 * older schema up to date in one transaction, and marks runs with a process
 * that is gone as interrupted. With read_only the file is not changed (SQLite may put
 * its -shm file beside it, where it has the right to); a missing file is
 * LAB_E_NOTFOUND, one of an older schema, or with nothing in it, LAB_E_STATE:
 * opening it for writing mends that. `options` NULL: all defaults.
 *
 * Refused: a directory or file without the right to write, a file that is no
 * database or another program's, a damaged one, one that is locked longer
 * than the timeout, one written by a newer program. */
enum lab_status lab_database_open(struct lab_database **out, const char *path,
                                  const struct lab_database_options *options);
void lab_database_close(struct lab_database *db); /* NULL allowed */
const char *lab_database_path(const struct lab_database *db);
/* The schema that this program writes. */
int lab_database_schema_version(void);
/* Reads every page and checks the structure: slow on large files. */
enum lab_status lab_database_check(struct lab_database *db);
/* The same without the indexes, in a file of `most_bytes` at the most; a larger
 * one is not checked. */
enum lab_status lab_database_check_most(struct lab_database *db,
                                        int64_t most_bytes, bool *checked);
LAB_C_END
