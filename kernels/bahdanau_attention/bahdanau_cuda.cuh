/* kernels/bahdanau_attention/bahdanau_cuda.cuh -- the launchers of additive attention's u:
 *   bahdanau_attention.cu   a thread an element, and the table of all steps
 *   bahdanau_cublas.cu      products by cuBLAS */
#pragma once
#include "bahdanau_attention/bahdanau_attention.h"
#include "common/launch.cuh"

lab_kernel_fn bahdanau_u_forward;
lab_kernel_fn bahdanau_u_backward;
lab_kernel_fn bahdanau_cublas_forward;
lab_kernel_fn bahdanau_cublas_backward;
