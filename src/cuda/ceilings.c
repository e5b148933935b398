/* What this GPU can do at best: a large copy on the device, large products by
 * cuBLAS in every type, and multiply-adds in registers. Inputs are random: a GPU draws less
 * power for zeros, and runs faster. Times are CUDA events on the stream. */
#include "base/mem.h"
#include "cuda_priv.h"
#include "common/multiply_adds.h"
#include "common/random.h"

enum { REPEATS = 11, WARM_UP = 3, SEED_FLOATS = 1 << 20 };

struct product {
    int side;
    enum lab_dtype dtype;
    int type; /* cuBLAS's numbers */
    int compute;
};

static const struct product products[LAB_CEILING_COUNT] = {
    [LAB_CEILING_FP32] = {4096, LAB_F32, LAB_CUBLAS_F32,
                          LAB_CUBLAS_COMPUTE_F32},
    [LAB_CEILING_TF32] = {8192, LAB_F32, LAB_CUBLAS_F32,
                          LAB_CUBLAS_COMPUTE_TF32},
    [LAB_CEILING_BF16] = {8192, LAB_BFLOAT16, LAB_CUBLAS_BF16,
                          LAB_CUBLAS_COMPUTE_F32},
    [LAB_CEILING_FP16] = {8192, LAB_F16, LAB_CUBLAS_F16,
                          LAB_CUBLAS_COMPUTE_F32},
    /* four numbers a word; the result has a word for each */
    [LAB_CEILING_INT8] = {8192, LAB_I32, LAB_CUBLAS_I8, LAB_CUBLAS_COMPUTE_I32},
};

static bool is_int8(const struct product *p)
{
    return p->type == LAB_CUBLAS_I8;
}

/* Fills device memory with one megabyte of random numbers over and over. */
static cudaError_t fill(void *to, size_t bytes, enum lab_dtype dtype,
                        cudaStream_t stream)
{
    size_t chunk = (size_t)SEED_FLOATS * lab_dtype_bytes(dtype);
    void *host = lab_alloc(chunk);
    cudaError_t err = host ? cudaSuccess : cudaErrorMemoryAllocation;
    for (size_t i = 0; host && i < SEED_FLOATS && dtype == LAB_I32; i++)
        ((uint32_t *)host)[i] = lab_random_word(1, 0, 0, i);
    for (size_t i = 0; host && i < SEED_FLOATS && dtype != LAB_I32; i++)
        lab_number_put(
            host, dtype, (int64_t)i,
            (double)(lab_random_unit(lab_random_word(1, 0, 0, i)) - 0.5f));
    for (size_t at = 0; at < bytes && err == cudaSuccess; at += chunk) {
        size_t n = bytes - at < chunk ? bytes - at : chunk;
        err = cudaMemcpyAsync((char *)to + at, host, n, cudaMemcpyHostToDevice,
                              stream);
    }
    if (err == cudaSuccess)
        err = cudaStreamSynchronize(stream);
    lab_free(host);
    return err;
}

/* ---- timing ---- */

struct work {
    const struct lab_exec *exec;
    const struct product *product; /* NULL: a copy, or multiply-adds */
    char *memory;
    size_t bytes;   /* of one matrix, or of the copy */
    int64_t blocks; /* of multiply-adds; 0: none */
};

/* Five milliseconds of them on the largest GPU that is known. */
enum { FMA_STEPS = 1 << 16 };

static enum lab_status do_once(const struct work *w)
{
    const float one = 1;
    const float zero = 0;
    const int whole_one = 1;
    const int whole_zero = 0;
    const struct lab_cublas *b = w->exec->cublas;
    if (w->blocks > 0)
        return lab_multiply_adds((float *)(void *)w->memory, w->blocks,
                                 FMA_STEPS, w->exec->stream);
    if (!w->product)
        return lab_cuda_judge(
            cudaMemcpyAsync(w->memory + w->bytes, w->memory, w->bytes,
                            cudaMemcpyDeviceToDevice, w->exec->stream),
            "copy");
    int n = w->product->side;
    int t = w->product->type;
    bool int8 = is_int8(w->product); /* cuBLAS wants the depth side by side */
    int status = b->gemm_ex(
        b->handle, int8 ? LAB_CUBLAS_T : LAB_CUBLAS_N, LAB_CUBLAS_N, n, n, n,
        int8 ? (const void *)&whole_one : &one, w->memory, t, n,
        w->memory + w->bytes, t, n, int8 ? (const void *)&whole_zero : &zero,
        w->memory + 2 * w->bytes, int8 ? LAB_CUBLAS_I32 : t, n,
        w->product->compute, -1);
    return status == 0
               ? LAB_OK
               : lab_fail(LAB_E_UNSUPPORTED, "[cuda.cublas-ceiling] cuBLAS: %s",
                          b->status_text ? b->status_text(status)
                                         : "this type is not there");
}

static enum lab_status time_once(const struct work *w, cudaEvent_t begin,
                                 cudaEvent_t end, double *seconds)
{
    float ms = 0;
    cudaError_t err = cudaEventRecord(begin, w->exec->stream);
    enum lab_status st = do_once(w);
    if (err == cudaSuccess)
        err = cudaEventRecord(end, w->exec->stream);
    if (err == cudaSuccess)
        err = cudaEventSynchronize(end);
    if (err == cudaSuccess)
        err = cudaEventElapsedTime(&ms, begin, end);
    *seconds = (double)ms / 1e3;
    return st ? st : lab_cuda_judge(err, "measure a ceiling");
}

static enum lab_status time_all(const struct work *w, double *seconds)
{
    cudaEvent_t begin = NULL;
    cudaEvent_t end = NULL;
    cudaError_t err = cudaEventCreate(&begin);
    if (err == cudaSuccess)
        err = cudaEventCreate(&end);
    enum lab_status st = lab_cuda_judge(err, "measure a ceiling");
    for (int i = -WARM_UP; i < REPEATS && !st; i++) {
        double s;
        st = time_once(w, begin, end, &s);
        if (i >= 0)
            seconds[i] = s;
    }
    if (begin)
        (void)cudaEventDestroy(begin);
    if (end)
        (void)cudaEventDestroy(end);
    return st;
}

/* As many threads as the device holds at once. */
static enum lab_status fma_ceiling(const struct lab_exec *exec,
                                   struct lab_ceiling_times *out)
{
    int device = 0;
    int sms = 0;
    int threads = 0;
    void *memory = NULL;
    cudaError_t err = cudaGetDevice(&device);
    if (err == cudaSuccess)
        err = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount,
                                     device);
    if (err == cudaSuccess)
        err = cudaDeviceGetAttribute(
            &threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
    int64_t blocks = (int64_t)sms * threads / LAB_MULTIPLY_ADD_THREADS;
    double in_flight = (double)blocks * LAB_MULTIPLY_ADD_THREADS;
    if (err == cudaSuccess)
        err = cudaMalloc(&memory, (size_t)in_flight * sizeof(float));
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "make room for a ceiling");
    struct work w = {.exec = exec, .memory = memory, .blocks = blocks};
    enum lab_status st = time_all(&w, out->seconds);
    (void)cudaFree(memory);
    if (st)
        return st;
    out->n = REPEATS;
    out->size = FMA_STEPS;
    out->work = 2.0 * in_flight * LAB_MULTIPLY_ADD_CHAINS * FMA_STEPS;
    return LAB_OK;
}

enum lab_status lab_cuda_ceiling(const struct lab_exec *exec, int ceiling,
                                 struct lab_ceiling_times *out)
{
    if (ceiling == LAB_CEILING_FMA)
        return fma_ceiling(exec, out);
    bool copy = ceiling == LAB_CEILING_COPY;
    const struct product *p = &products[ceiling];
    bool int8 = !copy && is_int8(p);
    struct work w = {.exec = exec,
                     .product = copy ? NULL : p,
                     .bytes = copy ? (size_t)1 << 30
                                   : (size_t)p->side * (size_t)p->side *
                                         lab_dtype_bytes(p->dtype)};
    if (int8)
        w.bytes /= sizeof(int32_t);
    if (!copy && !exec->cublas)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[cuda.no-cublas] cuBLAS is not there");
    size_t parts = copy ? 2 : int8 ? 2 + sizeof(int32_t) : 3;
    void *memory = NULL;
    cudaError_t err = cudaMalloc(&memory, parts * w.bytes);
    if (err != cudaSuccess)
        return lab_cuda_fail(err, "make room for a ceiling");
    w.memory = memory;
    err = fill(memory, 2 * w.bytes, copy ? LAB_F32 : p->dtype, exec->stream);
    enum lab_status st = lab_cuda_judge(err, "prepare a ceiling");
    if (!st)
        st = time_all(&w, out->seconds);
    (void)cudaFree(memory);
    if (st)
        return st;
    out->n = REPEATS;
    out->size = copy ? (int64_t)w.bytes : p->side;
    out->work = copy ? 2.0 * (double)w.bytes
                     : 2.0 * p->side * (double)p->side * p->side;
    return LAB_OK;
}
