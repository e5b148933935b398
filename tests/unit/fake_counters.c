/* The counting half of the libcupti that tests play. Kernel k of a pass has the
 * value 100 * k + m for the metric number m of the configuration, so that a
 * value that lands elsewhere is noticed. One metric, fp64's, is not known. */
#include <stdlib.h>
#include <string.h>

#include "cupti_compat.h"
#include "fake_cupti.h"

#ifdef LAB_HAVE_COUNTERS
static struct fake_cupti *fake(void)
{
    return fake_cupti_state();
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *p)
{
    return p->structSize ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult
cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *p)
{
    p->architecture = p->sli = p->confidentialCompute = p->cmp = p->wsl =
        CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    p->vGpu = fake()->vgpu ? (CUpti_Profiler_Support_Level)fake()->vgpu
                           : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    p->isSupported = fake()->vgpu ? CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED
                                  : CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *p)
{
    p->pChipName = "GP999";
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerGetCounterAvailability(
    CUpti_Profiler_GetCounterAvailability_Params *p)
{
    if (fake()->availability_gives)
        return (CUptiResult)fake()->availability_gives;
    p->counterAvailabilityImageSize = 8;
    if (p->pCounterAvailabilityImage)
        memset(p->pCounterAvailabilityImage, 1, 8);
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *p)
{
    static char hosts[64];
    if (strcmp(p->pChipName, "GP999") != 0)
        return CUPTI_ERROR_INVALID_CHIP_NAME;
    p->pHostObject =
        (CUpti_Profiler_Host_Object *)(void *)&hosts[fake()->hosts++ % 64];
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *p)
{
    fake()->hosts -= p->pHostObject != NULL;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(
    CUpti_Profiler_Host_ConfigAddMetrics_Params *p)
{
    for (size_t i = 0; i < p->numMetrics; i++) {
        if (strstr(p->ppMetricNames[i], "src_fp64"))
            return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params *p)
{
    p->configImageSize = 16;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *p)
{
    memset(p->pConfigImage, 7, p->configImageSize);
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *p)
{
    p->numOfPasses = (size_t)fake()->passes;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params *p)
{
    for (size_t m = 0; m < p->numMetrics; m++) {
        int idle = fake()->idle_tensor_cores &&
                   strstr(p->ppMetricNames[m], "_pipe_tensor_op_");
        p->pMetricValues[m] = idle ? 0 : (double)(100 * p->rangeIndex + m);
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *p)
{
    static char object;
    fake()->enabled++;
    fake()->passes_run = 0;
    p->pRangeProfilerObject = (CUpti_RangeProfiler_Object *)(void *)&object;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *p)
{
    fake()->enabled -= p->pRangeProfilerObject != NULL;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(
    CUpti_RangeProfiler_GetCounterDataSize_Params *p)
{
    p->counterDataSize = sizeof(size_t) * 2;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params *p)
{
    memset(p->pCounterData, 0, p->counterDataSize);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *p)
{
    return p->range == CUPTI_AutoRange && p->replayMode == CUPTI_UserReplay
               ? CUPTI_SUCCESS
               : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *p)
{
    (void)p;
    if (fake()->start_gives)
        return (CUptiResult)fake()->start_gives;
    fake()->launched = 0;
    fake()->kinds_on_while_counting += fake()->records_on;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *p)
{
    p->isAllPassSubmitted = ++fake()->passes_run >= fake()->passes;
    return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *p)
{
    p->numOfRangeDropped = 0;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(
    CUpti_RangeProfiler_GetCounterDataInfo_Params *p)
{
    p->numTotalRanges = (size_t)(fake()->launched - fake()->lost_range);
    return CUPTI_SUCCESS;
}
#else
typedef int fake_counters_left_out;
#endif
