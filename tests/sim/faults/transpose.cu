// run: --grid 3,2 --block 32,8 --arg in:float[50,70]=random --arg out:float[70,50] --arg int:50 --arg int:70
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

#if FAULT == 2 // a column is missing
#define COLUMNS 31
#else
#define COLUMNS 33
#endif

__global__ void transpose(const float *in, float *out, int rows, int columns)
{
    __shared__ float tile[32][COLUMNS];
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
#if FAULT == 3 // rows and columns exchanged
        if (x < rows && y + k < columns)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x]; // fault 3: memory
#elif FAULT == 4 // no guard
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x]; // fault 4: memory
#else
        if (x < columns && y + k < rows)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * columns + x]; // fault 2: memory race
#endif
#if FAULT != 1
    __syncthreads();
#endif
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
#if FAULT == 5 // the guard of the input
        if (x < columns && y + k < rows + 32)
            out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k]; // fault 5: uninitialised race
#else
        if (x < rows && y + k < columns)
            out[(y + k) * rows + x] = tile[threadIdx.x][threadIdx.y + k]; // fault 1: race
#endif
}
