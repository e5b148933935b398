/* kernels/labs/attention/rungs.cu -- the CUDA rungs in the order in which a
 * learner climbs them; rungs.h has the rows. */
#include "labs/attention/rungs.h"

extern const struct lab_variant lab_cuda_rungs_attention[] = {
    LAB_ATTENTION_CUDA_RUNGS(lab_attention, 2, 3),
    {},
};
