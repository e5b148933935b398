/* kernels/labs/fusion/fusion.cu -- y = residual + gelu(x + bias), the bias one
 * for each column: what stands behind the first product of a transformer's
 * dense block, and 12 bytes an element in all.
 *
 * three   one kernel for each operation, the way in which a program is written:
 *         the sum goes to memory and comes back, gelu's result too: 8 + 8 + 12
 *         = 28 bytes, 3 launches.
 * two     bias and gelu together: 8 + 12 = 20 bytes, 2 launches.
 * one     all of it in registers: 12 bytes, 1 launch. The price: one more
 *         kernel to write, for this order of operations and no other.
 * vector  the same, 16 bytes a load, two loads of each on their way.
 *
 * gelu is the exact one, z (1 + erf(z / sqrt 2)) / 2. The step between the
 * kernels goes through the scratch tensor. */
#include "activation.cuh"
#include "labs/fusion/fusion.h"
#include "launch.cuh"

struct fusion {
    float *y;              /* (R, C) */
    float *between;        /* (R, C), scratch */
    const float *x;        /* (R, C) */
    const float *bias;     /* (C) */
    const float *residual; /* (R, C) */
    int64_t count;
    int64_t C;
};

static struct fusion fusion_of(const struct lab_call *call)
{
    return {lab_out(call, 0),  lab_out(call, 1), lab_in(call, 0),
            lab_in(call, 1),   lab_in(call, 2),  call->in[0].count,
            call->in[0].dim[1]};
}

static __global__ void add_bias(float *y, const float *x, const float *bias,
                                int64_t count, int64_t C)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = x[i] + bias[i % C];
}

static __global__ void gelu(float *y, const float *x, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = gelu_erf_value(x[i]);
}

static __global__ void add_residual(float *y, const float *x,
                                    const float *residual, int64_t count)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = residual[i] + x[i];
}

static __global__ void bias_gelu(float *y, const float *x, const float *bias,
                                 int64_t count, int64_t C)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = gelu_erf_value(x[i] + bias[i % C]);
}

static __global__ void bias_gelu_residual(float *y, const float *x,
                                          const float *bias,
                                          const float *residual, int64_t count,
                                          int64_t C)
{
    int64_t i = lab_element();
    if (i < count)
        y[i] = residual[i] + gelu_erf_value(x[i] + bias[i % C]);
}

enum lab_status lab_fusion_three(const struct lab_call *call)
{
    struct fusion f = fusion_of(call);
    unsigned blocks = lab_blocks(f.count);
    cudaStream_t stream = lab_stream(call);
    add_bias<<<blocks, LAB_BLOCK, 0, stream>>>(f.between, f.x, f.bias, f.count,
                                               f.C);
    gelu<<<blocks, LAB_BLOCK, 0, stream>>>(f.between, f.between, f.count);
    add_residual<<<blocks, LAB_BLOCK, 0, stream>>>(f.y, f.between, f.residual,
                                                   f.count);
    return lab_launched("add_residual");
}

enum lab_status lab_fusion_two(const struct lab_call *call)
{
    struct fusion f = fusion_of(call);
    unsigned blocks = lab_blocks(f.count);
    cudaStream_t stream = lab_stream(call);
    bias_gelu<<<blocks, LAB_BLOCK, 0, stream>>>(f.between, f.x, f.bias, f.count,
                                                f.C);
    add_residual<<<blocks, LAB_BLOCK, 0, stream>>>(f.y, f.between, f.residual,
                                                   f.count);
    return lab_launched("add_residual");
}

enum lab_status lab_fusion_one(const struct lab_call *call)
{
    struct fusion f = fusion_of(call);
    bias_gelu_residual<<<lab_blocks(f.count), LAB_BLOCK, 0, lab_stream(call)>>>(
        f.y, f.x, f.bias, f.residual, f.count, f.C);
    return lab_launched("bias_gelu_residual");
}

/* A block has 4 * LAB_BLOCK * TURNS numbers that lie side by side; one row or
 * many, as it comes: only the bias asks for the column. */
enum { TURNS = 2 };

static __global__ void bias_gelu_residual_fours(float *y, const float *x,
                                                const float *bias,
                                                const float *residual,
                                                int64_t count, int64_t C)
{
    float4 v[TURNS];
    float4 r[TURNS];
    int64_t first = 4 * (static_cast<int64_t>(blockIdx.x) * LAB_BLOCK * TURNS +
                         threadIdx.x);
#pragma unroll
    for (int t = 0; t < TURNS; t++) {
        int64_t i = first + 4 * LAB_BLOCK * t;
        if (i >= count)
            break;
        v[t] = __ldcs(reinterpret_cast<const float4 *>(x + i));
        r[t] = __ldcs(reinterpret_cast<const float4 *>(residual + i));
    }
#pragma unroll
    for (int t = 0; t < TURNS; t++) {
        int64_t i = first + 4 * LAB_BLOCK * t;
        if (i >= count)
            break;
        float4 b = *reinterpret_cast<const float4 *>(bias + i % C);
        __stcs(reinterpret_cast<float4 *>(y + i),
               make_float4(r[t].x + gelu_erf_value(v[t].x + b.x),
                           r[t].y + gelu_erf_value(v[t].y + b.y),
                           r[t].z + gelu_erf_value(v[t].z + b.z),
                           r[t].w + gelu_erf_value(v[t].w + b.w)));
    }
}

enum lab_status lab_fusion_vector(const struct lab_call *call)
{
    struct fusion f = fusion_of(call);
    if (f.C % 4 != 0) /* four neighbours would not be of one row */
        return lab_fusion_one(call);
    bias_gelu_residual_fours<<<lab_blocks(f.count, 4 * LAB_BLOCK * TURNS),
                               LAB_BLOCK, 0, lab_stream(call)>>>(
        f.y, f.x, f.bias, f.residual, f.count, f.C);
    return lab_launched("bias_gelu_residual_fours");
}
