/* cupti_counters.c -- hardware counters of every kernel, by CUPTI's Range
 * Profiler: why they cannot be had, the metrics that a chip has, the launches
 * that are counted, the passes. */
#include "cupti_counters.h"

#include <stdio.h>

#ifdef LAB_HAVE_COUNTERS
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
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

/* LAB_OK for CUPTI_SUCCESS; else why counters cannot be had, and what helps. */
static enum lab_status check(const struct lab_cupti *cupti, CUptiResult r,
                             const char *what)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].result == r)
            return lab_fail(LAB_E_DEVICE, "[counters.failed] %s",
                            reasons[i].text);
    }
    if (r == CUPTI_ERROR_OUT_OF_MEMORY)
        return lab_fail(LAB_E_NOMEM, "no memory to %s", what);
    if (r == CUPTI_ERROR_HARDWARE_BUSY)
        return lab_fail(
            LAB_E_STATE,
            "[counters.in-use] another tool is using the counters of this GPU "
            "(ncu, nsys, DCGM): end it and try again");
    return lab_cupti_check(cupti, r, what);
}

static enum lab_status check_device(const struct lab_cupti *cupti)
{
    CUpti_Profiler_DeviceSupported_Params p = {
        .structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
        .api = CUPTI_PROFILER_RANGE_PROFILING};
    CUptiResult r = cupti->cuptiProfilerDeviceSupported(&p);
    if (r != CUPTI_SUCCESS ||
        p.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
        return check(cupti, r, "ask the device");
    const struct {
        CUpti_Profiler_Support_Level level;
        const char *text;
    } parts[] = {{p.architecture, old_gpu},
                 {p.vGpu, vgpu},
                 {p.confidentialCompute, confidential},
                 {p.cmp, cmp},
                 {p.sli, sli},
                 {p.wsl, wsl}};
    const char *text = NULL;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !text; i++) {
        if (parts[i].level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED &&
            parts[i].level != CUPTI_PROFILER_CONFIGURATION_UNKNOWN)
            text = parts[i].text;
    }
    return lab_fail(LAB_E_UNSUPPORTED, "[counters.device] %s",
                    text ? text : "CUPTI reports no counters for this device");
}

/* ---- the metrics that a chip has, and their passes ---- */

static CUptiResult host_open(const struct lab_cupti *cupti, const char *chip,
                             const uint8_t *availability,
                             CUpti_Profiler_Host_Object **out)
{
    CUpti_Profiler_Host_Initialize_Params p = {
        .structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
        .profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER,
        .pChipName = chip,
        .pCounterAvailabilityImage = availability};
    CUptiResult r = cupti->cuptiProfilerHostInitialize(&p);
    *out = r == CUPTI_SUCCESS ? p.pHostObject : NULL;
    return r;
}

static void host_close(const struct lab_cupti *cupti,
                       CUpti_Profiler_Host_Object *host)
{
    CUpti_Profiler_Host_Deinitialize_Params p = {
        .structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
        .pHostObject = host};
    if (host)
        cupti->cuptiProfilerHostDeinitialize(&p);
}

static CUptiResult add_metrics(const struct lab_cupti *cupti,
                               CUpti_Profiler_Host_Object *host,
                               const char **names, int n)
{
    CUpti_Profiler_Host_ConfigAddMetrics_Params p = {
        .structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
        .pHostObject = host,
        .ppMetricNames = names,
        .numMetrics = (size_t)n};
    return cupti->cuptiProfilerHostConfigAddMetrics(&p);
}

/* Mostly all are known. */
static bool know_all(struct lab_cupti_config *c, const char *chip,
                     const uint8_t *availability, const char *const *metrics,
                     int n)
{
    CUpti_Profiler_Host_Object *probe = NULL;
    for (int i = 0; i < n; i++) {
        c->asked[i] = i;
        c->names[i] = metrics[i];
    }
    bool known =
        host_open(c->cupti, chip, availability, &probe) == CUPTI_SUCCESS &&
        add_metrics(c->cupti, probe, c->names, n) == CUPTI_SUCCESS;
    host_close(c->cupti, probe);
    c->n = known ? n : 0;
    return known;
}

/* One unknown name spoils a whole list, and the host object that was asked for
 * it: each is tried by itself, and after a refusal on a new object. */
static CUptiResult find_known(struct lab_cupti_config *c, const char *chip,
                              const uint8_t *availability,
                              const char *const *metrics, int n)
{
    CUpti_Profiler_Host_Object *probe = NULL;
    CUptiResult r = CUPTI_SUCCESS;
    for (int i = 0; i < n && r == CUPTI_SUCCESS; i++) {
        const char *name = metrics[i];
        if (!probe)
            r = host_open(c->cupti, chip, availability, &probe);
        if (r != CUPTI_SUCCESS)
            break;
        if (add_metrics(c->cupti, probe, &name, 1) == CUPTI_SUCCESS) {
            c->asked[c->n] = i;
            c->names[c->n++] = name;
            continue;
        }
        host_close(c->cupti, probe);
        probe = NULL;
    }
    host_close(c->cupti, probe);
    return r;
}

static CUptiResult make_image(struct lab_cupti_config *c)
{
    CUpti_Profiler_Host_GetConfigImageSize_Params size = {
        .structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE,
        .pHostObject = c->host};
    CUptiResult r = c->cupti->cuptiProfilerHostGetConfigImageSize(&size);
    if (r != CUPTI_SUCCESS)
        return r;
    c->image_bytes = size.configImageSize;
    c->image = lab_alloc(c->image_bytes ? c->image_bytes : 1);
    if (!c->image)
        return CUPTI_ERROR_OUT_OF_MEMORY;
    CUpti_Profiler_Host_GetConfigImage_Params image = {
        .structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
        .pHostObject = c->host,
        .configImageSize = c->image_bytes,
        .pConfigImage = c->image};
    r = c->cupti->cuptiProfilerHostGetConfigImage(&image);
    if (r != CUPTI_SUCCESS)
        return r;
    CUpti_Profiler_Host_GetNumOfPasses_Params passes = {
        .structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
        .configImageSize = c->image_bytes,
        .pConfigImage = c->image};
    r = c->cupti->cuptiProfilerHostGetNumOfPasses(&passes);
    c->passes = (int)passes.numOfPasses;
    return r;
}

enum lab_status lab_cupti_config_open(struct lab_cupti_config *out,
                                      const struct lab_cupti *cupti,
                                      const char *chip,
                                      const uint8_t *availability,
                                      const char *const *metrics, int n)
{
    struct lab_cupti_config c = {.cupti = cupti};
    CUptiResult r = CUPTI_SUCCESS;
    if (!know_all(&c, chip, availability, metrics, n))
        r = find_known(&c, chip, availability, metrics, n);
    if (r == CUPTI_SUCCESS && c.n == 0)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[counters.none-known] %s: none of the counters is known there",
            chip);
    if (r == CUPTI_SUCCESS)
        r = host_open(cupti, chip, availability, &c.host);
    if (r == CUPTI_SUCCESS)
        r = add_metrics(cupti, c.host, c.names, c.n);
    if (r == CUPTI_SUCCESS)
        r = make_image(&c);
    if (r == CUPTI_SUCCESS)
        *out = c;
    else
        lab_cupti_config_close(&c);
    return lab_cupti_check(cupti, r, "set up the counters");
}

void lab_cupti_config_close(struct lab_cupti_config *c)
{
    host_close(c->cupti, c->host);
    lab_free(c->image);
    *c = (struct lab_cupti_config){.cupti = c->cupti};
}

/* The metrics of one range of a counter data image, into values[c->n]. */
static enum lab_status read_range(const struct lab_cupti_config *c,
                                  const uint8_t *data, size_t data_bytes,
                                  size_t range, double *values)
{
    const char *names[LAB_MAX_METRICS];
    memcpy(names, c->names, sizeof(names));
    CUpti_Profiler_Host_EvaluateToGpuValues_Params p = {
        .structSize =
            CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE,
        .pHostObject = c->host,
        .pCounterDataImage = data,
        .counterDataImageSize = data_bytes,
        .rangeIndex = range,
        .ppMetricNames = names,
        .numMetrics = (size_t)c->n,
        .pMetricValues = values};
    CUptiResult r = c->cupti->cuptiProfilerHostEvaluateToGpuValues(&p);
    return lab_cupti_check(c->cupti, r, "read the counters");
}

/* ---- launches ---- */

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

static enum lab_status attach(void)
{
    if (count.attached)
        return LAB_OK;
    enum lab_status st = lab_cupti_attach(&count.cupti, &count.subscriber);
    if (st)
        return st;
    if (count.cupti->no_counters)
        st = lab_fail(LAB_E_UNSUPPORTED,
                      "[counters.old-cupti] %s counts nothing: it has no %s; "
                      "install cuda-cupti of "
                      "CUDA 12.6 or later",
                      count.cupti->path, count.cupti->no_counters);
    else if (!current_context())
        st = lab_fail(LAB_E_STATE,
                      "[counters.no-device] no CUDA device is open");
    if (st)
        lab_cupti_detach();
    count.attached = !st;
    return st;
}

static CUptiResult watch(bool on)
{
    CUptiResult first = CUPTI_SUCCESS;
    for (size_t i = 0; i < sizeof(launch_calls) / sizeof(launch_calls[0]);
         i++) {
        CUptiResult r = count.cupti->cuptiEnableCallback(
            on, count.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, launch_calls[i]);
        first = first == CUPTI_SUCCESS ? r : first;
    }
    return first;
}

static enum lab_status counters_listen(bool on)
{
    enum lab_status st = attach();
    if (st)
        return st;
    seen = on ? 0 : seen;
    lab_cupti_listen(on ? on_launch : NULL);
    CUptiResult r = watch(on);
    if (r == CUPTI_SUCCESS)
        return LAB_OK;
    lab_cupti_listen(NULL);
    if (on) /* none of them: each makes a launch dearer */
        (void)watch(false);
    return check(count.cupti, r, "watch the launches");
}

static int64_t counters_launches(void)
{
    return seen;
}

/* ---- the device, and what is counted of it ---- */

/* The chip's name and the image of what its counters can do; the caller frees
 * the image. */
static enum lab_status ask_device(uint8_t **availability)
{
    CUpti_Profiler_Initialize_Params init = {
        .structSize = CUpti_Profiler_Initialize_Params_STRUCT_SIZE};
    CUptiResult r = count.cupti->cuptiProfilerInitialize(&init);
    enum lab_status st = check(count.cupti, r, "initialize");
    if (!st)
        st = check_device(count.cupti);
    if (st)
        return st;
    CUpti_Device_GetChipName_Params chip = {
        .structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE};
    r = count.cupti->cuptiDeviceGetChipName(&chip);
    if (r != CUPTI_SUCCESS)
        return check(count.cupti, r, "name the chip");
    snprintf(count.chip, sizeof(count.chip), "%s", chip.pChipName);
    CUpti_Profiler_GetCounterAvailability_Params p = {
        .structSize = CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE,
        .ctx = current_context()};
    r = count.cupti->cuptiProfilerGetCounterAvailability(&p);
    if (r == CUPTI_SUCCESS) {
        *availability = lab_alloc(p.counterAvailabilityImageSize);
        if (!*availability)
            return lab_no_memory("the counters");
        p.pCounterAvailabilityImage = *availability;
        r = count.cupti->cuptiProfilerGetCounterAvailability(&p);
    }
    return check(count.cupti, r, "ask for the counters");
}

static enum lab_status counters_probe(char *text, size_t bytes)
{
    uint8_t *availability = NULL;
    bool was = count.attached;
    enum lab_status st = attach();
    if (st)
        return st;
    st = ask_device(&availability);
    lab_free(availability);
    if (!st)
        snprintf(text, bytes, "%s", count.chip);
    if (!was) {
        lab_cupti_detach();
        count.attached = false;
    }
    return st;
}

static enum lab_status open_list(struct opened *list,
                                 const char *const *metrics, int n)
{
    uint8_t *availability = NULL;
    if (list->config.host)
        lab_cupti_config_close(&list->config);
    enum lab_status st = ask_device(&availability);
    if (!st)
        st = lab_cupti_config_open(&list->config, count.cupti, count.chip,
                                   availability, metrics, n);
    lab_free(availability);
    list->metrics = st ? NULL : metrics;
    list->asked = n;
    return st;
}

static enum lab_status counters_open(const char *const *metrics, int n,
                                     struct lab_gpu_counter_info *info)
{
    int i = 0;
    enum lab_status st = attach();
    if (st)
        return st;
    while (i < LISTS &&
           (count.lists[i].metrics != metrics || count.lists[i].asked != n))
        i++;
    if (i == LISTS) {
        i = count.made++ % LISTS;
        st = open_list(&count.lists[i], metrics, n);
    }
    if (st)
        return st;
    count.config = &count.lists[i].config;
    *info = (struct lab_gpu_counter_info){.passes = count.config->passes,
                                          .n = count.config->n};
    memcpy(info->chip, count.chip, sizeof(info->chip));
    memcpy(info->metric, count.config->asked, sizeof(info->metric));
    return LAB_OK;
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

/* Gives the counters back; the trace goes on, or an error has the reason. */
static enum lab_status disable(void)
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
        st = lab_cupti_trace_pause(false);
    count.paused = false;
    return st;
}

/* The same after the failure `st`; its reason stays the last error. */
static enum lab_status disable_after(enum lab_status st)
{
    struct lab_kept_error reason;
    lab_error_keep(&reason);
    (void)disable();
    return lab_error_again(st, &reason);
}

static enum lab_status take_counters(size_t ranges)
{
    CUpti_RangeProfiler_Enable_Params p = {
        .structSize = CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
        .ctx = current_context()};
    CUptiResult r = count.cupti->cuptiRangeProfilerEnable(&p);
    if (r != CUPTI_SUCCESS)
        return check(count.cupti, r, "take the counters");
    count.profiler = p.pRangeProfilerObject;
    r = make_data(ranges);
    if (r == CUPTI_SUCCESS)
        r = set_config(ranges);
    return check(count.cupti, r, "set the counters");
}

static enum lab_status counters_begin(int64_t kernels)
{
    if (kernels <= 0)
        return lab_fail(
            LAB_E_STATE,
            "[counters.no-kernel] no kernel ran: there is nothing to count");
    if (kernels > INT32_MAX)
        return lab_fail(LAB_E_STATE, "[counters.too-many] more kernels ran "
                                     "than CUPTI can count: count a step, "
                                     "not the iteration");
    enum lab_status st = lab_cupti_trace_pause(true);
    if (st)
        return st;
    count.paused = true;
    st = take_counters((size_t)kernels);
    return st ? disable_after(st) : LAB_OK;
}

static enum lab_status counters_pass_begin(void)
{
    CUpti_RangeProfiler_Start_Params p = {
        .structSize = CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler};
    return check(count.cupti, count.cupti->cuptiRangeProfilerStart(&p),
                 "start the counters");
}

static enum lab_status counters_pass_end(bool *again)
{
    CUpti_RangeProfiler_Stop_Params p = {
        .structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler};
    CUptiResult r = count.cupti->cuptiRangeProfilerStop(&p);
    *again = r == CUPTI_SUCCESS && !p.isAllPassSubmitted;
    return check(count.cupti, r, "stop the counters");
}

static enum lab_status decode(size_t *kernels)
{
    CUpti_RangeProfiler_DecodeData_Params p = {
        .structSize = CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
        .pRangeProfilerObject = count.profiler};
    CUptiResult r = count.cupti->cuptiRangeProfilerDecodeData(&p);
    if (r != CUPTI_SUCCESS)
        return check(count.cupti, r, "decode the counters");
    if (p.numOfRangeDropped > 0)
        return lab_fail(LAB_E_DEVICE,
                        "[counters.no-room] CUPTI had no room for %zu kernels",
                        p.numOfRangeDropped);
    CUpti_RangeProfiler_GetCounterDataInfo_Params info = {
        .structSize = CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE,
        .pCounterDataImage = count.data,
        .counterDataImageSize = count.data_bytes};
    r = count.cupti->cuptiRangeProfilerGetCounterDataInfo(&info);
    *kernels = info.numTotalRanges;
    return check(count.cupti, r, "read the counters");
}

static enum lab_status read_all(double **values, int64_t *kernels)
{
    size_t n = 0;
    size_t each = (size_t)count.config->n;
    enum lab_status st = decode(&n);
    if (st)
        return st;
    double *v = lab_alloc_array(n * each + 1, sizeof(*v));
    if (!v)
        return lab_no_memory("the counters");
    for (size_t i = 0; i < n && !st; i++)
        st = read_range(count.config, count.data, count.data_bytes, i,
                        v + i * each);
    if (st) {
        lab_free(v);
        return st;
    }
    *values = v;
    *kernels = (int64_t)n;
    return LAB_OK;
}

static enum lab_status counters_end(double **values, int64_t *kernels)
{
    enum lab_status st = LAB_OK;
    if (values && count.profiler)
        st = read_all(values, kernels);
    if (st)
        return disable_after(st);
    st = disable();
    if (st && values)
        lab_free(*values);
    return st ? lab_fail_context(st, "the trace does not go on") : LAB_OK;
}

static void counters_close(void)
{
    if (!count.attached)
        return;
    (void)disable();
    for (int i = 0; i < LISTS; i++) {
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
static enum lab_status not_built(void)
{
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[counters.not-built] the CUDA module was built without "
                    "CUPTI's Range Profiler: "
                    "install the cuda-cupti development package of CUDA 12.6 "
                    "or later and build again");
}

static enum lab_status not_built_probe(char *text, size_t bytes)
{
    (void)text;
    (void)bytes;
    return not_built();
}

static enum lab_status not_built_open(const char *const *metrics, int n,
                                      struct lab_gpu_counter_info *info)
{
    (void)metrics;
    (void)n;
    (void)info;
    return not_built();
}

/* open() fails, so that the rest is never reached. */
const struct lab_gpu_counter_ops lab_cupti_counter_ops = {
    .probe = not_built_probe, .open = not_built_open};
#endif
