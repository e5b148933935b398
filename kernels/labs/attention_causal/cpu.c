/* kernels/labs/attention_causal/cpu.c -- the CPU's rungs with a causal mask: the
 * loops of kernels/labs/attention/cpu.c, which end at the query's own key. */
#include "labs/attention/rungs.h"

const struct lab_variant lab_cpu_rungs_attention_causal[] = {
    LAB_ATTENTION_CPU_RUNGS(lab_attention_causal),
    {0},
};
