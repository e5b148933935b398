// run: --grid 2 --block 256 --arg in:float[500]=random --arg out:float[2] --arg int:500
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__global__ void warp_sum(const float *x, float *out, int n)
{
    __shared__ float parts[32];
    __shared__ volatile float steps[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 256 + t;
#if FAULT == 1 // lanes have left, and the mask names them
    if (i >= n)
        return;
#endif
#if FAULT == 6 // lanes behind the end have no value
    float v;
    if (i < n)
        v = x[i];
#else
    float v = i < n ? x[i] : 0;
#endif
    for (int d = 16; d > 0; d /= 2)
#if FAULT == 2 // the mask leaves out the lanes that call
        v += __shfl_down_sync(0x0000ffff, v, d); // fault 2: shuffle
#else
        v += __shfl_down_sync(0xffffffff, v, d); // fault 1: shuffle
#endif
    if (t % 32 == 0)
        parts[t / 32] = v;
#if FAULT != 3
    __syncthreads();
#endif
    if (t < 32) {
#if FAULT == 4 // eight warps wrote eight parts
        v = parts[t]; // fault 4: uninitialised
#else
        v = t < 8 ? parts[t] : 0; // fault 3: race  // fault 6: uninitialised
#endif
#if FAULT == 7 // volatile, as when lanes ran in step
        steps[t] = v;
        for (int d = 16; d > 0; d /= 2)
            if (t < d)
                steps[t] = steps[t] + steps[t + d]; // fault 7: race
        v = steps[0];
#elif FAULT == 5 // the upper lanes are not here
        if (t < 16)
            v += __shfl_xor_sync(0xffffffff, v, 8); // fault 5: shuffle
#else
        for (int d = 16; d > 0; d /= 2) { // volatile, and with what puts lanes in order
            steps[t] = v;
            __syncwarp();
            v += steps[t ^ d];
            __syncwarp();
        }
#endif
        if (t == 0)
            out[blockIdx.x] = v;
    }
}
