#include "whatif.h"

#include <math.h>
#include <stdio.h>

#include "trace/intern.h"
#include "ui/view_occupancy.h"

enum { MOST_KERNELS = 64 };

static bool compute(void *user, const struct lab_occupancy_try *t,
                    struct lab_occupancy_answer *out)
{
    const struct lab_whatif *w = user;
    struct lab_occupancy o;
    int64_t fixed = w->static_shared_bytes < t->shared_bytes
                        ? w->static_shared_bytes
                        : t->shared_bytes;
    struct lab_occupancy_launch launch = {
        .threads_per_block = t->threads_per_block,
        .registers_per_thread = t->registers_per_thread,
        .static_shared_bytes = fixed,
        .dynamic_shared_bytes = t->shared_bytes - fixed,
        .grid_blocks = t->blocks,
        .cluster_blocks = w->cluster_blocks};
    if (lab_occupancy_compute(&o, &w->device, &launch)) {
        snprintf(out->limit, sizeof(out->limit), "%s", lab_error());
        return false;
    }
    *out = (struct lab_occupancy_answer){
        .occupancy_pct = o.occupancy_pct,
        .blocks_per_sm = o.active_blocks_per_sm,
        .warps_per_sm = o.active_warps_per_sm,
        .max_warps_per_sm = w->device.max_warps_per_sm,
        .by_warps = o.blocks_by_warps,
        .by_blocks = o.blocks_by_blocks,
        .by_registers = o.blocks_by_registers,
        .by_shared = o.blocks_by_shared,
        .waves = o.waves};
    lab_occupancy_limit_text(out->limit, sizeof(out->limit), o.limit);
    return o.active_blocks_per_sm > 0;
}

static int64_t duration(const struct lab_kernel_record *k)
{
    bool timed = k->start_ns != LAB_UNKNOWN && k->end_ns != LAB_UNKNOWN;
    return timed ? k->end_ns - k->start_ns : 0;
}

static enum lab_status find_kernel(struct lab_live *live, int64_t exec,
                                   struct lab_kernel_record *out,
                                   int64_t *ordinal)
{
    struct lab_kernel_record k[MOST_KERNELS];
    size_t n = exec > 0 ? lab_live_kernels(live, exec, k, MOST_KERNELS) : 0;
    size_t best = 0;
    n = n < MOST_KERNELS ? n : MOST_KERNELS;
    if (n == 0)
        return lab_fail(LAB_E_STATE, "no kernel of this step is known: run it "
                                     "on a GPU first");
    for (size_t i = 1; i < n; i++)
        best = duration(&k[i]) > duration(&k[best]) ? i : best;
    *out = k[best];
    *ordinal = (int64_t)best;
    return LAB_OK;
}

enum lab_status lab_whatif_open(struct lab_whatif *w, struct lab_live *live,
                                struct lab_ui *ui,
                                const struct lab_snapshot *snap, int index)
{
    struct lab_kernel_record k;
    struct lab_counters counters;
    int64_t ordinal = 0;
    int64_t exec = snap->steps[index].exec;
    if (snap->device.compute_major == 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "occupancy is of a GPU's multiprocessors, and this "
                        "runs on a CPU: the kernels of recorded GPU runs have "
                        "it (home, key g)");
    enum lab_status st = lab_occupancy_device_init(&w->device, &snap->device);
    if (!st)
        st = find_kernel(live, exec, &k, &ordinal);
    if (st)
        return st;
    lab_live_counters(live, exec, ordinal, &counters);
    w->cluster_blocks = k.cluster[0] * k.cluster[1] * k.cluster[2];
    w->static_shared_bytes = k.static_shared_bytes;
    struct lab_occupancy_args args = {
        .kernel = lab_intern_text(k.demangled_name),
        .device = snap->device.name,
        .launch = {.threads_per_block = k.block[0] * k.block[1] * k.block[2],
                   .registers_per_thread = k.registers_per_thread,
                   .shared_bytes =
                       (int64_t)k.static_shared_bytes + k.dynamic_shared_bytes,
                   .blocks = (int64_t)k.grid[0] * k.grid[1] * k.grid[2]},
        .achieved_pct = counters.achieved_occupancy_pct,
        .max_threads_per_block = w->device.max_threads_per_block,
        .max_shared_bytes = w->device.shared_per_block_optin_bytes,
        .user = w,
        .compute = compute};
    return lab_ui_push(ui, &lab_view_occupancy, &args);
}
