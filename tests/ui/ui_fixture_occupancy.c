#include "ui_fixture_occupancy.h"

#include <math.h>

#include "ui/view_occupancy.h"

/* An SM of 64 warps and 64 Ki registers, and nothing else. */
static bool compute(void *user, const struct lab_launch *t,
                    struct lab_occupancy_answer *out)
{
    int warps = (int)(t->block[0] + 31) / 32;
    (void)user;
    *out = (struct lab_occupancy_answer){
        .by_warps = 64 / warps,
        .by_blocks = 32,
        .by_registers =
            65536 /
            (32 * warps *
             (t->registers_per_thread > 0 ? (int)t->registers_per_thread : 1)),
        .by_shared = INT32_MAX,
        .max_warps_per_sm = 64,
        .waves = NAN};
    out->blocks_per_sm =
        out->by_warps < out->by_registers ? out->by_warps : out->by_registers;
    out->warps_per_sm = out->blocks_per_sm * warps;
    out->occupancy_pct = 100.0 * out->warps_per_sm / 64;
    return out->blocks_per_sm > 0;
}

enum lab_status fixture_load_occupancy(void *user, int64_t run,
                                       const struct lab_time_sum *kernel,
                                       int64_t row,
                                       struct lab_occupancy_args *out)
{
    (void)user;
    (void)row;
    if (!kernel)
        return lab_fail(LAB_E_NOTFOUND, "run %lld has no kernels: a reason",
                        (long long)run);
    *out = (struct lab_occupancy_args){
        .kernel = kernel->kernel,
        .device = "NVIDIA H200",
        .note = "the newest of 4,320 launches, which differ",
        .launch = {.block = {lab_launch_size(kernel->launch.block), 1, 1},
                   .registers_per_thread = kernel->launch.registers_per_thread,
                   .dynamic_shared_bytes = kernel->shared_bytes},
        .achieved_pct = kernel->counters.achieved_occupancy_pct,
        .max_threads_per_block = 1024,
        .max_shared_bytes = 227 << 10,
        .compute = compute};
    return LAB_OK;
}
