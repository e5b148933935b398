/* profiler/cuda/cupti_decode.h -- one CUPTI record to one of ours. */
#pragma once
#include "cupti_api.h"
#include "cupti_window.h"
#include "profiler/gpu.h"

#ifdef LAB_HAVE_CUPTI
/* Forgets the ids of API names, which belong to one sink. */
void lab_cupti_decode_reset(void);
/* Finds the record's step in `view` and hands it to the sink; kinds that nobody
 * asked for are passed over. false: the record has no times (start = end = 0).
 * Threads: any. */
int lab_cupti_decode(const struct lab_cupti *cupti,
                     const struct lab_gpu_sink *sink,
                     struct lab_cupti_view *view, const CUpti_Activity *record);
#endif
