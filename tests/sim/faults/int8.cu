// run: --grid 3 --block 16,4 --arg out:float[12,16] --arg in:int[12,9]=random --arg in:int[16,9]=random --arg in:float[16]=random --arg int:9 --define WORDS=9
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

/* C = scale A W^T, four numbers of 8 bits a word; a thread an element of C. */
__global__ void int8_product(float *c, const int *a, const int *w, const float *scale, int words)
{
    __shared__ int rows[4][WORDS];
    int m = blockIdx.x * 4 + threadIdx.y;
    int n = threadIdx.x;
    if (n < words)
        rows[threadIdx.y][n] = a[m * words + n];
#if FAULT != 1
    __syncthreads();
#endif
#if FAULT == 2 // the sum has no first value
    int sum;
#else
    int sum = 0;
#endif
#if FAULT == 3 // as many words as numbers
    for (int k = 0; k < 4 * words; k++)
#else
    for (int k = 0; k < words; k++)
#endif
        sum = __dp4a(rows[threadIdx.y][k], w[n * words + k], sum); // fault 1: race | rows[0][1] // fault 2: uninitialised | variable that nothing wrote // fault 3: memory | 0 bytes after the end of rows
#if FAULT == 4 // 8 bytes from a byte on
    float by = (float)*(const double *)((const char *)scale + n * 4); // fault 4: memory | misaligned
#else
    float by = scale[n];
#endif
    c[m * 16 + n] = by * sum;
}
