#include "cupti_refusal.h"

#ifdef LAB_HAVE_COUNTERS
#include <stdbool.h>
#include <stdio.h>

#include "cupti_attach.h"

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

enum lab_status lab_cupti_refusal(const struct lab_cupti *cupti, CUptiResult r,
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

enum lab_status lab_cupti_device_refusal(const struct lab_cupti *cupti,
                                         char *why, size_t bytes)
{
    CUpti_Profiler_DeviceSupported_Params p = {
        .structSize = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE,
        .api = CUPTI_PROFILER_RANGE_PROFILING};
    CUptiResult r = cupti->cuptiProfilerDeviceSupported(&p);
    if (r != CUPTI_SUCCESS)
        return lab_cupti_refusal(cupti, r, "ask the device", why, bytes);
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
    snprintf(why, bytes, "CUPTI says that this device has no counters");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].level != CUPTI_PROFILER_CONFIGURATION_SUPPORTED &&
            parts[i].level != CUPTI_PROFILER_CONFIGURATION_UNKNOWN) {
            snprintf(why, bytes, "%s", parts[i].text);
            break;
        }
    }
    return LAB_E_UNSUPPORTED;
}
#else
typedef int lab_cupti_refusal_left_out;
#endif
