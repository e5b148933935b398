/* kernels/conv2d/conv2d_im2col.cu -- the windows laid out as a matrix ("image to
 * columns"), and cuBLAS, or tf32x3 (tf32x3/tf32x3_sm90.cuh), for the product.
 *
 *   windows (P, K)   row p: the K = KH*KW*C numbers under the kernel at place p,
 *                    in the order in which the weights lie in memory
 *
 *   nhwc   conv (P, M) = windows Wt           Wt (K, M)
 *          dWt = windows^T dconv              dwindows = dconv Wt^T
 *   nchw   conv_n (M, P) = Wt windows_n^T     Wt (M, K), a product an image
 *          dWt = dconv windows                dwindows_n = dconv_n^T Wt
 *
 * dx gathers from dwindows: a thread an input asks the windows that hold it.
 * The matrix is KH*KW times as large as the image, and is written and read
 * once more: that is the price for the best product there is. It goes through
 * the workspace a piece at a time (conv2d_pieces.h). In nchw the products of a
 * piece's images are one batched call, and dWt is one product over all of them,
 * for which dconv is copied to (M, places of the piece).
 *
 * cuBLAS counts column by column: a row-major (P, K) is its (K, P), and the
 * products below stand transposed, as in dense_cublas.cu. */
#include "library/cublas_exec.h"
#include "conv2d/conv2d_pieces.h"
#include "conv2d/conv2d_tf32x3_sm90.h"
#include "conv2d/conv2d_tile.cuh"
#include "tf32x3/tf32x3.h"
#include "common/image.cuh"
#include "common/vector.cuh"

/* A thread a number of the matrix; window_element() finds it in the image. The
 * divisions by K and by the sides are multiplications. In nhwc four channels
 * lie side by side, and where their number is a multiple of four a T is a
 * float4: a quarter of the indices, 16 bytes a request. */
template <typename T>
static __global__ void conv2d_im2col(T *windows, const T *x, struct geometry g,
                                     struct divider by_K, unsigned first,
                                     unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned row = divide(i, by_K);
    windows[i] = window_element(g, x, first + row, i - row * by_K.d);
}

/* The same for more numbers than 32 bits count. */
static __global__ void conv2d_im2col_large(float *windows, const float *x,
                                           struct lab_conv2d s,
                                           struct lab_conv_piece p, int64_t K)
{
    int64_t i = lab_element();
    if (i >= p.count * K)
        return;
    int64_t place = p.first + i / K;
    int64_t k = i % K;
    int64_t c = s.win.nhwc ? k % s.x.C : k / (s.KH * s.KW);
    int64_t kw = s.win.nhwc ? k / s.x.C % s.KW : k % s.KW;
    int64_t kh = s.win.nhwc ? k / (s.x.C * s.KW) : k / s.KW % s.KH;
    int64_t n = place / (s.y.H * s.y.W);
    int64_t h = place / s.y.W % s.y.H * s.win.stride[0] - s.win.pad[0] + kh;
    int64_t w = place % s.y.W * s.win.stride[1] - s.win.pad[1] + kw;
    bool inside = h >= 0 && h < s.x.H && w >= 0 && w < s.x.W;
    windows[i] = inside ? x[pixel_at(s.x, n, c, h, w)] : 0.0f;
}

/* dconv of a piece's images, nchw: the rows of a channel one after the other. */
static __global__ void conv2d_channels(float *to, const float *dconv,
                                       unsigned count, unsigned places,
                                       int64_t M)
{
    int64_t i = lab_element();
    if (i < M * count)
        to[i] = dconv[lab_conv_channel_at((unsigned)i, count, places, M)];
}

/* dx of `images` images from `first` on, from their windows' gradients. */
static __global__ void conv2d_col2im(float *dx, const float *dwindows,
                                     struct lab_conv2d s, int64_t first,
                                     int64_t count, int64_t K)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel p = pixel_of(s.x, i);
    int64_t h0, h1, w0, w1;
    window_readers(s.win, 0, p.h, s.y.H, &h0, &h1);
    window_readers(s.win, 1, p.w, s.y.W, &w0, &w1);
    float sum = 0.0f;
    for (int64_t oh = h0; oh <= h1; oh++) {
        int64_t kh = p.h + s.win.pad[0] - oh * s.win.stride[0];
        for (int64_t ow = w0; ow <= w1; ow++) {
            int64_t kw = p.w + s.win.pad[1] - ow * s.win.stride[1];
            int64_t k = s.win.nhwc ? (kh * s.KW + kw) * s.x.C + p.c
                                   : (p.c * s.KH + kh) * s.KW + kw;
            sum += dwindows[((p.n * s.y.H + oh) * s.y.W + ow) * K + k];
        }
    }
    dx[first * s.x.sn + i] = sum;
}

static __device__ inline void add_to(float &sum, float v)
{
    sum += v;
}

static __device__ inline void add_to(float4 &sum, float4 v)
{
    sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
}

/* conv2d_col2im in 32 bits, without divisions. */
template <typename T>
static __global__ void conv2d_col2im_small(T *dx, const T *dwindows,
                                           struct geometry g, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int n, h, w, c;
    unsigned pixel = g.nhwc ? divide(i, g.by_C) : i;
    split(pixel, g.by_W, g.by_H, &n, &h, &w);
    c = (int)(g.nhwc ? i - pixel * g.C : n);
    if (!g.nhwc) {
        n = (int)divide(c, g.by_C);
        c -= n * g.C;
    }
    int oh0 = h + g.top < g.KH ? 0 : (h + g.top - g.KH) / g.sh + 1;
    int ow0 = w + g.left < g.KW ? 0 : (w + g.left - g.KW) / g.sw + 1;
    T sum = {};
    for (int oh = oh0; oh < g.OH && oh * g.sh <= h + g.top; oh++) {
        int kh = h + g.top - oh * g.sh;
        for (int ow = ow0; ow < g.OW && ow * g.sw <= w + g.left; ow++) {
            int kw = w + g.left - ow * g.sw;
            int k = g.nhwc ? (kh * g.KW + kw) * g.C + c
                           : (c * g.KH + kh) * g.KW + kw;
            int64_t place = (int64_t)(n * g.OH + oh) * g.OW + ow;
            add_to(sum, dwindows[place * g.window + k]);
        }
    }
    dx[i] = sum;
}

/* The same image, its channels counted in fours. */
static struct geometry in_quads(const struct geometry &g)
{
    struct geometry q = g;
    q.C = g.C / 4;
    q.window = g.window / 4;
    q.by_C = divider_of(q.C);
    return q;
}

struct job {
    const struct lab_call *call;
    struct lab_conv2d s;
    struct geometry g;
    bool tf32x3;    /* else cuBLAS */
    bool small;     /* the geometry fits 32 bits */
    bool quads;     /* four channels at a time */
    int64_t K;      /* numbers of a window */
    float *windows; /* the workspace */
    size_t floats;  /* of it, that 32 bits count */
    void *sums;     /* the rest of the workspace: for tf32x3 */
    size_t sums_bytes;
    struct lab_conv_cut cut;
};

/* Windows have the workspace but for an eighth, if it is large, where tf32x3 has its
 * sums. */
static void divide_workspace(struct job *j)
{
    const size_t all = j->call->exec->workspace_bytes;
    j->sums_bytes = j->tf32x3 && all >= 1 << 20 ? all / 8 / 16 * 16 : 0;
    const size_t floats = (all - j->sums_bytes) / sizeof(float);
    j->windows = static_cast<float *>(j->call->exec->workspace);
    j->sums = j->windows + floats;
    j->floats = floats < INT32_MAX ? floats : INT32_MAX;
}

static enum lab_status job_of(const struct lab_call *call, bool tf32x3,
                              const struct lab_view *x,
                              const struct lab_view *conv, struct job *j)
{
    j->call = call;
    j->tf32x3 = tf32x3;
    divide_workspace(j);
    j->s = lab_conv2d_of(call, x, conv);
    j->K = j->s.KH * j->s.KW * j->s.x.C;
    j->cut = {j->s.win.nhwc, j->s.y.N, j->s.y.H * j->s.y.W,
              (int64_t)j->floats / j->K};
    j->small = conv2d_geometry_of(call, x, conv, &j->g) == LAB_OK;
    j->quads = j->small && j->s.win.nhwc && j->s.x.C % 4 == 0 &&
               vector_fits(call) && vector_aligned(j->windows);
    const int64_t sides[] = {j->cut.places, j->K, j->s.y.C};
    enum lab_status st = tf32x3 ? lab_tf32x3_prepare(call)
                                : lab_cublas_ask(call->exec->cublas, sides, 3);
    if (st)
        return st;
    if (!j->windows || j->cut.room < 1)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.conv-window] conv2d: one window of "
                        "%lld numbers is larger "
                        "than the workspace",
                        (long long)j->K);
    return LAB_OK;
}

/* A matrix of a product as cuBLAS sees it, and how far the next image's is. */
struct matrix {
    const float *data;
    int64_t ld;
    int64_t next;
};

/* `count` products C (m, n) = op(A) op(B) (+ C: more), column-major. */
static enum lab_status sgemm(const struct job *j, int op_a, int op_b, int64_t m,
                             int64_t n, int64_t k, const struct matrix &a,
                             const struct matrix &b, bool more, float *c,
                             int64_t ldc, int64_t next_c = 0, int64_t count = 1)
{
    const struct lab_cublas_product p = {n,
                                         m,
                                         k,
                                         b.data,
                                         b.ld,
                                         op_b == LAB_CUBLAS_T,
                                         a.data,
                                         a.ld,
                                         op_a == LAB_CUBLAS_T,
                                         more ? 1.0f : 0.0f,
                                         c,
                                         ldc};
    if (!j->tf32x3)
        return lab_cublas_multiply_many(j->call, &p, count, b.next, a.next,
                                        next_c);
    enum lab_status st = LAB_OK;
    for (int64_t i = 0; i < count && !st; i++) {
        struct lab_cublas_product of = p;
        of.a += i * b.next;
        of.b += i * a.next;
        of.c += i * next_c;
        st = lab_tf32x3_multiply(j->call, &of, nullptr, j->sums, j->sums_bytes);
    }
    return st;
}

static enum lab_status lay_out(const struct job *j, const float *x,
                               struct lab_conv_piece p)
{
    int64_t count = p.count * j->K;
    cudaStream_t stream = lab_stream(j->call);
    if (!j->small || count > INT32_MAX)
        conv2d_im2col_large<<<lab_blocks(count), LAB_BLOCK, 0, stream>>>(
            j->windows, x, j->s, p, j->K);
    else if (j->quads)
        conv2d_im2col<<<lab_blocks(count / 4), LAB_BLOCK, 0, stream>>>(
            reinterpret_cast<float4 *>(j->windows),
            reinterpret_cast<const float4 *>(x), in_quads(j->g),
            divider_of(j->K / 4), (unsigned)p.first, (unsigned)(count / 4));
    else
        conv2d_im2col<<<lab_blocks(count), LAB_BLOCK, 0, stream>>>(
            j->windows, x, j->g, divider_of(j->K), (unsigned)p.first,
            (unsigned)count);
    return lab_launched("conv2d_im2col");
}

/* Where a piece starts in conv or dconv. */
static int64_t piece_offset(const struct job *j, struct lab_conv_piece p)
{
    if (j->s.win.nhwc)
        return p.first * j->s.y.C;
    return p.first / j->cut.places * j->s.y.sn + p.first % j->cut.places;
}

static enum lab_status forward(const struct lab_call *call, bool tf32x3)
{
    struct job j;
    enum lab_status st = job_of(call, tf32x3, &call->in[0], &call->out[0], &j);
    if (st)
        return st;
    const float *Wt = lab_in(call, 1);
    int64_t M = j.s.y.C;
    for (struct lab_conv_piece p = lab_conv_next(&j.cut, {0, 0});
         p.count > 0 && !st; p = lab_conv_next(&j.cut, p)) {
        float *conv = lab_out(call, 0) + piece_offset(&j, p);
        int64_t images = lab_conv_images(&j.cut, p);
        int64_t each = p.count / images;
        st = lay_out(&j, lab_in(call, 0), p);
        if (!st && j.s.win.nhwc)
            st = sgemm(&j, LAB_CUBLAS_N, LAB_CUBLAS_N, M, p.count, j.K, {Wt, M},
                       {j.windows, j.K}, false, conv, M);
        else if (!st)
            st = sgemm(&j, LAB_CUBLAS_T, LAB_CUBLAS_N, each, M, j.K,
                       {j.windows, j.K, each * j.K}, {Wt, j.K, 0}, false, conv,
                       j.cut.places, j.s.y.sn, images);
    }
    return st;
}

/* dconv of a piece in nchw, channel by channel: itself where the piece is in
 * one image, else a copy behind the windows. */
static enum lab_status channels_of(const struct job *j, struct lab_conv_piece p,
                                   struct matrix *dconv)
{
    int64_t count = p.count * j->s.y.C;
    float *copy = j->windows + p.count * j->K;
    if (lab_conv_images(&j->cut, p) == 1)
        return LAB_OK;
    conv2d_channels<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        copy, dconv->data, (unsigned)p.count, (unsigned)j->cut.places,
        j->s.y.C);
    *dconv = {copy, p.count};
    return lab_launched("conv2d_channels");
}

static enum lab_status weight_gradient(const struct job *j)
{
    const struct lab_call *call = j->call;
    enum lab_status st = LAB_OK;
    int64_t M = j->s.y.C;
    struct lab_conv_cut cut = j->cut;
    /* Room for the copy of dconv, unless a piece is a part of one image. */
    int64_t room = (int64_t)j->floats / (j->K + M);
    if (!cut.nhwc && cut.room >= cut.places)
        cut.room = room >= cut.places ? room : cut.places;
    for (struct lab_conv_piece p = lab_conv_next(&cut, {0, 0});
         p.count > 0 && !st; p = lab_conv_next(&cut, p)) {
        struct matrix dconv = {lab_in(call, 0) + piece_offset(j, p),
                               cut.nhwc ? M : cut.places};
        bool more = p.first > 0;
        st = lay_out(j, lab_in(call, 1), p);
        if (!st && cut.nhwc)
            st = sgemm(j, LAB_CUBLAS_N, LAB_CUBLAS_T, M, j->K, p.count, dconv,
                       {j->windows, j->K}, more, lab_out(call, 0), M);
        else if (!st)
            st = channels_of(j, p, &dconv);
        if (!st && !cut.nhwc)
            st = sgemm(j, LAB_CUBLAS_N, LAB_CUBLAS_N, j->K, M, p.count,
                       {j->windows, j->K}, dconv, more, lab_out(call, 0), j->K);
    }
    return st;
}

/* The gradients of the windows of some whole images, and dx from them. */
static enum lab_status input_gradient(const struct job *j, int64_t first,
                                      int64_t images)
{
    const struct lab_call *call = j->call;
    const float *Wt = lab_in(call, 2);
    const float *dconv = lab_in(call, 0) + first * j->s.y.sn;
    int64_t M = j->s.y.C;
    int64_t places = j->cut.places;
    enum lab_status st =
        j->s.win.nhwc
            ? sgemm(j, LAB_CUBLAS_T, LAB_CUBLAS_N, j->K, images * places, M,
                    {Wt, M}, {dconv, M}, false, j->windows, j->K)
            : sgemm(j, LAB_CUBLAS_N, LAB_CUBLAS_T, j->K, places, M,
                    {Wt, j->K, 0}, {dconv, places, j->s.y.sn}, false,
                    j->windows, j->K, places * j->K, images);
    if (st)
        return st;
    int64_t count = images * j->s.x.sn;
    float *dx = lab_out(call, 1) + first * j->s.x.sn;
    cudaStream_t stream = lab_stream(call);
    if (!j->small || count > INT32_MAX)
        conv2d_col2im<<<lab_blocks(count), LAB_BLOCK, 0, stream>>>(
            lab_out(call, 1), j->windows, j->s, first, count, j->K);
    else if (j->quads)
        conv2d_col2im_small<<<lab_blocks(count / 4), LAB_BLOCK, 0, stream>>>(
            reinterpret_cast<float4 *>(dx),
            reinterpret_cast<const float4 *>(j->windows), in_quads(j->g),
            (unsigned)(count / 4));
    else
        conv2d_col2im_small<<<lab_blocks(count), LAB_BLOCK, 0, stream>>>(
            dx, j->windows, j->g, (unsigned)count);
    return lab_launched("conv2d_col2im");
}

static enum lab_status dx_by_windows(const struct lab_call *call, bool tf32x3)
{
    struct job j;
    enum lab_status st = job_of(call, tf32x3, &call->in[1], &call->in[0], &j);
    if (st)
        return st;
    int64_t at_once = j.cut.room / j.cut.places;
    if (at_once < 1) /* one image's windows are more than the workspace */
        return conv2d_tile_dx(call);
    for (int64_t n = 0; n < j.s.x.N && !st; n += at_once) {
        int64_t left = j.s.x.N - n;
        st = input_gradient(&j, n, left < at_once ? left : at_once);
    }
    return st;
}

static enum lab_status backward(const struct lab_call *call, bool tf32x3)
{
    struct job j;
    enum lab_status st = job_of(call, tf32x3, &call->in[1], &call->in[0], &j);
    if (!st)
        st = weight_gradient(&j);
    return st || !lab_out(call, 1) ? st : dx_by_windows(call, tf32x3);
}

enum lab_status conv2d_im2col_forward(const struct lab_call *call)
{
    return forward(call, false);
}

enum lab_status conv2d_im2col_backward(const struct lab_call *call)
{
    return backward(call, false);
}

/* The windows are laid out where conv2d_tf32x3_sm90.cu does not serve the sizes. */
#ifdef LAB_HAVE_SM90A
static bool straight(const struct lab_call *call, const struct lab_view *x,
                     const struct lab_view *conv, struct geometry *g)
{
    return lab_tf32x3_prepare(call) == LAB_OK &&
           conv2d_geometry_of(call, x, conv, g) == LAB_OK &&
           conv2d_tf32x3_fits(call, g);
}

enum lab_status conv2d_tf32x3_forward(const struct lab_call *call)
{
    struct geometry g;
    return straight(call, &call->in[0], &call->out[0], &g)
               ? conv2d_tf32x3_conv(call, &g)
               : forward(call, true);
}

enum lab_status conv2d_tf32x3_backward(const struct lab_call *call)
{
    struct geometry g;
    if (!straight(call, &call->in[1], &call->in[0], &g))
        return backward(call, true);
    enum lab_status st = conv2d_tf32x3_dW(call, &g);
    if (st || !lab_out(call, 1))
        return st;
    return g.sh == 1 && g.sw == 1 ? conv2d_tf32x3_dx(call, &g)
                                  : dx_by_windows(call, true);
}
#else
enum lab_status conv2d_tf32x3_forward(const struct lab_call *call)
{
    return lab_tf32x3_prepare(call);
}

enum lab_status conv2d_tf32x3_backward(const struct lab_call *call)
{
    return lab_tf32x3_prepare(call);
}
#endif

/* With channels first there is a product for each image. */
enum lab_status conv2d_tf32x3_prepare(const struct lab_call *call)
{
    enum { IMAGES = 64 };
    enum lab_status st = lab_conv2d_plain(call);
    if (!st && !lab_params<lab_conv2d_params>(call)->window.nhwc &&
        call->in[0].dim[0] > IMAGES)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.conv-images] conv2d tf32x3: more than %d "
                        "images need their channels last (layout: nhwc)",
                        IMAGES);
    return st ? st : lab_tf32x3_prepare(call);
}
