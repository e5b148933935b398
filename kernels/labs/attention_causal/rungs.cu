/* kernels/labs/attention_causal/rungs.cu -- the CUDA rungs with a causal mask:
 * the rows and kernels of kernels/labs/attention. unfused makes all scores, twice
 * as many as the mask leaves. */
#include "labs/attention/rungs.h"

extern const struct lab_variant lab_cuda_rungs_attention_causal[] = {
    LAB_ATTENTION_CUDA_RUNGS(lab_attention_causal, 4, 6),
    {},
};
