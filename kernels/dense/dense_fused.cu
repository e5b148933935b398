/* kernels/dense/dense_fused.cu -- product, bias and activation in one kernel.
 *
 * Step by step the layer writes xW to memory, reads it back to add b, writes
 * out, and reads that back for the activation. Here the sum is still in a
 * register when b is added to it and the activation applied: out is written
 * because the backward pass needs it, the activated value because the next
 * layer does, and nothing is read back. What is saved is 3 passes over (N, M),
 * and 2 launches: for small layers the launches are most of the time.
 *
 * Thread -> element: as in dense_tiled.cu; this kernel shares its inner
 * part. Without an activation the result has the same bits as that kernel
 * and dense_bias_fwd. */
#include "activation/activation.cuh"
#include "dense/dense_cuda.cuh"
#include "dense/dense_tile.cuh"

struct fused_after {
    const float *b;   /* (M), NULL: no bias */
    float *activated; /* (N, M), NULL: no activation follows */
    enum lab_activation activation;
    float slope;
};

static __global__ void __launch_bounds__(DENSE_TILE *DENSE_TILE)
    dense_fused(float *out, const float *x, const float *W, int64_t N,
                int64_t K, int64_t M, struct fused_after after)
{
    int64_t row0;
    int64_t col0;
    lab_tile_start<DENSE_TILE>(M, &row0, &col0);
    float value = dense_tile_element<false, false>(x, W, N, M, K, row0, col0);
    int64_t n = row0 + threadIdx.y;
    int64_t m = col0 + threadIdx.x;
    if (n >= N || m >= M)
        return;
    if (after.b)
        value += after.b[m];
    out[n * M + m] = value;
    if (after.activated) {
        after.activated[n * M + m] =
            activation_value(after.activation, value, after.slope);
    }
}

enum lab_status dense_fused_forward(const struct lab_call *call)
{
    struct dense_shape s = dense_shape_of(&call->in[0], &call->in[1]);
    const auto *params = lab_params<lab_dense_params>(call);
    struct fused_after after = {};
    after.b = call->n_in > 2 ? lab_in(call, 2) : nullptr;
    after.activated = call->n_out > 1 ? lab_out(call, 1) : nullptr;
    after.activation = params ? params->activation : LAB_ACT_NONE;
    after.slope = params ? (float)params->slope : 0.0f;
    unsigned blocks = lab_tiles(s.N, s.M, DENSE_TILE, DENSE_TILE);
    dense_fused<<<blocks, dim3(DENSE_TILE, DENSE_TILE), 0, lab_stream(call)>>>(
        lab_out(call, 0), lab_in(call, 0), lab_in(call, 1), s.N, s.K, s.M,
        after);
    return lab_launched("dense_fused");
}
