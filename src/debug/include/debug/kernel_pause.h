/* debug/kernel_pause.h -- a launch that waits while another thread walks it.
 *
 * The engine's thread runs a step on the simulator; with a pause that is armed, it
 * stops before each launch and hands it over. Another thread, that of a screen,
 * takes it, walks it with sim/debug.h, and lets it go: the launch then runs whole,
 * from where the walk began. Arm and disarm between steps or while a launch waits.
 * Threads: as above; one pause for the process. */
#pragma once
#include "sim/debug.h"
#include "sim/gpu.h"

struct lab_kernel_pause {
    struct lab_sim_debug *debug;
    const struct lab_ptx *ptx;
    uint32_t grid[3];
    uint32_t block[3];
    char name[128]; /* of the kernel, as a person calls it */
    int number;     /* of the launches that waited since it was armed, from 1 */
    int launch;     /* of the step, from 1 */
};

LAB_C_BEGIN
/* Hands a launch over, on the thread that would run it, and returns when it is let
 * go; at once where no launch waits. The backend "sim" calls it. */
void lab_kernel_pause_offer(void *user, const struct lab_sim_gpu_call *of);
/* From now on launches wait. `wake` is called when one does, on the engine's thread. */
void lab_kernel_pause_arm(void (*wake)(void *user), void *user);
/* No more; one that waits goes on. */
void lab_kernel_pause_disarm(void);
/* The launch that waits; NULL: none does. It stays until it is let go. */
const struct lab_kernel_pause *lab_kernel_pause_now(void);
/* The one that waits runs; the next one waits. */
void lab_kernel_pause_next(void);
LAB_C_END
