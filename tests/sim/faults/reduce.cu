// run: --grid 4 --block 256 --arg in:float[1000]=random --arg inout:float[1]=zero --arg int:1000
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

#if FAULT == 4 // the shared array is too small
#define ROOM 128
#else
#define ROOM 256
#endif

__global__ void reduce(const float *x, float *sum, int n)
{
    __shared__ float s[ROOM];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
#if FAULT == 3 // threads behind the end write nothing
    if (i < n)
        s[t] = x[i];
#else
    s[t] = i < n ? x[i] : 0; // fault 4: memory
#endif
#if FAULT != 2
    __syncthreads();
#endif
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
#if FAULT == 5 // the barrier is in the branch
        if (t < half) {
            s[t] += s[t + half];
            __syncthreads(); // fault 5: barrier
        }
#else
        if (t < half)
            s[t] += s[t + half]; // fault 1: race  // fault 2: race  // fault 3: uninitialised
#if FAULT != 1
        __syncthreads();
#endif
#endif
    }
    if (t == 0)
#if FAULT == 6 // an add in place of the atomic
        *sum += s[0]; // fault 6: race
#else
        atomicAdd(sum, s[0]);
#endif
}
