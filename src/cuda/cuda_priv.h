/* cuda_priv.h -- the parts of the CUDA module among themselves. */
#pragma once
#include <cuda_runtime_api.h>

#include "common/cuda_exec.h"
#include "engine/backend.h"

extern const struct lab_backend_ops lab_backend_cuda;

/* ---- device.c ---- */

/* Keeps "doing: CUDA's text. Remedy" as the last error, and returns
 * LAB_E_NOMEM, LAB_E_UNSUPPORTED (the machine or its set-up) or LAB_E_DEVICE.
 * Clears the runtime's own last error. */
enum lab_status lab_cuda_fail(cudaError_t err, const char *doing);
/* The same, or LAB_OK for cudaSuccess. */
enum lab_status lab_cuda_judge(cudaError_t err, const char *doing);
/* Makes `device` the calling thread's: a driver that answers, a device of that
 * number, a context on it. LAB_E_UNSUPPORTED with the remedy. */
enum lab_status lab_cuda_select(int device);
void lab_cuda_describe(int device, struct lab_device_info *out);

/* ---- library.c ---- */

/* The first of the names, which end with NULL, that opens; NULL: none does. */
void *lab_cuda_library(const char *const *names);

/* Where the function of that name goes; `optional`: it may be missing. A list
 * ends with a row without a name. */
struct lab_cuda_function {
    void *to; /* a pointer to a function */
    const char *name;
    bool optional;
};
/* Looks all of them up; the first that is missing, or NULL. */
const char *lab_cuda_functions(void *lib, const struct lab_cuda_function *f);

/* ---- cublas.c ---- */

/* Loads libcublas once in the process. false: it is not there, and *why, valid
 * as long as the module, has what was tried. Any thread. */
bool lab_cublas_available(const char **why);
/* A handle on `stream` with `workspace`; lab_cublas_close() frees it. */
enum lab_status lab_cublas_open(struct lab_cublas *out,
                                struct CUstream_st *stream, void *workspace,
                                size_t workspace_bytes);
void lab_cublas_close(struct lab_cublas *cublas);
/* struct lab_cublas's sgemm_bias, for the test of its plans. */
int lab_cublas_lt_bias(const struct lab_exec *exec, int op_a, int op_b, int m,
                       int n, int k, const float *a, int lda, const float *b,
                       int ldb, const float *bias, float *c, int ldc);

/* ---- cudnn.c ---- */

/* Loads libcudnn once in the process. *report, valid as long as the module: its
 * version, or (false) what was tried. Any thread. */
bool lab_cudnn_available(const char **report);
/* The functions; its handle is made when a kernel first wants it.
 * lab_cudnn_release() ends it. false: cuDNN is not there. */
bool lab_cudnn_open(struct lab_cudnn *out);

/* ---- cusparselt.c ---- */

/* Loads the library with the first product (library/cusparselt_exec.h). */
extern const struct lab_cusparselt lab_cuda_cusparselt;

/* ---- cudnn_calls.c ---- */

lab_conv_calls_fn lab_cudnn_conv_calls; /* engine/backend.h */

/* ---- ceilings.c ---- */

/* Measures on the exec's stream; see engine/ceiling.h. */
enum lab_status lab_cuda_ceiling(const struct lab_exec *exec, int ceiling,
                                 struct lab_ceiling_times *out);
