/* cuBLAS, found at run time: a machine without it has every other kernel.
 *
 * The declarations are those of cublas_v2.h, whose ABI has not changed since
 * CUDA 6; they stand here so that the module builds without cuBLAS's headers.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "cuda_priv.h"

enum { CUBLAS_OK = 0, CUBLAS_DEFAULT_MATH = 0 }; /* fp32 stays fp32: no TF32 */

struct api {
    void *lib;
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, struct CUstream_st *stream);
    int (*set_workspace)(void *handle, void *memory, size_t bytes);
    int (*set_math_mode)(void *handle, int mode);
    int (*sgemm)(void *handle, int op_a, int op_b, int m, int n, int k,
                 const float *alpha, const float *a, int lda, const float *b,
                 int ldb, const float *beta, float *c, int ldc);
    int (*sgemm_strided_batched)(void *handle, int op_a, int op_b, int m, int n,
                                 int k, const float *alpha, const float *a,
                                 int lda, long long stride_a, const float *b,
                                 int ldb, long long stride_b, const float *beta,
                                 float *c, int ldc, long long stride_c,
                                 int count);
    int (*sgemm_batched)(void *handle, int op_a, int op_b, int m, int n, int k,
                         const float *alpha, const float *const *a, int lda,
                         const float *const *b, int ldb, const float *beta,
                         float *const *c, int ldc, int count);
    int (*sgemv)(void *handle, int op, int m, int n, const float *alpha,
                 const float *a, int lda, const float *x, int incx,
                 const float *beta, float *y, int incy);
    int (*gemm_ex)(void *handle, int op_a, int op_b, int m, int n, int k,
                   const void *alpha, const void *a, int type_a, int lda,
                   const void *b, int type_b, int ldb, const void *beta,
                   void *c, int type_c, int ldc, int compute, int algo);
    const char *(*status_text)(int status);
};

static struct api api;
static char why_not[256];

/* ISO C has no cast from void * to a function; POSIX promises that it works. */
static bool symbol(void *fn, const char *name)
{
    void *address = dlsym(api.lib, name);
    *(void **)fn = address;
    if (!address && !why_not[0])
        snprintf(why_not, sizeof(why_not), "libcublas has no %s", name);
    return address != NULL;
}

static void *open_library(void)
{
    char of_this_major[32];
    snprintf(of_this_major, sizeof(of_this_major), "libcublas.so.%d",
             CUDART_VERSION / 1000);
    const char *const names[] = {of_this_major, "libcublas.so",
                                 "/usr/local/cuda/lib64/libcublas.so"};
    void *lib = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !lib; i++)
        lib = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    if (!lib) {
        snprintf(why_not, sizeof(why_not),
                 "%s was not found: install cuBLAS of CUDA %d, or add its "
                 "directory to LD_LIBRARY_PATH",
                 of_this_major, CUDART_VERSION / 1000);
    }
    return lib;
}

static void load(void)
{
    api.lib = open_library();
    if (!api.lib)
        return;
    bool whole =
        symbol(&api.create, "cublasCreate_v2") &&
        symbol(&api.destroy, "cublasDestroy_v2") &&
        symbol(&api.set_stream, "cublasSetStream_v2") &&
        symbol(&api.set_workspace, "cublasSetWorkspace_v2") &&
        symbol(&api.set_math_mode, "cublasSetMathMode") &&
        symbol(&api.sgemm, "cublasSgemm_v2") &&
        symbol(&api.sgemm_strided_batched, "cublasSgemmStridedBatched") &&
        symbol(&api.sgemm_batched, "cublasSgemmBatched") &&
        symbol(&api.sgemv, "cublasSgemv_v2") &&
        symbol(&api.gemm_ex, "cublasGemmEx");
    if (whole) {
        /* Since CUDA 11.4; a message can do without. */
        *(void **)&api.status_text = dlsym(api.lib, "cublasGetStatusString");
        return;
    }
    dlclose(api.lib);
    api.lib = NULL;
}

bool lab_cublas_available(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    if (why)
        *why = api.lib ? NULL : why_not;
    return api.lib != NULL;
}

enum lab_status lab_cublas_open(struct lab_cublas *out,
                                struct CUstream_st *stream, void *workspace,
                                size_t workspace_bytes)
{
    const char *why;
    void *handle = NULL;
    if (!lab_cublas_available(&why))
        return lab_fail(LAB_E_UNSUPPORTED, "cuBLAS: %s", why);
    int status = api.create(&handle);
    if (status == CUBLAS_OK)
        status = api.set_stream(handle, stream);
    /* Its own workspace would be allocated at a time of its choosing, which a
     * graph capture does not allow; set_stream resets it, so it comes after. */
    if (status == CUBLAS_OK && workspace)
        status = api.set_workspace(handle, workspace, workspace_bytes);
    if (status == CUBLAS_OK)
        status = api.set_math_mode(handle, CUBLAS_DEFAULT_MATH);
    if (status == CUBLAS_OK) {
        *out = (struct lab_cublas){.handle = handle,
                                   .sgemm = api.sgemm,
                                   .sgemm_strided_batched =
                                       api.sgemm_strided_batched,
                                   .sgemm_batched = api.sgemm_batched,
                                   .sgemm_bias = lab_cublas_lt_bias,
                                   .sgemv = api.sgemv,
                                   .lt_find = lab_cublas_lt_find,
                                   .lt_product = lab_cublas_lt_product,
                                   .gemm_ex = api.gemm_ex,
                                   .status_text = api.status_text};
        return LAB_OK;
    }
    if (handle)
        api.destroy(handle);
    return lab_fail(LAB_E_DEVICE, "cannot start cuBLAS: %s (status %d)",
                    api.status_text ? api.status_text(status) : "failed",
                    status);
}

void lab_cublas_close(struct lab_cublas *cublas)
{
    if (cublas->handle)
        api.destroy(cublas->handle);
    cublas->handle = NULL;
}
