/* rates.c -- FLOP/s, bytes/s and intensity of a step, and the roof that limits
 * it, from its time and the peaks of the device. */
#include "profiler/rates.h"

#include <math.h>

#include "trace/record.h"

static double known(double v, double at_least)
{
    return isfinite(v) && v >= at_least ? v : NAN;
}

static double positive(double v)
{
    return isfinite(v) && v > 0.0 ? v : NAN;
}

/* fmax of what is known: a step with no bytes is held by its arithmetic. */
static double best_seconds(double flop, double bytes, double peak_flop_s,
                           double peak_bytes_s)
{
    double compute = flop / peak_flop_s;
    double memory = bytes / peak_bytes_s;
    if (isnan(compute) || isnan(memory))
        return NAN;
    return compute > memory ? compute : memory;
}

static enum lab_bound bound_of(const struct lab_rates *r, double flop,
                               double bytes)
{
    if (flop == 0.0 && bytes > 0.0)
        return LAB_BOUND_MEMORY;
    if (bytes == 0.0 && flop > 0.0)
        return LAB_BOUND_COMPUTE;
    if (isnan(r->intensity) || isnan(r->ridge))
        return LAB_BOUND_UNKNOWN;
    return r->intensity >= r->ridge ? LAB_BOUND_COMPUTE : LAB_BOUND_MEMORY;
}

void lab_rates_compute(struct lab_rates *out, double flop, double bytes,
                       int64_t time_ns, double peak_flop_s, double peak_bytes_s)
{
    double seconds =
        time_ns == LAB_UNKNOWN || time_ns <= 0 ? NAN : (double)time_ns * 1e-9;
    double pf = positive(peak_flop_s);
    double pb = positive(peak_bytes_s);
    flop = known(flop, 0.0);
    bytes = known(bytes, 0.0);
    struct lab_rates r = {0};
    r.flop_s = flop / seconds;
    r.bytes_s = bytes / seconds;
    r.gflop_s = r.flop_s * 1e-9;
    r.gbyte_s = r.bytes_s * 1e-9;
    r.intensity = bytes > 0.0 ? flop / bytes : NAN;
    r.ridge = pf / pb;
    r.flop_pct = 100.0 * r.flop_s / pf;
    r.bandwidth_pct = 100.0 * r.bytes_s / pb;
    double best = best_seconds(flop, bytes, pf, pb);
    r.best_ns = best * 1e9;
    r.roof_pct = 100.0 * best / seconds;
    r.bound = bound_of(&r, flop, bytes);
    *out = r;
}

const char *lab_bound_name(enum lab_bound bound)
{
    switch (bound) {
    case LAB_BOUND_COMPUTE:
        return "compute";
    case LAB_BOUND_MEMORY:
        return "memory";
    default:
        return "";
    }
}
