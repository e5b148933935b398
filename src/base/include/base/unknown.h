/* base/unknown.h -- numbers that are not known: LAB_UNKNOWN for integers, NaN for
 * reals, never 0. NULL in SQLite, null in JSON, LAB_NA in text. Threads: any. */
#pragma once
#include <math.h>
#include <stdint.h>

#define LAB_UNKNOWN INT64_MIN
#define LAB_NA "n/a"

/* NaN where it is LAB_UNKNOWN. */
static inline double lab_to_real(int64_t v)
{
    return v == LAB_UNKNOWN ? (double)NAN : (double)v;
}
/* The unknown of a record's 32 bits is INT32_MIN. */
static inline int64_t lab_from_int32(int32_t v)
{
    return v == INT32_MIN ? LAB_UNKNOWN : v;
}
