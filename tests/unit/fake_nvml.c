/* A libnvidia-ml that the test plays: one GPU. See fake_nvml.h. */
#include "fake_nvml.h"

#include <string.h>

struct fake_nvml fake_nvml;

/* Declared as nvml.h has them; the engine finds them by name. */
int nvmlInit_v2(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetMemoryInfo(void *device, unsigned long long out[3]);
int nvmlDeviceGetUtilizationRates(void *device, unsigned out[2]);
int nvmlDeviceGetTotalEnergyConsumption(void *device,
                                        unsigned long long *millijoules);

enum { NOT_SUPPORTED = 3, NOT_FOUND = 6 };

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    *device = &fake_nvml;
    return strcmp(uuid, FAKE_NVML_UUID) == 0 ? 0 : NOT_FOUND;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *mhz)
{
    (void)device;
    *mhz = type == 1 ? 1980 : 2619;
    return 0;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    (void)device;
    (void)sensor;
    *celsius = 41;
    return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = fake_nvml.power_mw;
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, unsigned long long out[3])
{
    (void)device;
    out[0] = 1000;
    out[1] = 1000 - fake_nvml.used_bytes;
    out[2] = fake_nvml.used_bytes;
    return 0;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned out[2])
{
    (void)device;
    out[0] = fake_nvml.busy_pct;
    out[1] = 1;
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device,
                                        unsigned long long *millijoules)
{
    (void)device;
    *millijoules = fake_nvml.energy_mj;
    return fake_nvml.no_energy ? NOT_SUPPORTED : 0;
}
