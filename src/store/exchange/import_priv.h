/* import_priv.h -- what the parts of an import share. */
#pragma once
#include "db/row.h"
#include "store/row_fields.h"
#include "store/import.h"

/* No text or blob of a file may be longer. */
enum { LAB_IMPORT_MOST_BYTES = 16 << 20 };

/* The file is attached to the database's connection as `src`. */
struct lab_import {
    struct lab_database *db;
    const char *path;
    const struct lab_import_options *options;
    bool host;      /* of nsys: this program made it, of a run without a GPU */
    bool nsys;      /* else one of our own */
    bool kinds;     /* it says which of its runs are labs */
    int64_t schema; /* of ours: which version */
    int64_t rows_before[3]; /* kernel, memcpy, memset: theirs come after */
    int64_t epoch_ns;       /* nsys: added to its moments */
};

/* What is to be told once it is certain: the texts are its own. Begins as {0}.
 */
struct lab_import_report {
    struct lab_imported *runs;
    size_t count;
    size_t room;
};

/* What became of each run in temp.candidate. Errors: LAB_E_NOMEM, LAB_E_DB; to
 * be released even so. */
enum lab_status lab_import_report_load(struct lab_import_report *report,
                                       struct lab_import *in);
void lab_import_report_release(struct lab_import_report *report);

/* The columns of a table, one after another: of a list, a letter for the kind
 * before each name (import_tables.c says which), or of fields, where there are.
 * Begins with one of the two; the rest is zero. */
struct lab_import_columns {
    const char *list;
    const struct lab_fields *fields;
    int next;
    char kind; /* of the column that was just found */
    char name[48];
};
bool lab_import_next_column(struct lab_import_columns *columns);

/* Every table that is copied: are its columns what they should be? */
enum lab_status lab_import_check_tables(struct lab_import *in);
/* Copies all rows of the runs in temp.run_map (old, new); fills
 * temp.string_map and temp.row_map_0 to 2 (as rows_before), which are there. */
enum lab_status lab_import_copy_tables(struct lab_import *in);
/* Whether there is a table `name`. LAB_E_DB: it is a view, or virtual. */
enum lab_status lab_import_has_table(struct lab_import *in, const char *name,
                                     bool *out);
/* Whether `table` has such a column. LAB_E_DB: a computed one. */
enum lab_status lab_import_column(struct lab_import *in, const char *table,
                                  const char *name, bool *out);
/* Whether each value of the table is of its column's kind; a column that is not
 * there is no fault. Errors: LAB_E_DB, LAB_E_NOMEM. */
enum lab_status lab_import_check_columns(struct lab_import *in,
                                         const char *table,
                                         struct lab_import_columns columns);
/* As lab_import_has_table(). LAB_E_DB too: the file is one of ours, of a schema
 * that has the table `since`, and has it not. Somebody changed it, and its runs
 * would come without what stood there, for good: later they are skipped. */
enum lab_status lab_import_find_table(struct lab_import *in, const char *name,
                                      int since, bool *there);
enum lab_status lab_import_exec(struct lab_import *in, const char *sql);

/* What belongs to devices: ceilings, and the winners of tuning. The copy takes
 * what is not here yet, also of runs that are here already; temp.candidate and
 * temp.run_map say which run measured a winner. */
enum lab_status lab_import_check_devices(struct lab_import *in);
enum lab_status lab_import_copy_devices(struct lab_import *in);

/* The run of an nsys export: into temp.candidate and, unless it is here, into
 * main.run and temp.run_map. */
enum lab_status lab_import_nsys_run(struct lab_import *in);
/* The steps of such a run, where `host`: from its ranges, in one pass. */
enum lab_status lab_import_range_steps(struct lab_import *in, int64_t run);
/* The runs of one of our files: into temp.candidate, and those that are new
 * into main.run and temp.run_map. */
enum lab_status lab_import_own_runs(struct lab_import *in);
