/* machine_use.c -- a GPU's state by NVML, a CPU's energy by RAPL, and a thread that
 * samples them while a run goes on: see engine/machine_use.h.
 *
 * NVML's declarations are those of nvml.h, by value, so that no header is needed.
 * $LAPENNA_LAB_NVML names another library, $LAPENNA_LAB_POWERCAP another directory
 * than /sys/class/powercap: tests have their own. */
#include "engine/machine_use.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/thread.h"
#include "base/unknown.h"

/* ---- a GPU ---- */

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };

struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct nvml_utilization {
    unsigned gpu;
    unsigned memory;
};

static struct {
    int (*init)(void);
    int (*handle)(const char *uuid, void **device);
    int (*clock)(void *device, int type, unsigned *mhz);
    int (*temperature)(void *device, int sensor, unsigned *celsius);
    int (*power)(void *device, unsigned *milliwatts);
    int (*memory)(void *device, struct nvml_memory *out);
    int (*utilization)(void *device, struct nvml_utilization *out);
    int (*energy)(void *device, unsigned long long *millijoules);
    bool ready;
} nvml;

static void find_symbol(void *lib, void *slot, const char *name)
{
    *(void **)slot = lib ? dlsym(lib, name) : NULL;
}

static void load_nvml(void)
{
    const char *given = getenv("LAPENNA_LAB_NVML");
    void *lib =
        dlopen(given ? given : "libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    find_symbol(lib, &nvml.init, "nvmlInit_v2");
    find_symbol(lib, &nvml.handle, "nvmlDeviceGetHandleByUUID");
    find_symbol(lib, &nvml.clock, "nvmlDeviceGetClockInfo");
    find_symbol(lib, &nvml.temperature, "nvmlDeviceGetTemperature");
    find_symbol(lib, &nvml.power, "nvmlDeviceGetPowerUsage");
    find_symbol(lib, &nvml.memory, "nvmlDeviceGetMemoryInfo");
    find_symbol(lib, &nvml.utilization, "nvmlDeviceGetUtilizationRates");
    find_symbol(lib, &nvml.energy, "nvmlDeviceGetTotalEnergyConsumption");
    nvml.ready = nvml.init && nvml.handle && nvml.init() == 0;
}

static double nvml_clock_hz(void *device, int type)
{
    unsigned mhz = 0;
    if (!nvml.clock || nvml.clock(device, type, &mhz))
        return NAN;
    return 1e6 * mhz;
}

/* NULL: no GPU, or not to be asked. */
static void *nvml_device(const struct lab_device_info *info)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    void *device = NULL;
    if (!info->uuid[0])
        return NULL;
    pthread_once(&once, load_nvml);
    return nvml.ready && !nvml.handle(info->uuid, &device) ? device : NULL;
}

void lab_device_state_read(const struct lab_device_info *info,
                           struct lab_device_state *out)
{
    void *device = nvml_device(info);
    struct nvml_memory memory;
    struct nvml_utilization busy;
    unsigned long long mj = 0;
    unsigned v = 0;
    *out = (struct lab_device_state){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!device)
        return;
    out->sm_clock_hz = nvml_clock_hz(device, CLOCK_SM);
    out->memory_clock_hz = nvml_clock_hz(device, CLOCK_MEMORY);
    if (nvml.temperature && nvml.temperature(device, TEMPERATURE_GPU, &v) == 0)
        out->temperature_c = v;
    if (nvml.power && nvml.power(device, &v) == 0)
        out->power_w = v / 1e3;
    if (nvml.memory && nvml.memory(device, &memory) == 0)
        out->memory_bytes = (double)memory.used;
    if (nvml.utilization && nvml.utilization(device, &busy) == 0)
        out->utilization_pct = busy.gpu;
    if (nvml.energy && nvml.energy(device, &mj) == 0)
        out->energy_j = (double)mj / 1e3;
}

/* ---- a CPU: a counter of microjoules a package, which begins again at 0 when it
 * has reached its range ---- */

enum { MOST_PACKAGES = 16 };

struct rapl {
    int n; /* packages; 0: none that may be read */
    struct {
        int index; /* intel-rapl:INDEX */
        uint64_t last;
        uint64_t range;
    } package[MOST_PACKAGES];
    double joules;
};

static bool rapl_read(int index, const char *file, uint64_t *out)
{
    const char *given = getenv("LAPENNA_LAB_POWERCAP");
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/intel-rapl:%d/%s",
             given ? given : "/sys/class/powercap", index, file);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    char line[64] = "";
    bool read = fgets(line, sizeof(line), f) != NULL;
    (void)fclose(f);
    if (!out)
        return read && strncmp(line, "package", strlen("package")) == 0;
    char *end = line;
    *out = strtoull(line, &end, 10);
    return read && end != line;
}

/* The other domains are parts of packages, or the whole computer. */
static void rapl_open(struct rapl *r)
{
    *r = (struct rapl){0};
    for (int i = 0; i < MOST_PACKAGES; i++) {
        uint64_t now;
        uint64_t range;
        if (!rapl_read(i, "name", NULL) ||
            !rapl_read(i, "max_energy_range_uj", &range) ||
            !rapl_read(i, "energy_uj", &now))
            continue;
        r->package[r->n].index = i;
        r->package[r->n].last = now;
        r->package[r->n++].range = range;
    }
}

/* At least once a range: at 300 W they are minutes. */
static void rapl_add(struct rapl *r)
{
    for (int i = 0; i < r->n; i++) {
        uint64_t now;
        if (!rapl_read(r->package[i].index, "energy_uj", &now)) {
            r->joules = NAN;
            continue;
        }
        uint64_t last = r->package[i].last;
        uint64_t more =
            now >= last ? now - last : r->package[i].range - last + now;
        r->joules += (double)more / 1e6;
        r->package[i].last = now;
    }
}

/* ---- a run ---- */

struct lab_machine_watch {
    struct lab_device_info info;
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t ends;
    bool ending;
    struct rapl cpu;
    double energy_start_j; /* of the GPU's counter; NaN: it has none */
    double energy_now_j;
    double power_j; /* power over time, where there is no counter */
    double power_w; /* of the last sample */
    int64_t last_ns;
    double busy; /* sum of `samples` */
    int samples;
    double memory_bytes; /* the most so far */
};

static void sample(struct lab_machine_watch *w)
{
    struct lab_device_state s;
    int64_t now = lab_clock_monotonic_ns();
    rapl_add(&w->cpu);
    lab_device_state_read(&w->info, &s);
    w->power_j +=
        (w->power_w + s.power_w) / 2 * ((double)(now - w->last_ns) / 1e9);
    w->power_w = s.power_w;
    w->last_ns = now;
    w->energy_now_j = s.energy_j;
    w->memory_bytes = fmax(w->memory_bytes, s.memory_bytes);
    if (isnan(s.utilization_pct))
        return;
    w->busy += s.utilization_pct;
    w->samples++;
}

static void *watch(void *user)
{
    enum { PERIOD_NS = 200000000, SECOND_NS = 1000000000 };
    struct lab_machine_watch *w = user;
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PERIOD_NS;
        until.tv_sec += until.tv_nsec / SECOND_NS;
        until.tv_nsec %= SECOND_NS;
        pthread_cond_timedwait(&w->ends, &w->lock, &until);
        if (!w->ending)
            sample(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

enum lab_status lab_machine_watch_start(struct lab_machine_watch **out,
                                        const struct lab_device_info *info)
{
    struct lab_device_state s;
    struct rapl cpu = {0};
    bool gpu = nvml_device(info) != NULL;
    *out = NULL;
    if (!info->uuid[0])
        rapl_open(&cpu);
    if (!gpu && cpu.n == 0)
        return LAB_OK;
    struct lab_machine_watch *w = lab_alloc(sizeof(*w));
    if (!w)
        return lab_no_memory("watching the machine");
    lab_device_state_read(info, &s);
    *w = (struct lab_machine_watch){.info = *info,
                                    .cpu = cpu,
                                    .energy_start_j = s.energy_j,
                                    .energy_now_j = s.energy_j,
                                    .power_w = s.power_w,
                                    .last_ns = lab_clock_monotonic_ns(),
                                    .memory_bytes = s.memory_bytes};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ends, NULL);
    enum lab_status st = lab_thread_start(&w->thread, watch, w);
    if (st) {
        pthread_cond_destroy(&w->ends);
        pthread_mutex_destroy(&w->lock);
        lab_free(w);
        return st;
    }
    *out = w;
    return LAB_OK;
}

void lab_machine_watch_read(struct lab_machine_watch *w,
                            struct lab_machine_use *out)
{
    *out = (struct lab_machine_use){NAN, NAN, NAN, LAB_UNKNOWN};
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    sample(w);
    out->counted_j =
        w->cpu.n > 0 ? w->cpu.joules : w->energy_now_j - w->energy_start_j;
    out->energy_j =
        w->cpu.n > 0 || !isnan(out->counted_j) ? out->counted_j : w->power_j;
    if (out->counted_j == 0) /* it moves less often than a short run ends */
        out->energy_j = NAN;
    if (w->samples > 0)
        out->utilization_pct = w->busy / w->samples;
    if (!isnan(w->memory_bytes))
        out->memory_peak_bytes = (int64_t)w->memory_bytes;
    pthread_mutex_unlock(&w->lock);
}

void lab_machine_watch_free(struct lab_machine_watch *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_signal(&w->ends);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->ends);
    pthread_mutex_destroy(&w->lock);
    lab_free(w);
}
