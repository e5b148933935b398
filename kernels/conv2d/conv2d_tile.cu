/* kernels/conv2d/conv2d_tile.cu -- the second variant: implicit GEMM.
 *
 * Lay every window out as a row of a matrix, and the convolution is a product
 * of matrices; so are its two gradients:
 *
 *            rows            columns   summed over
 *   conv     places n,oh,ow  m         kh,kw,c     windows(x) Wt
 *   dWt      kh,kw,c         m         n,oh,ow     windows(x)^T dconv
 *   dx       n,h,w           c         kh,kw,m     readers(dconv) Wt^T
 *
 * The matrix of windows holds every input KH*KW times. Here it never exists: a
 * block copies one tile of it into shared memory, and finds each number in the
 * image by its coordinates. (S. Chetlur et al., "cuDNN: efficient primitives
 * for deep learning", arXiv:1410.0759, section 3.)
 *
 * Thread -> element: 256 threads make a tile of 64 x 64 of the result, 16 of
 * the common dimension at a time; a thread has 4 x 4 elements in registers.
 * Where there are few tiles and a long sum (dWt: a few thousand weights, a sum
 * over every place of every image) the sum is cut into slices. Each slice is
 * made by blocks of its own, into the workspace, and the slices are then added
 * in order: the same bits at every run, which atomics would not give.
 * Memory: 2*64 flop for 8 bytes. Coordinates cost a few integer instructions
 * for each number that is loaded; divisions are turned into multiplications. */
#include "conv2d/conv2d_tile.cuh"

enum {
    SIDE = 64,
    DEPTH = 16,
    GRAIN = 4,
    ACROSS = SIDE / GRAIN,
    THREADS = ACROSS * ACROSS,
    ENOUGH_BLOCKS = 256, /* fewer tiles than this: cut the sum */
    LEAST_SLICE = 128    /* of the common dimension */
};

struct extent {
    int rows;
    int columns;
    int depth;
    int slices;
    int slice; /* of the depth, a multiple of DEPTH */
};

template <typename PRODUCT>
static __device__ void
load_stage(float as[DEPTH][SIDE + 1], float bs[DEPTH][SIDE + 1], const float *a,
           const float *b, const struct geometry &g, const struct extent &e,
           int row0, int column0, int k0, int k_end)
{
    bool a_rows = PRODUCT::a_along_rows(g);
    bool b_columns = PRODUCT::b_along_columns(g);
#pragma unroll
    for (int t = 0; t < SIDE * DEPTH / THREADS; t++) {
        int at = threadIdx.x + t * THREADS;
        int i = a_rows ? at % SIDE : at / DEPTH;
        int k = a_rows ? at / SIDE : at % DEPTH;
        bool inside = row0 + i < e.rows && k0 + k < k_end;
        as[k][i] = inside ? PRODUCT::a(g, a, row0 + i, k0 + k) : 0.0f;
        i = b_columns ? at % SIDE : at / DEPTH;
        k = b_columns ? at / SIDE : at % DEPTH;
        inside = column0 + i < e.columns && k0 + k < k_end;
        bs[k][i] = inside ? PRODUCT::b(g, b, k0 + k, column0 + i) : 0.0f;
    }
}

static __device__ void add_stage(float sum[GRAIN][GRAIN],
                                 const float as[DEPTH][SIDE + 1],
                                 const float bs[DEPTH][SIDE + 1], int ty,
                                 int tx)
{
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
        float a[GRAIN];
        float b[GRAIN];
#pragma unroll
        for (int u = 0; u < GRAIN; u++) {
            a[u] = as[k][ty + ACROSS * u];
            b[u] = bs[k][tx + ACROSS * u];
        }
#pragma unroll
        for (int u = 0; u < GRAIN; u++) {
#pragma unroll
            for (int v = 0; v < GRAIN; v++)
                sum[u][v] += a[u] * b[v];
        }
    }
}

/* One slice: into the result, or, where there are several, into its own part
 * of the workspace, row by row. */
template <typename PRODUCT>
static __global__ void __launch_bounds__(THREADS)
    conv2d_tile(float *c, const float *a, const float *b, struct geometry g,
                struct extent e)
{
    __shared__ float as[DEPTH][SIDE + 1];
    __shared__ float bs[DEPTH][SIDE + 1];
    int across = (e.columns + SIDE - 1) / SIDE;
    int slice = blockIdx.x % e.slices;
    int tile = blockIdx.x / e.slices;
    int row0 = tile / across * SIDE;
    int column0 = tile % across * SIDE;
    /* 64 bits: the end of the last slice may lie beyond 2^31. */
    int64_t k_end = min(static_cast<int64_t>(e.depth),
                        static_cast<int64_t>(slice + 1) * e.slice);
    int ty = threadIdx.x / ACROSS;
    int tx = threadIdx.x % ACROSS;
    float sum[GRAIN][GRAIN] = {};
    for (int64_t k0 = static_cast<int64_t>(slice) * e.slice; k0 < k_end;
         k0 += DEPTH) {
        load_stage<PRODUCT>(as, bs, a, b, g, e, row0, column0, (int)k0,
                            (int)k_end);
        __syncthreads();
        add_stage(sum, as, bs, ty, tx);
        __syncthreads();
    }
    for (int u = 0; u < GRAIN; u++) {
        for (int v = 0; v < GRAIN; v++) {
            int row = row0 + ty + ACROSS * u;
            int column = column0 + tx + ACROSS * v;
            if (row >= e.rows || column >= e.columns)
                continue;
            int64_t part = (int64_t)slice * e.rows + row;
            c[e.slices > 1 ? part * e.columns + column
                           : PRODUCT::to(g, row, column)] = sum[u][v];
        }
    }
}

/* The slices of one element, added in their order. */
template <typename PRODUCT>
static __global__ void conv2d_add_slices(float *c, const float *parts,
                                         struct geometry g, struct extent e)
{
    int64_t i = lab_element();
    int64_t count = (int64_t)e.rows * e.columns;
    if (i >= count)
        return;
    double sum = 0.0;
    for (int s = 0; s < e.slices; s++)
        sum += parts[s * count + i];
    c[PRODUCT::to(g, (int)(i / e.columns), (int)(i % e.columns))] = (float)sum;
}

static struct extent extent_of(const struct lab_call *call, int64_t rows,
                               int64_t columns, int64_t depth)
{
    struct extent e = {(int)rows, (int)columns, (int)depth, 1, 0};
    int64_t tiles = ((rows + SIDE - 1) / SIDE) * ((columns + SIDE - 1) / SIDE);
    int64_t slices = ENOUGH_BLOCKS / tiles;
    int64_t room = (int64_t)(call->exec->workspace_bytes / sizeof(float)) /
                   (rows * columns);
    if (slices > depth / LEAST_SLICE)
        slices = depth / LEAST_SLICE;
    if (slices > room)
        slices = room;
    if (slices < 1 || !call->exec->workspace)
        slices = 1;
    e.slice = (int)((depth + slices - 1) / slices + DEPTH - 1) / DEPTH * DEPTH;
    e.slices = (int)((depth + e.slice - 1) / e.slice);
    return e;
}

template <typename PRODUCT>
static enum lab_status
product(const struct lab_call *call, float *c, const float *a, const float *b,
        const struct geometry &g, int64_t rows, int64_t columns, int64_t depth)
{
    struct extent e = extent_of(call, rows, columns, depth);
    int64_t tiles = ((rows + SIDE - 1) / SIDE) * ((columns + SIDE - 1) / SIDE);
    float *to = e.slices > 1 ? static_cast<float *>(call->exec->workspace) : c;
    conv2d_tile<PRODUCT>
        <<<lab_blocks(tiles * e.slices, 1), THREADS, 0, lab_stream(call)>>>(
            to, a, b, g, e);
    if (e.slices > 1) {
        conv2d_add_slices<PRODUCT>
            <<<lab_blocks(rows * columns), LAB_BLOCK, 0, lab_stream(call)>>>(
                c, to, g, e);
    }
    return lab_launched("conv2d_tile");
}

enum lab_status conv2d_geometry_of(const struct lab_call *call,
                                   const struct lab_view *x,
                                   const struct lab_view *conv,
                                   struct geometry *g)
{
    struct lab_conv2d s = lab_conv2d_of(call, x, conv);
    int64_t window = s.KH * s.KW * s.x.C;
    int64_t back = s.KH * s.KW * s.y.C;
    int64_t places = s.y.N * s.y.H * s.y.W;
    int64_t pixels = s.x.N * s.x.H * s.x.W;
    if (window > INT32_MAX || back > INT32_MAX || places > INT32_MAX ||
        pixels > INT32_MAX || s.x.N * s.x.C * s.x.H > INT32_MAX ||
        s.y.N * s.y.C * s.y.H > INT32_MAX || s.y.C * s.x.C * s.KH > INT32_MAX ||
        s.win.pad[0] > INT32_MAX / 4 || s.win.pad[1] > INT32_MAX / 4) {
        return lab_fail(
            LAB_E_RANGE,
            "[launch.tile-image] conv2d tile: an image or a window of "
            "more than 2^31 - 1 numbers");
    }
    *g = {(int)s.x.H,
          (int)s.x.W,
          (int)s.x.C,
          (int)s.y.H,
          (int)s.y.W,
          (int)s.y.C,
          (int)s.KH,
          (int)s.KW,
          (int)s.win.stride[0],
          (int)s.win.stride[1],
          (int)s.win.pad[0],
          (int)s.win.pad[1],
          (int)places,
          (int)pixels,
          (int)window,
          s.win.nhwc,
          divider_of(s.y.W),
          divider_of(s.y.H),
          divider_of(s.x.W),
          divider_of(s.x.H),
          divider_of(s.x.C),
          divider_of(s.KW),
          divider_of(s.KH),
          divider_of(s.y.C)};
    return LAB_OK;
}

enum lab_status conv2d_tile_forward(const struct lab_call *call)
{
    struct geometry g;
    enum lab_status st =
        conv2d_geometry_of(call, &call->in[0], &call->out[0], &g);
    if (st)
        return st;
    return product<forward_product>(call, lab_out(call, 0), lab_in(call, 0),
                                    lab_in(call, 1), g, g.places, g.M,
                                    g.window);
}

enum lab_status conv2d_tile_dx(const struct lab_call *call)
{
    struct geometry g;
    enum lab_status st =
        conv2d_geometry_of(call, &call->in[1], &call->in[0], &g);
    if (st)
        return st;
    return product<dx_product>(call, lab_out(call, 1), lab_in(call, 0),
                               lab_in(call, 2), g, g.pixels, g.C,
                               (int64_t)g.KH * g.KW * g.M);
}

enum lab_status conv2d_tile_backward(const struct lab_call *call)
{
    struct geometry g;
    enum lab_status st =
        conv2d_geometry_of(call, &call->in[1], &call->in[0], &g);
    if (st)
        return st;
    st = product<dW_product>(call, lab_out(call, 0), lab_in(call, 1),
                             lab_in(call, 0), g, g.window, g.M, g.places);
    if (st || !lab_out(call, 1))
        return st;
    return conv2d_tile_dx(call);
}
