/* kernels/labs/attention_causal/cpu.c -- the CPU's rungs with a causal mask: the
 * loops of kernels/labs/attention/cpu.c, which end at the query's own key. */
#include "labs/attention/attention.h"
#include "labs/rung.h"

#define SOURCE "kernels/labs/attention/cpu.c"

const struct lab_rung lab_cpu_rungs_attention_causal[] = {
    {.name = "naive",
     .idea = "largest score, sum, mixing: three passes over the keys",
     .run = lab_attention_causal_cpu_naive,
     .source = SOURCE,
     .model = {.traffic = 1}},
    {.name = "online",
     .idea = "one pass: what was added shrinks when a larger score comes",
     .run = lab_attention_causal_cpu_online,
     .source = SOURCE,
     .model = {.traffic = 1},
     .gain = 2},
    {0},
};
