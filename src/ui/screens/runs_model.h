/* runs_model.h -- the runs screen's data, from the database. Threads: one. */
#pragma once
#include "report/suggest.h"
#include "ui/models.h"

struct lab_runs_source;

/* path NULL: the usual place. The database is opened when a screen asks; one
 * that is missing has no runs. */
enum lab_status lab_runs_source_new(struct lab_runs_source **out,
                                    const char *path);
/* The runs that ship with the program (profiles/recorded), which are only read.
 * LAB_E_NOTFOUND: none do. */
enum lab_status lab_runs_source_recorded(struct lab_runs_source **out);
void lab_runs_source_free(struct lab_runs_source *s);
const struct lab_runs_model *lab_runs_source_model(struct lab_runs_source *s);
/* The newest few, until the next call. */
enum lab_status lab_runs_source_last(struct lab_runs_source *s, int most,
                                     const struct lab_run_row **rows,
                                     int64_t *count);
