/* step_rows.h -- the rows of a lab that can also do a step of a network.
 *
 * The product of the lab gemm is that of a dense layer: the same tensors in the
 * same order, seen as matrices. An operation names the step that it is
 * (struct lab_operation's as_step), and its rows are offered under that step as
 * they are; one in another precision has it in its name ("mma_tf32"). Rows whose
 * tensors have another type than the step's do not fit.
 * Threads: lab_step_rows() any; the others that of the backend. */
#pragma once
#include "engine/backend.h"
#include "labs/operation.h"

/* A call of the lab's operation, made from the step's. */
struct lab_step_call {
    struct lab_call call;
    struct lab_view in[LAB_BENCH_TENSORS];
    struct lab_view out[LAB_BENCH_TENSORS];
    int64_t size[LAB_BENCH_DIMS];
};

/* The sets of such rows: *count pointers, which live as long as the process. */
const struct lab_kernel_set *const *lab_step_rows(struct lab_backend *be,
                                                  int *count);
/* LAB_E_UNSUPPORTED with the reason: the operation is not what the step asks. */
enum lab_status lab_step_call_of(struct lab_step_call *out,
                                 const struct lab_operation *operation,
                                 const struct lab_call *step);
/* LAB_E_UNSUPPORTED with the reason: the row does not serve this device or this
 * shape. */
enum lab_status lab_step_row_serves(struct lab_backend *be,
                                    const struct lab_variant *v,
                                    const struct lab_call *step);
