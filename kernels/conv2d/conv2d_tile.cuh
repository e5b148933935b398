/* kernels/conv2d/conv2d_tile.cuh -- the three products of a convolution, number by
 * number: where an element of a factor lies in the image, and where an element
 * of the result goes. See conv2d_tile.cu. */
#pragma once
#include "conv2d/conv2d_cuda.cuh"

/* n / d for 0 <= n < 2^31: T. Granlund, P. Montgomery, "Division by invariant
 * integers using multiplication", 1994. */
struct divider {
    unsigned d;
    unsigned multiplier;
    unsigned shift;
};

static inline struct divider divider_of(int64_t d)
{
    struct divider v = {(unsigned)d, 0, 0};
    while ((1ull << v.shift) < (unsigned long long)d)
        v.shift++;
    v.multiplier = (unsigned)(((1ull << 32) * ((1ull << v.shift) - d)) / d + 1);
    return v;
}

static __device__ inline unsigned divide(unsigned n, const struct divider &v)
{
    return (__umulhi(n, v.multiplier) + n) >> v.shift;
}

/* The whole geometry in 32 bits. */
struct geometry {
    int H, W, C, OH, OW, M, KH, KW, sh, sw, top, left;
    int places; /* N*OH*OW */
    int pixels; /* N*H*W */
    int window; /* KH*KW*C */
    bool nhwc;
    struct divider by_OW, by_OH, by_W, by_H, by_C, by_KW, by_KH, by_M;
};

/* LAB_E_RANGE: it does not fit 32 bits. conv2d_tile.cu. */
enum lab_status conv2d_geometry_of(const struct lab_call *call,
                                   const struct lab_view *x,
                                   const struct lab_view *conv,
                                   struct geometry *g);

static __device__ inline int64_t x_at(const struct geometry &g, int n, int h,
                                      int w, int c)
{
    return g.nhwc ? ((int64_t)(n * g.H + h) * g.W + w) * g.C + c
                  : ((int64_t)(n * g.C + c) * g.H + h) * g.W + w;
}

static __device__ inline int64_t y_at(const struct geometry &g, int n, int oh,
                                      int ow, int m)
{
    return g.nhwc ? ((int64_t)(n * g.OH + oh) * g.OW + ow) * g.M + m
                  : ((int64_t)(n * g.M + m) * g.OH + oh) * g.OW + ow;
}

static __device__ inline int64_t w_at(const struct geometry &g, int kh, int kw,
                                      int c, int m)
{
    return g.nhwc ? ((int64_t)(kh * g.KW + kw) * g.C + c) * g.M + m
                  : ((int64_t)(m * g.C + c) * g.KH + kh) * g.KW + kw;
}

/* n, row and column of place (or pixel) number i. */
static __device__ inline void split(int i, const struct divider &by_columns,
                                    const struct divider &by_rows, int *n,
                                    int *row, int *column)
{
    unsigned line = divide(i, by_columns);
    *column = i - line * by_columns.d;
    *n = divide(line, by_rows);
    *row = line - *n * by_rows.d;
}

/* Kernel row, column and channel of window element k, numbered as the weights
 * lie in memory. */
static __device__ inline void split_window(const struct geometry &g, int k,
                                           int *kh, int *kw, int *c)
{
    if (g.nhwc)
        split(k, g.by_C, g.by_KW, kh, kw, c);
    else
        split(k, g.by_KW, g.by_KH, c, kh, kw);
}

/* windows(x)[place, k]. A T may be four channels: C and window count those. */
template <typename T>
static __device__ inline T window_element(const struct geometry &g, const T *x,
                                          int place, int k)
{
    int n, oh, ow, kh, kw, c;
    split(place, g.by_OW, g.by_OH, &n, &oh, &ow);
    split_window(g, k, &kh, &kw, &c);
    int h = oh * g.sh - g.top + kh;
    int w = ow * g.sw - g.left + kw;
    bool inside = h >= 0 && h < g.H && w >= 0 && w < g.W;
    return inside ? x[x_at(g, n, h, w, c)] : T{};
}

static __device__ inline float place_element(const struct geometry &g,
                                             const float *y, int place, int m)
{
    int n, oh, ow;
    split(place, g.by_OW, g.by_OH, &n, &oh, &ow);
    return y[y_at(g, n, oh, ow, m)];
}

/* The three products: a(row, k), b(k, column), where the result goes, and
 * which index runs along memory. */
struct forward_product {
    static __device__ float a(const struct geometry &g, const float *x, int row,
                              int k)
    {
        return window_element(g, x, row, k);
    }
    static __device__ float b(const struct geometry &g, const float *Wt, int k,
                              int m)
    {
        return g.nhwc ? Wt[(int64_t)k * g.M + m]
                      : Wt[(int64_t)m * g.window + k];
    }
    static __device__ int64_t to(const struct geometry &g, int row, int m)
    {
        int n, oh, ow;
        split(row, g.by_OW, g.by_OH, &n, &oh, &ow);
        return y_at(g, n, oh, ow, m);
    }
    static __device__ bool a_along_rows(const struct geometry &g)
    {
        return !g.nhwc;
    }
    static __device__ bool b_along_columns(const struct geometry &g)
    {
        return g.nhwc;
    }
};

struct dW_product {
    static __device__ float a(const struct geometry &g, const float *x, int row,
                              int place)
    {
        return window_element(g, x, place, row);
    }
    static __device__ float b(const struct geometry &g, const float *dconv,
                              int place, int m)
    {
        return place_element(g, dconv, place, m);
    }
    static __device__ int64_t to(const struct geometry &g, int row, int m)
    {
        return g.nhwc ? (int64_t)row * g.M + m : (int64_t)m * g.window + row;
    }
    static __device__ bool a_along_rows(const struct geometry &g)
    {
        return g.nhwc;
    }
    static __device__ bool b_along_columns(const struct geometry &g)
    {
        return g.nhwc;
    }
};

struct dx_product {
    /* dconv of the output that read pixel `row` at (kh, kw), or 0 */
    static __device__ float a(const struct geometry &g, const float *dconv,
                              int row, int k)
    {
        int n, h, w, kh, kw, m;
        split(row, g.by_W, g.by_H, &n, &h, &w);
        split(k, g.by_M, g.by_KW, &kh, &kw, &m);
        int up = h + g.top - kh;
        int along = w + g.left - kw;
        int oh = up / g.sh;
        int ow = along / g.sw;
        bool read = up >= 0 && along >= 0 && oh * g.sh == up &&
                    ow * g.sw == along && oh < g.OH && ow < g.OW;
        return read ? dconv[y_at(g, n, oh, ow, m)] : 0.0f;
    }
    static __device__ float b(const struct geometry &g, const float *Wt, int k,
                              int c)
    {
        int kh, kw, m;
        split(k, g.by_M, g.by_KW, &kh, &kw, &m);
        return Wt[w_at(g, kh, kw, c, m)];
    }
    static __device__ int64_t to(const struct geometry &g, int row, int c)
    {
        int n, h, w;
        split(row, g.by_W, g.by_H, &n, &h, &w);
        return x_at(g, n, h, w, c);
    }
    static __device__ bool a_along_rows(const struct geometry &g)
    {
        return !g.nhwc;
    }
    static __device__ bool b_along_columns(const struct geometry &g)
    {
        return false;
    }
};
