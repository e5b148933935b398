/* missing.h -- nothing is empty without a word: what a run has no rows
 * of, why, and what to do instead. Threads: that of the connection. */
#pragma once
#include "store/contents.h"

/* `wanted`: bits of enum lab_content. An error that names what the run has not,
 * LAB_E_NOTFOUND; to be called where something is missing. Where kernels are
 * missing it states whether steps are too. */
enum lab_status lab_fail_missing(struct lab_database *db, int64_t run,
                                 unsigned wanted);
/* The same as a line on stderr. */
enum lab_status lab_warn_missing(struct lab_database *db, int64_t run,
                                 unsigned wanted);
/* The same below the rows of `profile show`. */
enum lab_status lab_warn_missing_below(struct lab_database *db, int64_t run,
                                       unsigned wanted);
