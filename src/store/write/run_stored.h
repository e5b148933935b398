/* run_stored.h -- what a run has not told of itself, from its rows. */
#pragma once
#include "store/query.h"

/* A run that was ended by force has no summary: its iterations, losses,
 * accuracy and samples a second are those of the stored losses then, and
 * figures_from_rows is set. A run with a summary stays as it is. */
enum lab_status lab_run_fill_from_rows(struct lab_database *db,
                                       struct lab_run_row *r);
