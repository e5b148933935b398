/* ui/view_occupancy.h -- what if: a launch with other numbers, and how full the
 * GPU would be. Threads: the UI's. */
#pragma once
#include "profiler/occupancy.h"
#include "ui/screen.h"

/* A kernel's launch on its GPU; copied by the screen. */
struct lab_occupancy_args {
    char kernel[160];
    char device[96];
    char note[96]; /* which launch it is; "": the only one */
    struct lab_occupancy_device gpu;
    struct lab_launch launch; /* as it ran, grid and block in x alone;
                                 everything but the grid is known */
    double achieved_pct;      /* NaN: not counted */
};

/* The args above; lab_view_what_if (ui/views.h) loads them from a store. */
extern const struct lab_screen_ops lab_view_occupancy;
