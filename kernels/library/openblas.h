/* kernels/library/openblas.h -- OpenBLAS's functions, found at run time: the
 * library is 30 MB, has 15,000 symbols to relocate and starts threads of its own,
 * none of which a screen or a list of runs needs. Threads: any. */
#pragma once
#include <cblas.h>

#include "base/status.h"

#define LAB_OPENBLAS(F)                                                        \
    F(cblas_, ddot)                                                            \
    F(cblas_, dgemm)                                                           \
    F(cblas_, dtrsv)                                                           \
    F(cblas_, saxpy)                                                           \
    F(cblas_, sgemm)                                                           \
    F(cblas_, sgemv)                                                           \
    F(cblas_, somatcopy)                                                       \
    F(openblas_, get_config)                                                   \
    F(openblas_, set_num_threads)

struct lab_openblas {
    void *library;
#define LAB_OPENBLAS_FUNCTION(prefix, name) __typeof__(prefix##name) *name;
    LAB_OPENBLAS(LAB_OPENBLAS_FUNCTION)
#undef LAB_OPENBLAS_FUNCTION
};

LAB_C_BEGIN
/* The functions; the first call loads the library and sets it to one thread.
 * NULL where it is not installed: then no variant of OpenBLAS is offered. */
const struct lab_openblas *lab_openblas(void);
LAB_C_END
