/* What a GPU is doing, by NVML: the library that nvidia-smi reads too. It comes
 * with the driver and is opened at the first question; the declarations are
 * those of nvml.h, by value, so that no header is needed. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

#include "engine/ladder.h"

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };

static struct {
    int (*init)(void);
    int (*handle)(const char *uuid, void **device);
    int (*clock)(void *device, int type, unsigned *mhz);
    int (*temperature)(void *device, int sensor, unsigned *celsius);
    int (*power)(void *device, unsigned *milliwatts);
    bool ready;
} nvml;

static void find(void *lib, void *slot, const char *name)
{
    *(void **)slot = lib ? dlsym(lib, name) : NULL;
}

static void load(void)
{
    void *lib = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    find(lib, &nvml.init, "nvmlInit_v2");
    find(lib, &nvml.handle, "nvmlDeviceGetHandleByUUID");
    find(lib, &nvml.clock, "nvmlDeviceGetClockInfo");
    find(lib, &nvml.temperature, "nvmlDeviceGetTemperature");
    find(lib, &nvml.power, "nvmlDeviceGetPowerUsage");
    nvml.ready = nvml.init && nvml.handle && nvml.init() == 0;
}

static double clock_hz(void *device, int type)
{
    unsigned mhz = 0;
    if (!nvml.clock || nvml.clock(device, type, &mhz))
        return NAN;
    return 1e6 * mhz;
}

void lab_device_state_read(const struct lab_device_info *info,
                           struct lab_device_state *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *device = NULL;
    unsigned v = 0;
    *out = (struct lab_device_state){NAN, NAN, NAN, NAN};
    if (!info->uuid[0]) /* not a GPU */
        return;
    pthread_once(&once, load);
    if (!nvml.ready || nvml.handle(info->uuid, &device))
        return;
    out->sm_clock_hz = clock_hz(device, CLOCK_SM);
    out->memory_clock_hz = clock_hz(device, CLOCK_MEMORY);
    if (nvml.temperature && nvml.temperature(device, TEMPERATURE_GPU, &v) == 0)
        out->temperature_c = v;
    if (nvml.power && nvml.power(device, &v) == 0)
        out->power_w = v / 1e3;
}
