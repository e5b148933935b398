/* kernels/reduction/variants.cu -- the CUDA variants in the order in which a
 * learner climbs them. */
#include "reduction/reduction.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_variants_reduction[] = {
    {.name = "atomic",
     .idea = "every thread adds to one address",
     .run = lab_sum_atomic,
     .source = "kernels/reduction/reduction.cu",
     .model = {.traffic = 1}},
    {.name = "tree",
     .idea = "a tree in shared memory, and the blocks' sums in a second kernel",
     .run = lab_sum_tree,
     .source = "kernels/reduction/reduction.cu",
     .model = {.traffic = 1}},
    {.name = "shuffle",
     .idea = "add while walking, then within the warp in registers",
     .run = lab_sum_shuffle,
     .source = "kernels/reduction/reduction.cu",
     .model = {.traffic = 1}},
    {.name = "fours",
     .idea = "16 bytes a load",
     .run = lab_sum_fours,
     .source = "kernels/reduction/reduction.cu",
     .model = {.traffic = 1}},
    {.name = "several",
     .idea = "four loads of 16 bytes on their way at once",
     .run = lab_sum_several,
     .source = "kernels/reduction/reduction.cu",
     .model = {.traffic = 1}},
    {.name = "once",
     .idea = "one kernel: the last block to arrive adds the blocks' sums",
     .run = lab_sum_once,
     .source = "kernels/reduction/once.cu",
     .model = {.traffic = 1}},
    {},
};
