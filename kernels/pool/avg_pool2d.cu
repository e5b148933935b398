/* kernels/pool/avg_pool2d.cu -- the mean of every window; padding is not counted.
 *
 * Thread -> element: forward a thread an element of y; backward a thread an
 * element of dx, which gathers its share from every window that holds it.
 * Memory, at best: 4 bytes for each element of the image and of the result. */
#include "common/image.cuh"
#include "pool/pool.h"

/* Elements of window `out` along one axis that lie in the image: from .. to. */
static __device__ void inside(const struct lab_window &win, int axis,
                              int64_t out, int64_t limit, int64_t *from,
                              int64_t *to)
{
    int64_t first = out * win.stride[axis] - win.pad[axis];
    int64_t end = first + win.size[axis];
    *from = first < 0 ? 0 : first;
    *to = end < limit ? end : limit;
}

static __global__ void avg_pool2d_fwd(float *y, const float *x,
                                      struct lab_image in, struct lab_image out,
                                      struct lab_window win, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel o = pixel_of(out, i);
    int64_t h0, h1, w0, w1;
    inside(win, 0, o.h, in.H, &h0, &h1);
    inside(win, 1, o.w, in.W, &w0, &w1);
    double sum = 0.0;
    for (int64_t h = h0; h < h1; h++) {
        for (int64_t w = w0; w < w1; w++)
            sum += x[pixel_at(in, o.n, o.c, h, w)];
    }
    y[i] = (float)(sum / (double)((h1 - h0) * (w1 - w0)));
}

static __global__ void avg_pool2d_bwd(float *dx, const float *dy,
                                      struct lab_image in, struct lab_image out,
                                      struct lab_window win, int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    struct pixel p = pixel_of(in, i);
    int64_t first[2], last[2];
    window_readers(win, 0, p.h, out.H, &first[0], &last[0]);
    window_readers(win, 1, p.w, out.W, &first[1], &last[1]);
    float sum = 0.0f;
    for (int64_t h = first[0]; h <= last[0]; h++) {
        for (int64_t w = first[1]; w <= last[1]; w++) {
            int64_t h0, h1, w0, w1;
            inside(win, 0, h, in.H, &h0, &h1);
            inside(win, 1, w, in.W, &w0, &w1);
            sum += dy[pixel_at(out, p.n, p.c, h, w)] /
                   (float)((h1 - h0) * (w1 - w0));
        }
    }
    dx[i] = sum;
}

static enum lab_status pool_forward(const struct lab_call *call)
{
    struct lab_window win = lab_params<lab_pool_params>(call)->window;
    int64_t count = call->out[0].count;
    avg_pool2d_fwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0),
        lab_image_of(call->in[0].dim, win.nhwc),
        lab_image_of(call->out[0].dim, win.nhwc), win, count);
    return lab_launched("avg_pool2d_fwd");
}

static enum lab_status pool_backward(const struct lab_call *call)
{
    struct lab_window win = lab_params<lab_pool_params>(call)->window;
    int64_t count = call->out[0].count;
    avg_pool2d_bwd<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0),
        lab_image_of(call->out[0].dim, win.nhwc),
        lab_image_of(call->in[0].dim, win.nhwc), win, count);
    return lab_launched("avg_pool2d_bwd");
}

static const char source[] = "kernels/pool/avg_pool2d.cu";

static const struct lab_variant variants[] = {
    lab_row("naive", "pool", LAB_FORWARD, pool_forward, source,
            "avg_pool2d_fwd"),
    lab_row("naive", "pool", LAB_BACKWARD, pool_backward, source,
            "avg_pool2d_bwd"),
};

const struct lab_kernel_set lab_cuda_avg_pool2d =
    lab_set("avg_pool2d", variants);
