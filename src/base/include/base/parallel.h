/* base/parallel.h -- one pool of threads for the loops of kernels on the CPU.
 *
 * A loop is cut into parts, at places that depend on its length and on the number
 * of threads alone. The caller takes parts from the front and the workers that are
 * awake from the back, until none is left. So the same number of threads gives the
 * same bits, a core mostly meets the data that it had in the loop before, and on a
 * busy machine the caller never waits for a worker that has not begun. Workers look
 * for work for a moment and then sleep. Threads: any; one loop at a time is shared
 * out, others run on their callers meanwhile. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

LAB_C_BEGIN
/* The cores that this process may use: its affinity, and its share of CPU time
 * where a control group limits it (cgroup v2, cpu.max). At least 1. */
int lab_cores(void);

/* How many threads compute, the caller's among them: lab_cores() until it is set.
 * At most LAB_MAX_THREADS. Set it before the first computation. */
enum { LAB_MAX_THREADS = 256 };
int lab_threads(void);
void lab_threads_set(int n);

/* Runs items from .. to-1 of a loop. */
typedef void lab_part_fn(const void *arg, int64_t from, int64_t to);

/* Calls `run` for the parts of 0 .. n-1, each of at least `grain` items where there
 * are so many, and returns when all are done. Parts begin at multiples of 16 where
 * they have 16 items or more. A loop within a part runs on the part's thread. */
void lab_parallel(int64_t n, int64_t grain, lab_part_fn *run, const void *arg);
/* Wakes the workers, which then look for work as they do between two loops; returns how
 * many threads are awake after a millisecond at most, the caller's among them. What is
 * timed next does not wait for sleepers. */
int lab_threads_wake(void);
/* Loops that were shared out so far; *asleep_ns: how long all workers together have slept
 * so far because there was no work. */
int64_t lab_loops_shared(int64_t *asleep_ns);
/* Within a part of a loop that has several: the threads have work already. */
bool lab_in_part(void);
LAB_C_END
