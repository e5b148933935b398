#include "cupti_launches.h"

#include "cupti_attach.h"

#ifdef LAB_HAVE_COUNTERS
#include <stdatomic.h>
#include <stdbool.h>

#include "cupti_refusal.h"

/* Every way to launch one kernel. */
static const CUpti_CallbackId launch_calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGrid,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchGridAsync,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
};

static atomic_int_fast64_t seen;

static void on_launch(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                      const CUpti_CallbackData *data)
{
    (void)id;
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API ||
        data->callbackSite != CUPTI_API_EXIT)
        return;
    const CUresult *result = data->functionReturnValue;
    if (result && *result == CUDA_SUCCESS)
        seen++;
}

static CUptiResult enable(const struct lab_cupti *cupti,
                          CUpti_SubscriberHandle subscriber, bool on)
{
    CUptiResult first = CUPTI_SUCCESS;
    for (size_t i = 0; i < sizeof(launch_calls) / sizeof(launch_calls[0]);
         i++) {
        CUptiResult r = cupti->cuptiEnableCallback(
            on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch_calls[i]);
        first = first == CUPTI_SUCCESS ? r : first;
    }
    return first;
}

enum lab_status lab_cupti_watch(const struct lab_cupti *cupti,
                                CUpti_SubscriberHandle subscriber, bool on,
                                char *why, size_t bytes)
{
    seen = on ? 0 : seen;
    lab_cupti_listen(on ? on_launch : NULL);
    CUptiResult r = enable(cupti, subscriber, on);
    if (r == CUPTI_SUCCESS)
        return LAB_OK;
    lab_cupti_listen(NULL);
    if (on) /* none of them: each makes a launch dearer */
        (void)enable(cupti, subscriber, false);
    return lab_cupti_refusal(cupti, r, "watch the launches", why, bytes);
}

int64_t lab_cupti_launches(void)
{
    return seen;
}
#else
typedef int lab_cupti_launches_left_out;
#endif
