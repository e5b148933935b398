/* Lesson forgotten-check: y[i] = 2 x[i], with a bounds test and without one. */
__global__ void careless(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
    (void)n;
}

__global__ void careful(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i];
}
