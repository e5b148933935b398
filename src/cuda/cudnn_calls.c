/* cudnn_calls.c -- a convolution by cuDNN, one call a step: see engine/backend.h.
 *
 * For the lab `calls`: each descriptor, query, copy and launch of a convolution
 * by hand, reported with its result. The variants of conv2d do the same with
 * what they keep (kernels/library/cudnn_entry.cu). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "cuda_priv.h"
#include "library/cudnn_exec.h"
#include "engine/backend.h"
#include "conv2d/conv.h"

enum { LISTED = 8 };

struct job {
    const struct lab_conv_calls *c;
    struct conv_shape s;
    struct lab_cudnn dnn;
    struct lab_conv_call made;
    enum lab_status st;
    int64_t start;
    void *handle;
    void *x;
    void *w;
    void *y;
    void *conv;
    int algorithm;
    size_t workspace_bytes;
    void *workspace;
    void *x_dev;
    void *w_dev;
    void *y_dev;
};

/* ---- reporting ---- */

/* Before a call; false: one before it has failed, and no more is called. */
static bool begin(struct job *j)
{
    j->start = lab_clock_monotonic_ns();
    return !j->st;
}

static void result(struct job *j, const char *fmt, ...) LAB_PRINTF(2, 3);
static void result(struct job *j, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(j->made.result, sizeof(j->made.result), fmt, args);
    va_end(args);
}

/* The call has returned. A failed one is reported too. */
static void tell(struct job *j, bool failed, const char *status)
{
    j->made.ns = (double)(lab_clock_monotonic_ns() - j->start);
    j->made.number++;
    j->made.failed = failed;
    snprintf(j->made.status, sizeof(j->made.status), "%s", status);
    enum lab_status st = j->c->tell(j->c->user, &j->made);
    if (st && !j->st)
        j->st = st;
    j->made.result[0] = '\0';
}

static void dnn_done(struct job *j, int status, const char *fmt, ...)
    LAB_PRINTF(3, 4);
static void dnn_done(struct job *j, int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(j->made.call, sizeof(j->made.call), fmt, args);
    va_end(args);
    if (status && !j->st)
        j->st = lab_fail(status >= LAB_CUDNN_NOT_SUPPORTED ? LAB_E_UNSUPPORTED
                                                           : LAB_E_DEVICE,
                         "[cuda.cudnn-call] %s: %s", j->made.call,
                         j->dnn.status_text(status));
    tell(j, status != 0, j->dnn.status_text(status));
}

static void cuda_done(struct job *j, cudaError_t err, const char *fmt, ...)
    LAB_PRINTF(3, 4);
static void cuda_done(struct job *j, cudaError_t err, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(j->made.call, sizeof(j->made.call), fmt, args);
    va_end(args);
    if (err && !j->st)
        j->st = lab_cuda_fail(err, j->made.call);
    tell(j, err != cudaSuccess, cudaGetErrorName(err));
}

/* ---- descriptors ---- */

static void create(struct job *j, lab_cudnn_create_fn *fn, void **out,
                   const char *call)
{
    if (begin(j))
        dnn_done(j, fn(out), "%s", call);
}

static void set_tensor(struct job *j, void *d, const char *name, int64_t n,
                       int64_t c, int64_t h, int64_t w)
{
    if (!begin(j))
        return;
    int status =
        j->dnn.tensor_4d(d, LAB_CUDNN_FLOAT, (int)n, (int)c, (int)h, (int)w,
                         (int)(c * h * w), (int)(h * w), (int)w, 1);
    dnn_done(j, status,
             "cudnnSetTensor4dDescriptorEx(%s, CUDNN_DATA_FLOAT, n=%lld, "
             "c=%lld, h=%lld, w=%lld, strides %lld, %lld, %lld, 1)",
             name, (long long)n, (long long)c, (long long)h, (long long)w,
             (long long)(c * h * w), (long long)(h * w), (long long)w);
}

static void set_w(struct job *j)
{
    const struct conv_shape *s = &j->s;
    if (!begin(j))
        return;
    dnn_done(j,
             j->dnn.filter_4d(j->w, LAB_CUDNN_FLOAT, LAB_CUDNN_NCHW, (int)s->K,
                              (int)s->C, (int)s->R, (int)s->R),
             "cudnnSetFilter4dDescriptor(w_desc, CUDNN_DATA_FLOAT, "
             "CUDNN_TENSOR_NCHW, out_channels=%lld, in_channels=%lld, "
             "height=%lld, width=%lld)",
             (long long)s->K, (long long)s->C, (long long)s->R,
             (long long)s->R);
}

static void set_conv(struct job *j)
{
    int pad = (int)j->s.pad;
    if (!begin(j))
        return;
    dnn_done(j,
             j->dnn.conv_2d(j->conv, pad, pad, 1, 1, 1, 1,
                            LAB_CUDNN_CROSS_CORRELATION, LAB_CUDNN_FLOAT),
             "cudnnSetConvolution2dDescriptor(conv_desc, pad %d, %d, stride 1, "
             "1, dilation 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT)",
             pad, pad);
}

static void set_math(struct job *j)
{
    if (begin(j))
        dnn_done(j, j->dnn.conv_math(j->conv, LAB_CUDNN_FMA),
                 "cudnnSetConvolutionMathType(conv_desc, CUDNN_FMA_MATH)");
}

static void ask_y(struct job *j)
{
    int n = 0;
    int c = 0;
    int h = 0;
    int w = 0;
    if (!j->dnn.conv_out_dim || !begin(j))
        return; /* not in this cuDNN: the formula gives it */
    int status = j->dnn.conv_out_dim(j->conv, j->x, j->w, &n, &c, &h, &w);
    result(j, "n=%d, c=%d, h=%d, w=%d", n, c, h, w);
    dnn_done(j, status,
             "cudnnGetConvolution2dForwardOutputDim(conv_desc, x_desc, w_desc, "
             "&n, &c, &h, &w)");
}

/* ---- algorithm and workspace ---- */

static const char *algorithm_name(int algorithm)
{
    static const char *const names[] = {
        "IMPLICIT_GEMM", "IMPLICIT_PRECOMP_GEMM",
        "GEMM",          "DIRECT",
        "FFT",           "FFT_TILING",
        "WINOGRAD",      "WINOGRAD_NONFUSED"};
    return algorithm >= 0 && algorithm < LISTED ? names[algorithm] : "?";
}

/* cuDNN's list, and its first that serves the shape. */
static void ask_algorithm(struct job *j)
{
    struct lab_cudnn_algorithm listed[LISTED];
    int count = 0;
    if (!begin(j))
        return;
    int status = j->dnn.forward_list(j->handle, j->x, j->w, j->conv, j->y,
                                     LISTED, &count, listed);
    size_t used = 0;
    for (int i = 0; i < count && !status; i++) {
        if (listed[i].status)
            continue;
        if (j->algorithm < 0)
            j->algorithm = listed[i].algorithm;
        used += (size_t)snprintf(
            j->made.result + used, sizeof(j->made.result) - used,
            "%s%s (%zu B)", used ? ", " : "",
            algorithm_name(listed[i].algorithm), listed[i].workspace_bytes);
        if (used >= sizeof(j->made.result))
            break;
    }
    dnn_done(j, status,
             "cudnnGetConvolutionForwardAlgorithm_v7(handle, x_desc, w_desc, "
             "conv_desc, y_desc, requested=%d, &count, list)",
             LISTED);
    if (!j->st && j->algorithm < 0)
        j->st =
            lab_fail(LAB_E_UNSUPPORTED, "[cuda.cudnn-no-algorithm] cuDNN lists "
                                        "no algorithm for these sizes");
}

static void ask_workspace(struct job *j)
{
    if (!begin(j))
        return;
    int status = j->dnn.forward_size(j->handle, j->x, j->w, j->conv, j->y,
                                     j->algorithm, &j->workspace_bytes);
    result(j, "bytes=%zu", j->workspace_bytes);
    dnn_done(j, status,
             "cudnnGetConvolutionForwardWorkspaceSize(handle, x_desc, w_desc, "
             "conv_desc, y_desc, CUDNN_CONVOLUTION_FWD_ALGO_%s, &bytes)",
             algorithm_name(j->algorithm));
}

/* ---- memory ---- */

static size_t bytes_of(int64_t count)
{
    return (size_t)count * sizeof(float);
}

static size_t x_bytes(const struct job *j)
{
    return bytes_of(j->s.N * j->s.C * j->s.H * j->s.W);
}

static size_t w_bytes(const struct job *j)
{
    return bytes_of(j->s.K * conv_depth(&j->s));
}

static size_t y_bytes(const struct job *j)
{
    return bytes_of(j->s.N * j->s.K * j->s.P * j->s.Q);
}

static void take(struct job *j, void **out, const char *name, size_t bytes)
{
    if (bytes > 0 && begin(j))
        cuda_done(j, cudaMalloc(out, bytes), "cudaMalloc(&%s, %zu)", name,
                  bytes);
}

static void copy(struct job *j, void *to, const void *from, size_t bytes,
                 enum cudaMemcpyKind kind, const char *names)
{
    if (begin(j))
        cuda_done(j, cudaMemcpy(to, from, bytes, kind),
                  "cudaMemcpy(%s, %zu, %s)", names, bytes,
                  kind == cudaMemcpyHostToDevice ? "cudaMemcpyHostToDevice"
                                                 : "cudaMemcpyDeviceToHost");
}

/* ---- the convolution ---- */

static void convolve(struct job *j)
{
    const float one = 1.0f;
    const float zero = 0.0f;
    if (!begin(j))
        return;
    dnn_done(j,
             j->dnn.forward_run(j->handle, &one, j->x, j->x_dev, j->w, j->w_dev,
                                j->conv, j->algorithm, j->workspace,
                                j->workspace_bytes, &zero, j->y, j->y_dev),
             "cudnnConvolutionForward(handle, &alpha=1, x_desc, x, w_desc, w, "
             "conv_desc, CUDNN_CONVOLUTION_FWD_ALGO_%s, workspace, %zu, "
             "&beta=0, y_desc, y)",
             algorithm_name(j->algorithm), j->workspace_bytes);
}

static void wait(struct job *j)
{
    if (begin(j))
        cuda_done(j, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
}

static void call_all(struct job *j)
{
    const struct lab_cudnn *dnn = &j->dnn;
    const struct conv_shape *s = &j->s;
    create(j, dnn->create, &j->handle, "cudnnCreate(&handle)");
    create(j, dnn->tensor_create, &j->x,
           "cudnnCreateTensorDescriptor(&x_desc)");
    set_tensor(j, j->x, "x_desc", s->N, s->C, s->H, s->W);
    create(j, dnn->filter_create, &j->w,
           "cudnnCreateFilterDescriptor(&w_desc)");
    set_w(j);
    create(j, dnn->conv_create, &j->conv,
           "cudnnCreateConvolutionDescriptor(&conv_desc)");
    set_conv(j);
    set_math(j);
    ask_y(j);
    create(j, dnn->tensor_create, &j->y,
           "cudnnCreateTensorDescriptor(&y_desc)");
    set_tensor(j, j->y, "y_desc", s->N, s->K, s->P, s->Q);
    ask_algorithm(j);
    ask_workspace(j);
    take(j, &j->workspace, "workspace", j->workspace_bytes);
    take(j, &j->x_dev, "x", x_bytes(j));
    take(j, &j->w_dev, "w", w_bytes(j));
    take(j, &j->y_dev, "y", y_bytes(j));
    copy(j, j->x_dev, j->c->x, x_bytes(j), cudaMemcpyHostToDevice, "x, image");
    copy(j, j->w_dev, j->c->w, w_bytes(j), cudaMemcpyHostToDevice, "w, kernel");
    convolve(j);
    wait(j);
    copy(j, j->c->y, j->y_dev, y_bytes(j), cudaMemcpyDeviceToHost, "result, y");
}

/* Whatever was made, after a failure too. */
static void give_back(struct job *j)
{
    (void)cudaFree(j->y_dev);
    (void)cudaFree(j->w_dev);
    (void)cudaFree(j->x_dev);
    (void)cudaFree(j->workspace);
    if (j->conv)
        j->dnn.conv_destroy(j->conv);
    if (j->w)
        j->dnn.filter_destroy(j->w);
    if (j->y)
        j->dnn.tensor_destroy(j->y);
    if (j->x)
        j->dnn.tensor_destroy(j->x);
    if (j->handle)
        j->dnn.destroy(j->handle);
}

/* Sizes and strides are int for cuDNN. */
static bool fits(const struct conv_shape *s)
{
    return s->N * s->C * s->H * s->W <= INT32_MAX &&
           s->K * conv_depth(s) <= INT32_MAX &&
           s->N * s->K * s->P * s->Q <= INT32_MAX;
}

enum lab_status lab_cudnn_conv_calls(const struct lab_conv_calls *c)
{
    struct job j = {
        .c = c, .s = conv_shape_of_dims(c->dim), .algorithm = c->algorithm};
    const char *why = NULL;
    if (!fits(&j.s))
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[cuda.cudnn-size] cuDNN counts to 2^31 - 1 numbers: "
                        "take a smaller image");
    enum lab_status st = lab_cuda_select(c->device);
    if (st)
        return st;
    if (!lab_cudnn_available(&why) || !lab_cudnn_open(&j.dnn))
        return lab_fail(LAB_E_UNSUPPORTED, "[cuda.cudnn] cuDNN: %s",
                        why ? why : "it could not be opened");
    call_all(&j);
    struct lab_kept_error error;
    lab_error_keep(&error);
    give_back(&j);
    return lab_error_again(j.st, &error);
}
