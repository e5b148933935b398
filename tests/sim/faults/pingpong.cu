// run: --grid 4 --block 64 --arg in:float[2048]=random --arg in:float[64]=random --arg out:float[256] --arg int:8
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

// Two buffers in turn: a stage is loaded while the one before is used; one barrier a stage.
enum { N = 64 };

template <int STAGES> struct ring {
    float data[STAGES][N];
    __device__ float *at(int stage) { return data[stage % STAGES]; }
};

__global__ void pingpong(const float *in, const float *weight, float *out, int stages)
{
#if FAULT == 1 // one buffer, for two stages at a time
    __shared__ ring<1> r;
#else
    __shared__ ring<2> r;
#endif
    const float *mine = in + blockIdx.x * stages * N;
    const int t = threadIdx.x;
    float sum = 0;
    r.at(0)[t] = mine[t];
    __syncthreads();
    for (int s = 0; s < stages; s++) {
        float next = 0;
#if FAULT == 2 // one stage more than there are
        next = mine[(s + 1) * N + t]; // fault 2: memory
#else
        if (s + 1 < stages)
            next = mine[(s + 1) * N + t];
#endif
        const float *now = r.at(s);
#if FAULT == 5 // pairs that begin at odd numbers, too
        for (int k = 1; k < N / 2; k++) {
            float2 two = *reinterpret_cast<const float2 *>(weight + k); // fault 5: memory
            sum += two.x * two.y; // fault 5: memory
        }
#endif
        for (int k = 0; k < N; k++)
            sum = fmaf(now[(t + k) % N], weight[k], sum); // fault 1: race // fault 3: race // fault 4: race
#if FAULT == 3 // into the buffer that is read
        r.at(s)[t] = next; // fault 3: race
#else
        r.at(s + 1)[t] = next; // fault 1: race // fault 4: race
#endif
#if FAULT == 4 // stages overtake each other
        if (s % 2)
            __syncthreads();
#else
        __syncthreads();
#endif
    }
    out[blockIdx.x * N + t] = sum;
}
