/* kernels/conv2d/im2col.cu -- the windows laid out, then a product.
 *
 * The idea: with the windows of an image as the columns of a matrix
 * X (C R R, P Q) the convolution is y = w X, and the best product of the lab
 * lab-gemm does it: two buffers, 8 x 8 elements a thread (gemm/double.cu).
 * The price: each number of x is written R R times and read again. X of
 * 128 x 128 x 128 is 72 MiB for 3 x 3 and 968 MiB for 11 x 11, the course's
 * "workspace" of CUDNN_CONVOLUTION_FWD_ALGO_GEMM. One image at a time. */
#include "conv2d/conv.cuh"
#include "gemm/gemm.h"

/* A thread for each number of X; neighbours have neighbouring windows. */
static __global__ void conv_im2col(float *windows, const float *image,
                                   struct conv_shape s, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t row = i / (s.P * s.Q);
    int64_t h = i / s.Q % s.P + row / s.R % s.R - s.pad;
    int64_t v = i % s.Q + row % s.R - s.pad;
    int64_t c = row / (s.R * s.R);
    bool inside = h >= 0 && h < s.H && v >= 0 && v < s.W;
    windows[i] = inside ? image[(c * s.H + h) * s.W + v] : 0.0f;
}

static struct lab_view matrix(void *data, int64_t rows, int64_t cols)
{
    return {data, LAB_F32, 2, {rows, cols}, rows * cols};
}

/* Image n of y (K, P Q) = w (K, C R R) X: a call of the product's own. */
static enum lab_status multiply(const struct lab_call *call, int64_t n,
                                const struct conv_shape &s)
{
    int64_t depth = conv_depth(&s);
    int64_t places = s.P * s.Q;
    const struct lab_view in[2] = {matrix(call->in[1].data, s.K, depth),
                                   matrix(lab_out(call, 1), depth, places)};
    const struct lab_view out =
        matrix(lab_out(call, 0) + n * s.K * places, s.K, places);
    struct lab_call product = *call;
    product.in = in;
    product.out = &out;
    product.n_out = 1;
    return lab_gemm_double(&product);
}

enum lab_status lab_conv_im2col(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of(call);
    float *windows = lab_out(call, 1);
    int64_t count = conv_depth(&s) * s.P * s.Q;
    enum lab_status st = LAB_OK;
    for (int64_t n = 0; n < s.N && !st; n++) {
        conv_im2col<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
            windows, lab_in(call, 0) + n * s.C * s.H * s.W, s, count);
        st = lab_launched("conv_im2col");
        if (!st)
            st = multiply(call, n, s);
    }
    return st;
}

void lab_conv_im2col_note(const struct lab_call *call,
                          struct lab_variant_note *out)
{
    out->workspace_bytes =
        call->out[1].count * static_cast<int64_t>(sizeof(float));
}
