/* kernels/conv2d/conv2d.cu -- the convolution, the first variant: every thread computes
 * one result, as in the formula.
 *
 * Thread -> element: forward a thread an output; backward a thread a weight
 * (which walks every image: few threads, long walks) and a thread an input
 * (which gathers from the outputs that read it, so that no thread has to add to
 * what another thread adds to).
 * Memory: every thread reads its own window from memory. Windows overlap, and
 * all filters read the same ones; the cache must catch what it can. For a
 * kernel of 3 x 3 an input is read 9 M times. */
#include "common/columns.cuh"
#include "conv2d/conv2d_cuda.cuh"
#include "common/image.cuh"
#include "common/vector.cuh"

/* conv[n,oh,ow,m] = sum_{kh,kw,c} x[n,h,w,c] Wt[kh,kw,c,m] */
static __global__ void conv2d_fwd_naive(float *conv, const float *x,
                                        const float *Wt, struct lab_conv2d s,
                                        int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel o = pixel_of(s.y, i);
    int64_t first = o.c / s.M * s.C;
    float sum = 0.0f;
    for (int64_t kh = 0; kh < s.KH; kh++) {
        int64_t h = o.h * s.win.stride[0] - s.win.pad[0] + kh * s.dilation[0];
        if (h < 0 || h >= s.x.H)
            continue;
        for (int64_t kw = 0; kw < s.KW; kw++) {
            int64_t w =
                o.w * s.win.stride[1] - s.win.pad[1] + kw * s.dilation[1];
            if (w < 0 || w >= s.x.W)
                continue;
            const float *from = x + pixel_at(s.x, o.n, first, h, w);
            const float *weight = Wt + kh * s.w_kh + kw * s.w_kw + o.c * s.w_m;
            for (int64_t c = 0; c < s.C; c++)
                sum += from[c * s.x.sc] * weight[c * s.w_c];
        }
    }
    conv[i] = sum;
}

/* dWt[kh,kw,c,m] = sum_{n,oh,ow} x[n,h,w,c] dconv[n,oh,ow,m]. The sum is over
 * every place of every image: it is kept in a double. */
static __global__ void conv2d_dW_naive(float *dWt, const float *x,
                                       const float *dconv, struct lab_conv2d s,
                                       int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t kh = i / s.w_kh % s.KH;
    int64_t kw = i / s.w_kw % s.KW;
    int64_t c = i / s.w_c % s.C;
    int64_t m = i / s.w_m % s.y.C;
    double sum = 0.0;
    c += m / s.M * s.C;
    for (int64_t n = 0; n < s.y.N; n++) {
        for (int64_t oh = 0; oh < s.y.H; oh++) {
            int64_t h =
                oh * s.win.stride[0] - s.win.pad[0] + kh * s.dilation[0];
            if (h < 0 || h >= s.x.H)
                continue;
            for (int64_t ow = 0; ow < s.y.W; ow++) {
                int64_t w =
                    ow * s.win.stride[1] - s.win.pad[1] + kw * s.dilation[1];
                if (w >= 0 && w < s.x.W)
                    sum += (double)x[pixel_at(s.x, n, c, h, w)] *
                           dconv[pixel_at(s.y, n, m, oh, ow)];
            }
        }
    }
    dWt[i] = (float)sum;
}

/* window_readers() of a kernel that dilation has pulled apart. */
static __device__ void dilated_readers(const struct lab_conv2d &s, int axis,
                                       int64_t at, int64_t limit,
                                       int64_t *first, int64_t *last)
{
    struct lab_window win = s.win;
    win.size[axis] = (win.size[axis] - 1) * s.dilation[axis] + 1;
    window_readers(win, axis, at, limit, first, last);
}

/* dx[n,h,w,c] = sum over the outputs that read it of dconv Wt */
static __global__ void conv2d_dx_naive(float *dx, const float *dconv,
                                       const float *Wt, struct lab_conv2d s,
                                       int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel p = pixel_of(s.x, i);
    int64_t h0, h1, w0, w1;
    int64_t first = p.c / s.C * s.M;
    dilated_readers(s, 0, p.h, s.y.H, &h0, &h1);
    dilated_readers(s, 1, p.w, s.y.W, &w0, &w1);
    float sum = 0.0f;
    for (int64_t oh = h0; oh <= h1; oh++) {
        int64_t kh = p.h + s.win.pad[0] - oh * s.win.stride[0];
        if (kh % s.dilation[0] != 0)
            continue;
        for (int64_t ow = w0; ow <= w1; ow++) {
            int64_t kw = p.w + s.win.pad[1] - ow * s.win.stride[1];
            if (kw % s.dilation[1] != 0)
                continue;
            const float *from = dconv + pixel_at(s.y, p.n, first, oh, ow);
            const float *weight = Wt + kh / s.dilation[0] * s.w_kh +
                                  kw / s.dilation[1] * s.w_kw +
                                  p.c % s.C * s.w_c + first * s.w_m;
            for (int64_t m = 0; m < s.M; m++)
                sum += from[m * s.y.sc] * weight[m * s.w_m];
        }
    }
    dx[i] = sum;
}

/* out = conv + b[m] */
static __global__ void conv2d_bias_fwd(float *out, const float *conv,
                                       const float *b, struct lab_image y,
                                       int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        out[i] = conv[i] + b[i / y.sc % y.C];
}

/* db[m] = sum_{n,h,w} dout: a block a filter; its threads' sums are added in
 * halves, always the same pairs. */
static __global__ void conv2d_bias_bwd(float *db, const float *dout,
                                       struct lab_image y)
{
    __shared__ double part[LAB_BLOCK];
    int64_t m = blockIdx.x;
    int64_t places = y.H * y.W;
    double sum = 0.0;
    for (int64_t k = threadIdx.x; k < y.N * places; k += LAB_BLOCK)
        sum += dout[k / places * y.sn + m * y.sc + k % places * y.sw];
    part[threadIdx.x] = sum;
    for (int half = LAB_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        db[m] = (float)part[0];
}

static enum lab_status naive_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    conv2d_fwd_naive<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
        lab_conv2d_of(call, &call->in[0], &call->out[0]), count);
    return lab_launched("conv2d_fwd_naive");
}

static enum lab_status naive_backward(const struct lab_call *call)
{
    struct lab_conv2d s = lab_conv2d_of(call, &call->in[1], &call->in[0]);
    int64_t weights = call->out[0].count;
    conv2d_dW_naive<<<lab_blocks(weights), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 1), lab_in(call, 0), s, weights);
    if (lab_out(call, 1)) {
        int64_t count = call->out[1].count;
        conv2d_dx_naive<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
            lab_out(call, 1), lab_in(call, 0), lab_in(call, 2), s, count);
    }
    return lab_launched("conv2d_bwd_naive");
}

static enum lab_status bias_forward(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    bool nhwc = lab_params<lab_conv2d_params>(call)->window.nhwc;
    conv2d_bias_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1),
        lab_image_of(call->out[0].dim, nhwc), count);
    return lab_launched("conv2d_bias_fwd");
}

static enum lab_status bias_backward(const struct lab_call *call)
{
    bool nhwc = lab_params<lab_conv2d_params>(call)->window.nhwc;
    conv2d_bias_bwd<<<lab_blocks(call->out[0].count, 1), LAB_BLOCK, 0,
                      lab_stream(call)>>>(lab_out(call, 0), lab_in(call, 0),
                                          lab_image_of(call->in[0].dim, nhwc));
    return lab_launched("conv2d_bias_bwd");
}

/* nhwc: the filters are columns, 16-byte loads of neighbouring ones. */
static enum lab_status bias_forward_vector(const struct lab_call *call)
{
    int64_t count = call->out[0].count;
    int64_t M = call->in[1].count;
    if (!lab_params<lab_conv2d_params>(call)->window.nhwc ||
        !vector_rows_fit(call, count, M))
        return bias_forward(call);
    vector_run(call, lab_out(call, 0), lab_in(call, 0), nullptr,
               vector_bias{lab_in(call, 1), (unsigned)M}, count);
    return lab_launched("vector_map");
}

/* nchw: block (m, s) sums filter m over the images of slice s. */
static __global__ void conv2d_bias_slice(double *part, const float *dout,
                                         struct lab_image y, columns_cut c)
{
    __shared__ double sums[LAB_BLOCK];
    int64_t m = blockIdx.x % c.cols;
    int64_t slice = blockIdx.x / c.cols;
    int64_t end = (slice + 1) * c.each < y.N ? (slice + 1) * c.each : y.N;
    double sum = 0.0;
    for (int64_t n = slice * c.each; n < end; n++) {
        const float *image = dout + n * y.sn + m * y.sc;
        for (int64_t k = threadIdx.x; k < y.sc; k += LAB_BLOCK)
            sum += image[k];
    }
    sums[threadIdx.x] = sum;
    for (int half = LAB_BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        part[slice * c.cols + m] = sums[0];
}

static enum lab_status bias_backward_split(const struct lab_call *call)
{
    if (!lab_out(call, 0))
        return LAB_OK;
    bool nhwc = lab_params<lab_conv2d_params>(call)->window.nhwc;
    struct lab_image y = lab_image_of(call->in[0].dim, nhwc);
    columns_plain terms = {lab_out(call, 0), lab_in(call, 0)};
    if (nhwc) {
        columns_sum(call, terms, y.N * y.H * y.W, y.C);
        return lab_launched("columns_slice");
    }
    int64_t slices = 8 * (int64_t)call->exec->sm_count / y.C;
    int64_t room =
        (int64_t)(call->exec->workspace_bytes / sizeof(double)) / y.C;
    slices = slices > y.N ? y.N : slices;
    slices = slices > room ? room : slices;
    if (slices < 2)
        return bias_backward(call);
    double *part = static_cast<double *>(call->exec->workspace);
    columns_cut c = {y.N, y.C, (y.N + slices - 1) / slices, slices, 1};
    conv2d_bias_slice<<<lab_blocks(y.C * slices, 1), LAB_BLOCK, 0,
                        lab_stream(call)>>>(part, lab_in(call, 0), y, c);
    columns_join<<<lab_blocks(y.C, COLUMNS_WIDE),
                   dim3(COLUMNS_WIDE, COLUMNS_DEEP), 0, lab_stream(call)>>>(
        part, terms, c);
    return lab_launched("conv2d_bias_slice");
}

static const char naive[] = "kernels/conv2d/conv2d.cu";
static const char tile[] = "kernels/conv2d/conv2d_tile.cu";
static const char straight[] = "kernels/conv2d/conv2d_tf32x3_sm90.cu";
static const char im2col[] = "kernels/conv2d/conv2d_im2col.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "conv", LAB_FORWARD, naive_forward, naive,
            "conv2d_fwd_naive"),
    lab_row("tile", "conv", LAB_FORWARD, conv2d_tile_forward, tile,
            "conv2d_tile", false, lab_conv2d_plain),
    lab_prefer(lab_row("cublas", "conv", LAB_FORWARD, conv2d_im2col_forward,
                       im2col, "conv2d_im2col_forward", false,
                       lab_conv2d_plain)),
    lab_row("tf32x3", "conv", LAB_FORWARD, conv2d_tf32x3_forward, straight,
            "conv2d_tf32x3_conv", false, conv2d_tf32x3_prepare),
    lab_row("naive", "bias", LAB_FORWARD, bias_forward, naive,
            "conv2d_bias_fwd"),
    lab_row("naive", "bias", LAB_BACKWARD, bias_backward, naive,
            "conv2d_bias_bwd"),
    lab_prefer(lab_row("vector", "bias", LAB_FORWARD, bias_forward_vector,
                       naive, "bias_forward_vector")),
    lab_apart(
        lab_prefer(lab_row("split", "bias", LAB_BACKWARD, bias_backward_split,
                           naive, "conv2d_bias_slice"))),
    lab_row("naive", "conv", LAB_BACKWARD, naive_backward, naive,
            "conv2d_dW_naive"),
    lab_row("tile", "conv", LAB_BACKWARD, conv2d_tile_backward, tile,
            "conv2d_tile", false, lab_conv2d_plain),
    lab_prefer(lab_row("cublas", "conv", LAB_BACKWARD, conv2d_im2col_backward,
                       im2col, "conv2d_im2col_backward", false,
                       lab_conv2d_plain)),
    lab_row("tf32x3", "conv", LAB_BACKWARD, conv2d_tf32x3_backward, straight,
            "conv2d_tf32x3_dW", false, conv2d_tf32x3_prepare),
};

const struct lab_kernel_set lab_cuda_conv2d = lab_set("conv2d", variants);
