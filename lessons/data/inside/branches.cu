/* Lesson divergence: lanes of a warp that want different things. */

/* Groups of `run` threads take turns between two paths of eight rounds each. */
__global__ void two_paths(float *y, const float *x, int run, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    if (i / run % 2 == 0) {
#pragma unroll 1
        for (int k = 0; k < 8; k++)
            v = v * v - 1.0f;
    } else {
#pragma unroll 1
        for (int k = 0; k < 8; k++)
            v = 0.5f * v + 1.0f;
    }
    y[i] = v;
}

/* 3 v + 1 or v / 2 until v is 1: how many rounds does i + 1 take? */
__global__ void rounds(int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int v = i + 1;
    int k = 0;
#pragma unroll 1
    while (v != 1) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        k++;
    }
    count[i] = k;
}

/* One path for all lanes: the condition chooses a number, not a path. */
__global__ void chosen(float *y, const float *x, int run, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    bool even = i / run % 2 == 0;
#pragma unroll 1
    for (int k = 0; k < 8; k++) {
        float a = even ? v : 0.5f;
        float b = even ? -1.0f : 1.0f;
        v = a * v + b;
    }
    y[i] = v;
}
