/* kernels/conv2d/tile.cu -- a piece of the image in shared memory.
 *
 * A block makes 8 x 32 elements of y. For each channel its 256 threads copy
 * the (8 + R - 1) x (32 + R - 1) numbers that their windows reach into shared
 * memory, with zeros where the image ends, and the windows into it beside them.
 *
 * tile     The idea: each number of x comes from memory once for R R reads, and
 *          nothing in the inner loop asks where the image ends.
 *          The price: a multiply-add still reads two numbers, now from shared
 *          memory, and the block waits twice a channel.
 * kernels  The idea: a thread makes its element for 8 kernels. A number of x
 *          is read once for 8 multiply-adds, and the 8 weights are the same for
 *          all threads of a warp.
 *          The price: 8 sums in registers, and an eighth of the blocks. */
#include "conv2d/conv.cuh"

enum { DOWN = 8, ACROSS = 32, SHARED_MOST = 48 * 1024 };

/* The block's place: tiles of an image, then its groups of kernels. */
struct tile_place {
    int64_t n;
    int64_t k;
    int64_t row;
    int64_t col;
};

static __device__ __forceinline__ struct tile_place
place_of(const struct conv_shape &s, int each)
{
    int64_t across = (s.Q + ACROSS - 1) / ACROSS;
    int64_t down = (s.P + DOWN - 1) / DOWN;
    int64_t groups = (s.K + each - 1) / each;
    int64_t b = blockIdx.x;
    return {b / (across * down * groups), b / (across * down) % groups * each,
            b / across % down * DOWN, b % across * ACROSS};
}

/* piece[i] = x at (row - pad + i / wide, col - pad + i % wide), or 0. */
static __device__ __forceinline__ void
fetch_piece(float *piece, const float *image, const struct conv_shape &s,
            const struct tile_place &at, int wide, int count)
{
    for (int i = threadIdx.x; i < count; i += LAB_BLOCK) {
        int64_t h = at.row - s.pad + i / wide;
        int64_t v = at.col - s.pad + i % wide;
        bool inside = h >= 0 && h < s.H && v >= 0 && v < s.W;
        piece[i] = inside ? image[h * s.W + v] : 0.0f;
    }
}

/* windows[i * EACH + j] = w[k + j, c, i], or 0. */
template <int EACH>
static __device__ __forceinline__ void
fetch_windows(float *windows, const float *w, const struct conv_shape &s,
              int64_t k, int64_t c, int area)
{
    for (int i = threadIdx.x; i < area * EACH; i += LAB_BLOCK) {
        int64_t kernel = k + i / area;
        windows[i % area * EACH + i / area] =
            kernel < s.K ? w[(kernel * s.C + c) * area + i % area] : 0.0f;
    }
}

template <int EACH>
static __global__ void __launch_bounds__(LAB_BLOCK)
    conv_tile(float *y, const float *x, const float *w, struct conv_shape s)
{
    extern __shared__ float shared[];
    int R = static_cast<int>(s.R);
    int wide = ACROSS + R - 1;
    int count = wide * (DOWN + R - 1);
    float *windows = shared;
    float *piece = shared + EACH * R * R;
    struct tile_place at = place_of(s, EACH);
    int down = threadIdx.x / ACROSS;
    int across = threadIdx.x % ACROSS;
    float sum[EACH] = {};
    for (int64_t c = 0; c < s.C; c++) {
        fetch_piece(piece, x + (at.n * s.C + c) * s.H * s.W, s, at, wide,
                    count);
        fetch_windows<EACH>(windows, w, s, at.k, c, R * R);
        __syncthreads(); /* both are there */
        for (int r = 0; r < R; r++) {
            for (int t = 0; t < R; t++) {
                float v = piece[(down + r) * wide + across + t];
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sum[j] += v * windows[(r * R + t) * EACH + j];
            }
        }
        __syncthreads(); /* no thread needs them any more */
    }
    int64_t p = at.row + down;
    int64_t q = at.col + across;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        if (p < s.P && q < s.Q && at.k + j < s.K)
            y[((at.n * s.K + at.k + j) * s.P + p) * s.Q + q] = sum[j];
    }
}

template <int EACH> static enum lab_status run(const struct lab_call *call)
{
    struct conv_shape s = conv_shape_of(call);
    int64_t tiles = (s.Q + ACROSS - 1) / ACROSS * ((s.P + DOWN - 1) / DOWN);
    int64_t blocks = s.N * ((s.K + EACH - 1) / EACH) * tiles;
    int64_t bytes =
        4 * (EACH * s.R * s.R + (ACROSS + s.R - 1) * (DOWN + s.R - 1));
    if (bytes > SHARED_MOST)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[launch.tile-window] windows of %lld x %lld do not "
                        "fit in 48 KiB of shared "
                        "memory",
                        (long long)s.R, (long long)s.R);
    conv_tile<EACH><<<lab_blocks(blocks, 1), LAB_BLOCK,
                      static_cast<size_t>(bytes), lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), s);
    return lab_launched("conv_tile");
}

enum lab_status lab_conv_tile(const struct lab_call *call)
{
    return run<1>(call);
}

enum lab_status lab_conv_kernels(const struct lab_call *call)
{
    return run<8>(call);
}
