/* kernels/first/first.h -- the first kernels of the course: not ladders,
 * one kernel each, with a launch that a learner edits.
 *
 * Tensors:
 *   hello       none; every thread prints a line on standard output
 *   scalar_add  in a, b (1), int              out c (1) = a + b, int
 *   vectors     in a (n), b (n)               out c (n) = a + b,
 *                                                 idle (1), int: threads
 *                                                 without an element, added up
 *   index       none                          out hits (threads), int: how many
 *                                                 threads have that index
 * `params` of a call is a struct lab_first_launch. On a CPU the launch is
 * simulated: block after block, thread after thread.
 *
 * prepare refuses a launch that the device cannot take (LAB_E_UNSUPPORTED, with
 * the limit); run needs one that it can. Outputs that are added up begin as
 * the caller leaves them. */
#pragma once
#include "common/kernel.h"

struct lab_first_launch {
    int64_t grid[3]; /* x, y, z; unused ones 1 */
    int64_t block[3];
};

/* What CUDA allows on any GPU since compute capability 3.0. */
struct lab_first_limits {
    int64_t threads; /* of a block */
    int64_t block[3];
    int64_t grid[3];
};

LAB_C_BEGIN
extern const struct lab_variant lab_cpu_variants_first[];
extern const struct lab_variant lab_cuda_variants_first[]; /* the module's */

/* Blocks, or threads of a block. */
static inline int64_t lab_first_count(const int64_t *dim)
{
    return dim[0] * dim[1] * dim[2];
}
/* LAB_E_UNSUPPORTED: the launch is beyond the limits of `device`. */
enum lab_status lab_first_fits(const struct lab_first_launch *launch,
                               const struct lab_first_limits *limits,
                               const char *device);

lab_kernel_fn lab_first_prepare, lab_first_hello, lab_first_scalar_add,
    lab_first_vectors, lab_first_index;
LAB_C_END
