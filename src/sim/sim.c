/* sim.c -- the simulator's small tables: checks and limits of devices.
 *
 * The id and hint of each kind of finding, and the GPUs that this simulator
 * plays. */
#include "sim/sim.h"

#include <string.h>
#include <strings.h>

const char *lab_sim_check_id(enum lab_sim_check check)
{
    static const char *const ids[] = {
#define X(code, id, title) id,
        LAB_SIM_CHECK_LIST(X)
#undef X
    };
    return check < LAB_SIM_CHECK_COUNT ? ids[check] : "";
}

const char *lab_sim_finding_hint(const struct lab_sim_finding *f)
{
    static const char *const hints[LAB_SIM_CHECK_COUNT] = {
        [LAB_SIM_MEMORY] =
            "the index in this thread, and the guard that keeps it inside",
        [LAB_SIM_RACE] = "a __syncthreads() or __syncwarp() between the two "
                         "lines, or an atomic",
        [LAB_SIM_UNINITIALISED] =
            "what has to write this before: a first value, a barrier, a guard "
            "that leaves elements out",
        [LAB_SIM_BARRIER] = "the condition around the barrier: every thread "
                            "of the block has to reach it",
        [LAB_SIM_SHUFFLE] = "the mask: each lane that it names has to be here",
        [LAB_SIM_BUDGET] = "a loop that never ends; --budget allows more",
    };
    if (f->hint)
        return f->hint;
    if (f->check == LAB_SIM_RACE && f->has_other &&
        memcmp(f->at.block, f->other.block, sizeof(f->at.block)) != 0)
        return "what the two blocks share: they do not wait for each other, so "
               "an atomic, or a second launch";
    return f->check < LAB_SIM_CHECK_COUNT ? hints[f->check] : "";
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
    static const char maker[] = "NVIDIA ";
    for (int i = 0; i < DEVICES; i++)
        if (strcasecmp(devices[i].name, name) == 0 ||
            strcasecmp(devices[i].name + strlen(maker), name) == 0)
            return &devices[i];
    return NULL;
}
