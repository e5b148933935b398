// run: --grid 1 --block 64 --arg inout:double[24,24]=random --arg out:int[24]
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif
enum { N = 24 };

/* Factors of a matrix, columns first, with partial pivoting, in one block. */
__global__ void lu(double *a, int *pivots)
{
    __shared__ int pivot;
    __shared__ double line[N];
    int t = threadIdx.x;
    for (int k = 0; k < N; k++) {
        if (t == 0) {
            int best = k;
#if FAULT == 1 // a row too many
            for (int i = k + 1; i <= N; i++)
#else
            for (int i = k + 1; i < N; i++)
#endif
                if (fabs(a[i + k * N]) > fabs(a[best + k * N])) // fault 1: memory | 0 bytes after the end of a
                    best = i;
            pivot = pivots[k] = best;
        }
#if FAULT != 2 // the row is not known yet
        __syncthreads();
#endif
        if (t < N) {
            double v = a[k + t * N];
            a[k + t * N] = a[pivot + t * N]; // fault 2: race uninitialised | pivot
            a[pivot + t * N] = v;
        }
        __syncthreads();
        if (t > k && t < N) {
#if FAULT == 3 // into the pivots' row, which others read
            a[k + k * N] = a[t + k * N] / a[k + k * N]; // fault 3: race | a[
#else
            a[t + k * N] /= a[k + k * N];
#endif
            line[t] = a[k + t * N];
        }
#if FAULT == 4 // only the threads of the rest wait
        if (t > k)
            __syncthreads(); // fault 4: barrier
#else
        __syncthreads();
#endif
#if FAULT == 5 // from the diagonal on: of line there is nothing
        for (int e = t; e < (N - k) * (N - k); e += blockDim.x) {
            int i = k + e % (N - k);
            int j = k + e / (N - k);
            a[i + j * N] -= a[i + k * N] * line[j]; // fault 5: uninitialised | line[0]
        }
#else
        for (int e = t; e < (N - k - 1) * (N - k - 1); e += blockDim.x) {
            int i = k + 1 + e % (N - k - 1);
            int j = k + 1 + e / (N - k - 1);
            a[i + j * N] -= a[i + k * N] * line[j];
        }
#endif
        __syncthreads();
    }
}
