/* profiler/cuda/cupti_launches.h -- every launch of a kernel, counted as it
 * happens. */
#pragma once
#include <stdbool.h>
#include "cupti_api.h"

#ifdef LAB_HAVE_COUNTERS
/* Counts from 0 on, or no longer. The caller holds the subscription
 * (cupti_attach.h). Errors, with the reason in `why`: LAB_E_DEVICE CUPTI
 * refused. */
enum lab_status lab_cupti_watch(const struct lab_cupti *cupti,
                                CUpti_SubscriberHandle subscriber, bool on,
                                char *why, size_t bytes);
int64_t lab_cupti_launches(void);
#endif
