/* A convolution of images that have their channels last, in compiler vectors and
 * without windows laid out: under a row of the kernel the numbers of a window lie
 * together in the image, so that sums for some pixels and 8 to 32 filters stay in
 * registers while the program goes along them, row by row, in vectors of 8 numbers or,
 * where the processor has them, of 16; each number is summed in the same order. The
 * image is copied once with its padding; the weights are copied once a call into the
 * order in which they are read.
 *
 *   conv  pixels x filters       dWt  numbers of a row of the kernel x filters
 *   dx    as conv, of dconv: with a stride, pixels of the same remainder meet the
 *         same rows and columns of the kernel, read backwards
 * All are cut by images. dWt is a sum over them, of which each thread has its own part
 * where there are enough; else it is cut by its rows.
 * Compiled with multiply-adds (kernels/CMakeLists.txt). */
#include <string.h>

#include "cpu/product.h"
#include "cpu/room.h"
#include "cpu/vector.h"
#include "conv2d/conv2d.h"

#define FILE_NAME "kernels/conv2d/conv2d_vector.c"

typedef float vec __attribute__((vector_size(32), aligned(4)));
typedef float wide __attribute__((vector_size(64), aligned(4))); /* two vecs */

enum {
    LANES = 8,
    WIDE = 2 * LANES,
    MOST_VECS = 4,
    MOST_PIXELS = 10,
    ROWS = 6,
    BUFFER = 1 << 16
};

#ifdef LAB_VECTOR_IS_CLONED
#define CLONES __attribute__((target_clones("fma", "default")))
#else
#define CLONES
#endif
#define INLINE static inline __attribute__((always_inline))

/* One padded image, (H, W, C); then dconv of it, where that is copied too. */
static _Thread_local float padded[BUFFER];
static _Thread_local float beside[BUFFER];

static int64_t up(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Vecs of the next block of columns: 24 are one of three, not two and one. Of 16 lanes
 * two vecs are one register, and there are twice as many of those. */
static int vecs_of(int lanes, int64_t cols)
{
    int64_t left = up(cols) / LANES;
    if (lanes == WIDE)
        return (int)least(left, MOST_VECS);
    return left == 3 ? 3 : left > 1 ? 2 : 1;
}

/* Of 16 lanes 10: 49 and 196 places leave few of a last tile unused. */
static int pixels_of(int lanes, int vecs)
{
    if (vecs == 1)
        return 8;
    return lanes == WIDE ? MOST_PIXELS : vecs == 3 ? 4 : 6;
}

/* What a tile reads and writes, as offsets from the image and the result. */
struct places {
    int64_t in[MOST_PIXELS];
    int64_t out[MOST_PIXELS];
    int count; /* those that are written */
};

/* A sum over `taps` rows of `length` numbers, `step` apart in the image. */
struct taps {
    int64_t taps;
    int64_t length;
    int64_t step;
};

/* Of `wides` wides of columns and then `vecs` vecs. */
INLINE void sum_tile(float *out, int64_t cols, const struct places *at,
                     const float *image, const struct taps *t,
                     const float *weights, int pixels, int wides, int vecs)
{
    const int all = wides * WIDE + vecs * LANES;
    wide high[MOST_PIXELS][2];
    vec sum[MOST_PIXELS][3];
#pragma GCC unroll 10
    for (int i = 0; i < pixels; i++) {
        for (int v = 0; v < wides; v++)
            high[i][v] = (wide){0};
        for (int v = 0; v < vecs; v++)
            sum[i][v] = (vec){0};
    }
    for (int64_t k = 0; k < t->taps; k++) {
        const float *from[MOST_PIXELS];
#pragma GCC unroll 10
        for (int i = 0; i < pixels; i++)
            from[i] = image + at->in[i] + k * t->step;
        for (int64_t p = 0; p < t->length; p++, weights += all) {
#pragma GCC unroll 10
            for (int i = 0; i < pixels; i++) {
                float x = from[i][p];
                for (int v = 0; v < wides; v++)
                    high[i][v] +=
                        (x - (wide){0}) * *(const wide *)(weights + v * WIDE);
                for (int v = 0; v < vecs; v++)
                    sum[i][v] +=
                        (x - (vec){0}) *
                        *(const vec *)(weights + wides * WIDE + v * LANES);
            }
        }
    }
#pragma GCC unroll 10
    for (int i = 0; i < pixels; i++) {
        float some[MOST_VECS * LANES];
        float *end = out + at->out[i];
        float *to = cols >= all ? end : some;
        if (i >= at->count)
            break;
        for (int v = 0; v < wides; v++)
            *(wide *)(to + v * WIDE) = high[i][v];
        for (int v = 0; v < vecs; v++)
            *(vec *)(to + wides * WIDE + v * LANES) = sum[i][v];
        int64_t k = 0;
        for (; cols < all && k + LANES <= cols; k += LANES)
            *(vec *)(end + k) = *(const vec *)(some + k);
        for (; cols < all && k < cols; k++)
            end[k] = some[k];
    }
}

/* The tile of all columns of a result, block by block of the packed weights. */
CLONES static void sum_blocks_8(float *out, int64_t cols,
                                const struct places *at, const float *image,
                                const struct taps *t, const float *weights,
                                int vecs)
{
    if (vecs == 3)
        sum_tile(out, cols, at, image, t, weights, 4, 0, 3);
    else if (vecs == 2)
        sum_tile(out, cols, at, image, t, weights, 6, 0, 2);
    else
        sum_tile(out, cols, at, image, t, weights, 8, 0, 1);
}

#ifdef LAB_VECTOR_IS_CLONED
__attribute__((target("avx512f,fma"))) static void
sum_blocks_16(float *out, int64_t cols, const struct places *at,
              const float *image, const struct taps *t, const float *weights,
              int vecs)
{
    if (vecs == 4)
        sum_tile(out, cols, at, image, t, weights, MOST_PIXELS, 2, 0);
    else if (vecs == 3)
        sum_tile(out, cols, at, image, t, weights, MOST_PIXELS, 1, 1);
    else if (vecs == 2)
        sum_tile(out, cols, at, image, t, weights, MOST_PIXELS, 1, 0);
    else
        sum_tile(out, cols, at, image, t, weights, 8, 0, 1);
}
#else
#define sum_blocks_16 sum_blocks_8 /* not called: there are 8 lanes */
#endif

/* `height` x `width` pixels of an image (H, W, C) from (top, left) on, zeros outside. */
static void pad(float *to, const float *image, int64_t H, int64_t W, int64_t C,
                int64_t top, int64_t left, int64_t height, int64_t width)
{
    int64_t first = left < 0 ? least(-left, width) : 0;
    int64_t last = least(width, W - left);
    memset(to, 0, (size_t)(height * width * C) * sizeof(*to));
    for (int64_t h = 0; h < height; h++) {
        if (top + h >= 0 && top + h < H && last > first)
            memcpy(to + (h * width + first) * C,
                   image + ((top + h) * W + left + first) * C,
                   (size_t)((last - first) * C) * sizeof(*to));
    }
}

struct job {
    const struct lab_call *call;
    const struct lab_view *x;
    struct lab_conv2d s;
    int lanes;      /* 8 or 16; packed weights are in the order of either */
    int64_t height; /* of a padded image */
    int64_t width;
    float *weights; /* packed */
    float *sums;    /* of dWt, of each part but the first */
    int64_t parts;
};

/* What serves: channels last, and images that the buffers hold. */
static enum lab_status job_of(struct job *j, const struct lab_call *call,
                              const struct lab_view *x,
                              const struct lab_view *conv)
{
    *j = (struct job){.call = call,
                      .x = x,
                      .s = lab_conv2d_of(call, x, conv),
                      .lanes = lab_vector_lanes()};
    const struct lab_conv2d *s = &j->s;
    j->height = (s->y.H - 1) * s->win.stride[0] + s->KH;
    j->width = (s->y.W - 1) * s->win.stride[1] + s->KW;
    int64_t down = (s->KH - 1) / s->win.stride[0];
    int64_t right = (s->KW - 1) / s->win.stride[1];
    if (lab_conv2d_plain(call))
        return LAB_E_UNSUPPORTED;
    if (!s->win.nhwc)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.channels-last] conv2d vector: its images have "
                        "their channels last "
                        "(layout: nhwc)");
    if ((double)j->height * (double)j->width * (double)s->x.C > BUFFER ||
        (double)(s->y.H + 2 * down) * (double)(s->y.W + 2 * right) *
                (double)up(s->y.C) >
            BUFFER)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.vector-image] conv2d vector: an image of more "
                        "than %d numbers",
                        BUFFER);
    return LAB_OK;
}

static void pad_image(const struct job *j, int64_t n)
{
    const struct lab_conv2d *s = &j->s;
    pad(padded, (const float *)j->x->data + n * s->x.sn, s->x.H, s->x.W, s->x.C,
        -s->win.pad[0], -s->win.pad[1], j->height, j->width);
}

static void sum_blocks(const struct job *j, float *out, int64_t cols,
                       const struct places *at, const struct taps *t,
                       const float *weights, int vecs)
{
    (j->lanes == WIDE ? sum_blocks_16 : sum_blocks_8)(out, cols, at, padded, t,
                                                      weights, vecs);
}

/* ---- forward ---- */

/* Wt (K, M) by blocks of columns: (K, vecs * 8) each, zeros behind the last. */
static void pack(float *to, int lanes, const float *Wt, int64_t K, int64_t M)
{
    int vecs;
    for (int64_t m = 0; m < M; m += vecs * LANES) {
        vecs = vecs_of(lanes, M - m);
        for (int64_t k = 0; k < K; k++)
            for (int64_t i = 0; i < vecs * LANES; i++)
                *to++ = m + i < M ? Wt[k * M + m + i] : 0;
    }
}

static void images_forward(const void *arg, int64_t from, int64_t to)
{
    const struct job *j = arg;
    const struct lab_conv2d *s = &j->s;
    int64_t M = s->y.C;
    int64_t pixels = s->y.H * s->y.W;
    const struct taps t = {s->KH, s->KW * s->x.C, j->width * s->x.C};
    for (int64_t n = from; n < to; n++) {
        float *y = (float *)j->call->out[0].data + n * s->y.sn;
        const float *weights = j->weights;
        int vecs;
        pad_image(j, n);
        for (int64_t m = 0; m < M; m += vecs * LANES) {
            vecs = vecs_of(j->lanes, M - m);
            int each = pixels_of(j->lanes, vecs);
            for (int64_t first = 0; first < pixels; first += each) {
                struct places at = {.count = (int)least(pixels - first, each)};
                for (int i = 0; i < each; i++) {
                    int64_t p = first + least(i, at.count - 1);
                    int64_t row = p / s->y.W * s->win.stride[0];
                    int64_t col = p % s->y.W * s->win.stride[1];
                    at.in[i] = (row * j->width + col) * s->x.C;
                    at.out[i] = p * M;
                }
                sum_blocks(j, y + m, M - m, &at, &t, weights, vecs);
            }
            weights += t.taps * t.length * vecs * LANES;
        }
    }
}

static enum lab_status conv_prepare_forward(const struct lab_call *call)
{
    struct job j;
    return job_of(&j, call, &call->in[0], &call->out[0]);
}

static enum lab_status conv2d_forward(const struct lab_call *call)
{
    struct job j;
    enum lab_status st = job_of(&j, call, &call->in[0], &call->out[0]);
    if (st)
        return st;
    int64_t K = j.s.KH * j.s.KW * j.s.x.C;
    j.weights = lab_room_take(K * up(j.s.y.C));
    if (!j.weights)
        return lab_no_memory("a convolution's weights");
    pack(j.weights, j.lanes, call->in[1].data, K, j.s.y.C);
    lab_parallel(j.s.y.N, 1, images_forward, &j);
    lab_room_give(j.weights);
    return LAB_OK;
}

/* ---- dWt ---- */

/* rows x columns of dWt, of `wides` wides and then `vecs` vecs: a sum over the pixels
 * of an image. dy: `ld` numbers from pixel to pixel. */
INLINE void outer_tile(float *dW, int64_t M, int64_t cols, const float *image,
                       const float *dy, int64_t ld, const struct job *j,
                       int rows, int wides, int vecs, bool add)
{
    const struct lab_conv2d *s = &j->s;
    int64_t right = s->win.stride[1] * s->x.C;
    wide high[ROWS][2];
    vec sum[ROWS][2];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        for (int v = 0; v < wides; v++)
            high[i][v] = (wide){0};
        for (int v = 0; v < vecs; v++)
            sum[i][v] = (vec){0};
    }
    for (int64_t h = 0; h < s->y.H; h++) {
        const float *from = image + h * s->win.stride[0] * j->width * s->x.C;
        for (int64_t w = 0; w < s->y.W; w++, from += right, dy += ld) {
#pragma GCC unroll 6
            for (int i = 0; i < rows; i++) {
                for (int v = 0; v < wides; v++)
                    high[i][v] +=
                        (from[i] - (wide){0}) * *(const wide *)(dy + v * WIDE);
                for (int v = 0; v < vecs; v++)
                    sum[i][v] += (from[i] - (vec){0}) *
                                 *(const vec *)(dy + wides * WIDE + v * LANES);
            }
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        float some[MOST_VECS * LANES];
        for (int v = 0; v < wides; v++)
            *(wide *)(some + v * WIDE) = high[i][v];
        for (int v = 0; v < vecs; v++)
            *(vec *)(some + wides * WIDE + v * LANES) = sum[i][v];
        for (int64_t k = 0; k < least(cols, wides * WIDE + vecs * LANES); k++) {
            float *to = dW + i * M + k;
            *to = (add ? *to : 0.0f) + some[k];
        }
    }
}

/* Of a number of rows that the compiler knows. */
#define OUTER_CASE(n, wides, vecs)                                             \
    case n:                                                                    \
        outer_tile(dW, M, cols, image, dy, ld, j, n, wides, vecs, add);        \
        break;
#define OUTER_CASES(wides, vecs)                                               \
    switch (rows) {                                                            \
        OUTER_CASE(1, wides, vecs)                                             \
        OUTER_CASE(2, wides, vecs)                                             \
        OUTER_CASE(3, wides, vecs)                                             \
        OUTER_CASE(4, wides, vecs)                                             \
        OUTER_CASE(5, wides, vecs)                                             \
        OUTER_CASE(6, wides, vecs)                                             \
    }

CLONES static void outer_rows_8(float *dW, int64_t M, int64_t cols,
                                const float *image, const float *dy, int64_t ld,
                                const struct job *j, int rows, int vecs,
                                bool add)
{
    if (vecs == 2)
        OUTER_CASES(0, 2)
    else
        OUTER_CASES(0, 1)
}

#ifdef LAB_VECTOR_IS_CLONED
__attribute__((target("avx512f,fma"))) static void
outer_rows_16(float *dW, int64_t M, int64_t cols, const float *image,
              const float *dy, int64_t ld, const struct job *j, int rows,
              int vecs, bool add)
{
    if (vecs == 4)
        OUTER_CASES(2, 0)
    else if (vecs == 3)
        OUTER_CASES(1, 1)
    else if (vecs == 2)
        OUTER_CASES(1, 0)
    else
        OUTER_CASES(0, 1)
}
#else
#define outer_rows_16 outer_rows_8 /* not called: there are 8 lanes */
#endif

/* The first image of part i. */
static int64_t part_start(const struct job *j, int64_t i)
{
    return j->s.y.N * i / j->parts;
}

/* Rows from .. to-1 of dWt (KH * KW*C, M) of some images, one by one. */
static void weights_of_images(const struct job *j, float *dWt, int64_t first,
                              int64_t end, int64_t from, int64_t to)
{
    const struct lab_conv2d *s = &j->s;
    int64_t M = s->y.C;
    int64_t length = s->KW * s->x.C;
    int64_t ld = up(M);
    for (int64_t n = first; n < end; n++) {
        const float *dy = (const float *)j->call->in[0].data + n * s->y.sn;
        pad_image(j, n);
        for (int64_t p = 0; p < s->y.H * s->y.W; p++)
            for (int64_t m = 0; m < ld; m++)
                beside[p * ld + m] = m < M ? dy[p * M + m] : 0;
        int64_t rows;
        for (int64_t r = from; r < to; r += rows) {
            int64_t k = r / length;
            rows = least(least(ROWS, to - r), (k + 1) * length - r);
            int vecs;
            for (int64_t m = 0; m < M; m += vecs * LANES) {
                bool is_wide = j->lanes == WIDE;
                vecs = (int)least(vecs_of(j->lanes, M - m), is_wide ? 4 : 2);
                (is_wide ? outer_rows_16 : outer_rows_8)(
                    dWt + r * M + m, M, M - m,
                    padded + k * j->width * s->x.C + r % length, beside + m, ld,
                    j, (int)rows, vecs, n > first);
            }
        }
    }
}

/* Parts from .. to-1: the first one into dWt, each other one into a sum of its own. */
static void parts_back(const void *arg, int64_t from, int64_t to)
{
    const struct job *j = arg;
    for (int64_t i = from; i < to; i++)
        weights_of_images(j,
                          i == 0 ? (float *)j->call->out[0].data
                                 : j->sums + (i - 1) * j->call->out[0].count,
                          part_start(j, i), part_start(j, i + 1), 0,
                          j->s.KH * j->s.KW * j->s.x.C);
}

static void rows_back(const void *arg, int64_t from, int64_t to)
{
    const struct job *j = arg;
    weights_of_images(j, j->call->out[0].data, 0, j->s.y.N, from, to);
}

/* An image for each thread at least, sums that are kept for the next call, and no more
 * to add than a cut by rows copies? */
static bool is_cut_by_images(const struct job *j)
{
    const struct lab_conv2d *s = &j->s;
    double image = (double)j->height * (double)j->width * (double)s->x.C +
                   (double)s->y.H * (double)s->y.W * (double)up(s->y.C);
    double count = (double)j->call->out[0].count;
    return j->parts > 1 && s->y.N >= j->parts &&
           (double)(j->parts - 1) * count * sizeof(float) <= LAB_ROOM_KEPT &&
           2 * count <= (double)s->y.N * image;
}

/* By images, as the ways forward and back to dx are: a core has them in its cache, and
 * no image is copied twice. By rows of dWt each part copies every image anew. */
static void all_weights_back(struct job *j)
{
    int64_t count = j->call->out[0].count;
    int64_t K = j->s.KH * j->s.KW * j->s.x.C;
    j->parts = lab_threads();
    j->sums =
        is_cut_by_images(j) ? lab_room_take((j->parts - 1) * count) : NULL;
    if (j->sums) {
        lab_parallel(j->parts, 1, parts_back, j);
        lab_sums_add((struct lab_matrix){j->call->out[0].data, j->s.y.C},
                     j->sums, j->parts - 1, K, j->s.y.C);
    } else {
        int64_t share = (K + j->parts - 1) / j->parts;
        lab_parallel(K, share > ROWS ? share : ROWS, rows_back, j);
    }
    lab_room_give(j->sums);
}

/* ---- dx ---- */

/* The rows, or columns, of the kernel that meet places of remainder r. */
static int64_t taps_of(int64_t size, int64_t stride, int64_t r)
{
    return r < size ? (size - r + stride - 1) / stride : 0;
}

/* Wt of the rows and columns of one remainder, backwards: ((row, column, m), c). */
static float *pack_back(float *to, const struct job *j, const float *Wt,
                        int64_t r0, int64_t r1)
{
    const struct lab_conv2d *s = &j->s;
    int64_t down = taps_of(s->KH, s->win.stride[0], r0);
    int64_t right = taps_of(s->KW, s->win.stride[1], r1);
    int vecs;
    for (int64_t c = 0; c < s->x.C; c += vecs * LANES) {
        vecs = vecs_of(j->lanes, s->x.C - c);
        for (int64_t i = 0; i < down * right * s->y.C; i++) {
            int64_t m = i % s->y.C;
            int64_t kw =
                r1 + (right - 1 - i / s->y.C % right) * s->win.stride[1];
            int64_t kh =
                r0 + (down - 1 - i / s->y.C / right) * s->win.stride[0];
            const float *from = Wt + (kh * s->KW + kw) * s->x.C * s->y.C + m;
            for (int64_t k = 0; k < vecs * LANES; k++)
                *to++ = c + k < s->x.C ? from[(c + k) * s->y.C] : 0;
        }
    }
    return to;
}

/* Places of an image that have remainder r: the first, and how many. In the padded
 * image place i of them is r + (first + i) * stride. */
static int64_t places_of(int64_t size, int64_t before, int64_t stride,
                         int64_t end, int64_t r, int64_t *first)
{
    *first = before > r ? (before - r + stride - 1) / stride : 0;
    int64_t last = least(size + before, end) - 1; /* padded */
    return last < r ? 0 : (last - r) / stride + 1 - *first;
}

/* dx of image n at the places of one remainder; returns the next's weights. */
static const float *remainder_back(const struct job *j, float *dx, int64_t r0,
                                   int64_t r1, const float *weights)
{
    const struct lab_conv2d *s = &j->s;
    const int64_t *stride = s->win.stride;
    int64_t C = s->x.C;
    int64_t M = s->y.C;
    int64_t down = taps_of(s->KH, stride[0], r0);
    int64_t right = taps_of(s->KW, stride[1], r1);
    int64_t top = (s->KH - 1) / stride[0]; /* padding of dconv */
    int64_t left = (s->KW - 1) / stride[1];
    int64_t width = s->y.W + 2 * left;
    int64_t first_row;
    int64_t first_col;
    int64_t rows =
        places_of(s->x.H, s->win.pad[0], stride[0], j->height, r0, &first_row);
    int64_t cols =
        places_of(s->x.W, s->win.pad[1], stride[1], j->width, r1, &first_col);
    const struct taps t = {down, right * M, width * M};
    int vecs;
    for (int64_t c = 0; c < C; c += vecs * LANES) {
        vecs = vecs_of(j->lanes, C - c);
        int each = pixels_of(j->lanes, vecs);
        for (int64_t p = 0; down * right > 0 && p < rows * cols; p += each) {
            struct places at = {.count = (int)least(rows * cols - p, each)};
            for (int i = 0; i < each; i++) {
                int64_t place = p + least(i, at.count - 1);
                int64_t h = first_row + place / cols;
                int64_t w = first_col + place % cols;
                at.in[i] =
                    ((top + h - down + 1) * width + left + w - right + 1) * M;
                at.out[i] = ((h * stride[0] + r0 - s->win.pad[0]) * s->x.W +
                             w * stride[1] + r1 - s->win.pad[1]) *
                            C;
            }
            sum_blocks(j, dx + c, C - c, &at, &t, weights, vecs);
        }
        weights += down * right * M * vecs * LANES;
    }
    return weights;
}

static void images_back(const void *arg, int64_t from, int64_t to)
{
    const struct job *j = arg;
    const struct lab_conv2d *s = &j->s;
    int64_t top = (s->KH - 1) / s->win.stride[0];
    int64_t left = (s->KW - 1) / s->win.stride[1];
    for (int64_t n = from; n < to; n++) {
        float *dx = (float *)j->call->out[1].data + n * s->x.sn;
        const float *weights = j->weights;
        memset(dx, 0, (size_t)s->x.sn * sizeof(*dx));
        pad(padded, (const float *)j->call->in[0].data + n * s->y.sn, s->y.H,
            s->y.W, s->y.C, -top, -left, s->y.H + 2 * top, s->y.W + 2 * left);
        for (int64_t r0 = 0; r0 < s->win.stride[0]; r0++)
            for (int64_t r1 = 0; r1 < s->win.stride[1]; r1++)
                weights = remainder_back(j, dx, r0, r1, weights);
    }
}

static enum lab_status conv_prepare_backward(const struct lab_call *call)
{
    struct job j;
    return job_of(&j, call, &call->in[1], &call->in[0]);
}

static enum lab_status conv2d_backward(const struct lab_call *call)
{
    struct job j;
    enum lab_status st = job_of(&j, call, &call->in[1], &call->in[0]);
    if (st)
        return st;
    const struct lab_conv2d *s = &j.s;
    all_weights_back(&j);
    if (!call->out[1].data)
        return LAB_OK;
    j.weights = lab_room_take(s->KH * s->KW * s->y.C * up(s->x.C));
    if (!j.weights)
        return lab_no_memory("a convolution's weights");
    float *to = j.weights;
    for (int64_t r0 = 0; r0 < s->win.stride[0]; r0++)
        for (int64_t r1 = 0; r1 < s->win.stride[1]; r1++)
            to = pack_back(to, &j, call->in[2].data, r0, r1);
    lab_parallel(s->y.N, 1, images_back, &j);
    lab_room_give(j.weights);
    return LAB_OK;
}

#define ROW(phase_id, fn, prepare_fn)                                          \
    {                                                                          \
        .name = "vector", .step = "conv", .phase = phase_id, .run = fn,        \
        .source = FILE_NAME, .symbol = #fn, .prepare = prepare_fn              \
    }

static const struct lab_variant rows[] = {
    ROW(LAB_FORWARD, conv2d_forward, conv_prepare_forward),
    ROW(LAB_BACKWARD, conv2d_backward, conv_prepare_backward),
};
const struct lab_kernel_set lab_vector_conv2d_conv = {"conv2d", rows, 2};
