/* store/devices.h -- published peaks of graphics cards (profiles/devices.csv).
 *
 * A share of peak is measured work over these. A name that is not in the list
 * exactly (a slice of a card, a new card) has no peak: unknown is NaN. */
#pragma once
#include <stdbool.h>
#include "base/status.h"

enum { LAB_PEAK_SOURCE = 64 };

struct lab_device_peaks {
    double fp32_flop_per_s;
    char fp32_source[LAB_PEAK_SOURCE];
    double dram_bytes_per_s;
    char dram_source[LAB_PEAK_SOURCE];
    double tf32_flop_per_s; /* tensor cores, dense, summed in fp32 */
    double bf16_flop_per_s;
    double fp16_flop_per_s;
    char tensor_source[LAB_PEAK_SOURCE];
};

LAB_C_BEGIN
/* `name` as the driver gives it, "NVIDIA H200". Always fills *out; false:
 * nothing is known. Threads: any. */
bool lab_device_peaks_find(const char *name, struct lab_device_peaks *out);
LAB_C_END
