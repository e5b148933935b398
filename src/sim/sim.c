/* The simulator's small tables: checks and the devices whose limits it knows. */
#include "sim/sim.h"

#include <string.h>

const char *lab_sim_check_id(enum lab_sim_check check)
{
    static const char *const ids[] = {
#define X(code, id, title) id,
        LAB_SIM_CHECK_LIST(X)
#undef X
    };
    return check < LAB_SIM_CHECK_COUNT ? ids[check] : "";
}

/* CUDA C++ Programming Guide, "Compute Capabilities", and the datasheets. The
 * newest comes first. */
static const struct lab_sim_device devices[] = {
    {"NVIDIA H200", 9, 0, 132, 64, 32, 65536, 233472, 232448, 1024},
    {"NVIDIA H100", 9, 0, 132, 64, 32, 65536, 233472, 232448, 1024},
    {"NVIDIA L40S", 8, 9, 142, 48, 24, 65536, 102400, 101376, 1024},
    {"NVIDIA A100", 8, 0, 108, 64, 32, 65536, 167936, 166912, 1024},
    {"NVIDIA T4", 7, 5, 40, 32, 16, 65536, 65536, 65536, 1024},
};

enum { DEVICES = sizeof(devices) / sizeof(devices[0]) };

const struct lab_sim_device *lab_sim_device_at(int i)
{
    return i >= 0 && i < DEVICES ? &devices[i] : NULL;
}

const struct lab_sim_device *lab_sim_device(const char *name)
{
    for (int i = 0; i < DEVICES; i++)
        if (strcmp(devices[i].name, name) == 0)
            return &devices[i];
    return NULL;
}
