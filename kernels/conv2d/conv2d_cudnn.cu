/* kernels/conv2d/conv2d_cudnn.cu -- the convolution by NVIDIA's cuDNN, with its
 * algorithm found or chosen by hand.
 *
 *   cudnn                      found: see conv2d_cudnn_find.cu
 *   cudnn_implicit_gemm        a product whose matrix is never laid out
 *   cudnn_precomp_gemm         the same with the places computed beforehand
 *   cudnn_gemm                 the matrix laid out, then a product
 *   cudnn_fft, cudnn_fft_tiling               products of Fourier transforms
 *   cudnn_winograd, cudnn_winograd_nonfused   3 x 3 with fewer multiplies and
 *                              more additions (A. Lavin, S. Gray,
 *                              arXiv:1509.09308), in one kernel or in several
 *
 * Backward has fewer: the three products share cuDNN's algorithm 1, and where
 * tiles or a single kernel are not to be had, the plain kind stands in.
 *
 * cuDNN pads both sides alike. Where ours are uneven, x goes through a copy
 * that has its padding (conv2d_stage); in nhwc x and the result may go through
 * copies that are nchw. The weights of nhwc stand as (KH, KW, C, M) here and as
 * (M, KH, KW, C) or (M, C, KH, KW) there: they are turned on the way in, and dW
 * on the way out. */
#include "conv2d/conv2d_cudnn.cuh"
#include "common/image.cuh"

/* ---- copies ---- */

static __global__ void conv2d_stage(float *box, const float *x,
                                    struct lab_image image, struct conv_box b,
                                    int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t h = i / b.W % b.H - b.top;
    int64_t w = i % b.W - b.left;
    int64_t c = i / (b.W * b.H) % image.C;
    int64_t n = i / (b.W * b.H) / image.C;
    bool inside = h >= 0 && h < image.H && w >= 0 && w < image.W;
    box[i] = inside ? x[pixel_at(image, n, c, h, w)] : 0.0f;
}

/* Inputs that no window reads lie outside of the box: 0. */
static __global__ void conv2d_unstage(float *x, const float *box,
                                      struct lab_image image, struct conv_box b,
                                      int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel p = pixel_of(image, i);
    int64_t h = p.h + b.top;
    int64_t w = p.w + b.left;
    bool inside = h < b.H && w < b.W;
    x[i] = inside ? box[((p.n * image.C + p.c) * b.H + h) * b.W + w] : 0.0f;
}

/* Between (KH, KW, C, M) and (M, C, KH, KW), or (M, KH, KW, C): `theirs` counts
 * along the latter. */
static __global__ void conv2d_turn(float *to, const float *from,
                                   struct lab_conv2d s, bool nhwc, bool back,
                                   int64_t count)
{
    int64_t theirs = lab_element();
    if (theirs >= count)
        return;
    int64_t c = nhwc ? theirs % s.x.C : theirs / (s.KH * s.KW) % s.x.C;
    int64_t kw = nhwc ? theirs / s.x.C % s.KW : theirs % s.KW;
    int64_t kh = nhwc ? theirs / (s.x.C * s.KW) % s.KH : theirs / s.KW % s.KH;
    int64_t m = theirs / (s.KH * s.KW * s.x.C);
    int64_t ours = kh * s.w_kh + kw * s.w_kw + c * s.w_c + m * s.w_m;
    to[back ? ours : theirs] = from[back ? theirs : ours];
}

static void copy_in(const struct conv_job *j, float *box, const float *x,
                    const struct lab_image &image, const struct conv_box &b)
{
    int64_t count = image.N * image.C * b.H * b.W;
    conv2d_stage<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        box, x, image, b, count);
}

static void copy_out(const struct conv_job *j, float *x, const float *box,
                     const struct lab_image &image, const struct conv_box &b)
{
    int64_t count = image.N * image.sn;
    conv2d_unstage<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        x, box, image, b, count);
}

static void turn(const struct conv_job *j, float *to, const float *from,
                 bool back)
{
    int64_t count = conv_weights(j);
    conv2d_turn<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        to, from, j->s, j->plan->mode == CONV_AS_NHWC, back, count);
}

/* ---- a step ---- */

static float *room(const struct conv_job *j, size_t at)
{
    return reinterpret_cast<float *>(static_cast<char *>(j->dnn->workspace) +
                                     at);
}

static enum lab_status run(const struct conv_job *j, const float *a,
                           const float *b, float *c)
{
    struct conv_calls f = conv_calls_of(j);
    void **d = j->entry->descriptor;
    return cudnn_judge(j->call,
                       f.run(j->dnn->handle, &cudnn_one, d[f.a], a, d[f.b], b,
                             d[CONV_SELF], j->plan->algorithm,
                             j->dnn->workspace, j->plan->algorithm_bytes,
                             &cudnn_zero, d[f.c], c),
                       conv_name(j->wish));
}

/* The tensor as cuDNN is to find it: itself, or a copy. */
static const float *given_x(const struct conv_job *j, const float *x)
{
    if (j->plan->mode != CONV_STAGED)
        return x;
    copy_in(j, room(j, j->plan->x_at), x, j->s.x, j->plan->box);
    return room(j, j->plan->x_at);
}

static bool y_is_copied(const struct conv_job *j)
{
    return j->plan->mode == CONV_STAGED && j->s.win.nhwc;
}

static const float *given_y(const struct conv_job *j, const float *y)
{
    if (!y_is_copied(j))
        return y;
    copy_in(j, room(j, j->plan->y_at), y, j->s.y, conv_whole(j->s.y));
    return room(j, j->plan->y_at);
}

static const float *given_w(const struct conv_job *j, const float *w)
{
    if (!j->s.win.nhwc)
        return w;
    turn(j, room(j, j->plan->w_at), w, false);
    return room(j, j->plan->w_at);
}

static enum lab_status conv_forward(const struct conv_job *j)
{
    const struct lab_call *call = j->call;
    bool copy = y_is_copied(j);
    float *y = copy ? room(j, j->plan->y_at) : lab_out(call, 0);
    const float *x = given_x(j, lab_in(call, 0));
    enum lab_status st = run(j, x, given_w(j, lab_in(call, 1)), y);
    if (!st && copy)
        copy_out(j, lab_out(call, 0), y, j->s.y, conv_whole(j->s.y));
    return st ? st : lab_launched("conv2d_cudnn");
}

static enum lab_status conv_weight_gradient(const struct conv_job *j)
{
    const struct lab_call *call = j->call;
    bool copy = j->s.win.nhwc;
    float *dW = copy ? room(j, j->plan->w_at) : lab_out(call, 0);
    const float *x = given_x(j, lab_in(call, 1));
    enum lab_status st = run(j, x, given_y(j, lab_in(call, 0)), dW);
    if (!st && copy)
        turn(j, lab_out(call, 0), dW, true);
    return st ? st : lab_launched("conv2d_cudnn");
}

static enum lab_status conv_input_gradient(const struct conv_job *j)
{
    const struct lab_call *call = j->call;
    bool copy = j->plan->mode == CONV_STAGED;
    float *dx = copy ? room(j, j->plan->x_at) : lab_out(call, 1);
    const float *w = given_w(j, lab_in(call, 2));
    enum lab_status st = run(j, w, given_y(j, lab_in(call, 0)), dx);
    if (!st && copy)
        copy_out(j, lab_out(call, 1), dx, j->s.x, j->plan->box);
    return st ? st : lab_launched("conv2d_cudnn");
}

enum lab_status conv_execute(const struct conv_job *j)
{
    if (j->dir == CONV_FORWARD)
        return conv_forward(j);
    return j->dir == CONV_DATA ? conv_input_gradient(j)
                               : conv_weight_gradient(j);
}

static enum lab_status direction(const struct lab_call *call,
                                 enum conv_direction dir, enum conv_wish wish)
{
    struct conv_job j;
    enum lab_status st = conv_job_of(call, dir, wish, &j);
    return st ? st : conv_execute(&j);
}

static enum lab_status prepare(const struct lab_call *call,
                               enum conv_direction dir, enum conv_wish wish)
{
    struct conv_job j;
    return conv_job_of(call, dir, wish, &j);
}

template <enum conv_wish WISH>
static enum lab_status forward(const struct lab_call *call)
{
    return direction(call, CONV_FORWARD, WISH);
}

template <enum conv_wish WISH>
static enum lab_status backward(const struct lab_call *call)
{
    enum lab_status st = direction(call, CONV_FILTER, WISH);
    if (st || !lab_out(call, 1))
        return st;
    return direction(call, CONV_DATA, WISH);
}

template <enum conv_wish WISH>
static enum lab_status prepare_forward(const struct lab_call *call)
{
    return prepare(call, CONV_FORWARD, WISH);
}

template <enum conv_wish WISH>
static enum lab_status prepare_backward(const struct lab_call *call)
{
    enum lab_status st = prepare(call, CONV_FILTER, WISH);
    if (st || call->out[1].count == 0)
        return st;
    return prepare(call, CONV_DATA, WISH);
}

/* ---- table ---- */

static const char source[] = "kernels/conv2d/conv2d_cudnn.cu";

template <enum conv_wish WISH>
static constexpr struct lab_variant forward_row(const char *name)
{
    return lab_row(name, "conv", LAB_FORWARD, forward<WISH>, source,
                   "conv_forward", false, prepare_forward<WISH>);
}

template <enum conv_wish WISH>
static constexpr struct lab_variant backward_row(const char *name)
{
    return lab_row(name, "conv", LAB_BACKWARD, backward<WISH>, source,
                   "conv_weight_gradient", false, prepare_backward<WISH>);
}

static const struct lab_variant variants[] = {
    forward_row<CONV_FOUND>("cudnn"),
    forward_row<CONV_IMPLICIT>("cudnn_implicit_gemm"),
    forward_row<CONV_PRECOMP>("cudnn_precomp_gemm"),
    forward_row<CONV_GEMM>("cudnn_gemm"),
    forward_row<CONV_FFT>("cudnn_fft"),
    forward_row<CONV_FFT_TILING>("cudnn_fft_tiling"),
    forward_row<CONV_WINOGRAD>("cudnn_winograd"),
    forward_row<CONV_NONFUSED>("cudnn_winograd_nonfused"),
    backward_row<CONV_FOUND>("cudnn"),
    backward_row<CONV_IMPLICIT>("cudnn_implicit_gemm"),
    backward_row<CONV_PRECOMP>("cudnn_precomp_gemm"),
    backward_row<CONV_GEMM>("cudnn_gemm"),
    backward_row<CONV_FFT>("cudnn_fft"),
    backward_row<CONV_FFT_TILING>("cudnn_fft_tiling"),
    backward_row<CONV_WINOGRAD>("cudnn_winograd"),
    backward_row<CONV_NONFUSED>("cudnn_winograd_nonfused"),
};

const struct lab_kernel_set lab_cudnn_conv2d = lab_set("conv2d", variants);
