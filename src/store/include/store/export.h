/* store/export.h -- a run as a file for other programs.
 *
 * A file is written beside its place and renamed when it is whole: whatever
 * happens, there is the old file, or none, or the new one. What a killed
 * program leaves beside it, the next export of that name removes. Text from a
 * database is made visible (base/str.h) and escaped as the format has it.
 *
 * Errors: LAB_E_DB, LAB_E_NOMEM; LAB_E_NOTFOUND, there is no such run;
 * LAB_E_IO, with the place and the reason. Threads: that of the connection. */
#pragma once
#include <stdio.h>
#include "store/query.h"

enum lab_export_table {
    LAB_EXPORT_ALL, /* the first column has the kind */
    LAB_EXPORT_STEPS,
    LAB_EXPORT_KERNELS,
    LAB_EXPORT_LOSSES,
    LAB_EXPORT_VARIANTS,    /* of a lab's ladder */
    LAB_EXPORT_SWEEPS,      /* places of a sweep */
    LAB_EXPORT_PREDICTIONS, /* what was expected of a lab */
    LAB_EXPORT_TUNED,       /* winners of its tuning */
    LAB_EXPORT_CHOICES,     /* by which times variants were chosen */
    LAB_EXPORT_TABLES
};

/* A file that is being written. */
struct lab_export_file {
    FILE *stream; /* NULL for a database */
    char *path;
    char *temporary;
    int lock;      /* of a database: what shows that it is being written */
    bool nameless; /* the temporary name is not in use yet */
    bool force;
};

LAB_C_BEGIN
/* Comma-separated values (RFC 4180), one row a line, with a head. A text that
 * a spreadsheet would run (it begins with = + - or @) has a ' before it. Of all
 * tables in one those of labs have columns only where the run has such rows. */
/* `all`: what was recorded outside of the iterations too (set-up, evaluation);
 * of CSV its kernels, which have no step. A run without steps is always whole.
 */
enum lab_status lab_export_csv(FILE *to, struct lab_database *db, int64_t run,
                               enum lab_export_table table, bool all);
/* The JSON that Perfetto and chrome://tracing read: lanes for iterations,
 * phases, nodes and steps, for the calls of each thread, and for the kernels
 * and copies of each stream; an arrow from a step to each of its kernels. */
enum lab_status lab_export_trace(FILE *to, struct lab_database *db, int64_t run,
                                 bool all);
/* A new SQLite file at `path`, which must be empty or not there, with the
 * tables and columns of an Nsight Systems export (schema 3.24.14), as far as
 * the run has rows for them. Moments count from the start of the run. */
enum lab_status lab_export_nsys(const char *path, struct lab_database *db,
                                int64_t run, bool all);

/* `stream` false: only a name is made, for a database. Without `force` a file
 * that is there is an error, now and at the end. With it only a file is
 * overwritten: a directory, a device, a pipe and a socket are refused, and so
 * is the database `db` that is read (NULL: none), under any name, with what
 * lies beside it (-wal, -shm, -journal). A link stays one: the file that it
 * leads to is written; one that leads nowhere is refused. */
enum lab_status lab_export_open(struct lab_export_file *out, const char *path,
                                const char *db, bool stream, bool force);
/* With `st` LAB_OK the file gets its place; else it is removed. Frees; returns
 * `st` or what went wrong. */
enum lab_status lab_export_close(struct lab_export_file *file,
                                 enum lab_status st);
LAB_C_END
