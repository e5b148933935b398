/* roofline.c -- how far a kernel or step is from the device's roofs, in numbers
 * and in sentences. */
#include "profiler/roofline.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "engine/ceiling.h"

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

/* ---- what bounds it, in sentences ---- */

static void add(struct lab_sentences *out, struct lab_sentence s)
{
    out->list[out->n++] = s;
}

/* A sentence of an id and its values. */
#define STATE(out, ...) add(out, (struct lab_sentence){__VA_ARGS__})

/* "Only ...", or what tuning can save before it is only that. */
static void state_left(struct lab_sentences *out, double share)
{
    if (share >= LAB_ROOFLINE_AT)
        STATE(out, LAB_SENTENCE_AT_ROOF);
    else
        STATE(out, LAB_SENTENCE_TUNING_SAVES, {100 * (1 - share)});
}

static void state_memory(struct lab_sentences *out,
                         const struct lab_roofline_work *w,
                         const struct lab_roofline_point *p, double copy)
{
    bool counted = !isnan(p->dram_bytes);
    double per_s = counted ? p->dram_bytes / w->time_ns * 1e9 : p->bytes_s;
    STATE(out, counted ? LAB_SENTENCE_MEMORY_COUNTED : LAB_SENTENCE_MEMORY,
          {per_s, 100 * per_s / copy});
    if (counted && p->dram_bytes > 1.5 * w->bytes) {
        STATE(out, LAB_SENTENCE_MOVED_TOO_MUCH, {p->dram_bytes / w->bytes});
        return;
    }
    state_left(out, per_s / copy);
    STATE(out, w->fusable ? LAB_SENTENCE_FEWER_BYTES_FUSED
                          : LAB_SENTENCE_FEWER_BYTES);
}

/* Faster than anything that was measured. */
static void state_above(struct lab_sentences *out,
                        const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p)
{
    if (w->other_algorithm)
        STATE(out, LAB_SENTENCE_OTHER_ALGORITHM);
    else if (p->counted_flop < 0.9 * w->flop)
        STATE(out, LAB_SENTENCE_FEWER_COUNTED,
              {100 * p->counted_flop / w->flop});
    else if (!isnan(p->counted_flop))
        STATE(out, LAB_SENTENCE_ROOF_TOO_LOW);
    else
        STATE(out, LAB_SENTENCE_ROOF_UNSURE);
}

/* The time that the memory roof takes for what it moves beside the problem's
 * bytes, where that is a good part of its time and no cache has to help; else
 * NaN. */
static double own_bytes_ns(const struct lab_roofline_work *w, double copy)
{
    double ns = w->own_bytes / copy * 1e9;
    bool part = w->own_bytes > 1.5 * w->bytes && ns > 0.3 * w->time_ns &&
                ns <= LAB_ROOFLINE_ABOVE * w->time_ns;
    return part ? ns : (double)NAN;
}

static void state_own_bytes(struct lab_sentences *out,
                            const struct lab_roofline_work *w, double ns)
{
    STATE(out, LAB_SENTENCE_OWN_BYTES,
          {w->own_bytes, w->own_bytes / w->bytes, ns, 100 * ns / w->time_ns});
}

static void state_compute(struct lab_sentences *out,
                          const struct lab_roofline_work *w,
                          const struct lab_roofline_point *p,
                          const double *per_s)
{
    double peak = per_s[p->arithmetic];
    double tf32 = per_s[LAB_CEILING_TF32];
    double own_ns = own_bytes_ns(w, per_s[LAB_CEILING_COPY]);
    STATE(out, LAB_SENTENCE_ARITHMETIC,
          {p->flop_s, 100 * p->flop_s / peak, p->arithmetic});
    if (p->flop_s > LAB_ROOFLINE_ABOVE * peak) {
        state_above(out, w, p);
    } else if (!isnan(own_ns)) {
        state_own_bytes(out, w, own_ns);
    } else {
        state_left(out, p->flop_s / peak);
        if (p->arithmetic == LAB_CEILING_FP32 && tf32 > 1.5 * peak)
            STATE(out, LAB_SENTENCE_TENSOR_CORES, {tf32});
        else
            STATE(out, LAB_SENTENCE_OTHER_ARITHMETIC);
    }
}

static void state_cache(struct lab_sentences *out,
                        const struct lab_roofline_point *p, double copy)
{
    STATE(out,
          isnan(p->dram_bytes) ? LAB_SENTENCE_CACHE
                               : LAB_SENTENCE_CACHE_COUNTED,
          {p->bytes_s, p->bytes_s / copy, 100 * p->dram_bytes / p->bytes});
    STATE(out, LAB_SENTENCE_LARGER_TENSORS);
}

/* ---- launches ---- */

/* More than this many launches of a step are named as the cause. */
enum { MANY_LAUNCHES = 4 };

static void state_launch(struct lab_sentences *out,
                         const struct lab_roofline_work *w,
                         const struct lab_roofline_point *p)
{
    double kernels = (double)w->kernels;
    if (!w->gpu) {
        STATE(out, LAB_SENTENCE_SHORT_STEP, {p->each_ns, p->floor_ns});
        return;
    }
    if (p->each_ns < 2 * p->floor_ns)
        STATE(out, LAB_SENTENCE_LAUNCH, {p->each_ns, p->floor_ns});
    else if (w->kernels > 1) /* traced apart, beside a time of two events */
        STATE(out, LAB_SENTENCE_LAUNCH_KERNELS,
              {kernels, w->kernels_ns, w->time_ns});
    else
        STATE(out, LAB_SENTENCE_LAUNCH_KERNEL, {w->kernels_ns, w->time_ns});
    if (w->kernels > MANY_LAUNCHES)
        STATE(out, LAB_SENTENCE_MANY_LAUNCHES, {kernels});
    else
        STATE(out, w->fusable ? LAB_SENTENCE_MORE_WORK_FUSED
                              : LAB_SENTENCE_MORE_WORK);
}

/* ---- at no roof ---- */

/* Would a gain of `factor` be a third of the way, on the logarithmic scale of the
 * roofline, to the roof, or to a kernel's start and end where these are longer?
 * Both unknown: twice as fast. */
static bool explains(double factor, const struct lab_roofline_work *w,
                     const struct lab_roofline_point *p)
{
    double left = fmax(p->best_ns, p->floor_ns) / w->time_ns; /* not the NaN */
    return isnan(left) ? factor >= 2 : factor * factor * factor >= 1 / left;
}

/* Blocks for a part of the SMs. */
static bool leaves_idle(const struct lab_roofline_work *w)
{
    return w->blocks > 0 && w->blocks < w->sm_count;
}

/* An occupancy is that of the SMs that have blocks; what the grid brings counts
 * as well. */
static bool state_few_warps(struct lab_sentences *out,
                            const struct lab_roofline_work *w)
{
    double achieved = w->counted.achieved_occupancy_pct;
    bool counted = !isnan(achieved);
    double occupancy =
        counted ? achieved
                : fmin(w->occupancy_pct, lab_roofline_grid_occupancy(w));
    /* A library's product hides latency by the many sums of each thread. */
    if (!(occupancy < 25) || w->library)
        return false;
    if (leaves_idle(w))
        STATE(out,
              counted ? LAB_SENTENCE_FEW_WARPS_ACHIEVED_SOME
                      : LAB_SENTENCE_FEW_WARPS_SOME,
              {occupancy, (double)w->blocks, (double)w->sm_count});
    else
        STATE(out,
              counted ? LAB_SENTENCE_FEW_WARPS_ACHIEVED
                      : LAB_SENTENCE_FEW_WARPS,
              {occupancy});
    return true;
}

/* The one cause that is stated, or what is left when none is seen. */
static void state_cause(struct lab_sentences *out,
                        const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p)
{
    double blocks = (double)w->blocks;
    double sms = (double)w->sm_count;
    /* Atomic additions to one address go one after the other. */
    if (w->one_address && w->flop > 0)
        STATE(out, LAB_SENTENCE_ONE_ADDRESS, {w->time_ns / w->flop});
    /* A good part of a variant's time that its kernels do not take. */
    else if (w->gpu && w->kernels_ns < 0.75 * w->time_ns)
        STATE(out,
              w->kernels > 1 ? LAB_SENTENCE_ELSEWHERE_KERNELS
                             : LAB_SENTENCE_ELSEWHERE,
              {w->kernels_ns});
    else if (w->gpu && leaves_idle(w) && explains(sms / blocks, w, p))
        STATE(out,
              w->kernels > 1 ? LAB_SENTENCE_IDLE_SMS_LARGEST
                             : LAB_SENTENCE_IDLE_SMS,
              {blocks, sms});
    else if (w->gpu && state_few_warps(out, w))
        return;
    else if (p->dram_bytes > 1.5 * w->bytes)
        STATE(out, LAB_SENTENCE_MOVED, {p->dram_bytes / w->bytes});
    else if (w->gpu) {
        STATE(out, LAB_SENTENCE_LATENCY);
        if (isnan(p->dram_bytes))
            STATE(out, LAB_SENTENCE_COUNT_IT);
    } else
        STATE(out, w->library ? LAB_SENTENCE_LIBRARY : LAB_SENTENCE_LOOP);
}

static void state_latency(struct lab_sentences *out,
                          const struct lab_roofline_work *w,
                          const struct lab_roofline_point *p, double copy)
{
    double kernels = w->kernels > 1 ? (double)w->kernels : 1;
    double own_ns = own_bytes_ns(w, copy);
    /* Against the roofs, where they allow a time that a kernel can take. */
    if (p->best_ns < p->floor_ns)
        STATE(out, LAB_SENTENCE_BELOW_FLOOR, {w->time_ns});
    else if (isnan(p->best_ns))
        STATE(out, LAB_SENTENCE_NO_ROOF, {w->time_ns});
    else
        STATE(out,
              isnan(own_ns) ? LAB_SENTENCE_NO_ROOF_BEST : LAB_SENTENCE_OWN_BEST,
              {w->time_ns, p->best_ns, 100 * p->share});
    if (isnan(own_ns))
        state_cause(out, w, p);
    else
        state_own_bytes(out, w, own_ns);
    if (w->gpu && p->each_ns < 4 * p->floor_ns) {
        if (kernels == 1)
            STATE(out, LAB_SENTENCE_START_AND_END, {p->floor_ns});
        else
            STATE(out, LAB_SENTENCE_STARTS_AND_ENDS,
                  {kernels, kernels * p->floor_ns});
    }
    /* Counters are taken while the caches hold what the step before left. */
    if (p->dram_bytes < 0.5 * w->bytes)
        STATE(out, LAB_SENTENCE_WARM, {100 * p->dram_bytes / w->bytes});
}

static void state_unknown(struct lab_sentences *out,
                          const struct lab_roofline_work *w,
                          const struct lab_roofline_point *p,
                          const double *per_s)
{
    if (!(w->time_ns > 0))
        STATE(out, LAB_SENTENCE_NO_TIME);
    else if (isnan(p->bytes) && isnan(p->flop))
        STATE(out, LAB_SENTENCE_WORK_UNKNOWN);
    else if (p->flop == 0 && p->bytes == 0)
        STATE(out, LAB_SENTENCE_NO_WORK);
    else if (isnan(per_s[LAB_CEILING_COPY]))
        STATE(out, LAB_SENTENCE_NO_CEILINGS);
    else if (p->flop > 0 && p->arithmetic < LAB_CEILING_ROOFS &&
             isnan(per_s[p->arithmetic]))
        STATE(out, LAB_SENTENCE_NO_CEILING, {p->arithmetic});
    else
        STATE(out, LAB_SENTENCE_BOUND_UNKNOWN);
}

void lab_roofline_state(struct lab_sentences *out,
                        const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p, const double *per_s)
{
    double copy = per_s[LAB_CEILING_COPY];
    *out = (struct lab_sentences){.n = 0};
    switch (p->verdict) {
    case LAB_ROOFLINE_MEMORY:
        state_memory(out, w, p, copy);
        break;
    case LAB_ROOFLINE_COMPUTE:
        state_compute(out, w, p, per_s);
        break;
    case LAB_ROOFLINE_CACHE:
        state_cache(out, p, copy);
        break;
    case LAB_ROOFLINE_LAUNCH:
        state_launch(out, w, p);
        break;
    case LAB_ROOFLINE_LATENCY:
        state_latency(out, w, p, copy);
        break;
    default:
        state_unknown(out, w, p, per_s);
    }
}
