// run: --grid 4 --block 256 --arg float:2 --arg in:float[1000]=random --arg inout:float[1000]=random --arg int:1000
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__global__ void saxpy(float a, float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if FAULT == 1 // the guard is off by one
    if (i <= n)
        y[i] = a * x[i] + y[i]; // fault 1: memory
#elif FAULT == 2 // no guard
    y[i] = a * x[i] + y[i]; // fault 2: memory
#elif FAULT == 3 // the stride leaves the grid out: blocks do the same elements
    for (; i < n; i += blockDim.x)
        y[i] = a * x[i] + y[i]; // fault 3: race
#elif FAULT == 4 // the neighbour's element
    if (i < n)
        y[i] = a * x[i + 1] + y[i]; // fault 4: memory
#elif FAULT == 5 // into the input
    if (i < n)
        x[i] = a * x[i] + y[i]; // fault 5: memory
#elif FAULT == 6 // the grid's x for its y: all blocks do the first elements
    i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i]; // fault 6: race
#else
    if (i < n)
        y[i] = a * x[i] + y[i];
#endif
}
