/* Variables that change where no assignment is: through a reference, asm, a call, in a
 * condition; one that is added to under a condition (sum); and t / 2, whose sign is a
 * shift like the quotient. */
__device__ void halve(int &v, int by)
{
    v = v / 2 + by;
}

__global__ void elsewhere(int *out, int n, int m, int k, int w, int same)
{
    int t = threadIdx.x;
    int half = t / 2;
    int odd = t % 2;
    int sum = out[t];
    halve(n, 1);
    asm("add.s32 %0, %0, %1;" : "+r"(m) : "r"(same));
    int &r = k;
    r += 3;
    while (w-- > t)
        out[64 + half * 2 + w] = odd;
    if (out[t + 1] > 4)
        sum += same;
    __syncthreads();
    out[t + 32] = sum + n + m + k + w + same;
}
