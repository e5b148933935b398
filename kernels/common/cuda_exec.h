/* kernels/common/cuda_exec.h -- what a CUDA kernel's launcher finds in call->exec.
 *
 * One struct lab_exec belongs to one opened device; src/cuda fills it. Every
 * pointer is owned by the backend and outlives the call. A launcher queues work
 * on `stream` and returns: it neither allocates nor waits, so that a whole
 * iteration can be captured into a CUDA graph. Threads: one at a time. */
#pragma once
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

struct CUstream_st;  /* cudaStream_t is a pointer to it */
struct lab_cudnn;    /* cudnn_exec.h */
struct lab_cusolver; /* cusolver_exec.h */

/* The values of cublasOperation_t. */
enum lab_cublas_op { LAB_CUBLAS_N = 0, LAB_CUBLAS_T = 1 };

struct lab_exec;

/* The values of cudaDataType_t and cublasComputeType_t that kernels name. */
enum lab_cublas_type {
    LAB_CUBLAS_F32 = 0,
    LAB_CUBLAS_F16 = 2,
    LAB_CUBLAS_I8 = 3,
    LAB_CUBLAS_I32 = 10,
    LAB_CUBLAS_BF16 = 14
};
enum lab_cublas_compute {
    LAB_CUBLAS_COMPUTE_F32 = 68,
    LAB_CUBLAS_COMPUTE_I32 = 72,
    LAB_CUBLAS_COMPUTE_TF32 = 77
};

/* C (m, n) = A (m, k) B (k, n), column-major and dense, all of one type; where A and B
 * are bytes, C has integers of 32 bits. */
struct lab_lt_product {
    int type;    /* enum lab_cublas_type */
    int compute; /* enum lab_cublas_compute */
    int m;
    int n;
    int k;
    const void *a;
    const void *b;
    void *c;
    bool turned; /* A is stored (k, m) */
};

struct lab_lt_algorithm {
    uint64_t data[8]; /* cublasLtMatmulAlgo_t */
};

/* The fastest algorithm for a product. */
struct lab_lt_choice {
    struct lab_lt_algorithm algo;
    int tried;
    int place; /* of the fastest in the heuristic's list, from 1 */
    size_t workspace_bytes;
};

/* The part of cuBLAS that kernels call, found at run time: the module loads on
 * a machine without it. Matrices are column-major, as cuBLAS has them. */
struct lab_cublas {
    void *handle; /* cublasHandle_t, bound to the stream of the exec */
    /* C (m, n) = *alpha op(A) op(B) + *beta C, op(A) is (m, k), op(B) (k, n);
     * returns a cublasStatus_t, 0 when the product is queued. */
    int (*sgemm)(void *handle, int op_a, int op_b, int m, int n, int k,
                 const float *alpha, const float *a, int lda, const float *b,
                 int ldb, const float *beta, float *c, int ldc);
    /* `count` such products, the matrices of one `stride` elements after those
     * of the other; a stride of 0 takes the same matrix every time. */
    int (*sgemm_strided_batched)(void *handle, int op_a, int op_b, int m, int n,
                                 int k, const float *alpha, const float *a,
                                 int lda, long long stride_a, const float *b,
                                 int ldb, long long stride_b, const float *beta,
                                 float *c, int ldc, long long stride_c,
                                 int count);
    /* `count` products of matrices that lie anywhere: arrays of pointers, in
     * device memory. */
    int (*sgemm_batched)(void *handle, int op_a, int op_b, int m, int n, int k,
                         const float *alpha, const float *const *a, int lda,
                         const float *const *b, int ldb, const float *beta,
                         float *const *c, int ldc, int count);
    /* C (m, n) = op(A) op(B) + bias[m] in every column (cuBLASLt), on the stream
     * and with the workspace of `exec`. NULL or not 0: not here, or not with
     * these shapes; nothing has been queued, and the caller does it in two. */
    int (*sgemm_bias)(const struct lab_exec *exec, int op_a, int op_b, int m,
                      int n, int k, const float *a, int lda, const float *b,
                      int ldb, const float *bias, float *c, int ldc);
    /* y = *alpha op(A) x + *beta y, A is (m, n). */
    int (*sgemv)(void *handle, int op, int m, int n, const float *alpha,
                 const float *a, int lda, const float *x, int incx,
                 const float *beta, float *y, int incy);
    /* The product of `sgemm` with types of its own (cudaDataType_t) and a type to
     * compute in (cublasComputeType_t); `algo` -1: cuBLAS chooses. */
    int (*gemm_ex)(void *handle, int op_a, int op_b, int m, int n, int k,
                   const void *alpha, const void *a, int type_a, int lda,
                   const void *b, int type_b, int ldb, const void *beta,
                   void *c, int type_c, int ldc, int compute, int algo);
    /* cuBLASLt with the workspace of `exec`. lt_find() runs the algorithms that
     * the heuristic names, writes c, and waits; lt_product() queues the product
     * by one of them, NULL: by the one that it names first. Not 0: not here, or
     * not with these sizes. */
    int (*lt_find)(const struct lab_exec *exec, const struct lab_lt_product *of,
                   struct lab_lt_choice *out);
    int (*lt_product)(const struct lab_exec *exec,
                      const struct lab_lt_product *of,
                      const struct lab_lt_choice *choice);
    const char *(*status_text)(int status); /* NULL: not in this cuBLAS */
};

struct lab_exec {
    struct CUstream_st *stream;
    const struct lab_cublas *cublas; /* NULL: not on this machine */
    struct lab_cudnn *cudnn;         /* NULL: not on this machine */
    struct lab_cusolver *cusolver;   /* NULL: not on this machine */
    void *workspace; /* device memory, scratch of one launcher; NULL if none */
    size_t workspace_bytes;
    /* NULL: call->iteration is the iteration. Not NULL, while an iteration is
     * captured: the graph will run for other iterations too, and a kernel reads
     * the number here, on the device (lab_iteration_ref, launch.cuh). */
    const uint64_t *iteration;
    int device; /* ordinal of the CUDA runtime */
    int sm_count;
    int cc_major; /* compute capability */
    int cc_minor;
};
