/* kernels/common/kernel.h -- what a kernel is called with, and how it is listed.
 *
 * A kernel is one implementation of one step: `matmul` of `dense`, forward.
 * Every kernel has the same signature and takes its tensors as views in the
 * order that kernels/<op>.h gives for the step. Views are dense, row-major,
 * outermost dimension first.
 *
 * Ownership: the caller owns everything; a kernel allocates and keeps nothing.
 * Purity: outputs are overwritten whole and never read, except where the op's
 * header states "inout" (parameters and optimizer state in the update phase). An
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

/* The arithmetic that a network or a variant is asked to do. TF32 reads fp32
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

struct lab_operation;
struct lab_exec; /* a backend's stream, handles, workspace; CPU: its stop */

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

/* What the pipes of the device have to do, counted from the kernel's text.
 * "A multiply-add" is one of a whole warp (32 of them); 0: does not apply. */
struct lab_kernel_model {
    /* Bytes that memory moves for each byte that the problem needs. */
    double traffic;
    /* Tile of the result (gemm): each number of A is read N / tile_n times, each
     * of B M / tile_m times; is used in place of `traffic`. */
    int tile_m;
    int tile_n;
    /* Accesses of 128 bytes to L1 or shared memory, a multiply-add. */
    double accesses;
    /* Instructions issued, a multiply-add. */
    double instructions;
    /* Share of the device's processors that have work. 0: all. */
    double share;
    /* The vendor's library: no model, it is what the others are measured by. */
    bool library;
    /* Operations measured in time: assumed nanoseconds of an item. */
    double item_ns;
};

enum { LAB_VARIANT_NOTE = 128 };

/* What a variant reports about itself once it has run at a size. */
struct lab_variant_note {
    char text[LAB_VARIANT_NOTE]; /* "algorithm 3"; "" is nothing */
    int64_t workspace_bytes;     /* beside the tensors; -1: not known */
};

/* One variant: a way to do a step of an op, or an operation of a lab, or both.
 *
 * A row of an op's table names its step and phase. `step` NULL means the whole
 * group: the variant does the node's steps of this phase in one, and hides them.
 * A row of a lab's table has neither: it does the whole operation
 * (labs/operation.h), `params` of its call is the size, an array of int64_t, and
 * its tensors are inputs, outputs, then scratch. Each row adds one idea to the
 * one before it. What a variant cannot do it refuses with LAB_E_UNSUPPORTED and a
 * reason, before anything is queued.
 *
 * In C++ designators are in the order of the members. */
struct lab_variant {
    const char *name; /* stable id: "naive", "tiled", "blas" ... */
    const char *idea; /* one line: what it adds to the row before it; or NULL */
    const char *needs; /* what the machine must have; NULL: nothing more */
    const char *step;
    enum lab_phase phase;
    lab_kernel_fn *run;
    const char *source; /* file a learner reads: "kernels/dense/dense.cu" */
    const char *symbol; /* where in it to start: "dense_matmul_fwd_tiled" */
    struct lab_kernel_model model;
    enum lab_precision precision; /* LAB_FP32 when left out */
    /* Gain over the row before that its idea promises; 0: the model's. */
    double gain;
    /* Compute capability, major * 10 + minor: 80 is 8.0 or later. With `only`
     * that major version and no other, as code for 90a wants it. 0: any. */
    int capability;
    bool capability_only;
    /* Group variants only: may take the elementwise activation that follows
     * into the same kernel (its kind comes in the group's params). */
    bool absorbs_activation;
    /* Group variants only: saves little, so measuring leaves the steps apart where the
     * lesson has a text for one of them. */
    bool steps_first;
    /* Runs a step of a large node (LAB_PREFERRED_FLOP, engine/plan.h) unless
     * the lesson or the learner chooses. One row of a step at most; none: the
     * step's first row does. Not for groups, which hide steps: those are
     * always chosen. */
    bool preferred;
    /* Group variants only: may run in place of a node with parts that another
     * node reads, as a recurrent layer's last state: it writes these parts too.
     * Without it such a node runs by steps. */
    bool keeps_parts;
    /* Group variants only: serves its phase without a twin in the other. Forward it
     * writes all that the steps of the backward pass read, and such a group there;
     * backward it reads what the steps forward have written. */
    bool one_way;
    /* Backward rows: any of its outputs may be left out, NULL, and it keeps
     * nothing outside of its call but in the workspace and the cuBLAS handle of
     * its exec. Then the gradients of parameters, which nothing reads before the
     * update, can be computed beside the steps that follow. */
    bool apart;
    /* NULL: nothing to prepare. Called once for each shape before the first
     * `run`: makes memory, chooses algorithms, describes tensors. Of a step the
     * views have sizes and no memory; one that is not wanted has no elements.
     * LAB_E_UNSUPPORTED: the variant does not serve the shape; the detail has the reason. */
    lab_kernel_fn *prepare;
    /* Labs: called once after a `prepare` that did not fail, when the size is
     * done; NULL: nothing to give back. */
    lab_kernel_fn *release;
    /* Labs: called after the size was timed; NULL: nothing to report. */
    void (*note)(const struct lab_call *call, struct lab_variant_note *out);
    /* Labs: means the fastest of its candidates, where `lab tune` has found
     * one on this device; else `run` is what it does. */
    bool tuned;
    /* Labs: a candidate for the tuned row of that name, in the same precision;
     * it is listed and timed by `lab tune` alone. NULL: an ordinary row. */
    const char *family;
    /* Labs: NULL, or what is wrong: a row that shows a mistake. It is run at each
     * size, its wrong elements are counted, and it is never timed. */
    const char *wrong_on_purpose;
    /* Labs: works in the operation's scratch tensors. */
    bool scratch;
    /* The operation of a lab's row that is offered under a step
     * (engine/backend/backend.c); NULL: a row of the step's own. */
    const struct lab_operation *of_lab;
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

/* Rows and columns of a view seen as a matrix: its columns are the last
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
