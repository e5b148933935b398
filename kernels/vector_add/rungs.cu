/* kernels/vector_add/rungs.cu -- the CUDA rungs in the order in which a
 * learner climbs them. */
#include "vector_add/vector_add.h"
#include "common/kernel.h"

extern const struct lab_variant lab_cuda_rungs_vector_add[] = {
    {.name = "plain",
     .idea = "a thread for each element",
     .run = lab_add_plain,
     .source = "kernels/vector_add/vector_add.cu",
     .model = {.traffic = 1}},
    {.name = "fours",
     .idea = "four elements a thread, 16 bytes a load",
     .run = lab_add_fours,
     .source = "kernels/vector_add/vector_add.cu",
     .model = {.traffic = 1}},
    {},
};
