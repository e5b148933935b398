// run: --grid 2 --block 48 --arg out:float[2,6,48] --arg in:float[2,6,48]=random --arg in:float[48,48]=random --arg int:6
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif
enum { H = 48 };

/* h[t] = g h[t - 1] + (1 - g) tanh(x[t] + U h[t - 1]), a block a sequence: the state is
 * in shared memory, that of this step and of the next in turn. */
__global__ void gru_steps(float *hs, const float *x, const float *U, int T)
{
#if FAULT == 1 // one element too few
    __shared__ float h[2 * H - 1];
#else
    __shared__ float h[2 * H];
#endif
    int j = threadIdx.x;
    hs += blockIdx.x * T * H;
    x += blockIdx.x * T * H;
#if FAULT != 2 // the first state is left out
    h[j] = 0;
#endif
    __syncthreads();
    for (int t = 0; t < T; t++) {
        const float *now = h + t % 2 * H;
#if FAULT == 3 // the next state where this one is still read
        float *next = h + t % 2 * H;
#else
        float *next = h + (t + 1) % 2 * H;
#endif
        float sum = x[t * H + j];
        for (int k = 0; k < H; k++)
            sum += U[j * H + k] * now[k]; // fault 2: uninitialised | h[0] // fault 1: memory | 0 bytes after the end of h // fault 3: race | h[ // fault 4: race | h[49]
        float g = 1 / (1 + expf(-sum));
        next[j] = g * now[j] + (1 - g) * tanhf(sum);
#if FAULT == 4 // no barrier before the next step
#elif FAULT == 5 // only those of the first half wait
        if (j < H / 2)
            __syncthreads(); // fault 5: barrier
#else
        __syncthreads();
#endif
        hs[t * H + j] = next[j];
    }
}
