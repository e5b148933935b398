// run: --grid 3 --block 64 --arg out:float[5,30] --arg out:float[5,30] --arg in:float[5,4,30]=random --arg in:float[5,30]=random --arg int:5 --arg int:30
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__device__ float sigmoid(float v)
{
    return 1 / (1 + expf(-v));
}

/* A cell of an LSTM, a thread an element: z has four gates a row, of width H. */
__global__ void lstm_cell(float *c, float *h, const float *z, const float *cp, int N, int H)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
#if FAULT == 1 // the guard forgets that e counts from 0
    if (e > N * H)
        return;
#else
    if (e >= N * H)
        return;
#endif
    int n = e / H;
    int j = e % H;
#if FAULT == 2 // a gate is N wide
    const float *gates = z + n * 4 * H + j;
    float o = gates[4 * H]; // fault 2: memory | : 0 bytes after the end of z
#elif FAULT == 3 // rows of five gates
    const float *gates = z + n * 5 * H + j;
    float o = gates[3 * H]; // fault 3: memory | : 360 bytes after the end of z
#else
    const float *gates = z + n * 4 * H + j;
    float o = gates[3 * H]; // fault 1: memory | 360 bytes after the end of z
#endif
    float a = tanhf(gates[0]);
    float i = sigmoid(gates[H]);
    float f = sigmoid(gates[2 * H]);
#if FAULT == 4 // the state that this step makes for the one before
    float s = a * i + f * c[e]; // fault 4: uninitialised | c[0,0]
#else
    float s = a * i + f * cp[e];
#endif
#if FAULT == 5 // all rows to the first: threads of three blocks and of one
    c[j] = s; // fault 5: race | c[0,
#else
    c[e] = s;
#endif
    h[e] = tanhf(s) * sigmoid(o);
}
