#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "store/counted.h"
#include "store/launch.h"
#include "whatif_model.h"

struct loading {
    struct lab_whatif *whatif;
    struct lab_whatif_launch launch;
    int64_t device;
};

static bool take_launch(void *user, const struct lab_kernel_row *k)
{
    struct loading *to = user;
    struct lab_whatif *w = to->whatif;
    lab_visible_copy(w->kernel, sizeof(w->kernel),
                     k->name         ? k->name
                     : k->short_name ? k->short_name
                                     : "a kernel without a name");
    to->device = k->device;
    to->launch = (struct lab_whatif_launch){
        .kernel = w->kernel,
        .registers_per_thread = k->registers_per_thread,
        .static_shared_bytes = k->static_shared_bytes,
        .dynamic_shared_bytes = k->dynamic_shared_bytes};
    memcpy(to->launch.grid, k->grid, sizeof(k->grid));
    memcpy(to->launch.block, k->block, sizeof(k->block));
    memcpy(to->launch.cluster, k->cluster, sizeof(k->cluster));
    return true;
}

static int known(int64_t v)
{
    return v > 0 && v <= INT32_MAX ? (int)v : 0;
}

/* 0 is what a device that says nothing has. */
static void fill_device(struct lab_device_info *d, const struct lab_run_gpu *g)
{
    int warp = known(g->warp_size) ? known(g->warp_size) : 32;
    int64_t threads = (int64_t)known(g->max_warps_per_sm) * warp;
    *d = (struct lab_device_info){
        .compute_major = known(g->compute_major),
        .compute_minor = known(g->compute_minor),
        .sm_count = known(g->sm_count),
        .warp_size = warp,
        .max_warps_per_sm = known(g->max_warps_per_sm),
        .max_threads_per_sm = known(threads),
        .max_blocks_per_sm = known(g->max_blocks_per_sm),
        .max_registers_per_sm = known(g->max_registers_per_sm),
        .max_shared_per_sm_bytes = known(g->max_shared_per_sm_bytes),
        .max_shared_per_block_optin_bytes =
            known(g->max_shared_per_block_optin_bytes)};
    snprintf(d->name, sizeof(d->name), "%s",
             g->name[0] ? g->name : "an unnamed GPU");
}

static enum lab_status find_achieved(struct lab_database *db, int64_t run,
                                     int64_t row, double *out)
{
    struct lab_counted_run counted = {0};
    enum lab_status st = lab_counted_load(&counted, db, run);
    if (st)
        return st;
    const struct lab_counted_item *item = lab_counted_kernel(&counted, row);
    *out = item ? item->counters.achieved_occupancy_pct : (double)NAN;
    lab_counted_release(&counted);
    return LAB_OK;
}

enum lab_status lab_whatif_stored(struct lab_whatif *w, struct lab_database *db,
                                  int64_t run, int64_t row, double achieved_pct,
                                  struct lab_occupancy_args *out)
{
    struct loading to = {.whatif = w};
    struct lab_run_gpu gpu;
    struct lab_device_info device;
    enum lab_status st = lab_query_launch(db, run, row, take_launch, &to);
    if (!st)
        st = lab_run_gpu_read(db, run, to.device, &gpu);
    if (!st && isnan(achieved_pct))
        st = find_achieved(db, run, row, &achieved_pct);
    if (st)
        return st;
    to.launch.achieved_pct = achieved_pct;
    fill_device(&device, &gpu);
    st = lab_whatif_start(w, &device, &to.launch, out);
    if (st)
        return st;
    lab_visible_copy(w->gpu, sizeof(w->gpu), device.name);
    out->device = w->gpu;
    return LAB_OK;
}
