/* kernels/fusion/fusion.cu -- y = residual + gelu(x + bias), the bias one
 * for each column: what follows the first product of a transformer's
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
#include "common/kernel.h"
#include <stdio.h>
#include "activation/activation.cuh"
#include "common/launch.cuh"

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

static enum lab_status three(const struct lab_call *call)
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

static enum lab_status two(const struct lab_call *call)
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

static enum lab_status one(const struct lab_call *call)
{
    struct fusion f = fusion_of(call);
    bias_gelu_residual<<<lab_blocks(f.count), LAB_BLOCK, 0, lab_stream(call)>>>(
        f.y, f.x, f.bias, f.residual, f.count, f.C);
    return lab_launched("bias_gelu_residual");
}

/* A block has 4 * LAB_BLOCK * TURNS numbers that lie side by side. To x, y and
 * the residual rows do not matter: only the bias asks for the column, and four
 * neighbours may be of two rows. */
enum { TURNS = 2 };

struct four {
    float v[4];
};

/* The bias of element i and of the three after it. FOURS: they are of one row,
 * and lie on 16 bytes. */
template <bool FOURS>
static __device__ __forceinline__ struct four bias_of(const float *bias,
                                                      int64_t i, int64_t C)
{
    int64_t c = i % C;
    if constexpr (FOURS) {
        float4 f = *reinterpret_cast<const float4 *>(bias + c);
        return {f.x, f.y, f.z, f.w};
    } else {
        struct four b;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            b.v[k] = bias[c];
            c = c + 1 == C ? 0 : c + 1;
        }
        return b;
    }
}

template <bool FOURS>
static __global__ void
bias_gelu_residual_fours(float *y, const float *x, const float *bias,
                         const float *residual, int64_t count, int64_t C)
{
    float4 v[TURNS];
    float4 r[TURNS];
    int64_t first = static_cast<int64_t>(blockIdx.x) * LAB_BLOCK * TURNS;
    first = 4 * (first + threadIdx.x);
#pragma unroll
    for (int t = 0; t < TURNS; t++) {
        int64_t i = first + 4 * LAB_BLOCK * t;
        if (i + 3 >= count)
            break;
        v[t] = *reinterpret_cast<const float4 *>(x + i);
        r[t] = *reinterpret_cast<const float4 *>(residual + i);
    }
#pragma unroll
    for (int t = 0; t < TURNS; t++) {
        int64_t i = first + 4 * LAB_BLOCK * t;
        if (i + 3 < count) {
            struct four b = bias_of<FOURS>(bias, i, C);
            *reinterpret_cast<float4 *>(y + i) =
                make_float4(r[t].x + gelu_erf_value(v[t].x + b.v[0]),
                            r[t].y + gelu_erf_value(v[t].y + b.v[1]),
                            r[t].z + gelu_erf_value(v[t].z + b.v[2]),
                            r[t].w + gelu_erf_value(v[t].w + b.v[3]));
            continue;
        }
        for (; i < count; i++) /* the last one to three */
            y[i] = residual[i] + gelu_erf_value(x[i] + bias[i % C]);
    }
}

static enum lab_status vector(const struct lab_call *call)
{
    struct fusion f = fusion_of(call);
    auto kernel = f.C % 4 == 0 ? bias_gelu_residual_fours<true>
                               : bias_gelu_residual_fours<false>;
    kernel<<<lab_blocks(f.count, 4 * LAB_BLOCK * TURNS), LAB_BLOCK, 0,
             lab_stream(call)>>>(f.y, f.x, f.bias, f.residual, f.count, f.C);
    return lab_launched("bias_gelu_residual_fours");
}

/* Bytes an element: 8 for a kernel of one tensor, 12 for
 * the sum of two. */
#define SOURCE "kernels/fusion/fusion.cu"

/* Launches, and bytes that the kernels read and write, as they are written. */
template <int LAUNCHES, int BYTES>
static void note(const struct lab_call *call, struct lab_variant_note *out)
{
    double mib = static_cast<double>(call->in[0].count) * BYTES / (1 << 20);
    snprintf(out->text, sizeof(out->text), "%d launch%s, %.4g MiB moved",
             LAUNCHES, LAUNCHES == 1 ? "" : "es", mib);
    /* What lies between two kernels is memory that one kernel saves. */
    out->workspace_bytes = LAUNCHES > 1 ? call->in[0].count * 4 : 0;
}

extern const struct lab_variant lab_cuda_variants_fusion[] = {
    {.name = "three",
     .idea = "a kernel for each operation",
     .run = three,
     .source = SOURCE,
     .model = {.traffic = 28.0 / 12},
     .note = note<3, 28>},
    {.name = "two",
     .idea = "bias and gelu in one kernel",
     .run = two,
     .source = SOURCE,
     .model = {.traffic = 20.0 / 12},
     .note = note<2, 20>},
    {.name = "one",
     .idea = "all of it in one kernel: nothing between goes to memory",
     .run = one,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = note<1, 12>},
    {.name = "vector",
     .idea = "16 bytes a load, two loads of each tensor on their way",
     .run = vector,
     .source = SOURCE,
     .model = {.traffic = 1},
     .note = note<1, 12>},
    {},
};
