#include "debug/run_device.h"

static int64_t known(int64_t v)
{
    return v > 0 ? v : LAB_UNKNOWN;
}

static const char *known_text(const char *s)
{
    return s[0] ? s : NULL;
}

void lab_run_device_fill(struct lab_run_device *d,
                         const struct lab_device_info *info, bool gpu)
{
    d->name = known_text(info->name);
    d->chip = known_text(info->chip);
    d->driver = known_text(info->driver);
    d->runtime = known_text(info->runtime);
    d->uuid = known_text(info->uuid);
    d->gpu = gpu;
    d->device_id = info->device_id;
    d->compute_major = known(info->compute_major);
    d->compute_minor = d->gpu ? info->compute_minor : LAB_UNKNOWN;
    d->sm_count = known(info->sm_count);
    d->warp_size = known(info->warp_size);
    d->max_warps_per_sm = known(info->max_warps_per_sm);
    d->max_blocks_per_sm = known(info->max_blocks_per_sm);
    d->max_registers_per_sm = known(info->max_registers_per_sm);
    d->max_shared_per_sm_bytes = known(info->max_shared_per_sm_bytes);
    d->max_shared_per_block_optin_bytes =
        known(info->max_shared_per_block_optin_bytes);
    d->memory_bytes = known(info->memory_bytes);
    d->memory_bytes_per_s = known((int64_t)info->peak_dram_bytes_s);
    d->l2_bytes = known(info->l2_bytes);
    d->clock_hz = known(info->clock_hz);
}
