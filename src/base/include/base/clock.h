/* base/clock.h -- the clocks of the program. Threads: any. */
#pragma once
#include <stdint.h>
#include "base/status.h"

LAB_C_BEGIN
/* For durations: never goes back. Nanoseconds. */
int64_t lab_clock_monotonic_ns(void);
/* The same as it was some milliseconds ago at most, in a fifth of the time: for loops
 * that look at it at every turn. To be compared with its own values alone. */
int64_t lab_clock_coarse_ns(void);
/* For moments: CLOCK_REALTIME, the clock of CUPTI's records. Nanoseconds since
 * 1970-01-01 UTC. */
int64_t lab_clock_wall_ns(void);
/* Processor time of all threads of the process. */
int64_t lab_clock_process_ns(void);
/* Processor time of the calling thread. */
int64_t lab_clock_thread_ns(void);
LAB_C_END
