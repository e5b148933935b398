// run: --kernel rotate --grid 2 --block 64 --arg in:float[256]=random --arg out:float[256]
// run: --kernel tiles8 --grid 2 --block 64 --arg in:int[128]=random --arg out:int[128]
// run: --kernel inverses --grid 1 --block 32 --arg in:float[32]=iota --arg out:float[32]
// run: --kernel gone --grid 2 --block 64 --arg in:float[100]=random --arg inout:int[1]=zero --arg int:100
// run: --kernel gone_before --grid 2 --block 64 --arg in:float[100]=random --arg inout:int[1]=zero --arg int:100
// run: --kernel halves --grid 1 --block 32 --arg in:int[32]=iota --arg out:int[32]
// run: --kernel ticket --grid 7 --block 64 --arg in:float[448]=random --arg inout:float[7]=zero --arg inout:unsigned[1]=zero --arg out:float[1]
// run: --kernel spin --grid 1 --block 64 --budget 3000000 --arg inout:int[3]=zero
// run: --kernel named --grid 2 --block 128 --arg in:float[512]=random --arg out:float[512]
// run: --kernel swap<mixed> --grid 1 --block 64 --arg inout:float[64]=random
// run: --kernel swap<tail> --grid 1 --block 64 --arg inout:float[64]=random
// run: --kernel swap<wide> --grid 1 --block 64 --arg inout:float[64]=random
// run: --kernel swap<small> --grid 1 --block 64 --arg inout:float[64]=random
// run: --kernel calls --grid 1 --block 40 --arg out:int[40]
// run: --kernel switches --grid 1 --block 96 --arg in:int[96]=random --arg out:int[96]
// run: --kernel matches --grid 1 --block 64 --arg in:int[64]=random --arg out:int[64]
// run: --kernel scan --grid 3 --block 160 --arg in:int[480]=random --arg out:int[480]
// run: --kernel union_of --grid 1 --block 64 --arg in:float[64]=random --arg out:int[64]
// run: --kernel gather --grid 2 --block 50 --arg in:int[100]=random --arg in:float[10,10]=random --arg out:float[100]
// run: --kernel votes --grid 1 --block 96 --arg in:int[96]=random --arg out:int[3]
// run: --kernel dynamic --grid 2 --block 64 --shared 1024 --arg in:double[128]=random --arg out:double[128]
// run: --kernel copies --grid 1 --block 64 --arg in:unsigned[64]=random --arg out:unsigned[64]
// run: --kernel doubles --grid 5 --block 32 --arg in:double[160]=random --arg inout:double[1]=zero
// run: --kernel lanes --grid 1 --block 64 --arg in:int[64]=random --arg inout:int[64]=zero
// clang-format off
// Kernels without a fault, each with something that a check might take for one.

// A struct by value, and four numbers a thread.
struct turn { float c, s; };
__global__ void rotate(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    turn t = {0.6f, 0.8f};
    float2 v = reinterpret_cast<const float2 *>(in)[i];
    reinterpret_cast<float2 *>(out)[i] = make_float2(t.c * v.x - t.s * v.y, t.s * v.x + t.c * v.y);
}

// Tiles of eight lanes: each waits for itself alone, some of them more often.
__global__ void tiles8(const int *in, int *out)
{
    __shared__ int room[64];
    const unsigned lane = threadIdx.x % 32;
    const unsigned mask = 0xffu << (lane & ~7u);
    int v = in[blockIdx.x * 64 + threadIdx.x];
    for (unsigned k = 0; k <= lane / 8; k++) {
        room[threadIdx.x] = v;
        __syncwarp(mask);
        v += room[threadIdx.x ^ 1];
        v += __shfl_xor_sync(mask, v, 4);
        __syncwarp(mask);
    }
    out[blockIdx.x * 64 + threadIdx.x] = v + (__ballot_sync(mask, v > 9) & mask ? 1 : 0);
}

// Functions against their inverses and definitions; what is not so ends the kernel.
__global__ void inverses(const float *in, float *out)
{
    float v = in[threadIdx.x] / 40 + 0.01f;
    double d = v;
    float s, c;
    double ds, dc;
    sincospif(v, &s, &c);
    sincospi(d, &ds, &dc);
    bool close = fabsf(erff(erfinvf(v)) - v) < 1e-5f && fabsf(erfcf(erfcinvf(v)) - v) < 1e-5f &&
                 fabsf(normcdff(normcdfinvf(v)) - v) < 1e-5f &&
                 fabsf(rcbrtf(v) * cbrtf(v) - 1) < 1e-5f && fabsf(sinpif(v) - s) < 1e-6f &&
                 fabs(cospi(d) - dc) < 1e-12 && fabs(ds * ds + dc * dc - 1) < 1e-12 &&
                 fabs(j1(d) * y0(d) - j0(d) * y1(d) - 2 / (3.14159265358979 * d)) < 1e-9 &&
                 logbf(8 + v) == 3 && fabs(erfinv(erf(d)) - d) < 1e-9;
    if (!close)
        __trap();
    out[threadIdx.x] = s * s + c * c;
}

// Lanes that have returned: a mask may name them, as long as none of them is read.
__global__ void gone(const float *in, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int c = __popc(__ballot_sync(0xffffffff, in[i] > 0));
    __syncwarp();
    c = __shfl_sync(0xffffffff, c, 0);
    if (__any_sync(0xffffffff, in[i] > 0) && threadIdx.x % 32 == 0)
        atomicAdd(count, c);
}

// The same in a function that is called; some lanes return from it early.
__device__ __noinline__ void count_in(float v, int *count)
{
    if (v > 0.5f)
        return;
    const int c = __popc(__ballot_sync(__activemask(), v > 0.25f));
    if (c > 0)
        atomicAdd(count, c);
}
__device__ __noinline__ int count_of(float v) { return __popc(__ballot_sync(0xffffffff, v > 0)); }
__global__ void gone_before(const float *in, int *count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int c = count_of(in[i]);
    count_in(in[i], count);
    __syncwarp();
    if (c + count_of(in[i]) > 0 && threadIdx.x % 32 == 0)
        atomicAdd(count, c);
}

// Each half of a warp at its own shuffle.
__global__ void halves(const int *in, int *out)
{
    int v = in[threadIdx.x];
    if (threadIdx.x < 16)
        v += __shfl_down_sync(0x0000ffff, v, 1, 16);
    else
        v -= __shfl_up_sync(0xffff0000, v, 1, 16);
    out[threadIdx.x] = v;
}

// The last block adds what all stored.
__global__ void ticket(const float *in, float *parts, unsigned *count, float *sum)
{
    __shared__ float s[64];
    __shared__ bool last;
    s[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            all += ((volatile float *)parts)[b];
        *sum = all;
    }
}

// Each thread of two warps takes one lock.
__global__ void spin(int *lock)
{
    bool waits = true;
    while (waits) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            lock[1] += threadIdx.x;
            lock[2] = lock[1] / 2;
            __threadfence();
            atomicExch(lock, 0);
            waits = false;
        }
    }
}

// Two warps give to two others: named barriers, arrive and sync.
__global__ void named(const float *in, float *out)
{
    __shared__ float room[64];
    const int half = threadIdx.x / 64;
    const int t = threadIdx.x % 64;
    for (int k = 0; k < 4; k++) {
        if (half == 0) {
            if (k > 0)
                asm volatile("barrier.sync 2, 128;" ::: "memory");
            room[t] = in[(blockIdx.x * 4 + k) * 64 + t];
            asm volatile("barrier.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("barrier.sync 1, 128;" ::: "memory");
            out[(blockIdx.x * 4 + k) * 64 + t] = room[63 - t];
            if (k < 3)
                asm volatile("barrier.arrive 2, 128;" ::: "memory");
        }
    }
}

// Structs with bytes that nothing writes, exchanged.
struct mixed { char t; float key; short s; __device__ void set(float k) { t = 1; key = k; s = 2; } };
struct tail { double key; float f; __device__ void set(float k) { key = k; f = 1; } };
struct wide { long long key; char c; __device__ void set(float k) { key = (long long)(100 * k); c = 1; } };
struct small { float key; short s; __device__ void set(float k) { key = k; s = 1; } };
template <typename T> __device__ void exchange(T &a, T &b)
{
    T t = a;
    a = b;
    b = t;
}
template <typename T> __global__ void swap(float *x)
{
    __shared__ T s[64];
    const int t = threadIdx.x;
    T own;
    own.set(x[t]);
    s[t] = own;
    __syncthreads();
    if (t % 2 == 0 && s[t].key < s[t + 1].key)
        exchange(s[t], s[t + 1]);
    __syncthreads();
    x[t] = s[63 - t].key;
}
template __global__ void swap<mixed>(float *);
template __global__ void swap<tail>(float *);
template __global__ void swap<wide>(float *);
template __global__ void swap<small>(float *);

// Functions by template, and one that is a call.
template <int N> struct power { __device__ static int of(int x) { return x * power<N - 1>::of(x); } };
template <> struct power<0> { __device__ static int of(int) { return 1; } };
__device__ __noinline__ int pick(int x, int *rest) { *rest = x % 3; return x / 3; }
__global__ void calls(int *out)
{
    int rest;
    int v = pick(threadIdx.x, &rest);
    if (rest == 1)
        v = pick(v + 7, &rest);
    out[threadIdx.x] = power<3>::of(v) + rest;
}

// Lanes of a warp at many places.
__global__ void switches(const int *in, int *out)
{
    int v = in[threadIdx.x];
    switch (v) {
    case 0: v = 17; break;
    case 1: v *= v + 3; // and on
    case 2: v += in[(threadIdx.x + 1) % 96]; break;
    case 3: for (int k = 0; k < (int)threadIdx.x; k++) v ^= k; break;
    case 4: { int local[4] = {v, v + 1, v + 2, v + 3}; v = local[in[0] % 4]; break; }
    case 5: v = __popc(v); break;
    case 6: v = __clz(v); break;
    default: v = -v;
    }
    out[threadIdx.x] = v;
}

// Lanes with one key add together.
__global__ void matches(const int *in, int *out)
{
    const int key = in[threadIdx.x];
    const unsigned lane = threadIdx.x % 32;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    unsigned same = __match_any_sync(~0u, key);
#endif
    int sum = 0;
    for (unsigned rest = same; rest; rest &= rest - 1)
        sum += __shfl_sync(same, (int)lane, __ffs(rest) - 1);
    out[threadIdx.x] = sum;
}

// A running sum in place, read and written between barriers.
__global__ void scan(const int *in, int *out)
{
    extern __shared__ int unused[];
    __shared__ int s[2][160];
    const int t = threadIdx.x;
    int from = 0;
    s[0][t] = in[blockIdx.x * 160 + t];
    for (int d = 1; d < 160; d *= 2, from ^= 1) {
        __syncthreads();
        s[from ^ 1][t] = s[from][t] + (t >= d ? s[from][t - d] : 0);
    }
    out[blockIdx.x * 160 + t] = s[from][t];
    (void)unused;
}

// Shared memory for one thing, then for another.
__global__ void union_of(const float *in, int *out)
{
    __shared__ union { float f[64]; unsigned char b[256]; int i[64]; } u;
    u.f[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum += u.b[(threadIdx.x * 4 + k * 5) % 256];
    __syncthreads();
    u.i[threadIdx.x] = sum;
    __syncthreads();
    out[threadIdx.x] = u.i[63 - threadIdx.x];
}

// Rows by index, through a pointer to pointers in local memory.
__global__ void gather(const int *index, const float *rows, float *out)
{
    const float *row[10];
    for (int k = 0; k < 10; k++)
        row[k] = rows + 10 * k;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = row[index[i] % 10][index[99 - i] % 10];
}

// Barriers that bring a value.
__global__ void votes(const int *in, int *out)
{
    const int many = __syncthreads_count(in[threadIdx.x] > 4);
    const int all = __syncthreads_and(in[threadIdx.x] >= 0);
    const int any = __syncthreads_or(in[threadIdx.x] == 7);
    if (threadIdx.x < 3)
        out[threadIdx.x] = threadIdx.x == 0 ? many : threadIdx.x == 1 ? all : any;
}

// Dynamic shared memory, cut into two arrays.
__global__ void dynamic(const double *in, double *out)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    double *first = reinterpret_cast<double *>(bytes);
    float *second = reinterpret_cast<float *>(first + 64);
    const int t = threadIdx.x;
    first[t] = in[blockIdx.x * 64 + t];
    second[t] = (float)first[t];
    second[64 + t] = 1.0f;
    __syncthreads();
    out[blockIdx.x * 64 + t] = first[63 - t] + second[(t * 7) % 64] + second[127 - t];
}

// Bytes, four at a time and one at a time.
__global__ void copies(const unsigned *in, unsigned char *out)
{
    __shared__ uchar4 s[64];
    s[threadIdx.x] = reinterpret_cast<const uchar4 *>(in)[threadIdx.x];
    __syncthreads();
    const unsigned char *b = reinterpret_cast<const unsigned char *>(s);
    for (int k = threadIdx.x; k < 256; k += 64)
        out[k] = b[255 - k];
}

// A sum of doubles by compare and swap.
__global__ void doubles(const double *in, double *sum)
{
    unsigned long long *at = reinterpret_cast<unsigned long long *>(sum);
    unsigned long long old = *(volatile unsigned long long *)at, seen;
    const double v = in[blockIdx.x * 32 + threadIdx.x];
    do {
        seen = old;
        old = atomicCAS(at, seen, (unsigned long long)__double_as_longlong(v + __longlong_as_double(seen)));
    } while (old != seen);
}

// Lanes that store one value to one place; and each its own in turn.
__global__ void lanes(const int *in, int *out)
{
    __shared__ int flag[2];
    flag[threadIdx.x / 32] = 3;
    __syncwarp();
    for (int k = 0; k < 32; k++) {
        if (threadIdx.x % 32 == (unsigned)k)
            out[threadIdx.x / 32] += in[threadIdx.x] * flag[threadIdx.x / 32];
        __syncwarp();
    }
}
