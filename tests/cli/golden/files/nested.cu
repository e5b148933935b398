/* Functions in functions, all inlined: what `finish` leaves. */
__device__ float twice(float v)
{
    float w = v * 3.0f;
    w = w * w + v;
    return w;
}

__device__ float outer(float v)
{
    float a = twice(v);
    float b = twice(a + 1.0f);
    return a * b + v;
}

__global__ void nested(float *y, const float *x)
{
    int t = threadIdx.x;
    float v = x[t];
    v = outer(v);
    y[t] = v;
}
