/* kernels/first/limits.c -- what a launch may be. */
#include "first/first.h"

static const char axis[] = "xyz";

static enum lab_status sides(const char *what, const int64_t *dim,
                             const int64_t *most, const char *device)
{
    for (int i = 0; i < 3; i++) {
        if (dim[i] > most[i])
            return lab_fail(
                LAB_E_UNSUPPORTED,
                "[launch.grid] %s: %lld in %c; %s takes at most %lld x %lld x "
                "%lld",
                what, (long long)dim[i], axis[i], device, (long long)most[0],
                (long long)most[1], (long long)most[2]);
    }
    return LAB_OK;
}

enum lab_status lab_first_fits(const struct lab_first_launch *launch,
                               const struct lab_first_limits *limits,
                               const char *device)
{
    enum lab_status st = sides("block", launch->block, limits->block, device);
    if (!st)
        st = sides("grid", launch->grid, limits->grid, device);
    if (st)
        return st;
    int64_t threads = lab_first_count(launch->block);
    if (threads <= limits->threads)
        return LAB_OK;
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[launch.block] a block of %lld threads (%lld x %lld x "
                    "%lld): %s takes at "
                    "most %lld; take more blocks and fewer threads",
                    (long long)threads, (long long)launch->block[0],
                    (long long)launch->block[1], (long long)launch->block[2],
                    device, (long long)limits->threads);
}
