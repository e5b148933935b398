/* Lesson banks: y[col][row] = x[row][col] of one tile of 32 x 32, by way of shared
 * memory. A block has 32 x 8 threads: a warp handles four rows of the tile. */
enum { SIDE = 32, HIGH = 8 };

__global__ void plain(float *y, const float *x)
{
    __shared__ float tile[SIDE][SIDE];
    for (int row = threadIdx.y; row < SIDE; row += HIGH)
        tile[row][threadIdx.x] = x[row * SIDE + threadIdx.x];
    __syncthreads();
    for (int row = threadIdx.y; row < SIDE; row += HIGH)
        y[row * SIDE + threadIdx.x] = tile[threadIdx.x][row];
}

__global__ void padded(float *y, const float *x)
{
    __shared__ float tile[SIDE][SIDE + 1];
    for (int row = threadIdx.y; row < SIDE; row += HIGH)
        tile[row][threadIdx.x] = x[row * SIDE + threadIdx.x];
    __syncthreads();
    for (int row = threadIdx.y; row < SIDE; row += HIGH)
        y[row * SIDE + threadIdx.x] = tile[threadIdx.x][row];
}
