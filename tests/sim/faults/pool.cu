// run: --grid 4 --block 8,8 --arg out:float[4,8,8] --arg inout:float[4,17,17]=zero --arg in:float[4,17,17]=random --arg int:17 --arg int:17
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif
enum { WINDOW = 3, STRIDE = 2 };

/* Largest of windows that overlap, and each one's place counted in `hits`: a block an
 * image, a thread a window. */
__global__ void max_pool(float *y, float *hits, const float *x, int H, int W)
{
    x += blockIdx.x * H * W;
    hits += blockIdx.x * H * W;
    int p = threadIdx.y;
    int q = threadIdx.x;
    float best = -INFINITY;
    int at = 0;
#if FAULT == 1 // a window of four
    for (int r = 0; r <= WINDOW; r++)
#else
    for (int r = 0; r < WINDOW; r++)
#endif
        for (int s = 0; s < WINDOW; s++) {
#if FAULT == 2 // rows that are a column shorter: no fault of memory, other windows
            int i = (p * STRIDE + r) * (W + 1) + q * STRIDE + s;
#else
            int i = (p * STRIDE + r) * W + q * STRIDE + s;
#endif
            if (x[i] > best) { // fault 1: memory | 0 bytes after the end of x // fault 2: memory | 0 bytes after the end of x
                best = x[i];
                at = i;
            }
        }
#if FAULT == 3 // windows overlap
    hits[at] += 1; // fault 3: race | hits[0,
#else
    atomicAdd(&hits[at], 1.0f);
#endif
#if FAULT == 4 // p and q for each other in a picture that is not as wide as the block
    y[(blockIdx.x * 8 + q) * 9 + p] = best; // fault 4: memory | 20 bytes after the end of y
#elif FAULT == 5 // the block is left out: all images to the first
    y[p * 8 + q] = best; // fault 5: race | y[0,0,0]
#else
    y[(blockIdx.x * 8 + p) * 8 + q] = best;
#endif
}
