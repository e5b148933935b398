/* kernels/batched_gemm/batched.h -- many small products: the launchers of
 * the CUDA variants.
 *
 * A and B (batch, n, n) in, C (batch, n, n) out, C[b] = A[b] B[b], row-major,
 * fp32; scratch (3, batch) of 8 bytes: the matrices' addresses, for cuBLAS. */
#pragma once
#include "common/kernel.h"

struct lab_variant_note;

LAB_C_BEGIN
lab_kernel_fn lab_batched_looped, lab_batched_streams, lab_batched_streams_make,
    lab_batched_streams_free, lab_batched_blocks, lab_batched_cublas_looped,
    lab_batched_cublas, lab_batched_strided;
void lab_batched_note(const struct lab_call *call,
                      struct lab_variant_note *out);
void lab_batched_note_loop(const struct lab_call *call,
                           struct lab_variant_note *out);
LAB_C_END
