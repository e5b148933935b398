/* clock.c -- the monotonic clock for durations and the wall clock for dates.
 *
 * Also processor time of the process and of a thread, for `lab_tune()`: time
 * that another program had is not a step's. */
#include "base/clock.h"

#include <time.h>

static int64_t read_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t lab_clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t lab_clock_coarse_ns(void)
{
    return read_ns(CLOCK_MONOTONIC_COARSE);
}

int64_t lab_clock_wall_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}

int64_t lab_clock_process_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t lab_clock_thread_ns(void)
{
    return read_ns(CLOCK_THREAD_CPUTIME_ID);
}
