// The largest of all, and a sum in double, by compare-and-swap as the CUDA C++ Programming
// Guide has it: a plain load of what the swap expects is right.
// run: --kernel swaps --grid 3 --block 96 --arg inout:float[1]=-9 --arg inout:double[1]=zero --arg in:float[250] --arg int:250
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__device__ void largest(float *to, float v)
{
    int *p = (int *)to;
    int old = *p, assumed;
#if FAULT == 1 // no swap
    if (__int_as_float(old) < v)
        *to = v; // fault 1: race
#else
    do {
        assumed = old;
        old = atomicCAS(p, assumed, __float_as_int(fmaxf(v, __int_as_float(assumed))));
    } while (assumed != old);
#endif
}

__device__ double add(double *to, double v)
{
    unsigned long long *p = (unsigned long long *)to;
    unsigned long long old = *p, assumed; // fault 2: uninitialised
    do {
        assumed = old;
        old = atomicCAS(p, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}

__global__ void swaps(float *most, double *sum, const float *x, int n)
{
    __shared__ double part;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if FAULT != 2 // the sum begins with nothing
    if (threadIdx.x == 0)
        part = 0; // fault 3: race
#endif
#if FAULT != 3 // the first value may come after a sum
    __syncthreads();
#endif
    if (i < n) {
        largest(most, x[i]);
        add(&part, x[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        add(sum, part);
}
