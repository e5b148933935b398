/* kernels/conv2d/cudnn_ways.cu -- the rungs that call cuDNN: what they
 * prepare, run and say of themselves. The algorithms: see cudnn.cu.
 *
 * The course's opt-in for tensor cores is the descriptor's math type:
 *   CUDNN_FMA_MATH                         fp32 stays fp32
 *   CUDNN_DEFAULT_MATH                     was fp32 on Volta; since cuDNN 8, on
 *                                          compute capability 8.0 and later,
 *                                          factors may be rounded to TF32
 *   CUDNN_TENSOR_OP_MATH                   tensor cores where they serve
 *   CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION  fp32 may be turned into FP16 too */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "conv2d/cudnn.cuh"

static struct conv_shape shape_of(const struct lab_call *call,
                                  const struct conv_way &way)
{
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
    struct conv_way exact = {LAB_CONV_PRECOMP_GEMM, LAB_CUDNN_FMA, way.layout,
                             way.type};
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
