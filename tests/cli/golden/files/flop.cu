/* Functions of mathematics, one a line, of an argument that nothing else reads: thread t
 * takes element t. */
__global__ void floats(const volatile float *x, const volatile float *z,
                       volatile float *y)
{
    const int t = threadIdx.x + blockIdx.x * blockDim.x;
    y[t] = acosf(x[t]);
    y[t] = asinf(x[t]);
    y[t] = atanf(x[t]);
    y[t] = cbrtf(x[t]);
    y[t] = cosf(x[t]);
    y[t] = coshf(x[t]);
    y[t] = erfcf(x[t]);
    y[t] = erff(x[t]);
    y[t] = exp10f(x[t]);
    y[t] = exp2f(x[t]);
    y[t] = expf(x[t]);
    y[t] = expm1f(x[t]);
    y[t] = log10f(x[t]);
    y[t] = log1pf(x[t]);
    y[t] = log2f(x[t]);
    y[t] = logf(x[t]);
    y[t] = powf(x[t], z[t]);
    y[t] = roundf(x[t]);
    y[t] = sinf(x[t]);
    y[t] = sinhf(x[t]);
    y[t] = tanf(x[t]);
    y[t] = tanhf(x[t]);
    y[t] = x[t] / z[t];
    y[t] = sqrtf(x[t]);
    y[t] = rsqrtf(x[t]);
    y[t] = __expf(x[t]);
    y[t] = __logf(x[t]);
    y[t] = __powf(x[t], z[t]);
}

__global__ void doubles(const volatile double *x, const volatile double *z,
                        volatile double *y)
{
    const int t = threadIdx.x + blockIdx.x * blockDim.x;
    y[t] = log(x[t]);
    y[t] = sqrt(x[t]);
    y[t] = x[t] / z[t];
    y[t] = 1.0 / x[t];
}
