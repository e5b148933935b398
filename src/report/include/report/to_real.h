/* to_real.h -- numbers of records and of the store as reals. Threads: any. */
#pragma once
#include <math.h>
#include <stdint.h>
#include "trace/record.h"

/* NaN where it is LAB_UNKNOWN. */
static inline double lab_to_real(int64_t v)
{
    return v == LAB_UNKNOWN ? (double)NAN : (double)v;
}
