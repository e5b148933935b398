/* ui/roof_model.h -- a run under the roofs of its device, as the screen shows it
 * (ui/roof_plot.h draws it). Plain data; unknown: NaN, "". */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct lab_ui_roof {
    const char *name; /* "copy", "fp32" ... */
    bool memory;      /* bytes a second; else FLOPs a second */
    double per_s;
    const char *height; /* "4.26 TB/s" */
    const char *from;   /* "measured", "data sheet" ... */
};

struct lab_ui_roof_point {
    bool kernel; /* else a step; it follows its step */
    const char *name;
    const char *phase;
    const char *variant;
    double median_ns;
    double flop;          /* by the formula */
    double counted_flop;  /* NaN: not counted, or not all of it */
    double counted_least; /* what was counted */
    double dram_bytes;    /* counted */
    double intensity;     /* FLOPs a byte */
    double counted_intensity;
    double flop_s;
    double roof_flop_s; /* what the roofs allow there */
    const char *roof;   /* the name of the one above it */
    double share;       /* of the roof, 0..1 */
    const char *bound;  /* "memory" ... "latency", "": unknown */
    const char *sentence;
    const char *flop_reason; /* why counted FLOPs differ; "" */
};

struct lab_ui_roofline {
    const char *device;
    const char *note; /* how to measure ceilings where none was; "" */
    const struct lab_ui_roof *roofs; /* those that are known */
    int roof_count;
    const struct lab_ui_roof_point *points;
    int64_t point_count;
};
