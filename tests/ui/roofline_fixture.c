/* Three rooflines with made-up points: measured roofs, a data sheet's, and
 * none; roofline_fixture.h has the runs. */
#include "roofline_fixture.h"

#include <math.h>
#include <stdio.h>

static char NEITHER[] =
    "Neither roof bounds it: it could take 1.71 ns and takes 4.35 us (0.039 %, "
    "at 6 % occupancy). Few warps are there to hide waiting: occupancy 6 % "
    "achieved.";
static char MEMORY[] =
    "Memory bounds it: 3.91 TB/s counted, 92 % of what a copy reaches. Only "
    "fewer bytes, or bytes that stay in a cache (a fused variant), would make "
    "it faster.";
static char COMPUTE[] =
    "Arithmetic bounds it: 41.2 TFLOP/s, 80 % of what large products in fp32 "
    "reach. Up to their rate 20 % of its time could go, with a better tuned "
    "kernel; past it only fewer FLOPs would make it faster, or tensor cores: "
    "products in tf32 reach 382 TFLOP/s.";
static char NO_FORMULA[] = "Its work is not known: no formula, and no "
                           "counters were taken.";

#define SUM(level_, name_, phase_, variant_, ns)                               \
    {                                                                          \
        .level = LAB_SUM_##level_, .name = name_, .kernel = name_,             \
        .phase = phase_, .variant = variant_, .count = 1, .median_ns = ns      \
    }
#define ROW(i, formula_, counted, least, dram, intensity_, counted_i, rate,    \
            allowed, roof_, share_, verdict_, text, reason)                    \
    {                                                                          \
        .sum = &SUMS[i], .sentence = text, .flop_reason = reason,              \
        .work = {.flop = formula_}, .point = {                                 \
            .counted_flop = counted,                                           \
            .counted_least = least,                                            \
            .dram_bytes = dram,                                                \
            .intensity = intensity_,                                           \
            .counted_intensity = counted_i,                                    \
            .flop_s = rate,                                                    \
            .allowed_flop_s = allowed,                                         \
            .roof = LAB_CEILING_##roof_,                                       \
            .share = share_,                                                   \
            .verdict = LAB_ROOFLINE_##verdict_                                 \
        }                                                                      \
    }

static const struct lab_time_sum SUMS[] = {
    SUM(STEP, "fc1.matmul", "forward", "tiled", 4352),
    SUM(KERNEL, "dense_matmul_fwd_tiled", "forward", "tiled", 4352),
    SUM(STEP, "relu1", "forward", "naive", 2.1e6),
    SUM(STEP, "fc2.matmul", "forward", "tiled", 6.67e6),
    SUM(STEP, "copy \033[31m", "forward", "naive", 1.0e6),
    SUM(STEP, "gather", "backward", "naive", 3.0e3)};

static struct lab_roofline_row ROWS[] = {
    ROW(0, 20480, 20992, 20992, 8192, 2.807, 2.5625, 4.706e9, 1.196e13, COPY,
        0.00039, LATENCY, NEITHER,
        "more: padding to whole tiles, an exponential made of several "
        "operations, indices computed in floats"),
    ROW(1, 20480, 20992, 20992, 8192, 2.807, 2.5625, 4.706e9, 1.196e13, COPY,
        0.00039, LATENCY, NEITHER, ""),
    ROW(2, 1.0e9, NAN, 0, 8.2e9, 0.125, NAN, 4.762e11, 5.325e11, COPY, 0.92,
        MEMORY, MEMORY, "fewer: double and half precision were not counted"),
    ROW(3, 2.75e11, 2.76e11, 2.76e11, 4.0e8, 512, 690, 4.12e13, 5.12e13, FP32,
        0.805, COMPUTE, COMPUTE, ""),
    ROW(4, 0, NAN, NAN, NAN, 0, NAN, 0, NAN, COPY, 0.7, MEMORY, MEMORY, ""),
    ROW(5, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, COUNT, NAN, UNKNOWN,
        NO_FORMULA, "")};

enum lab_status fixture_roofline(void *user, int64_t run,
                                 const struct lab_roofline **out,
                                 struct lab_str *note)
{
    static struct lab_roofline line;
    (void)user;
    line = (struct lab_roofline){
        .device.device = "NVIDIA H200",
        .per_s = {4.26e12, 51.2e12, 382e12, 763e12, 728e12},
        .rows = ROWS,
        .count = sizeof(ROWS) / sizeof(ROWS[0])};
    lab_roofline_times(&line);
    *out = &line;
    for (int i = 0; i < LAB_CEILING_ROOFS && run < 12; i++) /* copy, fp32 */
        if (run == 9 || (i != LAB_CEILING_COPY && i != LAB_CEILING_FP32))
            line.per_s[i] = NAN;
    if (run == 11) {
        lab_str_add(note, "The roofs are a data sheet's. `lapenna-lab profile "
                          "ceilings`, on that device, measures what it "
                          "reaches.");
    } else if (run == 9) {
        snprintf(line.device.device, sizeof(line.device.device),
                 "AMD EPYC 9654");
        lab_str_add(note, "No roof is known: `lapenna-lab profile ceilings`, "
                          "on that device, measures them.");
    }
    return LAB_OK;
}
