/* profiler/cuda/cupti_window.h -- which execution a CUDA call was made for, by
 * its thread and its moment.
 *
 * CUPTI's own way is an external correlation id, pushed and popped: it writes a
 * record of its own for every call, and wants the calls of runtime and driver
 * both. That costs a launch about as much again as tracing the kernel does
 * (docs/measurements.md). Here the moments of push and pop are kept, in CUPTI's
 * clock, and a call that began in between on the same thread belongs to it.
 *
 * The newest 262,144 pushes and pops are kept (4 MiB); a call that is older
 * belongs to nothing. One thread pushes; any thread asks. */
#pragma once
#include <stdint.h>
#include "base/status.h"

/* Forgets everything. LAB_E_NOMEM. */
enum lab_status lab_cupti_window_open(void);
void lab_cupti_window_close(void);
/* `now`: cuptiGetTimestamp(). At most 16 deep; what is deeper is not counted. */
void lab_cupti_window_push(int64_t exec, uint64_t now);
void lab_cupti_window_pop(uint64_t now);
/* 0: none. `thread`: the system's id of the thread that made the call. */
int64_t lab_cupti_window_find(uint32_t thread, uint64_t start);
