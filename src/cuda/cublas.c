/* cublas.c -- cuBLAS and cuBLASLt, found at run time: a machine without them has
 * every other kernel.
 *
 * The declarations are those of cublas_v2.h, with an ABI that has not changed
 * since CUDA 6, and of cublasLt.h: the module builds without these headers.
 * libcublas needs cuBLASLt: where that one is this one is, too. */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda_priv.h"

/* ---- cuBLASLt: the product that adds a bias on its way out, and the product by
 * the fastest of the algorithms that its heuristic names ---- */

/* The values of cublasLt.h and library_types.h. */
enum {
    DESC_TRANS_A = 3,
    DESC_TRANS_B = 4,
    DESC_EPILOGUE = 7,
    DESC_BIAS_POINTER = 8,
    EPILOGUE_BIAS = 4,
    PREFERENCE_WORKSPACE = 1,
    PREFERENCE_REDUCTION = 3,
    REDUCTION_IN_PLACE = 1,
    REDUCTION_COMPUTE_TYPE = 2,
    NOT_SUPPORTED = 15
};

struct heuristic {
    struct lab_lt_algorithm algo;
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};

static struct {
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
                  void *d_layout, const struct lab_lt_algorithm *algo,
                  void *workspace, size_t workspace_bytes,
                  struct CUstream_st *stream);
} lt;

static void load(void)
{
    static const struct lab_cuda_function functions[] = {
        {&lt.create, "cublasLtCreate"},
        {&lt.desc_create, "cublasLtMatmulDescCreate"},
        {&lt.desc_set, "cublasLtMatmulDescSetAttribute"},
        {&lt.desc_destroy, "cublasLtMatmulDescDestroy"},
        {&lt.layout_create, "cublasLtMatrixLayoutCreate"},
        {&lt.layout_destroy, "cublasLtMatrixLayoutDestroy"},
        {&lt.preference_create, "cublasLtMatmulPreferenceCreate"},
        {&lt.preference_set, "cublasLtMatmulPreferenceSetAttribute"},
        {&lt.preference_destroy, "cublasLtMatmulPreferenceDestroy"},
        {&lt.heuristic, "cublasLtMatmulAlgoGetHeuristic"},
        {&lt.matmul, "cublasLtMatmul"},
        {NULL}};
    char name[32];
    snprintf(name, sizeof(name), "libcublasLt.so.%d", CUDART_VERSION / 1000);
    void *lib = lab_cuda_library((const char *const[]){name, NULL});
    if (!lib)
        return;
    if (lab_cuda_functions(lib, functions) ||
        cudaGetDevice(&lt.device) != cudaSuccess || lt.create(&lt.handle) != 0)
        lt.handle = NULL; /* the caller adds the bias itself */
}

/* What one product needs, and the algorithm that the heuristic names first. */
struct plan {
    void *desc;
    void *a;
    void *b;
    void *c;
    void *preference;
    struct lab_lt_algorithm algo;
};

/* Sums of bytes are whole numbers of 32 bits, and so are alpha and beta. */
static bool is_whole(const struct lab_lt_product *of)
{
    return of->compute == LAB_CUBLAS_COMPUTE_I32;
}

static int make_plan(struct plan *p, const struct lab_exec *exec,
                     const struct lab_lt_product *of, int op_a, int op_b,
                     int lda, int ldb, int ldc)
{
    int status = lt.desc_create(&p->desc, of->compute,
                                is_whole(of) ? LAB_CUBLAS_I32 : LAB_CUBLAS_F32);
    if (!status)
        status = lt.desc_set(p->desc, DESC_TRANS_A, &op_a, sizeof(op_a));
    if (!status)
        status = lt.desc_set(p->desc, DESC_TRANS_B, &op_b, sizeof(op_b));
    if (!status)
        status =
            lt.layout_create(&p->a, of->type, (uint64_t)(op_a ? of->k : of->m),
                             (uint64_t)(op_a ? of->m : of->k), lda);
    if (!status)
        status =
            lt.layout_create(&p->b, of->type, (uint64_t)(op_b ? of->n : of->k),
                             (uint64_t)(op_b ? of->k : of->n), ldb);
    if (!status)
        status =
            lt.layout_create(&p->c, is_whole(of) ? LAB_CUBLAS_I32 : of->type,
                             (uint64_t)of->m, (uint64_t)of->n, ldc);
    if (!status)
        status = lt.preference_create(&p->preference);
    if (!status)
        status = lt.preference_set(p->preference, PREFERENCE_WORKSPACE,
                                   &exec->workspace_bytes,
                                   sizeof(exec->workspace_bytes));
    return status;
}

static int add_bias(struct plan *p, const float *bias)
{
    const int epilogue = EPILOGUE_BIAS;
    int status =
        lt.desc_set(p->desc, DESC_EPILOGUE, &epilogue, sizeof(epilogue));
    return status
               ? status
               : lt.desc_set(p->desc, DESC_BIAS_POINTER, &bias, sizeof(bias));
}

static int ask(struct plan *p, int wanted, struct heuristic *out, int *found)
{
    *found = 0;
    int status = lt.heuristic(lt.handle, p->desc, p->a, p->b, p->c, p->c,
                              p->preference, wanted, out, found);
    return status || *found > 0 ? status : NOT_SUPPORTED;
}

static int run_plan(const struct plan *p, const struct lab_exec *exec,
                    const struct lab_lt_product *of,
                    const struct lab_lt_algorithm *algo)
{
    const float one = 1.0f;
    const int32_t whole = 1;
    const int32_t zero = 0; /* that of a float, too */
    return lt.matmul(lt.handle, p->desc,
                     is_whole(of) ? (const void *)&whole : &one, of->a, p->a,
                     of->b, p->b, &zero, of->c, p->c, of->c, p->c, algo,
                     exec->workspace, exec->workspace_bytes, exec->stream);
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

static bool usable(const struct lab_exec *exec)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return lt.handle && lt.device == exec->device;
}

/* ---- plans that are kept ---- */

/* A product and its workspace; compared as bytes. */
struct key {
    size_t workspace_bytes;
    int type;
    int compute;
    int op_a;
    int op_b;
    int m;
    int n;
    int k;
    int lda;
    int ldb;
    int ldc;
    int bias; /* 1: the epilogue adds one */
    int zero;
};
_Static_assert(sizeof(struct key) == sizeof(size_t) + 12 * sizeof(int),
               "a key has no padding");

/* Making a plan and asking for an algorithm costs the host some ten microseconds,
 * and a network asks for the same few products at every iteration. The oldest
 * plan makes room. What cuBLASLt refuses is kept, too: it is not asked again. */
enum { KEPT = 64 };
static struct {
    pthread_mutex_t lock;
    struct key key[KEPT];
    struct plan plan[KEPT];
    int status[KEPT];
    unsigned made;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct key key_of(const struct lab_exec *exec,
                         const struct lab_lt_product *of, int op_a, int op_b,
                         int lda, int ldb, int ldc, int bias)
{
    return (struct key){exec->workspace_bytes,
                        of->type,
                        of->compute,
                        op_a,
                        op_b,
                        of->m,
                        of->n,
                        of->k,
                        lda,
                        ldb,
                        ldc,
                        bias,
                        0};
}

/* The plan of that key at *at, made when it is not there; with kept.lock held.
 * Returns what making it did. */
static int kept_plan(const struct key *key, const struct lab_exec *exec,
                     const struct lab_lt_product *of, const float *bias,
                     unsigned *at)
{
    struct heuristic best;
    int found;
    unsigned count = kept.made < KEPT ? kept.made : KEPT;
    for (*at = 0; *at < count; ++*at) {
        if (memcmp(&kept.key[*at], key, sizeof(*key)) == 0)
            return kept.status[*at];
    }
    *at = kept.made++ % KEPT;
    struct plan *p = &kept.plan[*at];
    drop_plan(p);
    *p = (struct plan){0};
    int status = make_plan(p, exec, of, key->op_a, key->op_b, key->lda,
                           key->ldb, key->ldc);
    if (!status && bias)
        status = add_bias(p, bias);
    if (!status)
        status = ask(p, 1, &best, &found);
    if (!status)
        p->algo = best.algo;
    memcpy(&kept.key[*at], key, sizeof(*key));
    if (status && status != NOT_SUPPORTED) /* as no memory: may pass */
        memset(&kept.key[*at], 0xff, sizeof(*key));
    kept.status[*at] = status;
    return status;
}

int lab_cublas_lt_bias(const struct lab_exec *exec, int op_a, int op_b, int m,
                       int n, int k, const float *a, int lda, const float *b,
                       int ldb, const float *bias, float *c, int ldc)
{
    const struct lab_lt_product of = {
        LAB_CUBLAS_F32, LAB_CUBLAS_COMPUTE_F32, m, n, k, a, b, c, false};
    unsigned at;
    if (!usable(exec))
        return NOT_SUPPORTED;
    struct key key = key_of(exec, &of, op_a, op_b, lda, ldb, ldc, 1);
    pthread_mutex_lock(&kept.lock);
    int status = kept_plan(&key, exec, &of, bias, &at);
    if (!status)
        status = lt.desc_set(kept.plan[at].desc, DESC_BIAS_POINTER, &bias,
                             sizeof(bias));
    if (!status)
        status = run_plan(&kept.plan[at], exec, &of, &kept.plan[at].algo);
    pthread_mutex_unlock(&kept.lock);
    return status;
}

/* ---- the fastest of several ---- */

/* The shortest of a few runs, after one that does not count. */
static int time_one(const struct plan *p, const struct lab_exec *exec,
                    const struct lab_lt_product *of,
                    const struct lab_lt_algorithm *algo, float *out)
{
    enum { RUNS = 5 };
    cudaEvent_t begin = NULL;
    cudaEvent_t end = NULL;
    int status = cudaEventCreate(&begin) != cudaSuccess ||
                 cudaEventCreate(&end) != cudaSuccess;
    *out = INFINITY;
    for (int i = 0; i <= RUNS && !status; i++) {
        float ms = 0;
        (void)cudaEventRecord(begin, exec->stream);
        status = run_plan(p, exec, of, algo);
        (void)cudaEventRecord(end, exec->stream);
        if (!status && (cudaEventSynchronize(end) != cudaSuccess ||
                        cudaEventElapsedTime(&ms, begin, end) != cudaSuccess))
            status = NOT_SUPPORTED;
        if (!status && i > 0 && ms < *out)
            *out = ms;
    }
    (void)cudaEventDestroy(begin);
    (void)cudaEventDestroy(end);
    /* An algorithm that fails is passed over; the next launch is not to blame. */
    if (status)
        (void)cudaGetLastError();
    return status;
}

static int lt_lda(const struct lab_lt_product *of)
{
    return of->turned ? of->k : of->m;
}

static int cublas_lt_find(const struct lab_exec *exec,
                          const struct lab_lt_product *of,
                          struct lab_lt_choice *out)
{
    enum { TRIED = 8 };
    /* Parts of a sum that meet in 16 bits lose what fp32 sums are for. */
    const uint32_t reductions = REDUCTION_IN_PLACE | REDUCTION_COMPUTE_TYPE;
    struct plan p = {0};
    struct heuristic list[TRIED];
    int found = 0;
    float best = INFINITY;
    *out = (struct lab_lt_choice){0};
    if (!usable(exec))
        return NOT_SUPPORTED;
    int status =
        make_plan(&p, exec, of, of->turned, 0, lt_lda(of), of->k, of->m);
    if (!status)
        status = lt.preference_set(p.preference, PREFERENCE_REDUCTION,
                                   &reductions, sizeof(reductions));
    if (!status)
        status = ask(&p, TRIED, list, &found);
    for (int i = 0; i < found && !status; i++) {
        float ms;
        if (list[i].state || time_one(&p, exec, of, &list[i].algo, &ms))
            continue;
        out->tried++;
        if (ms < best) {
            best = ms;
            out->algo = list[i].algo;
            out->place = i + 1;
            out->workspace_bytes = list[i].workspace_bytes;
        }
    }
    drop_plan(&p);
    return status || out->tried > 0 ? status : NOT_SUPPORTED;
}

static int cublas_lt_product(const struct lab_exec *exec,
                             const struct lab_lt_product *of,
                             const struct lab_lt_choice *choice)
{
    unsigned at;
    if (!usable(exec))
        return NOT_SUPPORTED;
    struct key key =
        key_of(exec, of, of->turned, 0, lt_lda(of), of->k, of->m, 0);
    pthread_mutex_lock(&kept.lock);
    int status = kept_plan(&key, exec, of, NULL, &at);
    if (!status)
        status = run_plan(&kept.plan[at], exec, of,
                          choice ? &choice->algo : &kept.plan[at].algo);
    pthread_mutex_unlock(&kept.lock);
    return status;
}

/* ---- cuBLAS ---- */

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

static void cublas_load(void)
{
    static const struct lab_cuda_function functions[] = {
        {&api.create, "cublasCreate_v2"},
        {&api.destroy, "cublasDestroy_v2"},
        {&api.set_stream, "cublasSetStream_v2"},
        {&api.set_workspace, "cublasSetWorkspace_v2"},
        {&api.set_math_mode, "cublasSetMathMode"},
        {&api.sgemm, "cublasSgemm_v2"},
        {&api.sgemm_strided_batched, "cublasSgemmStridedBatched"},
        {&api.sgemm_batched, "cublasSgemmBatched"},
        {&api.sgemv, "cublasSgemv_v2"},
        {&api.gemm_ex, "cublasGemmEx"},
        /* Since CUDA 11.4; a message can do without. */
        {&api.status_text, "cublasGetStatusString", true},
        {NULL}};
    char of_this_major[32];
    snprintf(of_this_major, sizeof(of_this_major), "libcublas.so.%d",
             CUDART_VERSION / 1000);
    void *lib = lab_cuda_library(
        (const char *const[]){of_this_major, "libcublas.so",
                              "/usr/local/cuda/lib64/libcublas.so", NULL});
    const char *missing = lib ? lab_cuda_functions(lib, functions) : NULL;
    if (!lib)
        snprintf(why_not, sizeof(why_not),
                 "%s was not found: install cuBLAS of CUDA %d, or add its "
                 "directory to LD_LIBRARY_PATH",
                 of_this_major, CUDART_VERSION / 1000);
    else if (missing)
        snprintf(why_not, sizeof(why_not), "libcublas has no %s", missing);
    if (missing)
        dlclose(lib);
    else
        api.lib = lib;
}

bool lab_cublas_available(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, cublas_load);
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
        return lab_fail(LAB_E_UNSUPPORTED, "[cuda.cublas] cuBLAS: %s", why);
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
                                   .lt_find = cublas_lt_find,
                                   .lt_product = cublas_lt_product,
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
