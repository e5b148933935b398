/* kernels/batched_gemm/cublas.cu -- many small products by cuBLAS.
 *
 * cublas_looped   cublasSgemm, once a product.
 * cublas_batched  cublasSgemmBatched: one call with three arrays of addresses,
 *                 which lie in device memory; a kernel writes them first.
 * cublas_strided  cublasSgemmStridedBatched: one call; the matrices lie at even
 *                 distances, and no addresses have to be written.
 *
 * cuBLAS has matrices by columns: a row-major C = A B is its C^T = B^T A^T. */
#include "library/cublas_exec.h"
#include "batched_gemm/batched.h"
#include "common/launch.cuh"

static const float one = 1.0f;
static const float zero = 0.0f;

struct products {
    const struct lab_cublas *blas;
    int count;
    int n;
    int64_t each; /* numbers of a matrix */
};

static enum lab_status products_of(const struct lab_call *call,
                                   struct products *out)
{
    const int64_t *dim = call->in[0].dim;
    enum lab_status st = lab_cublas_ask(call->exec->cublas, dim, 2);
    if (st)
        return st;
    *out = {call->exec->cublas, static_cast<int>(dim[0]),
            static_cast<int>(dim[1]), dim[1] * dim[1]};
    return LAB_OK;
}

static enum lab_status judge(const struct products &p, int status)
{
    return lab_cublas_judge(p.blas, status, "sgemm");
}

enum lab_status lab_batched_cublas_looped(const struct lab_call *call)
{
    struct products p;
    enum lab_status st = products_of(call, &p);
    for (int64_t i = 0; !st && i < p.count; i++)
        st = judge(p, p.blas->sgemm(p.blas->handle, LAB_CUBLAS_N, LAB_CUBLAS_N,
                                    p.n, p.n, p.n, &one,
                                    lab_in(call, 1) + i * p.each, p.n,
                                    lab_in(call, 0) + i * p.each, p.n, &zero,
                                    lab_out(call, 0) + i * p.each, p.n));
    return st;
}

enum lab_status lab_batched_strided(const struct lab_call *call)
{
    struct products p;
    enum lab_status st = products_of(call, &p);
    return st ? st
              : judge(p, p.blas->sgemm_strided_batched(
                             p.blas->handle, LAB_CUBLAS_N, LAB_CUBLAS_N, p.n,
                             p.n, p.n, &one, lab_in(call, 1), p.n, p.each,
                             lab_in(call, 0), p.n, p.each, &zero,
                             lab_out(call, 0), p.n, p.each, p.count));
}

/* at[0] = A's addresses, at[1] = B's, at[2] = C's, `count` each. */
static __global__ void batched_addresses(float **at, float *a, float *b,
                                         float *c, int64_t each, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    at[i] = a + i * each;
    at[count + i] = b + i * each;
    at[2 * count + i] = c + i * each;
}

enum lab_status lab_batched_cublas(const struct lab_call *call)
{
    struct products p;
    enum lab_status st = products_of(call, &p);
    if (st)
        return st;
    float **at = static_cast<float **>(call->out[1].data);
    batched_addresses<<<lab_blocks(p.count), LAB_BLOCK, 0, lab_stream(call)>>>(
        at, static_cast<float *>(call->in[0].data),
        static_cast<float *>(call->in[1].data), lab_out(call, 0), p.each,
        p.count);
    st = lab_launched("batched_addresses");
    return st ? st
              : judge(p, p.blas->sgemm_batched(
                             p.blas->handle, LAB_CUBLAS_N, LAB_CUBLAS_N, p.n,
                             p.n, p.n, &one, at + p.count, p.n, at, p.n, &zero,
                             at + 2 * p.count, p.n, p.count));
}
