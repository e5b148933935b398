// run: --grid 4 --block 32 --budget 3000000 --arg in:float[512]=random --arg out:float[512] --arg inout:unsigned[4]=zero --arg inout:float[4]=zero
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

// A running sum over blocks: each waits for the flag of the one before it.
__device__ __forceinline__ unsigned look(const unsigned *flag)
{
#if FAULT == 1 // a load that need not look again, and nothing in order behind it
    return *flag; // fault 1: race budget
#else
    unsigned v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    return v;
#endif
}

__device__ __forceinline__ void show(unsigned *flag)
{
#if FAULT == 2 // relaxed: what was stored before may come later
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory");
#elif FAULT == 3 // known to the block alone
    asm volatile("st.release.cta.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory"); // fault 3: race
#else
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory"); // fault 1: race
#endif
}

__global__ void flags(const float *in, float *out, unsigned *flag, float *sums)
{
    const int lane = threadIdx.x;
    const float4 v = reinterpret_cast<const float4 *>(in)[blockIdx.x * 32 + lane];
    float s = v.x + v.y + v.z + v.w;
    const float own = s;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const float up = __shfl_up_sync(~0u, s, d);
        s += lane >= d ? up : 0.0f;
    }
    float before = 0;
    if (lane == 31) {
        if (blockIdx.x > 0) {
            while (look(&flag[blockIdx.x - 1]) == 0)
                ;
            before = sums[blockIdx.x - 1]; // fault 2: race // fault 3: race // fault 1: race
        }
        sums[blockIdx.x] = before + s; // fault 2: race // fault 3: race
        show(&flag[blockIdx.x]);
    }
#if FAULT == 4 // lane 30 has none
    before = __shfl_sync(0x7fffffffu, before, 31); // fault 4: shuffle
#else
    before = __shfl_sync(~0u, before, 31);
#endif
    float run = before + s - own;
    float4 r;
    r.x = run += v.x;
    r.y = run += v.y;
    r.z = run += v.z;
    r.w = run + v.w;
    reinterpret_cast<float4 *>(out)[blockIdx.x * 32 + lane] = r;
}
