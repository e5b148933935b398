/* The activations, several elements at a time and on all threads
 * (cpu/vector.h): the formulas of activation.h without branches, so that one
 * instruction serves 4 to 16 elements. relu and leaky_relu are bound by memory, the
 * others by exp, tanh and erfc. A NaN stays a NaN. */
#include "activation/activation.h"
#include "cpu/vector.h"

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
    float slope; /* leaky_relu alone */
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

static struct elements with_slope(struct elements e,
                                  const struct lab_call *call)
{
    const struct lab_leaky_relu_params *p = call->params;
    e.slope = (float)p->slope;
    return e;
}

#define leaky_forward_of(call) with_slope(forward_of(call), call)
#define leaky_backward_of(call) with_slope(backward_of(call), call)

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

/* A loop that every thread calls for a part of the elements. */
#define LOOP(name, elements_of, value)                                         \
    LAB_VECTOR static void name##_part(const void *arg, int64_t from,          \
                                       int64_t to)                             \
    {                                                                          \
        struct elements e = elements_of(arg);                                  \
        _Pragma("omp simd") for (int64_t i = from; i < to; i++) e.out[i] =     \
            value;                                                             \
    }

LOOP(gelu_erf_forward, forward_of, gelu_erf(e.x[i]))
LOOP(gelu_erf_backward, backward_of, e.dy[i] * gelu_erf_slope(e.x[i]))
LOOP(gelu_tanh_forward, forward_of, gelu_tanh(e.x[i]))
LOOP(gelu_tanh_backward, backward_of, e.dy[i] * gelu_tanh_slope(e.x[i]))

#define KERNEL(name, elements_of, value)                                       \
    LOOP(name, elements_of, value)                                             \
    static enum lab_status name(const struct lab_call *call)                   \
    {                                                                          \
        return lab_each_element(call, name##_part);                            \
    }

KERNEL(relu_forward, forward_of, e.x[i] < 0 ? 0.0f : e.x[i])
KERNEL(relu_backward, backward_of, e.x[i] > 0 ? e.dy[i] : 0.0f)
KERNEL(leaky_relu_forward, leaky_forward_of,
       e.x[i] > 0 ? e.x[i] : e.slope * e.x[i])
KERNEL(leaky_relu_backward, leaky_backward_of,
       e.x[i] > 0 ? e.dy[i] : e.slope * e.dy[i])
KERNEL(sigmoid_forward, forward_of, lab_sigmoidf(e.x[i]))
KERNEL(sigmoid_backward, backward_of, e.dy[i] * e.y[i] * (1 - e.y[i]))
KERNEL(tanh_forward, forward_of, tanhf(e.x[i]))
KERNEL(tanh_backward, backward_of, e.dy[i] * (1 - e.y[i] * e.y[i]))
KERNEL(softplus_forward, forward_of, softplus_at(e.x[i]))
KERNEL(softplus_backward, backward_of, e.dy[i] * lab_sigmoidf(e.x[i]))
KERNEL(swish_forward, forward_of, e.x[i] * lab_sigmoidf(e.x[i]))
KERNEL(swish_backward, backward_of, e.dy[i] * swish_slope(e.x[i]))

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
