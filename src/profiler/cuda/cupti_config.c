/* cupti_config.c -- chooses the metrics that this device has and builds the
 * configuration image of the Range Profiler. */
#include "cupti_config.h"

#ifdef LAB_HAVE_COUNTERS
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cupti_attach.h"

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
                                      const char *const *metrics, int n,
                                      char *why, size_t bytes)
{
    struct lab_cupti_config c = {.cupti = cupti};
    enum lab_status st = LAB_OK;
    CUptiResult r = know_all(&c, chip, availability, metrics, n)
                        ? CUPTI_SUCCESS
                        : find_known(&c, chip, availability, metrics, n);
    if (r == CUPTI_SUCCESS && c.n == 0) {
        snprintf(why, bytes, "%s: none of the counters is known there", chip);
        return LAB_E_UNSUPPORTED;
    }
    if (r == CUPTI_SUCCESS)
        r = host_open(cupti, chip, availability, &c.host);
    if (r == CUPTI_SUCCESS)
        r = add_metrics(cupti, c.host, c.names, c.n);
    if (r == CUPTI_SUCCESS)
        r = make_image(&c);
    if (r != CUPTI_SUCCESS) {
        st = lab_cupti_refused(cupti, r, "set up the counters", "", why, bytes);
        lab_cupti_config_close(&c);
        return st;
    }
    *out = c;
    return LAB_OK;
}

void lab_cupti_config_close(struct lab_cupti_config *c)
{
    host_close(c->cupti, c->host);
    lab_free(c->image);
    *c = (struct lab_cupti_config){.cupti = c->cupti};
}

enum lab_status lab_cupti_config_read(const struct lab_cupti_config *c,
                                      const uint8_t *data, size_t data_bytes,
                                      size_t range, double *values, char *why,
                                      size_t bytes)
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
    return r == CUPTI_SUCCESS
               ? LAB_OK
               : lab_cupti_refused(c->cupti, r, "read the counters", "", why,
                                   bytes);
}
#else
typedef int lab_cupti_config_left_out;
#endif
