/* flow.h -- what the lowering of a kernel asks of its branches: where registers are
 * alive, and where the sides of a branch meet again. */
#pragma once
#include "exec.h"

/* A slot for each register, by where it is alive; then where the sides of
 * each branch meet: join[i], -1: at the end. */
enum lab_status sim_flow_homes(const struct lab_ptx_function *f,
                               struct sim_home *homes, int32_t *slots,
                               int32_t *preds);
enum lab_status sim_flow_joins(const struct lab_ptx_function *f, int32_t *join);
/* Whether operand 0 is written and not read. */
bool sim_flow_writes(const struct lab_ptx_instr *in);
