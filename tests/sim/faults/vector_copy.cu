// run: --grid 2 --block 128 --arg in:float[1003]=random --arg out:float[1003] --arg int:1003
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__global__ void vector_copy(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if FAULT == 1 // one float further is no multiple of 16 bytes
    if (i * 4 + 4 < n)
        reinterpret_cast<float4 *>(out)[i] = *reinterpret_cast<const float4 *>(in + i * 4 + 1); // fault 1: memory
#elif FAULT == 2 // the last four are not all there
    if (i * 4 < n)
        reinterpret_cast<float4 *>(out)[i] = reinterpret_cast<const float4 *>(in)[i]; // fault 2: memory
#elif FAULT == 3 // four times too far
    if (i * 4 + 3 < n)
        reinterpret_cast<float4 *>(out)[i] = reinterpret_cast<const float4 *>(in)[i * 4]; // fault 3: memory
#else
    if (i * 4 + 3 < n)
        reinterpret_cast<float4 *>(out)[i] = reinterpret_cast<const float4 *>(in)[i];
#endif
#if FAULT == 4 // the tail by everybody, and its end is one too far
    for (int k = n / 4 * 4; k <= n; k++)
        if (i == 0)
            out[k] = in[k]; // fault 4: memory
#elif FAULT == 5 // the tail by two threads
    if (i < 2)
        for (int k = n / 4 * 4; k < n; k++)
            out[k] = in[k] + i; // fault 5: race
#else
    if (i < n % 4)
        out[n / 4 * 4 + i] = in[n / 4 * 4 + i];
#endif
}
