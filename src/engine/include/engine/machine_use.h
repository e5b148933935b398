/* engine/machine_use.h -- what a machine does while it computes: a device's state
 * at one moment, and what a run took of it.
 *
 * Of a GPU by NVML, the library that nvidia-smi reads too; it comes with the driver
 * and is opened at the first question. Of a CPU the energy alone, from the counters
 * of its packages that Linux has in /sys/class/powercap (RAPL; most systems let only
 * root read them). All of it is the device's, other programs' share too. What is
 * unknown is NaN or LAB_UNKNOWN. Any thread may ask. */
#pragma once
#include <stdint.h>

#include "base/status.h"
#include "engine/backend.h"

struct lab_device_state {
    double sm_clock_hz;
    double memory_clock_hz;
    double temperature_c;
    double power_w;         /* averaged by the driver: it lags behind */
    double memory_bytes;    /* in use */
    double utilization_pct; /* of the driver's last period, with a kernel */
    double energy_j;        /* a counter: differences mean something */
};

struct lab_machine_use {
    double energy_j;           /* counted, or the power over the time; NaN: */
                               /* neither, or the counter did not move */
    double counted_j;          /* by a counter alone */
    double utilization_pct;    /* mean of a GPU's samples */
    int64_t memory_peak_bytes; /* the most of a GPU's samples */
};

/* A counter of a GPU moves every 20 to 100 ms: over less time than this its
 * difference is not the energy that was used. Over this time it is, to 10 %. */
#define LAB_ENERGY_LEAST_NS INT64_C(1000000000)

struct lab_machine_watch;

LAB_C_BEGIN
/* Everything unknown where `info` is no GPU, or NVML does not know it. */
void lab_device_state_read(const struct lab_device_info *info,
                           struct lab_device_state *out);

/* Samples the device of `info` five times a second, on a thread of its own. *out
 * NULL: there is nothing to sample, and the two below do nothing. LAB_E_NOMEM. */
enum lab_status lab_machine_watch_start(struct lab_machine_watch **out,
                                        const struct lab_device_info *info);
/* From the start until now. */
void lab_machine_watch_read(struct lab_machine_watch *w,
                            struct lab_machine_use *out);
void lab_machine_watch_free(struct lab_machine_watch *w);
LAB_C_END
