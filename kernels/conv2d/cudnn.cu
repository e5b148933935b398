/* kernels/conv2d/cudnn.cu -- cuDNN's algorithms of a convolution and of its
 * gradients, one a variant. Forward:
 *
 *   cudnn_gemm               the windows laid out, then a product
 *   cudnn_implicit_gemm      the product without the matrix in memory
 *   cudnn_precomp_gemm       the same with the places computed beforehand
 *   cudnn_direct             in the list of names, but never written
 *   cudnn_fft                products of Fourier transforms of whole images
 *   cudnn_fft_tiling         the same in tiles of 32 x 32
 *   cudnn_winograd           3 x 3 with fewer multiplications and more additions
 *                            (A. Lavin, S. Gray, arXiv:1509.09308), one kernel
 *   cudnn_winograd_nonfused  the same in several kernels
 *
 * Backward data and backward filter:
 *
 *   cudnn_algo_0, cudnn_algo_3  products without the matrix in memory, added by
 *                            atomics: the bits differ every time; 3 has the
 *                            places computed beforehand
 *   cudnn_algo_1             one such product, with the same bits every time
 *   cudnn_fft ...            as forward; of backward filter WINOGRAD was never
 *                            written
 *
 * All are fp32 in fp32 arithmetic (CUDNN_FMA_MATH): the default would let
 * cuDNN round the factors to TF32 for the tensor cores. What each takes as
 * workspace is its note. One that refuses a shape reports cuDNN's message. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "conv2d/cudnn.cuh"
#include "conv2d/conv.cuh"
#include "conv2d/conv2d_cudnn_choice.h"

enum { WAY_X, WAY_Y, WAY_W, WAY_SELF }; /* descriptors of an entry */

static int set_tensor(const struct lab_cudnn *dnn, void *d,
                      const struct conv_way &way, int64_t n, int64_t c,
                      int64_t h, int64_t w)
{
    int C = static_cast<int>(c);
    int H = static_cast<int>(h);
    int W = static_cast<int>(w);
    bool last = way.layout == LAB_CUDNN_NHWC; /* channels stand last */
    return dnn->tensor_4d(d, way.type, static_cast<int>(n), C, H, W, C * H * W,
                          last ? 1 : H * W, last ? W * C : W, last ? C : 1);
}

static enum lab_status describe(const struct lab_call *call,
                                struct lab_cudnn_entry *e,
                                const struct conv_shape &s,
                                const struct conv_way &way)
{
    struct lab_cudnn *dnn = call->exec->cudnn;
    int pad = static_cast<int>(s.pad);
    int R = static_cast<int>(s.R);
    if (!cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) ||
        !cudnn_descriptor(e, dnn->filter_create, dnn->filter_destroy) ||
        !cudnn_descriptor(e, dnn->conv_create, dnn->conv_destroy))
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    void **d = e->descriptor;
    int status = set_tensor(dnn, d[WAY_X], way, s.N, s.C, s.H, s.W);
    if (!status)
        status = set_tensor(dnn, d[WAY_Y], way, s.N, s.K, s.P, s.Q);
    if (!status)
        status =
            dnn->filter_4d(d[WAY_W], way.type, way.layout,
                           static_cast<int>(s.K), static_cast<int>(s.C), R, R);
    if (!status)
        status = dnn->conv_2d(d[WAY_SELF], pad, pad, 1, 1, 1, 1,
                              LAB_CUDNN_CROSS_CORRELATION, LAB_CUDNN_FLOAT);
    if (!status)
        status = dnn->conv_math(d[WAY_SELF], way.math);
    return cudnn_judge(call, status, "a descriptor");
}

/* For kernels larger than 3 x 3 Winograd's transforms multiply by numbers so
 * large that fp32 is off by more than the check allows. */
static enum lab_status refuse_coarse(const struct conv_shape &s,
                                     const struct conv_way &way)
{
    if (!lab_conv_too_coarse(way.pass, way.algorithm, s.R, s.R))
        return LAB_OK;
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[launch.winograd] Winograd's transforms are for 3 x 3; "
                    "for %lld x %lld "
                    "cuDNN has none or they round too coarsely for fp32",
                    (long long)s.R, (long long)s.R);
}

/* The functions of a pass, and the descriptors of its tensors: two in, one out. */
struct pass_calls {
    lab_cudnn_conv_size_fn *size;
    lab_cudnn_conv_run_fn *run;
    int a;
    int b;
    int c;
    const char *name;
};

static struct pass_calls calls_of(const struct lab_cudnn *dnn,
                                  enum conv_pass pass)
{
    switch (pass) {
    case CONV_PASS_DATA:
        return {dnn->data_size, dnn->data_run, WAY_W,
                WAY_Y,          WAY_X,         "cudnnConvolutionBackwardData"};
    case CONV_PASS_FILTER:
        return {dnn->filter_size,
                dnn->filter_run,
                WAY_X,
                WAY_Y,
                WAY_W,
                "cudnnConvolutionBackwardFilter"};
    default:
        return {dnn->forward_size,        dnn->forward_run, WAY_X, WAY_W, WAY_Y,
                "cudnnConvolutionForward"};
    }
}

static enum lab_status size_workspace(const struct lab_call *call,
                                      struct lab_cudnn_entry *e,
                                      const struct conv_way &way, size_t *bytes)
{
    struct lab_cudnn *dnn = call->exec->cudnn;
    void **d = e->descriptor;
    struct pass_calls f = calls_of(dnn, way.pass);
    return cudnn_judge(call,
                       f.size(dnn->handle, d[f.a], d[f.b], d[WAY_SELF], d[f.c],
                              way.algorithm, bytes),
                       "the workspace's size");
}

static enum lab_status make(const struct lab_call *call,
                            struct lab_cudnn_entry *e,
                            const struct conv_shape &s,
                            const struct conv_way &way)
{
    const int64_t sizes[] = {s.N * s.C * s.H * s.W, s.N * s.K * s.P * s.Q,
                             s.K * conv_depth(&s)};
    enum lab_status st = refuse_coarse(s, way);
    if (!st && !cudnn_fits(sizes, 3))
        st =
            lab_fail(LAB_E_UNSUPPORTED,
                     "[launch.cudnn-product] cuDNN counts to 2^31 - 1 numbers");
    if (!st)
        st = describe(call, e, s, way);
    return st ? st
              : size_workspace(call, e, way, static_cast<size_t *>(e->plan));
}

enum lab_status conv_cudnn_make(const struct lab_call *call,
                                const struct conv_shape &s,
                                const struct conv_way &way, size_t more,
                                struct conv_made *out)
{
    struct cudnn_key key = {{CUDNN_LAB_CONV, way.algorithm, way.math,
                             way.layout, way.type, s.N, s.C, s.H, s.W, s.K, s.R,
                             way.pass}};
    enum lab_status st = cudnn_entry_of(call, key, sizeof(size_t), &out->entry);
    if (!st && !out->entry->ready)
        st = cudnn_entry_made(call, out->entry, make(call, out->entry, s, way));
    if (st)
        return st;
    out->workspace = *static_cast<size_t *>(out->entry->plan);
    out->more_at = cudnn_round(out->workspace);
    return cudnn_workspace(call, out->more_at + more);
}

enum lab_status conv_cudnn_run(const struct lab_call *call,
                               const struct conv_made &made,
                               const struct conv_way &way, const void *a,
                               const void *b, void *c)
{
    struct lab_cudnn *dnn = call->exec->cudnn;
    void **d = made.entry->descriptor;
    struct pass_calls f = calls_of(dnn, way.pass);
    /* cuDNN takes w before dy */
    bool swap = way.pass == CONV_PASS_DATA;
    int status = f.run(dnn->handle, &cudnn_one, d[f.a], swap ? b : a, d[f.b],
                       swap ? a : b, d[WAY_SELF], way.algorithm, dnn->workspace,
                       made.workspace, &cudnn_zero, d[f.c], c);
    return cudnn_judge(call, status, f.name);
}

/* ---- the variants: what they prepare, run and report ----
 *
 * The course's opt-in for tensor cores is the descriptor's math type:
 *   CUDNN_FMA_MATH                         fp32 stays fp32
 *   CUDNN_DEFAULT_MATH                     was fp32 on Volta; since cuDNN 8, on
 *                                          compute capability 8.0 and later,
 *                                          factors may be rounded to TF32
 *   CUDNN_TENSOR_OP_MATH                   tensor cores where they serve
 *   CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION  fp32 may be turned into FP16 too */

static struct conv_shape shape_of(const struct lab_call *call,
                                  const struct conv_way &way)
{
    if (way.pass != CONV_PASS_FORWARD)
        return way.pass == CONV_PASS_DATA ? conv_shape_of_data(call)
                                          : conv_shape_of_filter(call);
    return way.layout == LAB_CUDNN_NHWC ? conv_shape_of_nhwc(call)
                                        : conv_shape_of(call);
}

enum lab_status conv_way_prepare(const struct lab_call *call,
                                 const struct conv_way &way)
{
    struct conv_made made;
    return conv_cudnn_make(call, shape_of(call, way), way, 0, &made);
}

enum lab_status conv_way_run(const struct lab_call *call,
                             const struct conv_way &way)
{
    struct conv_made made;
    enum lab_status st =
        conv_cudnn_make(call, shape_of(call, way), way, 0, &made);
    return st ? st
              : conv_cudnn_run(call, made, way, call->in[0].data,
                               call->in[1].data, call->out[0].data);
}

/* Largest |a - b| and largest |b| of two device tensors; false: no memory, or
 * the device failed. */
static bool largest(const struct lab_call *call, const float *a, const float *b,
                    int64_t count, double *difference, double *value)
{
    size_t bytes = static_cast<size_t>(count) * sizeof(float);
    float *host = static_cast<float *>(lab_alloc(2 * bytes));
    bool done =
        host && cudaStreamSynchronize(lab_stream(call)) == cudaSuccess &&
        cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost) == cudaSuccess &&
        cudaMemcpy(host + count, b, bytes, cudaMemcpyDeviceToHost) ==
            cudaSuccess;
    *difference = 0;
    *value = 0;
    for (int64_t i = 0; done && i < count; i++) {
        double to = static_cast<double>(host[count + i]);
        *difference =
            fmax(*difference, fabs(static_cast<double>(host[i]) - to));
        *value = fmax(*value, fabs(to));
    }
    lab_free(host);
    return done;
}

/* The same in fp32 arithmetic, into the workspace's end, and compared. */
static void tell_difference(const struct lab_call *call,
                            const struct conv_way &way,
                            struct lab_variant_note *out)
{
    /* PRECOMP_GEMM, and ALGO_1 of both gradients */
    struct conv_way exact = {LAB_CONV_PRECOMP_GEMM, LAB_CUDNN_FMA, way.layout,
                             way.type, way.pass};
    int64_t count = call->out[0].count;
    struct conv_made made;
    double difference;
    double value;
    if (conv_cudnn_make(call, shape_of(call, way), exact,
                        static_cast<size_t>(count) * sizeof(float), &made))
        return;
    char *end =
        static_cast<char *>(call->exec->cudnn->workspace) + made.more_at;
    float *y = reinterpret_cast<float *>(end);
    if (conv_cudnn_run(call, made, exact, call->in[0].data, call->in[1].data,
                       y) ||
        !largest(call, static_cast<const float *>(call->out[0].data), y, count,
                 &difference, &value))
        return;
    snprintf(out->text, sizeof(out->text),
             difference > 0 ? "at most %.2g from fp32's result, of up to %.3g"
                            : "the same bits as in fp32",
             difference, value);
}

void conv_way_note(const struct lab_call *call, const struct conv_way &way,
                   struct lab_variant_note *out)
{
    struct conv_made made;
    if (conv_cudnn_make(call, shape_of(call, way), way, 0, &made))
        return;
    out->workspace_bytes = static_cast<int64_t>(made.workspace);
    if (way.type == LAB_CUDNN_FLOAT && way.math != LAB_CUDNN_FMA)
        tell_difference(call, way, out);
}
