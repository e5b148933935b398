// run: --grid 3,2 --block 16,16 --arg in:float[20,40]=random --arg in:float[40,35]=random --arg out:float[20,35] --arg int:20 --arg int:35 --arg int:40
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

__global__ void matmul(const float *a, const float *b, float *c, int rows, int columns, int depth)
{
    __shared__ float as[16][16];
    __shared__ float bs[16][16];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty;
    int column = blockIdx.x * 16 + tx;
#if FAULT == 7 // the sum begins with anything
    float sum;
#else
    float sum = 0;
#endif
    for (int k = 0; k < depth; k += 16) {
#if FAULT == 3 // no guard at the end of a row of a
        as[ty][tx] = row < rows ? a[row * depth + k + tx] : 0; // fault 3: memory
#elif FAULT == 4 // the rows of b's length
        as[ty][tx] = row < rows && k + tx < depth ? a[row * (depth + 8) + k + tx] : 0; // fault 4: memory
#else
        as[ty][tx] = row < rows && k + tx < depth ? a[row * depth + k + tx] : 0; // fault 2: race
#endif
        bs[ty][tx] = column < columns && k + ty < depth ? b[(k + ty) * columns + column] : 0; // fault 2: race
#if FAULT != 1
        __syncthreads();
#endif
        for (int i = 0; i < 16; i++)
            sum += as[ty][i] * bs[i][tx]; // fault 1: race  // fault 2: race  // fault 7: uninitialised
#if FAULT != 2
        __syncthreads();
#endif
    }
#if FAULT == 5 // nothing was there to add to
    if (row < rows && column < columns)
        c[row * columns + column] += sum; // fault 5: uninitialised
#elif FAULT == 6 // only the rows are guarded
    if (row < rows)
        c[row * columns + column] = sum; // fault 6: memory race
#else
    if (row < rows && column < columns)
        c[row * columns + column] = sum;
#endif
}
