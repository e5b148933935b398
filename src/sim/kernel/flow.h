/* flow.h -- what the lowering of a kernel asks of its branches: where registers are
 * alive, and where the sides of a branch meet again. */
#pragma once
#include "base/arena.h"
#include "exec.h"

/* A slot for each register, by where it is alive; then where the sides of
 * each branch meet: join[i], -1: at the end. */
enum lab_status sim_flow_homes(const struct lab_ptx_function *f,
                               struct sim_home *homes, int32_t *slots,
                               int32_t *preds);
enum lab_status sim_flow_joins(const struct lab_ptx_function *f, int32_t *join);
/* The number of each instruction's block: code without a branch or a target in it. */
enum lab_status sim_flow_blocks(const struct lab_ptx_function *f,
                                int32_t *block);
/* Whether operand 0 is written and not read. */
bool sim_flow_writes(const struct lab_ptx_instr *in);
/* Calls `fn` for each register of an operand, those of its parts, too. */
typedef void sim_reg_fn(void *arg, int32_t reg);
void sim_each_reg(const struct lab_ptx_function *f,
                  const struct lab_ptx_operand *o, sim_reg_fn *fn, void *arg);
/* For each that the instruction may change, whatever its opcode, also under a guard. */
void sim_each_changed(const struct lab_ptx_function *f,
                      const struct lab_ptx_instr *in, sim_reg_fn *fn,
                      void *arg);

struct sim_fused {
    uint8_t flop; /* enum sim_flop, ALL or NONE */
    uint8_t wide; /* of struct sim_instr */
    uint8_t back;
    int32_t
        source[2]; /* of a selp: instructions that its choice executes; -1 */
    int32_t with;  /* the instruction whose lanes execute it; -1: itself */
    /* Of a function that scales what it takes near the ends of the range: operands with
     * a register that it may not change, 1 and 2 by bits 0 and 1. */
    uint8_t kept;
};
/* fuse.c: the function with the instructions that ptxas makes of two of PTX, and what
 * became of the others; both in the arena. */
enum lab_status sim_fuse(const struct lab_ptx_function *f,
                         struct lab_arena *arena, struct lab_ptx_function *code,
                         struct sim_fused **fused);
