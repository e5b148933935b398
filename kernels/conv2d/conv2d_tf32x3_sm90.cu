/* kernels/conv2d/conv2d_tf32x3_sm90.cu -- the three products of a convolution by tf32x3
 * (tf32x3/tf32x3_sm90.cuh). Windows are never laid out: the feeding warpgroup finds each
 * of their numbers in the image ("implicit GEMM").
 *
 *   forward  conv (places, M)  = windows(x) Wt          depth: a window's numbers
 *   dWt      (window, M)       = windows(x)^T dconv     depth: places
 *   dx       (pixels, C)       = windows'(dconv) Wt'    depth: kernel row, column, filter
 *
 * windows' has for a pixel the places that read it: the window runs backwards, from
 * (h + top, w + left) up and to the left. Wt' is Wt with channels and filters exchanged.
 * Four channels lie side by side (nhwc), and 16 bytes are fetched at a time. */
#include "conv2d/conv2d_tf32x3_sm90.h"
#include "conv2d/conv2d_tile.cuh"
#include "tf32x3/tf32x3_sm90.cuh"

/* Window i, number k of an image (nhwc). Down: k is a side, and the depth is i. */
template <bool DOWN_> struct tf32x3_windows {
    static constexpr bool DOWN = DOWN_;
    enum { EACH = BM / SIDES, CHUNKS = BM / 4 };
    struct kept {
        int base[DOWN ? 1
                      : EACH]; /* the window's first pixel, as a number of x */
        int at[DOWN ? 1 : EACH]; /* its row, and its column: 16 bits each */
    };
    const float *data;
    int H, W, C;
    int windows;
    int numbers; /* of a window */
    int sh, sw;
    int top, left; /* the first window's first row and column */
    int step;      /* 1, or -1: backwards */
    struct divider by_columns, by_rows, by_C, by_KW;

    struct pixel {
        int base;
        int h;
        int w;
    };
    __device__ __forceinline__ pixel first_of(int window) const
    {
        int n, i, j;
        split(window, by_columns, by_rows, &n, &i, &j);
        const int h = i * sh + top;
        const int w = j * sw + left;
        return {((n * H + h) * W + w) * C, h, w};
    }
    /* Four numbers of a window from number k on; dh, dw and c are k's. */
    __device__ __forceinline__ void one(char *to, const pixel &p, bool inside,
                                        int dh, int dw, int c) const
    {
        inside = inside && static_cast<unsigned>(p.h + dh) < H &&
                 static_cast<unsigned>(p.w + dw) < W;
        copy_async16(shared_address(to),
                     data + (inside ? p.base + (dh * W + dw) * C + c : 0),
                     inside);
    }
    template <int SIDE>
    __device__ __forceinline__ void enter(kept *of, int side0) const
    {
        static_assert(SIDE == BM, "the left factor");
        if constexpr (!DOWN) {
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const int window = side0 + threadIdx.x / 8 + SIDES * i;
                pixel p = {0, -32768, 0}; /* inside of no image */
                if (window < windows)
                    p = first_of(window);
                of->base[i] = p.base;
                of->at[i] = p.h * 65536 + (p.w & 0xffff);
            }
        }
    }
    template <int SIDE, typename PLACE>
    __device__ __forceinline__ void fetch(const kept &of, char *to, int side0,
                                          int k0, PLACE place) const
    {
        int kh, kw, c;
        if constexpr (DOWN) {
            const int chunk = threadIdx.x % CHUNKS;
            const int number = side0 + 4 * chunk;
            split(number, by_C, by_KW, &kh, &kw, &c);
#pragma unroll
            for (int i = 0; i < DEPTH * CHUNKS / FEEDERS; i++) {
                const int k = threadIdx.x / CHUNKS + i * (FEEDERS / CHUNKS);
                one(to + place(k, chunk), first_of(k0 + k),
                    number < numbers && k0 + k < windows, step * kh, step * kw,
                    c);
            }
        } else {
            const int row = threadIdx.x / 8;
            const int chunk = threadIdx.x % 8;
            const int number = k0 + 4 * chunk;
            split(number, by_C, by_KW, &kh, &kw, &c);
            to += swizzled(row, chunk);
#pragma unroll
            for (int i = 0; i < EACH; i++)
                one(to + i * SIDES * ROW,
                    {of.base[i], of.at[i] >> 16,
                     static_cast<short>(of.at[i] & 0xffff)},
                    number < numbers, step * kh, step * kw, c);
        }
    }
};

/* Wt' (kernel row, column, filter; channel): a channel's filters lie side by side. */
struct tf32x3_transposed_weights {
    static constexpr bool DOWN = false;
    struct kept {
    };
    const float *data;
    int C;
    int M;
    int depth; /* KH KW M */
    struct divider by_M;

    template <int SIDE> __device__ __forceinline__ void enter(kept *, int) const
    {
    }
    template <int SIDE, typename PLACE>
    __device__ __forceinline__ void fetch(const kept &, char *to, int side0,
                                          int k0, PLACE) const
    {
        const int row = threadIdx.x / 8;
        const int chunk = threadIdx.x % 8;
        const int k = k0 + 4 * chunk;
        const int of_kernel = divide(k, by_M);
        const float *at =
            data + (static_cast<int64_t>(of_kernel) * C + side0 + row) * M +
            (k - of_kernel * M);
        to += swizzled(row, chunk);
#pragma unroll
        for (int i = 0; i < SIDE / SIDES; i++)
            copy_async16(shared_address(to + i * SIDES * ROW),
                         at + static_cast<int64_t>(i) * SIDES * M,
                         k < depth && side0 + row + SIDES * i < C);
    }
};

template <bool DOWN>
static tf32x3_windows<DOWN> windows_of_x(const float *x,
                                         const struct geometry &g)
{
    return {x,      g.H,     g.W, g.C,     g.places, g.window, g.sh,   g.sw,
            -g.top, -g.left, 1,   g.by_OW, g.by_OH,  g.by_C,   g.by_KW};
}

static bool aligned(const void *p)
{
    return reinterpret_cast<uintptr_t>(p) % 16 == 0;
}

/* Sixteen bits for a row or a column; 31 for a number of an image, and for those before and
 * behind it that a window has. */
bool conv2d_tf32x3_fits(const struct lab_call *call, const struct geometry *g)
{
    const int64_t side = 16000;
    for (int i = 0; i < call->n_in; i++) {
        if (!aligned(call->in[i].data) || call->in[i].count > INT32_MAX)
            return false;
    }
    return g->nhwc && g->C % 4 == 0 && g->M % 4 == 0 && g->H < side &&
           g->W < side && g->OH < side && g->OW < side && g->KH < side &&
           g->KW < side && g->top < side && g->left < side &&
           (g->pixels + static_cast<int64_t>(g->KH) * g->W) * g->C <=
               INT32_MAX &&
           (g->places + static_cast<int64_t>(g->KH) * g->OW) * g->M <=
               INT32_MAX;
}

static product product_of(const struct lab_call *call, float *c, int m, int n,
                          int k)
{
    return {c, nullptr, static_cast<float *>(call->exec->workspace), n, 0.0f, m,
            n, k};
}

enum lab_status conv2d_tf32x3_conv(const struct lab_call *call,
                                   const struct geometry *g)
{
    return launch_best(
        call, product_of(call, lab_out(call, 0), g->places, g->M, g->window),
        call->exec->workspace_bytes, windows_of_x<false>(lab_in(call, 0), *g),
        tf32x3_matrix<true, true>{lab_in(call, 1), g->M, g->M, g->window});
}

enum lab_status conv2d_tf32x3_dW(const struct lab_call *call,
                                 const struct geometry *g)
{
    return launch_best(
        call, product_of(call, lab_out(call, 0), g->window, g->M, g->places),
        call->exec->workspace_bytes, windows_of_x<true>(lab_in(call, 1), *g),
        tf32x3_matrix<true, true>{lab_in(call, 0), g->M, g->M, g->places});
}

enum lab_status conv2d_tf32x3_dx(const struct lab_call *call,
                                 const struct geometry *g)
{
    const int depth = g->KH * g->KW * g->M;
    const tf32x3_windows<false> dconv = {
        lab_in(call, 0), g->OH,   g->OW,   g->M,
        g->pixels,       depth,   1,       1,
        g->top,          g->left, -1,      g->by_W,
        g->by_H,         g->by_M, g->by_KW};
    return launch_best(
        call, product_of(call, lab_out(call, 1), g->pixels, g->C, depth),
        call->exec->workspace_bytes, dconv,
        tf32x3_transposed_weights{lab_in(call, 2), g->C, g->M, depth, g->by_M});
}
