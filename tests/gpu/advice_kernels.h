/* tests/gpu/advice_kernels.h -- kernels made to show one rule of
 * profiler/advice.h each, and kernels made not to. Launched on the default
 * stream of the device that is current. */
#pragma once
#include "base/status.h"

enum advice_kernel {
    ADVICE_PLAIN,     /* shows nothing: full SMs, side by side, whole waves */
    ADVICE_SHARED,    /* so much shared memory that few warps fit */
    ADVICE_REGISTERS, /* so many registers */
    ADVICE_FEW,       /* a block for every other SM */
    ADVICE_TAIL,      /* a wave and a few blocks more */
    ADVICE_SPREAD,    /* a warp's loads lie 128 bytes apart */
    ADVICE_SPREAD_STORE, /* its stores do */
    ADVICE_TINY,         /* over before the next launch */
    ADVICE_FP32_PRODUCT, /* a product on the ordinary lanes */
    ADVICE_TENSOR_PRODUCT,
    ADVICE_REFETCH, /* a product that fetches its operand for every row */
    ADVICE_TILED,   /* the same product with the rows in registers */
    ADVICE_KERNELS
};

LAB_C_BEGIN
/* Memory for all of them. 0: there is no device, or it has no room. */
int advice_open(void);
void advice_close(void);
/* Launches one; 0: refused. */
int advice_launch(enum advice_kernel which);
int advice_wait(void);
/* By the formula of a product; NaN for the others. */
void advice_work(enum advice_kernel which, double *flop, double *bytes);
LAB_C_END
