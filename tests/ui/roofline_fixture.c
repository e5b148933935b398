#include "roofline_fixture.h"

#include <math.h>

static const struct lab_ui_roof ROOFS[] = {
    {"copy", true, 4.26e12, "4.26 TB/s", "measured"},
    {"fp32", false, 51.2e12, "51.2 TFLOP/s", "measured"},
    {"tf32", false, 382e12, "382 TFLOP/s", "measured"},
    {"bf16", false, 763e12, "763 TFLOP/s", "measured"},
    {"fp16", false, 728e12, "728 TFLOP/s", "measured"},
};
enum { ROOF_COUNT = sizeof(ROOFS) / sizeof(ROOFS[0]) };

static const char NEITHER[] =
    "Neither roof bounds it: it could take 1.71 ns and takes 4.35 us (0.039 %, "
    "at 6 % occupancy). Few warps are there to hide waiting: occupancy 6 % "
    "achieved.";
static const char MEMORY[] =
    "Memory bounds it: 3.91 TB/s counted, 92 % of what a copy reaches. Only "
    "fewer bytes, or bytes that stay in a cache (a fused variant), would make "
    "it faster.";
static const char COMPUTE[] =
    "Arithmetic bounds it: 41.2 TFLOP/s, 80 % of what large products in fp32 "
    "reach. Up to their rate 20 % of its time could go, with a better tuned "
    "kernel; past it only fewer FLOPs would make it faster, or tensor cores: "
    "products in tf32 reach 382 TFLOP/s.";
static const char NO_FORMULA[] = "Its work is not known: no formula, and no "
                                 "counters were taken.";

static const struct lab_ui_roof_point POINTS[] = {
    {false, "fc1.matmul", "forward", "tiled", 4352, 20480, 20992, 20992, 8192,
     2.807, 2.5625, 4.706e9, 1.196e13, "copy", 0.00039, "latency", NEITHER,
     "more: padding to whole tiles, an exponential made of several operations, "
     "indices computed in floats"},
    {true, "dense_matmul_fwd_tiled", "forward", "tiled", 4352, 20480, 20992,
     20992, 8192, 2.807, 2.5625, 4.706e9, 1.196e13, "copy", 0.00039, "latency",
     NEITHER, ""},
    {false, "relu1", "forward", "naive", 2.1e6, 1.0e9, NAN, 0, 8.2e9, 0.125,
     NAN, 4.762e11, 5.325e11, "copy", 0.92, "memory", MEMORY,
     "fewer: double and half precision were not counted"},
    {false, "fc2.matmul", "forward", "tiled", 6.67e6, 2.75e11, 2.76e11, 2.76e11,
     4.0e8, 512, 690, 4.12e13, 5.12e13, "fp32", 0.805, "compute", COMPUTE, ""},
    {false, "copy \033[31m", "forward", "naive", 1.0e6, 0, NAN, NAN, NAN, 0,
     NAN, 0, NAN, "copy", 0.7, "memory", MEMORY, ""},
    {false, "gather", "backward", "naive", 3.0e3, NAN, NAN, NAN, NAN, NAN, NAN,
     NAN, NAN, "", NAN, "", NO_FORMULA, ""},
};
enum { POINT_COUNT = sizeof(POINTS) / sizeof(POINTS[0]) };

enum lab_status fixture_roofline(void *user, int64_t run,
                                 struct lab_ui_roofline *out)
{
    (void)user;
    *out = (struct lab_ui_roofline){.device = "NVIDIA H200",
                                    .note = "",
                                    .roofs = ROOFS,
                                    .roof_count = ROOF_COUNT,
                                    .points = POINTS,
                                    .point_count = POINT_COUNT};
    if (run == 11) {
        out->roof_count = 2;
        out->note = "The roofs are a data sheet's. `lapenna-lab profile "
                    "ceilings`, on that device, measures what it reaches.";
    } else if (run == 9) {
        out->roof_count = 0;
        out->device = "AMD EPYC 9654";
        out->note = "No roof is known: `lapenna-lab profile ceilings`, on that "
                    "device, measures them.";
    }
    return LAB_OK;
}
