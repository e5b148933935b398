/* Values that a compiler makes elsewhere than where they are written: by a function that
 * is inlined (i), by one division for two (n, m), by fmaf (acc), and parts of a sum
 * that are sums, too (sum: a - b is none). */
__device__ inline long long element()
{
    return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void named(float *out, const float *x, const float *y, long long N,
                      long long M, int K)
{
    long long i = element();
    if (i >= N * M)
        return;
    long long n = i / M;
    long long m = i % M;
    float acc = 0.0f;
    float sum = x[m];
    // clang-format off
    for (int k = 0; k < K; k++) acc = fmaf(x[n], y[k], acc);
    // clang-format on
    for (int k = 0; k < K; k++) {
        float a = x[m + k];
        sum = sum + (a - y[k]) * (a - y[k]);
    }
    out[i] = acc + sum + n + 2 * m;
}
