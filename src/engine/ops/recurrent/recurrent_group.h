/* ops/recurrent_group.h -- a whole rnn or lstm as one step a phase, for the
 * variants that do the sequence in one; kernels/recurrent/sequence.h has its tensors. */
#pragma once
#include "engine/op.h"

LAB_C_BEGIN
/* The group hook of both ops. */
void lab_recurrent_group(const struct lab_plan *plan,
                         const struct lab_node *node, enum lab_phase phase,
                         const struct lab_node *absorbed,
                         struct lab_group_step *out);
LAB_C_END
