#include "cupti_kinds.h"

#ifdef LAB_HAVE_CUPTI
#include <stdbool.h>

#include "cupti_attach.h"

/* Without the required kinds the picture is not worth its name; the others only
 * make it fuller. `calls`: of the host's calls, not of the device's work. */
static const struct {
    CUpti_ActivityKind kind;
    bool required;
    bool calls;
} kinds[] = {
    /* A call of the runtime leaves no record of the driver's calls in it. */
    {CUPTI_ACTIVITY_KIND_RUNTIME, true, true},
    {CUPTI_ACTIVITY_KIND_DRIVER, true, true},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true, false},
    {CUPTI_ACTIVITY_KIND_MEMCPY, true, false},
    {CUPTI_ACTIVITY_KIND_MEMSET, true, false},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, false, true},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, false, true},
    /* A graph as a whole, instead of each of its kernels: it is launched for
     * iterations whose steps nobody asked for. */
    {CUPTI_ACTIVITY_KIND_GRAPH_TRACE, false, false},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Graphs that are there keep how they were made. Launching one after this kind
 * was switched on or off ends in libcupti's own memory (seen with CUPTI 13.0),
 * so that it stays as it was at the start. */
static bool stays(CUpti_ActivityKind kind)
{
    return kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
}

static bool wanted(int i, enum lab_gpu_records records)
{
    return records == LAB_GPU_RECORDS_ALL ||
           (records == LAB_GPU_RECORDS_KERNELS && !kinds[i].calls);
}

static void disable(const struct lab_cupti *cupti, enum lab_gpu_records but)
{
    for (int i = KINDS - 1; i >= 0; i--) {
        if (!stays(kinds[i].kind) && !wanted(i, but))
            cupti->cuptiActivityDisable(kinds[i].kind);
    }
}

void lab_cupti_kinds_end(const struct lab_cupti *cupti)
{
    for (int i = KINDS - 1; i >= 0; i--)
        cupti->cuptiActivityDisable(kinds[i].kind);
}

/* Calls that only ask: no work for the device, and half of all records. Without
 * them a launch costs less to trace, and a run's database is half as large. CUPTI
 * takes them out after their kind was switched on. */
static void leave_out_questions(const struct lab_cupti *cupti)
{
    static const CUpti_CallbackId runtime[] = {
        CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
        CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020};
    static const CUpti_CallbackId driver[] = {
        CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent,
        CUPTI_DRIVER_TRACE_CBID_cuKernelGetName,
        CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion}; /* cupti_mark.h */
    for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++) {
        if (cupti->enable_runtime_call)
            (void)cupti->enable_runtime_call(runtime[i], 0);
    }
    for (size_t i = 0; i < sizeof(driver) / sizeof(driver[0]); i++) {
        if (cupti->enable_driver_call)
            (void)cupti->enable_driver_call(driver[i], 0);
    }
}

enum lab_status lab_cupti_kinds_set(const struct lab_cupti *cupti,
                                    enum lab_gpu_records records, bool first,
                                    bool graph_nodes, char *why, size_t bytes)
{
    disable(cupti, records);
    for (int i = 0; i < KINDS; i++) {
        if (!wanted(i, records) ||
            (stays(kinds[i].kind) && (graph_nodes || !first)))
            continue;
        CUptiResult r = cupti->cuptiActivityEnable(kinds[i].kind);
        if (r == CUPTI_SUCCESS || !kinds[i].required)
            continue;
        disable(cupti, LAB_GPU_RECORDS_NONE);
        return lab_cupti_refused(cupti, r, "enable tracing", "", why, bytes);
    }
    if (records == LAB_GPU_RECORDS_ALL)
        leave_out_questions(cupti);
    return LAB_OK;
}
#else
typedef int lab_cupti_kinds_left_out;
#endif
