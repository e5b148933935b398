/* fake_nvml.h -- what the played libnvidia-ml answers; its symbol fake_nvml. */
#pragma once
#include <stdbool.h>

#define FAKE_NVML_UUID "GPU-played"

struct fake_nvml {
    unsigned power_mw;
    unsigned busy_pct;
    unsigned long long used_bytes;
    unsigned long long energy_mj;
    bool no_energy; /* the card has no such counter */
};
extern struct fake_nvml fake_nvml;
