/* roofline.c -- how far a kernel or step is from the device's roofs, in numbers
 * and in sentences. */
#include "profiler/roofline.h"

#include "base/format.h"

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

/* What bounds a step or a kernel, in words. */

enum { NUMBER = LAB_FORMAT_BYTES };

/* The last share of the way to a roof is not worth words. */
static void say_left(struct lab_str *out, double share, const char *roof)
{
    lab_str_addf(out,
                 "Tuning can save at most %.0f %% of its time (%s); beyond "
                 "that, only ",
                 100 * (1 - share), roof);
}

static void say_memory(struct lab_str *out, const struct lab_roofline_work *w,
                       const struct lab_roofline_point *p, double copy)
{
    char rate[NUMBER];
    bool counted = !isnan(p->dram_bytes);
    double per_s = counted ? p->dram_bytes / w->time_ns * 1e9 : p->bytes_s;
    bool near = per_s >= LAB_ROOFLINE_AT * copy;
    lab_format_amount(per_s, "B/s", rate, sizeof(rate));
    lab_str_addf(out, "Memory bounds it: %s%s, %.0f %% of the memory roof. ",
                 rate, counted ? " counted" : "", 100 * per_s / copy);
    if (counted && p->dram_bytes > 1.5 * w->bytes) {
        lab_str_addf(out,
                     "That is %.1f times the bytes that it needs: reading each "
                     "once would make it faster.",
                     p->dram_bytes / w->bytes);
        return;
    }
    if (!near)
        say_left(out, per_s / copy, "that roof");
    lab_str_addf(out,
                 "%s bytes, or bytes that stay in a cache%s, would make it "
                 "faster.",
                 near ? "Only fewer" : "fewer",
                 w->fusable ? " (a fused variant)" : "");
}

/* Faster than anything that was measured. */
static void say_above(struct lab_str *out, const struct lab_roofline_work *w,
                      const struct lab_roofline_point *p)
{
    if (w->other_algorithm)
        lab_str_add(out, "More than the roof, because the FLOPs are the "
                         "formula's: its algorithm finds the same result with "
                         "fewer of them.");
    else if (p->counted_flop < 0.9 * w->flop)
        lab_str_addf(out,
                     "More than the roof, because the FLOPs are the "
                     "formula's: only %.0f %% of them were counted, so its "
                     "algorithm needs fewer.",
                     100 * p->counted_flop / w->flop);
    else if (!isnan(p->counted_flop))
        lab_str_add(out, "More than the roof, and the FLOPs were counted: what "
                         "measured it did not reach what the device can do.");
    else
        lab_str_add(out, "More than the roof: what measured it was timed with "
                         "its launch or while the machine was busy (measure "
                         "it again when it is not), or this has fewer FLOPs "
                         "than the formula counts.");
}

/* What it moves beside the problem's bytes, where the memory roof makes that a
 * good part of its time and no cache has to help. */
static bool say_own_bytes(struct lab_str *out,
                          const struct lab_roofline_work *w, double copy)
{
    char bytes[NUMBER];
    char time[NUMBER];
    double ns = w->own_bytes / copy * 1e9;
    if (!(w->own_bytes > 1.5 * w->bytes) || !(ns > 0.3 * w->time_ns) ||
        !(ns <= LAB_ROOFLINE_ABOVE * w->time_ns))
        return false;
    lab_format_bytes(w->own_bytes, bytes, sizeof(bytes));
    lab_format_ns(ns, time, sizeof(time));
    lab_str_addf(out,
                 "By its model it moves %s, %.3g times what the problem needs: "
                 "%s at the memory roof, %.0f %% of its time. Fewer bytes of "
                 "its own would make it faster.",
                 bytes, w->own_bytes / w->bytes, time, 100 * ns / w->time_ns);
    return true;
}

static void say_compute(struct lab_str *out, const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p, const double *per_s)
{
    char rate[NUMBER];
    double peak = per_s[p->arithmetic];
    bool near = p->flop_s >= LAB_ROOFLINE_AT * peak;
    lab_format_amount(p->flop_s, "FLOP/s", rate, sizeof(rate));
    lab_str_addf(out, "Arithmetic bounds it: %s, %.0f %% of the %s roof. ",
                 rate, 100 * p->flop_s / peak, lab_ceiling_name(p->arithmetic));
    if (p->flop_s > LAB_ROOFLINE_ABOVE * peak) {
        say_above(out, w, p);
        return;
    }
    if (say_own_bytes(out, w, per_s[LAB_CEILING_COPY]))
        return;
    if (!near)
        say_left(out, p->flop_s / peak, "that roof");
    lab_str_addf(out, "%s FLOPs would make it faster, or ",
                 near ? "Only fewer" : "fewer");
    if (p->arithmetic == LAB_CEILING_FP32 &&
        per_s[LAB_CEILING_TF32] > 1.5 * peak) {
        lab_format_amount(per_s[LAB_CEILING_TF32], "FLOP/s", rate,
                          sizeof(rate));
        lab_str_addf(out, "tensor cores: products in tf32 reach %s.", rate);
    } else
        lab_str_add(out, "another kind of arithmetic.");
}

static void say_cache(struct lab_str *out, const struct lab_roofline_point *p,
                      double copy)
{
    char rate[NUMBER];
    lab_format_amount(p->bytes_s, "B/s", rate, sizeof(rate));
    lab_str_addf(out,
                 "Caches feed it: by the formula it moves %s, %.2g times the "
                 "memory roof",
                 rate, p->bytes_s / copy);
    if (!isnan(p->dram_bytes))
        lab_str_addf(out, ", and %.0f %% of those bytes were counted in DRAM",
                     100 * p->dram_bytes / p->bytes);
    lab_str_add(out, ". With larger tensors the memory's roof will hold it.");
}

/* ---- launches ---- */

/* Kernels that were traced apart, beside a time between two events. */
static void say_kernels(struct lab_str *out, const struct lab_roofline_work *w)
{
    char time[NUMBER];
    char kernels[NUMBER];
    lab_format_ns(w->time_ns, time, sizeof(time));
    lab_format_ns(w->kernels_ns, kernels, sizeof(kernels));
    if (w->kernels > 1)
        lab_str_addf(out,
                     "Launching bounds it: its %lld kernels work for %s of %s.",
                     (long long)w->kernels, kernels, time);
    else
        lab_str_addf(out, "Launching bounds it: its kernel works for %s of %s.",
                     kernels, time);
}

/* More than this many launches of a step are named as the cause. */
enum { MANY_LAUNCHES = 4 };

static void say_launch(struct lab_str *out, const struct lab_roofline_work *w,
                       const struct lab_roofline_point *p)
{
    char each[NUMBER];
    char least[NUMBER];
    lab_format_ns(p->each_ns, each, sizeof(each));
    lab_format_ns(p->floor_ns, least, sizeof(least));
    if (!w->gpu) {
        lab_str_addf(out,
                     "It is so short (%s) that calling it and reading the "
                     "clock are most of it: the shortest step on this device "
                     "takes %s.",
                     each, least);
        return;
    }
    if (!(p->each_ns < 2 * p->floor_ns))
        say_kernels(out, w);
    else
        lab_str_addf(out,
                     "Launching bounds it: %s a kernel, where the shortest "
                     "kernel on this device takes %s.",
                     each, least);
    if (w->kernels > MANY_LAUNCHES)
        lab_str_addf(out,
                     " It is %lld launches: one kernel for all of them, or a "
                     "CUDA graph, would help.",
                     (long long)w->kernels);
    else
        lab_str_addf(out, " More work in a launch would help (%s%s).",
                     w->fusable ? "a fused variant, " : "", "a larger batch");
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

static bool say_idle(struct lab_str *out, const struct lab_roofline_work *w,
                     const struct lab_roofline_point *p)
{
    if (w->blocks <= 0 || w->blocks >= w->sm_count ||
        !explains((double)w->sm_count / (double)w->blocks, w, p))
        return false;
    lab_str_addf(out, "Its %s %lld block%s for %lld SMs: the others are idle.",
                 w->kernels > 1 ? "largest grid has" : "grid has",
                 (long long)w->blocks, w->blocks == 1 ? "" : "s",
                 (long long)w->sm_count);
    return true;
}

/* Of the SMs that have blocks; what the grid brings counts as well. */
static double occupancy_of(const struct lab_roofline_work *w)
{
    double achieved = w->counted.achieved_occupancy_pct;
    return isnan(achieved)
               ? fmin(w->occupancy_pct, lab_roofline_grid_occupancy(w))
               : achieved;
}

/* "occupancy 8 %, of the 4 of 132 SMs that have a block" */
static void occupancy_text(const struct lab_roofline_work *w, char *out,
                           size_t cap)
{
    bool achieved = !isnan(w->counted.achieved_occupancy_pct);
    int n = snprintf(out, cap, "%s occupancy %.2g %%",
                     achieved ? "achieved" : "at most", occupancy_of(w));
    if (w->blocks > 0 && w->blocks < w->sm_count && n > 0 && (size_t)n < cap)
        snprintf(out + n, cap - (size_t)n,
                 " of the %lld of %lld SMs that have a block",
                 (long long)w->blocks, (long long)w->sm_count);
}

static bool say_few_warps(struct lab_str *out,
                          const struct lab_roofline_work *w)
{
    char text[96];
    /* A library's product hides latency by the many sums of each thread. */
    if (!(occupancy_of(w) < 25) || w->library)
        return false;
    occupancy_text(w, text, sizeof(text));
    lab_str_addf(out, "Too few warps are resident to hide latency (%s).", text);
    return true;
}

/* Atomic additions to one address go one after the other. */
static bool say_one_address(struct lab_str *out,
                            const struct lab_roofline_work *w)
{
    char each[NUMBER];
    if (!w->one_address || !(w->flop > 0))
        return false;
    lab_format_ns(w->time_ns / w->flop, each, sizeof(each));
    lab_str_addf(out,
                 "Every thread adds to one address, and such additions go one "
                 "after the other: one in %s. Sums of a block first, then one "
                 "addition a block, would help.",
                 each);
    return true;
}

static bool say_moved(struct lab_str *out, const struct lab_roofline_work *w,
                      const struct lab_roofline_point *p)
{
    if (!(p->dram_bytes > 1.5 * w->bytes))
        return false;
    lab_str_addf(out,
                 "It moves %.1f times the bytes that it needs (counted): look "
                 "at how neighbours in a warp read.",
                 p->dram_bytes / w->bytes);
    return true;
}

/* A good part of a rung's time that its kernels, traced apart, do not take. */
static bool say_elsewhere(struct lab_str *out,
                          const struct lab_roofline_work *w)
{
    char kernels[NUMBER];
    if (!w->gpu || !(w->kernels_ns < 0.75 * w->time_ns))
        return false;
    lab_format_ns(w->kernels_ns, kernels, sizeof(kernels));
    lab_str_addf(out,
                 "Its kernel%s, traced apart, take%s %s of that: the rest is "
                 "launches, copies, or caches that are cold in a timed one.",
                 w->kernels > 1 ? "s" : "", w->kernels > 1 ? "" : "s", kernels);
    return true;
}

static void say_cause(struct lab_str *out, const struct lab_roofline_work *w,
                      const struct lab_roofline_point *p)
{
    if (say_one_address(out, w) || say_elsewhere(out, w) ||
        (w->gpu && (say_idle(out, w, p) || say_few_warps(out, w))) ||
        say_moved(out, w, p))
        return;
    if (w->gpu)
        lab_str_addf(out,
                     "Latency, the order of its reads, or idle units hold it "
                     "back.%s",
                     isnan(p->dram_bytes) ? " Counters (--counters) say more."
                                          : "");
    else if (w->library)
        lab_str_add(out, "It is a library's kernel, and what it does inside is "
                         "not seen here: small or narrow problems keep such a "
                         "kernel from its rate.");
    else
        lab_str_add(out, "Its loop holds it back: no vector instructions, or "
                         "the order in which it reads memory. Other variants "
                         "of the step show what the processor can do.");
}

/* Counters are taken while the caches hold what the step before has left. */
static void say_warm(struct lab_str *out, const struct lab_roofline_work *w,
                     const struct lab_roofline_point *p)
{
    if (p->dram_bytes < 0.5 * w->bytes)
        lab_str_addf(out,
                     " Only %.2g %% of its bytes came from DRAM or went there: "
                     "the rest was in the caches, which were warm.",
                     100 * p->dram_bytes / w->bytes);
}

static void say_floor(struct lab_str *out, const struct lab_roofline_work *w,
                      const struct lab_roofline_point *p)
{
    char least[NUMBER];
    long long kernels = w->kernels > 1 ? (long long)w->kernels : 1;
    if (!w->gpu || !(p->each_ns < 4 * p->floor_ns))
        return;
    lab_format_ns((double)kernels * p->floor_ns, least, sizeof(least));
    if (kernels == 1)
        lab_str_addf(out, " The start and end of a kernel take %s.", least);
    else
        lab_str_addf(out, " The start and end of %lld kernels take %s.",
                     kernels, least);
}

/* Against the roofs, where what they allow is a time that a kernel can take. */
static void say_distance(struct lab_str *out, const struct lab_roofline_work *w,
                         const struct lab_roofline_point *p, bool own)
{
    char best[NUMBER];
    char time[NUMBER];
    lab_format_ns(w->time_ns, time, sizeof(time));
    lab_format_ns(p->best_ns, best, sizeof(best));
    if (p->best_ns < p->floor_ns)
        lab_str_addf(out,
                     "Neither roof limits it: its work is less than a kernel's "
                     "start and end, and it takes %s. ",
                     time);
    else if (isnan(p->best_ns))
        lab_str_addf(out, "Neither roof limits it: %s. ", time);
    else
        lab_str_addf(out, "%s: %s, where the roofs alone allow %s (%.2g %%). ",
                     own ? "The problem's own bytes do not limit it"
                         : "Neither roof limits it",
                     time, best, 100 * p->share);
}

static void say_latency(struct lab_str *out, const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p, double copy)
{
    struct lab_str own;
    lab_str_init(&own);
    bool moves = say_own_bytes(&own, w, copy);
    say_distance(out, w, p, moves);
    if (moves)
        lab_str_add(out, lab_str_text(&own));
    else
        say_cause(out, w, p);
    out->failed |= own.failed;
    lab_str_release(&own);
    say_floor(out, w, p);
    say_warm(out, w, p);
}

static void say_unknown(struct lab_str *out, const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p, const double *per_s)
{
    if (!(w->time_ns > 0))
        lab_str_add(out, "No time is known.");
    else if (isnan(p->bytes) && isnan(p->flop))
        lab_str_add(out, "Its work is not known: no formula, and no counters "
                         "were taken.");
    else if (p->flop == 0 && p->bytes == 0)
        lab_str_add(out, "It does no work of its own.");
    else if (isnan(per_s[LAB_CEILING_COPY]))
        lab_str_add(out, "No ceiling of this device is known: `lapenna-lab "
                         "profile ceilings` measures them.");
    else if (p->flop > 0 && p->arithmetic < LAB_CEILING_ROOFS &&
             isnan(per_s[p->arithmetic]))
        lab_str_addf(out,
                     "The ceiling of %s is not known here: `lapenna-lab "
                     "profile ceilings` measures it.",
                     lab_ceiling_name(p->arithmetic));
    else
        lab_str_add(out, "What would bound it is not known: a ceiling, or a "
                         "part of its work, is missing.");
}

void lab_roofline_say(struct lab_str *out, const struct lab_roofline_work *w,
                      const struct lab_roofline_point *p, const double *per_s)
{
    switch (p->verdict) {
    case LAB_ROOFLINE_MEMORY:
        say_memory(out, w, p, per_s[LAB_CEILING_COPY]);
        break;
    case LAB_ROOFLINE_COMPUTE:
        say_compute(out, w, p, per_s);
        break;
    case LAB_ROOFLINE_CACHE:
        say_cache(out, p, per_s[LAB_CEILING_COPY]);
        break;
    case LAB_ROOFLINE_LAUNCH:
        say_launch(out, w, p);
        break;
    case LAB_ROOFLINE_LATENCY:
        say_latency(out, w, p, per_s[LAB_CEILING_COPY]);
        break;
    default:
        say_unknown(out, w, p, per_s);
    }
}
