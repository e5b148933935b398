/* kernels/conv2d/implicit.cu -- the product with a matrix that is never laid
 * out.
 *
 * The idea: the product of im2col.cu, w (K, C R R) times X (C R R, N P Q),
 * but a thread that wants a number of X computes where in the image it lies.
 * X takes no memory and no time to write; what it needs comes through L2.
 * Tiles, warps and the two buffers are those of gemm/double.cu.
 * The price: two divisions for each group of four numbers. For R = 3 and 11
 * they are by a constant, which the compiler turns into a multiplication. */
#include "conv2d/conv.cuh"
#include "gemm/warp.cuh"

typedef gemm_shape<128, 128, 8, 64, 32> SHAPE;

/* This thread's part of a stage: four numbers of w, four of X. Its columns of X
 * stay the same all the time; only the row changes. */
template <bool FOURS, int FIXED> struct conv_fetch {
    static_assert(SHAPE::A_FOURS == 1 && SHAPE::B_FOURS == 1, "one load each");
    float4 a;
    float b[4];
    const float *image[4]; /* of the column; NULL: past the last column */
    int top[4];            /* row and column of its window in the image */
    int left[4];

    __device__ __forceinline__ void start(const float *x, int64_t col0,
                                          const struct conv_shape &s)
    {
        int64_t places = s.P * s.Q;
        int64_t col = col0 + threadIdx.x % (SHAPE::BN / 4) * 4;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int64_t at = (col + i) % places;
            bool inside = col + i < s.N * places;
            image[i] = inside ? x + (col + i) / places * s.C * s.H * s.W : NULL;
            top[i] = static_cast<int>(at / s.Q - s.pad);
            left[i] = static_cast<int>(at % s.Q - s.pad);
        }
    }

    __device__ __forceinline__ void load(const float *w, int64_t row0,
                                         int64_t k0, const struct conv_shape &s,
                                         int depth)
    {
        const int R = FIXED ? FIXED : static_cast<int>(s.R);
        int64_t row = row0 + threadIdx.x / (SHAPE::DEPTH / 4);
        a = gemm_load4<FOURS>(w + row * depth, row < s.K,
                              k0 + threadIdx.x % (SHAPE::DEPTH / 4) * 4, depth);
        int k = static_cast<int>(k0) + threadIdx.x / (SHAPE::BN / 4);
        int c = k / (R * R);
        int r = k / R % R;
        int t = k % R;
        int64_t channel = static_cast<int64_t>(c) * s.H * s.W;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int h = top[i] + r;
            int v = left[i] + t;
            bool inside =
                image[i] && k < depth && h >= 0 && h < s.H && v >= 0 && v < s.W;
            b[i] = inside ? image[i][channel + h * s.W + v] : 0.0f;
        }
    }

    __device__ __forceinline__ void store(float (*as)[SHAPE::A_ROW],
                                          float (*bs)[SHAPE::B_ROW]) const
    {
        int row = threadIdx.x / (SHAPE::DEPTH / 4);
        int k = threadIdx.x % (SHAPE::DEPTH / 4) * 4;
        as[k][row] = a.x;
        as[k + 1][row] = a.y;
        as[k + 2][row] = a.z;
        as[k + 3][row] = a.w;
        *reinterpret_cast<float4 *>(&bs[threadIdx.x / (SHAPE::BN / 4)]
                                       [threadIdx.x % (SHAPE::BN / 4) * 4]) =
            make_float4(b[0], b[1], b[2], b[3]);
    }
};

/* Row k and column n P Q + place of the product stand at y[n, k, place]. FOURS:
 * P Q is a multiple of 4, and four columns lie side by side. */
template <bool FOURS>
static __device__ __forceinline__ void
write_sums(float *y, const gemm_sums<SHAPE> &mine, int64_t row0, int64_t col0,
           const struct conv_shape &s)
{
    int64_t places = s.P * s.Q;
#pragma unroll
    for (int v = 0; v < SHAPE::TN; v++) {
        int64_t col = col0 + mine.col + v / 4 * 16 + v % 4;
        if ((FOURS && v % 4 != 0) || col >= s.N * places)
            continue;
        float *to = y + col / places * s.K * places + col % places;
#pragma unroll
        for (int u = 0; u < SHAPE::TM; u++) {
            int64_t k = row0 + mine.row + u / 4 * 32 + u % 4;
            if (k >= s.K)
                continue;
            if (FOURS)
                gemm_store4<true>(to + k * places, 0, 4, &mine.sum[u][v]);
            else
                to[k * places] = mine.sum[u][v];
        }
    }
}

template <bool FOURS_W, bool FOURS_Y, int FIXED>
static __global__ void __launch_bounds__(SHAPE::THREADS, 2)
    conv_implicit(float *y, const float *x, const float *w, struct conv_shape s)
{
    __shared__ __align__(16) float as[2][SHAPE::DEPTH][SHAPE::A_ROW];
    __shared__ __align__(16) float bs[2][SHAPE::DEPTH][SHAPE::B_ROW];
    int depth = static_cast<int>(s.C * s.R * s.R);
    int64_t row0;
    int64_t col0;
    int now = 0;
    conv_fetch<FOURS_W, FIXED> next;
    gemm_sums<SHAPE> mine;
    gemm_place<SHAPE>(s.K, s.N * s.P * s.Q, &row0, &col0);
    mine.start();
    next.start(x, col0, s);
    next.load(w, row0, 0, s, depth);
    next.store(as[0], bs[0]);
    __syncthreads();
    for (int k0 = SHAPE::DEPTH; k0 < depth; k0 += SHAPE::DEPTH) {
        next.load(w, row0, k0, s, depth); /* on its way */
        mine.add_stage(as[now], bs[now]);
        now ^= 1;
        next.store(as[now], bs[now]);
        __syncthreads();
    }
    mine.add_stage(as[now], bs[now]);
    write_sums<FOURS_Y>(y, mine, row0, col0, s);
}

template <bool FOURS_W, bool FOURS_Y, int FIXED>
static void launch(const struct lab_call *call, const struct conv_shape &s)
{
    int64_t down = (s.K + SHAPE::BM - 1) / SHAPE::BM;
    int64_t across = (s.N * s.P * s.Q + SHAPE::BN - 1) / SHAPE::BN;
    conv_implicit<FOURS_W, FOURS_Y, FIXED>
        <<<lab_blocks(down * across, 1), SHAPE::THREADS, 0, lab_stream(call)>>>(
            lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), s);
}

template <int FIXED>
static void launch_fixed(const struct lab_call *call,
                         const struct conv_shape &s)
{
    bool fours_w = conv_depth(&s) % 4 == 0;
    bool fours_y = s.P * s.Q % 4 == 0;
    if (fours_w && fours_y)
        launch<true, true, FIXED>(call, s);
    else if (fours_w)
        launch<true, false, FIXED>(call, s);
    else if (fours_y)
        launch<false, true, FIXED>(call, s);
    else
        launch<false, false, FIXED>(call, s);
}

enum lab_status lab_conv_implicit(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of(call);
    if (conv_depth(&s) > INT32_MAX || s.H > INT32_MAX / 2 ||
        s.W > INT32_MAX / 2)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.implicit-side] a side of the product is more "
                        "than 32 bits hold");
    if (s.R == 3)
        launch_fixed<3>(call, s);
    else if (s.R == 11)
        launch_fixed<11>(call, s);
    else
        launch_fixed<0>(call, s);
    return lab_launched("conv_implicit");
}
