/* occupancy.c -- theoretical occupancy of a launch and the resource that limits
 * it. */
#include "profiler/occupancy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KIB = 1024, MAX_REGISTERS_PER_THREAD = 256 };

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

enum { ANY = -1, END = -1 };

/* What the driver does not report, by compute capability; the first row that
 * fits. */
static const struct generation {
    int major;
    int minor;
    int blocks_per_sm;
    int barriers_per_block; /* of each that an SM can hold; 0: no limit */
    int shared_kib[11]; /* sizes of shared memory's part of the L1, ascending */
} generations[] = {
    {7, 5, 16, 0, {32, 64, END}},
    {7, ANY, 32, 0, {0, 8, 16, 32, 64, 96, END}},
    {8, 0, 32, 0, {0, 8, 16, 32, 64, 100, 132, 164, END}},
    {8, 7, 16, 0, {0, 8, 16, 32, 64, 100, 132, 164, END}},
    {8, 9, 24, 0, {0, 8, 16, 32, 64, 100, END}},
    {8, ANY, 16, 0, {0, 8, 16, 32, 64, 100, END}},
    {9, ANY, 32, 2, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228, END}},
    {10, 1, 24, 1, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228, END}},
    {10, ANY, 32, 2, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228, END}},
    {11, 0, 24, 1, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228, END}},
    {11, ANY, 32, 2, {0, 8, 16, 32, 64, 100, 132, 164, 196, 228, END}},
    {12, ANY, 24, 1, {0, 8, 16, 32, 64, 100, END}},
};

/* NULL: not known here. */
static const struct generation *find_generation(int major, int minor)
{
    for (size_t i = 0; i < sizeof(generations) / sizeof(*generations); i++) {
        const struct generation *g = &generations[i];
        if (g->major == major && (g->minor == minor || g->minor == ANY))
            return g;
    }
    return NULL;
}

/* The smallest possible part that holds `bytes`; -1: there is none. */
static int64_t carveout_for(const struct lab_occupancy_device *d, int64_t bytes)
{
    const int *kib =
        find_generation(d->compute_major, d->compute_minor)->shared_kib;
    while (*kib != END && (int64_t)*kib * KIB < bytes)
        kib++;
    return *kib == END ? -1 : (int64_t)*kib * KIB;
}

enum lab_status lab_occupancy_device_init(struct lab_occupancy_device *out,
                                          const struct lab_device_info *info)
{
    int major = info->compute_major;
    const struct generation *g = find_generation(major, info->compute_minor);
    if (!g)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[occupancy.capability] occupancy of compute "
                        "capability %d.%d is not known",
                        major, info->compute_minor);
    if (info->max_threads_per_sm <= 0 || info->max_registers_per_sm <= 0 ||
        info->max_shared_per_sm_bytes <= 0)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[occupancy.device] the limits of device %s are not known",
            info->name);
    int warp = info->warp_size > 0 ? info->warp_size : 32;
    *out = (struct lab_occupancy_device){
        .compute_major = major,
        .compute_minor = info->compute_minor,
        .sm_count = info->sm_count,
        .warp_size = warp,
        .max_threads_per_block = 1024,
        .max_warps_per_sm = info->max_threads_per_sm / warp,
        .max_blocks_per_sm = info->max_blocks_per_sm > 0
                                 ? info->max_blocks_per_sm
                                 : g->blocks_per_sm,
        .registers_per_block = 65536,
        .registers_per_sm = info->max_registers_per_sm,
        .register_unit = 256,
        .sub_partitions = 4,
        .shared_per_sm_bytes = info->max_shared_per_sm_bytes,
        .shared_per_block_bytes = 48 * KIB,
        .shared_per_block_optin_bytes = info->max_shared_per_block_optin_bytes,
        .shared_reserved_bytes = major >= 8 ? KIB : 0,
        .shared_unit_bytes = major >= 8 ? 128 : 256,
    };
    if (out->shared_per_block_optin_bytes < out->shared_per_block_bytes)
        out->shared_per_block_optin_bytes = out->shared_per_block_bytes;
    return LAB_OK;
}

static int by_warps(const struct lab_occupancy_device *d, int64_t threads,
                    int warps)
{
    return threads > d->max_threads_per_block ? 0 : d->max_warps_per_sm / warps;
}

/* Registers go to warps in units, and each sub-partition has its own: a warp
 * that does not fit in what one of them has left does not fit. */
static int by_registers(const struct lab_occupancy_device *d,
                        const struct lab_launch *l, int warps,
                        int64_t *allocated)
{
    int64_t per_warp =
        round_up(l->registers_per_thread * d->warp_size, d->register_unit);
    *allocated = per_warp * warps;
    int64_t checked = per_warp * round_up(warps, d->sub_partitions);
    if (checked > d->registers_per_block ||
        l->registers_per_thread > MAX_REGISTERS_PER_THREAD)
        return 0;
    if (per_warp == 0)
        return INT32_MAX;
    int64_t per_partition = d->registers_per_sm / d->sub_partitions / per_warp;
    return (int)(per_partition * d->sub_partitions / warps);
}

/* What the launch's preference makes of the L1, before the launch's own need
 * is looked at. */
static int64_t preferred_shared(const struct lab_occupancy_device *d,
                                const struct lab_occupancy_launch *l)
{
    if (l->carveout_pct == 0)
        return carveout_for(d, d->shared_per_sm_bytes);
    int64_t pct = l->carveout_pct == LAB_CARVEOUT_MAX_L1 ? 0 : l->carveout_pct;
    return carveout_for(d, pct * d->shared_per_sm_bytes / 100);
}

static int by_shared(const struct lab_occupancy_device *d,
                     const struct lab_occupancy_launch *l,
                     struct lab_occupancy *out)
{
    int64_t asked = l->launch.static_shared_bytes + d->shared_reserved_bytes +
                    l->launch.dynamic_shared_bytes;
    int64_t allocated = round_up(asked, d->shared_unit_bytes);
    bool optin = !l->no_shared_optin && asked > d->shared_per_block_bytes;
    int64_t limit =
        optin ? d->shared_per_block_optin_bytes : d->shared_per_block_bytes;
    out->shared_per_block_bytes = allocated;
    if (allocated > limit + d->shared_reserved_bytes)
        return 0;
    int64_t config = preferred_shared(d, l);
    if (config < allocated)
        config = carveout_for(d, allocated);
    if (config < allocated)
        return 0;
    out->shared_config_bytes = config;
    return allocated > 0 ? (int)(config / allocated) : INT32_MAX;
}

static int by_barriers(const struct lab_occupancy_device *d,
                       const struct lab_occupancy_launch *l)
{
    int each =
        find_generation(d->compute_major, d->compute_minor)->barriers_per_block;
    return l->barriers <= 0 || each == 0
               ? INT32_MAX
               : d->max_blocks_per_sm * each / l->barriers;
}

static void find_limits(struct lab_occupancy *o)
{
    const struct {
        int blocks;
        int limit;
    } by[] = {{o->blocks_by_warps, LAB_LIMIT_WARPS},
              {o->blocks_by_blocks, LAB_LIMIT_BLOCKS},
              {o->blocks_by_registers, LAB_LIMIT_REGISTERS},
              {o->blocks_by_shared, LAB_LIMIT_SHARED},
              {o->blocks_by_barriers, LAB_LIMIT_BARRIERS}};
    o->active_blocks_per_sm = INT32_MAX;
    for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++) {
        if (by[i].blocks < o->active_blocks_per_sm)
            o->limit = 0;
        if (by[i].blocks <= o->active_blocks_per_sm) {
            o->active_blocks_per_sm = by[i].blocks;
            o->limit |= by[i].limit;
        }
    }
}

static void find_waves(struct lab_occupancy *o,
                       const struct lab_occupancy_device *d,
                       const struct lab_launch *l)
{
    int64_t cluster = lab_launch_size(l->cluster);
    int64_t blocks = lab_launch_size(l->grid);
    cluster = cluster > 1 ? cluster : 1;
    o->wave_blocks =
        (int64_t)o->active_blocks_per_sm * d->sm_count / cluster * cluster;
    o->waves = NAN;
    if (blocks <= 0 || o->wave_blocks <= 0)
        return;
    o->waves = (double)blocks / (double)o->wave_blocks;
    if (blocks < o->wave_blocks)
        o->limit |= LAB_LIMIT_GRID;
}

enum lab_status lab_occupancy_compute(struct lab_occupancy *out,
                                      const struct lab_occupancy_device *device,
                                      const struct lab_occupancy_launch *launch)
{
    const struct lab_launch *l = &launch->launch;
    int64_t threads = lab_launch_size(l->block);
    if (threads <= 0 || threads > INT32_MAX || l->registers_per_thread < 0 ||
        l->registers_per_thread > INT32_MAX || l->static_shared_bytes < 0 ||
        l->dynamic_shared_bytes < 0 || l->static_shared_bytes > INT32_MAX ||
        l->dynamic_shared_bytes > INT32_MAX ||
        launch->carveout_pct < LAB_CARVEOUT_MAX_L1 ||
        launch->carveout_pct > 100)
        return lab_fail(LAB_E_ARG,
                        "occupancy: %lld threads, %lld registers, %lld + %lld "
                        "bytes of shared memory is no launch",
                        (long long)threads, (long long)l->registers_per_thread,
                        (long long)l->static_shared_bytes,
                        (long long)l->dynamic_shared_bytes);
    struct lab_occupancy o = {0};
    int64_t warps = (threads + device->warp_size - 1) / device->warp_size;
    o.blocks_by_warps = by_warps(device, threads, (int)warps);
    o.blocks_by_blocks = device->max_blocks_per_sm;
    o.blocks_by_registers =
        by_registers(device, l, (int)warps, &o.registers_per_block);
    o.blocks_by_shared = by_shared(device, launch, &o);
    o.blocks_by_barriers = by_barriers(device, launch);
    find_limits(&o);
    o.active_warps_per_sm = (int)(o.active_blocks_per_sm * warps);
    o.occupancy_pct =
        100.0 * o.active_warps_per_sm / (double)device->max_warps_per_sm;
    find_waves(&o, device, l);
    *out = o;
    return LAB_OK;
}

void lab_occupancy_limit_text(char *out, size_t bytes, int limit)
{
    static const struct {
        int bit;
        const char *text;
    } names[] = {
        {LAB_LIMIT_WARPS, "warps"},         {LAB_LIMIT_BLOCKS, "blocks"},
        {LAB_LIMIT_REGISTERS, "registers"}, {LAB_LIMIT_SHARED, "shared memory"},
        {LAB_LIMIT_BARRIERS, "barriers"},   {LAB_LIMIT_GRID, "grid size"},
    };
    size_t used = 0;
    if (bytes == 0)
        return;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(limit & names[i].bit))
            continue;
        int n = snprintf(out + used, bytes - used, "%s%s", used ? ", " : "",
                         names[i].text);
        if (n < 0 || (size_t)n >= bytes - used)
            return;
        used += (size_t)n;
    }
}
