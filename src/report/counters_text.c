/* counters_text.c -- hardware counters as text for the screen and --plain. */
#include "report/counters_text.h"

#include <math.h>
#include <stdio.h>

#include "base/format.h"

enum { LINE_BYTES = 256 };

struct lines {
    const struct lab_counters *c;
    const struct lab_counters_beside *beside;
    lab_counters_line_fn *each;
    void *user;
};

static void occupancy(const struct lines *l)
{
    char line[LINE_BYTES];
    double achieved = l->c->achieved_occupancy_pct;
    if (isnan(achieved))
        return;
    if (isnan(l->beside->occupancy_pct))
        snprintf(line, sizeof(line), "occupancy %.1f %% achieved", achieved);
    else
        snprintf(line, sizeof(line),
                 "occupancy %.1f %% achieved, %.0f %% possible", achieved,
                 l->beside->occupancy_pct);
    l->each(l->user, "counted", line);
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
    char line[LINE_BYTES * 2];
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    double counted = lab_counters_flop(l->c);
    double flop = l->beside->flop;
    if (isnan(counted))
        return;
    const char *reason =
        lab_counters_flop_reason(l->c, flop, l->beside->update);
    bool all = !isnan(lab_counters_flop_beside(l->c, flop));
    lab_format_flop(counted, a, sizeof(a));
    lab_format_flop(flop, b, sizeof(b));
    int n = snprintf(line, sizeof(line), "%s%s", all ? "" : "at least ", a);
    if (flop > 0 && !all)
        n += snprintf(line + n, sizeof(line) - (size_t)n,
                      " of the formula's %s", b);
    else if (flop > 0)
        n += snprintf(line + n, sizeof(line) - (size_t)n,
                      ", %+.1f %% of the formula's %s",
                      (counted / flop - 1) * 100, b);
    if (reason[0])
        snprintf(line + n, sizeof(line) - (size_t)n, " (%s)", reason);
    l->each(l->user, "work", line);
    if (!(l->c->tensor_flop > 0))
        return;
    lab_format_flop(l->c->tensor_flop, a, sizeof(a));
    n = snprintf(line, sizeof(line), "%s on tensor cores", a);
    if (!isnan(l->c->tensor_active_pct))
        snprintf(line + n, sizeof(line) - (size_t)n,
                 ", which were busy %.1f %% of the time",
                 l->c->tensor_active_pct);
    l->each(l->user, "tensor", line);
}

static void memory(const struct lines *l)
{
    char line[LINE_BYTES];
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    char least[LAB_FORMAT_BYTES];
    if (isnan(l->c->dram_read_bytes) || isnan(l->c->dram_write_bytes))
        return;
    lab_format_bytes(l->c->dram_read_bytes, a, sizeof(a));
    lab_format_bytes(l->c->dram_write_bytes, b, sizeof(b));
    int n = snprintf(line, sizeof(line), "%s read, %s written", a, b);
    if (l->beside->bytes > 0) {
        lab_format_bytes(l->beside->bytes, least, sizeof(least));
        snprintf(line + n, sizeof(line) - (size_t)n,
                 "; the tensors are %s, the L2 keeps what fits", least);
    }
    l->each(l->user, "DRAM", line);
}

static void light(const struct lines *l)
{
    char line[LINE_BYTES];
    const struct lab_counters *c = l->c;
    if (!isnan(c->ipc)) {
        snprintf(line, sizeof(line),
                 "%.2f instructions a cycle of a busy SM (4 at most)", c->ipc);
        l->each(l->user, "issue", line);
    }
    if (!isnan(c->sm_pct) && !isnan(c->memory_pct)) {
        snprintf(
            line, sizeof(line),
            "SMs at %.1f %%, memory at %.1f %% (DRAM %.1f %%) of what they "
            "can do",
            c->sm_pct, c->memory_pct, c->dram_pct);
        l->each(l->user, "light", line);
    }
    if (!isnan(c->l1_hit_pct) && !isnan(c->l2_hit_pct)) {
        snprintf(line, sizeof(line), "L1 hits %.1f %%, L2 hits %.1f %%",
                 c->l1_hit_pct, c->l2_hit_pct);
        l->each(l->user, "caches", line);
    }
}

/* 32 floats side by side are four sectors of 32 bytes. */
static void access(const struct lines *l)
{
    const struct {
        const char *name;
        double sectors;
    } kinds[] = {{"loads", l->c->sectors_per_load},
                 {"stores", l->c->sectors_per_store}};
    char line[LINE_BYTES];
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (isnan(kinds[i].sectors))
            continue;
        snprintf(line, sizeof(line),
                 "%.1f sectors of 32 B for a warp's request (4 when 32 floats "
                 "lie side by side, 32 when each lies elsewhere)",
                 kinds[i].sectors);
        l->each(l->user, kinds[i].name, line);
    }
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
    access(&l);
}
