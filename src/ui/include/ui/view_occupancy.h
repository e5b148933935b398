/* ui/view_occupancy.h -- what if: a launch with other numbers, and how full the
 * GPU would be.
 *
 * The screen knows no GPU: whoever opens it computes. Threads: the UI's. */
#pragma once
#include "trace/record.h"
#include "ui/screen.h"

struct lab_occupancy_answer {
    double occupancy_pct;
    int blocks_per_sm;
    int warps_per_sm;
    int max_warps_per_sm;
    /* Blocks that each resource alone would allow; INT32_MAX: any number. */
    int by_warps;
    int by_blocks;
    int by_registers;
    int by_shared;
    int by_grid;    /* what the grid gives one SM; 0: unknown */
    double waves;   /* NaN: the grid is not known */
    char limit[96]; /* "registers" ... */
};

struct lab_occupancy_args {
    const char *kernel; /* its name, the device's and the note: copied */
    const char *device;
    const char *note;         /* which launch it is; NULL: the only */
    struct lab_launch launch; /* as it ran, grid and block in x alone;
                                        everything but the grid is known */
    double achieved_pct;      /* NaN: not counted */
    int max_threads_per_block;
    int64_t max_shared_bytes; /* of a block */
    void *user;               /* outlives the screen */
    /* false: such a launch cannot run; out->limit has the reason. */
    bool (*compute)(void *user, const struct lab_launch *launch,
                    struct lab_occupancy_answer *out);
};

/* The args above; lab_view_what_if (ui/views.h) loads them from a store. */
extern const struct lab_screen_ops lab_view_occupancy;
