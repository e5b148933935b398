/* Every variant of the CUDA kernels over images against the reference in
 * double: both layouts, strides that leave gaps, uneven padding, windows larger
 * than the image, and sizes beyond one tile and one piece. LAB_TEST_SEED
 * repeats a run. */
#include "batch_norm/batch_norm.h"
#include "concat/concat.h"
#include "conv2d/conv2d.h"
#include "gpu_harness.h"
#include "local_contrast_norm/local_contrast_norm.h"
#include "local_response_norm/local_response_norm.h"
#include "ops/image_shape.h"

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {2, 3, 7, 6, 5, {3, 2}, {2, 1}, {1, 0}, {4, 6}},
    {3, 2, 5, 9, 4, {4, 4}, {3, 2}, {2, 2}, {2, 5}},
    {1, 5, 8, 8, 7, {2, 2}, {3, 5}, {0, 0}, {3, 2}},
    {2, 1, 3, 3, 2, {7, 5}, {1, 1}, {2, 1}, {1, 1}},
    {5, 67, 9, 7, 70, {3, 3}, {1, 1}, {1, 1}, {9, 7}},
    {3, 8, 9, 7, 12, {3, 2}, {1, 1}, {1, 0}, {9, 7}},
    {2, 4, 11, 10, 20, {3, 3}, {2, 2}, {0, 1}, {5, 5}},
    {5, 68, 9, 7, 72, {3, 3}, {1, 1}, {1, 1}, {9, 7}},
    {17, 12, 28, 28, 24, {6, 6}, {2, 2}, {2, 2}, {14, 14}},
    {1, 130, 40, 41, 3, {5, 5}, {1, 1}, {2, 2}, {40, 41}},
    {2, 6, 9, 8, 4, {3, 2}, {2, 1}, {1, 0}, {5, 7}, 1, 2},
    {2, 3, 9, 8, 6, {3, 3}, {1, 1}, {2, 2}, {9, 8}, 2, 3},
};

static struct tensor image(bool nhwc, int64_t N, int64_t C, int64_t H,
                           int64_t W)
{
    struct tensor a = {.fill = FILL_UNIFORM, .rank = 4, .dim = {N, C, H, W}};
    struct tensor b = {.fill = FILL_UNIFORM, .rank = 4, .dim = {N, H, W, C}};
    return nhwc ? b : a;
}

static void check_conv(const struct shape *s, bool nhwc)
{
    const struct lab_conv2d_params p = {
        window_of(s, nhwc), {s->dilation, s->dilation}, s->groups};
    int64_t C = s->groups > 1 ? s->C / s->groups : s->C;
    struct tensor x = image(nhwc, s->N, s->C, s->H, s->W);
    struct tensor y = image(nhwc, s->N, s->M, s->out[0], s->out[1]);
    struct tensor W = {.fill = FILL_UNIFORM,
                       .rank = 4,
                       .dim = {s->M, C, s->size[0], s->size[1]}};
    struct tensor W_nhwc = {.fill = FILL_UNIFORM,
                            .rank = 4,
                            .dim = {s->size[0], s->size[1], C, s->M}};
    struct tensor b = vector(FILL_UNIFORM, s->M);
    struct tensor none = {.fill = FILL_NULL, .rank = 4, .dim = {1, 1, 1, 1}};
    if (nhwc)
        W = W_nhwc;
    const char *op = "conv2d";
    const struct gpu_case cases[] = {
        {op, "conv", LAB_FORWARD, {x, W}, {y}, .params = &p},
        {op, "bias", LAB_FORWARD, {y, b}, {y}, .params = &p},
        {op, "bias", LAB_BACKWARD, {y}, {b, none}, .params = &p},
        {op, "conv", LAB_BACKWARD, {y, x, W}, {W, none}, .params = &p},
        {op, "conv", LAB_BACKWARD, {y, x, W}, {W, x}, .params = &p},
    };
    GPU_CHECK_ALL(cases);
}

GPU_CASE(convolutions_agree)
{
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        check_conv(&shapes[i], false);
        check_conv(&shapes[i], true);
    }
}

/* Sides that do not fit 32 bits: the kernels that take them apart in 64. Windows lie at
 * -pad, 0 and pad, so that one of nine is in the image. */
GPU_CASE(far_windows_agree)
{
    enum { FAR = INT32_MAX / 4 + 1 };
    static const char *const variants[] = {"naive", "cublas", "tf32x3"};
    for (int nhwc = 0; nhwc < 2; nhwc++)
        for (size_t v = 0; v < COUNT_OF(variants); v++) {
            const struct lab_conv2d_params p = {.window = {.nhwc = nhwc,
                                                           .size = {2, 3},
                                                           .stride = {FAR, FAR},
                                                           .pad = {FAR, FAR}}};
            const struct tensor x = image(nhwc, 2, 3, 4, 5);
            const struct tensor y = image(nhwc, 2, 4, 3, 3);
            const struct tensor W = {
                .fill = FILL_UNIFORM,
                .rank = 4,
                .dim = {nhwc ? 2 : 4, 3, nhwc ? 3 : 2, nhwc ? 4 : 3}};
            const struct gpu_case cases[] = {
                {"conv2d",
                 "conv",
                 LAB_FORWARD,
                 {x, W},
                 {y},
                 .params = &p,
                 .only = variants[v],
                 .not_cudnn = true},
                {"conv2d",
                 "conv",
                 LAB_BACKWARD,
                 {y, x, W},
                 {W, x},
                 .params = &p,
                 .only = variants[v],
                 .not_cudnn = true},
            };
            GPU_CHECK_ALL(cases);
        }
}

GPU_CASE(local_response_norm_agrees)
{
    for (int nhwc = 0; nhwc < 2; nhwc++) {
        struct tensor x = image(nhwc, 3, 7, 9, 5);
        struct tensor scale = x;
        const struct lab_local_response_norm_params p = {5, 0.5, 0.75,
                                                         2, 7,   nhwc ? 1 : 45};
        scale.fill = FILL_POSITIVE;
        gpu_check_with(&p, "local_response_norm", "normalize", LAB_FORWARD,
                       TENSORS(x), TENSORS(x, x));
        gpu_check_with(&p, "local_response_norm", "normalize", LAB_BACKWARD,
                       TENSORS(x, x, x, scale), TENSORS(x));
    }
}

GPU_CASE(local_contrast_norm_agrees)
{
    for (int nhwc = 0; nhwc < 2; nhwc++) {
        struct tensor x = image(nhwc, 3, 2, 9, 5);
        struct tensor rstd = x;
        const struct lab_local_contrast_norm_params p = {5, 0.1, 9, 5,
                                                         nhwc ? 2 : 1};
        rstd.fill = FILL_POSITIVE;
        gpu_check_with(&p, "local_contrast_norm", "normalize", LAB_FORWARD,
                       TENSORS(x), TENSORS(x, x, x));
        gpu_check_with(&p, "local_contrast_norm", "normalize", LAB_BACKWARD,
                       TENSORS(x, x, x, rstd), TENSORS(x));
    }
}

GPU_CASE(multiply_and_concat_agree)
{
    struct tensor a = image(false, 3, 4, 5, 7);
    struct tensor b = image(false, 3, 2, 5, 7);
    struct tensor both = image(false, 3, 6, 5, 7);
    const struct lab_concat_params p = {2, {140, 70}, 210};
    const struct gpu_case cases[] = {
        {"multiply", "multiply", LAB_FORWARD, {a, a}, {a}},
        {"multiply", "multiply", LAB_BACKWARD, {a, a, a}, {a, a}},
        {"concat", "copy", LAB_FORWARD, {a, b}, {both}, .params = &p},
        {"concat", "copy", LAB_BACKWARD, {both}, {a, b}, .params = &p},
    };
    GPU_CHECK_ALL(cases);
}

/* The windows go through the workspace in pieces: parts of an image, an image,
 * some images and a rest. Outputs are as before. */
TEST_CASE(convolutions_in_pieces_agree)
{
    const struct shape s = {7, 3, 6, 5, 4, {3, 2}, {1, 1}, {1, 1}, {6, 6}};
    static const int64_t places[] = {1, 7, 36, 50, 80, 200};
    struct lab_exec *exec = gpu_exec();
    if (!exec)
        skip();
    size_t whole = exec->workspace_bytes;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        int64_t window = s.C * s.size[0] * s.size[1];
        exec->workspace_bytes = (size_t)(places[i] * window) * sizeof(float);
        check_conv(&s, false);
        check_conv(&s, true);
    }
    exec->workspace_bytes = whole;
}

/* Windows that are laid out, and pieces of the depth that are added to what is there;
 * the second size leaves the sums of pieces an odd address. */
TEST_CASE(convolutions_add_up_pieces)
{
    const struct shape s = {17,     11,     28,     28,      24,
                            {6, 6}, {2, 2}, {2, 2}, {14, 14}};
    struct lab_exec *exec = gpu_exec();
    if (!exec)
        skip();
    size_t whole = exec->workspace_bytes;
    for (size_t more = 0; more < 8; more += 4) {
        exec->workspace_bytes = ((size_t)1 << 20) + more;
        check_conv(&s, true);
    }
    exec->workspace_bytes = whole;
}

/* More than 1e8 operations: what is chosen by size is chosen as in a network
 * that trains, and sums are over 800,000 places. */
GPU_CASE(large_convolutions_agree)
{
    const struct shape s = {1021,   1,      28,     28,      12,
                            {3, 3}, {1, 1}, {1, 1}, {28, 28}};
    check_conv(&s, false);
    check_conv(&s, true);
}

static void check_pools(const struct shape *s, bool nhwc)
{
    const struct lab_pool_params p = {window_of(s, nhwc)};
    struct tensor x = image(nhwc, s->N, s->C, s->H, s->W);
    struct tensor y = image(nhwc, s->N, s->C, s->out[0], s->out[1]);
    struct tensor argmax = y;
    argmax.fill = FILL_LABELS;
    argmax.limit = 1;
    struct tensor special = x;
    special.fill = FILL_SPECIAL;
    const char *max = "max_pool2d";
    const char *avg = "avg_pool2d";
    const struct gpu_case cases[] = {
        {max, "pool", LAB_FORWARD, {x}, {y, argmax}, .params = &p},
        {max, "pool", LAB_FORWARD, {special}, {y, argmax}, .params = &p},
        {avg, "pool", LAB_FORWARD, {x}, {y}, .params = &p},
        {avg, "pool", LAB_BACKWARD, {y}, {x}, .params = &p},
    };
    GPU_CHECK_ALL(cases);
}

/* Any place may have won: every window holds the whole image. */
static void check_winners(int64_t H, int64_t W)
{
    const struct lab_pool_params p = {{.nhwc = true,
                                       .size = {2 * H - 1, 2 * W - 1},
                                       .stride = {1, 1},
                                       .pad = {H - 1, W - 1}}};
    struct tensor x = image(true, 1, 1, H, W);
    struct tensor argmax = x;
    argmax.fill = FILL_LABELS;
    argmax.limit = H * W;
    struct gpu_case c = {"max_pool2d", "pool", LAB_BACKWARD,
                         {x, argmax},  {x},    .params = &p};
    gpu_check(&c);
}

GPU_CASE(pools_agree)
{
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        check_pools(&shapes[i], false);
        check_pools(&shapes[i], true);
    }
    check_winners(1, 1);
    check_winners(7, 5);
    check_winners(31, 33);
}

static void check_batch_norm(int64_t N, int64_t C, int64_t inner)
{
    const char *op = "batch_norm";
    const struct lab_batch_norm_params p = {1e-5, 0.3, inner};
    struct tensor x = {.fill = FILL_UNIFORM, .rank = 3, .dim = {N, C, inner}};
    struct tensor c = vector(FILL_UNIFORM, C);
    struct tensor v = vector(FILL_POSITIVE, C);
    struct tensor special = x;
    special.fill = FILL_SPECIAL;
    const struct gpu_case cases[] = {
        {op, "stats", LAB_FORWARD, {x}, {c, v, c, v}, .inout = true},
        {op, "stats", LAB_FORWARD, {special}, {c, v, c, v}, .inout = true},
        {op, "normalize", LAB_FORWARD, {x, c, v}, {x}},
        {op, "scale", LAB_FORWARD, {x, c, c}, {x}},
        {op, "scale", LAB_BACKWARD, {x, x, c}, {x, c, c}},
        {op, "normalize", LAB_BACKWARD, {x, x, v}, {x}},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct gpu_case one = cases[i];
        one.params = &p;
        gpu_check(&one);
        if (i == 0) {
            one.evaluation = true;
            gpu_check(&one);
        }
    }
}

GPU_CASE(batch_norm_agrees)
{
    static const int64_t sizes[][3] = {
        {2, 1, 1},   {5, 7, 1},    {3, 2, 35},    {128, 33, 1},
        {9, 5, 64},  {1, 3, 1000}, {70001, 2, 1}, {1031, 36, 1},
        {7, 3, 677}, {5, 8, 1028}, {300, 2, 31}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        check_batch_norm(sizes[i][0], sizes[i][1], sizes[i][2]);
}

GPU_CASE(sums_agree)
{
    static const int64_t counts[] = {1, 255, 257, 100003};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct tensor a = vector(FILL_SPECIAL, counts[i]);
        struct tensor none = vector(FILL_NULL, counts[i]);
        const struct gpu_case cases[] = {
            {"add", "add", LAB_FORWARD, {a, a}, {a}},
            {"add", "add", LAB_BACKWARD, {a}, {a, a}},
            {"add", "add", LAB_BACKWARD, {a}, {none, a}},
            {"add", "add", LAB_BACKWARD, {a}, {a, none}},
        };
        GPU_CHECK_ALL(cases);
    }
}

RUN_TESTS_IN(NULL, gpu_close)
