/* timeline_samples.h -- runs whose timelines are known to the microsecond. */
#pragma once
#include "store/writer.h"

/* When iteration 0 begins; each next one 1000 us later. */
#define SAMPLE_TIMELINE_START INT64_C(1700000000000000000)

/* Iteration 0: one step, whose kernel runs 14 us into the next. Iteration 1: a
 * copy, three kernels of two steps, and a CUDA graph of three on two streams
 * with a memset and a kernel without times. Iteration 2: a step without
 * moments. */
enum lab_status sample_timeline_run(const char *path, int64_t *run);
/* Three steps on the CPU and nothing else. */
enum lab_status sample_timeline_cpu(const char *path, int64_t *run);
/* The kernels, calls and ranges of the first, in a run without steps. */
enum lab_status sample_timeline_foreign(const char *path, int64_t *run);
/* A run without a record. */
enum lab_status sample_timeline_empty(const char *path, int64_t *run);
/* `iterations` of a step with `kernels` kernels of 2 us each, 1 us apart, and
 * their calls. */
enum lab_status sample_timeline_many(const char *path, int64_t iterations,
                                     int64_t kernels, int64_t *run);
