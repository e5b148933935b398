/* kernels/common/ref.h -- the reference kernels are written once and compiled twice.
 *
 * kernels/<op>_ref.c is the readable reference: plain C, no tricks. It is compiled
 * with LAB_REAL_F64 unset, where `real` is float, and set, where it is double;
 * the double build serves gradient checks. LAB_REF(name) gives each build its
 * own symbol. Sums over many elements are kept in a double in both builds: the
 * reference is what every other kernel is measured against, and a float sum of
 * a million terms is not. Outer loops of products ask lab_stopped() (cpu_exec.h), so
 * that a call of minutes can be ended. A file ends with its table:
 *
 *     LAB_REF_SET(relu, variants);   */
#pragma once
#include <math.h>
#include "cpu/cpu_exec.h"
#include "common/kernel.h"
#include "common/random.h"

#ifdef LAB_REAL_F64
typedef double real;
#define LAB_REF(name) lab_ref_f64_##name
#else
typedef float real;
#define LAB_REF(name) lab_ref_f32_##name
#endif

/* Math in the precision of `real`, without a cast at every call. */
#ifdef LAB_REAL_F64
#define real_exp exp
#define real_log log
#define real_log1p log1p
#define real_sqrt sqrt
#define real_tanh tanh
#define real_erfc erfc
#define real_fabs fabs
#else
#define real_exp expf
#define real_log logf
#define real_log1p log1pf
#define real_sqrt sqrtf
#define real_tanh tanhf
#define real_erfc erfcf
#define real_fabs fabsf
#endif

/* 1/(1 + exp(-x)) without ever taking exp of a positive number. */
static inline real lab_real_sigmoid(real x)
{
    if (x >= 0)
        return 1 / (1 + real_exp(-x));
    real e = real_exp(x); /* a NaN comes this way and stays a NaN */
    return e / (1 + e);
}

/* in[1] of an optimizer's step, where there is one, as a factor: optimizer.h. */
#define lab_ref_clip(call, clip)                                               \
    ((call)->n_in > 1 && (call)->in[1].data                                    \
         ? (real)lab_clip_scale(*(const real *)(call)->in[1].data, (clip))     \
         : 1)

#define LAB_COUNT_OF(a) ((int)(sizeof(a) / sizeof((a)[0])))

/* A row of a reference table: step, phase, function, in this file. */
#define LAB_REF_ROW(step_name, phase_id, fn)                                   \
    {                                                                          \
        .name = "naive", .step = step_name, .phase = phase_id, .run = fn,      \
        .source = LAB_REF_FILE, .symbol = #fn                                  \
    }

/* The table of an op. */
#define LAB_REF_SET(op, rows)                                                  \
    const struct lab_kernel_set LAB_REF(op) = {#op, rows, LAB_COUNT_OF(rows)}

/* A row that shows a mistake: `what` is wrong with it. It is right on the numbers of
 * the check of variants, and runs only when it is chosen by hand. */
#define LAB_REF_WRONG_ROW(id, step_name, phase_id, fn, what)                   \
    {                                                                          \
        .name = id, .step = step_name, .phase = phase_id, .run = fn,           \
        .source = LAB_REF_FILE, .symbol = #fn, .wrong_on_purpose = what        \
    }
