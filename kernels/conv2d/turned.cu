/* kernels/conv2d/turned.cu -- NCHW tensors, and an NHWC convolution.
 *
 * The idea: cuDNN's kernels for tensor cores want the channels last. So x and w
 * are turned on the way in and y on the way out: the three transposes that a
 * network with NHWC tensors from the start saves.
 * The price: every number of x, w and y is read and written once more. */
#include "conv2d/conv.cuh"
#include "conv2d/cudnn.cuh"
#include "layout/turn.cuh"

static const struct conv_way way = {LAB_CONV_PRECOMP_GEMM, LAB_MATH_DEFAULT,
                                    LAB_CUDNN_NHWC, LAB_CUDNN_FLOAT};

/* Bytes of a tensor, and where the next one starts. */
static size_t room(int64_t numbers)
{
    return cudnn_round(static_cast<size_t>(numbers) * sizeof(float));
}

static enum lab_status make(const struct lab_call *call,
                            const struct conv_shape &s, struct conv_made *out)
{
    return conv_cudnn_make(call, s, way,
                           room(call->in[0].count) + room(call->in[1].count) +
                               room(call->out[0].count),
                           out);
}

enum lab_status lab_conv_turned_prepare(const struct lab_call *call)
{
    struct conv_made made;
    return make(call, conv_shape_of(call), &made);
}

enum lab_status lab_conv_turned(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of(call);
    struct conv_made made;
    enum lab_status st = make(call, s, &made);
    if (st)
        return st;
    char *at = static_cast<char *>(call->exec->cudnn->workspace) + made.more_at;
    float *x = reinterpret_cast<float *>(at);
    at += room(call->in[0].count);
    float *w = reinterpret_cast<float *>(at);
    at += room(call->in[1].count);
    float *y = reinterpret_cast<float *>(at);
    st = lab_turn(call, x, lab_in(call, 0), s.N, s.C, s.H * s.W);
    if (!st)
        st = lab_turn(call, w, lab_in(call, 1), s.K, s.C, s.R * s.R);
    if (!st)
        st = conv_cudnn_run(call, made, way, x, w, y);
    return st ? st
              : lab_turn(call, lab_out(call, 0), static_cast<const float *>(y),
                         s.N, s.P * s.Q, s.K);
}

void lab_conv_turned_note(const struct lab_call *call,
                          struct lab_variant_note *out)
{
    struct conv_made made;
    if (!make(call, conv_shape_of(call), &made))
        out->workspace_bytes = static_cast<int64_t>(
            made.more_at + room(call->in[0].count) + room(call->in[1].count) +
            room(call->out[0].count));
}
