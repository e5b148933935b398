/* simcuda_priv.h -- the parts of the simulator's module among themselves. */
#pragma once
#include "sim/gpu.h"

/* The program's functions; NULL until the module was given them. */
extern const struct lab_sim_host *simcuda_host;

/* The PTX of a source file, by the GPU that it was compiled for, ascending. */
enum { SIMCUDA_IMAGES = 8 };
struct simcuda_images {
    int count;
    struct lab_sim_image image[SIMCUDA_IMAGES];
};

/* Of a fat binary, as the compilers register it. NULL: `why` has what is wrong. */
struct simcuda_images *simcuda_images(const void *wrapper, char *why,
                                      size_t cap);
void simcuda_images_free(struct simcuda_images *images); /* NULL allowed */
/* What a GPU of compute capability 8.0 (80) runs: the newest that is not newer
 * than it; else the newest. */
const struct lab_sim_image *simcuda_image(const struct simcuda_images *images,
                                          int capability);

/* What ptxas reported of a kernel (cmake/keep_registers.sh). */
struct simcuda_ptxas {
    const char *source; /* the end of its path: "kernels/dense/dense.cu" */
    const char *kernel; /* as in the PTX */
    int arch;           /* 75; of 90a 90 */
    bool exact;         /* 90a: for that compute capability alone */
    int registers;
    int stack_bytes; /* of a thread: spills and local arrays */
};
/* Those of the module; empty where no ptxas ran. */
extern const struct simcuda_ptxas *simcuda_ptxas;
extern int simcuda_ptxas_count;
/* What the build wrote (cmake/ptxas_rows.sh). */
extern const struct simcuda_ptxas simcuda_ptxas_rows[];
extern const int simcuda_ptxas_row_count;
/* Of the code that the device runs; NULL: there is none in the table. */
const struct simcuda_ptxas *simcuda_ptxas_of(const char *source,
                                             const char *kernel,
                                             const struct lab_sim_device *of);
/* struct lab_sim_kernels's `registers_missing`. */
const char *simcuda_registers_missing(const struct lab_sim_device *of);

/* struct lab_sim_kernels's `kernel`. */
const char *simcuda_kernel(int i, const struct lab_sim_image **image);
/* struct lab_sim_kernels's `begin`. */
void simcuda_begin(void);
/* Why a part of the module's code cannot be used; "": all of it can. */
const char *simcuda_broken(void);
