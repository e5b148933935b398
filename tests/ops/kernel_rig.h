/* ops/kernel_rig.h -- runs single kernels in tests, without the engine.
 *
 * A rig holds named tensors of one precision. A step is run by naming its
 * outputs and inputs, in the order of kernels/<op>.h:
 *
 *     rig_run(r, "dense", "matmul", LAB_BACKWARD, "dW dx", "dxW x W", NULL);
 *
 * A name may have its dims behind it, "dW:KM", as in step_table.h. "-" is an
 * optional tensor that is not wanted. Outputs are filled with
 * NaN before the call, so that an element which the kernel forgets is seen,
 * and every tensor has guard bytes around it, checked after the call.
 * "+p" as an output: inout, its values stay. A failure ends the cmocka test. */
#pragma once
#include <stdbool.h>
#include "common/kernel.h"

/* The set of kernels that runs. A step that one of the last three lacks falls back to
 * the reference in float, and so does one whose `prepare` refuses the shape;
 * rig_has() states which they have. */
enum rig_kind {
    RIG_REF_F32,
    RIG_REF_F64,
    RIG_VECTOR,
    RIG_BLAS,
    RIG_ONEDNN,
    RIG_COUNT
};

struct rig;

struct rig *rig_new(enum rig_kind kind);
void rig_free(struct rig *r);
const char *rig_name(enum rig_kind kind);
/* false: the machine has no such library, with the reason in lab_error(). */
bool rig_available(enum rig_kind kind);
/* Whether the kind has a kernel of its own for the step (NULL: the group). */
bool rig_has(enum rig_kind kind, const char *op, const char *step,
             enum lab_phase phase);

/* A new tensor, all NaN; an existing one of the name is replaced. */
void rig_add(struct rig *r, const char *name, int rank, const int64_t *dim);
/* The same, of class labels. */
void rig_add_labels(struct rig *r, const char *name, int64_t count);
/* Values as doubles; they are rounded to the rig's precision. */
void rig_set(struct rig *r, const char *name, const double *values);
void rig_put(struct rig *r, const char *name, int64_t i, double value);
double rig_get(const struct rig *r, const char *name, int64_t i);
int64_t rig_size(const struct rig *r, const char *name);
const struct lab_view *rig_view(const struct rig *r, const char *name);
/* Uniform in [low, high), rounded to float: a pure function of (seed, i), and
 * so the same in rigs of every kind. Labels get whole numbers. */
void rig_random(struct rig *r, const char *name, uint64_t seed, double low,
                double high);

/* What the call carries besides tensors; from rig_new(): training, seed 7,
 * iteration 0, node 3. */
struct lab_call *rig_call(struct rig *r);

/* Runs one step; `step` NULL: the whole group. */
void rig_run(struct rig *r, const char *op, const char *step,
             enum lab_phase phase, const char *outs, const char *ins,
             const void *params);
/* The same of several, "matmul xW < x W, relu.relu y < xW": of `op`, unless the
 * step has one. */
void rig_run_all(struct rig *r, const char *op, enum lab_phase phase,
                 const char *steps, const void *params);

/* max |a-b| <= tolerance (1 + max|ref|), NaN only where `ref` has it too. On
 * failure prints the worst element and ends the test. `what` goes before. */
void rig_compare(const char *what, const struct rig *r, const char *name,
                 const double *ref, int64_t count, double tolerance);
void rig_compare_rigs(const char *what, const struct rig *got,
                      const struct rig *ref, const char *name,
                      double tolerance);
