// run: --grid 1 --block 128 --arg out:unsigned[128] --arg in:unsigned[128]=random
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif
enum { N = 128, DIGITS = 10 };

/* Sorts numbers from 0 to 9 by counting: how many are smaller, and how many of the same
 * come before. */
__global__ void radix(unsigned *to, const unsigned *from)
{
    __shared__ unsigned keys[N];
    __shared__ unsigned count[DIGITS];
    __shared__ unsigned start[DIGITS];
    int t = threadIdx.x;
#if FAULT == 1 // the last digit's count does not begin
    if (t < DIGITS - 1)
#else
    if (t < DIGITS)
#endif
        count[t] = 0;
    keys[t] = from[t];
    __syncthreads();
#if FAULT == 2
    count[keys[t]] += 1; // fault 2: race | count[
#else
    atomicAdd(&count[keys[t]], 1u); // fault 1: uninitialised | count[9]
#endif
#if FAULT != 3 // counts are not whole yet
    __syncthreads();
#endif
    if (t < DIGITS) {
        unsigned sum = 0;
#if FAULT == 4 // digits from -1 on
        for (int d = t - 1; d >= -1; d--)
#else
        for (int d = t - 1; d >= 0; d--)
#endif
            sum += count[d]; // fault 3: race | count[ // fault 4: memory | 4 bytes before the start of count
        start[t] = sum;
    }
    __syncthreads();
    unsigned before = 0;
    for (int k = 0; k < t; k++)
        before += keys[k] == keys[t];
    to[start[keys[t]] + before] = keys[t];
}
