/* tensor.h -- what tensor.c (matrices) and async.c (copies, mbarriers) share: what
 * a warp has under way, and small helpers of their lowering. */
#pragma once
#include "exec.h"

/* A wgmma that no wait_group has ended: it still reads its operands. */
struct sim_product {
    const struct sim_instr *i;
    uint64_t desc[2]; /* of A and B; 0 for A in registers */
    int32_t group;
};

struct sim_copy;     /* async.c: a cp.async of some lanes */
struct sim_transfer; /* async.c: a cp.async.bulk of one lane */

struct sim_async {
    struct sim_copy *copies;
    size_t copy_count;
    size_t copy_room;
    int32_t copy_groups[SIM_LANES]; /* that each lane committed */
    struct sim_transfer *stores;
    size_t store_count;
    size_t store_room;
    int32_t store_groups[SIM_LANES];
    struct sim_product *products;
    size_t product_count;
    size_t product_room;
    int32_t product_groups; /* of the warp */
    int32_t groups_over;    /* those before it have ended */
    /* By register of the kernel's PTX: the group of the product that has its sum
     * there, + 1; 0: none. */
    int32_t *sums;
};

/* What the warp has under way, made when it is first needed. NULL: no memory. */
struct sim_async *sim_async_of(struct sim_warp *w);

/* A finding after which the lanes cannot go on: they end. */
void sim_end(struct sim_warp *w, const struct sim_instr *i, uint32_t lanes,
             enum lab_sim_check check, const struct lab_sim_finding *f,
             const char *format, ...) LAB_PRINTF(6, 7);

/* async.c's part of sim_lower_tensor(). */
enum lab_status sim_lower_async(struct sim_lowering *l,
                                const struct lab_ptx_instr *in,
                                struct sim_instr *out, bool *known);
/* A fence, a prefetch: nothing to do where everything is done in order. */
void sim_run_nothing(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask);

/* A row of a lowering: `opcode`, and the modifiers that it begins with. */
struct sim_form {
    const char *opcode;
    const char *first[3];
    enum lab_status (*lower)(struct sim_lowering *l,
                             const struct lab_ptx_instr *in,
                             struct sim_instr *out);
};
/* The row that fits; NULL: none. */
const struct sim_form *sim_form_find(const struct sim_form *forms, size_t count,
                                     const struct lab_ptx_instr *in);

/* Shared memory, where a modifier names it; else generic. */
enum lab_ptx_space sim_space_of(const struct lab_ptx_instr *in);

/* An integer of an operand that must be immediate. */
static inline bool sim_number(const struct lab_ptx_operand *o, int64_t *out)
{
    *out = (int64_t)o->value;
    return o->kind == LAB_PTX_OPERAND_INT;
}
