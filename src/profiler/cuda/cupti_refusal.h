/* profiler/cuda/cupti_refusal.h -- why counters cannot be had, and what helps.
 */
#pragma once
#include "cupti_api.h"

#ifdef LAB_HAVE_COUNTERS
/* CUPTI's refusal in words, with the remedy for the exact case. */
enum lab_status lab_cupti_refusal(const struct lab_cupti *cupti, CUptiResult r,
                                  const char *what, char *why, size_t bytes);
/* LAB_OK: the current device and its set-up let counters be read. */
enum lab_status lab_cupti_device_refusal(const struct lab_cupti *cupti,
                                         char *why, size_t bytes);
#endif
