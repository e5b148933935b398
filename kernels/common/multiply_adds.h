/* kernels/common/multiply_adds.h -- multiply-adds that touch no memory: what the fp32
 * lanes of a GPU do at best.
 *
 * Thread i of `blocks` blocks of LAB_MULTIPLY_ADD_THREADS threads has
 * LAB_MULTIPLY_ADD_CHAINS chains of `steps` times v = v / 2 + 1, which begin
 * with i, i + 1 ... One number of them leaves the registers.
 *   y  out  (blocks * LAB_MULTIPLY_ADD_THREADS)  the sum of the thread's chains
 * Work:   2 * blocks * THREADS * CHAINS * steps FLOPs, 4 bytes a thread.
 * Errors: LAB_E_ARG  blocks not of a grid, steps not a positive multiple of 16;
 *         LAB_E_DEVICE  launch rejected. Queued on `stream`, not waited for. */
#pragma once
#include <stdint.h>
#include "base/status.h"

struct CUstream_st; /* cudaStream_t is a pointer to it */

enum { LAB_MULTIPLY_ADD_THREADS = 256, LAB_MULTIPLY_ADD_CHAINS = 8 };

LAB_C_BEGIN
enum lab_status lab_multiply_adds(float *y, int64_t blocks, int64_t steps,
                                  struct CUstream_st *stream);
LAB_C_END
