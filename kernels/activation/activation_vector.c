/* The activations, several elements at a time and on all threads
 * (common/vector.h): the formulas of activation.h without branches, so that one
 * instruction serves 4 to 16 elements. relu and leaky_relu are bound by memory, the
 * others by exp, tanh and erfc. A NaN stays a NaN. */
#include "activation/activation.h"
#include "common/vector.h"

#define LAB_VECTOR_FILE "kernels/activation/activation_vector.c"

#define SQRT_HALF 0.70710678f    /* sqrt(1/2) */
#define SQRT_2_BY_PI 0.79788456f /* sqrt(2/pi) */
#define INV_SQRT_2PI 0.39894228f /* 1/sqrt(2 pi) */
#define CUBIC 0.044715f

/* The tensors of a call; backward, x and y are what forward read and wrote. */
struct elements {
    const float *x;
    const float *y;
    const float *dy;
    float *out;
};

static struct elements forward_of(const struct lab_call *call)
{
    return (struct elements){.x = call->in[0].data, .out = call->out[0].data};
}

static struct elements backward_of(const struct lab_call *call)
{
    return (struct elements){.dy = call->in[0].data,
                             .x = call->in[1].data,
                             .y = call->in[2].data,
                             .out = call->out[0].data};
}

static float slope_of(const struct lab_call *call)
{
    const struct lab_leaky_relu_params *p = call->params;
    return (float)p->slope;
}

static bool by_tanh(const struct lab_call *call)
{
    const struct lab_gelu_params *p = call->params;
    return p->tanh;
}

/* Phi(x): the probability that a normal variable is below x. */
static inline float normal(float x)
{
    return 0.5f * erfcf(-x * SQRT_HALF);
}

static inline float gelu_erf(float x)
{
    return x * normal(x);
}

static inline float gelu_erf_slope(float x)
{
    return normal(x) + x * (INV_SQRT_2PI * expf(-0.5f * x * x));
}

/* 0.5 (1 + tanh(u)) is sigmoid(2 u), and exp takes half as long as tanh. */
static inline float gelu_tanh(float x)
{
    float u = SQRT_2_BY_PI * (x + CUBIC * x * x * x);
    return x * lab_sigmoidf(2 * u);
}

/* The second term is 0 where the sigmoid has reached 0 or 1: not 0 * inf. */
static inline float gelu_tanh_slope(float x)
{
    float u = SQRT_2_BY_PI * (x + CUBIC * x * x * x);
    float du = SQRT_2_BY_PI * (1 + 3 * CUBIC * x * x);
    float e = expf(-2 * fabsf(u));
    float large = 1 / (1 + e);
    float ds = e * large * large;
    float bent = 2 * x * ds * du;
    return (u < 0 ? e * large : large) + (ds == 0 ? 0.0f : bent);
}

static inline float softplus_at(float x)
{
    float above = x > 0 ? x : 0.0f;
    return above + log1pf(expf(-fabsf(x)));
}

static inline float swish_slope(float x)
{
    float s = lab_sigmoidf(x);
    return s + x * s * lab_sigmoidf(-x);
}

/* Each loop below is called for a part of the elements by every thread. */
LAB_VECTOR static void relu_forward_part(const void *arg, int64_t from,
                                         int64_t to)
{
    struct elements e = forward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.x[i] < 0 ? 0.0f : e.x[i];
}

LAB_VECTOR static void relu_backward_part(const void *arg, int64_t from,
                                          int64_t to)
{
    struct elements e = backward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.x[i] > 0 ? e.dy[i] : 0.0f;
}

LAB_VECTOR static void leaky_relu_forward_part(const void *arg, int64_t from,
                                               int64_t to)
{
    struct elements e = forward_of(arg);
    float slope = slope_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.x[i] > 0 ? e.x[i] : slope * e.x[i];
}

LAB_VECTOR static void leaky_relu_backward_part(const void *arg, int64_t from,
                                                int64_t to)
{
    struct elements e = backward_of(arg);
    float slope = slope_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.x[i] > 0 ? e.dy[i] : slope * e.dy[i];
}

LAB_VECTOR static void sigmoid_forward_part(const void *arg, int64_t from,
                                            int64_t to)
{
    struct elements e = forward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = lab_sigmoidf(e.x[i]);
}

LAB_VECTOR static void sigmoid_backward_part(const void *arg, int64_t from,
                                             int64_t to)
{
    struct elements e = backward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.dy[i] * e.y[i] * (1 - e.y[i]);
}

LAB_VECTOR static void tanh_forward_part(const void *arg, int64_t from,
                                         int64_t to)
{
    struct elements e = forward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = tanhf(e.x[i]);
}

LAB_VECTOR static void tanh_backward_part(const void *arg, int64_t from,
                                          int64_t to)
{
    struct elements e = backward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.dy[i] * (1 - e.y[i] * e.y[i]);
}

LAB_VECTOR static void softplus_forward_part(const void *arg, int64_t from,
                                             int64_t to)
{
    struct elements e = forward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = softplus_at(e.x[i]);
}

LAB_VECTOR static void softplus_backward_part(const void *arg, int64_t from,
                                              int64_t to)
{
    struct elements e = backward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.dy[i] * lab_sigmoidf(e.x[i]);
}

LAB_VECTOR static void swish_forward_part(const void *arg, int64_t from,
                                          int64_t to)
{
    struct elements e = forward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.x[i] * lab_sigmoidf(e.x[i]);
}

LAB_VECTOR static void swish_backward_part(const void *arg, int64_t from,
                                           int64_t to)
{
    struct elements e = backward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.dy[i] * swish_slope(e.x[i]);
}

LAB_VECTOR static void gelu_erf_forward_part(const void *arg, int64_t from,
                                             int64_t to)
{
    struct elements e = forward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = gelu_erf(e.x[i]);
}

LAB_VECTOR static void gelu_erf_backward_part(const void *arg, int64_t from,
                                              int64_t to)
{
    struct elements e = backward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.dy[i] * gelu_erf_slope(e.x[i]);
}

LAB_VECTOR static void gelu_tanh_forward_part(const void *arg, int64_t from,
                                              int64_t to)
{
    struct elements e = forward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = gelu_tanh(e.x[i]);
}

LAB_VECTOR static void gelu_tanh_backward_part(const void *arg, int64_t from,
                                               int64_t to)
{
    struct elements e = backward_of(arg);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        e.out[i] = e.dy[i] * gelu_tanh_slope(e.x[i]);
}

#define ON_ALL_THREADS(name)                                                   \
    static enum lab_status name(const struct lab_call *call)                   \
    {                                                                          \
        return lab_each_element(call, name##_part);                            \
    }

ON_ALL_THREADS(relu_forward)
ON_ALL_THREADS(relu_backward)
ON_ALL_THREADS(leaky_relu_forward)
ON_ALL_THREADS(leaky_relu_backward)
ON_ALL_THREADS(sigmoid_forward)
ON_ALL_THREADS(sigmoid_backward)
ON_ALL_THREADS(tanh_forward)
ON_ALL_THREADS(tanh_backward)
ON_ALL_THREADS(softplus_forward)
ON_ALL_THREADS(softplus_backward)
ON_ALL_THREADS(swish_forward)
ON_ALL_THREADS(swish_backward)

static enum lab_status gelu_forward(const struct lab_call *call)
{
    return lab_each_element(call, by_tanh(call) ? gelu_tanh_forward_part
                                                : gelu_erf_forward_part);
}

static enum lab_status gelu_backward(const struct lab_call *call)
{
    return lab_each_element(call, by_tanh(call) ? gelu_tanh_backward_part
                                                : gelu_erf_backward_part);
}

#define ROWS(op)                                                               \
    static const struct lab_variant op##_rows[] = {                            \
        LAB_VECTOR_ROW(#op, LAB_FORWARD, op##_forward),                        \
        LAB_VECTOR_ROW(#op, LAB_BACKWARD, op##_backward),                      \
    };                                                                         \
    const struct lab_kernel_set lab_vector_##op = {#op, op##_rows, 2};

ROWS(relu)
ROWS(leaky_relu)
ROWS(sigmoid)
ROWS(tanh)
ROWS(softplus)
ROWS(swish)
ROWS(gelu)
