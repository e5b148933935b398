#include "profiler/roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "engine/ceiling.h"
#include "trace/record.h"

/* The one table of the words for what bounds a step. */
static const struct {
    const char *name;
    const char *text;
} verdicts[LAB_ROOFLINE_VERDICTS] = {
    [LAB_ROOFLINE_UNKNOWN] = {"", ""},
    [LAB_ROOFLINE_MEMORY] = {"memory", "memory-bound: at 60 % of the memory "
                                       "roof or above"},
    [LAB_ROOFLINE_COMPUTE] = {"compute", "compute-bound: at 60 % of the roof "
                                         "of its arithmetic or above"},
    [LAB_ROOFLINE_CACHE] = {"cache", "cache-bound: faster than memory could "
                                     "feed it, so caches do"},
    [LAB_ROOFLINE_LAUNCH] = {"launch", "launch-bound: at least half of its "
                                       "time is the launch, start and end of "
                                       "its kernels; the roofs do not apply"},
    [LAB_ROOFLINE_LATENCY] = {"latency", "latency-bound: below 60 % of every "
                                         "roof; it waits for memory, for its "
                                         "own results, or has too few threads "
                                         "at work"},
};

const char *lab_roofline_verdict_name(enum lab_roofline_verdict verdict)
{
    return (unsigned)verdict < LAB_ROOFLINE_VERDICTS ? verdicts[verdict].name
                                                     : "";
}

const char *lab_roofline_verdict_text(enum lab_roofline_verdict verdict)
{
    return (unsigned)verdict < LAB_ROOFLINE_VERDICTS ? verdicts[verdict].text
                                                     : "";
}

enum lab_roofline_verdict lab_roofline_verdict_find(const char *word)
{
    size_t n = strlen(word);
    if (n < 3)
        return LAB_ROOFLINE_UNKNOWN;
    for (int i = 1; i < LAB_ROOFLINE_VERDICTS; i++)
        if (strncasecmp(verdicts[i].name, word, n) == 0)
            return (enum lab_roofline_verdict)i;
    return strncasecmp("arithmetic", word, n) == 0 ? LAB_ROOFLINE_COMPUTE
                                                   : LAB_ROOFLINE_UNKNOWN;
}

double lab_roofline_grid_occupancy(const struct lab_roofline_work *w)
{
    if (w->blocks <= 0 || w->threads_per_block <= 0 || w->sm_count <= 0 ||
        w->max_warps_per_sm <= 0)
        return NAN;
    double warps = ceil((double)w->threads_per_block / 32);
    double blocks = ceil((double)w->blocks / (double)w->sm_count);
    return 100 * fmin(1, warps * blocks / (double)w->max_warps_per_sm);
}

enum lab_ceiling lab_roofline_precision(const char *name)
{
    int i = LAB_CEILING_FP32;
    while (name && i < LAB_CEILING_ROOFS &&
           strcmp(lab_ceiling_name((enum lab_ceiling)i), name) != 0)
        i++;
    return name && i < LAB_CEILING_ROOFS ? (enum lab_ceiling)i
                                         : LAB_CEILING_COUNT;
}

/* ---- placing ---- */

/* What the tensor cores did most of, where they did more than the lanes. */
static enum lab_ceiling kind_of(const struct lab_roofline_work *w)
{
    const struct lab_counters *c = &w->counted;
    const struct {
        double flop;
        enum lab_ceiling kind;
    } kinds[] = {{c->fp32_flop, LAB_CEILING_FP32},
                 {c->tf32_flop, LAB_CEILING_TF32},
                 {c->bf16_flop, LAB_CEILING_BF16},
                 {c->fp16_tensor_flop, LAB_CEILING_FP16}};
    enum lab_ceiling best = LAB_CEILING_COUNT;
    double most = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (kinds[i].flop > most) {
            most = kinds[i].flop;
            best = kinds[i].kind;
        }
    }
    return best == LAB_CEILING_COUNT ? w->arithmetic : best;
}

static double roof_of(const double *per_s, enum lab_ceiling ceiling)
{
    double v = ceiling < LAB_CEILING_ROOFS ? per_s[ceiling] : NAN;
    return isfinite(v) && v > 0 ? v : NAN;
}

/* Half of its time is no work of its kernels, or their start and end. */
static bool is_launch_bound(const struct lab_roofline_work *w,
                            const struct lab_roofline_point *p)
{
    if (p->best_ns >= w->time_ns / 4)
        return false;
    double launches = w->kernels > 0 ? (double)w->kernels : 1;
    if (w->gpu && w->kernels_ns < w->time_ns / 2 &&
        w->time_ns - w->kernels_ns < 2 * launches * w->launch_ns)
        return true;
    return p->each_ns < 2 * p->floor_ns;
}

/* What bounds it. Where the hardware has counted, its figures are what the
 * device really did; else the formula's stand for them. */
static enum lab_roofline_verdict judge(const struct lab_roofline_work *w,
                                       const struct lab_roofline_point *p,
                                       const double *per_s)
{
    double s = w->time_ns * 1e-9;
    double copy = roof_of(per_s, LAB_CEILING_COPY);
    double peak = roof_of(per_s, p->arithmetic);
    bool counted = !isnan(p->dram_bytes);
    double memory = (counted ? p->dram_bytes : p->bytes) / s / copy;
    double compute = p->flop / s / peak;
    if (isnan(p->share) && !counted)
        return LAB_ROOFLINE_UNKNOWN;
    memory = isnan(memory) ? 0 : memory;
    compute = isnan(compute) ? 0 : compute;
    if (compute >= LAB_ROOFLINE_BOUND && compute >= memory)
        return LAB_ROOFLINE_COMPUTE;
    if (!counted && memory > LAB_ROOFLINE_ABOVE)
        return LAB_ROOFLINE_CACHE;
    if (memory >= LAB_ROOFLINE_BOUND)
        return LAB_ROOFLINE_MEMORY;
    if (counted && p->bytes / s / copy >= LAB_ROOFLINE_BOUND)
        return LAB_ROOFLINE_CACHE;
    return is_launch_bound(w, p) ? LAB_ROOFLINE_LAUNCH : LAB_ROOFLINE_LATENCY;
}

/* Which roof is above it, and the time that this roof allows. */
static void find_roof(struct lab_roofline_point *p, double peak, double copy)
{
    double compute = p->flop / peak;
    double memory = p->bytes / copy;
    p->roof = LAB_CEILING_COUNT;
    p->best_ns = NAN;
    if (p->flop > 0 && p->bytes > 0 && (isnan(compute) || isnan(memory)))
        return;
    if (p->bytes > 0 && !(compute >= memory)) {
        p->roof = LAB_CEILING_COPY;
        p->best_ns = memory * 1e9;
    } else if (p->flop > 0 && !(memory > compute)) {
        p->roof = p->arithmetic;
        p->best_ns = compute * 1e9;
    }
}

static double known(double v)
{
    return isfinite(v) && v >= 0 ? v : NAN;
}

void lab_roofline_place(struct lab_roofline_point *out,
                        const struct lab_roofline_work *w, const double *per_s)
{
    struct lab_roofline_point p = {.arithmetic = kind_of(w)};
    double copy = roof_of(per_s, LAB_CEILING_COPY);
    double peak = roof_of(per_s, p.arithmetic);
    bool timed = isfinite(w->time_ns) && w->time_ns > 0;
    double s = timed ? w->time_ns * 1e-9 : NAN;
    p.counted_flop = known(lab_counters_flop_beside(&w->counted, w->flop));
    p.counted_least = known(lab_counters_flop(&w->counted));
    p.dram_bytes =
        known(w->counted.dram_read_bytes + w->counted.dram_write_bytes);
    p.counted_intensity =
        p.dram_bytes > 0 ? p.counted_flop / p.dram_bytes : (double)NAN;
    p.flop = isnan(known(w->flop)) ? p.counted_flop : w->flop;
    p.bytes = isnan(known(w->bytes)) ? p.dram_bytes : w->bytes;
    p.intensity = p.bytes > 0 ? p.flop / p.bytes : (double)NAN;
    p.each_ns = w->time_ns / (w->kernels > 0 ? (double)w->kernels : 1);
    bool floor = w->floor_ns > 0 && w->floor_ns <= LAB_ROOFLINE_FLOOR_NS;
    p.floor_ns = floor ? w->floor_ns : (double)NAN;
    p.flop_s = p.flop / s;
    p.bytes_s = p.bytes / s;
    find_roof(&p, peak, copy);
    p.roof_per_s = roof_of(per_s, p.roof);
    p.share = p.best_ns * 1e-9 / s;
    bool both = !isnan(peak) && !isnan(copy) && p.intensity > 0;
    p.allowed_flop_s = both ? fmin(peak, p.intensity * copy) : (double)NAN;
    p.verdict = timed ? judge(w, &p, per_s) : LAB_ROOFLINE_UNKNOWN;
    *out = p;
}
