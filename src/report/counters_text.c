/* counters_text.c -- hardware counters as text for the screen and --plain.
 *
 * A line a fact that the counters of a step or kernel have, beside what the
 * formula expects. Also the reason why counted FLOPs are not used in a
 * roofline. */
#include "report/counters_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/format.h"

struct lines {
    const struct lab_counters *c;
    const struct lab_counters_beside *beside;
    lab_counters_line_fn *each;
    void *user;
};

static void put(const struct lines *l, const char *name, const char *fmt, ...)
    LAB_PRINTF(3, 4);
static void put(const struct lines *l, const char *name, const char *fmt, ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    l->each(l->user, name, text);
}

static void occupancy(const struct lines *l)
{
    double achieved = l->c->achieved_occupancy_pct;
    double possible = l->beside->occupancy_pct;
    if (!isnan(achieved) && isnan(possible))
        put(l, "counted", "occupancy %.1f %% achieved", achieved);
    else if (!isnan(achieved))
        put(l, "counted", "occupancy %.1f %% achieved, %.0f %% possible",
            achieved, possible);
}

const char *lab_counters_flop_reason(const struct lab_counters *c, double flop,
                                     bool update)
{
    double counted = lab_counters_flop(c);
    if (isnan(counted) || isnan(flop) ||
        fabs(counted - flop) <= 0.01 * (flop > 1 ? flop : 1))
        return "";
    if (isnan(lab_counters_flop_beside(c, flop)))
        return "fewer: double and half precision were not counted (--counters "
               "full counts them); comparisons, divisions, roots and "
               "exponentials are not FLOPs, and products with what is out of "
               "bounds are left out";
    if (counted < flop)
        return "fewer: comparisons, divisions, roots and exponentials are not "
               "counted as FLOPs, and products with what is out of bounds are "
               "left out";
    if (c->tensor_flop > 0)
        return "more: tensor cores work on whole tiles, padding included";
    if (update)
        return "more: weight decay and bias corrections, and a root or a "
               "division is made of several operations";
    return "more: padding to whole tiles, an exponential made of several "
           "operations, indices computed in floats";
}

static void work(const struct lines *l)
{
    const struct lab_counters *c = l->c;
    double counted = lab_counters_flop(c);
    double flop = l->beside->flop;
    const char *reason = lab_counters_flop_reason(c, flop, l->beside->update);
    const char *open = reason[0] ? " (" : "";
    const char *close = reason[0] ? ")" : "";
    bool all = !isnan(lab_counters_flop_beside(c, flop));
    if (isnan(counted))
        return;
    if (!(flop > 0))
        put(l, "work", "%s%s%s%s%s", all ? "" : "at least ",
            LAB_FLOP_TEXT(counted), open, reason, close);
    else if (all)
        put(l, "work", "%s, %+.1f %% of the formula's %s%s%s%s",
            LAB_FLOP_TEXT(counted), (counted / flop - 1) * 100,
            LAB_FLOP_TEXT(flop), open, reason, close);
    else
        put(l, "work", "at least %s of the formula's %s%s%s%s",
            LAB_FLOP_TEXT(counted), LAB_FLOP_TEXT(flop), open, reason, close);
    if (c->tensor_flop > 0 && isnan(c->tensor_active_pct))
        put(l, "tensor", "%s on tensor cores", LAB_FLOP_TEXT(c->tensor_flop));
    else if (c->tensor_flop > 0)
        put(l, "tensor",
            "%s on tensor cores, which were busy %.1f %% of the time",
            LAB_FLOP_TEXT(c->tensor_flop), c->tensor_active_pct);
}

static void memory(const struct lines *l)
{
    const char *read = LAB_BYTES_TEXT(l->c->dram_read_bytes);
    const char *written = LAB_BYTES_TEXT(l->c->dram_write_bytes);
    if (isnan(l->c->dram_read_bytes) || isnan(l->c->dram_write_bytes))
        return;
    if (l->beside->bytes > 0)
        put(l, "DRAM",
            "%s read, %s written; the tensors are %s, the L2 keeps what fits",
            read, written, LAB_BYTES_TEXT(l->beside->bytes));
    else
        put(l, "DRAM", "%s read, %s written", read, written);
}

static void light(const struct lines *l)
{
    const struct lab_counters *c = l->c;
    if (!isnan(c->ipc))
        put(l, "issue", "%.2f instructions a cycle of a busy SM (4 at most)",
            c->ipc);
    if (!isnan(c->sm_pct) && !isnan(c->memory_pct))
        put(l, "light",
            "SMs at %.1f %%, memory at %.1f %% (DRAM %.1f %%) of what they "
            "can do",
            c->sm_pct, c->memory_pct, c->dram_pct);
    if (!isnan(c->l1_hit_pct) && !isnan(c->l2_hit_pct))
        put(l, "caches", "L1 hits %.1f %%, L2 hits %.1f %%", c->l1_hit_pct,
            c->l2_hit_pct);
}

/* 32 floats side by side are four sectors of 32 bytes. */
static void access(const struct lines *l, const char *name, double sectors)
{
    if (!isnan(sectors))
        put(l, name,
            "%.1f sectors of 32 B for a warp's request (4 when 32 floats "
            "are adjacent, 32 when each is elsewhere)",
            sectors);
}

/* What only a simulation counts. */
static void simulated(const struct lines *l)
{
    const struct lab_counters *c = l->c;
    if (isnan(c->warp_inst))
        return;
    put(l, "simulated",
        "%s instructions of PTX by warps, %.1f of 32 lanes active, %s "
        "branches split a warp",
        LAB_INT_TEXT((int64_t)c->warp_inst), c->lanes_per_inst,
        LAB_INT_TEXT((int64_t)c->divergent_branches));
    if (c->shared_requests > 0)
        put(l, "shared",
            "%s requests took %s wavefronts, %s of them conflicts of banks",
            LAB_INT_TEXT((int64_t)c->shared_requests),
            LAB_INT_TEXT((int64_t)c->shared_wavefronts),
            LAB_INT_TEXT((int64_t)c->bank_conflicts));
    if (c->atomics > 0 || c->barriers > 0)
        put(l, "together", "%s atomic operations, %s arrivals at barriers",
            LAB_INT_TEXT((int64_t)c->atomics),
            LAB_INT_TEXT((int64_t)c->barriers));
}

void lab_counters_lines(const struct lab_counters *c,
                        const struct lab_counters_beside *beside,
                        lab_counters_line_fn *each, void *user)
{
    struct lines l = {c, beside, each, user};
    occupancy(&l);
    work(&l);
    memory(&l);
    light(&l);
    access(&l, "loads", c->sectors_per_load);
    access(&l, "stores", c->sectors_per_store);
    simulated(&l);
}
