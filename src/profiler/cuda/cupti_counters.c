/* cupti_counters.c -- hardware counters of every kernel, by CUPTI's Range
 * Profiler: why they cannot be had, the launches that are counted, the
 * passes. */
#include "cupti_counters.h"

#include <stdio.h>

#include "cupti_attach.h"
#include "cupti_config.h"

#ifdef LAB_HAVE_COUNTERS
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "cupti_trace.h"

static const char privileges[] =
    "the driver keeps counters to administrators (ncu calls it "
    "ERR_NVGPUCTRPERM): put \"options nvidia "
    "NVreg_RestrictProfilingToAdminUsers=0\" into a file of /etc/modprobe.d "
    "and reboot, or run as root, in a container with --cap-add=SYS_ADMIN";
static const char vgpu[] =
    "this is a virtual GPU that may not be profiled: its host's administrator "
    "can allow it (vGPU parameter enable_profiling=1)";
static const char confidential[] =
    "confidential computing is on, and then there are no counters: use a "
    "machine without it";
static const char mig[] =
    "the GPU is split (MIG), and this part of it has no counters: use a whole "
    "GPU, or a MIG instance as large as the GPU";
static const char cmp[] = "a mining GPU has no counters: use another one";
static const char sli[] = "counters are not to be had with SLI: turn it off";
static const char wsl[] =
    "this driver has no counters under WSL: update the driver of Windows and "
    "allow access in its control panel (Developer, Manage GPU Performance "
    "Counters), or use Linux";
static const char old_gpu[] =
    "this GPU is too old for CUPTI's counters: compute capability 7.0 (7.5 "
    "with CUDA 13) or newer is needed";

static const struct {
    CUptiResult result;
    const char *text;
} reasons[] = {
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, privileges},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, vgpu},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, vgpu},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, confidential},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, cmp},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, mig},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, sli},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, wsl},
};

static enum lab_status refusal(const struct lab_cupti *cupti, CUptiResult r,
                               const char *what, char *why, size_t bytes)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].result != r)
            continue;
        snprintf(why, bytes, "%s", reasons[i].text);
        return LAB_E_DEVICE;
    }
    if (r == CUPTI_ERROR_OUT_OF_MEMORY) {
        snprintf(why, bytes, "no memory to %s", what);
        return LAB_E_NOMEM;
    }
    if (r == CUPTI_ERROR_HARDWARE_BUSY) {
        snprintf(why, bytes,
                 "another tool is using the counters of this GPU "
                 "(ncu, nsys, DCGM): end it and try again");
        return LAB_E_STATE;
    }
    return lab_cupti_refused(cupti, r, what, "", why, bytes);
}

static enum lab_status device_refusal(const struct lab_cupti *cupti, char *why,
                                      size_t bytes)
{
    CUpti_Profiler_DeviceSupported_Params p = {
        .structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
        .api = CUPTI_PROFILER_RANGE_PROFILING};
    CUptiResult r = cupti->cuptiProfilerDeviceSupported(&p);
    if (r != CUPTI_SUCCESS)
        return refusal(cupti, r, "ask the device", why, bytes);
    if (p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        return LAB_OK;
    const struct {
        CUpti_Profiler_Support_Level level;
        const char *text;
    } parts[] = {{p.architecture, old_gpu},
                 {p.vGpu, vgpu},
                 {p.confidentialCompute, confidential},
                 {p.cmp, cmp},
                 {p.sli, sli},
                 {p.wsl, wsl}};
    snprintf(why, bytes, "CUPTI reports no counters for this device");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED &&
            parts[i].level != CUPTI_PROFILER_CONFIGURATION_UNKNOWN) {
            snprintf(why, bytes, "%s", parts[i].text);
            break;
        }
    }
    return LAB_E_UNSUPPORTED;
}

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

static enum lab_status cupti_watch(const struct lab_cupti *cupti,
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
    return refusal(cupti, r, "watch the launches", why, bytes);
}

static int64_t cupti_launches(void)
{
    return seen;
}

/* A list of metrics that was asked for, known by its address. */
struct opened {
    const char *const *metrics;
    int asked;
    struct lab_cupti_config config;
};

/* Each set, and what the tensor cores computed. */
enum { LISTS = 4 };

/* One for the process, as CUPTI is. */
static struct {
    bool attached;
    const struct lab_cupti *cupti;
    CUpti_SubscriberHandle subscriber;
    struct opened lists[LISTS];
    int made;                        /* of them, ever */
    struct lab_cupti_config *config; /* what is counted: one of them */
    char chip[32];
    CUpti_RangeProfiler_Object *profiler; /* enabled; NULL: not */
    uint8_t *data;                        /* the counter data image */
    size_t data_bytes;
    bool paused; /* the trace */
} count;

/* libcuda is there where counters are; the program does not link it. */
static CUcontext current_context(void)
{
    CUresult (*get)(CUcontext *) = NULL;
    CUcontext context = NULL;
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = cuda ? dlsym(cuda, "cuCtxGetCurrent")
                        : dlsym(RTLD_DEFAULT, "cuCtxGetCurrent");
    memcpy(&get, &symbol, sizeof(symbol));
    if (get && get(&context) != CUDA_SUCCESS)
        context = NULL;
    if (cuda)
        dlclose(cuda);
    return context;
}

static enum lab_status attach(char *why, size_t bytes)
{
    if (count.attached)
        return LAB_OK;
    enum lab_status st =
        lab_cupti_attach(&count.cupti, &count.subscriber, why, bytes);
    if (!st && count.cupti->no_counters) {
        snprintf(why, bytes,
                 "%s counts nothing: it has no %s; install cuda-cupti of "
                 "CUDA 12.6 or later",
                 count.cupti->path, count.cupti->no_counters);
        lab_cupti_detach();
        return LAB_E_UNSUPPORTED;
    }
    if (!st && !current_context()) {
        snprintf(why, bytes, "no CUDA device is open");
        lab_cupti_detach();
        return LAB_E_STATE;
    }
    count.attached = !st;
    return st;
}

static enum lab_status refused(CUptiResult r, const char *what, char *why,
                               size_t bytes)
{
    return refusal(count.cupti, r, what, why, bytes);
}

static enum lab_status no_memory(char *why, size_t bytes)
{
    snprintf(why, bytes, "no memory for the counters");
    return LAB_E_NOMEM;
}

/* The chip's name and the image of what its counters can do; the caller frees
 * the image. */
static enum lab_status ask_device(uint8_t **availability, char *why,
                                  size_t bytes)
{
    CUpti_Profiler_Initialize_Params init = {
        .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUptiResult r = count.cupti->cuptiProfilerInitialize(&init);
    if (r != CUPTI_SUCCESS)
        return refused(r, "initialize", why, bytes);
    enum lab_status st = device_refusal(count.cupti, why, bytes);
    if (st)
        return st;
    CUpti_Device_GetChipName_Params chip = {
        .structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    r = count.cupti->cuptiDeviceGetChipName(&chip);
    if (r != CUPTI_SUCCESS)
        return refused(r, "name the chip", why, bytes);
    snprintf(count.chip, sizeof(count.chip), "%s", chip.pChipName);
    CUpti_Profiler_GetCounterAvailability_Params p = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
        .ctx = current_context()};
    r = count.cupti->cuptiProfilerGetCounterAvailability(&p);
    if (r != CUPTI_SUCCESS)
        return refused(r, "ask for the counters", why, bytes);
    p.pCounterAvailabilityImage = lab_alloc(p.counterAvailabilityImageSize);
    if (!p.pCounterAvailabilityImage)
        return no_memory(why, bytes);
    r = count.cupti->cuptiProfilerGetCounterAvailability(&p);
    if (r != CUPTI_SUCCESS) {
        lab_free(p.pCounterAvailabilityImage);
        return refused(r, "ask for the counters", why, bytes);
    }
    *availability = p.pCounterAvailabilityImage;
    return LAB_OK;
}

static enum lab_status counters_probe(char *text, size_t bytes)
{
    uint8_t *availability = NULL;
    bool was = count.attached;
    enum lab_status st = attach(text, bytes);
    if (st)
        return st;
    st = ask_device(&availability, text, bytes);
    lab_free(availability);
    if (!st)
        snprintf(text, bytes, "%s", count.chip);
    if (!was) {
        lab_cupti_detach();
        count.attached = false;
    }
    return st;
}

static void tell(struct lab_gpu_counter_info *info)
{
    *info = (struct lab_gpu_counter_info){.passes = count.config->passes,
                                          .n = count.config->n};
    memcpy(info->chip, count.chip, sizeof(info->chip));
    memcpy(info->metric, count.config->asked, sizeof(info->metric));
}

static enum lab_status open_list(struct opened *list,
                                 const char *const *metrics, int n, char *why,
                                 size_t bytes)
{
    uint8_t *availability = NULL;
    if (list->config.host)
        lab_cupti_config_close(&list->config);
    enum lab_status st = ask_device(&availability, why, bytes);
    if (!st)
        st = lab_cupti_config_open(&list->config, count.cupti, count.chip,
                                   availability, metrics, n, why, bytes);
    lab_free(availability);
    list->metrics = st ? NULL : metrics;
    list->asked = n;
    return st;
}

static enum lab_status counters_open(const char *const *metrics, int n,
                                     struct lab_gpu_counter_info *info,
                                     char *why, size_t bytes)
{
    int i = 0;
    enum lab_status st = attach(why, bytes);
    if (st)
        return st;
    while (i < LISTS &&
           (count.lists[i].metrics != metrics || count.lists[i].asked != n))
        i++;
    if (i == LISTS) {
        i = count.made++ % LISTS;
        st = open_list(&count.lists[i], metrics, n, why, bytes);
    }
    if (st)
        return st;
    count.config = &count.lists[i].config;
    tell(info);
    return LAB_OK;
}

/* ---- launches ---- */

static enum lab_status counters_listen(bool on, char *why, size_t bytes)
{
    enum lab_status st = attach(why, bytes);
    return st ? st : cupti_watch(count.cupti, count.subscriber, on, why, bytes);
}

static int64_t counters_launches(void)
{
    return cupti_launches();
}

/* ---- passes ---- */

static CUptiResult make_data(size_t kernels)
{
    CUpti_RangeProfiler_GetCounterDataSize_Params size = {
        .structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler,
        .pMetricNames = count.config->names,
        .numMetrics = (size_t)count.config->n,
        .maxNumOfRanges = kernels,
        .maxNumRangeTreeNodes = (uint32_t)kernels};
    CUptiResult r = count.cupti->cuptiRangeProfilerGetCounterDataSize(&size);
    if (r != CUPTI_SUCCESS)
        return r;
    lab_free(count.data);
    count.data_bytes = size.counterDataSize;
    count.data = lab_alloc(count.data_bytes ? count.data_bytes : 1);
    if (!count.data)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params init = {
        .structSize =
            CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler,
        .counterDataSize = count.data_bytes,
        .pCounterData = count.data};
    return count.cupti->cuptiRangeProfilerCounterDataImageInitialize(&init);
}

static CUptiResult set_config(size_t kernels)
{
    CUpti_RangeProfiler_SetConfig_Params p = {
        .structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler,
        .configSize = count.config->image_bytes,
        .pConfig = count.config->image,
        .counterDataImageSize = count.data_bytes,
        .pCounterDataImage = count.data,
        .range = CUPTI_AutoRange,
        .replayMode = CUPTI_UserReplay,
        .maxRangesPerPass = kernels,
        .numNestingLevels = 1,
        .minNestingLevel = 1};
    return count.cupti->cuptiRangeProfilerSetConfig(&p);
}

/* Gives the counters back; the trace goes on, or `why` has the reason. */
static enum lab_status disable(char *why, size_t bytes)
{
    enum lab_status st = LAB_OK;
    CUpti_RangeProfiler_Disable_Params p = {
        .structSize = CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler};
    if (count.profiler)
        count.cupti->cuptiRangeProfilerDisable(&p);
    count.profiler = NULL;
    lab_free(count.data);
    count.data = NULL;
    if (count.paused)
        st = lab_cupti_trace_pause(false, why, bytes);
    count.paused = false;
    return st;
}

static enum lab_status take_counters(size_t ranges, char *why, size_t bytes)
{
    CUpti_RangeProfiler_Enable_Params p = {
        .structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
        .ctx = current_context()};
    CUptiResult r = count.cupti->cuptiRangeProfilerEnable(&p);
    if (r != CUPTI_SUCCESS)
        return refused(r, "take the counters", why, bytes);
    count.profiler = p.pRangeProfilerObject;
    r = make_data(ranges);
    if (r == CUPTI_SUCCESS)
        r = set_config(ranges);
    return r == CUPTI_SUCCESS ? LAB_OK
                              : refused(r, "set the counters", why, bytes);
}

static enum lab_status counters_begin(int64_t kernels, char *why, size_t bytes)
{
    if (kernels <= 0 || kernels > INT32_MAX) {
        snprintf(why, bytes, "%s",
                 kernels <= 0 ? "no kernel ran: there is nothing to count"
                              : "more kernels ran than CUPTI can count: count "
                                "a step, not the iteration");
        return LAB_E_STATE;
    }
    enum lab_status st = lab_cupti_trace_pause(true, why, bytes);
    if (st)
        return st;
    count.paused = true;
    st = take_counters((size_t)kernels, why, bytes);
    char ignored[LAB_GPU_TEXT];
    if (st)
        (void)disable(ignored, sizeof(ignored));
    return st;
}

static enum lab_status counters_pass_begin(char *why, size_t bytes)
{
    CUpti_RangeProfiler_Start_Params p = {
        .structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler};
    CUptiResult r = count.cupti->cuptiRangeProfilerStart(&p);
    return r == CUPTI_SUCCESS ? LAB_OK
                              : refused(r, "start the counters", why, bytes);
}

static enum lab_status counters_pass_end(bool *again, char *why, size_t bytes)
{
    CUpti_RangeProfiler_Stop_Params p = {
        .structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler};
    CUptiResult r = count.cupti->cuptiRangeProfilerStop(&p);
    *again = r == CUPTI_SUCCESS && !p.isAllPassSubmitted;
    return r == CUPTI_SUCCESS ? LAB_OK
                              : refused(r, "stop the counters", why, bytes);
}

static enum lab_status decode(size_t *kernels, char *why, size_t bytes)
{
    CUpti_RangeProfiler_DecodeData_Params p = {
        .structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler};
    CUptiResult r = count.cupti->cuptiRangeProfilerDecodeData(&p);
    if (r != CUPTI_SUCCESS)
        return refused(r, "decode the counters", why, bytes);
    if (p.numOfRangeDropped > 0) {
        snprintf(why, bytes, "CUPTI had no room for %zu kernels",
                 p.numOfRangeDropped);
        return LAB_E_DEVICE;
    }
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
        .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
        .pCounterDataImage = count.data,
        .counterDataImageSize = count.data_bytes};
    r = count.cupti->cuptiRangeProfilerGetCounterDataInfo(&info);
    *kernels = info.numTotalRanges;
    return r == CUPTI_SUCCESS ? LAB_OK
                              : refused(r, "read the counters", why, bytes);
}

static enum lab_status read_all(double **values, int64_t *kernels, char *why,
                                size_t bytes)
{
    size_t n = 0;
    size_t each = (size_t)count.config->n;
    enum lab_status st = decode(&n, why, bytes);
    if (st)
        return st;
    double *v = lab_alloc_array(n * each + 1, sizeof(*v));
    if (!v)
        return no_memory(why, bytes);
    for (size_t i = 0; i < n && !st; i++)
        st = lab_cupti_config_read(count.config, count.data, count.data_bytes,
                                   i, v + i * each, why, bytes);
    if (st) {
        lab_free(v);
        return st;
    }
    *values = v;
    *kernels = (int64_t)n;
    return LAB_OK;
}

static enum lab_status counters_end(double **values, int64_t *kernels,
                                    char *why, size_t bytes)
{
    enum lab_status st = LAB_OK;
    if (values && count.profiler)
        st = read_all(values, kernels, why, bytes);
    char trace[LAB_GPU_TEXT];
    enum lab_status traced = disable(trace, sizeof(trace));
    if (traced && !st) {
        snprintf(why, bytes, "the trace does not go on: %s", trace);
        lab_free(values ? *values : NULL);
        st = traced;
    }
    return st;
}

static void counters_close(void)
{
    char ignored[LAB_GPU_TEXT];
    if (!count.attached)
        return;
    (void)disable(ignored, sizeof(ignored));
    for (int i = 0; i < LISTS; i++) {
        if (count.lists[i].config.host)
            lab_cupti_config_close(&count.lists[i].config);
        count.lists[i].metrics = NULL;
    }
    count.config = NULL;
    lab_cupti_listen(NULL);
    lab_cupti_detach();
    count.attached = false;
}

const struct lab_gpu_counter_ops lab_cupti_counter_ops = {
    .probe = counters_probe,
    .open = counters_open,
    .listen = counters_listen,
    .launches = counters_launches,
    .begin = counters_begin,
    .pass_begin = counters_pass_begin,
    .pass_end = counters_pass_end,
    .end = counters_end,
    .close = counters_close,
};
#else
static enum lab_status not_built(char *text, size_t bytes)
{
    snprintf(text, bytes,
             "the CUDA module was built without CUPTI's Range Profiler: "
             "install the cuda-cupti development package of CUDA 12.6 or "
             "later and build again");
    return LAB_E_UNSUPPORTED;
}

static enum lab_status not_built_open(const char *const *metrics, int n,
                                      struct lab_gpu_counter_info *info,
                                      char *why, size_t bytes)
{
    (void)metrics;
    (void)n;
    (void)info;
    return not_built(why, bytes);
}

/* open() fails, so that the rest is never reached. */
const struct lab_gpu_counter_ops lab_cupti_counter_ops = {
    .probe = not_built, .open = not_built_open};
#endif
