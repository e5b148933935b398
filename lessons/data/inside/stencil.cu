/* Lesson missing-barrier: y[i] = x[i] + ... + x[i + 6], by way of shared memory.
 * x has six more elements than y: the halo. */
enum { BLOCK = 64, WIDTH = 7 };

__device__ float sum_of_seven(const float *tile)
{
    float sum = 0;
    for (int k = 0; k < WIDTH; k++)
        sum += tile[threadIdx.x + k];
    return sum;
}

__device__ void load(float *tile, const float *x, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n + WIDTH - 1)
        tile[threadIdx.x] = x[i];
    if (threadIdx.x < WIDTH - 1 && i + BLOCK < n + WIDTH - 1)
        tile[threadIdx.x + BLOCK] = x[i + BLOCK];
}

__global__ void early(float *y, const float *x, int n)
{
    __shared__ float tile[BLOCK + WIDTH - 1];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    load(tile, x, n);
    if (i < n)
        y[i] = sum_of_seven(tile);
}

__global__ void waits(float *y, const float *x, int n)
{
    __shared__ float tile[BLOCK + WIDTH - 1];
    int i = blockIdx.x * BLOCK + threadIdx.x;
    load(tile, x, n);
    __syncthreads();
    if (i < n)
        y[i] = sum_of_seven(tile);
}
