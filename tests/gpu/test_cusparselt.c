/* tests/gpu/test_cusparselt.c -- the product by cuSPARSELt: what the library is
 * asked for, and what it is given. A stand-in for the library compresses and
 * multiplies on the host; no GPU is needed. */
#include "test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "cuda_priv.h"
#include "gemm_sparse/gemm_sparse.h"
#include "library/cusparselt_exec.h"

/* ---- the stand-in ---- */

/* The values of cusparse.h and cusparseLt.h. */
enum { ORDER_ROW = 2, COMPUTE_32F = 2, NOT_SUPPORTED = 10 };

/* What it keeps in the 512 bytes of a matrix, a product or a plan. */
struct matrix {
    int64_t rows;
    int64_t cols;
    int64_t ld;
    int type;
    bool sparse;
};

struct product {
    struct matrix a;
    struct matrix b;
    struct matrix c;
};

static struct {
    bool absent;
    int minor;
    const char *lacks; /* a function that it has not */
    int made;          /* handles, matrices, algorithms, plans that are there */
    int memory;        /* of the device */
    size_t workspace;
    const char *refuses;
    int run;
} fake = {.minor = 8};

static int answer(const char *name)
{
    return fake.refuses && strcmp(fake.refuses, name) == 0 ? NOT_SUPPORTED : 0;
}

static int made(const char *name)
{
    int status = answer(name);
    fake.made += status == 0;
    return status;
}

static int fake_property(int which, int *value)
{
    *value = which == 0 ? 0 : which == 1 ? fake.minor : 1;
    return 0;
}

static int fake_init(void *handle)
{
    memset(handle, 0x5a, 512);
    return made("init");
}

static int fake_destroy(const void *object)
{
    assert_non_null(object);
    fake.made--;
    return 0;
}

static int matrix(const char *name, const void *handle, void *out,
                  const struct matrix *m, uint32_t alignment, int order)
{
    assert_int_equal(*(const unsigned char *)handle, 0x5a);
    assert_int_equal(alignment, 16);
    assert_int_equal(order, ORDER_ROW);
    memcpy(out, m, sizeof(*m));
    return made(name);
}

static int fake_dense(const void *handle, void *out, int64_t rows, int64_t cols,
                      int64_t ld, uint32_t alignment, int type, int order)
{
    const struct matrix m = {rows, cols, ld, type, false};
    return matrix("dense", handle, out, &m, alignment, order);
}

static int fake_structured(const void *handle, void *out, int64_t rows,
                           int64_t cols, int64_t ld, uint32_t alignment,
                           int type, int order, int sparsity)
{
    const struct matrix m = {rows, cols, ld, type, true};
    assert_int_equal(sparsity, 0);
    return matrix("structured", handle, out, &m, alignment, order);
}

static int fake_descriptor(const void *handle, void *out, int op_a, int op_b,
                           const void *a, const void *b, const void *c,
                           const void *d, int compute)
{
    struct product p;
    assert_non_null(handle);
    assert_true(op_a == 0 && op_b == 0 && c == d && compute == COMPUTE_32F);
    memcpy(&p.a, a, sizeof(p.a));
    memcpy(&p.b, b, sizeof(p.b));
    memcpy(&p.c, c, sizeof(p.c));
    assert_true(p.a.sparse && !p.b.sparse && !p.c.sparse);
    memcpy(out, &p, sizeof(p));
    return answer("descriptor");
}

static int fake_algorithm(const void *handle, void *out, const void *of,
                          int which)
{
    assert_true(handle && which == 0);
    memcpy(out, of, sizeof(struct product));
    return made("algorithm");
}

static int fake_plan(const void *handle, void *out, const void *of,
                     const void *algorithm)
{
    assert_non_null(handle);
    assert_memory_equal(of, algorithm, sizeof(struct product));
    memcpy(out, of, sizeof(struct product));
    return made("plan");
}

static int fake_workspace(const void *handle, const void *plan, size_t *bytes)
{
    assert_true(handle && plan);
    *bytes = fake.workspace;
    return answer("workspace");
}

static int fake_size(const void *handle, const void *plan, size_t *bytes,
                     size_t *buffer)
{
    const struct product *p = plan;
    assert_non_null(handle);
    *bytes = (size_t)(p->a.rows * p->a.cols) * sizeof(uint16_t);
    *buffer = 64;
    return answer("size");
}

/* Its order: A as it was. */
static int fake_compress(const void *handle, const void *plan,
                         const void *dense, void *compressed, void *buffer,
                         cudaStream_t stream)
{
    const struct product *p = plan;
    const uint16_t *from = dense;
    (void)stream;
    assert_true(handle && buffer);
    for (int64_t i = 0; i < p->a.rows * p->a.cols; i += 4) {
        int zeros = 0;
        for (int k = 0; k < 4; k++)
            zeros += from[i + k] == 0;
        assert_true(zeros >= 2);
    }
    memcpy(compressed, dense,
           (size_t)(p->a.rows * p->a.cols) * sizeof(uint16_t));
    return answer("compress");
}

static double at(const void *data, const struct matrix *m, int64_t row,
                 int64_t col)
{
    assert_true(m->ld == m->cols && row < m->rows && col < m->cols);
    return lab_number_at(data,
                         m->type == LAB_CUBLAS_F16 ? LAB_F16 : LAB_BFLOAT16,
                         row * m->ld + col);
}

static int fake_matmul(const void *handle, const void *plan, const void *alpha,
                       const void *a, const void *b, const void *beta,
                       const void *c, void *d, void *workspace,
                       cudaStream_t *streams, int32_t n_streams)
{
    const struct product *p = plan;
    const float one = *(const float *)alpha;
    assert_true(handle && workspace && streams && n_streams == 1 && c == d);
    assert_true(one == 1.0f && *(const float *)beta == 0.0f);
    for (int64_t i = 0; i < p->c.rows * p->c.cols; i++) {
        double sum = 0;
        for (int64_t k = 0; k < p->a.cols; k++)
            sum +=
                at(a, &p->a, i / p->c.cols, k) * at(b, &p->b, k, i % p->c.cols);
        lab_number_put(d, p->c.type == LAB_CUBLAS_F16 ? LAB_F16 : LAB_BFLOAT16,
                       i, sum);
    }
    fake.run++;
    return answer("matmul");
}

static const struct {
    const char *name;
    void (*fn)(void);
} functions[] = {
#define FAKE(name, fn)                                                         \
    {                                                                          \
        name, (void (*)(void))(fn)                                             \
    }
    FAKE("cusparseLtGetProperty", fake_property),
    FAKE("cusparseLtInit", fake_init),
    FAKE("cusparseLtDestroy", fake_destroy),
    FAKE("cusparseLtDenseDescriptorInit", fake_dense),
    FAKE("cusparseLtStructuredDescriptorInit", fake_structured),
    FAKE("cusparseLtMatDescriptorDestroy", fake_destroy),
    FAKE("cusparseLtMatmulDescriptorInit", fake_descriptor),
    FAKE("cusparseLtMatmulAlgSelectionInit", fake_algorithm),
    FAKE("cusparseLtMatmulAlgSelectionDestroy", fake_destroy),
    FAKE("cusparseLtMatmulPlanInit", fake_plan),
    FAKE("cusparseLtMatmulPlanDestroy", fake_destroy),
    FAKE("cusparseLtMatmulGetWorkspace", fake_workspace),
    FAKE("cusparseLtSpMMACompressedSize", fake_size),
    FAKE("cusparseLtSpMMACompress", fake_compress),
    FAKE("cusparseLtMatmul", fake_matmul),
#undef FAKE
};

/* In the place of the functions of that name: see CMakeLists.txt. */
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlsym(void *lib, const char *name);
cudaError_t __wrap_cudaMalloc(void **out, size_t bytes);
cudaError_t __wrap_cudaFree(void *p);
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind);
cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind,
                                   cudaStream_t stream);
cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream);
enum lab_status lab_cuda_judge(cudaError_t err, const char *doing);

void *__wrap_dlopen(const char *name, int flags)
{
    (void)flags;
    assert_non_null(strstr(name, "libcusparseLt.so"));
    return fake.absent ? NULL : &fake;
}

void *__wrap_dlsym(void *lib, const char *name)
{
    void *address = NULL;
    assert_ptr_equal(lib, &fake);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, name) == 0 &&
            !(fake.lacks && strcmp(fake.lacks, name) == 0))
            memcpy(&address, &functions[i].fn, sizeof(address));
    }
    return address;
}

cudaError_t __wrap_cudaMalloc(void **out, size_t bytes)
{
    *out = malloc(bytes);
    fake.memory++;
    return cudaSuccess;
}

cudaError_t __wrap_cudaFree(void *p)
{
    fake.memory -= p != NULL;
    free(p);
    return cudaSuccess;
}

/* To the device it may return before the copy is done, and no stream waits for it. */
cudaError_t __wrap_cudaMemcpy(void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind)
{
    assert_int_equal(kind, cudaMemcpyDeviceToHost);
    memcpy(to, from, bytes);
    return cudaSuccess;
}

/* What the stream has still to do. */
static struct {
    void *to;
    const void *from;
    size_t bytes;
} queued;

cudaError_t __wrap_cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
    (void)kind;
    (void)stream;
    assert_null(queued.to);
    queued.to = to;
    queued.from = from;
    queued.bytes = bytes;
    return cudaSuccess;
}

cudaError_t __wrap_cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    if (queued.to)
        memcpy(queued.to, queued.from, queued.bytes);
    queued.to = NULL;
    return cudaSuccess;
}

/* device.c's, which wants a driver. */
enum lab_status lab_cuda_judge(cudaError_t err, const char *doing)
{
    return err == cudaSuccess ? LAB_OK : lab_fail(LAB_E_DEVICE, "%s", doing);
}

/* ---- products ---- */

enum { MOST = 96 * 96 };

static struct {
    uint16_t kept[MOST / 2];
    int32_t meta[MOST / LAB_SPARSE_WORD];
    uint16_t b[MOST];
    uint16_t c[MOST];
} numbers;

static struct lab_sparse_product product(int64_t M, int64_t N, int64_t K,
                                         enum lab_dtype t)
{
    static const uint32_t pairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    for (int64_t i = 0; i < M * K / 2; i++)
        lab_number_put(numbers.kept, t, i, (double)(1 + i % 7));
    for (int64_t i = 0; i < M * K / LAB_SPARSE_WORD; i++) {
        uint32_t word = 0;
        for (int four = 0; four < 8; four++)
            word |= pairs[(i * 5 + four) % 6] << 4 * four;
        numbers.meta[i] = (int32_t)word;
    }
    for (int64_t i = 0; i < K * N; i++)
        lab_number_put(numbers.b, t, i, (double)(i % 5 - 2));
    memset(numbers.c, 0xff, sizeof(numbers.c));
    return (struct lab_sparse_product){t == LAB_F16 ? LAB_CUBLAS_F16
                                                    : LAB_CUBLAS_BF16,
                                       M,
                                       N,
                                       K,
                                       numbers.kept,
                                       numbers.meta,
                                       numbers.b,
                                       numbers.c};
}

static struct lab_exec exec_with(size_t workspace_bytes)
{
    static char workspace[1];
    return (struct lab_exec){.workspace = workspace,
                             .workspace_bytes = workspace_bytes};
}

/* Whole numbers below 2^8 times small ones: fp16 has these sums without rounding. */
static void compare(const struct lab_sparse_product *of, enum lab_dtype t)
{
    for (int64_t i = 0; i < of->M * of->N; i++) {
        double sum = 0;
        for (int64_t k = 0; k < of->K / 2; k++) {
            int64_t at_kept = i / of->N * of->K / 2 + k;
            uint32_t word = (uint32_t)numbers.meta[at_kept / 16];
            int64_t row =
                k / 16 * 32 + lab_sparse_place(word, (int)(at_kept % 16));
            sum += lab_number_at(numbers.kept, t, at_kept) *
                   lab_number_at(numbers.b, t, row * of->N + i % of->N);
        }
        uint16_t expected;
        lab_number_put(&expected, t, 0, sum);
        assert_int_equal(numbers.c[i], expected);
    }
}

static void multiply(int64_t M, int64_t N, int64_t K, enum lab_dtype t)
{
    struct lab_exec exec = exec_with(4096);
    struct lab_sparse_product of = product(M, N, K, t);
    struct lab_sparse_bytes bytes;
    fake.workspace = 4096;
    assert_int_equal(lab_cuda_cusparselt.prepare(&exec, &of, &bytes), LAB_OK);
    assert_int_equal(bytes.workspace, 4096);
    assert_int_equal(bytes.dense, M * K * 2);
    assert_int_equal(bytes.compressed, M * K * 2);
    assert_int_equal(lab_cuda_cusparselt.product(&exec, &of), LAB_OK);
    compare(&of, t);
    lab_cuda_cusparselt.release();
    assert_int_equal(fake.made, 0);
    assert_int_equal(fake.memory, 0);
}

/* The reason that a process with such a library gets; the library is loaded once in
 * a process, so in a child. */
static void refused_because(const char *reason)
{
    struct lab_exec exec = exec_with(4096);
    struct lab_sparse_product of = product(32, 32, 32, LAB_F16);
    struct lab_sparse_bytes bytes;
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bool right = lab_cuda_cusparselt.prepare(&exec, &of, &bytes) ==
                         LAB_E_UNSUPPORTED &&
                     strcmp(lab_error_id(), "launch.no-cusparselt") == 0 &&
                     strstr(lab_error(), reason);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST_CASE(without_the_library_the_reason_is_given)
{
    fake.absent = true;
    refused_because("libcusparseLt.so.0 was not found: install cuSPARSELt");
    fake.absent = false;
    fake.minor = 7;
    refused_because("version 0.7 was found: install 0.8 or later");
    fake.minor = 8;
    fake.lacks = "cusparseLtSpMMACompress";
    refused_because("libcusparseLt has no cusparseLtSpMMACompress");
    fake.lacks = "cusparseLtGetProperty";
    refused_because("it does not report its version");
    fake.lacks = NULL;
}

TEST_CASE(the_zeros_are_where_the_metadata_has_them)
{
    multiply(32, 48, 96, LAB_F16);
    multiply(48, 16, 32, LAB_BFLOAT16);
    multiply(64, 64, 64, LAB_F16);
}

/* A size after a size: what the first made is given back. */
TEST_CASE(a_second_prepare_ends_the_first)
{
    struct lab_exec exec = exec_with(4096);
    struct lab_sparse_product of = product(32, 32, 64, LAB_F16);
    struct lab_sparse_bytes bytes;
    assert_int_equal(lab_cuda_cusparselt.prepare(&exec, &of, &bytes), LAB_OK);
    int made_once = fake.made;
    assert_int_equal(lab_cuda_cusparselt.prepare(&exec, &of, &bytes), LAB_OK);
    assert_int_equal(fake.made, made_once);
    assert_int_equal(fake.memory, 1);
    lab_cuda_cusparselt.release();
    lab_cuda_cusparselt.release();
    assert_int_equal(fake.made, 0);
    assert_int_equal(lab_cuda_cusparselt.product(&exec, &of), LAB_E_STATE);
}

TEST_CASE(sides_that_it_does_not_take_are_refused_before_it_is_asked)
{
    static const int64_t sides[][3] = {{17, 32, 32}, {32, 8, 32}, {32, 32, 48}};
    struct lab_exec exec = exec_with(4096);
    struct lab_sparse_bytes bytes;
    for (int i = 0; i < 3; i++) {
        struct lab_sparse_product of = {
            .M = sides[i][0], .N = sides[i][1], .K = sides[i][2]};
        assert_int_equal(lab_cuda_cusparselt.prepare(&exec, &of, &bytes),
                         LAB_E_UNSUPPORTED);
        assert_string_equal(lab_error_id(), "launch.cusparselt-sides");
        assert_int_equal(fake.made, 0);
    }
}

TEST_CASE(what_it_refuses_leaves_nothing_behind)
{
    static const char *const calls[] = {"init",       "structured", "dense",
                                        "descriptor", "algorithm",  "plan",
                                        "workspace",  "size",       "compress"};
    struct lab_exec exec = exec_with(4096);
    struct lab_sparse_bytes bytes;
    struct lab_sparse_product of = product(32, 32, 32, LAB_F16);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        fake.refuses = calls[i];
        assert_int_equal(lab_cuda_cusparselt.prepare(&exec, &of, &bytes),
                         LAB_E_UNSUPPORTED);
        assert_string_equal(lab_error_id(), "launch.cusparselt-refused");
        assert_int_equal(fake.made, 0);
        assert_int_equal(fake.memory, 0);
    }
    fake.refuses = NULL;
}

TEST_CASE(a_workspace_that_is_too_small_is_an_error)
{
    struct lab_exec exec = exec_with(100);
    struct lab_sparse_bytes bytes;
    struct lab_sparse_product of = product(32, 32, 32, LAB_F16);
    fake.workspace = 101;
    assert_int_equal(lab_cuda_cusparselt.prepare(&exec, &of, &bytes),
                     LAB_E_UNSUPPORTED);
    assert_string_equal(lab_error_id(), "launch.cusparselt-workspace");
    assert_int_equal(fake.made, 0);
}

RUN_TESTS()
