/* profiler/cuda/cupti_trace.h -- CUPTI's activity trace: start, buffers, stop.
 * The functions are the slots of struct lab_gpu_profiler_ops (profiler/gpu.h),
 * which states what they promise. */
#pragma once
#include "profiler/gpu.h"

enum lab_status lab_cupti_trace_probe(char *text, size_t bytes);
enum lab_status
lab_cupti_trace_start(const struct lab_gpu_sink *sink,
                      const struct lab_gpu_trace_options *options);
void lab_cupti_trace_stop(void);
enum lab_status lab_cupti_trace_flush(void);
/* Nothing is recorded until it goes on. Needed around counting: with kernel
 * records on, the counts of executed instructions that CUPTI gives for a user's
 * replay are all 0 (seen on GH100 with CUPTI 13.0). No-op when not started. */
enum lab_status lab_cupti_trace_pause(bool on);
/* For the user; what counting comes back to. */
enum lab_status lab_cupti_trace_records(enum lab_gpu_records records);
void lab_cupti_trace_push(int64_t exec);
void lab_cupti_trace_pop(void);
void lab_cupti_trace_stats(struct lab_gpu_trace_stats *out);
