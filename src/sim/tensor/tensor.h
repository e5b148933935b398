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

struct sim_async_copy; /* async.c: a cp.async of some lanes */
struct sim_transfer;   /* async.c: a cp.async.bulk of one lane */

struct sim_async {
    struct sim_async_copy *copies;
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

/* async.c's part of sim_lower_tensor(). */
enum lab_status sim_lower_async(struct sim_lowering *l,
                                const struct lab_ptx_instr *in,
                                struct sim_instr *out, bool *known);

/* An integer of an operand that must be immediate. */
static inline bool sim_number(const struct lab_ptx_operand *o, int64_t *out)
{
    *out = (int64_t)o->value;
    return o->kind == LAB_PTX_OPERAND_INT;
}
