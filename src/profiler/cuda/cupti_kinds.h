/* profiler/cuda/cupti_kinds.h -- which records CUPTI is asked for. */
#pragma once
#include <stdbool.h>
#include "cupti_api.h"
#include "profiler/gpu.h"

#ifdef LAB_HAVE_CUPTI
/* Switches on what `records` wants and off what it does not; on a failure all
 * is off and `why` says which words CUPTI had. `first`: at the start of a trace;
 * only then graphs are chosen to come as a whole. LAB_E_DEVICE. */
enum lab_status lab_cupti_kinds_set(const struct lab_cupti *cupti,
                                    enum lab_gpu_records records, bool first,
                                    bool graph_nodes, char *why, size_t bytes);
/* All of them, with graphs as a whole. */
void lab_cupti_kinds_end(const struct lab_cupti *cupti);
#endif
