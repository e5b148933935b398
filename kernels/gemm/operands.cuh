/* kernels/gemm/operands.cuh -- A and B as the TMA unit takes them, and what it
 * knows of them.
 *
 * A tensor map wants rows that start on 16 bytes. Where they do (K and N are
 * multiples of 8 in 16 bits, of 4 in fp32) the tensors are taken as they lie;
 * else `prepare` makes room for copies with longer rows, and every `run` copies
 * first: the copy is part of the variant's time. One call at a time, as with all
 * variants; the room belongs to the size that was prepared. */
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "gemm/gemm.h"
#include "common/launch.cuh"
#include "common/tensor_map_sm90.cuh"

struct gemm_operands {
    const void *a;   /* (M, K), rows of a_pitch bytes */
    const void *b;   /* (K, N), rows of b_pitch bytes */
    void *c;         /* (M, N), dense */
    int64_t a_pitch; /* multiples of 16 */
    int64_t b_pitch;
    int M;
    int N;
    int K;
    enum lab_dtype dtype;
    size_t number_bytes;
};

/* Queues the copies, if any, and returns where the operands are. */
enum lab_status gemm_operands_queue(const struct lab_call *call,
                                    struct gemm_operands *out);

/* A matrix of `rows` x `cols` numbers, rows `pitch` bytes apart, fetched in
 * boxes of box_rows x 128 bytes, each swizzled; zeros come from outside of it.
 * Made by the driver, on the host; a kernel takes it as a __grid_constant__. */
static inline enum lab_status gemm_map(CUtensorMap *out,
                                       const struct gemm_operands *o,
                                       const void *data, int rows, int cols,
                                       int64_t pitch, int box_rows)
{
    lab_tensor_map_fn encode = nullptr;
    enum lab_status st = lab_tensor_map_find(&encode);
    if (st)
        return st;
    const CUtensorMapDataType type =
        o->dtype == LAB_BFLOAT16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
        : o->dtype == LAB_F16    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    const cuuint64_t dim[2] = {static_cast<cuuint64_t>(cols),
                               static_cast<cuuint64_t>(rows)};
    const cuuint64_t stride[1] = {static_cast<cuuint64_t>(pitch)};
    const cuuint32_t box[2] = {static_cast<cuuint32_t>(128 / o->number_bytes),
                               static_cast<cuuint32_t>(box_rows)};
    const cuuint32_t each[2] = {1, 1};
    CUresult result = encode(
        out, type, 2, const_cast<void *>(data), dim, stride, box, each,
        CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return result == CUDA_SUCCESS
               ? LAB_OK
               : lab_fail(LAB_E_DEVICE, "cuTensorMapEncodeTiled: error %d",
                          static_cast<int>(result));
}

/* The maps of a product with the tiles that TILE describes (tile_sm90.cuh). */
template <typename TILE>
static inline enum lab_status gemm_maps(const struct gemm_operands *o,
                                        CUtensorMap *a, CUtensorMap *b)
{
    enum lab_status st = gemm_map(a, o, o->a, o->M, o->K, o->a_pitch, TILE::BM);
    return st ? st : gemm_map(b, o, o->b, o->K, o->N, o->b_pitch, TILE::DEPTH);
}

/* launch(number, operands) when the operands lie as the TMA unit wants them;
 * `number` only names their type. */
template <typename F>
static inline enum lab_status gemm_by_type(const struct lab_call *call,
                                           F launch)
{
    struct gemm_operands o;
    enum lab_status st = gemm_operands_queue(call, &o);
    if (st)
        return st;
    if (o.dtype == LAB_BFLOAT16)
        return launch(__nv_bfloat16(), &o);
    return o.dtype == LAB_F16 ? launch(__half(), &o) : launch(float(), &o);
}
