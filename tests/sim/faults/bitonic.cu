// run: --grid 2 --block 128 --arg inout:float[512]=random --arg int:512
// clang-format off
#ifndef FAULT
#define FAULT 0
#endif

// 256 keys a block, sorted in shared memory: a thread compares two.
template <typename K, typename V> struct pair_of {
    K key;
    V value;
};

template <typename T> __device__ void exchange(T &a, T &b, bool up)
{
    if ((a.key > b.key) == up) { // fault 2: race // fault 3: race
        T t = a;
        a = b; // fault 2: race // fault 3: race
        b = t; // fault 2: race // fault 3: race
    }
}

__global__ void bitonic(float *data, int n)
{
    typedef pair_of<float, short> item; // two bytes of padding
#if FAULT == 1 // half of what the block sorts
    __shared__ item s[128];
#else
    __shared__ item s[256];
#endif
    const int t = threadIdx.x;
    const int base = blockIdx.x * 256;
    for (int k = t; k < 256; k += 128) {
        s[k].key = data[base + k]; // fault 1: memory
        s[k].value = (short)k;
    }
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
#if FAULT == 2 // steps within a warp need none, it seems
            if (step >= 32)
                __syncthreads();
#else
            __syncthreads();
#endif
            const int a = 2 * t - (t & (step - 1));
#if FAULT == 3 // a partner of another pair
            exchange(s[a], s[(a + step + 1) % 256], (a & size) == 0);
#else
            exchange(s[a], s[a + step], (a & size) == 0);
#endif
        }
    __syncthreads();
    for (int k = t; k < 256; k += 128)
#if FAULT == 4 // by the place where it was: of both blocks
        data[s[k].value] = s[k].key; // fault 4: race
#else
        data[base + k] = s[k].key;
#endif
    (void)n;
}
