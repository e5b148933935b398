// run: --grid 4 --block 64 --arg in:float[250]=iota --arg out:float[250] --arg int:250
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

#if FAULT == 3 // no room for the halo
#define ROOM 64
#else
#define ROOM 66
#endif

__global__ void stencil(const float *in, float *out, int n)
{
    __shared__ float s[ROOM];
    int t = threadIdx.x;
    int i = blockIdx.x * 64 + t;
    s[t + 1] = i < n ? in[i] : 0; // fault 3: memory
#if FAULT == 4 // the element before the first
    if (t == 0)
        s[0] = in[i - 1]; // fault 4: memory
#elif FAULT != 2 // 2: nothing loads the left halo
    if (t == 0)
        s[0] = i > 0 ? in[i - 1] : 0;
#endif
#if FAULT == 5 // the element behind the last
    if (t == 63)
        s[65] = in[i + 1]; // fault 5: memory
#else
    if (t == 63)
        s[65] = i + 1 < n ? in[i + 1] : 0;
#endif
#if FAULT != 1
    __syncthreads();
#endif
    if (i < n)
        out[i] = (s[t] + s[t + 1] + s[t + 2]) / 3; // fault 1: race  // fault 2: uninitialised
}
