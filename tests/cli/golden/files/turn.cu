/* Each block turns its elements round: a barrier is missing. */
__global__ void turn(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    out[blockIdx.x * 64 + t] = s[63 - t];
}
