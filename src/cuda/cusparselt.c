/* cusparselt.c -- products with 2:4 sparsity by cuSPARSELt, found at run time: a
 * machine without it has every other kernel.
 *
 * The declarations are those of cusparseLt.h, 0.8: an enum is written as int. Older
 * versions have other values of the compute types and are refused. The library
 * stores A in an order of its own, so that A is first given to it with its zeros. */
#include <pthread.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cuda_priv.h"
#include "gemm_sparse/gemm_sparse.h"
#include "library/cusparselt_exec.h"

/* The values of cusparseLt.h, cusparse.h and library_types.h. */
enum {
    ORDER_ROW = 2,
    TRANSPOSE_NO = 0,
    SPARSITY_50_PERCENT = 0,
    COMPUTE_32F = 2,
    ALG_DEFAULT = 0,
    PROPERTY_MAJOR = 0,
    PROPERTY_MINOR = 1,
    ALIGNMENT = 16,
    /* Sides of 16-bit numbers are multiples of it. */
    SIDE = 16,
    /* Its kernels read up to 256 bytes behind the compressed A, where that has
     * fewer rows than a tile: more is allocated than it asks for. */
    BEHIND = 4096,
    LEAST_MINOR = 8
};

/* One of the library's structures, which it fills: 512 bytes in 0.8. */
struct opaque {
    alignas(16) unsigned char data[512];
};

static struct {
    void *lib;
    int (*property)(int which, int *value);
    int (*init)(struct opaque *handle);
    int (*destroy)(const struct opaque *handle);
    int (*dense)(const struct opaque *handle, struct opaque *out, int64_t rows,
                 int64_t cols, int64_t ld, uint32_t alignment, int type,
                 int order);
    int (*structured)(const struct opaque *handle, struct opaque *out,
                      int64_t rows, int64_t cols, int64_t ld,
                      uint32_t alignment, int type, int order, int sparsity);
    int (*matrix_destroy)(const struct opaque *matrix);
    int (*descriptor)(const struct opaque *handle, struct opaque *out, int op_a,
                      int op_b, const struct opaque *a, const struct opaque *b,
                      const struct opaque *c, const struct opaque *d,
                      int compute);
    int (*algorithm)(const struct opaque *handle, struct opaque *out,
                     const struct opaque *descriptor, int alg);
    int (*algorithm_destroy)(const struct opaque *algorithm);
    int (*plan)(const struct opaque *handle, struct opaque *out,
                const struct opaque *descriptor,
                const struct opaque *algorithm);
    int (*plan_destroy)(const struct opaque *plan);
    int (*workspace)(const struct opaque *handle, const struct opaque *plan,
                     size_t *bytes);
    int (*size)(const struct opaque *handle, const struct opaque *plan,
                size_t *bytes, size_t *buffer_bytes);
    int (*compress)(const struct opaque *handle, const struct opaque *plan,
                    const void *dense, void *compressed, void *buffer,
                    cudaStream_t stream);
    int (*matmul)(const struct opaque *handle, const struct opaque *plan,
                  const void *alpha, const void *a, const void *b,
                  const void *beta, const void *c, void *d, void *workspace,
                  cudaStream_t *streams, int32_t n_streams);
} api;

static char why_not[256];

static void load(void)
{
    static const struct lab_cuda_function functions[] = {
        {&api.property, "cusparseLtGetProperty"},
        {&api.init, "cusparseLtInit"},
        {&api.destroy, "cusparseLtDestroy"},
        {&api.dense, "cusparseLtDenseDescriptorInit"},
        {&api.structured, "cusparseLtStructuredDescriptorInit"},
        {&api.matrix_destroy, "cusparseLtMatDescriptorDestroy"},
        {&api.descriptor, "cusparseLtMatmulDescriptorInit"},
        {&api.algorithm, "cusparseLtMatmulAlgSelectionInit"},
        {&api.algorithm_destroy, "cusparseLtMatmulAlgSelectionDestroy"},
        {&api.plan, "cusparseLtMatmulPlanInit"},
        {&api.plan_destroy, "cusparseLtMatmulPlanDestroy"},
        {&api.workspace, "cusparseLtMatmulGetWorkspace"},
        {&api.size, "cusparseLtSpMMACompressedSize"},
        {&api.compress, "cusparseLtSpMMACompress"},
        {&api.matmul, "cusparseLtMatmul"},
        {NULL}};
    int major = 0;
    int minor = 0;
    void *lib = lab_cuda_library(
        (const char *const[]){"libcusparseLt.so.0", "libcusparseLt.so", NULL});
    if (!lib) {
        snprintf(why_not, sizeof(why_not),
                 "libcusparseLt.so.0 was not found: install cuSPARSELt, or add "
                 "its directory to LD_LIBRARY_PATH");
        return;
    }
    const char *missing = lab_cuda_functions(lib, functions);
    if (!api.property || api.property(PROPERTY_MAJOR, &major) ||
        api.property(PROPERTY_MINOR, &minor))
        snprintf(why_not, sizeof(why_not), "it does not report its version");
    else if (major == 0 && minor < LEAST_MINOR)
        snprintf(why_not, sizeof(why_not),
                 "version %d.%d was found: install 0.%d or later", major, minor,
                 LEAST_MINOR);
    else if (missing)
        snprintf(why_not, sizeof(why_not), "libcusparseLt has no %s", missing);
    else
        api.lib = lib;
}

/* ---- one product at a time ---- */

static struct {
    struct opaque handle;
    struct opaque matrix[3]; /* A, B, C */
    struct opaque descriptor;
    struct opaque algorithm;
    struct opaque plan;
    bool has_handle;
    int matrices;
    bool has_algorithm;
    bool has_plan;
    void *compressed;
} made;

static void release(void)
{
    (void)cudaFree(made.compressed);
    if (made.has_plan)
        api.plan_destroy(&made.plan);
    if (made.has_algorithm)
        api.algorithm_destroy(&made.algorithm);
    while (made.matrices > 0)
        api.matrix_destroy(&made.matrix[--made.matrices]);
    if (made.has_handle)
        api.destroy(&made.handle);
    made.compressed = NULL;
    made.has_plan = false;
    made.has_algorithm = false;
    made.has_handle = false;
}

static enum lab_status judge(int status, const char *what)
{
    return status == 0 ? LAB_OK
                       : lab_fail(LAB_E_UNSUPPORTED,
                                  "[launch.cusparselt-refused] %s: status %d",
                                  what, status);
}

static enum lab_status make_matrices(const struct lab_sparse_product *of)
{
    const struct opaque *h = &made.handle;
    int status =
        api.structured(h, &made.matrix[0], of->M, of->K, of->K, ALIGNMENT,
                       of->type, ORDER_ROW, SPARSITY_50_PERCENT);
    if (status)
        return judge(status, "cusparseLtStructuredDescriptorInit");
    made.matrices = 1;
    status = api.dense(h, &made.matrix[1], of->K, of->N, of->N, ALIGNMENT,
                       of->type, ORDER_ROW);
    made.matrices += !status;
    if (!status)
        status = api.dense(h, &made.matrix[2], of->M, of->N, of->N, ALIGNMENT,
                           of->type, ORDER_ROW);
    made.matrices += !status;
    return judge(status, "cusparseLtDenseDescriptorInit");
}

static enum lab_status make_plan(const struct lab_exec *exec,
                                 struct lab_sparse_bytes *out)
{
    const struct opaque *h = &made.handle;
    const struct opaque *m = made.matrix;
    enum lab_status st =
        judge(api.descriptor(h, &made.descriptor, TRANSPOSE_NO, TRANSPOSE_NO,
                             &m[0], &m[1], &m[2], &m[2], COMPUTE_32F),
              "cusparseLtMatmulDescriptorInit");
    if (!st)
        st = judge(
            api.algorithm(h, &made.algorithm, &made.descriptor, ALG_DEFAULT),
            "cusparseLtMatmulAlgSelectionInit");
    made.has_algorithm = !st;
    if (!st)
        st = judge(api.plan(h, &made.plan, &made.descriptor, &made.algorithm),
                   "cusparseLtMatmulPlanInit");
    made.has_plan = !st;
    if (!st)
        st = judge(api.workspace(h, &made.plan, &out->workspace),
                   "cusparseLtMatmulGetWorkspace");
    if (!st && out->workspace > exec->workspace_bytes)
        st = lab_fail(LAB_E_UNSUPPORTED,
                      "[launch.cusparselt-workspace] it asks for a workspace "
                      "of %zu bytes; there are %zu",
                      out->workspace, exec->workspace_bytes);
    return st;
}

/* ---- A with its zeros ---- */

/* One word of the metadata at a time; a number has 16 bits. */
static void put_zeros_back(uint16_t *dense, const uint16_t *kept,
                           const int32_t *meta, int64_t words)
{
    for (int64_t w = 0; w < words; w++)
        for (int i = 0; i < LAB_SPARSE_WORD / 2; i++)
            dense[w * LAB_SPARSE_WORD +
                  lab_sparse_place((uint32_t)meta[w], i)] =
                kept[w * (LAB_SPARSE_WORD / 2) + i];
}

/* Copies kept and meta to the host, and A with its zeros to `to` on the device. */
static enum lab_status expand(const struct lab_exec *exec,
                              const struct lab_sparse_product *of, void *to)
{
    size_t words = (size_t)(of->M * of->K / LAB_SPARSE_WORD);
    size_t kept_bytes = words * LAB_SPARSE_WORD / 2 * sizeof(uint16_t);
    uint16_t *kept = lab_alloc(words * (LAB_SPARSE_WORD / 2) * sizeof(*kept));
    uint16_t *dense = lab_alloc(words * LAB_SPARSE_WORD * sizeof(*dense));
    int32_t *meta = lab_alloc(words * sizeof(*meta));
    enum lab_status st = LAB_OK;
    if (!kept || !dense || !meta)
        st = lab_fail(LAB_E_NOMEM, "no memory for a matrix with its zeros");
    if (!st)
        st = lab_cuda_judge(cudaStreamSynchronize(exec->stream),
                            "cannot wait for the numbers of A");
    if (!st)
        st = lab_cuda_judge(
            cudaMemcpy(kept, of->kept, kept_bytes, cudaMemcpyDeviceToHost),
            "cannot copy A to the host");
    if (!st)
        st = lab_cuda_judge(cudaMemcpy(meta, of->meta, words * sizeof(*meta),
                                       cudaMemcpyDeviceToHost),
                            "cannot copy the metadata to the host");
    if (!st) {
        put_zeros_back(dense, kept, meta, (int64_t)words);
        /* On the stream of what reads it: cudaMemcpy() may return before a small
         * copy is done, and that stream does not wait for the default one. */
        st = lab_cuda_judge(cudaMemcpyAsync(to, dense, 2 * kept_bytes,
                                            cudaMemcpyHostToDevice,
                                            exec->stream),
                            "cannot copy A to the device");
    }
    if (!st)
        st = lab_cuda_judge(cudaStreamSynchronize(exec->stream),
                            "cannot copy A to the device");
    lab_free(kept);
    lab_free(dense);
    lab_free(meta);
    return st;
}

/* A as the library stores it, at made.compressed. */
static enum lab_status compress(const struct lab_exec *exec,
                                const struct lab_sparse_product *of,
                                struct lab_sparse_bytes *out)
{
    void *dense = NULL;
    void *buffer = NULL;
    size_t buffer_bytes = 0;
    enum lab_status st = judge(
        api.size(&made.handle, &made.plan, &out->compressed, &buffer_bytes),
        "cusparseLtSpMMACompressedSize");
    out->dense = (size_t)(of->M * of->K) * sizeof(uint16_t);
    if (!st)
        st = lab_cuda_judge(
            cudaMalloc(&made.compressed, out->compressed + BEHIND),
            "no memory for the compressed A");
    if (!st)
        st = lab_cuda_judge(cudaMalloc(&dense, out->dense),
                            "no memory for A with its zeros");
    if (!st && buffer_bytes > 0)
        st = lab_cuda_judge(cudaMalloc(&buffer, buffer_bytes),
                            "no memory to compress A in");
    if (!st)
        st = expand(exec, of, dense);
    if (!st)
        st = judge(api.compress(&made.handle, &made.plan, dense,
                                made.compressed, buffer, exec->stream),
                   "cusparseLtSpMMACompress");
    if (!st)
        st = lab_cuda_judge(cudaStreamSynchronize(exec->stream),
                            "cannot compress A");
    (void)cudaFree(dense);
    (void)cudaFree(buffer);
    return st;
}

/* ---- the table ---- */

static enum lab_status prepare(const struct lab_exec *exec,
                               const struct lab_sparse_product *of,
                               struct lab_sparse_bytes *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *out = (struct lab_sparse_bytes){0};
    if (!api.lib)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.no-cusparselt] cuSPARSELt: %s", why_not);
    if (of->M % SIDE || of->N % SIDE || of->K % LAB_SPARSE_WORD)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.cusparselt-sides] cuSPARSELt takes sides that "
                        "are multiples of %d, and a depth that is one of %d",
                        SIDE, LAB_SPARSE_WORD);
    release();
    enum lab_status st = judge(api.init(&made.handle), "cusparseLtInit");
    made.has_handle = !st;
    if (!st)
        st = make_matrices(of);
    if (!st)
        st = make_plan(exec, out);
    if (!st)
        st = compress(exec, of, out);
    if (st)
        release();
    return st;
}

static enum lab_status product(const struct lab_exec *exec,
                               const struct lab_sparse_product *of)
{
    const float one = 1.0f;
    const float zero = 0.0f;
    cudaStream_t stream = exec->stream;
    if (!made.has_plan)
        return lab_fail(LAB_E_STATE,
                        "[launch.cusparselt-unprepared] the product by "
                        "cuSPARSELt was not prepared");
    int status =
        api.matmul(&made.handle, &made.plan, &one, made.compressed, of->b,
                   &zero, of->c, of->c, exec->workspace, &stream, 1);
    return status == 0
               ? LAB_OK
               : lab_fail(LAB_E_DEVICE, "cusparseLtMatmul: status %d", status);
}

const struct lab_cusparselt lab_cuda_cusparselt = {prepare, product, release};
