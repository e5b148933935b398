/* kernels/common/kernel.h -- what a kernel is called with, and how it is listed.
 *
 * A kernel is one implementation of one step: `matmul` of `dense`, forward.
 * Every kernel has the same signature and takes its tensors as views in the
 * order that kernels/<op>.h gives for the step. Views are dense, row-major,
 * outermost dimension first.
 *
 * Ownership: the caller owns everything; a kernel allocates and keeps nothing.
 * Purity: outputs are overwritten whole and never read, except where the op's
 * header says "inout" (parameters and optimizer state in the update phase). An
 * optional tensor that the plan does not want has data == NULL.
 * CPU kernels have finished when they return. CUDA kernels have been queued on
 * the stream of `call->exec`; execution faults surface at the next sync.
 * Threads: one call at a time per exec. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

/* Before a function that kernels and host code call. */
#ifdef __CUDACC__
#define LAB_HOST_DEVICE __host__ __device__
#else
#define LAB_HOST_DEVICE
#endif

enum { LAB_MAX_RANK = 6 };

enum lab_dtype {
    LAB_F32,
    LAB_F64, /* the reference in double: gradient checks and explanations */
    LAB_I32, /* class labels, ids, argmax */
    LAB_F16, /* IEEE 754 binary16 (number.h); in labs only */
    LAB_BFLOAT16, /* the upper half of an fp32; in labs only */
    LAB_DTYPE_COUNT
};

/* The arithmetic that a network or a rung is asked to do. TF32 reads fp32
 * tensors; BF16 and FP16 read tensors of theirs and add in fp32. */
enum lab_precision {
    LAB_FP32,
    LAB_TF32,
    LAB_BF16,
    LAB_FP16,
    LAB_FP64,
    LAB_PRECISION_COUNT
};

enum lab_phase {
    LAB_FORWARD,
    LAB_LOSS,
    LAB_BACKWARD,
    LAB_UPDATE,
    LAB_PHASE_COUNT
};

struct lab_view {
    void *data;
    enum lab_dtype dtype;
    int rank; /* 0: a scalar of one element */
    int64_t dim[LAB_MAX_RANK];
    int64_t count; /* product of dim; 1 for a scalar */
};

struct lab_exec; /* a backend's stream, handles, workspace; CPU: NULL */

struct lab_call {
    const struct lab_view *in;
    int n_in;
    const struct lab_view *out;
    int n_out;
    const void *params; /* the struct that kernels/<op>.h names, or NULL */
    bool training;      /* false: dropout passes through (evaluation) */
    /* Counter-based randomness: the same four numbers give the same bits on
     * every backend and at every replay (see random.h). */
    uint64_t seed;
    uint64_t iteration; /* also Adam's time step, less one; on the GPU through
                           lab_iteration_ref (launch.cuh): a graph runs again */
    uint32_t node;
    struct lab_exec *exec;
};

typedef enum lab_status lab_kernel_fn(const struct lab_call *call);

/* One row of a kernel table. `step` NULL means the whole group: the variant
 * does the node's steps of this phase in one, and hides them. */
struct lab_variant {
    const char *name; /* stable id: "naive", "tiled", "blas" ... */
    const char *step;
    enum lab_phase phase;
    lab_kernel_fn *run;
    const char *source; /* file a learner reads: "kernels/dense/dense.cu" */
    const char *symbol; /* where in it to start: "dense_matmul_fwd_tiled" */
    /* Group variants only: may take the elementwise activation that follows
     * into the same kernel (its kind comes in the group's params). */
    bool absorbs_activation;
    /* Runs a step of a large node (LAB_PREFERRED_FLOP, engine/plan.h) unless
     * the lesson or the learner chooses. One row of a step at most; none: the
     * step's first row does. Not for groups, which hide steps: those are
     * always chosen. */
    bool preferred;
    /* Group variants only: may stand for a node whose parts another node reads,
     * as a recurrent layer's last state: it writes these parts too. Without it
     * such a node runs by steps. */
    bool keeps_parts;
    /* NULL: nothing to prepare. Makes what `run` needs for these shapes and may
     * not make itself: memory, a choice of algorithm. The views have sizes, and
     * no memory; one that is not wanted has no elements. LAB_E_UNSUPPORTED: the
     * variant does not serve the shape, and says why. */
    lab_kernel_fn *prepare;
};

/* The kernels that one backend has for one op. */
struct lab_kernel_set {
    const char *op;
    const struct lab_variant *variants; /* a step's readable reference first */
    int count;
};

LAB_C_BEGIN
size_t lab_dtype_bytes(enum lab_dtype dtype);
const char *lab_dtype_name(enum lab_dtype dtype);     /* "f32", "bf16" */
const char *lab_phase_name(enum lab_phase phase);     /* "forward" ... */
const char *lab_precision_name(enum lab_precision p); /* "fp32" */
/* Element i of an array, as a double. */
double lab_number_at(const void *data, enum lab_dtype dtype, int64_t i);
/* Stores v as element i, rounded to the nearest, ties to even; an integer is
 * cut. */
void lab_number_put(void *data, enum lab_dtype dtype, int64_t i, double v);
LAB_C_END

/* Rows and columns of a view seen as a matrix whose columns are the last
 * dimension; a vector of n is one row of n, a scalar 1 x 1. */
static inline int64_t lab_view_cols(const struct lab_view *v)
{
    return v->rank > 0 ? v->dim[v->rank - 1] : 1;
}

static inline int64_t lab_view_rows(const struct lab_view *v)
{
    int64_t cols = lab_view_cols(v);
    return cols > 0 ? v->count / cols : 0;
}
