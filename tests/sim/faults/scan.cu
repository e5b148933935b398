// run: --grid 1 --block 128 --shared 1024 --arg in:int[128]=random --arg out:int[128]
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__global__ void scan(const int *in, int *out)
{
    extern __shared__ int s[];
    int t = threadIdx.x;
    int n = blockDim.x;
    int from = 0;
#if FAULT == 3 // the element before the first
    s[t] = in[t - 1]; // fault 3: memory
#else
    s[t] = t > 0 ? in[t - 1] : 0;
#endif
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
#if FAULT == 1 // one buffer for both
        if (t >= d)
            s[t] += s[t - d]; // fault 1: race
        __syncthreads();
#elif FAULT == 2 // the barrier is in the branch
        int to = 1 - from;
        s[to * n + t] = s[from * n + t];
        if (t >= d) {
            s[to * n + t] += s[from * n + t - d];
            __syncthreads(); // fault 2: barrier
        }
        from = to;
#elif FAULT == 4 // three buffers in the room of two
        int to = from + 1;
        s[to * n + t] = s[from * n + t] + (t >= d ? s[from * n + t - d] : 0); // fault 4: memory
        from = to;
        __syncthreads();
#elif FAULT == 5 // no barrier between the steps
        int to = 1 - from;
        s[to * n + t] = s[from * n + t] + (t >= d ? s[from * n + t - d] : 0); // fault 5: race
        from = to;
#else
        int to = 1 - from;
        s[to * n + t] = s[from * n + t] + (t >= d ? s[from * n + t - d] : 0);
        from = to;
        __syncthreads();
#endif
    }
    out[t] = s[from * n + t];
}
