/* kernels/activation/activation.cuh -- the elementwise functions and their derivatives.
 *
 * One device function each, used by the op's own kernel and by the fused dense
 * kernel: both give the same bits. Formulas stand in activation.h. */
#pragma once
#include <cuda_runtime.h>
#include "activation/activation.h"
#include "dense/dense.h"

static __device__ inline float relu_value(float x)
{
    return x < 0.0f ? 0.0f : x; /* a NaN stays a NaN */
}

static __device__ inline float leaky_relu_value(float x, float slope)
{
    return x > 0.0f ? x : slope * x;
}

/* exp is only taken of numbers <= 0, which cannot overflow. */
static __device__ inline float sigmoid_value(float x)
{
    if (x >= 0.0f)
        return 1.0f / (1.0f + expf(-x));
    float e = expf(x);
    return e / (1.0f + e);
}

static __device__ inline float gelu_tanh_inner(float x)
{
    const float sqrt_2_over_pi = 0.79788456080286536f;
    return sqrt_2_over_pi * (x + 0.044715f * x * x * x);
}

static __device__ inline float gelu_tanh_value(float x)
{
    return 0.5f * x * (1.0f + tanhf(gelu_tanh_inner(x)));
}

/* Phi(x): the share of a standard normal distribution below x. erfc keeps its
 * digits where 1 + erf would cancel. */
static __device__ inline float normal_share(float x)
{
    const float sqrt_half = 0.70710678118654752f;
    return 0.5f * erfcf(-x * sqrt_half);
}

static __device__ inline float gelu_erf_value(float x)
{
    return x * normal_share(x);
}

static __device__ inline float softplus_value(float x)
{
    return fmaxf(x, 0.0f) + log1pf(expf(-fabsf(x)));
}

static __device__ inline float swish_value(float x)
{
    return x * sigmoid_value(x);
}

/* Where t has reached 1 or -1 the second term is 0, however large du: not 0
 * times infinity. */
static __device__ inline float gelu_tanh_slope(float x)
{
    const float sqrt_2_over_pi = 0.79788456080286536f;
    float t = tanhf(gelu_tanh_inner(x));
    float du = sqrt_2_over_pi * (1.0f + 3.0f * 0.044715f * x * x);
    float dt = (1.0f - t) * (1.0f + t);
    return 0.5f * (1.0f + t) + (dt == 0.0f ? 0.0f : 0.5f * x * dt * du);
}

static __device__ inline float gelu_erf_slope(float x)
{
    const float one_over_sqrt_2_pi = 0.39894228040143268f;
    float phi = one_over_sqrt_2_pi * expf(-0.5f * x * x);
    return normal_share(x) + (phi == 0.0f ? 0.0f : x * phi);
}

/* 1 - s is sigmoid(-x), which does not cancel. */
static __device__ inline float swish_slope(float x)
{
    float s = sigmoid_value(x);
    return s + x * s * sigmoid_value(-x);
}

/* The branch is the same for every thread of a launch: it costs next to
 * nothing beside the matrix product it follows. */
static __device__ inline float activation_value(enum lab_activation kind,
                                                float x, float slope)
{
    switch (kind) {
    case LAB_ACT_RELU:
        return relu_value(x);
    case LAB_ACT_LEAKY_RELU:
        return leaky_relu_value(x, slope);
    case LAB_ACT_SIGMOID:
        return sigmoid_value(x);
    case LAB_ACT_TANH:
        return tanhf(x);
    case LAB_ACT_GELU_TANH:
        return gelu_tanh_value(x);
    case LAB_ACT_GELU_ERF:
        return gelu_erf_value(x);
    case LAB_ACT_SOFTPLUS:
        return softplus_value(x);
    case LAB_ACT_SWISH:
        return swish_value(x);
    case LAB_ACT_NONE:
        break;
    }
    return x;
}
