/* What bounds a step or a kernel, in words. */
#include <math.h>
#include <stdio.h>

#include "engine/ceiling.h"
#include "profiler/roofline.h"
#include "trace/record.h"

static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
enum { PREFIXES = sizeof(prefixes) / sizeof(prefixes[0]), NUMBER = 32 };

void lab_roofline_rate(double per_s, const char *unit, char out[32])
{
    int i = 0;
    if (isnan(per_s)) {
        snprintf(out, NUMBER, "n/a");
        return;
    }
    for (; i < PREFIXES - 1 && per_s >= 999.5; i++)
        per_s /= 1000;
    snprintf(out, NUMBER, "%.3g %s%.8s", per_s, prefixes[i], unit);
}

static void time_text(double ns, char out[NUMBER])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int i = 0;
    for (; i < 3 && ns >= 999.5; i++)
        ns /= 1000;
    snprintf(out, NUMBER, "%.3g %s", ns, units[i]);
}

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
    lab_roofline_rate(per_s, "B/s", rate);
    lab_str_addf(out,
                 "Memory bounds it: %s%s, %.0f %% of what a copy reaches. ",
                 rate, counted ? " counted" : "", 100 * per_s / copy);
    if (counted && p->dram_bytes > 1.5 * w->bytes) {
        lab_str_addf(out,
                     "That is %.1f times the bytes that it needs: reading each "
                     "once would make it faster.",
                     p->dram_bytes / w->bytes);
        return;
    }
    if (!near)
        say_left(out, per_s / copy, "a copy's rate");
    lab_str_addf(out,
                 "%s bytes, or bytes that stay in a cache%s, would make it "
                 "faster.",
                 near ? "Only fewer" : "fewer",
                 w->fusable ? " (a fused variant)" : "");
}

/* Faster than large products, which are the ceiling. */
static void say_above(struct lab_str *out, const struct lab_roofline_work *w,
                      const struct lab_roofline_point *p)
{
    if (w->other_algorithm)
        lab_str_add(out, "More than the ceiling, because the FLOPs are the "
                         "formula's: its algorithm finds the same result with "
                         "fewer of them.");
    else if (p->counted_flop < 0.9 * w->flop)
        lab_str_addf(out,
                     "More than the ceiling, because the FLOPs are the "
                     "formula's: only %.0f %% of them were counted, so its "
                     "algorithm needs fewer.",
                     100 * p->counted_flop / w->flop);
    else if (!isnan(p->counted_flop))
        lab_str_add(out, "More than the ceiling, and the FLOPs were counted: "
                         "the products that measured the ceiling did not reach "
                         "what the device can do.");
    else
        lab_str_add(out, "More than the ceiling: it was measured while the "
                         "machine was busy (measure it again when it is not), "
                         "or this kernel does less beside its arithmetic than "
                         "the products that measured it, or has fewer FLOPs "
                         "than the formula counts.");
}

static void say_compute(struct lab_str *out, const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p, const double *per_s)
{
    char rate[NUMBER];
    double peak = per_s[p->arithmetic];
    bool near = p->flop_s >= LAB_ROOFLINE_AT * peak;
    lab_roofline_rate(p->flop_s, "FLOP/s", rate);
    lab_str_addf(out,
                 "Arithmetic bounds it: %s, %.0f %% of what large products in "
                 "%s reach. ",
                 rate, 100 * p->flop_s / peak, lab_ceiling_name(p->arithmetic));
    if (p->flop_s > LAB_ROOFLINE_ABOVE * peak) {
        say_above(out, w, p);
        return;
    }
    if (!near)
        say_left(out, p->flop_s / peak, "their rate");
    lab_str_addf(out, "%s FLOPs would make it faster, or ",
                 near ? "Only fewer" : "fewer");
    if (p->arithmetic == LAB_CEILING_FP32 &&
        per_s[LAB_CEILING_TF32] > 1.5 * peak) {
        lab_roofline_rate(per_s[LAB_CEILING_TF32], "FLOP/s", rate);
        lab_str_addf(out, "tensor cores: products in tf32 reach %s.", rate);
    } else
        lab_str_add(out, "another kind of arithmetic.");
}

static void say_cache(struct lab_str *out, const struct lab_roofline_point *p,
                      double copy)
{
    char rate[NUMBER];
    lab_roofline_rate(p->bytes_s, "B/s", rate);
    lab_str_addf(out,
                 "Caches feed it: by the formula it moves %s, %.2g times what "
                 "a copy in memory reaches",
                 rate, p->bytes_s / copy);
    if (!isnan(p->dram_bytes))
        lab_str_addf(out, ", and %.0f %% of those bytes were counted in DRAM",
                     100 * p->dram_bytes / p->bytes);
    lab_str_add(out, ". With larger tensors the memory's roof will hold it.");
}

/* ---- neither ---- */

static double each_ns(const struct lab_roofline_work *w)
{
    return w->time_ns / (w->kernels > 0 ? (double)w->kernels : 1);
}

static bool floor_known(const struct lab_roofline_work *w)
{
    return w->gpu && w->floor_ns > 0 && w->floor_ns <= LAB_ROOFLINE_FLOOR_NS;
}

/* What a kernel takes that has nothing to do. */
static double floor_of(const struct lab_roofline_work *w)
{
    return floor_known(w) ? w->floor_ns : LAB_ROOFLINE_FLOOR_NS;
}

/* On a processor calling a function and reading the clock twice is short. */
static bool is_short(const struct lab_roofline_work *w,
                     const struct lab_roofline_point *p)
{
    double limit = w->gpu ? 2 * floor_of(w) : 1000;
    return each_ns(w) < limit &&
           (isnan(p->best_ns) || p->best_ns < w->time_ns / 4);
}

static void say_short(struct lab_str *out, const struct lab_roofline_work *w)
{
    char each[NUMBER];
    char least[NUMBER];
    time_text(each_ns(w), each);
    time_text(w->floor_ns, least);
    if (!w->gpu) {
        lab_str_addf(out,
                     "It is so short (%s) that calling it and reading the "
                     "clock are most of it.",
                     each);
        return;
    }
    lab_str_addf(out, "It is too short for this device: %s a kernel", each);
    if (floor_known(w))
        lab_str_addf(out,
                     ", and the shortest of this run takes %s: most of that "
                     "is a kernel's start and end.",
                     least);
    else
        lab_str_add(out, " is mostly its start and end.");
    lab_str_addf(out, " More work in a launch would help (a larger batch%s).",
                 w->fusable ? ", a fused variant" : "");
}

/* Would a gain of `factor` be a third of the way to the roof, on the scale of
 * the roofline, which is logarithmic? A roof unknown: twice as fast. */
static bool explains(double factor, const struct lab_roofline_point *p)
{
    return isnan(p->share) ? factor >= 2
                           : factor * factor * factor >= 1 / p->share;
}

static bool say_idle(struct lab_str *out, const struct lab_roofline_work *w,
                     const struct lab_roofline_point *p)
{
    if (w->blocks == LAB_UNKNOWN || w->blocks <= 0 ||
        w->sm_count == LAB_UNKNOWN || w->blocks >= w->sm_count ||
        !explains((double)w->sm_count / (double)w->blocks, p))
        return false;
    lab_str_addf(out,
                 "Its grid has %lld block%s for %lld SMs: the others are idle.",
                 (long long)w->blocks, w->blocks == 1 ? "" : "s",
                 (long long)w->sm_count);
    return true;
}

static bool say_few_warps(struct lab_str *out,
                          const struct lab_roofline_work *w)
{
    double achieved = w->counted.achieved_occupancy_pct;
    double occupancy = isnan(achieved) ? w->occupancy_pct : achieved;
    /* A library's product hides latency by the many sums of each thread. */
    if (!(occupancy < 25) || w->library)
        return false;
    lab_str_addf(out,
                 "Too few warps are resident to hide latency (%s occupancy "
                 "%.0f %%).",
                 isnan(achieved) ? "at most" : "achieved", occupancy);
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

static void say_cause(struct lab_str *out, const struct lab_roofline_work *w,
                      const struct lab_roofline_point *p)
{
    if (w->gpu && (say_idle(out, w, p) || say_few_warps(out, w)))
        return;
    if (say_moved(out, w, p))
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

/* The cause, and what start and end take where that is a good part too. */
static void say_waiting(struct lab_str *out, const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p)
{
    char least[NUMBER];
    long long kernels = w->kernels > 1 ? (long long)w->kernels : 1;
    say_cause(out, w, p);
    if (!floor_known(w) || each_ns(w) >= 4 * w->floor_ns)
        return;
    time_text((double)kernels * w->floor_ns, least);
    if (kernels == 1)
        lab_str_addf(out, " The start and end of a kernel take %s.", least);
    else
        lab_str_addf(out, " The start and end of %lld kernels take %s.",
                     kernels, least);
}

static void say_neither(struct lab_str *out, const struct lab_roofline_work *w,
                        const struct lab_roofline_point *p)
{
    char best[NUMBER];
    char time[NUMBER];
    char occupancy[80] = "";
    time_text(w->time_ns, time);
    time_text(p->best_ns, best);
    if (!isnan(w->counted.achieved_occupancy_pct))
        snprintf(occupancy, sizeof(occupancy), ", at %.0f %% occupancy",
                 w->counted.achieved_occupancy_pct);
    else if (w->gpu && !isnan(w->occupancy_pct))
        snprintf(occupancy, sizeof(occupancy), ", occupancy %.0f %% at most",
                 w->occupancy_pct);
    if (isnan(p->best_ns))
        lab_str_addf(out, "Neither roof limits it: %s%s. ", time, occupancy);
    else
        lab_str_addf(out,
                     "Neither roof limits it: %s, where the roofs alone allow "
                     "%s (%.2g %%%s). ",
                     time, best, 100 * p->share, occupancy);
    if (is_short(w, p))
        say_short(out, w);
    else
        say_waiting(out, w, p);
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
    case LAB_ROOFLINE_NEITHER:
        say_neither(out, w, p);
        break;
    default:
        say_unknown(out, w, p, per_s);
    }
}
