/* profile_missing.h -- nothing is empty without a word: what a run has no rows
 * of, why, and what to do instead. Threads: that of the connection. */
#pragma once
#include "store/contents.h"

/* `wanted`: bits of enum lab_content. Adds a sentence without a line's end, or
 * nothing where the run has all of them. Where kernels are missing it says of the
 * steps too that they are. Errors: LAB_E_NOTFOUND, there is no
 * such run; LAB_E_DB. */
enum lab_status lab_profile_missing(struct lab_database *db, int64_t run,
                                    unsigned wanted, struct lab_str *out);
/* The same as an error, LAB_E_NOTFOUND; to be called where something is
 * missing. */
enum lab_status lab_profile_fail_missing(struct lab_database *db, int64_t run,
                                         unsigned wanted);
/* The same as a line on stderr. */
enum lab_status lab_profile_say_missing(struct lab_database *db, int64_t run,
                                        unsigned wanted);
