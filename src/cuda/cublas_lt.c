/* cuBLASLt, found at run time: the product that adds a bias on its way out.
 *
 * The declarations are those of cublasLt.h; libcublas cannot do without this
 * library, so where that one is this one is, too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "cuda_priv.h"

/* The values of cublasLt.h and library_types.h. */
enum {
    COMPUTE_32F = 68,
    REAL_32F = 0,
    DESC_TRANS_A = 3,
    DESC_TRANS_B = 4,
    DESC_EPILOGUE = 7,
    DESC_BIAS_POINTER = 8,
    EPILOGUE_BIAS = 4,
    PREFERENCE_WORKSPACE = 1,
    NOT_SUPPORTED = 15
};

struct algorithm {
    uint64_t data[8];
};

struct heuristic {
    struct algorithm algo;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};

static struct {
    void *lib;
    void *handle;
    int device; /* the handle's */
    int (*create)(void **handle);
    int (*desc_create)(void **desc, int compute, int scale);
    int (*desc_set)(void *desc, int what, const void *value, size_t bytes);
    int (*desc_destroy)(void *desc);
    int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t cols,
                         int64_t ld);
    int (*layout_destroy)(void *layout);
    int (*preference_create)(void **preference);
    int (*preference_set)(void *preference, int what, const void *value,
                          size_t bytes);
    int (*preference_destroy)(void *preference);
    int (*heuristic)(void *handle, void *desc, void *a, void *b, void *c,
                     void *d, void *preference, int wanted,
                     struct heuristic *out, int *found);
    int (*matmul)(void *handle, void *desc, const void *alpha, const void *a,
                  void *a_layout, const void *b, void *b_layout,
                  const void *beta, const void *c, void *c_layout, void *d,
                  void *d_layout, const struct algorithm *algo, void *workspace,
                  size_t workspace_bytes, struct CUstream_st *stream);
} lt;

static bool symbol(void *fn, const char *name)
{
    void *address = dlsym(lt.lib, name);
    *(void **)fn = address;
    return address != NULL;
}

static void load(void)
{
    char name[32];
    snprintf(name, sizeof(name), "libcublasLt.so.%d", CUDART_VERSION / 1000);
    lt.lib = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!lt.lib)
        return;
    bool whole =
        symbol(&lt.create, "cublasLtCreate") &&
        symbol(&lt.desc_create, "cublasLtMatmulDescCreate") &&
        symbol(&lt.desc_set, "cublasLtMatmulDescSetAttribute") &&
        symbol(&lt.desc_destroy, "cublasLtMatmulDescDestroy") &&
        symbol(&lt.layout_create, "cublasLtMatrixLayoutCreate") &&
        symbol(&lt.layout_destroy, "cublasLtMatrixLayoutDestroy") &&
        symbol(&lt.preference_create, "cublasLtMatmulPreferenceCreate") &&
        symbol(&lt.preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
        symbol(&lt.preference_destroy, "cublasLtMatmulPreferenceDestroy") &&
        symbol(&lt.heuristic, "cublasLtMatmulAlgoGetHeuristic") &&
        symbol(&lt.matmul, "cublasLtMatmul");
    if (!whole || cudaGetDevice(&lt.device) != cudaSuccess ||
        lt.create(&lt.handle) != 0)
        lt.handle = NULL; /* the caller adds the bias itself */
}

/* What one product needs; made and thrown away at each call, which costs the
 * host some microseconds: a captured iteration pays it once. */
struct plan {
    void *desc;
    void *a;
    void *b;
    void *c;
    void *preference;
    struct heuristic found;
    int n_found;
};

static int make_plan(struct plan *p, const struct lab_exec *exec, int op_a,
                     int op_b, int m, int n, int k, int lda, int ldb, int ldc,
                     const float *bias)
{
    const int epilogue = EPILOGUE_BIAS;
    int status = lt.desc_create(&p->desc, COMPUTE_32F, REAL_32F);
    if (!status)
        status = lt.desc_set(p->desc, DESC_TRANS_A, &op_a, sizeof(op_a));
    if (!status)
        status = lt.desc_set(p->desc, DESC_TRANS_B, &op_b, sizeof(op_b));
    if (!status)
        status =
            lt.desc_set(p->desc, DESC_EPILOGUE, &epilogue, sizeof(epilogue));
    if (!status)
        status = lt.desc_set(p->desc, DESC_BIAS_POINTER, &bias, sizeof(bias));
    if (!status)
        status = lt.layout_create(&p->a, REAL_32F, (uint64_t)(op_a ? k : m),
                                  (uint64_t)(op_a ? m : k), lda);
    if (!status)
        status = lt.layout_create(&p->b, REAL_32F, (uint64_t)(op_b ? n : k),
                                  (uint64_t)(op_b ? k : n), ldb);
    if (!status)
        status =
            lt.layout_create(&p->c, REAL_32F, (uint64_t)m, (uint64_t)n, ldc);
    if (!status)
        status = lt.preference_create(&p->preference);
    if (!status)
        status = lt.preference_set(p->preference, PREFERENCE_WORKSPACE,
                                   &exec->workspace_bytes,
                                   sizeof(exec->workspace_bytes));
    if (!status)
        status = lt.heuristic(lt.handle, p->desc, p->a, p->b, p->c, p->c,
                              p->preference, 1, &p->found, &p->n_found);
    return status || p->n_found > 0 ? status : NOT_SUPPORTED;
}

static void drop_plan(struct plan *p)
{
    if (p->preference)
        lt.preference_destroy(p->preference);
    if (p->c)
        lt.layout_destroy(p->c);
    if (p->b)
        lt.layout_destroy(p->b);
    if (p->a)
        lt.layout_destroy(p->a);
    if (p->desc)
        lt.desc_destroy(p->desc);
}

int lab_cublas_lt_bias(const struct lab_exec *exec, int op_a, int op_b, int m,
                       int n, int k, const float *a, int lda, const float *b,
                       int ldb, const float *bias, float *c, int ldc)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const float one = 1.0f;
    const float zero = 0.0f;
    struct plan p = {0};
    pthread_once(&once, load);
    if (!lt.handle || lt.device != exec->device)
        return NOT_SUPPORTED;
    int status = make_plan(&p, exec, op_a, op_b, m, n, k, lda, ldb, ldc, bias);
    if (!status)
        status = lt.matmul(lt.handle, p.desc, &one, a, p.a, b, p.b, &zero, c,
                           p.c, c, p.c, &p.found.algo, exec->workspace,
                           exec->workspace_bytes, exec->stream);
    drop_plan(&p);
    return status;
}
