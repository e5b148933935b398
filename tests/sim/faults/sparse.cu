// run: --grid 5 --block 32 --arg out:float[5] --arg in:int[6]=iota --arg in:int[215]=random --arg in:float[215]=random --arg in:float[10]=random
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif
enum { EACH = 43 };

/* y = A x, A in compressed rows of 43 numbers each; a warp a row. */
__global__ void sparse_rows(float *y, const int *rows, const int *column, const float *value, const float *x)
{
    int r = blockIdx.x;
#if FAULT == 1 // the end of the row behind
    int end = rows[r + 2] * EACH; // fault 1: memory | 0 bytes after the end of rows
#else
    int end = rows[r + 1] * EACH;
#endif
    float sum = 0;
    for (int k = rows[r] * EACH + threadIdx.x; k < end; k += 32) {
#if FAULT == 2 // the number of the row's element for its column
        sum += value[k] * x[k % EACH]; // fault 2: memory | 88 bytes after the end of x
#elif FAULT == 3 // lanes of a longer row add alone
        sum += value[k] * x[column[k]];
        sum += __shfl_down_sync(0xffffffff, sum, 16); // fault 3: shuffle
#else
        sum += value[k] * x[column[k]];
#endif
    }
#if FAULT == 4 // every lane adds to y
    y[r] = 0;
    y[r] += sum; // fault 4: race | y[0]
#else
    for (int k = 16; k > 0; k /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, k);
    if (threadIdx.x == 0)
        y[r] = sum;
#endif
}
