/* simcuda_priv.h -- the parts of the simulator's module among themselves. */
#pragma once
#include "sim/gpu.h"

/* The program's functions; NULL until the module was given them. */
extern const struct lab_sim_host *simcuda_host;

/* The PTX in a fat binary, as the compilers register it. NULL: `why` has what
 * is wrong. */
struct lab_sim_image *simcuda_image(const void *wrapper, char *why, size_t cap);
void simcuda_image_free(struct lab_sim_image *image); /* NULL allowed */
/* struct lab_sim_kernels's `kernel`. */
const char *simcuda_kernel(int i, const struct lab_sim_image **image);
/* struct lab_sim_kernels's `begin`. */
void simcuda_begin(void);
/* Why a part of the module's code cannot be used; "": all of it can. */
const char *simcuda_broken(void);
