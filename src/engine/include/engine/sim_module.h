/* engine/sim_module.h -- the host side of our CUDA kernels for the simulator.
 *
 * lapenna-lab-sim.so holds every kernels/<op>/<name>.cu once more: the launchers as machine
 * code, the kernels as PTX text, and a small CUDA runtime (src/simcuda) that
 * hands launches to the program. */
#pragma once
#include "common/kernel.h"
#include "sim/gpu.h"

/* What the module exports as `lab_sim_kernels()`. */
struct lab_sim_kernels {
    uint32_t abi; /* LAB_SIM_MODULE_ABI */
    /* The rows of our own kernels; those of libraries are left out. */
    const struct lab_kernel_set *const *(*sets)(int *count);
    /* Variant i of an operation in the order of its table, NULL past the last. */
    const struct lab_variant *(*variant)(const char *operation, int i);
    /* Kernel i of those that the module holds, by its name in the PTX of *image;
     * NULL past the last. Those of an image follow one another. */
    const char *(*kernel)(int i, const struct lab_sim_image **image);
    /* Why no kernel's registers are known on this device; NULL: those of kernels
     * that were compiled for it are. */
    const char *(*registers_missing)(const struct lab_sim_device *of);
    /* A call begins: what an earlier one found is no error of this one. */
    void (*begin)(void);
    const char *(*error)(void); /* the module has its own base/status.h */
    const char *(*error_id)(void);
};
/* `host` lives as long as the program. */
typedef const struct lab_sim_kernels *
lab_sim_kernels_fn(const struct lab_sim_host *host);

LAB_C_BEGIN
/* Loads the module once. LAB_E_UNSUPPORTED with what is missing and the remedy.
 * Any thread. */
enum lab_status lab_sim_kernels_load(const struct lab_sim_kernels **out);
LAB_C_END
