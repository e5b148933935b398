/* Sums of squares of rows, and what a compiler does to variables: one that it keeps
 * (sum, c, v), one that it adds up in a chain (total), one that it unrolls (k), one
 * that it chooses (best), one that it never keeps (four). */
__device__ float warp_sum(float v)
{
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d);
    return v;
}

__global__ void rows(float *out, const float *x, int n, int cols)
{
    int row = blockIdx.x;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int near = i + 4;
    const int four = 4;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float v = x[row * cols + c];
        sum += v * v;
    }
    float best = -1.0f;
    float total = 1.0f;
    for (int k = 0; k < n; k++) {
        total += x[k] * 2.0f;
        if (x[k] > best)
            best = x[k];
    }
    __syncthreads();
    sum = warp_sum(sum);
    if (threadIdx.x < four)
        out[i] = sum + total + best + x[near];
}
