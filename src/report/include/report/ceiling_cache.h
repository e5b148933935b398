/* ceiling_cache.h -- the ceilings that were measured on the device of a walk
 * (`profile ceilings`), for the stepper's shares of them. Threads: one. */
#pragma once
#include "engine/backend.h"
#include "store/ceilings.h"

struct lab_ceiling_cache {
    struct lab_ceiling_device device; /* that they are of */
    double per_s[LAB_CEILING_ROOFS];  /* NaN: not measured */
    bool asked;
};

/* Of the database `db` (NULL: the usual one), once for each device. What cannot
 * be read is not known: the walk goes on. */
const double *lab_ceiling_cache_find(struct lab_ceiling_cache *k,
                                     const char *db, const char *backend,
                                     const struct lab_device_info *device);
