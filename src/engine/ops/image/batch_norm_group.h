/* ops/batch_norm_group.h -- batch_norm as one step a phase, for the variants
 * that do it in one; kernels/batch_norm/batch_norm.h has its tensors. */
#pragma once
#include "engine/op.h"

LAB_C_BEGIN
/* The group hook of the op. */
void lab_batch_norm_group(const struct lab_plan *plan,
                          const struct lab_node *node, enum lab_phase phase,
                          const struct lab_node *absorbed,
                          struct lab_group_step *out);
/* batch_norm.c */
lab_explain_fn lab_batch_norm_explain_group;
lab_explain_fn lab_batch_norm_explain_group_back;
LAB_C_END
