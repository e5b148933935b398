/* kernels/library/cusolver_exec.h -- the part of NVIDIA's cuSOLVER that kernels call,
 * found at run time: the module builds without its headers and loads without
 * it.
 *
 * The declarations are those of cusolverDn.h: its dense functions have not
 * changed since CUDA 7; an enum is written as int and a handle as void *. They
 * return a cusolverStatus_t, 0 when the work is queued. Matrices are
 * column-major. Threads: one at a time an exec. */
#pragma once
#include "common/cuda_exec.h"

struct lab_cusolver {
    void *handle; /* NULL until the first use; on the stream of the exec */
    double *workspace;
    size_t workspace_bytes;
    size_t wanted_bytes; /* what the last size asked for */
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, struct CUstream_st *stream);
    int (*getrf_size)(void *handle, int m, int n, double *a, int lda,
                      int *count);
    int (*getrf)(void *handle, int m, int n, double *a, int lda,
                 double *workspace, int *pivots, int *info);
    int (*getrs)(void *handle, int op, int n, int nrhs, const double *a,
                 int lda, const int *pivots, double *b, int ldb, int *info);
};

LAB_C_BEGIN
/* The exec's cuSOLVER with a handle. LAB_E_UNSUPPORTED: it is not on this
 * machine (the detail has what was tried). */
enum lab_status lab_cusolver_start(const struct lab_exec *exec,
                                   struct lab_cusolver **out);
/* Room for the factors of n x n; not while work is queued that uses the old. */
enum lab_status lab_cusolver_getrf_room(struct lab_cusolver *s, int n);
enum lab_status lab_cusolver_judge(int status, const char *what);
/* Frees what the launchers made. The work must be done. */
void lab_cusolver_release(struct lab_cusolver *s);
LAB_C_END
