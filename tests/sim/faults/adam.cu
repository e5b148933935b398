// run: --grid 3 --block 32 --arg inout:float[333]=random --arg inout:float[333]=zero --arg inout:float[333]=zero --arg in:float[333]=random --arg int:333 --arg float:0.01
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

/* AdamW, four elements a thread, the last few one by one. */
__device__ void update(float *p, float *m, float *v, float g, float rate)
{
    *m = 0.9f * *m + 0.1f * g; // fault 3: race | m[2]
    *v = 0.999f * *v + 0.001f * g * g;
    *p -= rate * (*m / (sqrtf(*v) + 1e-8f) + 0.01f * *p);
}

__global__ void adamw(float *p, float *m, float *v, const float *g, int n, float rate)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
#if FAULT == 1 // the tail is taken as a whole
    if (i < n) {
#else
    if (i + 3 < n) {
#endif
#if FAULT == 2 // one element further: not on 16 bytes
        float4 d = *(const float4 *)(g + i + 1); // fault 2: memory | misaligned
#else
        float4 d = *(const float4 *)(g + i); // fault 1: memory | g[332]
#endif
#if FAULT == 3 // a thread's elements are its neighbour's
        i /= 2;
#endif
        float q[] = {d.x, d.y, d.z, d.w};
        for (int k = 0; k < 4; k++)
            update(&p[i + k], &m[i + k], &v[i + k], q[k], rate);
#if FAULT == 4 // gradients are zeroed where they may only be read
        for (int k = 0; k < 4; k++)
            ((float *)g)[i + k] = 0; // fault 4: memory | g[0]
#endif
        return;
    }
    for (int k = i; k < n; k++)
        update(&p[k], &m[k], &v[k], g[k], rate);
}
