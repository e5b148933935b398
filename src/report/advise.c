/* advise.c -- advice for a step that was counted, from the profiler's rules.
 *
 * Collects the facts from the live window or from a stored run, and asks
 * profiler/advice.h. --plain prints it, the stepper and the screens of a run
 * show it. */
#include "report/advise.h"

#include <math.h>

#include "base/unknown.h"
#include "report/variant_facts.h"

enum { MOST_KERNELS = 64 };

static void add_launch(struct lab_advice_facts *f,
                       const struct lab_kernel_record *k)
{
    bool timed = k->start_ns != LAB_UNKNOWN && k->end_ns != LAB_UNKNOWN;
    f->blocks = lab_launch_size(k->launch.grid);
    f->occupancy_pct = k->occupancy_pct;
    f->occupancy_limit = k->occupancy_limit;
    if (!isnan(k->occupancy_pct))
        f->active_blocks_per_sm = k->active_blocks_per_sm;
    f->time_ns = timed ? (double)(k->end_ns - k->start_ns) : NAN;
}

/* NULL: not known. */
static const char *ran_as(const struct lab_snapshot *snap, int index)
{
    const struct lab_variant *now = snap->schedule->steps[index].variant;
    const char *ran = snap->steps[index].ran;
    return ran ? ran : now ? now->name : NULL;
}

static void state(const struct lab_advice_facts *f,
                  void (*each)(void *to, const char *text), void *to)
{
    struct lab_advice advice[LAB_ADVICE_COUNT];
    struct lab_str text;
    int count = lab_advise(f, advice);
    lab_str_init(&text);
    for (int i = 0; i < count; i++) {
        lab_str_clear(&text);
        lab_advice_add(&text, &advice[i]);
        each(to, lab_str_text(&text));
    }
    lab_str_release(&text);
}

void lab_advise_kernel(struct lab_live *live, const struct lab_snapshot *snap,
                       int index, int kernel,
                       void (*each)(void *to, const char *text), void *to)
{
    struct lab_kernel_record k[MOST_KERNELS];
    struct lab_advice_facts f;
    const struct lab_step_status *status = &snap->steps[index];
    const struct lab_step *step = snap->schedule->steps[index].step;
    if (status->exec <= 0 || kernel < 0 || kernel >= MOST_KERNELS)
        return;
    size_t n = lab_live_kernels(live, status->exec, k, MOST_KERNELS);
    if ((size_t)kernel >= n)
        return;
    lab_advice_facts_init(&f);
    add_launch(&f, &k[kernel]);
    if (snap->device.sm_count > 0)
        f.sm_count = snap->device.sm_count;
    if (snap->device.peak_dram_bytes_s > 0)
        f.peak_dram_bytes_s = snap->device.peak_dram_bytes_s;
    f.kernels = (int64_t)n;
    f.wall_ns = lab_to_real(status->time_ns);
    f.fusable = lab_variant_can_fuse(snap->backend, step->op->name, step->phase,
                                     step->name, ran_as(snap, index));
    if (n == 1) { /* the formula is that of the whole step */
        f.flop = step->flop;
        f.bytes = step->bytes;
    }
    lab_live_counters(live, status->exec, kernel, &f.counters);
    state(&f, each, to);
}

/* The blocks of a multiprocessor from the share of its warps that they are. */
static int64_t active_blocks(const struct lab_roofline *r,
                             const struct lab_time_sum *kernel)
{
    enum { WARP = 32 };
    int64_t threads = lab_launch_size(kernel->launch.block);
    if (threads <= 0 || r->max_warps_per_sm <= 0 ||
        isnan(kernel->occupancy_pct))
        return LAB_UNKNOWN;
    double warps =
        kernel->occupancy_pct / 100 * lab_to_real(r->max_warps_per_sm);
    return llround(warps / (double)((threads + WARP - 1) / WARP));
}

void lab_advise_sum(const struct lab_roofline *r,
                    const struct lab_time_sum *step,
                    const struct lab_time_sum *kernel,
                    void (*each)(void *to, const char *text), void *to)
{
    struct lab_advice_facts f;
    lab_advice_facts_init(&f);
    f.blocks = lab_launch_size(kernel->launch.grid);
    f.occupancy_pct = kernel->occupancy_pct;
    if (kernel->occupancy_limit != LAB_UNKNOWN)
        f.occupancy_limit = (int)kernel->occupancy_limit;
    f.active_blocks_per_sm = active_blocks(r, kernel);
    f.time_ns = kernel->median_ns;
    if (r->sm_count > 0)
        f.sm_count = r->sm_count;
    if (r->per_s[LAB_CEILING_COPY] > 0)
        f.peak_dram_bytes_s = r->per_s[LAB_CEILING_COPY];
    f.kernels = step->kernels;
    f.fusable = lab_variant_can_fuse(step->backend, step->op, step->phase_id,
                                     step->name, step->variant);
    if (step->kernels == 1) { /* the formula is that of the whole step */
        f.flop = step->flop;
        f.bytes = step->bytes;
    }
    f.counters = kernel->counters;
    state(&f, each, to);
}
