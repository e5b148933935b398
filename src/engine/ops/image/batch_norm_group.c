/* batch_norm from x to y, and back, in one step each. */
#include "batch_norm_group.h"

#include <string.h>

#include "batch_norm/batch_norm.h"
#include "engine/plan.h"

void lab_batch_norm_group(const struct lab_plan *plan,
                          const struct lab_node *node, enum lab_phase phase,
                          const struct lab_node *absorbed,
                          struct lab_group_step *out)
{
    const struct lab_step *stats = &plan->steps[node->first_step[LAB_FORWARD]];
    const struct lab_step *scale = stats + 2;
    struct lab_step_def *def = &out->def;
    (void)absorbed;
    memcpy(out->params.bytes, stats->params,
           sizeof(struct lab_batch_norm_params));
    def->params = out->params.bytes;
    def->params_bytes = sizeof(struct lab_batch_norm_params);
    for (int i = 0; i < node->n_steps[phase]; i++)
        def->flop += plan->steps[node->first_step[phase] + i].flop;
    if (phase == LAB_FORWARD) {
        const int in[] = {stats->in[0], scale->in[1], scale->in[2]};
        const int all[] = {scale->out[0], stats->out[0], stats->out[1],
                           stats->out[2], stats->out[3]};
        memcpy(def->in, in, sizeof(in));
        memcpy(def->out, all, sizeof(all));
        def->n_in = 3;
        def->n_out = 5;
        def->formula = "$o0 = ($i0 - $o1[c]) $o2[c] $i1[c] + $i2[c]";
        def->explain = lab_batch_norm_explain_group;
        return;
    }
    const struct lab_step *back = &plan->steps[node->first_step[LAB_BACKWARD]];
    const int in[] = {back->in[0], stats->in[0], scale->in[1], stats->out[0],
                      stats->out[1]};
    bool dx = node->n_steps[LAB_BACKWARD] > 1;
    memcpy(def->in, in, sizeof(in));
    def->n_in = 5;
    def->out[0] = dx ? back[1].out[0] : LAB_NO_TENSOR;
    def->out[1] = back->out[1];
    def->out[2] = back->out[2];
    def->n_out = 3;
    def->formula =
        "xhat = ($i1 - $i3[c]) $i4[c]; $o1[c] = sum $i0 xhat; $o2[c] "
        "= sum $i0; the gradient of $i1 is $i4[c] $i2[c] ($i0 - mean "
        "$i0 - xhat mean($i0 xhat))";
    def->explain = lab_batch_norm_explain_group_back;
}
