/* kernels/pool/max_pool2d.cu -- the largest number of every window.
 *
 * Thread -> element: forward a thread an element of y, which walks its window;
 * backward a thread an element of dx, which asks the windows that hold it
 * whether it won. The other way round, every window adding its gradient where
 * its winner is, windows that overlap would meet in one place: that takes
 * atomics, and with them the order of the additions is lost.
 * Memory, at best: forward 4 bytes for each x and 8 for each y; backward 8 for
 * each y and 4 for each dx. What windows share comes from the cache. */
#include "common/image.cuh"
#include "pool/pool.h"

static __global__ void max_pool2d_fwd(float *y, int32_t *argmax, const float *x,
                                      struct lab_image in, struct lab_image out,
                                      struct lab_window win, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel o = pixel_of(out, i);
    int64_t top = o.h * win.stride[0] - win.pad[0];
    int64_t left = o.w * win.stride[1] - win.pad[1];
    int64_t best = -1;
    float largest = 0.0f;
    for (int64_t h = top < 0 ? 0 : top; h < top + win.size[0] && h < in.H;
         h++) {
        for (int64_t w = left < 0 ? 0 : left;
             w < left + win.size[1] && w < in.W; w++) {
            int64_t from = pixel_at(in, o.n, o.c, h, w);
            float v = x[from];
            if (best < 0 || v > largest || (isnan(v) && !isnan(largest))) {
                best = from;
                largest = v;
            }
        }
    }
    y[i] = largest;
    argmax[i] = (int32_t)best;
}

static __global__ void max_pool2d_bwd(float *dx, const float *dy,
                                      const int32_t *argmax,
                                      struct lab_image in, struct lab_image out,
                                      struct lab_window win, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel p = pixel_of(in, i);
    int64_t h0, h1, w0, w1;
    window_readers(win, 0, p.h, out.H, &h0, &h1);
    window_readers(win, 1, p.w, out.W, &w0, &w1);
    float sum = 0.0f;
    for (int64_t h = h0; h <= h1; h++) {
        for (int64_t w = w0; w <= w1; w++) {
            int64_t from = pixel_at(out, p.n, p.c, h, w);
            if (argmax[from] == i)
                sum += dy[from];
        }
    }
    dx[i] = sum;
}

static enum lab_status pool_forward(const struct lab_call *call)
{
    struct lab_window win = lab_params<lab_pool_params>(call)->window;
    int64_t count = call->out[0].count;
    max_pool2d_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), static_cast<int32_t *>(call->out[1].data),
        lab_in(call, 0), lab_image_of(call->in[0].dim, win.nhwc),
        lab_image_of(call->out[0].dim, win.nhwc), win, count);
    return lab_launched("max_pool2d_fwd");
}

static enum lab_status pool_backward(const struct lab_call *call)
{
    struct lab_window win = lab_params<lab_pool_params>(call)->window;
    int64_t count = call->out[0].count;
    max_pool2d_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_labels(call, 1),
        lab_image_of(call->out[0].dim, win.nhwc),
        lab_image_of(call->in[0].dim, win.nhwc), win, count);
    return lab_launched("max_pool2d_bwd");
}

static const char source[] = "kernels/pool/max_pool2d.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "pool", LAB_FORWARD, pool_forward, source,
            "max_pool2d_fwd"),
    lab_row("naive", "pool", LAB_BACKWARD, pool_backward, source,
            "max_pool2d_bwd"),
};

const struct lab_kernel_set lab_cuda_max_pool2d =
    lab_set("max_pool2d", variants);
