/* kernels/conv2d/cpu.c -- the convolution and its gradients on one thread of a
 * CPU.
 *
 * direct  the definition, one element of y after the other.
 * rows    another order: a weight times a row of the image is added to a row of
 *         y. Rows lie side by side, so that the compiler makes vector
 *         instructions of it, and the edges are cut off once a row.
 * im2col  the windows laid out as a matrix, then rows of it are added: the
 *         product of the lab gemm. */
#include <string.h>

#include "conv2d/conv.h"
#include "common/kernel.h"

struct conv {
    struct conv_shape s;
    const float *x;
    const float *w;
    float *y;
    float *windows;
};

static struct conv conv_of(const struct lab_call *call)
{
    return (struct conv){conv_shape_of(call), call->in[0].data,
                         call->in[1].data, call->out[0].data,
                         call->out[1].data};
}

static float sum_window(const struct conv *v, int64_t n, int64_t k, int64_t p,
                        int64_t q)
{
    const struct conv_shape *s = &v->s;
    float sum = 0.0f;
    for (int64_t c = 0; c < s->C; c++) {
        const float *image = v->x + (n * s->C + c) * s->H * s->W;
        const float *w = v->w + (k * s->C + c) * s->R * s->R;
        for (int64_t r = 0; r < s->R; r++) {
            for (int64_t t = 0; t < s->R; t++) {
                int64_t h = p + r - s->pad;
                int64_t u = q + t - s->pad;
                if (h >= 0 && h < s->H && u >= 0 && u < s->W)
                    sum += image[h * s->W + u] * w[r * s->R + t];
            }
        }
    }
    return sum;
}

static enum lab_status conv_direct(const struct lab_call *call)
{
    struct conv v = conv_of(call);
    const struct conv_shape *s = &v.s;
    float *y = v.y;
    for (int64_t n = 0; n < s->N; n++) {
        for (int64_t k = 0; k < s->K; k++) {
            for (int64_t p = 0; p < s->P; p++) {
                for (int64_t q = 0; q < s->Q; q++)
                    *y++ = sum_window(&v, n, k, p, q);
            }
        }
    }
    return LAB_OK;
}

/* to[0..n) += a from[0..n) */
static void add_row(float *restrict to, float a, const float *restrict from,
                    int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += a * from[i];
}

/* Columns of y whose window has column t of the kernel inside of the image. */
struct span {
    int64_t from;
    int64_t end; /* from where there are none */
};

static struct span columns(const struct conv_shape *s, int64_t t)
{
    struct span q = {.from = t < s->pad ? s->pad - t : 0,
                     .end =
                         s->W + s->pad - t < s->Q ? s->W + s->pad - t : s->Q};
    if (q.end < q.from)
        q.end = q.from;
    return q;
}

/* One weight's share of an image of y: row r, column t of the window. */
static void add_weight(const struct conv_shape *s, float *y, const float *image,
                       float weight, int64_t r, int64_t t)
{
    struct span q = columns(s, t);
    for (int64_t p = 0; p < s->P; p++) {
        int64_t h = p + r - s->pad;
        if (h >= 0 && h < s->H && q.from < q.end)
            add_row(y + p * s->Q + q.from, weight,
                    image + h * s->W + q.from + t - s->pad, q.end - q.from);
    }
}

static enum lab_status conv_rows(const struct lab_call *call)
{
    struct conv v = conv_of(call);
    const struct conv_shape *s = &v.s;
    int64_t area = s->R * s->R;
    memset(v.y, 0, (size_t)call->out[0].count * sizeof(float));
    for (int64_t i = 0; i < s->N * s->K * s->C; i++) {
        int64_t c = i % s->C;
        int64_t k = i / s->C % s->K;
        int64_t n = i / s->C / s->K;
        float *y = v.y + (n * s->K + k) * s->P * s->Q;
        const float *image = v.x + (n * s->C + c) * s->H * s->W;
        const float *w = v.w + (k * s->C + c) * area;
        for (int64_t a = 0; a < area; a++)
            add_weight(s, y, image, w[a], a / s->R, a % s->R);
    }
    return LAB_OK;
}

void lab_cpu_conv_windows(const struct lab_call *call, int64_t n)
{
    struct conv v = conv_of(call);
    const struct conv_shape *s = &v.s;
    float *to = v.windows;
    for (int64_t row = 0; row < conv_depth(s); row++) {
        int64_t t = row % s->R;
        int64_t r = row / s->R % s->R;
        int64_t c = row / (s->R * s->R);
        const float *image = v.x + (n * s->C + c) * s->H * s->W;
        for (int64_t p = 0; p < s->P; p++) {
            for (int64_t q = 0; q < s->Q; q++) {
                int64_t h = p + r - s->pad;
                int64_t u = q + t - s->pad;
                bool inside = h >= 0 && h < s->H && u >= 0 && u < s->W;
                *to++ = inside ? image[h * s->W + u] : 0.0f;
            }
        }
    }
}

static enum lab_status conv_im2col(const struct lab_call *call)
{
    struct conv v = conv_of(call);
    const struct conv_shape *s = &v.s;
    int64_t places = s->P * s->Q;
    int64_t depth = conv_depth(s);
    memset(v.y, 0, (size_t)call->out[0].count * sizeof(float));
    for (int64_t n = 0; n < s->N; n++) {
        lab_cpu_conv_windows(call, n);
        for (int64_t i = 0; i < s->K * depth; i++)
            add_row(v.y + (n * s->K + i / depth) * places, v.w[i],
                    v.windows + i % depth * places, places);
    }
    return LAB_OK;
}

/* Channels last: a window's channels lie side by side in x and in w, so that the
 * innermost loop runs along both. */
static float dot(const float *x, const float *w, int64_t n)
{
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * w[i];
    return sum;
}

static float sum_window_nhwc(const struct conv_shape *s, const float *image,
                             const float *w, int64_t p, int64_t q)
{
    float sum = 0.0f;
    for (int64_t r = 0; r < s->R; r++) {
        int64_t h = p + r - s->pad;
        for (int64_t t = 0; t < s->R; t++) {
            int64_t v = q + t - s->pad;
            if (h >= 0 && h < s->H && v >= 0 && v < s->W)
                sum += dot(image + (h * s->W + v) * s->C,
                           w + (r * s->R + t) * s->C, s->C);
        }
    }
    return sum;
}

static enum lab_status conv_nhwc_direct(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of_nhwc(call);
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        int64_t place = i / s.K % (s.P * s.Q);
        int64_t n = i / (s.K * s.P * s.Q);
        y[i] = sum_window_nhwc(
            &s, (const float *)call->in[0].data + n * s.H * s.W * s.C,
            (const float *)call->in[1].data + i % s.K * conv_depth(&s),
            place / s.Q, place % s.Q);
    }
    return LAB_OK;
}

/* ---- the gradients ----
 *
 * direct  the definition, one element of dx or dw after the other.
 * rows    a weight times a row of dy is added to a row of dx; an element of dw
 *         is the product of rows of x and dy that lie side by side. */

static enum lab_status conv_data_direct(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of_data(call);
    const float *dy = call->in[0].data;
    const float *w = call->in[1].data;
    float *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        int64_t h = i / s.W % s.H + s.pad;
        int64_t v = i % s.W + s.pad;
        int64_t c = i / (s.H * s.W) % s.C;
        int64_t n = i / (s.H * s.W * s.C);
        float sum = 0.0f;
        for (int64_t j = 0; j < s.K * s.R * s.R; j++) {
            int64_t k = j / (s.R * s.R);
            int64_t p = h - j / s.R % s.R;
            int64_t q = v - j % s.R;
            if (p >= 0 && p < s.P && q >= 0 && q < s.Q)
                sum += dy[((n * s.K + k) * s.P + p) * s.Q + q] *
                       w[(k * s.C + c) * s.R * s.R + j % (s.R * s.R)];
        }
        dx[i] = sum;
    }
    return LAB_OK;
}

static enum lab_status conv_data_rows(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of_data(call);
    const float *dy = call->in[0].data;
    const float *w = call->in[1].data;
    float *dx = call->out[0].data;
    memset(dx, 0, (size_t)call->out[0].count * sizeof(float));
    for (int64_t i = 0; i < s.N * s.K * s.C * s.R * s.R; i++) {
        int64_t j = i % (s.R * s.R);
        int64_t c = i / (s.R * s.R) % s.C;
        int64_t k = i / (s.R * s.R * s.C) % s.K;
        int64_t n = i / (s.R * s.R * s.C * s.K);
        int64_t t = j % s.R - s.pad;
        struct span q = columns(&s, j % s.R);
        for (int64_t p = 0; p < s.P; p++) {
            int64_t h = p + j / s.R - s.pad;
            if (h >= 0 && h < s.H && q.from < q.end)
                add_row(dx + ((n * s.C + c) * s.H + h) * s.W + q.from + t,
                        w[(k * s.C + c) * s.R * s.R + j],
                        dy + ((n * s.K + k) * s.P + p) * s.Q + q.from,
                        q.end - q.from);
        }
    }
    return LAB_OK;
}

static enum lab_status conv_filter_direct(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of_filter(call);
    const float *x = call->in[0].data;
    const float *dy = call->in[1].data;
    float *dw = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        int64_t r = i / s.R % s.R - s.pad;
        int64_t t = i % s.R - s.pad;
        int64_t c = i / (s.R * s.R) % s.C;
        int64_t k = i / (s.R * s.R * s.C);
        float sum = 0.0f;
        for (int64_t j = 0; j < s.N * s.P * s.Q; j++) {
            int64_t n = j / (s.P * s.Q);
            int64_t h = j / s.Q % s.P + r;
            int64_t v = j % s.Q + t;
            if (h >= 0 && h < s.H && v >= 0 && v < s.W)
                sum += x[((n * s.C + c) * s.H + h) * s.W + v] *
                       dy[(n * s.K + k) * s.P * s.Q + j % (s.P * s.Q)];
        }
        dw[i] = sum;
    }
    return LAB_OK;
}

/* As dot(), in 8 sums: vector instructions, and a smaller error. */
static float dot_8(const float *a, const float *b, int64_t n)
{
    float sum[8] = {0.0f};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int l = 0; l < 8; l++)
            sum[l] += a[i + l] * b[i + l];
    }
    float rest = dot(a + i, b + i, n - i);
    for (int l = 0; l < 8; l++)
        rest += sum[l];
    return rest;
}

static enum lab_status conv_filter_rows(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of_filter(call);
    const float *x = call->in[0].data;
    const float *dy = call->in[1].data;
    float *dw = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        int64_t r = i / s.R % s.R - s.pad;
        int64_t t = i % s.R - s.pad;
        int64_t c = i / (s.R * s.R) % s.C;
        int64_t k = i / (s.R * s.R * s.C);
        struct span q = columns(&s, i % s.R);
        float sum = 0.0f;
        for (int64_t row = 0; row < s.N * s.P; row++) {
            int64_t n = row / s.P;
            int64_t p = row % s.P;
            if (p + r >= 0 && p + r < s.H && q.from < q.end)
                sum +=
                    dot_8(x + ((n * s.C + c) * s.H + p + r) * s.W + q.from + t,
                          dy + ((n * s.K + k) * s.P + p) * s.Q + q.from,
                          q.end - q.from);
        }
        dw[i] = sum;
    }
    return LAB_OK;
}

#define VARIANT(label, fn, text)                                               \
    {                                                                          \
        .name = label, .idea = text, .run = fn,                                \
        .source = "kernels/conv2d/cpu.c", .symbol = #fn                        \
    }

const struct lab_variant lab_cpu_variants_conv[] = {
    VARIANT("direct", conv_direct, "the definition, an element at a time"),
    VARIANT("rows", conv_rows, "a weight times a row of the image"),
    {.name = "im2col",
     .idea = "the windows laid out, then a product",
     .run = conv_im2col,
     .source = "kernels/conv2d/cpu.c",
     .symbol = "conv_im2col",
     .scratch = true},
    {0}};

const struct lab_variant lab_cpu_variants_conv_nhwc[] = {
    VARIANT("direct", conv_nhwc_direct, "the definition, channels innermost"),
    {0}};

const struct lab_variant lab_cpu_variants_conv_data[] = {
    VARIANT("direct", conv_data_direct, "the definition, an element at a time"),
    VARIANT("rows", conv_data_rows, "a weight times a row of dy"),
    {0}};

const struct lab_variant lab_cpu_variants_conv_filter[] = {
    VARIANT("direct", conv_filter_direct,
            "the definition, an element at a time"),
    VARIANT("rows", conv_filter_rows, "products of a row of x and one of dy"),
    {0}};
