/* kernels/library/cusparselt_exec.h -- the part of NVIDIA's cuSPARSELt that kernels
 * call, found at run time: the module builds without its headers and loads without
 * it. src/cuda/cusparselt.c fills the table.
 *
 * C (M, N) = A (M, K) B (K, N), row-major, of one 16-bit type; of each four
 * neighbours in a row of A two are zero. kept and meta are those of
 * gemm_sparse/gemm_sparse.h. Threads: one at a time. */
#pragma once
#include "common/cuda_exec.h"

struct lab_sparse_product {
    int type; /* LAB_CUBLAS_F16 or LAB_CUBLAS_BF16 */
    int64_t M;
    int64_t N;
    int64_t K;
    const void *kept;
    const int32_t *meta;
    const void *b;
    void *c;
};

/* What prepare() has made. */
struct lab_sparse_bytes {
    size_t compressed; /* A as the library stores it */
    size_t dense;      /* A with its zeros */
    size_t workspace;
};

struct lab_cusparselt {
    /* Puts A's zeros back (on the host: it copies and waits), lets the library
     * compress A, and plans the product. LAB_E_UNSUPPORTED with the reason: the
     * library is not here or too old, or does not take these sizes. release()
     * ends what prepare() made. */
    enum lab_status (*prepare)(const struct lab_exec *exec,
                               const struct lab_sparse_product *of,
                               struct lab_sparse_bytes *out);
    /* Queues the product that was prepared last. */
    enum lab_status (*product)(const struct lab_exec *exec,
                               const struct lab_sparse_product *of);
    void (*release)(void);
};

LAB_C_BEGIN
/* The table, which the CUDA module puts here before a device is opened. NULL: not
 * the CUDA module. gemm_sparse/gemm_sparse.cu has the variable. */
extern const struct lab_cusparselt *lab_cusparselt;
LAB_C_END
