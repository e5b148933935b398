/* The occupancy of one kernel at other launches, for ui_fixture.c. */
#include "ui_fixture_occupancy.h"

#include <stdio.h>

#include "ui/view_occupancy.h"

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
    static const struct lab_device_info h200 = {
        .compute_major = 9,
        .sm_count = 132,
        .max_threads_per_sm = 2048,
        .max_registers_per_sm = 65536,
        .max_shared_per_sm_bytes = 228 << 10,
        .max_shared_per_block_optin_bytes = 227 << 10};
    *out = (struct lab_occupancy_args){
        .device = "NVIDIA H200",
        .note = "the newest of 4,320 launches, which differ",
        .launch = {.block = {lab_launch_size(kernel->launch.block), 1, 1},
                   .registers_per_thread = kernel->launch.registers_per_thread,
                   .dynamic_shared_bytes = kernel->shared_bytes},
        .achieved_pct = kernel->counters.achieved_occupancy_pct};
    snprintf(out->kernel, sizeof(out->kernel), "%s", kernel->kernel);
    return lab_occupancy_device_init(&out->gpu, &h200);
}
