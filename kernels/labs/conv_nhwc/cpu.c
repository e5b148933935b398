/* kernels/labs/conv_nhwc/cpu.c -- the convolution with channels last on one
 * thread of a CPU: the definition. A window's channels lie side by side in x
 * and in w, so that the innermost loop runs along both. */
#include "labs/conv/conv.h"
#include "common/kernel.h"

static float dot(const float *x, const float *w, int64_t n)
{
    float sum = 0.0f;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * w[i];
    return sum;
}

static float sum_window(const struct conv_shape *s, const float *image,
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

static enum lab_status conv_direct(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of_nhwc(call);
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        int64_t place = i / s.K % (s.P * s.Q);
        int64_t n = i / (s.K * s.P * s.Q);
        y[i] = sum_window(
            &s, (const float *)call->in[0].data + n * s.H * s.W * s.C,
            (const float *)call->in[1].data + i % s.K * conv_depth(&s),
            place / s.Q, place % s.Q);
    }
    return LAB_OK;
}

const struct lab_variant lab_cpu_rungs_conv_nhwc[] = {
    {.name = "direct",
     .idea = "the definition, channels innermost",
     .run = conv_direct,
     .source = "kernels/labs/conv_nhwc/cpu.c"},
    {0},
};
