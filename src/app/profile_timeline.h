/* profile_timeline.h -- `profile timeline`: an iteration as lists with times,
 * lane by lane, or as JSON Lines. */
#pragma once
#include "store/timeline.h"

struct lab_profile_timeline {
    struct lab_database *db;
    int64_t iteration; /* LAB_UNKNOWN: the last that has kernels */
    int64_t most;      /* spans of a kind, the longest; 0: as many as fit */
    bool json;
    bool ascii;
};

enum lab_status lab_profile_print_timeline(const struct lab_profile_timeline *p,
                                           int64_t run);
